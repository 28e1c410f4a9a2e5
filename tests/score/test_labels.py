"""Runs with fields that nobody labelled, and with lists that do not name all items."""

import numpy as np
import pytest

from stickler_cli.core.locations import field_names
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.comparison_view import sums_view
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.field_counts import N_UNIT_COUNTS
from stickler_cli.score.folds import PathCounts
from stickler_cli.score.gate_verdicts import judge_gate
from stickler_cli.score.gates import parse_gate
from stickler_cli.score.sums import FieldTallies
from .batches import annotated_batch

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": TEXT,
        "o": {"type": "object", "properties": {"b": TEXT, "c": TEXT}},
        "t": {"type": "array", "items": TEXT},
    },
}
UNKNOWN = {"_labelled": False}
TRUTHS = [
    {"a": "x", "o": {"b": "y", "c": UNKNOWN}, "t": ["p"]},
    {"a": UNKNOWN, "o": UNKNOWN, "t": {"_value": ["p"], "_exhaustive": False}},
    {"a": UNKNOWN, "o": {"b": "y", "c": "z"}, "t": ["p"]},
    {"a": UNKNOWN, "o": {"b": "y", "c": "z"}, "t": ["p"]},
]
PRED = {"a": "x", "o": {"b": "y", "c": "z"}, "t": ["q", "p"]}


def batch_of(truths):
    documents = {f"{position}": (truth, PRED) for position, truth in enumerate(truths)}
    return annotated_batch(compile_schema(SCHEMA), documents)


def evaluation_of(*parts):
    total = Evaluation()
    for truths in parts:
        shard = Evaluation()
        shard.add(batch_of(truths))
        total.merge(shard)
    return total


@pytest.mark.parametrize("truth_lists", [[TRUTHS], [TRUTHS[:1], TRUTHS[1:]]])
def test_what_is_not_labelled_is_counted_once_a_document(truth_lists):
    labels = evaluation_of(*truth_lists).fold(PathCounts)

    assert labels.not_labelled == {("a",): 3, ("o",): 1, ("o", "c"): 1}
    assert labels.left_out == {("t",): 1}
    again = PathCounts()
    view = labels.view(None).items()
    again.restore(
        {
            name: [entry | {"field": field_names(entry["field"])} for entry in entries]
            for name, entries in view
        }
    )
    assert again == labels
    assert PathCounts().view(None) == {"undeclared_keys": [], "extra_keys": []}


@pytest.mark.parametrize(
    ("gate", "value"),
    [
        ("a.labelled>=0.5", 0.25),
        ("o.labelled>=0.5", 0.75),
        ("o.c.labelled>=0.5", 0.5),
        ("t.labelled>=1", 1.0),
        ("labelled>=0.5", (0.25 + 0.75 + 0.75 + 0.5 + 1) / 5),
    ],
)
def test_gates_ask_in_how_many_documents_a_field_is_labelled(gate, value):
    judgement = judge_gate(parse_gate(gate), evaluation_of(TRUTHS))

    assert judgement.value == pytest.approx(value)
    assert judgement.passed is (value >= judgement.limit)


def test_without_documents_nothing_is_labelled():
    assert judge_gate(parse_gate("labelled>=0"), Evaluation()).value is None


def test_what_was_evaluated_nowhere_is_no_field_and_not_absent():
    evaluation = evaluation_of(TRUTHS[1:2])

    assert "a" not in sums_view(evaluation.sums)["fields"]
    assert evaluation.sums.find_never_present() == []
    assert evaluation.sums.tally(("a",)).n_not_evaluated == 1
    assert evaluation.to_dict()["never_labelled"] == {"a": 1, "o": 1}


@pytest.mark.parametrize("kept", [TRUTHS[1:2], TRUTHS[1:], TRUTHS[:1]])
def test_an_evaluation_that_was_read_goes_on_as_it_was(kept):
    total = evaluation_of(kept, TRUTHS)
    again = read_evaluation(evaluation_of(kept).to_dict())
    again.merge(evaluation_of(TRUTHS))

    assert again.sums == total.sums
    assert again.to_dict() == total.to_dict()


def test_some_documents_of_a_batch_have_the_places_that_are_passed_over_in_them():
    documents = batch_of(TRUTHS).counts.select_documents(np.array([False, True, False, False]))

    assert documents.cells[:, N_UNIT_COUNTS].sum() == 2


class UniterableTallies(FieldTallies):
    """Sums of fields that can be looked up, but fail if all fields are listed."""

    def __iter__(self):
        raise AssertionError("all fields are listed")


def test_the_share_of_one_field_is_found_without_listing_all_fields():
    """Reports ask for each field: listing all for each took minutes for 49,000 fields."""
    evaluation = evaluation_of(TRUTHS)
    tallies = UniterableTallies(evaluation.sums)
    labels = evaluation.fold(PathCounts)
    assert [labels.share_labelled(tallies, path) for path in [("a",), ("t",)]] == [0.25, 1.0]
    with pytest.raises(AssertionError, match="all fields are listed"):
        labels.share_labelled(tallies)
