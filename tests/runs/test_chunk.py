"""Evaluating chunks: every kind of bad document has a result."""

import gc
import json

import pytest

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs import chunk
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.document_result import Status

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
REQUESTED = OutputsRequested(document_lines=True)
JOB = Job(compile_schema(SCHEMA), Options(), requested=REQUESTED)
UNREADABLE = Problem("x.json", "it is empty")


def line_of(job: Job, gt: object, pred: object) -> dict:
    """Return the line of `--documents` for a pair of documents."""
    return json.loads(evaluate_chunk(job, [DocumentPair("one", gt, pred)]).document_lines)


@pytest.mark.slow
def test_a_chunk_leaves_nothing_for_the_garbage_collector():
    """Garbage is collected rarely during a run, and made up most of the growth of memory."""
    inner_schema = {
        "type": "object",
        "properties": {"b": {"type": "string"}, "c": {"type": "number"}},
    }
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": inner_schema}}}
    job = Job(compile_schema(schema), Options(), requested=REQUESTED)
    gt, pred = {"a": [{"b": "x", "c": 1}, {"b": "y"}]}, {"a": [{"b": "x", "c": 2}], "d": {"e": 1}}
    pairs = [DocumentPair(str(number), gt, pred) for number in range(8)]

    def count_garbage() -> int:
        """Return the number of garbage objects after a chunk, with those of other code."""
        gc.collect()
        evaluate_chunk(job, pairs)
        return gc.collect()

    gc.disable()
    try:
        evaluate_chunk(job, pairs)  # what is loaded and kept for good
        gc.collect()
        gc.freeze()  # or each look goes through all that other tests have left
        assert min(count_garbage() for _ in range(3)) == 0
    finally:
        gc.enable()


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
    line = line_of(JOB, gt, pred)
    assert line["status"] == status
    assert ("overall_score" in line) is compared
    assert bool(line["problems"]) is (status is not Status.EVALUATED)


@pytest.mark.parametrize(("missing", "status"), [("skip", "missing"), ("error", "failed")])
def test_a_missing_prediction_may_be_left_out_or_fail(missing, status):
    line = line_of(Job(JOB.plan, Options(), missing, REQUESTED), {"a": "x"}, None)
    assert line["status"] == status
    assert "overall_score" not in line


def test_a_comparator_that_fails_is_that_document_s_problem_and_the_run_goes_on():
    leaf = LeafNode(threshold=0.5, comparator=Refuses())
    plan = Plan(ObjectNode(threshold=0.7, fields=(Field("a", leaf),)), "Doc")
    pairs = [DocumentPair("one", {"a": "x"}, {"a": "y"}), DocumentPair("two", {}, {})]
    evaluation = evaluate_chunk(Job(plan, Options()), pairs)
    (problem,) = evaluation.evaluation.problems
    assert (problem.document, problem.status) == ("one", Status.FAILED)
    assert "in field a, comparator Refuses failed" in problem.problem
    assert "ZeroDivisionError: no" in problem.problem
    assert evaluation.ids == ["one", "two"]
    assert evaluation.evaluation.evaluated == 1


def test_a_document_that_is_nested_too_deeply_is_a_failure_of_that_document(monkeypatch):
    def overflow(plan, gts, preds, options, confidences, gold):
        if any("deep" in gt for gt in gts):
            raise RecursionError
        return compare(plan, gts, preds, options, confidences, gold)

    monkeypatch.setattr(chunk, "compare", overflow)
    pairs = [DocumentPair(str(number), {"a": "x"}, {"a": "x"}) for number in range(5)]
    pairs[3] = DocumentPair("3", {"deep": "x"}, {})
    evaluation = evaluate_chunk(JOB, pairs)
    assert evaluation.ids == ["0", "1", "2", "3", "4"]
    (problem,) = evaluation.evaluation.problems
    assert (problem.document, problem.status) == ("3", Status.FAILED)
    assert "too deeply" in problem.problem
    assert evaluation.evaluation.evaluated == 4


def test_a_document_of_too_much_work_fails_by_name_in_any_company():
    plan = compile_schema({"type": "object", "properties": {"t": {"type": "string"}}})
    job = Job(plan, Options(work_limit=0.05), requested=REQUESTED)
    texts = {"t": "ab" * 20_000}, {"t": "cd" * 20_000}
    pairs = [DocumentPair(str(index), {"t": "a"}, {"t": "b"}) for index in range(3)]
    pairs.insert(1, DocumentPair("long", *texts))

    together = evaluate_chunk(job, pairs).document_lines
    single_lines = b"".join(evaluate_chunk(job, [pair]).document_lines for pair in pairs)

    assert together == single_lines
    lines = [json.loads(line) for line in together.splitlines()]
    assert [line["status"] for line in lines] == [*("evaluated", "failed"), *["evaluated"] * 2]
    assert lines[1]["problems"] == [
        (
            "comparing this document takes more work than --work-limit 0.05 allows; most of the "
            "work is in field t"
        )
    ]


def test_documents_that_are_too_much_work_together_are_compared_one_by_one():
    plan = compile_schema({"type": "object", "properties": {"t": {"type": "string"}}})
    texts = {"t": "ab" * 5_000}, {"t": "cd" * 5_000}
    pairs = [DocumentPair(str(index), *texts) for index in range(8)]
    documents = evaluate_chunk(Job(plan, Options(work_limit=0.01)), pairs).evaluation.documents
    assert documents["evaluated"] == 8
