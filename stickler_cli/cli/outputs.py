"""Write results to files and standard output, and determine the exit code."""

import os
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.core.figures import visible_json
from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean, nearest_pair
from stickler_cli.core.sections import Column, Span, Table
from stickler_cli.reports.formats import (
    FORMATS,
    FORMATS_WITH_NOTES,
    SUFFIXES,
    WITH_DETAIL,
    format_of,
    render_pieces,
    require,
    written,
)
from stickler_cli.reports.layout import TableStyle, plain_text, table_lines
from stickler_cli.reports.tables import FIELD_COLUMNS, MATRIX, MATRIX_NAME
from stickler_cli.reports.view import field_rows
from stickler_cli.runs.hints import documents_without_partner, name_pattern
from stickler_cli.runs.whole_files import name_of_partial, whole_file
from stickler_cli.score.document_result import Status
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.record import Run, RunVerdict
from stickler_cli.settings.of_commands import ErrorsSettings
from stickler_cli.settings.running import ConsoleOptions
from .console import ExitCode, goes_to_log, show_problems, warn, write_result

if TYPE_CHECKING:
    from stickler_cli.clients.client import Client
    from stickler_cli.reports.formats import Subject
    from stickler_cli.runs.page_sources import SourcesOf
    from stickler_cli.studies.diff.record import Difference  # imported late: few commands use it

OUTPUT: Final = "--output"

# GitHub's runner sets this variable to the file of the step's summary.
# Source: docs.github.com, Workflow commands.
SUMMARY_FILE: Final = "GITHUB_STEP_SUMMARY"

MAX_NAMED_DOCUMENTS: Final = 5
"""Maximum number of failed documents that are named on standard error. The results name all."""

_JSON: Final = ("json", "jsonl", "otel")
_STYLED: Final = (
    *("verbose", "sort", "only_errors", "places"),
    *("show_non_matches", "show_documents", "junit_fields"),
)
"""Names of command options. `TableStyle` has an attribute with the same name for each of them, and
the value of the option is passed to this attribute."""

CODES: Final = {
    RunVerdict.PASSED: ExitCode.OK,
    RunVerdict.FAILED: ExitCode.GATE_FAILED,
    RunVerdict.INCOMPLETE: ExitCode.INCOMPLETE,
}


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a command writes its results, and in which formats."""

    files: Mapping[str, str]
    """Maps each output file to its format."""
    printed: str | None
    """Format of standard output; None to print nothing."""
    style: TableStyle
    settings: Any
    """Settings of the command, with its options for output."""
    sources: "SourcesOf | None" = None
    """A function that finds the images and PDFs to show on the page of a run. None if the user did
    not request images and PDFs."""

    @property
    def formats(self) -> set[str]:
        """All formats that are written."""
        return {*self.files.values(), *([self.printed] if self.printed else [])}

    @property
    def shown_formats(self) -> set[str]:
        """All formats that are written to files or printed.

        If `--quiet` suppresses a printed table, the format of this table is not included.
        """
        hides_table = self.settings.quiet and self.printed == "table"
        return {*self.files.values()} if hides_table else self.formats

    def write(self, results: "Subject", *, is_interrupted: bool = False) -> None:
        """Write results to files, each completely or not at all, and print them.

        If the command was interrupted, all files are named `NAME.partial`, so that complete files
        of an earlier run stay. If the run is partial, and the format of a file cannot state this,
        the file is named `NAME.partial`, too. `--quiet` suppresses only printed tables, because all
        other formats are printed on request.
        """
        partial = isinstance(results, Run) and results.partial
        if isinstance(results, Run) and self.sources and WITH_DETAIL & self.formats:
            pages = [path for path, form in self.files.items() if form in WITH_DETAIL]
            page_sources, notes = self.sources(results, pages)
            for note in () if self.settings.quiet else notes:
                warn(f"warning: {note}")
            results = replace(results, sources=page_sources)
        in_files = replace(self.style, width=None, color=False, plain=True, in_log=False)
        places = []
        for path, name in self.files.items():
            is_partial = is_interrupted or (partial and name not in FORMATS_WITH_NOTES)
            with whole_file(path, OUTPUT, partial=lambda beside=is_partial: beside) as stream:  # type: ignore[misc]
                stream.writelines(written(name, results, in_files))
            places.append(name_of_partial(path) if is_partial else path)
            if self.settings.verbose:
                warn(f"wrote {places[-1]}")
        if places and is_interrupted and not self.settings.quiet:
            listed_places = ", ".join(places)
            warn(
                f"interrupted: the results so far are in {listed_places}; "
                "earlier files are unchanged"
            )
        # `errors` prints a requested list, so --quiet does not suppress its table.
        is_list = isinstance(self.settings, ErrorsSettings)
        if self.printed and not (self.settings.quiet and self.printed == "table" and not is_list):
            for text in render_pieces(self.printed, results, self.style):
                is_json = self.style.in_log and self.printed in _JSON
                write_result(visible_json(text) if is_json else text)
        if isinstance(results, Run) and (wanted := self.style.fields) != TableStyle().fields:
            names = [field_path(row.path) for row in field_rows(results)]
            if names and not any(fnmatchcase(name, wanted) for name in names):
                missing = f"no field matches {wanted!r}"
                raise UsageError(
                    [
                        Problem(
                            source="--fields",
                            found=missing,
                            expected="",
                            hint=did_you_mean(wanted, names),
                        )
                    ]
                )

    def conclude(self, results: "Run | Difference") -> None:
        """Append results to GitHub's step summary, and print failed gates that no report shows.

        A summary that cannot be written does not change the exit code, because the figures are
        right.
        """
        named = os.environ.get(SUMMARY_FILE)
        if self.printed == "github" and named:
            # Imported late: other formats do not need it.
            from stickler_cli.reports.github import summary

            try:
                file = Path(named)
                text = summary(results, self.style, file.stat().st_size if file.exists() else 0)
                with file.open("ab") as stream:
                    stream.write(text.encode("utf-8", "backslashreplace"))
            except OSError as error:
                warn(f"warning: the summary was not written to {named} ({error.strerror})")
        if self.settings.quiet or self.printed != "table" or not sys.stdout.isatty():
            for result in results.gates:
                if not result.passed:
                    warn(f"gate failed: {result.reason}")


def report_model_usage(client: "Client | None", settings: ConsoleOptions) -> None:
    """Print the calls, tokens and cost of models to standard error.

    Print nothing with `--quiet`, or if there is no client.
    """
    if client is not None and not settings.quiet:
        warn(f"models: {client.usage}")


def outputs_of(
    settings: Any,
    formats: Collection[str] = tuple(FORMATS),
    plain: str | None = None,
) -> Outputs:
    """Check that results can be written, and return where and how they are written.

    `formats` are the formats of the command. `plain` is the format for a file without a suffix,
    such as a named pipe. If `plain` is None, such a file is an error.

    Raises:
        UsageError: the suffix of a file is unknown; the error lists all such files.
        UnavailableError: a format needs a package that is missing.
    """
    files: dict[str, str] = {}
    problems = []
    for path in settings.output:
        name = format_of(path) or (None if Path(path).suffix else plain)
        if name is not None and name in formats:
            files[path] = name
        else:
            suffixes = ", ".join(suffix for suffix, name in SUFFIXES.items() if name in formats)
            problems.append(
                Problem(OUTPUT, f"the file name is {path}", f"one that ends in {suffixes}")
            )
    if problems:
        raise UsageError(problems)
    printed = settings.format or (None if files else "table")
    outputs = Outputs(files=files, printed=printed, style=style_of(settings), settings=settings)
    require(outputs.formats)
    sources, embed = getattr(settings, "sources", None), getattr(settings, "embed_sources", 0)
    if sources is None and not embed:
        return outputs
    # Imported late: few pages show sources.
    from stickler_cli.runs.page_sources import checked_sources

    return replace(outputs, sources=checked_sources(sources, embed))


def style_of(settings: Any) -> TableStyle:
    """Return the style of tables on standard output. Options and the environment decide it.

    Source: no-color.org, force-color.org.
    """
    variable, terminal = os.environ.get, sys.stdout.isatty()
    plain = settings.no_color or variable("NO_COLOR") or variable("TERM") == "dumb"
    color = not plain and (terminal or bool(variable("FORCE_COLOR")))  # set by CI systems too
    width: int | None = getattr(settings, "width", None)
    return TableStyle(
        width=width or (shutil.get_terminal_size().columns if terminal else None),
        color=color,
        in_log=goes_to_log(),
        plain=not terminal and not color and width is None,
        wide=getattr(settings, "csv", "tidy") == "wide",
        columns=_parse_columns(getattr(settings, "columns", None)),
        fields=getattr(settings, "fields", None) or "*",
        **{name: getattr(settings, name) for name in _STYLED if hasattr(settings, name)},
    )


def _parse_columns(names: str | None) -> list[str]:
    """Return the titles of the columns in `--columns`. Raise UsageError for an unknown column."""
    if names is None:
        return []
    titles = {column.title.lower(): column.title for column in FIELD_COLUMNS}
    chosen: list[str] = []
    for name in (name.strip().lower() for name in names.split(",")):
        if name != MATRIX_NAME and name not in titles:
            choices = [*titles.values(), MATRIX_NAME]
            hint, expected = did_you_mean(name, choices), f"some of {', '.join(choices)}"
            raise UsageError(
                [
                    Problem(
                        source="--columns",
                        found=f"unknown column {name!r}",
                        expected=expected,
                        hint=hint,
                    )
                ]
            )
        chosen += MATRIX if name == MATRIX_NAME else [titles[name]]
    return [*dict.fromkeys(chosen)]


def exit_code_of(run: Run) -> ExitCode:
    """Print failed documents to standard error, and return the exit code of the run."""
    for name, problem in run.evaluation.metric_problems.items():
        advice = "correct the metric and evaluate again; with a --run-dir, also give --restart"
        warn(f"error: metric {name} could not be computed: {problem}; {advice}")
    if run.nothing_paired:
        show_problems([_nothing_paired(run.evaluation)])
    elif run.verdict is RunVerdict.INCOMPLETE and run.n_unfit:
        total, problems = run.evaluation.documents["total"], run.unfit_problems
        warn(f"error: {run.n_unfit} of {total} documents could not be evaluated")
        for entry in problems[:MAX_NAMED_DOCUMENTS]:
            warn(f"  {entry}")
        if len(problems) > MAX_NAMED_DOCUMENTS:
            n_further, n_unnamed = len(problems) - MAX_NAMED_DOCUMENTS, run.unfit_unnamed
            reported = f"the first {n_further} of them" if n_unnamed else "all of them"
            warn(f"  and {n_further + n_unnamed} more documents; the JSON results list {reported}")
    elif not run.evaluation.evaluated:
        warn("error: no document was evaluated")
    elif not run.evaluation.statuses[Status.EVALUATED]:
        warn("error: no ground truth has a usable prediction, so all values count as missed")
    return CODES[run.verdict]


def warn_of_unreadable(run: Run) -> None:
    """Print a warning to standard error that names predictions that could not be read.

    If a prediction could not be read, all values of its ground truth count as missed. The figures
    do not distinguish these values from values that a readable prediction leaves out, so a warning
    is needed. With `--strict`, unreadable predictions are errors, and no warning is printed.
    """
    count = run.evaluation.statuses[Status.INVALID]
    if not count or run.options.strict:
        return
    subject = "1 prediction" if count == 1 else f"{count} predictions"
    truth = "its ground truth" if count == 1 else "their ground truths"
    warn(f"warning: {subject} cannot be read, so all values of {truth} count as missed")
    problems = [entry for entry in run.evaluation.problems if entry.status is Status.INVALID]
    for problem in sorted(problems)[:MAX_NAMED_DOCUMENTS]:
        warn(f"  {problem}")
    if count > MAX_NAMED_DOCUMENTS:
        warn(f"  and {count - MAX_NAMED_DOCUMENTS} more")


def _nothing_paired(evaluation: Evaluation) -> Problem:
    gts, preds = documents_without_partner(evaluation)
    finding = (
        f"no ground truth was paired with a prediction: {len(gts)} ground truths, "
        f"{len(preds)} predictions"
    )
    names = nearest_pair(gts, preds)
    if names is not None:
        finding += f"; the most similar names are {brief(names[0])} and {brief(names[1])}"
    requirement = "the same file names, or the same ids," if gts and preds else "documents"
    return Problem(
        source="",
        found=finding,
        expected=f"{requirement} on both sides",
        hint=name_pattern(evaluation) or "",
    )


def render_listing(names: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as text. `names` are the titles of its columns.

    The first two columns contain words and are aligned to the left. All others contain numbers and
    are aligned to the right.
    """
    columns = [Column(name, left=position < 2) for position, name in enumerate(names)]
    cells = [[Span.of(str(cell)) for cell in row] for row in rows]
    return plain_text(table_lines(Table(columns, cells))[0])
