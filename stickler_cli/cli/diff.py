"""`stickler diff`: runs compared, be they finished or made here of predictions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.reports.formats import WITH_DETAIL
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.saved import load_detail, load_run, with_rows
from stickler_cli.runs.whole_files import RUN_FILE
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run
from stickler_cli.settings.deciding import CountingOptions
from stickler_cli.settings.of_commands import DiffSettings, as_of_eval
from stickler_cli.studies.diff.comparing import LOWEST, compare_runs, deciding
from stickler_cli.studies.diff.record import TrendSettings
from .command_schema import schema_of
from .console import ExitCode
from .eval import whole_run
from .outputs import exit_code_of, outputs_of

USAGE: Final = "[SCHEMA GT] BASE NEW, or [SCHEMA GT] --base RUN... --new RUN..."


def diff(names: Sequence[str], settings: DiffSettings) -> ExitCode:
    """Compare two runs, or several of two systems, and report; of predictions, once evaluated."""
    sources, sides = _sides(names, settings)
    gates = [parse_gate(text, lowest=LOWEST) for text in settings.gate]
    inputs = [
        (what, name) for what, side in zip(("BASE", "NEW"), sides, strict=True) for name in side
    ]
    if sources:
        inputs += [("the schema", sources[0]), ("GT", sources[1])]
    outputs = outputs_of(settings, inputs)
    shown = bool(WITH_DETAIL & outputs.formats) and all(len(side) == 1 for side in sides)
    (base, new), code = _runs(sources, sides, settings, detail=shown)
    first, *others = (*base.values(), *new.values())
    if not settings.allow_different:
        _check_alike(first, others)
    intervals = IntervalSettings(settings.ci, settings.seed)
    decided = TrendSettings(intervals, settings.margin, settings.counting or first.rule.counting)
    difference = compare_runs(base, new, gates, decided)
    outputs.write(difference)
    outputs.conclude(difference)
    passed = all(result.passed for result in difference.gates)
    return code if passed or code else ExitCode.GATE_FAILED


def _sides(
    names: Sequence[str], settings: DiffSettings
) -> tuple[Sequence[str], tuple[Sequence[str], Sequence[str]]]:
    """Return schema and GT, where runs are made here, and the runs or predictions of both sides."""
    if settings.base and settings.new and len(names) in (0, 2):
        sources, base, new = names, [*settings.base], [*settings.new]
    elif not settings.base and not settings.new and len(names) in (2, 4):
        sources, base, new = names[:-2], [names[-2]], [names[-1]]
    else:
        given = [
            *names,
            *(["--base"] if settings.base else []),
            *(["--new"] if settings.new else []),
        ]
        raise UsageError(
            [Problem("stickler diff", f"given: {', '.join(given) or 'nothing'}", USAGE)]
        )
    for option, side in (("BASE", base), ("NEW", new)):
        if twice := [name for name in side if side.count(name) > 1]:
            found = f"{twice[0]} stands there twice"
            raise UsageError([Problem(option, found, "runs that were made one by one")])
    return sources, (base, new)


def _check_alike(first: Run, others: Sequence[Run]) -> None:
    """Raise NotComparableError if what decides figures differs among runs."""
    against = dict.fromkeys(contrast for run in others for contrast in deciding(first, run))
    if against:
        hint = "--allow-different compares them all the same"
        raise NotComparableError(
            Problem("", f"the runs are not comparable: {contrast}", hint=hint)
            for contrast in against
        )


def _runs(
    sources: Sequence[str],
    sides: tuple[Sequence[str], Sequence[str]],
    settings: DiffSettings,
    *,
    detail: bool,
) -> tuple[tuple[dict[str, Run], dict[str, Run]], ExitCode]:
    """Return the runs of both sides by name, and what became of those made here at worst."""
    runs: tuple[dict[str, Run], dict[str, Run]] = ({}, {})
    if not sources:
        for side, names in zip(runs, sides, strict=True):
            side |= {name: _finished(name, detail=detail) for name in names}
        return runs, ExitCode.OK
    schema, gt = sources
    counting = settings.counting or CountingOptions.counting
    asked = as_of_eval(settings, schema=schema, gt=gt, ci="none", gate=(), counting=counting)
    loaded, code = schema_of(schema, asked), ExitCode.OK
    for side, names in zip(runs, sides, strict=True):
        for name in names:
            kept = OutputsRequested(accounts=True, detail=detail)
            run = whole_run(replace(asked, pred=name), kept, lambda: loaded)
            side[name], code = run, max(code, exit_code_of(run))
    return runs, code


def _finished(name: str, *, detail: bool) -> Run:
    if Path(name).is_dir() and not (Path(name) / RUN_FILE).exists():
        found = f"there is no {RUN_FILE} in this directory"
        hint = "of predictions: stickler diff SCHEMA GT PRED_A PRED_B"
        raise UsageError([Problem(name, found, "a finished run", hint)])
    run = with_rows(name, load_run(name))
    return replace(run, detail=load_detail(name, run)) if detail else run
