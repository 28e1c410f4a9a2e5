"""An error in a comparator is an error of the document only, and the run continues."""

import math
import re

import numpy as np
import pytest

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.engine import compare
from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.compare.plan import Options
from stickler_cli.compare.work import TooMuchAtOnceError
from stickler_cli.core.problems import ComparisonError, WorkLimitError
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.document_result import Status


class Faulty(BaseComparator):
    """A comparator that returns 0.6.

    For a ground truth that contains `bad`, it returns or raises the given outcome.
    """

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def compare(self, gt, pred):
        return self.answer() if gt == "bad" else 0.6


def raises():
    raise KeyError("no\x1b[31m such")


def exits():
    raise RecursionError("too deep")


FAULTS = {
    "an exception": (raises, "KeyError: "),
    "no number": (lambda: math.nan, "the similarity is nan"),
    "infinity": (lambda: math.inf, "the similarity is inf"),
    "above 1": (lambda: 1.5, "the similarity is 1.5"),
    "below 0": (lambda: -0.5, "the similarity is -0.5"),
    "a NaN of numpy": (lambda: np.float64("nan"), "the similarity is nan"),
    # In a list these come out of numpy, which words them otherwise.
    "None": (lambda: None, "TypeError: |the similarity is nan"),
    "text": (lambda: "high", "ValueError: "),
    "a list": (lambda: [1.0], "TypeError: |ValueError: "),
    "too deep a recursion": (exits, "RecursionError: "),
}
LEAF = {"type": "string", "x-aws-stickler-comparator": "Faulty"}
ITEM = {"type": "object", "properties": {"k": {"type": "string"}, "v": LEAF}}
OTHERS = [{"k": f"key {number}", "v": "x"} for number in range(12)]
PLACES = {
    "a field": (LEAF, "bad", "y", "x"),
    "a field of an object": (ITEM, {"v": "bad"}, {"v": "y"}, "x.v"),
    "an element": ({"type": "array", "items": LEAF}, ["a", "bad"], ["b", "c"], "x"),
    "an element of many": ({"type": "array", "items": LEAF}, ["a"] * 9 + ["bad"], ["b"] * 9, "x"),
    "a field of items": ({"type": "array", "items": ITEM}, [{"v": "bad"}], [{"v": "y"}], "x.v"),
    "a field of many items": (
        {"type": "array", "items": ITEM},
        [*OTHERS, {"k": "z", "v": "bad"}],
        [*OTHERS, {"k": "z", "v": "y"}],
        "x.v",
    ),
    "a list in items": (
        {
            "type": "array",
            "items": {"type": "object", "properties": {"l": {"type": "array", "items": LEAF}}},
        },
        [{"l": ["bad", "a"]}, {"l": ["a"]}],
        [{"l": ["b", "a"]}, {"l": ["c"]}],
        "x.l",
    ),
    "a position": ({"type": "array", "prefixItems": [LEAF]}, ["bad"], ["y"], "x"),
    "a key of a map": (
        {"type": "object", "additionalProperties": LEAF},
        {"m": "bad"},
        {"m": "y"},
        "x.m",
    ),
    "an arm": ({"anyOf": [{"type": "number"}, LEAF]}, "bad", "y", "x"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", PLACES)
def test_a_fault_is_told_with_its_place_values_and_cause(fault, place):
    answer, cause = FAULTS[fault]
    schema, gt, pred, path = PLACES[place]
    plan = compile_schema(
        {"type": "object", "properties": {"x": schema}}, comparators={"Faulty": Faulty(answer)}
    )
    pairs = [
        DocumentPair("bad", {"x": gt}, {"x": pred}),
        DocumentPair("good", {"x": pred}, {"x": pred}),
    ]

    evaluation = evaluate_chunk(Job(plan, Options()), pairs).evaluation

    (problem,) = evaluation.problems
    assert (problem.document, problem.status) == ("bad", Status.FAILED)
    assert f"in field {path}" in problem.problem
    assert "comparator Faulty failed when it compared " in problem.problem
    assert re.search(cause, problem.problem)
    assert evaluation.evaluated == 1
    with pytest.raises(ComparisonError):
        compare(plan, [{"x": gt}], [{"x": pred}])


def test_of_several_schemas_the_one_of_the_document_is_named():
    faulty = {"Faulty": Faulty(raises)}
    value = {"type": "string", "x-aws-stickler-comparator": "Faulty"}
    plan = compile_schema({"type": "object", "properties": {"a": value}}, comparators=faulty)
    plan_of_all = plan_of_schemas({"one/": plan}, "Documents")

    with pytest.raises(ComparisonError) as caught:
        compare(plan_of_all, [{"one/": {"a": "bad"}}], [{"one/": {"a": "x"}}])
    assert caught.value.path == ("one/", "a")
    assert isinstance(caught.value.__cause__, KeyError)


class Unreadable(BaseComparator):
    """A comparator that cannot prepare a text beginning with `bad`."""

    def prepare(self, value):
        if value.startswith("bad"):
            raise KeyError(value)
        return value

    def similarity(self, gt, pred):
        return 0.5


@pytest.mark.parametrize(
    ("gts", "preds", "units"),
    [
        # More letters than there is work for, where values are read.
        (["x" * 9_000_000] * 2, ["y", "z"], 0.1),
        # Enough to read 20,007 letters once (400,140 steps), but not again to name the pair.
        (["bad" + "x" * 20_000, "a"], ["b", "c"], 0.0006),
    ],
)
def test_too_much_work_while_values_are_read_is_no_fault_of_the_comparator(gts, preds, units):
    plan = compile_schema(
        {"type": "object", "properties": {"x": LEAF}}, comparators={"Faulty": Unreadable()}
    )
    sides = [[{"x": value} for value in side] for side in (gts, preds)]

    with pytest.raises(WorkLimitError):
        compare(plan, *sides, Options(work_limit=units))
    with pytest.raises(TooMuchAtOnceError):
        compare(plan, *sides, Options(work_at_once=units / 2))
