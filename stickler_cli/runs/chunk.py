"""What every runner runs: one pair of documents in, one result out; a bad document is a result."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.documents import DocumentPair
from stickler_cli.errors import ComparisonError, Problem
from stickler_cli.json_values import JsonObject
from stickler_cli.metrics.accounts import Accounts
from stickler_cli.metrics.evaluation import DocumentResult, Evaluation, Status

Missing = Literal["fn", "skip", "error"]


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides what becomes of a pair."""

    plan: Plan
    options: Options
    missing: Missing = "fn"
    """What a ground truth without a prediction is: false negatives, left out, or a failure."""
    accounts: bool = False
    """Whether to keep an account of each document."""

    def evaluation(self) -> Evaluation:
        """Give the evaluation of no documents, which keeps of those to come what is asked for."""
        return Evaluation(accounts=Accounts() if self.accounts else None)


def evaluate_pairs(job: Job, pairs: Iterable[DocumentPair]) -> Iterator[DocumentResult]:
    """Compare pairs one by one, in their order."""
    for pair in pairs:
        yield evaluate_pair(job, pair)


def evaluate_pair(job: Job, pair: DocumentPair) -> DocumentResult:
    """Compare one pair; whatever is wrong with it is told in the result."""
    result = _compared(job, pair)
    if not pair.remarks:
        return result
    return replace(result, problems=(*result.problems, *pair.warnings), remarks=pair.remarks)


def _compared(job: Job, pair: DocumentPair) -> DocumentResult:
    gt = pair.gt
    if gt is None or isinstance(gt, Problem):
        return _without_ground_truth(pair)
    pred, status, problems = _prediction(pair)
    if status is Status.MISSING and job.missing != "fn":
        left_out = Status.MISSING if job.missing == "skip" else Status.FAILED
        return DocumentResult(pair.id, left_out, None, problems)
    try:
        comparison = compare(job.plan, gt, pred, job.options)
    except ComparisonError as error:
        return DocumentResult(pair.id, Status.FAILED, None, (*problems, *error.problems))
    except RecursionError:
        problem = Problem(pair.id, "the document is nested too deeply to compare")
        return DocumentResult(pair.id, Status.FAILED, None, (*problems, problem))
    return DocumentResult(pair.id, status, comparison, problems)


def _without_ground_truth(pair: DocumentPair) -> DocumentResult:
    """Tell a ground truth that cannot be read from a prediction that has none."""
    if isinstance(pair.gt, Problem):
        return DocumentResult(pair.id, Status.FAILED, None, (pair.gt,))
    if isinstance(pair.pred, Problem):
        return DocumentResult(pair.id, Status.INVALID, None, (pair.pred,))
    problem = Problem(pair.id, "there is no ground truth for this prediction")
    return DocumentResult(pair.id, Status.UNMATCHED, None, (problem,))


def _prediction(pair: DocumentPair) -> tuple[JsonObject, Status, tuple[Problem, ...]]:
    """Give what stands for the prediction: nothing, where there is none that can be used."""
    if pair.pred is None:
        found = "there is no prediction for this ground truth"
        problem = Problem(pair.id, found, hint=pair.hint)
        return {}, Status.MISSING, (problem,)
    if isinstance(pair.pred, Problem):
        return {}, Status.INVALID, (pair.pred,)
    return pair.pred, Status.EVALUATED, ()
