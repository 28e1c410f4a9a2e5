"""The exit code of an evaluation, and what standard error says of it."""

from collections.abc import Iterable
from typing import Final

from stickler_cli.cli.console import warn
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.metrics.evaluation import Evaluation, Status
from stickler_cli.metrics.gates import GateResult

NAMED: Final = 5
"""Documents that an error names on standard error; the results name all."""

UNFIT: Final = frozenset({Status.FAILED})
UNFIT_IF_STRICT: Final = UNFIT | {Status.MISSING, Status.INVALID, Status.UNMATCHED}


def verdict(evaluation: Evaluation, gates: Iterable[GateResult], *, strict: bool) -> ExitCode:
    """Decide the exit code; what could not be evaluated wins over what was not good enough."""
    unfit = UNFIT_IF_STRICT if strict else UNFIT
    count = sum(evaluation.statuses[status] for status in unfit)
    if count:
        total = evaluation.documents["total"]
        warn(f"error: {count} of {total} documents could not be evaluated")
        _name(evaluation, unfit)
        return ExitCode.INCOMPLETE
    if not evaluation.evaluated:
        warn("error: no document was evaluated")
        return ExitCode.INCOMPLETE
    if not evaluation.statuses[Status.EVALUATED]:
        warn("warning: no ground truth has a prediction that can be used; all counts as missed")
    if not all(result.passed for result in gates):
        return ExitCode.GATE_FAILED
    return ExitCode.OK


def _name(evaluation: Evaluation, statuses: frozenset[Status]) -> None:
    """Name the first documents of some statuses."""
    named = [entry for entry in sorted(evaluation.problems) if entry.status in statuses]
    for entry in named[:NAMED]:
        warn(f"  {entry.id}: {entry.problem}")
    if len(named) > NAMED:
        warn(f"  and {len(named) - NAMED} more, all in the JSON results")
