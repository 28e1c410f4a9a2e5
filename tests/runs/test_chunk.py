"""What becomes of a pair: every way in which a document can be bad is a result."""

import sys
from collections.abc import Iterator

import pytest

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.problems import Problem
from stickler_cli.documents import DocumentPair
from stickler_cli.runs.chunk import Job, evaluate_chunk, evaluate_pair
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.evaluation import Status

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
JOB = Job(compile_schema(SCHEMA), Options())
UNREADABLE = Problem("x.json", "it is empty")


class Refuses(BaseComparator):
    def compare(self, gt: object, pred: object) -> float:
        raise ZeroDivisionError("no")


@pytest.mark.parametrize(
    ("gt", "pred", "status", "compared"),
    [
        ({"a": "x"}, {"a": "x"}, Status.EVALUATED, True),
        ({"a": "x"}, None, Status.MISSING, True),
        ({"a": "x"}, UNREADABLE, Status.INVALID, True),
        (UNREADABLE, {"a": "x"}, Status.FAILED, False),
        (UNREADABLE, UNREADABLE, Status.FAILED, False),
        (None, {"a": "x"}, Status.UNMATCHED, False),
        (None, UNREADABLE, Status.INVALID, False),
    ],
)
def test_a_pair_has_one_status(gt, pred, status, compared):
    result = evaluate_pair(JOB, DocumentPair("one", gt, pred))
    assert result.status is status
    assert (result.comparison is not None) is compared
    assert bool(result.problems) is (status is not Status.EVALUATED)


@pytest.mark.parametrize(("missing", "status"), [("skip", "missing"), ("error", "failed")])
def test_a_missing_prediction_may_be_left_out_or_fail(missing, status):
    job = Job(JOB.plan, Options(), missing)
    result = evaluate_pair(job, DocumentPair("one", {"a": "x"}, None))
    assert result.status == status
    assert result.comparison is None


def test_a_comparator_that_fails_is_that_document_s_problem_and_the_run_goes_on():
    leaf = LeafNode(threshold=0.5, comparator=Refuses())
    plan = Plan(ObjectNode(threshold=0.7, fields=(Field("a", leaf),)), "Doc")
    pairs = [DocumentPair("one", {"a": "x"}, {"a": "y"}), DocumentPair("two", {}, {})]
    chunk = evaluate_chunk(Job(plan, Options()), pairs)
    (problem,) = chunk.evaluation.problems
    assert (problem.id, problem.status) == ("one", Status.FAILED)
    assert "at a, Refuses failed" in problem.problem
    assert "ZeroDivisionError: no" in problem.problem
    assert chunk.ids == ["one", "two"]
    assert chunk.evaluation.evaluated == 1


@pytest.fixture
def recursion_limit() -> Iterator[None]:
    """Python's default, whatever ran before."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.usefixtures("recursion_limit")
def test_a_document_that_is_nested_too_deeply_is_a_failure_of_that_document():
    deep: dict = {"v": "x"}
    for _ in range(2000):
        deep = {"a": deep}
    plan = compile_schema({"type": "object"})
    result = evaluate_pair(Job(plan, Options()), DocumentPair("one", deep, deep))
    assert result.status is Status.FAILED
    assert "too deeply" in str(result.problems[0])
