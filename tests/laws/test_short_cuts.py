"""Shortcuts of the engine change no result."""

from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.comparators import ExactComparator, FuzzyComparator, LevenshteinComparator
from stickler_cli.compare import pairing
from stickler_cli.schema.compiler import compile_schema
from .accounts import compare, tally, values_of
from .naive_counts import count_document, plain_counts
from .strategies import KINDS, NESTS, VALUES_DECIDE, Scope, cases, shuffled

ANYTHING = Scope(wrong=True)
TIES = 1e-8


@contextmanager
def pairing_all_lists_by(few):
    """Search likely pairs first in lists with more than `few` pairs."""
    limit = pairing.MAX_EXHAUSTIVE_PAIRS
    pairing.MAX_EXHAUSTIVE_PAIRS = few
    try:
        yield
    finally:
        pairing.MAX_EXHAUSTIVE_PAIRS = limit


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*NESTS, *VALUES_DECIDE])
def test_looking_at_likely_pairs_first_changes_no_score(kind):
    @given(st.data(), cases(ANYTHING, sides=3, kind=kind))
    def holds(data, case):
        plan = list_of(case)
        gt, pred = (
            {"x": [{"y": element["x"]} for element in side]} for side in (case.gts, case.preds)
        )
        gt, pred = data.draw(shuffled(gt)), data.draw(shuffled(pred))

        scores = []
        for few in (0, 10**9):
            with pairing_all_lists_by(few):
                scores.append(compare(plan, gt, pred, case.options).similarity)

        assert abs(scores[0] - scores[1]) <= TIES

    holds()


def list_of(case):
    """Return the plan of a schema whose field `x` is a list; items have the case's field as `y`."""
    inner = case.schema["properties"]["x"]
    field = {"type": "array", "items": {"type": "object", "properties": {"y": inner}}}
    return compile_schema({**case.schema, "properties": {"x": field}})


@contextmanager
def all_values_compared():
    """Make comparators compare equal values too, instead of assuming that they are the same."""
    readers = ExactComparator, FuzzyComparator, LevenshteinComparator
    for comparator in readers:
        comparator.same_value = False
    try:
        yield
    finally:
        for comparator in readers:
            comparator.same_value = True


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_equal_values_score_what_their_comparator_says(kind):
    @given(cases(ANYTHING, kind=kind))
    def holds(case):
        for pred in (case.gt, case.pred):
            with all_values_compared():
                slow = values_of(compare(case.plan, case.gt, pred, case.options))
            assert values_of(compare(case.plan, case.gt, pred, case.options)) == slow

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *NESTS, *VALUES_DECIDE])
def test_units_counted_together_are_those_counted_one_by_one(kind):
    @given(cases(ANYTHING, kind=kind))
    def holds(case):
        comparison = compare(case.plan, case.gt, case.pred, case.options)

        assert plain_counts(tally(comparison)) == count_document(comparison).plain()

    holds()
