"""`stickler report`: a finished run in any format, without evaluating again."""

from dataclasses import replace

from stickler_cli.cli.console import write_result
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.cli.outputs import OUTPUT, output_formats, terminal_style, write_outputs
from stickler_cli.reports.registry import WITH_DETAIL, render, require
from stickler_cli.runs.saved import load_detail, load_run
from stickler_cli.runs.whole_files import check_outputs
from stickler_cli.settings import ReportSettings


def report(run: str, settings: ReportSettings) -> ExitCode:
    """Write the results of a finished run."""
    formats = output_formats(settings.output)
    printed = settings.format or (None if formats else "table")
    shown = {*formats.values(), *([printed] if printed else [])}
    require(shown)
    check_outputs([(OUTPUT, path) for path in formats], [("the run", run)])
    finished = load_run(run)
    if WITH_DETAIL & shown:
        finished = replace(finished, detail=load_detail(run, finished))
    style = replace(terminal_style(settings), junit_fields=settings.junit_fields)
    write_outputs(formats, finished, style, settings)
    if printed and not settings.quiet:
        write_result(render(printed, finished, style))
    return ExitCode.OK
