"""`stickler eval`: have a run evaluated, report it, exit."""

import os
import sys
from datetime import UTC, datetime
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.documents.pairs import Pairs
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.registry import WITH_ACCOUNTS, WITH_DETAIL, WITH_FIELD_INTERVALS, written
from stickler_cli.runs.assembly import Assembly, assemble
from stickler_cli.runs.evaluate import evaluate as evaluate_all
from stickler_cli.runs.grouping import BY, EXPECTED
from stickler_cli.runs.job import Job, OutputsRequested, Workers
from stickler_cli.runs.pipeline import chunk_results
from stickler_cli.score.record import Run
from stickler_cli.score.results import NO_GROUP
from stickler_cli.settings import EvalSettings
from .console import ExitCode, show_problems, warn, write_result
from .outputs import exit_code_of, listing, outputs_of
from .schemas import schema_of

EPOCH: Final = "SOURCE_DATE_EPOCH"  # seconds: the time that a run says it began


def evaluate(settings: EvalSettings) -> ExitCode:
    """Evaluate all documents and report."""
    outputs = outputs_of(settings, None)  # the inputs are looked at with all other files
    shown = outputs.formats
    reported = OutputsRequested(
        accounts=bool(WITH_ACCOUNTS & shown),
        detail=bool(WITH_DETAIL & shown),
        intervals_of_fields=bool(WITH_FIELD_INTERVALS & shown),
    )
    assembly = assemble(settings, reported, lambda: schema_of(settings.schema, settings))
    pairs, client = assembly.pairs, assembly.job.options.client
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
    outputs.write(run)
    outputs.conclude(run)
    if client is not None and not settings.quiet:
        warn(f"models: {client.usage}")
    if signal is not None:
        return ExitCode(128 + signal)
    code = exit_code_of(run)
    if not run.nothing_paired and (problems := _keys_of_none(run)):
        show_problems(problems)
        return ExitCode.USAGE
    return code


def _keys_of_none(run: Run) -> list[Problem]:
    """Return the keys of groups that no document has."""
    paths = [field_path(info.path) for info in run.fields]
    return [
        Problem(f"{BY} {key}", "no document has it", EXPECTED, did_you_mean(key, paths))
        for key, groups in run.evaluation.by.items()
        if groups.keys() == {NO_GROUP}
    ]


def evaluated(assembly: Assembly) -> tuple[Run, int | None]:
    """Return a run that was put together here, and the signal that ended it early, if one did."""
    settings = assembly.settings

    def tell(text: str) -> None:
        if not settings.quiet:
            warn(text)

    wants_progress = sys.stderr.isatty() if settings.progress is None else settings.progress
    return evaluate_all(
        assembly,
        started=_now(),
        progress=wants_progress and not settings.quiet,
        tell=tell,
        written=lambda run: written("json", run, TableStyle()),
    )


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
    """Print what a run would ask; nothing is asked."""
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
