"""Confused values, in fields with only a few different values."""

import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.job import Job, OutputsRequested
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score import detail as value_pairs
from stickler_cli.score.detail import Detail, ValuePairs
from .batches import batch

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
    documents = [DocumentPair(str(index), *pair) for index, pair in enumerate(pairs)]
    return evaluate_chunk(JOB, documents).detail


def test_right_wrong_missed_and_invented_values_are_counted_apart():
    value_pairs_found = detail(
        ({"unit": "kg"}, {"unit": "kg"}),
        ({"unit": "kg"}, {"unit": "lb"}),
        ({"unit": "kg"}, {}),
        ({}, {"unit": "t"}),
        ({}, {}),
    ).value_pairs["unit",]

    assert value_pairs_found.counts == {
        '"kg"': {'"kg"': [1, 0], '"lb"': [0, 1], "": [0, 1]},
        "": {'"t"': [0, 1]},
    }
    assert (value_pairs_found.values, value_pairs_found.confused) == (['"kg"', '"lb"', '"t"'], 1)


def test_kinds_of_values_are_told_apart():
    detail_found = detail(({"paid": True}, {"paid": False}), ({"paid": False}, {"paid": "true"}))

    assert detail_found.value_pairs["paid",].counts == {
        "true": {"false": [0, 1]},
        "false": {'"true"': [0, 1]},
    }


def test_values_inside_failed_items_count():
    inner = {"rows": [{"unit": "kg"}, {"unit": "kg"}]}
    detail_found = detail((inner, {"rows": [{"unit": "kg"}, {"unit": "lb"}]}), (inner, {}))
    pairs = detail_found.value_pairs["rows", "unit"]

    assert sum(sum(counts) for row in pairs.counts.values() for counts in row.values()) >= 4
    assert pairs.counts['"kg"']['"kg"'] == [1, 0]
    assert pairs.counts['"kg"'][""][1] >= 2


def test_too_many_values_are_not_kept_in_whatever_order_they_come(monkeypatch):
    monkeypatch.setattr(value_pairs, "MAX_VALUES", 2)
    few, second = detail(({"unit": "kg"}, {"unit": "lb"})), detail(({"unit": "t"}, {"unit": "t"}))
    totals = ValuePairs(), ValuePairs()
    for total, details in zip(totals, ((few, second), (second, few)), strict=True):
        for shard in (*details, few):
            total.merge(shard.value_pairs["unit",])

    assert totals[0] == totals[1] == ValuePairs({}, too_many=True)


@pytest.mark.parametrize("value", ["x" * 60, "y" * 41])
def test_long_values_are_no_names_of_kinds(value):
    assert detail(({"unit": value}, {"unit": "kg"})).value_pairs["unit",].too_many


TEXT = {"type": "object", "properties": {"a": {"type": "string"}}}


def pairs_of(path, *pairs, schema=TEXT):
    """Return the counts of predicted values of a field, by ground-truth value."""
    table = batch(compile_schema(schema), dict(enumerate(pairs))).table
    total = ValuePairs()
    for name, pairs_found in value_pairs.value_pairs(table):
        if name == path:
            total.merge(pairs_found)
    return total


def test_values_stand_by_how_often_they_were_met_on_either_side_and_then_by_name():
    sorted_pairs = ValuePairs(
        {"c": {"c": [1, 0], "b": [0, 2]}, "a": {"": [0, 3]}, "": {"d": [0, 3]}}
    )

    assert sorted_pairs.values == ["a", "c", "d", "b"]  # 3 of each but b, which was met twice
    assert ValuePairs({"b": {"a": [2, 0]}, "a": {"a": [1, 0]}}).values == ["a", "b"]


def test_as_many_values_as_there_is_room_for_are_kept_beside_absent_ones():
    names = [f"{index}" for index in range(value_pairs.MAX_VALUES)]
    documents = [({"a": name}, {"a": name}) for name in names]

    pairs = pairs_of(("a",), *documents, ({"a": "0"}, {}))
    assert (len(pairs.values), pairs.too_many) == (value_pairs.MAX_VALUES, False)
    for extra_names in (["x"], ["x", "y", "z"]):  # all at once, or told before any is named
        too_many = pairs_of(("a",), *documents, *(({"a": name}, {}) for name in extra_names))
        assert too_many == ValuePairs({}, too_many=True)


@pytest.mark.parametrize(
    ("value", "names"), [("x" * 38, ['"' + "x" * 38 + '"']), ("x" * 39, []), ([0, 0, 1, 1], [])]
)
def test_names_of_kinds_have_forty_characters_at_most_and_no_parts(value, names):
    box = {"type": "array", "x-aws-stickler-comparator": "BBoxIoUComparator"}
    schema = {"type": "object", "properties": {"a": box if isinstance(value, list) else {}}}

    pairs = pairs_of(("a",), ({"a": value}, {"a": value}), schema=schema)
    assert (pairs.values, pairs.too_many) == (names, not names)


def test_objects_and_lists_are_no_values():
    fields = [name for name, _ in value_pairs.value_pairs(batch(PLAN, {"1": (ROWS, ROWS)}).table)]

    assert fields == [("unit",), ("rows", "unit")]


ROWS = {"unit": "kg", "rows": [{"unit": "kg"}]}
