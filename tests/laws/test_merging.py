"""The counts of many documents do not depend on the order in which they are added up."""

import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.comparison_view import sums_view
from stickler_cli.score.sums import FieldTallies, in_schema_order
from .accounts import compare, sums
from .strategies import Scope, cases

three_documents = cases(Scope(wrong=True), sides=3)


def tallies(case):
    return [
        sums(batch_of_unit(compare(case.plan, gt, pred, case.options)))
        for gt, pred in zip(case.gts, case.preds, strict=True)
    ]


def merged(*parts):
    result = FieldTallies()
    for tally in parts:
        result.merge(tally)
    return result


def printed(node):
    """Return counts as JSON, in the form of run files."""
    return json.dumps(sums_view(in_schema_order(node, [])))


@given(three_documents, st.permutations(range(3)))
def test_merging_in_any_order_and_grouping_gives_the_same_bytes(case, order):
    parts = tallies(case)
    straight = merged(*parts)
    others = [
        merged(*(parts[position] for position in order)),
        merged(merged(*parts[:2]), parts[2]),
        merged(parts[0], merged(*parts[1:])),
        merged(*parts, FieldTallies()),
        merged(FieldTallies(), *parts),
    ]

    assert others == [straight] * 5
    assert merged(parts[0]) == parts[0]
    assert {printed(other) for other in others} == {printed(straight)}


@pytest.mark.slow
@given(three_documents)
def test_merging_leaves_the_other_side_as_it_was(case):
    first, second, third = tallies(case)
    before = deepcopy(second)

    result = merged(first, second)
    result.merge(third)

    assert second == before


@given(three_documents)
def test_counts_and_mean_scores_are_those_of_the_documents(case):
    chunk_tallies = tallies(case)
    total = merged(*chunk_tallies)

    for reading in ("overall", "aggregate", "leaves"):
        by_class = zip(*(tally[()].counts(reading) for tally in chunk_tallies), strict=True)
        assert [*total[()].counts(reading)] == [sum(counts) for counts in by_class]
    for path, node in total.items():
        scores = [tally.tally(path).mean_score for tally in chunk_tallies]
        scores = [score for score in scores if score is not None]
        assert node.n_scored == len(scores)
        if scores:
            assert abs(node.mean_score - sum(scores) / len(scores)) < 1e-12
