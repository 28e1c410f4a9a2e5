"""The exit code of an evaluation, and what standard error says of it."""

from collections.abc import Collection
from typing import Final

from stickler_cli.cli.console import warn
from stickler_cli.cli.exit_codes import ExitCode
from stickler_cli.score.evaluation import Evaluation, Status
from stickler_cli.score.gates import GateResult
from stickler_cli.score.run_verdict import Verdict, unfit_count, unfit_problems, verdict_of

NAMED: Final = 5
"""Documents that an error names on standard error; the results name all."""

_CODES: Final = {
    Verdict.PASSED: ExitCode.OK,
    Verdict.FAILED: ExitCode.GATE_FAILED,
    Verdict.INCOMPLETE: ExitCode.INCOMPLETE,
}


def verdict(evaluation: Evaluation, gates: Collection[GateResult], *, strict: bool) -> ExitCode:
    """Decide the exit code, and say on standard error what could not be evaluated."""
    found = verdict_of(evaluation, gates, strict=strict)
    if found is Verdict.INCOMPLETE:
        _name(evaluation, strict=strict)
    elif not evaluation.statuses[Status.EVALUATED]:
        warn("warning: no ground truth has a prediction that can be used; all counts as missed")
    return _CODES[found]


def _name(evaluation: Evaluation, *, strict: bool) -> None:
    """Say how many documents could not be evaluated, and name the first of them."""
    count = unfit_count(evaluation, strict=strict)
    if not count:
        warn("error: no document was evaluated")
        return
    warn(f"error: {count} of {evaluation.documents['total']} documents could not be evaluated")
    named = unfit_problems(evaluation, strict=strict)
    for entry in named[:NAMED]:
        warn(f"  {entry.id}: {entry.problem}")
    if len(named) > NAMED:
        warn(f"  and {len(named) - NAMED} more, all in the JSON results")
