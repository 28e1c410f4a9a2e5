"""The units of many documents at once are those of each document alone."""

import pytest

from stickler_cli.compare import engine
from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.compare.units import VALUE
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.errors.located_units import located_units
from stickler_cli.score.errors.wrong_units import is_judged_unit
from .batches import TEXT, X, a_list, an_object, batch, not_compared, records

COUNTED = {**TEXT, X + "aggregate": True, X + "weight": 3}
LISTED = {**a_list(TEXT), X + "weight": 5}
UNION = {"anyOf": [COUNTED, {"type": "number", X + "weight": 2}, an_object(n=TEXT), LISTED]}
KEYS = {"type": "object", "additionalProperties": UNION}
INNER = an_object(x=TEXT, u=UNION, keys=KEYS)
ROW = an_object(id=TEXT, name=TEXT, kind=TEXT, u=UNION, inner=INNER, parts=a_list(INNER))
PLAN = compile_schema(an_object(u=UNION, o=INNER, rows=a_list(ROW), keys=KEYS))

FULL = {"x": "left", "u": "north", "keys": {"k": "red", "l": "blue"}}
PART = {"x": "left", "u": 7, "keys": {"k": "green"}, "more": 1}
ONE = {"id": "1", "name": "bolt", "kind": "metal", "u": "iron", "inner": FULL, "parts": [FULL]}
TWO = {"id": "2", "name": "nut", "kind": "metal", "u": 3, "inner": PART, "parts": [PART, FULL]}
SIDES = [
    {},
    {"u": "here", "o": FULL, "rows": [ONE, TWO], "keys": {"k": "red"}},
    {"u": 12, "o": PART, "rows": [TWO, {**ONE, "name": "belt", "inner": PART}], "new": "left"},
    {"u": {"n": "here"}, "o": "none", "rows": [{**TWO, "kind": "wood", "u": "3", "inner": {}}]},
    {"u": ["here", "there"], "keys": {"k": ["red"], "l": 7, "m": "red"}},
    {"u": ["there", "nowhere"], "keys": {"k": ["rot", "red"], "l": 8, "m": "blue"}},
    {"rows": [{"id": "9", "inner": "FULL", "parts": [FULL], "odd": 1}], "keys": {"l": "red"}},
]
PAIRS = {
    f"{gt}-{pred}": (SIDES[gt], SIDES[pred])
    for gt, pred in ((0, 1), (1, 2), (2, 1), (1, 3), (3, 6), (4, 5), (5, 4), (6, 1), (2, 6), (1, 1))
}


def trusted(value):
    """Return a document with a confidence instead of each value: 0.5 to the power of its length."""
    if isinstance(value, dict):
        return {key: trusted(inner) for key, inner in value.items()}
    return (
        [trusted(element) for element in value]
        if isinstance(value, list)
        else 0.5 ** len(str(value))
    )


def compared(plan, pairs):
    return batch(plan, pairs, confidences=[trusted(pred) for _, pred in pairs.values()])


def described(documents: Batch):
    """Yield (record, fields, errors, units) for each document."""
    units = located_units(documents.table, is_judged_unit, extra_keys="judged")
    for index, record in enumerate(records(documents)):
        # Orders are numbers that only say which comes first: how many differs with the others.
        unit_figures = [
            (
                *(unit.gt_path, unit.pred_path, unit.enclosure, unit.outcome, unit.gt, unit.pred),
                *(unit.similarity, unit.score, unit.threshold, unit.weight, unit.field_path),
            )
            for unit in units[index]
        ]
        yield record, list(record["fields"]), documents.errors(index), unit_figures


@pytest.mark.parametrize(
    ("plan", "pairs"),
    [
        (PLAN, PAIRS),
        (
            plan_of_schemas({"one/": PLAN, "two/": PLAN}, "Documents"),
            {
                name: tuple({("one/", "two/")[index % 2]: side} for side in pair)
                for index, (name, pair) in enumerate(PAIRS.items())
            },
        ),
    ],
)
def test_documents_together_are_told_of_as_each_by_itself(plan, pairs):
    together = [*described(compared(plan, pairs))]

    for (name, pair), units_found in zip(pairs.items(), together, strict=True):
        (single,) = described(compared(plan, {name: pair}))
        assert units_found == single, name


def test_errors_of_keys_stand_in_the_order_of_the_keys():
    schema = {**an_object(a=TEXT), "additionalProperties": TEXT}
    pair = {"a": "one", "k": "red", "l": "blue"}, {"a": "two", "k": "green", "l": "white"}
    compared_records = compared(compile_schema(schema), {"1": pair})

    assert [error.path for error in compared_records.errors(0)] == ["a", "k", "l"]


def test_a_field_that_one_arm_counts_and_another_does_not_is_one_field():
    arms = {"anyOf": [TEXT, {"type": "number", X + "aggregate": False}]}
    rows = {"rows": [{"u": "red"}, {"u": 7}]}
    (record,) = records(
        batch(compile_schema(an_object(rows=a_list(an_object(u=arms)))), {"1": (rows, rows)})
    )

    assert record["fields"]["rows.u"] == {"tp": 2}
    assert record["fields"][""] == {
        "overall": {"tp": 2},
        "aggregate": {"tp": 1},
        "leaves": {"tp": 2},
    }


def test_of_what_one_side_lacks_only_the_values_are_wrong_also_under_keys():
    keys = {"type": "object", "additionalProperties": an_object(x=TEXT)}
    plan = compile_schema(an_object(rows=a_list(an_object(id=TEXT, keys=keys))))
    row = {"id": "1", "keys": {"k": {"x": "red"}}}
    found = batch(plan, {"1": ({"rows": [row]}, {"rows": []})})

    assert [error.path for error in found.errors(0)] == [
        "rows[0]",
        "rows[0].id",
        "rows[0].keys.k.x",
    ]


def test_leaves_that_are_compared_together_are_in_the_documents_of_their_object():
    plan = compile_schema(an_object(rows=a_list(an_object(a=TEXT, b=TEXT))))
    sides = [
        {"rows": [{"a": "x", "b": "y"}, {"a": "v", "b": "w"}]},
        {"rows": [{"a": "x", "b": "y"}]},
    ]
    table = engine.compare(plan, sides, sides)

    (leaves,) = (
        batch_of_leaves for batch_of_leaves in table.batches if batch_of_leaves.kind == VALUE
    )
    assert leaves.document.tolist() == [0, 0, 1, 0, 0, 1]
    by_name = {
        table.fields.paths[number][-1]: leaves.document[positions].tolist()
        for number, positions in leaves.positions_by_field()
    }
    assert by_name == {"a": [0, 0, 1], "b": [0, 0, 1]}


def test_a_document_has_the_scores_of_its_fields_and_none_if_it_was_not_compared():
    plan = compile_schema(an_object(a=TEXT, b=TEXT))
    compared = batch(plan, {"1": ({"a": "x", "b": "y"}, {"a": "x"})})

    assert compared.field_scores(0) == {"a": 1.0, "b": 0.0}
    assert not_compared("2").field_scores(0) == {}
