"""The assignment, against every assignment there is; and lists whose best assignment is unique."""

from itertools import permutations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stickler_cli.compare import list as lists
from stickler_cli.compare.engine import compare
from stickler_cli.compare.pairing import pair, pair_within
from stickler_cli.compare.plan import Options
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.tally import tally

from .accounts import outline, swapped
from .strategies import FLOORS, X

similarities = st.sampled_from((0.0, 0.2, 0.2 + 1e-10, 0.5, 0.8, 1.0)) | st.floats(0, 1)
# A matrix costs little next to a document.
many = settings(max_examples=5 * settings.default.max_examples)

floors = st.sampled_from(FLOORS)
ROUNDING = 1e-14


@st.composite
def matrices(draw, cells=similarities, most=4):
    rows, columns = draw(st.integers(1, most)), draw(st.integers(1, most))
    row = st.lists(cells, min_size=columns, max_size=columns)
    return np.array(draw(st.lists(row, min_size=rows, max_size=rows)))


def gain(matrix, row, column, floor):
    """Give what a pair adds while the assignment is sought; 0 at or below the floor."""
    similarity = matrix[row, column]
    if similarity <= floor + 1e-9:
        return 0.0
    return similarity + 1e-9 * (1 - abs(row - column) / max(matrix.shape))


def assignments(matrix):
    """List every way to give each element of the shorter side one of the longer."""
    rows, columns = matrix.shape
    if rows <= columns:
        return [list(enumerate(order)) for order in permutations(range(columns), rows)]
    return [
        [(row, column) for column, row in enumerate(order)]
        for order in permutations(range(rows), columns)
    ]


def total(matrix, cells, floor):
    return sum(gain(matrix, row, column, floor) for row, column in cells)


def kept(matrix, cells, floor):
    return frozenset(cell for cell in cells if gain(matrix, *cell, floor) > 0)


@many
@given(matrices(), floors)
def test_no_assignment_has_a_greater_total(matrix, floor):
    best = max(total(matrix, cells, floor) for cells in assignments(matrix))

    chosen = [(found.gt, found.pred) for found in pair(matrix, floor)]

    assert total(matrix, chosen, floor) >= best - ROUNDING


@many
@given(matrices(most=7), floors)
def test_pairs_are_in_order_unique_and_above_the_floor(matrix, floor):
    pairs = pair(matrix, floor)

    assert [found.gt for found in pairs] == sorted({found.gt for found in pairs})
    assert len({found.pred for found in pairs}) == len(pairs)
    assert all(found.similarity == matrix[found.gt, found.pred] for found in pairs)
    assert all(found.similarity > floor for found in pairs)


@many
@given(matrices(most=6), floors)
def test_two_elements_left_over_are_no_pair(matrix, floor):
    pairs = pair(matrix, floor)
    rows = set(range(matrix.shape[0])) - {found.gt for found in pairs}
    columns = set(range(matrix.shape[1])) - {found.pred for found in pairs}

    assert all(matrix[row, column] <= floor + 1e-9 for row in rows for column in columns)


@many
@given(matrices(most=6))
def test_the_floor_of_minus_1_keeps_every_pair(matrix):
    assert len(pair(matrix, -1)) == min(matrix.shape)


@many
@given(st.integers(1, 8), st.integers(1, 8), st.floats(0.3, 1))
def test_elements_all_alike_pair_by_position(rows, columns, similarity):
    pairs = pair(np.full((rows, columns), similarity), 0.2)

    assert [(found.gt, found.pred) for found in pairs] == [
        (position, position) for position in range(min(rows, columns))
    ]


@many
@given(st.data(), matrices(st.floats(0, 1), most=4), floors)
def test_a_best_assignment_that_is_unique_holds_in_any_order(data, matrix, floor):
    assume(is_unique(matrix, floor))
    rows = data.draw(st.permutations(range(matrix.shape[0])))
    columns = data.draw(st.permutations(range(matrix.shape[1])))

    shuffled = pair(matrix[np.ix_(rows, columns)], floor)

    assert {(rows[found.gt], columns[found.pred]) for found in shuffled} == {
        (found.gt, found.pred) for found in pair(matrix, floor)
    }


def is_unique(matrix, floor):
    """Say whether one set of pairs is better than every other, by more than ties decide."""
    totals = {}
    for cells in assignments(matrix):
        pairs = kept(matrix, cells, floor)
        totals[pairs] = total(matrix, cells, floor)
    best, *others = sorted(totals.values(), reverse=True)
    return not others or best - others[0] > 1e-6


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
    """Draw two lists of items whose best pairs leave no choice."""
    gts, preds = draw(items), draw(items)
    edits = st.sampled_from(("name", "code", "price"))
    preds += [{**item, draw(edits): None} for item in draw(st.permutations(gts))[:2]]
    node = LIST.root.fields[0].node
    if gts and preds:
        matrix = node.items.matrix(gts, preds[:4], OPTIONS)
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


@many
@given(matrices(most=6), floors, st.randoms(use_true_random=False))
def test_bounds_lead_to_the_best_pairs_or_say_nothing(matrix, floor, random):
    above = (lambda cell: cell, lambda cell: (1 + cell) / 2, lambda _: 1.0)
    bound = np.array([[random.choice(above)(cell) for cell in row] for row in matrix])

    found = pair_within(bound, lambda row, column: float(matrix[row, column]), floor)

    if found is not None:
        best = [(one.gt, one.pred) for one in pair(matrix, floor)]
        cells = [(one.gt, one.pred) for one in found]
        assert abs(total(matrix, cells, floor) - total(matrix, best, floor)) < ROUNDING
        assert all(one.similarity == matrix[one.gt, one.pred] for one in found)


WORD = st.sampled_from(("ant", "ants", "aunt", "bee", "bees nest", ""))
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
        limits = lists.FEW_PAIRS, lists.FEW_NESTED
        lists.FEW_PAIRS = lists.FEW_NESTED = few
        try:
            options = Options(pairing_floor=floor)
            return compare(ITEMS_SCHEMA, {"items": gts}, {"items": preds}, options).similarity
        finally:
            lists.FEW_PAIRS, lists.FEW_NESTED = limits

    assert abs(score(0) - score(10**9)) < 1e-9
