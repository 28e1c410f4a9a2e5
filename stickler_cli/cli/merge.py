"""`stickler merge`: the runs of shards in, the run of the whole out."""

from collections.abc import Sequence
from dataclasses import replace

from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.cli.outputs import (
    OUTPUT,
    exit_code_of,
    output_formats,
    show_results,
    terminal_style,
    write_outputs,
)
from stickler_cli.reports.registry import require
from stickler_cli.runs.saved import load_run
from stickler_cli.runs.whole_files import check_outputs
from stickler_cli.score.gates import check_paths, parse_gates, refuse_bounds
from stickler_cli.score.run_merging import merge_runs
from stickler_cli.settings import MergeSettings


def merge(runs: Sequence[str], settings: MergeSettings) -> ExitCode:
    """Put the runs of shards together and report."""
    gates = parse_gates(settings.fail_under, settings.gate)
    formats = output_formats(settings.output)
    require({settings.format, *formats.values()})
    check_outputs([(OUTPUT, path) for path in formats], [("a run", name) for name in runs])
    loaded = [(name, load_run(name)) for name in runs]
    _, first = loaded[0]
    check_paths(gates, [info.path for info in first.fields])
    if first.evaluation.bootstrap is None:
        refuse_bounds(gates)
    whole = merge_runs(loaded, gates or None)
    style = replace(terminal_style(settings), junit_fields=settings.junit_fields)
    write_outputs(formats, whole, style, settings)
    show_results(whole, settings.format, style, settings)
    return exit_code_of(whole)
