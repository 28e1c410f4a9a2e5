"""What a run comes to: one verdict, the same for the exit code and for every report."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from stickler_cli.score.evaluation import DocumentProblem, Evaluation, Status
from stickler_cli.score.gates import GateResult

UNFIT: Final = frozenset({Status.FAILED})
UNFIT_IF_STRICT: Final = UNFIT | {Status.MISSING, Status.INVALID, Status.UNMATCHED}


class Verdict(StrEnum):
    """What a run comes to; the later one wins."""

    PASSED = "passed"
    FAILED = "failed"
    """A gate failed."""
    INCOMPLETE = "incomplete"
    """Documents could not be evaluated, or none was: the figures are not those of the whole."""


def verdict_of(evaluation: Evaluation, gates: Iterable[GateResult], *, strict: bool) -> Verdict:
    """Return the verdict; what could not be evaluated wins over what was not good enough."""
    if unfit_count(evaluation, strict=strict) or not evaluation.evaluated:
        return Verdict.INCOMPLETE
    return Verdict.PASSED if all(result.passed for result in gates) else Verdict.FAILED


def unfit_count(evaluation: Evaluation, *, strict: bool) -> int:
    """Return how many documents count as not evaluated; if strict, those without a pair too."""
    return sum(evaluation.statuses[status] for status in _unfit(strict=strict))


def unfit_problems(evaluation: Evaluation, *, strict: bool) -> list[DocumentProblem]:
    """Return what is wrong with the documents that count as not evaluated, in order."""
    unfit = _unfit(strict=strict)
    return [entry for entry in sorted(evaluation.problems) if entry.status in unfit]


def _unfit(*, strict: bool) -> frozenset[Status]:
    return UNFIT_IF_STRICT if strict else UNFIT
