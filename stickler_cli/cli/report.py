"""`stickler report`: a finished run in any format, without evaluating again."""

from dataclasses import replace
from typing import Annotated, Final

import typer

from stickler_cli.cli import options
from stickler_cli.cli.console import wants_color, write_result
from stickler_cli.cli.outputs import output_formats, terminal_style, write_outputs

EPILOG: Final = """\b
Examples:
  stickler report run.json
  stickler report run.json --output report.html --output run.csv
  stickler report nightly/ --format markdown"""

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run file, as eval -o run.json writes it, or a run directory.",
        show_default=False,
    ),
]
Format = Annotated[
    options.FormatName | None,
    typer.Option(
        "--format",
        "-f",
        help="What to print on standard output.  [default: table, nothing with --output]",
        show_default=False,
    ),
]


def report(
    run: RunName,
    format: Format = None,
    output: options.Output = None,
    junit_fields: options.JunitFields = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Write the results of a finished run in any format, without evaluating again.

    The figures are those of the run. Single errors are in a run directory, not in a run file.
    """
    from stickler_cli.reports.registry import WITH_DETAIL, render, require  # --help loads none
    from stickler_cli.runs.files import check_outputs
    from stickler_cli.runs.saved import load_detail, load_run

    formats = output_formats(output or ())
    printed = format or (None if formats else "table")
    wanted = {*formats.values(), *([printed] if printed else [])}
    require(wanted)
    check_outputs([("--output", path) for path in formats], [("the run", run)])
    finished = load_run(run)
    if WITH_DETAIL & wanted:
        finished = replace(finished, detail=load_detail(run, finished))
    style = replace(terminal_style(color=wants_color(no_color=no_color)), junit_fields=junit_fields)
    write_outputs(formats, finished, style, verbose=verbose)
    if printed:
        write_result(render(printed, finished, style))
