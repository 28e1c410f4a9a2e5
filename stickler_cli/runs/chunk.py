"""What every runner runs: one pair of documents in, one result out; a bad document is a result."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.result import ObjectComparison
from stickler_cli.documents import DocumentPair
from stickler_cli.errors import ComparisonError, Problem
from stickler_cli.json_values import JsonObject
from stickler_cli.metrics.evaluation import DocumentResult, Status

Missing = Literal["fn", "skip", "error"]


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides what becomes of a pair."""

    plan: Plan
    options: Options
    missing: Missing = "fn"
    """What a ground truth without a prediction is: false negatives, left out, or a failure."""


def evaluate_pairs(job: Job, pairs: Iterable[DocumentPair]) -> Iterator[DocumentResult]:
    """Compare pairs one by one, in their order."""
    for pair in pairs:
        yield evaluate_pair(job, pair)


def evaluate_pair(job: Job, pair: DocumentPair) -> DocumentResult:
    """Compare one pair; whatever is wrong with it is told in the result."""
    gt, pred = pair.gt, pair.pred
    if isinstance(gt, Problem):
        return DocumentResult(pair.id, Status.FAILED, None, (gt,))
    if gt is None:
        problems = [pred] if isinstance(pred, Problem) else []
        problems.append(Problem(pair.id, "there is no ground truth for this prediction"))
        return DocumentResult(pair.id, Status.UNMATCHED, None, tuple(problems))
    if isinstance(pred, Problem):
        return _compared(job, pair.id, gt, {}, Status.INVALID, (pred,))
    if pred is None:
        problem = Problem(pair.id, "there is no prediction for this ground truth")
        if job.missing == "error":
            return DocumentResult(pair.id, Status.FAILED, None, (problem,))
        if job.missing == "skip":
            return DocumentResult(pair.id, Status.MISSING, None, (problem,))
        return _compared(job, pair.id, gt, {}, Status.MISSING, (problem,))
    return _compared(job, pair.id, gt, pred, Status.EVALUATED, ())


def _compared(
    job: Job,
    id_: str,
    gt: JsonObject,
    pred: JsonObject,
    status: Status,
    problems: tuple[Problem, ...],
) -> DocumentResult:
    try:
        comparison = _compare(job, id_, gt, pred)
    except ComparisonError as error:
        failures = tuple(Problem(id_, problem.found) for problem in error.problems)
        return DocumentResult(id_, Status.FAILED, None, (*problems, *failures))
    return DocumentResult(id_, status, comparison, problems)


def _compare(job: Job, id_: str, gt: JsonObject, pred: JsonObject) -> ObjectComparison:
    try:
        return compare(job.plan, gt, pred, job.options)
    except RecursionError:
        raise ComparisonError("the document is nested too deeply to compare") from None
