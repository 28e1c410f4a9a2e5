import random
import string

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from stickler_cli.comparators import FuzzyComparator
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare import pairing
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.engine import compare
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.pairing import pair_items
from stickler_cli.compare.plan import Options
from stickler_cli.compare.prepared import PreparedValues
from stickler_cli.compare.selective import SelectiveField, selective_fields
from stickler_cli.compare.work import Work
from stickler_cli.schema.compiler import compile_schema
from .nodes import a_list, alike, an_object, compared, exact, number, pairs_of, table, text


class Cells(BaseComparator):
    """A comparator whose similarities are the cells of a matrix.

    A ground-truth value is the number of a row, a predicted value that of a column.
    """

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def compare(self, gt, pred):
        return self.rows[gt][pred]


def cells(rows, floor=0.2):
    rows = np.array(rows)
    n, m = rows.shape
    lists, only = Columns([list(range(n))], [list(range(m))]), np.zeros(1, np.intp)
    item = LeafNode(threshold=0.5, comparator=Cells(rows))
    is_paired = pair_items(item, lists, only, only, floor, Options())
    assert is_paired.similarity.tolist() == [
        rows[row, column] for row, column in zip(is_paired.gt, is_paired.pred, strict=True)
    ]
    return list(zip(is_paired.gt.tolist(), is_paired.pred.tolist(), strict=True))


@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)])
def test_ties_go_to_equal_positions_and_leave_the_last_alone(rows, columns):
    expected = [(position, position) for position in range(min(rows, columns))]

    assert cells([[0.8] * columns] * rows) == expected


@pytest.mark.parametrize(
    ("similarity", "floor", "is_pair"),
    [
        (0.2, 0.2, False),
        (0.2 + 0.9e-9, 0.2, False),
        (0.2 + 2e-9, 0.2, True),
        (0.1, 0.2, False),
        (0.0, 0.0, False),
        (0.0, -1, True),
        (0.0, -0.5, True),
        (1.0, 0.99, True),
    ],
)
def test_a_pair_must_be_above_the_floor_by_more_than_a_billionth(similarity, floor, is_pair):
    assert bool(cells([[similarity]], floor)) is is_pair


# --- ways that look at few pairs, against all pairs of two lists

LETTERS = ["ab", "abc", "abd", "xyz", "xy", ""]


def documents(draw, longest=6):
    """Return random list items, some of which are similar."""
    return [
        {
            "key": draw.choice("pqr"),
            "text": draw.choice(LETTERS) * draw.choice([1, 3]),
            "amount": draw.choice([1, 1.5, 2, None]),
            "inner": [draw.choice(LETTERS) for _ in range(draw.randrange(3))],
        }
        for _ in range(draw.randrange(longest))
    ]


ITEMS = {
    "keys": an_object(key=exact(weight=3.0), text=text()),
    "two keys": an_object(key=exact(), amount=number(weight=2.0), text=text(weight=0.5)),
    "a key alone": an_object(key=exact()),
    "texts": an_object(text=text()),
    "lists inside": an_object(text=text(), inner=a_list(text())),
    "a key and lists": an_object(key=exact(weight=2.0), inner=a_list(text()), amount=number()),
    "lists alone": an_object(inner=a_list(text())),
}


@pytest.mark.parametrize(
    "limits", [{}, {"MAX_MATRIX_CELLS": 0}, {"MAX_MATRIX_CELLS": 0, "MAX_AUGMENTED_ROWS": -1}]
)
@pytest.mark.parametrize("item", ITEMS)
def test_whichever_way_is_taken_the_total_is_the_greatest_of_all_pairs(monkeypatch, item, limits):
    for name, value in {
        "MAX_EXHAUSTIVE_PAIRS": 0,
        "MAX_COMPARED_PAIRS": 7,
        "MAX_SEARCHED_PAIRS": 40,
        **limits,
    }.items():
        monkeypatch.setattr(pairing, name, value)
    draw, node = random.Random(item), ITEMS[item]  # noqa: S311 - no secret
    gts, preds = ([documents(draw) for _ in range(25)] for _ in range(2))
    lists, indexes = Columns(gts, preds), np.arange(len(gts))

    pairs = pair_items(node, lists, indexes, indexes, 0.2, Options())

    gt_lists, pred_lists, _ = lists.elements
    for row in range(len(gts)):
        pairs_of_row = pairs.select(pairs.owner == row)
        rows = [gts[row][index] for index in gt_lists.select(indexes[row : row + 1]).indexes]
        columns = [preds[row][index] for index in pred_lists.select(indexes[row : row + 1]).indexes]
        assert (
            len({*pairs_of_row.gt.tolist()})
            == len({*pairs_of_row.pred.tolist()})
            == len(pairs_of_row.gt)
        )
        if not rows or not columns:
            assert not len(pairs_of_row.gt)
            continue
        alike = np.array(table(node, rows, columns))
        distance = np.abs(np.subtract.outer(np.arange(len(rows)), np.arange(len(columns))))
        nearness = 1e-9 * (1 - distance / max(alike.shape))
        gain = np.where(alike > 0.2 + 1e-9, alike + nearness, 0)
        chosen = pairs_of_row.gt - gt_lists.starts[row], pairs_of_row.pred - pred_lists.starts[row]
        assert pairs_of_row.similarity.tolist() == alike[chosen].tolist()
        assert (pairs_of_row.similarity > 0.2).all()
        greatest = gain[linear_sum_assignment(gain, maximize=True)].sum()
        assert gain[chosen].sum() == pytest.approx(greatest, abs=1e-12)


def test_texts_of_two_letters_pair_by_one_of_them_in_lists_of_any_length():
    for size in (3, 26):
        gt = [letter * 2 for letter in string.ascii_lowercase[:size]]
        pred = [letter + "?" for letter in string.ascii_lowercase[:size]]

        assert alike(a_list(text()), gt, pred) == 0.5


def test_a_field_finds_the_pairs_that_agree_in_it_in_lists_where_it_tells():
    keys = np.array([0, 1, 1, -1, 1, 0, 1, 1])
    field = SelectiveField(1.0, 1.0, keys)
    seekers = np.arange(4), np.array([0, 0, 1, 1])
    partners = np.arange(4, 8), np.array([0, 0, 1, 1])

    # The third finds two of its list, which are more than it may; the last has no key.
    joined = field.join(seekers, partners, np.array([2, 1]))

    assert [array.tolist() for array in joined] == [[0, 1], [1, 0], [True, True, False, False]]


def test_an_object_weighs_what_its_fields_do_a_union_as_the_heaviest_of_its_arms():
    x, ref = "x-aws-stickler-", {"$ref": "#/$defs/tree"}
    text_of_2 = {"type": "string", x + "weight": 2}
    tree = {"anyOf": [text_of_2, {"type": "array", "items": ref}]}
    key = {"type": "string", x + "comparator": "ExactComparator", x + "weight": 3}
    properties = {"key": key, "x": {"anyOf": [ref, {"allOf": [ref]}, {"type": "number"}]}}
    plan = compile_schema({"type": "object", "properties": properties, "$defs": {"tree": tree}})

    (selective,) = selective_fields(plan.root, Columns([{"key": "a"}], [{"key": "b"}]))

    assert (selective.weight, selective.object_weight) == (3.0, 5.0)


class Slow(BaseComparator):
    """A comparator that compares one pair at a time, and counts the pairs."""

    asked = 0

    def compare(self, gt, pred):
        self.asked += 1
        return float(gt.lower() == pred.lower())


def test_what_is_dear_to_compare_waits_for_an_object_whose_fields_are_cheap():
    slow = Slow()
    name = LeafNode(threshold=0.5, comparator=slow)
    item = an_object(inner=an_object(code=exact(), extra_keys={"weight": 3.0}), name=name)
    size = 30
    gt, pred = (
        [{"inner": {"code": f"{index}"}, "name": f"{letter}{index}"} for index in range(size)]
        for letter in "aA"
    )

    assert alike(a_list(item), gt, pred) == 1.0
    assert slow.asked < size * size


def test_the_same_number_is_written_in_two_ways_and_is_like_what_either_is_like():
    items = {
        "type": "string",
        "x-aws-stickler-comparator": "FuzzyComparator",
        "x-aws-stickler-comparator-config": {"same_digits": True, "same_words": True},
    }
    plan = compile_schema({"properties": {"l": {"type": "array", "items": items}}})
    gt = ["red", "x 2", "beta 12", "no. 5", "1.0", "red St 1", 2.0]
    pred = ["no. 5", "1.0", "x", "red", 1, "St 1 red", "beta 12", "1.0", "red gamma alpha", 2.0, 2]

    account = compare(plan, [{"l": gt}], [{"l": pred}])

    assert account.document_scores[0] == pytest.approx(0.5454, abs=1e-4)


def test_a_field_that_pairs_no_items_is_compared_once_they_are_paired():
    fields = (
        Field("number", exact(), pairs_items=False),
        Field("name", exact()),
        Field("place", exact()),
    )
    rows = a_list(ObjectNode(threshold=0.7, match_threshold=0.6, fields=fields))
    gt = [{"number": index, "name": name, "place": "x"} for index, name in enumerate("abcdefgh", 1)]
    pred = [{**item, "number": index} for index, item in enumerate(gt[1:], 1)]

    pairs = pairs_of(compared(rows, gt, pred))

    # By their numbers, item 1 would go with the first that is predicted.
    assert pairs == [(0, None, "FN"), *((index + 1, index, "TP") for index in range(7))]


def test_pairs_of_unequal_keys_have_nothing_in_common_and_are_not_compared():
    comparator = FuzzyComparator(same_digits=True)
    values = [f"name {index}" for index in range(12)]
    prepared = PreparedValues(comparator, values, frozenset([str]), Work().field_work())
    codes = np.arange(12)
    assert prepared.keys is not None

    alike = prepared.similarities(codes, codes, codes, 12)
    unlike = prepared.similarities(codes, codes[::-1], codes, 12)

    assert (alike.tolist(), unlike.tolist()) == ([1.0] * 12, [0.0] * 12)
