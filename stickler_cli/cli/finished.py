"""`stickler report` and `stickler merge`: results of finished runs, without evaluating again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import typer

from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.metrics import load_metrics
from stickler_cli.reports.formats import WITH_DETAIL, format_of
from stickler_cli.runs.saved import file_in, load_detail, load_run, page_of, with_rows
from stickler_cli.runs.whole_files import JOURNAL, NON_MATCHES
from stickler_cli.score.gates import check_no_bounds, check_paths, parse_gates
from stickler_cli.score.record import Run, merge_runs, with_counting
from stickler_cli.settings.of_commands import MergeSettings, ReportSettings
from stickler_cli.studies.diff.changed_values import changed_values
from stickler_cli.studies.diff.record import RunsBeside
from .console import ExitCode, shell_command, warn
from .outputs import Outputs, exit_code_of, outputs_of


def report(settings: ReportSettings) -> ExitCode:
    """Run `stickler report`: write the results of finished runs, and open the page if requested."""
    names = settings.run
    if settings.open and not any(format_of(path) == "html" for path in settings.output):
        page = str(Path(mkdtemp(prefix="stickler-")) / "report.html")
        settings = replace(settings, output=(*settings.output, page))
    outputs = outputs_of(settings)
    if len(names) > 1 and outputs.formats != WITH_DETAIL:
        hint = (
            "use -o page.html to show them side by side; to combine the shards of one run, "
            "use stickler merge"
        )
        raise UsageError(
            [
                Problem(
                    "RUN", "several runs can only be shown side by side on an HTML page", hint=hint
                )
            ]
        )
    outputs.write(
        _read_side_by_side(names, settings)
        if names[1:]
        else _read_finished(names[0], settings, outputs)
    )
    if settings.open:
        page = next(path for path, name in outputs.files.items() if name == "html")
        if not settings.quiet:
            warn(f"opening {page}")
        typer.launch(page)
    return ExitCode.OK


def _read_finished(name: str, settings: ReportSettings, outputs: Outputs) -> Run:
    run = with_counting(load_run(name), settings.counting)
    detail = bool(WITH_DETAIL & outputs.formats)
    by_others = settings.by and [*run.evaluation.by] != [*settings.by]
    explained = settings.show_documents and file_in(name, JOURNAL)
    if by_others or explained:
        # Imported late: it loads the engine.
        from .regrouping import compare_command_of_finished, regroup_run
    if by_others:
        run = regroup_run(name, run, settings, detail=detail)
    elif detail:
        run = replace(run, detail=load_detail(name, run))
    if explained:
        run = replace(run, explain_command=compare_command_of_finished(name, run, settings))
    if file_in(name, NON_MATCHES) is not None:
        run = replace(run, errors_command=shell_command(["stickler", "errors", name]))
    return run


def _read_side_by_side(names: Sequence[str], settings: ReportSettings) -> RunsBeside:
    """Read runs of the same schema, to show them side by side."""
    runs = {
        name: with_rows(name, with_counting(load_run(name), settings.counting)) for name in names
    }
    if len({run.schema.digest for run in runs.values()}) > 1:
        finding, hint = "the runs have different schemas", "evaluate them with the same schema"
        raise NotComparableError([Problem("", finding, hint=hint)])
    runs = {name: replace(run, detail=load_detail(name, run)) for name, run in runs.items()}
    return RunsBeside(runs, changed_values(*runs.values()), [*map(page_of, names)])


def merge(settings: MergeSettings) -> ExitCode:
    """Run `stickler merge`: merge the runs of shards, and report the result."""
    gates = parse_gates(settings.fail_under, settings.gate)
    outputs = outputs_of(settings)
    runs = [(name, with_counting(load_run(name), settings.counting)) for name in settings.run]
    _, first = runs[0]
    check_paths(gates, [field_info.field for field_info in first.fields])
    if first.evaluation.interval_settings is None:
        check_no_bounds(gates)
    for _, run in runs if len(runs) > 1 else ():
        load_metrics(run.evaluation.metrics.values(), allow_plugins=settings.allow_plugins)
    merged = merge_runs(runs, gates or None)
    outputs.write(merged)
    outputs.conclude(merged)
    return exit_code_of(merged)
