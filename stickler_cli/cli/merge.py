"""`stickler merge`: the runs of shards in, the run of the whole out."""

from dataclasses import replace
from typing import Annotated, Final

import typer

from stickler_cli.cli import options
from stickler_cli.cli.console import wants_color
from stickler_cli.cli.exit_codes import exit_code_help
from stickler_cli.cli.outputs import output_formats, show_results, terminal_style, write_outputs

EPILOG: Final = f"""\b
Examples:
  stickler merge shard-1.json shard-2.json -o run.json
  stickler merge shards/*.json --gate 'f1>=0.9' -f markdown

{exit_code_help()}"""

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Run files, as eval -o run.json writes them, or run directories.",
        show_default=False,
    ),
]


def merge(
    runs: Runs,
    format: options.Format = "table",
    output: options.Output = None,
    junit_fields: options.JunitFields = False,
    fail_under: options.FailUnder = None,
    gate: options.GateOption = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Put the runs of shards together: the run of all their documents, to the last digit.

    The runs must be of one version, one schema and the same options, and no document may be in
    two of them. Gates are judged anew: those given here, else those of the runs.
    """
    from stickler_cli.cli.verdict import verdict
    from stickler_cli.reports.registry import require
    from stickler_cli.runs.files import check_outputs
    from stickler_cli.runs.saved import load_run
    from stickler_cli.score.gates import check_paths, parse_gates, refuse_bounds
    from stickler_cli.score.merging import merge_runs

    gates = parse_gates(fail_under, gate or ())
    formats = output_formats(output or ())
    require({format, *formats.values()})
    check_outputs([("--output", path) for path in formats], [("a run", name) for name in runs])
    loaded = [(name, load_run(name)) for name in runs]
    _, first = loaded[0]
    check_paths(gates, [info.path for info in first.fields])
    if first.evaluation.bootstrap is None:
        refuse_bounds(gates)
    whole = merge_runs(loaded, gates or None)
    style = replace(terminal_style(color=wants_color(no_color=no_color)), junit_fields=junit_fields)
    write_outputs(formats, whole, style, verbose=verbose)
    show_results(whole, format, style, quiet=quiet)
    raise typer.Exit(verdict(whole.evaluation, whole.gates, strict=whole.options.strict))
