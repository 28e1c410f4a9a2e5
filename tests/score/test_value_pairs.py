"""Which values were found for which, in fields that have only a few."""

import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.documents.pairs import DocumentPair
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score import value_pairs
from stickler_cli.score.detail import Detail
from stickler_cli.score.value_pairs import ValuePairs

SCHEMA = {
    "type": "object",
    "properties": {
        "unit": {"enum": ["kg", "lb", "t"]},
        "paid": {"type": "boolean"},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"unit": {"enum": ["kg", "lb"]}}},
        },
    },
}
PLAN = compile_schema(SCHEMA)
JOB = Job(PLAN, Options(), requested=OutputsRequested(detail=True))


def detail(*pairs) -> Detail:
    documents = [DocumentPair(str(at), *pair) for at, pair in enumerate(pairs)]
    return evaluate_chunk(JOB, documents).detail


def test_right_wrong_missed_and_invented_values_are_counted_apart():
    found = detail(
        ({"unit": "kg"}, {"unit": "kg"}),
        ({"unit": "kg"}, {"unit": "lb"}),
        ({"unit": "kg"}, {}),
        ({}, {"unit": "t"}),
        ({}, {}),
    ).value_pairs["unit",]

    assert found.counts == {
        '"kg"': {'"kg"': [1, 0], '"lb"': [0, 1], "": [0, 1]},
        "": {'"t"': [0, 1]},
    }
    assert (found.values, found.confused) == (['"kg"', '"lb"', '"t"'], 1)


def test_kinds_of_values_are_told_apart():
    found = detail(({"paid": True}, {"paid": False}), ({"paid": False}, {"paid": "true"}))

    assert found.value_pairs["paid",].counts == {
        "true": {"false": [0, 1]},
        "false": {'"true"': [0, 1]},
    }


def test_values_inside_failed_items_count():
    inner = {"rows": [{"unit": "kg"}, {"unit": "kg"}]}
    found = detail((inner, {"rows": [{"unit": "kg"}, {"unit": "lb"}]}), (inner, {}))
    pairs = found.value_pairs["rows", "unit"]

    assert sum(sum(both) for row in pairs.counts.values() for both in row.values()) >= 4
    assert pairs.counts['"kg"']['"kg"'] == [1, 0]
    assert pairs.counts['"kg"'][""][1] >= 2


def test_too_many_values_are_not_kept_in_whatever_order_they_come(monkeypatch):
    monkeypatch.setattr(value_pairs, "MOST_VALUES", 2)
    few, more = detail(({"unit": "kg"}, {"unit": "lb"})), detail(({"unit": "t"}, {"unit": "t"}))
    both = ValuePairs(), ValuePairs()
    for total, parts in zip(both, ((few, more), (more, few)), strict=True):
        for part in (*parts, few):
            total.merge(part.value_pairs["unit",])

    assert both[0] == both[1] == ValuePairs({}, too_many=True)


@pytest.mark.parametrize("value", ["x" * 60, "y" * 41])
def test_long_values_are_no_names_of_kinds(value):
    assert detail(({"unit": value}, {"unit": "kg"})).value_pairs["unit",].too_many
