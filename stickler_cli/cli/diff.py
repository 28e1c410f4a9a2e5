"""`stickler diff`: two runs in, what changed out."""

from dataclasses import replace

from stickler_cli.cli.console import write_result
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.cli.outputs import (
    OUTPUT,
    append_summary,
    output_formats,
    style_in_files,
    tell_failed_gates,
    terminal_style,
    write_text,
)
from stickler_cli.core.problems import NotComparableError, Problem
from stickler_cli.diff.change_gates import LOWEST
from stickler_cli.diff.changes import Difference, DiffSettings
from stickler_cli.diff.comparing import compare_runs
from stickler_cli.diff.contrasts import deciding
from stickler_cli.reports.github import summary
from stickler_cli.reports.registry import render_difference, require
from stickler_cli.runs.saved import load_run
from stickler_cli.runs.whole_files import check_outputs
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run
from stickler_cli.settings import DiffSettings as Settings


def diff(base: str, new: str, settings: Settings) -> ExitCode:
    """Compare two runs and report."""
    gates = [parse_gate(text, lowest=LOWEST) for text in settings.gate]
    formats = output_formats(settings.output)
    require({settings.format, *formats.values()})
    check_outputs([(OUTPUT, path) for path in formats], [("BASE", base), ("NEW", new)])
    runs = load_run(base), load_run(new)
    if not settings.allow_different:
        _refuse_different(*runs)
    intervals = IntervalSettings(settings.ci, settings.seed)
    difference = compare_runs(*runs, (base, new), gates, DiffSettings(intervals, settings.margin))
    _report(difference, formats, settings)
    passed = all(result.passed for result in difference.gates)
    return ExitCode.OK if passed else ExitCode.GATE_FAILED


def _refuse_different(base: Run, new: Run) -> None:
    against = deciding(base, new)
    if against:
        hint = "--allow-different compares them all the same"
        raise NotComparableError(
            Problem("", f"the runs are not comparable: {contrast}", hint=hint)
            for contrast in against
        )


def _report(difference: Difference, formats: dict[str, str], settings: Settings) -> None:
    """Write the results where they were asked for."""
    style = replace(terminal_style(settings), junit_fields=settings.junit_fields)
    for path, name in formats.items():
        write_text(path, [render_difference(name, difference, style_in_files(style))], settings)
    if not settings.quiet:
        write_result(render_difference(settings.format, difference, style))
    if settings.format == "github":
        append_summary(lambda room: summary(difference, style, room))
    tell_failed_gates(difference.gates, settings.format, settings)
