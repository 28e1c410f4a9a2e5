"""`stickler diff`: runs compared, be they finished or made here of predictions."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from stickler_cli.core.option import part_of
from stickler_cli.core.problems import NotComparableError, Problem, UsageError
from stickler_cli.diff.changes import DiffSettings as Deciding
from stickler_cli.diff.comparing import LOWEST, compare_runs
from stickler_cli.diff.contrasts import deciding
from stickler_cli.runs.assembly import assemble, inputs_of
from stickler_cli.runs.job import OutputsRequested
from stickler_cli.runs.run_directory import RUN_FILE
from stickler_cli.runs.saved import load_run
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.record import Run
from stickler_cli.settings import (
    DecidingOptions,
    DiffSettings,
    DocumentOptions,
    EvalSettings,
    ModelOptions,
    SchemaOptions,
    TerminalOptions,
)
from .console import ExitCode
from .eval import evaluated
from .outputs import exit_code_of, outputs_of
from .schemas import schema_of

USAGE: Final = "BASE NEW, or SCHEMA GT PRED_A PRED_B"

_OF_RUNS: Final = (DocumentOptions, SchemaOptions, DecidingOptions, ModelOptions, TerminalOptions)
"""What a run that is made here is told of the settings."""


def diff(names: Sequence[str], settings: DiffSettings) -> ExitCode:
    """Compare two runs and report; of predictions, once they are evaluated."""
    if len(names) not in (2, 4):
        raise UsageError([Problem("stickler diff", f"{len(names)} given", USAGE)])
    gates = [parse_gate(text, lowest=LOWEST) for text in settings.gate]
    *sources, base, new = names
    inputs = [("BASE", base), ("NEW", new)]
    made = [_to_be_made(sources, name, settings) for name in (base, new) if sources]
    outputs = outputs_of(settings, inputs_of(made[0]) + inputs if made else inputs)
    runs, code = _made(made) if made else ([_finished(name) for name in names], ExitCode.OK)
    if code not in (ExitCode.OK, ExitCode.INCOMPLETE):
        return code
    before, after = runs
    if not settings.allow_different and (against := deciding(before, after)):
        hint = "--allow-different compares them all the same"
        raise NotComparableError(
            Problem("", f"the runs are not comparable: {contrast}", hint=hint)
            for contrast in against
        )
    intervals = IntervalSettings(settings.ci, settings.seed)
    decided = Deciding(intervals, settings.margin)
    difference = compare_runs(before, after, (base, new), gates, decided)
    outputs.write(difference)
    outputs.conclude(difference)
    passed = all(result.passed for result in difference.gates)
    return code if passed or code else ExitCode.GATE_FAILED


def _finished(name: str) -> Run:
    if Path(name).is_dir() and not (Path(name) / RUN_FILE).exists():
        found = f"there is no {RUN_FILE} in this directory"
        hint = f"of predictions: stickler diff {USAGE.partition(', or ')[2]}"
        raise UsageError([Problem(name, found, "a finished run", hint)])
    return load_run(name)


def _to_be_made(sources: Sequence[str], pred: str, settings: DiffSettings) -> EvalSettings:
    """Return the settings of the run that predictions make; the sources are schema and GT."""
    schema, gt = sources
    said = {
        name: value for kind in _OF_RUNS for name, value in asdict(part_of(settings, kind)).items()
    }
    return EvalSettings(schema=schema, gt=gt, pred=pred, ci="none", **said)


def _made(made: Sequence[EvalSettings]) -> tuple[list[Run], ExitCode]:
    """Evaluate predictions, and return their runs and what became of them at worst."""
    schema, runs, codes = schema_of(made[0].schema, made[0]), [], []
    for settings in made:
        assembly = assemble(settings, OutputsRequested(accounts=True), lambda: schema)
        run, signal = evaluated(assembly)
        codes.append(exit_code_of(run) if signal is None else ExitCode(128 + signal))
        runs.append(run)
    return runs, max(codes)
