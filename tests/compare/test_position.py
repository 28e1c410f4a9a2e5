"""Lists whose items are paired by position, alone and inside list items."""

import json
import random
from itertools import permutations

import pytest

from stickler_cli.compare import rows, selective
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options
from stickler_cli.compare.tree import tree_of
from stickler_cli.core.problems import SchemaError
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from tests.score.batches import comparison_view
from .nodes import a_list, an_object, compared, exact, number, text

KEY = "x-aws-stickler-pairing"
STEPS = {"type": "array", "items": {"type": "string"}, KEY: "position"}


def by_position(items):
    return a_list(items, pairing="position", threshold_stated=False)


def outcomes_of(schema, gt, pred):
    """Return the `leaves` counts [tp, fd, fn, fa] of a field, and its similarity."""
    plan = compile_schema({"type": "object", "properties": {"x": schema}})
    bare = Unwrapper(plan.root)({"x": gt}, is_truth=True)
    account = compare(plan, [bare.value], [{"x": pred}], Options(), gold=[bare.gold])
    node = comparison_view(batch_of_unit(tree_of(account, 0)))["confusion_matrix"]["fields"]["x"]
    leaves = node["leaves"]
    return [leaves[key] for key in ("tp", "fd", "fn", "fa")], node["raw_similarity_score"]


@pytest.mark.parametrize(
    ("gt", "pred", "counts", "similarity"),
    [
        (["a", "b", "c"], ["a", "c", "b"], [1, 2, 0, 0], 1 / 3),
        (["a", "b"], ["a", "b", "c"], [2, 0, 0, 1], 2 / 3),
        (["a", "b", "c"], ["b", "c"], [0, 2, 1, 0], 0),
        # Absent elements keep their positions; one that is absent on both sides is no unit.
        (["a", None, "c"], ["a", "b", "c"], [2, 0, 0, 1], 2 / 3),
        ([None, "b", None, "d"], [None, "b", "c", ""], [1, 0, 1, 1], 1 / 3),
        (["a", None], [None, "a"], [0, 0, 1, 1], 0),
        ([None, None], [None], [0, 0, 0, 0], 1),
        (["a"], [], [0, 0, 1, 0], 0),
        # A value that is no list is a list of one.
        (["a"], "a", [1, 0, 0, 0], 1),
        # A position that nobody has labelled counts nowhere.
        ([{"_labelled": False}, "b"], ["x", "b"], [1, 0, 0, 0], 1),
        ([{"_value": "a", "_alternatives": ["x"]}, "b"], ["x", "b"], [2, 0, 0, 0], 1),
        ([{"_value": "a", "_alternatives": [None]}, "b"], [None, "b"], [1, 0, 0, 0], 1),
    ],
)
def test_each_element_is_compared_with_the_one_at_its_position(gt, pred, counts, similarity):
    assert outcomes_of(STEPS, gt, pred) == (counts, pytest.approx(similarity))


def test_an_open_list_has_no_invented_elements():
    schema = {**STEPS, "x-aws-stickler-exhaustive": False}

    assert outcomes_of(schema, ["a", None], ["a", "b", "c"]) == ([1, 0, 0, 0], 1)


def test_objects_that_swapped_places_are_wrong():
    item = {"type": "object", "properties": {"k": {"type": "string"}, "n": {"type": "number"}}}
    legs = [{"k": "a", "n": 1}, {"k": "b", "n": 2}]

    counts, similarity = outcomes_of({**STEPS, "items": item}, legs, legs[::-1])

    assert (counts, similarity) == ([0, 4, 0, 0], 0)


@pytest.mark.parametrize(
    ("name", "value", "condition"),
    [
        ("key", "k", "if the elements are objects, "),
        ("distinct", True, ""),
        ("pairing-floor", 0.5, ""),
    ],
)
def test_what_pairs_in_other_ways_is_refused_beside_positions(name, value, condition):
    items = {"type": "object", "properties": {"k": {"type": "string"}}}
    schema = {"properties": {"x": {**STEPS, "items": items, f"x-aws-stickler-{name}": value}}}

    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    assert str(caught.value) == (
        f"#/properties/x/x-aws-stickler-{name}: the annotation has no effect, because the elements "
        f"of this list are paired by position; leave it out, or {condition}set "
        'x-aws-stickler-pairing to "best" or "ordered" ("ordered" keeps the order, but may leave '
        "elements unpaired)"
    )
    for pairing in ("best", "ordered"):
        schema["properties"]["x"][KEY] = pairing
        compile_schema(schema)


@pytest.mark.parametrize(
    ("pairing", "ordered"), [("best", True), ("position", True), ("ordered", False)]
)
def test_a_pairing_that_contradicts_the_order_is_refused(pairing, ordered):
    schema = {"properties": {"x": {**STEPS, KEY: pairing, "x-aws-stickler-ordered": ordered}}}

    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)

    assert str(caught.value) == (
        f'#/properties/x/{KEY}: the value is "{pairing}", but x-aws-stickler-ordered is '
        f"{json.dumps(ordered)}, expected only one of these two keys; "
        "leave out x-aws-stickler-ordered"
    )


@pytest.mark.parametrize(("pairing", "ordered"), [("ordered", True), ("position", False)])
def test_a_pairing_may_repeat_the_order(pairing, ordered):
    schema = {"properties": {"x": {**STEPS, KEY: pairing, "x-aws-stickler-ordered": ordered}}}

    assert compile_schema(schema).root.fields[0].node.pairing == pairing


CELLS = {
    "texts": (text(), ["ab", "abc", "abd", "xyz", "xya", "q"]),
    "codes": (exact(), ["A1", "A2", "B1", "B2", "C9", "C8"]),
    "numbers": (number(), [1, 2, 3, 4, 5, 6]),
    "clipped": (text(threshold=0.9, clip=True), ["ab", "abc", "abd", "xyz", "xya", "q"]),
}


def a_table(values, chance, *, gaps):
    """Return a list of up to four lists of up to five values."""
    width = chance.randint(1, 5)
    kinds = [None, *values] if gaps else values
    return [
        [chance.choice(kinds) for _ in range(width - chance.randint(0, 1))]
        for _ in range(chance.randint(1, 4))
    ]


def best_similarity(row_node, gt, pred):
    """Return the similarity of two lists of rows, by trying every pairing of their rows.

    Absent rows are ignored.
    """
    gt, pred = ([row for row in side if any(row)] for side in (gt, pred))
    if not gt or not pred:
        return 1.0 if not gt and not pred else 0.0
    similarities = [[compared(row_node, gt_row, two).similarity for two in pred] for gt_row in gt]
    columns = [*range(len(pred)), *[None] * len(gt)]
    totals = (
        sum(
            similarities[row][column]
            for row, column in enumerate(chosen)
            if column is not None and similarities[row][column] > 0.2 + 1e-9
        )
        for chosen in permutations(columns, len(gt))
    )
    return max(totals) / max(len(gt), len(pred))


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("gaps", [False, True])
def test_rows_of_a_table_are_paired_as_well_as_they_can_be(kind, gaps, monkeypatch):
    monkeypatch.setattr(rows, "MIN_PAIRS", 1)
    cell, values = CELLS[kind]
    table = a_list(by_position(cell))
    chance = random.Random(f"{kind} {gaps}")  # noqa: S311 - the same each time
    for _ in range(40):
        gt, pred = (a_table(values, chance, gaps=gaps) for _ in "12")

        expected = best_similarity(by_position(cell), gt, pred)

        assert compared(table, gt, pred).similarity == pytest.approx(expected), (gt, pred)


@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
def test_bounds_change_no_pair_of_a_wide_table(share, monkeypatch):
    chance = random.Random(share)  # noqa: S311 - the same each time
    gt = [[f"{chance.randint(0, 99):02} {column}" for column in range(9)] for _ in range(40)]
    pred = [[f"x{cell}" if chance.random() < share else cell for cell in row] for row in gt]
    chance.shuffle(pred)
    table = a_list(by_position(text()))
    with_bounds = compared(table, gt, pred)

    monkeypatch.setattr(rows, "MIN_PAIRS", 10**9)
    monkeypatch.setattr(selective, "MAX_POSITIONS", 0)
    without = compared(table, gt, pred)

    assert with_bounds.similarity == pytest.approx(without.similarity)
    assert [(item.gt_index, item.pred_index) for item in with_bounds.items] == [
        (item.gt_index, item.pred_index) for item in without.items
    ]


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        # A row of another kind, rows of very unequal length, and cells that are no scalars.
        ([["a", "b"], "c"], [["a", "b"], ["c"]]),
        ([["a"], [*"abcdefghijklmnop"], ["b"], ["c"], ["d"], ["e"]], [["a"]]),
        ([["a", {"k": 1}], ["b", "c"]], [["b", "c"]]),
    ],
)
def test_rows_of_any_form_find_their_pairs(gt, pred):
    comparison = compared(a_list(by_position(text())), gt, pred)

    pairs = {item.gt_index: item.pred_index for item in comparison.items}
    same = {row: pred.index(value) for row, value in enumerate(gt) if value in pred}
    assert same.items() <= pairs.items()


def test_rows_of_objects_are_compared_object_by_object():
    row = by_position(an_object(k=exact(), n=number()))
    gt = [[{"k": "a", "n": 1}, {"k": "b", "n": 2}], [{"k": "c", "n": 3}, {"k": "d", "n": 4}]]

    assert compared(a_list(row), gt, gt[::-1]).similarity == 1.0
    assert compared(a_list(row), gt, [gt[0][::-1], gt[1]]).similarity == 0.5
