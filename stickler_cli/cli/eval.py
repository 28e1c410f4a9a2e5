"""`stickler eval`: have a run evaluated, report it, exit."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from stickler_cli.core.locations import field_path
from stickler_cli.core.option import Option, Settings, options_of
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.documents.lines import is_stream
from stickler_cli.documents.pairs import Pairs
from stickler_cli.reports.formats import WITH_ACCOUNTS, WITH_DETAIL, written
from stickler_cli.reports.layout import TableStyle
from stickler_cli.runs.assembly import Assembly, assemble
from stickler_cli.runs.evaluate import chunk_results, evaluate
from stickler_cli.runs.job import BY, EXPECTED, Job, OutputsRequested, Workers
from stickler_cli.runs.unwrapping_note import describe_unwrapping
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.score.evaluation import NO_GROUP
from stickler_cli.score.record import MAX_KEPT_ERRORS, Run
from stickler_cli.settings.of_commands import CompareSettings, ErrorsSettings, EvalSettings
from .command_schema import schema_of
from .console import ExitCode, shell_command, warn, write_result
from .outputs import exit_code_of, listing, outputs_of, tell_asked

EPOCH: Final = "SOURCE_DATE_EPOCH"  # seconds: the time that a run says it began

_OF_THE_FIRST: Final[dict[str, Any]] = {
    "documents": None,
    "non_matches": None,
    "values": None,
    "policy": None,
    "verdicts": None,
    "write_gold": None,
    "gate": (),
    "fail_under": None,
}
"""Settings that are for the first predictions, and not for those that repeat them."""

_OF_THIS_CALL: Final = ("output", "run")  # panels of options that no other call has to repeat


def report_run(settings: EvalSettings) -> ExitCode:
    """Evaluate all documents and report."""
    outputs = outputs_of(settings)
    shown = outputs.formats
    reported = OutputsRequested(
        accounts=bool(WITH_ACCOUNTS & shown or settings.show_documents),
        detail=bool(WITH_DETAIL & shown),
        boxes=settings.boxes if settings.sources and WITH_DETAIL & shown else None,
    )
    if settings.repeat:
        _check_repeats(settings)
        reported = replace(reported, accounts=True, first_non_matches=MAX_KEPT_ERRORS)
    tell = None if settings.quiet else warn
    write = None if settings.write_gold is None else _gold_writer(settings, settings.write_gold)
    assembly = assemble(settings, reported, lambda: schema_of(settings.schema, settings), tell)
    pairs = assembly.pairs
    if settings.verbose:
        total = "?" if pairs.total is None else pairs.total
        named = f"{assembly.schema.name} of {assembly.schema.path}"
        warn(f"evaluating {total} documents with {named}")
    if settings.dry_run:
        _show_dry_run(assembly.job, pairs)
        return ExitCode.OK

    for warning in () if settings.quiet else assembly.warnings:
        warn(f"warning: {warning}")
    run, signal = evaluated(assembly)
    further: list[Run] = []
    _tell_unwrapping(run, settings)
    if settings.repeat and signal is None:
        further, signal = _further(assembly)
        if signal is None:
            run = _with_repeats(run, further, settings)
    run = replace(run, explain_command=explaining(settings), errors_command=listing_of(settings))
    outputs.write(run)
    outputs.conclude(run)
    if signal is not None:
        return ExitCode(128 + signal)
    if write is not None:
        write(assembly)
    code = exit_code_of(run)
    if not run.nothing_paired:
        refuse_keys_of_none(run)
    return max([code, *(exit_code_of(each) for each in further if each.n_unfit)])


def _tell_unwrapping(run: Run, settings: EvalSettings) -> None:
    """Write a note on values with metadata to standard error, beside formats other than a table."""
    note = describe_unwrapping(run.evaluation)
    if note and not settings.quiet and settings.format != "table":
        warn(f"note: {note}")


def _gold_writer(settings: EvalSettings, directory: str) -> Callable[[Assembly], None]:
    """Return a function that writes the ground truth of a run with what verdicts accept.

    Raises:
        UsageError: it may not go there.
    """
    from stickler_cli.runs import gold_writing  # few runs change the ground truth

    gold_writing.check_directory(directory, settings.gt, settings.verdicts)

    def write(assembly: Assembly) -> None:
        refs, job = assembly.pairs.refs(), assembly.job
        changes_in = partial(gold_writing.marked_changes, job)
        told = gold_writing.write_gold(refs, changes_in, job.unwrapper, directory)
        if not settings.quiet:
            warn(told)

    return write


def listing_of(settings: EvalSettings) -> str:
    """Return the command that lists the errors of a run, but for which ones; empty if none does."""
    if settings.run_dir is not None:
        return shell_command(["stickler", "errors", settings.run_dir])
    return "" if settings.sample else _again("errors", settings, options_of(ErrorsSettings))


def explaining(settings: EvalSettings) -> str:
    """Return the command that explains a document, but for its id; empty of standard input."""
    return _again("compare", settings, options_of(CompareSettings))


def _again(command: str, settings: EvalSettings, options: Mapping[str, Option]) -> str:
    """Return another command on the same documents; empty of what has no second time."""
    if any(map(is_stream, (settings.gt, settings.pred))):
        return ""
    sources = [settings.gt, settings.pred] if settings.pairs is None else []
    words = ["stickler", command, *filter(None, [settings.schema]), *sources]
    # What is known of documents says here which group each is in, there which schema it has.
    left_out = "by_file" if settings.schema_by is None else ""
    shared = {
        name: option
        for name, option in options.items()
        if hasattr(settings, name) and not (option.argument or option.panel in _OF_THIS_CALL)
        if name != left_out
    }
    return shell_command([*words, *spelt(settings, shared)])


def spelt(settings: Settings, options: Mapping[str, Option]) -> Iterator[str]:
    """Yield the words by which a command line says those of some options that are no defaults."""
    for name, option in options.items():
        value = getattr(settings, name)
        for each in value if isinstance(value, tuple) else (value,):
            if value != option.default:
                yield from [option.flag] if each is True else [option.flag, str(each)]


def refuse_keys_of_none(run: Run) -> None:
    """Raise UsageError with the keys of groups that no document has, if there are any."""
    paths = [field_path(info.field) for info in run.fields]
    problems = [
        Problem(f"{BY} {key}", "no document has it", EXPECTED, did_you_mean(key, paths))
        for key, groups in run.evaluation.by.items()
        if groups.keys() == {NO_GROUP}
    ]
    if problems:
        raise UsageError(problems)


def _check_repeats(settings: EvalSettings) -> None:
    """Refuse options that exclude several predictions."""
    names = [settings.pred, *settings.repeat]
    problems = [
        Problem("--repeat", f"{name} stands there twice", "predictions that were made one by one")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    for option, value in (("--run-dir", settings.run_dir), ("--pairs", settings.pairs)):
        if value is not None:
            problems.append(Problem("--repeat", f"there is {option}", "one of the two"))
    if problems:
        raise UsageError(problems)


def _further(assembly: Assembly) -> tuple[list[Run], int | None]:
    """Return the runs of other predictions, and the signal that ended the last one early."""
    found: list[Run] = []
    requested = assembly.job.requested
    for pred in assembly.settings.repeat:
        settings = replace(assembly.settings, pred=pred, **_OF_THE_FIRST)
        again = assemble(settings, requested, lambda: assembly.schema)
        run, signal = evaluated(again)
        found.append(run)
        if signal is not None:
            return found, signal
    return found, None


def _with_repeats(run: Run, further: Sequence[Run], settings: EvalSettings) -> Run:
    from stickler_cli.studies.repeats import repeats_of  # few runs are repeated

    names = [settings.pred, *settings.repeat]
    return replace(run, repeats=repeats_of(dict(zip(names, [run, *further], strict=True))))


def whole_run(
    settings: EvalSettings, requested: OutputsRequested, load: Callable[[], LoadedSchema]
) -> Run:
    """Return a run that is made here; a signal that ends it early ends the command."""
    run, signal = evaluated(assemble(settings, requested, load))
    if signal is not None:
        raise SystemExit(128 + signal)
    return run


def evaluated(assembly: Assembly) -> tuple[Run, int | None]:
    """Return a run that was put together here, and the signal that ended it early, if one did."""
    settings = assembly.settings

    def tell(text: str) -> None:
        if not settings.quiet:
            warn(text)

    wants_progress = sys.stderr.isatty() if settings.progress is None else settings.progress
    found = evaluate(
        assembly,
        started=_now(),
        progress=wants_progress and not settings.quiet,
        tell=tell,
        written=lambda run: written("json", run, TableStyle()),
    )
    tell_asked(assembly.job.options.client, settings)
    return found


def _now() -> str:
    """Return the time in UTC. Source: reproducible-builds.org, SOURCE_DATE_EPOCH."""
    said = os.environ.get(EPOCH)
    try:
        now = datetime.now(UTC) if said is None else datetime.fromtimestamp(int(said), UTC)
    except (ValueError, OverflowError, OSError):
        expected = "seconds since 1970"
        raise UsageError([Problem(EPOCH, f"it is {said!r}", expected, "unset it")]) from None
    return now.isoformat(timespec="seconds").replace("+00:00", "Z")


def _show_dry_run(job: Job, pairs: Pairs) -> None:
    """Print the questions that models would be asked; none is."""
    client = job.options.client
    if client is None:
        write_result("No comparator of this schema asks a model.\n")
        return
    for _ in chunk_results(job, pairs.refs(), Workers(1), total=pairs.total):
        pass
    if not any(need.questions or need.cached for need in client.needs):
        write_result("A run would ask no model anything.\n")
        return
    names = ("comparator", "model", "in the cache", "to ask", "calls", "tokens, about")
    rows = [
        (of.model.comparator, of.model.title, of.cached, of.questions, of.calls, of.tokens)
        for of in client.needs
    ]
    calls = sum(need.calls for need in client.needs)
    write_result(f"A run would make {calls} calls, and more where one is tried again.\n\n")
    write_result(listing(names, rows))
