"""Where results go: to files, each in its format, to standard output, and into the exit code."""

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stickler_cli.cli.console import wants_color, warn, write_result
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.markdown_text import SUMMARY_LIMIT
from stickler_cli.reports.registry import FORMATS, SAY_PARTIAL, SUFFIXES, format_of, pieces, require
from stickler_cli.runs.whole_files import PARTIAL, check_outputs, whole_file
from stickler_cli.score.document_result import Status
from stickler_cli.score.record import Run, Verdict
from stickler_cli.settings import TerminalOptions

if TYPE_CHECKING:
    from stickler_cli.diff.changes import Difference  # only `diff` loads it

OUTPUT: Final = "--output"

SUMMARY_FILE: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable by which GitHub's runner names the summary of a step. Source:
docs.github.com, Workflow commands for GitHub Actions."""

NAMED: Final = 5
"""Documents that an error names on standard error; the results name all."""

_CODES: Final = {
    Verdict.PASSED: ExitCode.OK,
    Verdict.FAILED: ExitCode.GATE_FAILED,
    Verdict.INCOMPLETE: ExitCode.INCOMPLETE,
}

Files = Mapping[str, str]
"""The format of each file that results are written to."""


def files_of(outputs: Iterable[str], known: Collection[str] = tuple(FORMATS)) -> Files:
    """Return the files that were asked for, each with the format that its suffix says.

    Raises:
        UsageError: with every file whose suffix is that of no known format.
    """
    formats = {output: format_of(output) for output in outputs}
    suffixes = ", ".join(suffix for suffix, name in SUFFIXES.items() if name in known)
    problems = [
        Problem(OUTPUT, f"the file is {output}", f"one that ends in {suffixes}")
        for output, name in formats.items()
        if name not in known
    ]
    if problems:
        raise UsageError(problems)
    return {output: name for output, name in formats.items() if name is not None}


def writable_files(
    outputs: Iterable[str], printed: str | None, inputs: Iterable[tuple[str, str]]
) -> Files:
    """Return the files that were asked for; make sure that they, and what is printed, can be.

    Args:
        outputs: the files.
        printed: the format on standard output.
        inputs: name and path of what no output may overwrite.
    """
    files = files_of(outputs)
    require({*files.values(), *([printed] if printed else [])})
    check_outputs([(OUTPUT, path) for path in files], inputs)
    return files


def write_run(
    run: Run, files: Files, printed: str | None, style: TableStyle, settings: TerminalOptions
) -> None:
    """Write a run to files, and print it; a part of a run says so, or its files do."""
    places = {
        f"{path}{PARTIAL}" if run.partial and name not in SAY_PARTIAL else path: name
        for path, name in files.items()
    }
    write(lambda name, style: pieces(name, run, style), places, printed, style, settings)


def write(
    render: Callable[[str, TableStyle], Iterable[str]],
    files: Files,
    printed: str | None,
    style: TableStyle,
    settings: TerminalOptions,
) -> None:
    """Write results to files, each there whole or not at all, and print them unless quiet.

    Args:
        render: returns the results in a format, piece by piece.
        files: where to.
        printed: the format on standard output; None prints nothing.
        style: of what is printed.
        settings: what is told on the way.
    """
    in_files = replace(style, width=None, color=False, plain=True)
    for path, name in files.items():
        with whole_file(path, OUTPUT) as stream:
            stream.writelines(map(encoded, render(name, in_files)))
        if settings.verbose:
            warn(f"wrote {path}")
    if printed and not settings.quiet:
        for piece in render(printed, style):
            write_result(piece)


def encoded(text: str) -> bytes:
    """Return text as it is in files: what is no Unicode is escaped."""
    return text.encode("utf-8", "backslashreplace")


def conclude(
    results: "Run | Difference", printed: str, style: TableStyle, settings: TerminalOptions
) -> None:
    """Append the summary of a step; name failed gates where a person does not see them."""
    if printed == "github":
        from stickler_cli.reports.github import summary  # other formats do not load it

        _append_summary(lambda room: summary(results, style, room))
    if settings.quiet or printed != "table" or not sys.stdout.isatty():
        for result in results.gates:
            if not result.passed:
                warn(f"gate failed: {result.reason}")


def _append_summary(page: Callable[[int], str]) -> None:
    """Append the Markdown that fits into so many bytes to the summary of a step, if there is one.

    A summary that cannot be written is no reason for another exit code: the figures stand.
    """
    named = os.environ.get(SUMMARY_FILE)
    if not named:
        return
    try:
        file = Path(named)
        written = file.stat().st_size if file.exists() else 0
        text = page(max(0, SUMMARY_LIMIT - written))
        with file.open("ab") as stream:
            stream.write(encoded(text))
    except OSError as error:
        warn(f"warning: the summary was not written to {named} ({error.strerror})")


def exit_code_of(run: Run) -> ExitCode:
    """Return the exit code of a run; say on standard error what could not be evaluated."""
    if run.verdict is Verdict.INCOMPLETE:
        _name_unfit(run)
    elif not run.evaluation.statuses[Status.EVALUATED]:
        warn("warning: no ground truth has a prediction that can be used; all counts as missed")
    return _CODES[run.verdict]


def _name_unfit(run: Run) -> None:
    """Say how many documents could not be evaluated, and name the first of them."""
    if not run.unfit:
        warn("error: no document was evaluated")
        return
    total, named = run.evaluation.documents["total"], run.unfit_problems
    warn(f"error: {run.unfit} of {total} documents could not be evaluated")
    for entry in named[:NAMED]:
        warn(f"  {entry.document}: {entry.problem}")
    if len(named) > NAMED:
        warn(f"  and {len(named) - NAMED} more, all in the JSON results")


def terminal_style(settings: TerminalOptions, **shown: Any) -> TableStyle:
    """Return the style that fits standard output; `shown` is what it says beside that."""
    terminal = sys.stdout.isatty()
    color = wants_color(no_color=settings.no_color)
    colored_pipe = color and not terminal  # FORCE_COLOR, as CI logs want it
    width = shutil.get_terminal_size().columns if terminal else None
    return TableStyle(width, color, plain=not terminal and not colored_pipe, **shown)
