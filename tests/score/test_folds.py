"""Counts of documents that are wholly right, and of valid ones, in any order of adding."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from stickler_cli.core.problems import UsageError, Violation
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.field_counts import LEAVES
from stickler_cli.score.folds import (
    FOLDS,
    MAX_VIOLATIONS,
    SchemaVerdict,
    Validity,
    WhollyRight,
    verdict_view,
)
from stickler_cli.score.gate_verdicts import judge_gate
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.intervals import IntervalSettings
from .batches import TEXT, a_list, an_object, batch, evaluate, not_compared

PLAN = compile_schema(an_object(a=TEXT, tags=a_list(TEXT)))
RIGHT = ({"a": "x"}, {"a": "x"})
ONE_LOST = ({"a": "x"}, {"a": "y"})
THREE_LOST = ({"a": "x", "tags": ["b", "c"]}, {"a": "x", "tags": ["d"]})
MANY_LOST = ({"tags": list("abcdefghijkl")}, {})


def evaluation(*, rows="inline"):
    run_evaluation = Evaluation(interval_settings=IntervalSettings(), rows=rows)
    run_evaluation.add(batch(PLAN, {"1": RIGHT, "2": ONE_LOST}, groups={"k": "one"}))
    run_evaluation.add(batch(PLAN, {"3": THREE_LOST, "4": RIGHT}, groups={"k": "two"}))
    run_evaluation.add(batch(PLAN, {"5": MANY_LOST}, groups={"k": "two"}))
    run_evaluation.add(not_compared("6"))
    return run_evaluation


def test_documents_are_right_where_they_lost_no_value():
    run_evaluation = evaluation()
    record = run_evaluation.to_dict()

    exact = binomtest(2, 5).proportion_ci(0.95, method="exact")
    shares = record["wholly_right"]
    assert shares.pop("interval") == pytest.approx([exact.low, exact.high], rel=1e-4)
    assert shares == {
        "documents": 5,
        "lost": [2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0],
        "right": 2,
        "share": 0.4,
        "lost_at_most": [2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4],
    }
    by = record["by"]["k"]
    assert by["one"]["wholly_right"]["share"] == 0.5
    assert by["two"]["wholly_right"]["lost"][:4] == [1, 0, 0, 1]


def test_they_come_back_from_a_record_and_add_up():
    run_evaluation = evaluation(rows="none")
    again = read_evaluation(json.loads(json.dumps(run_evaluation.to_dict())))
    assert again.wholly_right == run_evaluation.wholly_right

    again.merge(run_evaluation)
    assert again.wholly_right == WhollyRight(10, [4, 2, 0, 2, *[0] * 7])


@pytest.mark.parametrize("lost", [[1], "x", [-1] * 11, [True] * 11])
def test_what_is_no_such_record_is_refused(lost):
    record = evaluation().to_dict()
    record["wholly_right"]["lost"] = lost
    with pytest.raises(UsageError, match=r"wholly_right/lost"):
        read_evaluation(record)


def test_of_no_documents_there_is_no_share():
    assert WhollyRight().view(IntervalSettings())["wholly_right"] == {
        "documents": 0,
        "lost": [0] * 11,
        "right": 0,
        "share": None,
        "lost_at_most": [0] * 11,
    }
    assert WhollyRight(2, [2, *[0] * 10]).interval(None) is None


@pytest.mark.parametrize(
    ("gate", "passed", "reason"),
    [
        ("documents.right>=0.4", True, "documents.right 0.4 >= 0.4"),
        ("documents.right>=0.5", False, "documents.right 0.4 < 0.5"),
        ("documents.right.lower>=0.1", False, "documents.right.lower 0.05"),
        ("documents.right.upper<=0.9", True, "documents.right.upper 0.85"),
    ],
)
def test_gates_ask_for_the_share_and_its_bounds(gate, passed, reason):
    judgement = judge_gate(parse_gate(gate), evaluation())
    assert judgement.passed is passed
    assert judgement.reason.startswith(reason)


def test_a_gate_on_documents_without_intervals_or_documents_fails():
    bare = evaluate([not_compared("6")])
    assert "no document was compared" in judge_gate(parse_gate("documents.right>=0"), bare).reason
    lower = judge_gate(parse_gate("documents.right.lower>=0"), bare)
    assert "the run has no confidence intervals" in lower.reason
    with pytest.raises(UsageError, match="a number between 0 and 1"):
        parse_gate("documents.right>=70")


def test_some_documents_of_a_batch_can_be_added():
    shares = WhollyRight()
    shares.add(batch(PLAN, {"1": RIGHT, "2": ONE_LOST, "3": RIGHT}), np.array([True, True, False]))
    assert (shares.documents, shares.right) == (2, 1)


def test_documents_that_were_not_compared_add_nothing():
    shares = WhollyRight()
    shares.add(not_compared("6"), None)
    assert shares == WhollyRight()


class MostValues:
    """A statistic that somebody could add: the largest number of values in a document."""

    most = 0

    def add(self, batch, some):
        root = batch.counts.units[LEAVES, : len(batch.scores)] if batch.counts else np.zeros((0, 5))
        root = root if some is None else root[some]
        self.most = max([self.most, *root.sum(axis=1).tolist()])

    def merge(self, other):
        self.most = max(self.most, other.most)

    def view(self, settings):
        return {"most_values": self.most}

    def restore(self, record):
        self.most = record["most_values"]


def test_a_statistic_is_added_by_a_class_and_an_entry(monkeypatch):
    monkeypatch.setattr("stickler_cli.score.folds.FOLDS", (*FOLDS, MostValues))
    monkeypatch.setattr("stickler_cli.score.evaluation.FOLDS", (*FOLDS, MostValues))
    run_evaluation = evaluation()
    record = json.loads(json.dumps(run_evaluation.to_dict()))
    merged = evaluation()
    merged.merge(read_evaluation(record))

    assert record["most_values"] == merged.to_dict()["most_values"] == 12 + 1
    assert {name: group["most_values"] for name, group in record["by"]["k"].items()} == {
        "one": 2,
        "two": 13,
    }
    assert read_evaluation(record).to_dict() == record


def violation(keyword: str = "type", field: str = "a", pointer: str = "/a") -> Violation:
    return Violation(keyword, field, pointer, f"{keyword} {pointer}")


def result(document: str, pred: SchemaVerdict = (), gt: SchemaVerdict = ()) -> Batch:
    return not_compared(document, verdicts={"pred": pred, "gt": gt})


def test_verdicts_are_counted_by_document_keyword_and_field():
    item = [violation("required", "b[].c", f"/b/{index}") for index in (2, 10)]
    evaluation = evaluate(
        [
            result("c", [*item, violation()]),
            result("b", [violation("required", "b[].c", "/b/0")]),
            result("a"),
            result("d", None),
        ]
    )

    assert evaluation.to_dict()["validity"] == {
        "pred": {
            "checked": 4,
            "valid": 1,
            "invalid": 2,
            "unreadable": 1,
            "share": 0.25,
            "keywords": {"required": 3, "type": 1},
            "violations": [
                {
                    "keyword": "required",
                    "field": "b[].c",
                    "count": 3,
                    "documents": 2,
                    "example": {"document": "b", "pointer": "/b/0", "message": "required /b/0"},
                },
                {
                    "keyword": "type",
                    "field": "a",
                    "count": 1,
                    "documents": 1,
                    "example": {"document": "c", "pointer": "/a", "message": "type /a"},
                },
            ],
        },
        "gt": {
            "checked": 4,
            "valid": 4,
            "invalid": 0,
            "unreadable": 0,
            "share": 1.0,
            "keywords": {},
            "violations": [],
        },
    }
    assert evaluation.to_dict()["documents"]["schema_invalid"] == {"pred": 2, "gt": 0}


def test_where_nothing_was_checked_nothing_is_said():
    record = evaluate([not_compared("a")]).to_dict()

    assert "validity" not in record
    assert "schema_invalid" not in record["documents"]
    assert Validity().share is None


def test_of_equally_frequent_violations_the_order_is_that_of_the_fields():
    validity = Validity()
    validity.update("a", [violation("type", "b"), violation("type", "a"), violation("enum", "a")])

    assert [(entry.keyword, entry.field) for entry in validity.most_frequent()] == [
        ("enum", "a"),
        ("type", "a"),
        ("type", "b"),
    ]


def test_verdicts_of_two_parts_of_a_run_add_up():
    first, second = Validity(), Validity()
    first.update("a", ())
    first.update("b", [violation("type", "a"), violation("enum", "a")])
    second.update("c", ())
    second.update("d", [violation("type", "b"), violation("type"), violation("const", "z")])
    second.update("e", None)

    first.merge(second)

    assert (first.checked, first.valid, first.invalid, first.unreadable) == (5, 2, 2, 1)
    view = first.view()
    assert list(view["keywords"].items()) == [("type", 3), ("const", 1), ("enum", 1)]
    frequent = [
        (keyword.field, keyword.keyword, keyword.count) for keyword in first.most_frequent()
    ]
    assert frequent == [("a", "type", 2), ("a", "enum", 1), ("b", "type", 1), ("z", "const", 1)]


def test_a_verdict_shows_its_first_violations_and_counts_all():
    view = verdict_view([violation(pointer=f"/{n}") for n in range(MAX_VIOLATIONS + 5)])

    assert (view["valid"], view["count"]) == (False, MAX_VIOLATIONS + 5)
    assert isinstance(view["violations"], list)
    assert len(view["violations"]) == MAX_VIOLATIONS
    assert view["violations"][0] == {
        "keyword": "type",
        "field": "a",
        "pointer": "/0",
        "message": "type /0",
    }
    assert verdict_view(()) == {"valid": True, "count": 0, "violations": []}
    assert verdict_view(None) == {"valid": False, "count": 0, "violations": []}


VIOLATIONS = st.builds(
    violation,
    st.sampled_from(["type", "required"]),
    st.sampled_from(["a", "b[]"]),
    st.sampled_from(["", "/a"]),
)
VERDICTS = st.none() | st.lists(VIOLATIONS, max_size=4)
RESULTS = st.lists(st.builds(result, st.sampled_from("abc"), VERDICTS, VERDICTS), max_size=6)


@given(RESULTS, st.randoms(use_true_random=False), st.integers(0, 6))
def test_verdicts_add_in_any_order_to_the_same_bytes(results, random, cut):
    shuffled = random.sample(results, len(results))
    left, right = evaluate(shuffled[cut:]), evaluate(shuffled[:cut])
    left.merge(read_evaluation(json.loads(json.dumps(right.to_dict()))))

    assert json.dumps(left.to_dict()) == json.dumps(evaluate(results).to_dict())


def test_counts_that_contradict_each_other_are_refused():
    record = evaluate([result("a")]).to_dict()
    validity = json.loads(json.dumps(record["validity"]))
    validity["pred"]["valid"] = 2

    with pytest.raises(UsageError, match="/validity/pred/checked"):
        read_evaluation({**record, "validity": validity})
