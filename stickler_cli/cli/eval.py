"""`stickler eval`: have a run evaluated, report it, exit."""

import sys
from dataclasses import replace

from stickler_cli.cli.asking import show_dry_run, tell_usage
from stickler_cli.cli.console import warn
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.cli.outputs import (
    encoded,
    exit_code_of,
    output_formats,
    show_results,
    terminal_style,
    write_outputs,
)
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.registry import (
    WITH_ACCOUNTS,
    WITH_DETAIL,
    WITH_FIELD_INTERVALS,
    pieces,
    require,
)
from stickler_cli.runs.assembly import assemble
from stickler_cli.runs.evaluate import evaluate as evaluate_all
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.settings import EvalSettings


def evaluate(schema: str, gt: str, pred: str, settings: EvalSettings) -> ExitCode:
    """Evaluate all documents and report."""
    formats = output_formats(settings.output)
    shown = {settings.format, *formats.values()}
    require(shown)
    reported = OutputsRequested(
        accounts=bool(WITH_ACCOUNTS & shown),
        detail=bool(WITH_DETAIL & shown),
        intervals_of_fields=bool(WITH_FIELD_INTERVALS & shown),
    )
    assembly = assemble(schema, gt, pred, settings, reported)
    pairs, client = assembly.pairs, assembly.job.options.client
    if settings.verbose:
        total = "?" if pairs.total is None else pairs.total
        warn(f"evaluating {total} documents with {assembly.schema.plan.model_name} of {schema}")
    if settings.dry_run:
        show_dry_run(assembly.job, pairs)
        return ExitCode.OK

    def tell(text: str) -> None:
        if not settings.quiet:
            warn(text)

    done = evaluate_all(
        assembly,
        progress=_shows_progress(settings),
        tell=tell,
        written=lambda run: map(encoded, pieces("json", run, TableStyle())),
    )
    style = _style(settings)
    write_outputs(formats, done.run, style, settings)
    show_results(done.run, settings.format, style, settings)
    if client is not None and not settings.quiet:
        tell_usage(client)
    if done.signal is not None:
        return ExitCode(128 + done.signal)
    return exit_code_of(done.run)


def _shows_progress(settings: EvalSettings) -> bool:
    asked = sys.stderr.isatty() if settings.progress is None else settings.progress
    return asked and not settings.quiet


def _style(settings: EvalSettings) -> TableStyle:
    return replace(
        terminal_style(settings),
        show_non_matches=settings.show_non_matches,
        junit_fields=settings.junit_fields,
    )
