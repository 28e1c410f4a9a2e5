"""Pairing of list items, compared with all assignments; and lists with one best pairing."""

from collections import Counter
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from stickler_cli.comparators import ExactComparator, LevenshteinComparator, NumericComparator
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare import engine, pairing
from stickler_cli.compare.assignment import assign
from stickler_cli.compare.columns import Columns
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.object_fields import Field
from stickler_cli.compare.pairing import pair_items
from stickler_cli.compare.plan import Mode, Options
from stickler_cli.compare.tree import tree_of
from stickler_cli.core.json_values import is_absent
from stickler_cli.schema.compiler import compile_schema
from .accounts import compare, outline, swapped, tally
from .strategies import FLOORS, X

similarities = st.sampled_from((0.0, 0.2, 0.2 + 1e-10, 0.5, 0.8, 1.0)) | st.floats(0, 1)
# A matrix costs little next to a document.
many = settings(max_examples=5 * settings.default.max_examples)

floors = st.sampled_from(FLOORS)
ROUNDING = 1e-14


@st.composite
def matrices(draw, cells=similarities, max_side=4):
    rows, columns = draw(st.integers(1, max_side)), draw(st.integers(1, max_side))
    row = st.lists(cells, min_size=columns, max_size=columns)
    return np.array(draw(st.lists(row, min_size=rows, max_size=rows)))


class Cells(BaseComparator):
    """A comparator whose similarities are the cells of a matrix.

    A ground-truth value is the number of a row, a predicted value that of a column.
    """

    def __init__(self, matrix):
        super().__init__()
        self.matrix = matrix

    def compare(self, gt, pred):
        return float(self.matrix[gt, pred])


def pairs_of(matrix, floor):
    """Pair the rows and columns of a matrix of similarities; return the pairs (row, column)."""
    n, m = matrix.shape
    item = LeafNode(threshold=0.5, comparator=Cells(matrix))
    lists, only = Columns([list(range(n))], [list(range(m))]), np.zeros(1, np.intp)
    paired = pair_items(item, lists, only, only, floor, Options())
    assert paired.similarity.tolist() == matrix[paired.gt, paired.pred].tolist()
    return list(zip(paired.gt.tolist(), paired.pred.tolist(), strict=True))


def gain(matrix, row, column, floor):
    """Return what a pair adds to the total of an assignment.

    It is the similarity, plus a small bonus for a near position; 0 if the similarity is at or below
    the floor.
    """
    similarity = matrix[row, column]
    nearness = 1e-9 * (1 - abs(row - column) / max(matrix.shape))
    return np.where(similarity > floor + 1e-9, similarity + nearness, 0.0)


def assignments(matrix):
    """Return all assignments that give each element of the shorter side one of the longer side."""
    rows, columns = matrix.shape
    if rows <= columns:
        return [list(enumerate(order)) for order in permutations(range(columns), rows)]
    return [
        [(row, column) for column, row in enumerate(order)]
        for order in permutations(range(rows), columns)
    ]


def total(matrix, cells, floor):
    return sum(gain(matrix, row, column, floor) for row, column in cells)


def gaining_cells(matrix, cells, floor):
    return frozenset(cell for cell in cells if gain(matrix, *cell, floor) > 0)


@many
@given(matrices(), floors)
def test_no_assignment_has_a_greater_total(matrix, floor):
    best = max(total(matrix, cells, floor) for cells in assignments(matrix))

    chosen = pairs_of(matrix, floor)

    assert total(matrix, chosen, floor) >= best - ROUNDING


@pytest.mark.parametrize("seed", range(10))
def test_the_shortest_paths_lead_to_the_greatest_total(seed):
    random = np.random.default_rng(seed)
    for rows in range(2, 14):
        columns = rows + int(random.integers(3))
        # Some columns are worth more to all, so that rows want the same.
        gains = random.integers(0, 9, (rows, columns)) * random.integers(0, 9, columns) / 64
        best, wanted = gains.max(axis=1), gains.argmax(axis=1)

        chosen = assign(gains.__getitem__, best, np.where(best > 0, wanted, -1), columns)

        cells = [(row, column) for row, column in enumerate(chosen) if column >= 0]
        assert len({column for _, column in cells}) == len(cells)
        greatest = gains[linear_sum_assignment(gains, maximize=True)].sum()
        assert sum(gains[cell] for cell in cells) == greatest  # such fractions add exactly


@many
@given(matrices(max_side=7), floors)
def test_pairs_are_in_order_unique_and_above_the_floor_and_none_is_left_out(matrix, floor):
    pairs = pairs_of(matrix, floor)

    assert [row for row, _ in pairs] == sorted({row for row, _ in pairs})
    assert len({column for _, column in pairs}) == len(pairs)
    assert all(matrix[cell] > floor for cell in pairs)
    rows_alone = set(range(matrix.shape[0])) - {row for row, _ in pairs}
    columns_alone = set(range(matrix.shape[1])) - {column for _, column in pairs}
    for cell in product(rows_alone, columns_alone):
        assert matrix[cell] <= floor + ROUNDING


@many
@given(st.integers(1, 8), st.integers(1, 8), st.floats(0.3, 1))
def test_elements_all_alike_pair_by_position(rows, columns, similarity):
    pairs = pairs_of(np.full((rows, columns), similarity), 0.2)

    assert pairs == [(position, position) for position in range(min(rows, columns))]


@many
@given(st.data(), matrices(st.floats(0, 1), max_side=4), floors)
def test_a_best_assignment_that_is_unique_holds_in_any_order(data, matrix, floor):
    assume(is_unique(matrix, floor))
    rows = data.draw(st.permutations(range(matrix.shape[0])))
    columns = data.draw(st.permutations(range(matrix.shape[1])))

    shuffled = pairs_of(matrix[np.ix_(rows, columns)], floor)

    assert {(rows[row], columns[column]) for row, column in shuffled} == set(
        pairs_of(matrix, floor)
    )


def is_unique(matrix, floor):
    """Return whether the best pairing is clearly better than every other one.

    The difference must be greater than the bonus that decides ties.
    """
    totals = {}
    for cells in assignments(matrix):
        pairs = gaining_cells(matrix, cells, floor)
        totals[pairs] = total(matrix, cells, floor)
    best, *other_totals = sorted(totals.values(), reverse=True)
    return not other_totals or best - other_totals[0] > 1e-6


ITEMS = {
    "type": "object",
    X + "match-threshold": 0.6,
    "properties": {
        "name": {"type": "string"},
        "code": {"type": "string", X + "weight": 0.37},
        "price": {"type": "number", X + "weight": 1.61},
    },
}
OPTIONS = Options()
LIST = compile_schema(
    {"type": "object", "properties": {"items": {"type": "array", "items": ITEMS}}}
)
names = st.text("abcdef", min_size=3, max_size=7)
items = st.lists(
    st.fixed_dictionaries(
        {"name": names, "code": names, "price": st.sampled_from((None, 1, 2, 3))}
    ),
    max_size=4,
)


@st.composite
def untied_lists(draw):
    """Draw two lists of items with exactly one best pairing."""
    gts, preds = draw(items), draw(items)
    edits = st.sampled_from(("name", "code", "price"))
    preds += [{**item, draw(edits): None} for item in draw(st.permutations(gts))[:2]]
    node = LIST.root.fields[0].node
    if gts and preds:
        few_columns = Columns(gts, preds[:4])
        gt, pred = (
            grid.ravel() for grid in np.indices((len(few_columns.gt), len(few_columns.pred)))
        )
        similarity = node.items.similarity(few_columns, gt, pred, OPTIONS, Mode.PAIRING)
        matrix = similarity.similarity.reshape(len(few_columns.gt), len(few_columns.pred))
        assume(is_unique(matrix, OPTIONS.pairing_floor))
    return gts, preds[:4]


def counts(gts, preds):
    return tally(compare(LIST, {"items": gts}, {"items": preds}, OPTIONS))


@given(st.data(), untied_lists())
def test_the_order_of_a_list_does_not_matter_to_the_counts(data, lists):
    """Where no other assignment is as good; else the counts of the tied pairs may differ."""
    gts, preds = lists

    shuffled = counts(data.draw(st.permutations(gts)), data.draw(st.permutations(preds)))

    assert outline(shuffled) == outline(counts(gts, preds))


@given(untied_lists())
def test_swapping_two_lists_swaps_missed_and_invented(lists):
    """Where no other assignment is as good; else the counts of the tied pairs may differ."""
    gts, preds = lists

    assert swapped(counts(gts, preds)) == outline(counts(preds, gts))


class Dear(BaseComparator):
    """A comparator without shortcuts: it is called for each pair."""

    def compare(self, gt, pred):
        return float(gt[:1] == pred[:1])


def leaf(comparator, **rest):
    return LeafNode(threshold=0.5, comparator=comparator, **rest)


WORD = st.sampled_from(("ant", "ants", "aunt", "bee", "bees nest", ""))
CODE = st.sampled_from((None, "", "a", "b", "c")) | st.integers(0, 30).map("k{}".format)
OF_ITEMS = [  # what stands in a field of an item, and its node
    (CODE, leaf(ExactComparator())),
    (st.integers(0, 9), leaf(NumericComparator())),
    (WORD, leaf(LevenshteinComparator(), clip=True)),
    (WORD, leaf(Dear())),
    (st.lists(CODE, max_size=3), ListNode(threshold=0.5, items=leaf(ExactComparator()))),
]


@st.composite
def keyed_lists(draw):
    """Draw (node of list items, pairs of lists).

    Some items are in both lists, and some occur several times.
    """
    kinds = draw(st.lists(st.sampled_from(OF_ITEMS), min_size=1, max_size=4))
    weights = st.sampled_from((0.37, 1.0, 1.7))
    fields = [
        Field(f"{index}", replace(node, weight=draw(weights)))
        for index, (_, node) in enumerate(kinds)
    ]
    item = st.fixed_dictionaries(
        {}, optional={f"{index}": kinds[index][0] for index in range(len(kinds))}
    )
    present = item.filter(lambda value: any(not is_absent(child) for child in value.values()))
    pool = draw(st.lists(present, min_size=1, max_size=12))
    short_lists = st.lists(st.sampled_from(pool), max_size=draw(st.sampled_from((3, 9, 25))))
    lists = draw(st.lists(st.tuples(short_lists, short_lists), min_size=1, max_size=3))
    return ObjectNode(threshold=0.7, fields=tuple(fields)), lists


# Small, so that a few items take each way.
LIMITS = {
    "MAX_EXHAUSTIVE_PAIRS": 4,
    "MAX_SEARCHED_PAIRS": 100,
    "MAX_COMPARED_PAIRS": 7,
    "MAX_MATRIX_CELLS": 30,
    "MAX_AUGMENTED_ROWS": 1,
}


def count_ways(monkeypatch, ways):
    """Count, in `ways`, the calls of each algorithm that pairs items."""

    def counted(owner, name):
        real = getattr(owner, name)

        def call(*arguments):
            ways[name] += 1
            return real(*arguments)

        monkeypatch.setattr(owner, name, call)

    for name in ("assign", "assign_all"):
        counted(pairing, name)
    for name in ("_best_of_all", "_assign_lists"):
        counted(pairing.PairSearch, name)  # no result tells which way it came by
    counted(pairing.SelectiveField, "join")


def gains_of(node, gts, preds, floor):
    """Return the similarity and the gain of each pair of items, (n_gts, n_preds) each."""
    grid = np.indices((len(gts), len(preds))).reshape(2, -1)
    options = Options(pairing_floor=floor)
    matrix = node.similarity(Columns(gts, preds), *grid, options, Mode.PAIRING).similarity.reshape(
        len(gts), -1
    )
    return matrix, gain(matrix, *np.indices(matrix.shape), floor)


@pytest.mark.slow
def test_pairs_of_items_with_keys_have_the_total_of_the_whole_assignment(monkeypatch):
    ways_taken = Counter()

    @settings(max_examples=120)  # so many that each way is taken
    @given(keyed_lists(), st.sampled_from((-1, 0, 0.2)))
    def holds(case, floor):
        node, lists = case
        indexes, columns = np.arange(len(lists)), Columns(*map(list, zip(*lists, strict=True)))
        ways_taken["calls"] += 1

        paired = pair_items(node, columns, indexes, indexes, floor, Options())

        for owner, (gts, preds) in enumerate(lists):
            if not gts or not preds:
                assert owner not in paired.owner
                continue
            own_pairs = paired.select(paired.owner == owner)
            rows = own_pairs.gt - columns.elements.gt.starts[owner]
            partners = own_pairs.pred - columns.elements.pred.starts[owner]
            matrix, gains = gains_of(node, gts, preds, floor)
            best = gains[linear_sum_assignment(gains, maximize=True)].sum()
            assert rows.tolist() == sorted(set(rows.tolist()))
            assert len(set(partners.tolist())) == len(partners)
            assert own_pairs.similarity.tolist() == matrix[rows, partners].tolist()
            assert (gains[rows, partners] > 0).all()
            assert abs(gains[rows, partners].sum() - best) < 1e-12

    for name, limit in LIMITS.items():
        monkeypatch.setattr(pairing, name, limit)
    count_ways(monkeypatch, ways_taken)
    holds()
    assert {"assign", "assign_all", "_best_of_all", "join"} <= ways_taken.keys()
    assert ways_taken["_assigned"] < ways_taken["calls"]  # some need no assignment at all


ITEM = st.fixed_dictionaries(
    {}, optional={"a": WORD, "b": st.integers(0, 3), "c": st.lists(WORD, max_size=3)}
)
ITEMS_SCHEMA = compile_schema(
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "string", X + "comparator": "LevenshteinComparator"},
                        "b": {"type": "integer"},
                        "c": {"type": "array", "items": {"type": "string"}},
                    },
                },
            }
        },
    }
)


@given(st.lists(ITEM, max_size=6), st.lists(ITEM, max_size=6), floors)
def test_looking_at_likely_pairs_only_changes_no_score(gts, preds, floor):
    def score(few):
        limit, pairing.MAX_EXHAUSTIVE_PAIRS = pairing.MAX_EXHAUSTIVE_PAIRS, few
        try:
            options = Options(pairing_floor=floor)
            return compare(ITEMS_SCHEMA, {"items": gts}, {"items": preds}, options).similarity
        finally:
            pairing.MAX_EXHAUSTIVE_PAIRS = limit

    assert abs(score(0) - score(10**9)) < 1e-9


TIED = st.lists(
    st.fixed_dictionaries({"a": st.sampled_from("xyz"), "n": st.sampled_from([1, 2])}), max_size=6
)


@given(st.lists(st.tuples(TIED, TIED), min_size=2, max_size=9))
def test_of_equally_good_pairings_the_same_is_taken_in_any_company(rows):
    item = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "number"}}}
    lists = {"rows": {"type": "array", "items": item}}
    plan = compile_schema({"type": "object", "properties": lists})
    gts, preds = ([{"rows": side} for side in sides] for sides in zip(*rows, strict=True))

    def places(size):
        places_found = []
        for start in range(0, len(rows), size):
            chunk = slice(start, start + size)
            account = engine.compare(plan, gts[chunk], preds[chunk])
            trees = (tree_of(account, document) for document in range(account.n_documents))
            places_found += [
                [(item.gt_index, item.pred_index) for item in tree.fields[0].items]
                for tree in trees
            ]
        return places_found

    assert places(1) == places(2) == places(7) == places(256)


@pytest.mark.parametrize(
    ("gt", "pred", "places"),
    [
        (["b", "x", "c"], ["a", "x", "a", "x"], [(0, None), (1, 1), (2, None)]),  # the nearest
        (["b", "x"], ["x", "a", "x"], [(0, None), (1, 0)]),  # both as far: the first
        (["x", "a", "x"], ["b", "x"], [(0, 1), (1, None), (2, None)]),
    ],
)
def test_of_equally_good_partners_an_element_has_the_nearest_else_the_first(gt, pred, places):
    schema = {"type": "array", "items": {"type": "string", X + "threshold": 1}}
    plan = compile_schema({"type": "object", "properties": {"x": schema}})
    (field,) = compare(plan, {"x": gt}, {"x": pred}).fields

    pairs_found = [(item.gt_index, item.pred_index) for item in field.items]
    assert sorted(pair for pair in pairs_found if pair[0] is not None) == places
