"""`stickler eval`: evaluate a run, report it, and return the exit code."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from stickler_cli.core.figures import INFERRED_FROM, number_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.option import Option, Settings, options_of
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.documents.lines import is_stream
from stickler_cli.documents.pairs import Pairs
from stickler_cli.reports.formats import FORMATS_WITH_NOTES, WITH_ACCOUNTS, WITH_DETAIL, written
from stickler_cli.reports.layout import TableStyle
from stickler_cli.runs.assembly import Assembly, assemble
from stickler_cli.runs.close_match_note import describe_close_matches
from stickler_cli.runs.evaluate import chunk_results, evaluate
from stickler_cli.runs.job import BY, EXPECTED, Job, OutputsRequested, Workers
from stickler_cli.runs.unwrapping_note import describe_unwrapping
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.evaluation import NO_GROUP
from stickler_cli.score.record import MAX_KEPT_ERRORS, Run
from stickler_cli.settings.of_commands import CompareSettings, ErrorsSettings, EvalSettings
from .command_schema import schema_of
from .console import ExitCode, shell_command, warn, write_result
from .outputs import (
    exit_code_of,
    outputs_of,
    render_listing,
    report_model_usage,
    warn_of_unreadable,
)

EPOCH: Final = "SOURCE_DATE_EPOCH"  # variable with the start time of runs, for equal bytes

_OF_FIRST_PREDICTIONS: Final[dict[str, Any]] = {
    "documents": None,
    "non_matches": None,
    "values": None,
    "policy": None,
    "verdicts": None,
    "write_gold": None,
    "gate": (),
    "fail_under": None,
}
"""Values of settings for the predictions that `--repeat` names. They switch off output files,
policy, verdicts and gates, which apply only to the first predictions."""

OF_THIS_CALL: Final = ("output", "run")  # panels whose options other commands need not repeat


def report_run(settings: EvalSettings) -> ExitCode:
    """Run `stickler eval`: evaluate all documents, and report the results."""
    outputs = outputs_of(settings)
    formats = outputs.formats
    requested = OutputsRequested(
        accounts=bool(WITH_ACCOUNTS & formats or settings.show_documents),
        detail=bool(WITH_DETAIL & formats),
        repeats=settings.ci != "none",
        notes=bool(FORMATS_WITH_NOTES & outputs.shown_formats) or settings.run_dir is not None,
        boxes=settings.boxes if settings.sources and WITH_DETAIL & formats else None,
    )
    if settings.repeat:
        _check_repeats(settings)
        requested = replace(requested, accounts=True, first_non_matches=MAX_KEPT_ERRORS)
    tell = None if settings.quiet else warn
    write_gold = (
        None if settings.write_gold is None else _gold_writer(settings, settings.write_gold)
    )
    assembly = assemble(settings, requested, lambda: schema_of(settings.schema, settings), tell)
    pairs = assembly.pairs
    if settings.verbose:
        total = "documents" if pairs.total is None else number_of(pairs.total, "document")
        name, path = assembly.schema.name, assembly.schema.path
        is_inferred = path.startswith(INFERRED_FROM)
        schema = f"a schema {path}" if is_inferred else f"{name} ({path})"
        warn(f"evaluating {total} against {schema}")
    if settings.dry_run:
        _show_dry_run(assembly.job, pairs)
        return ExitCode.OK

    for warning in () if settings.quiet else assembly.warnings:
        warn(f"warning: {warning}")
    printed = set[str]()
    run, signal = evaluate_assembly(assembly, printed)
    repeated_runs: list[Run] = []
    _tell_of_values(run, settings)
    if settings.repeat and signal is None:
        repeated_runs, signal = _evaluate_repeats(assembly, printed)
        if signal is None:
            run = _with_repeats(run, repeated_runs, settings)
    run = replace(
        run, explain_command=compare_command(settings), errors_command=errors_command(settings)
    )
    outputs.write(run, is_interrupted=signal is not None)
    outputs.conclude(run)
    if signal is not None:
        return ExitCode(128 + signal)
    if write_gold is not None:
        write_gold(assembly)
    code = exit_code_of(run)
    if not run.nothing_paired:
        check_group_keys(run)
    return max(
        [
            code,
            *(exit_code_of(repeated_run) for repeated_run in repeated_runs if repeated_run.n_unfit),
        ]
    )


def _tell_of_values(run: Run, settings: EvalSettings) -> None:
    """Print notes on unwrapped and nearly equal values, and name unreadable predictions.

    Everything is printed to standard error. Nothing is printed with `--quiet`. Nothing is printed
    if the report is a table, because a table contains the same information.
    """
    if settings.quiet or settings.format == "table":
        return
    notes = describe_unwrapping(run.evaluation), *describe_close_matches(run.evaluation)
    for note in filter(None, notes):
        warn(f"note: {note}")
    warn_of_unreadable(run)


def _gold_writer(settings: EvalSettings, directory: str) -> Callable[[Assembly], None]:
    """Return a function that writes ground truths with corrections to a directory.

    The corrections come from the verdicts of people who reviewed the documents.

    Raises:
        UsageError: the directory cannot be used.
    """
    from stickler_cli.runs import gold_writing  # imported late: few runs change the ground truth

    gold_writing.check_directory(directory, settings.gt, settings.verdicts)

    def write(assembly: Assembly) -> None:
        refs, job = assembly.pairs.refs(), assembly.job
        changes_in = partial(gold_writing.marked_changes, job)
        summary = gold_writing.write_gold(refs, changes_in, job.unwrapper, directory)
        if not settings.quiet:
            warn(summary)

    return write


def errors_command(settings: EvalSettings) -> str:
    """Return the command line that lists the errors of a run. Empty if no command can list them."""
    if settings.run_dir is not None:
        return shell_command(["stickler", "errors", settings.run_dir])
    return (
        ""
        if settings.sample
        else _command_on_sources("errors", settings, options_of(ErrorsSettings))
    )


def compare_command(settings: EvalSettings) -> str:
    """Return the command line that explains a document of a run.

    The caller appends the document id.

    The text is empty if the run reads standard input, because that cannot be read again.
    """
    return _command_on_sources("compare", settings, options_of(CompareSettings))


def _command_on_sources(command: str, settings: EvalSettings, options: Mapping[str, Option]) -> str:
    """Return the command line that runs another command on the same documents.

    `options` are the options of the other command. The text is empty if a source is standard input,
    because that cannot be read again.
    """
    if any(map(is_stream, (settings.gt, settings.pred))):
        return ""
    sources = [settings.gt, settings.pred] if settings.pairs is None else []
    words = ["stickler", command, *filter(None, [settings.schema]), *sources]
    # `words` has the arguments already, and some options apply to this command only
    # here --by-file gives groups of documents, in the other command their schemas.
    left_out = "by_file" if settings.schema_by is None else ""
    shared = {
        name: option
        for name, option in options.items()
        if hasattr(settings, name) and not (option.argument or option.panel in OF_THIS_CALL)
        if name != left_out
    }
    return shell_command([*words, *command_line_arguments(settings, shared)])


def command_line_arguments(settings: Settings, options: Mapping[str, Option]) -> Iterator[str]:
    """Yield the command-line arguments for all options whose values are not the defaults."""
    for name, option in options.items():
        value = getattr(settings, name)
        for entry in value if isinstance(value, tuple) else (value,):
            if value != option.default:
                yield from [option.flag] if entry is True else [option.flag, str(entry)]


def check_group_keys(run: Run) -> None:
    """Raise UsageError if a key of `--by` is in no document."""
    paths = [field_path(field_info.field) for field_info in run.fields]
    problems = [
        Problem(
            source=f"{BY} {key}",
            found=(
                "no ground truth has a text, number or boolean in this field"
                if key in paths
                else "no document has this field or key"
            ),
            expected=EXPECTED,
            hint="" if key in paths else did_you_mean(key, paths),
        )
        for key, groups in run.evaluation.by.items()
        if groups.keys() == {NO_GROUP}
    ]
    if problems:
        raise UsageError(problems)


def _check_repeats(settings: EvalSettings) -> None:
    """Raise UsageError if options exclude each other or a prediction is named twice."""
    names = [settings.pred, *settings.repeat]
    problems = [
        Problem("--repeat", f"{name!r} is given twice", "predictions of separate runs")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    for option, value in (("--run-dir", settings.run_dir), ("--pairs", settings.pairs)):
        if value is not None:
            problems.append(
                Problem("--repeat", f"{option} is also given", f"either --repeat or {option}")
            )
    if problems:
        raise UsageError(problems)


def _evaluate_repeats(assembly: Assembly, printed: set[str]) -> tuple[list[Run], int | None]:
    """Evaluate the predictions of `--repeat`. Return (runs, signal).

    `signal` is the number of the signal that interrupted the runs, or None. `printed` has the
    remarks that were printed for the first run.
    """
    runs: list[Run] = []
    requested = assembly.job.requested
    for pred in assembly.settings.repeat:
        settings = replace(assembly.settings, pred=pred, **_OF_FIRST_PREDICTIONS)
        repeated = assemble(settings, requested, lambda: assembly.schema)
        run, signal = evaluate_assembly(repeated, printed)
        runs.append(run)
        if signal is not None:
            return runs, signal
    return runs, None


def _with_repeats(run: Run, repeated_runs: Sequence[Run], settings: EvalSettings) -> Run:
    from stickler_cli.studies.repeats import repeats_of  # imported late: few runs are repeated

    names = [settings.pred, *settings.repeat]
    return replace(run, repeats=repeats_of(dict(zip(names, [run, *repeated_runs], strict=True))))


def evaluate_or_exit(
    settings: EvalSettings,
    requested: OutputsRequested,
    load: Callable[[], LoadedSchema],
    printed: set[str],
) -> Run:
    """Evaluate a run and return it. Exit the program if a signal interrupts the run.

    `printed` has the remarks that were printed for other runs. They are not printed again.
    """
    run, signal = evaluate_assembly(assemble(settings, requested, load), printed)
    if signal is not None:
        raise SystemExit(128 + signal)
    return run


def evaluate_assembly(assembly: Assembly, printed: set[str]) -> tuple[Run, int | None]:
    """Evaluate an assembled run. Return (run, signal that interrupted it or None).

    Remarks that are in `printed` are not printed again.
    """
    settings = assembly.settings

    def tell(text: str) -> None:
        if not settings.quiet and text not in printed:
            printed.add(text)
            warn(text)

    wants_progress = sys.stderr.isatty() if settings.progress is None else settings.progress
    outcome = evaluate(
        assembly,
        started=_now(),
        progress=wants_progress and not settings.quiet,
        tell=tell,
        written=lambda run: written("json", run, TableStyle()),
    )
    report_model_usage(assembly.job.options.client, settings)
    return outcome


def _now() -> str:
    """Return the present time in UTC as text.

    If SOURCE_DATE_EPOCH is set, return that time instead.

    Source: reproducible-builds.org.
    """
    seconds = os.environ.get(EPOCH)
    try:
        now = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        expected = "seconds since 1970"
        raise UsageError(
            [Problem(EPOCH, f"the value is {seconds!r}", expected, "unset this variable")]
        ) from None
    return now.isoformat(timespec="seconds").replace("+00:00", "Z")


def _show_dry_run(job: Job, pairs: Pairs) -> None:
    """Print how many questions a run would ask models. No model is asked."""
    client = job.options.client
    if client is None:
        write_result("No comparator in this schema asks a model.\n")
        return
    for _ in chunk_results(job, pairs.refs(), Workers(1), total=pairs.total):
        pass
    if not any(need.questions or need.cached for need in client.needs):
        write_result("With these settings, a run calls no model.\n")
        return
    names = ("comparator", "model", "in the cache", "to ask", "calls", "tokens, about")
    rows = [
        (
            model_need.model.comparator,
            model_need.model.title,
            model_need.cached,
            model_need.questions,
            model_need.calls,
            model_need.tokens,
        )
        for model_need in client.needs
    ]
    calls = sum(need.calls for need in client.needs)
    write_result(
        f"A run would make {calls} calls to models, and more if calls have to be repeated.\n\n"
    )
    write_result(render_listing(names, rows))
