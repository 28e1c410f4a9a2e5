"""What a node says of one pair and of all pairs at once is the same."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.engine import compare
from stickler_cli.compare.result import ListComparison

from .strategies import KINDS, Scope, cases

of_any_kind = pytest.mark.parametrize("kind", KINDS)

ANYTHING = Scope(wrong=True)

# A map adds its fields up in the order in which the documents name them.
ORDER_OF_A_SUM = 1e-12


def node_and_values(case):
    """Take the node of field `x`, and the values there that are present."""
    sides = [
        [document["x"] for document in side if not is_absent(document["x"])]
        for side in (case.gts, case.preds)
    ]
    return case.plan.root.fields[0].node, *sides


def table(similarity, gts, preds, options):
    """Compare every pair on its own."""
    rows = [[similarity(gt, pred, options) for pred in preds] for gt in gts]
    return np.array(rows, dtype=np.float64).reshape(len(gts), len(preds))


def assert_same(matrix, expected):
    assert matrix.shape == expected.shape
    assert matrix == pytest.approx(expected, abs=ORDER_OF_A_SUM, rel=0)


@of_any_kind
def test_a_matrix_is_the_similarity_of_every_pair(kind):
    @given(cases(ANYTHING, sides=3, kind=kind))
    def holds(case):
        node, gts, preds = node_and_values(case)

        matrix = node.matrix(gts, preds, case.options)

        assert_same(matrix, table(node.similarity, gts, preds, case.options))

    holds()


@of_any_kind
def test_scores_are_the_score_of_every_pair(kind):
    @given(cases(ANYTHING, sides=3, kind=kind))
    def holds(case):
        node, gts, preds = node_and_values(case)

        scores = node.scores(gts, preds, case.options)

        assert_same(scores, table(node.score, gts, preds, case.options))

    holds()


@of_any_kind
def test_the_account_of_a_pair_says_the_same_similarity_and_score(kind):
    @given(cases(ANYTHING, kind=kind))
    def holds(case):
        node, gts, preds = node_and_values(case)
        assume(gts and preds)

        comparison = node.compare(gts[0], preds[0], case.options)

        # The similarity of two lists to others is their score: it is what pairs them.
        is_list = isinstance(comparison, ListComparison)
        similarity = comparison.score if is_list else comparison.similarity
        assert similarity == node.similarity(gts[0], preds[0], case.options)
        assert comparison.score == node.score(gts[0], preds[0], case.options)

    holds()


@settings(max_examples=4 * settings.default.max_examples)
@given(cases(Scope(kinds=("text",)), kind="list"))
def test_a_list_of_leaves_that_clip_says_the_same_score(case):
    node, gts, preds = node_and_values(case)
    assume(gts and preds)

    comparison = node.compare(gts[0], preds[0], case.options)

    assert comparison.score == node.similarity(gts[0], preds[0], case.options)


@given(cases(ANYTHING, sides=2))
def test_documents_have_one_similarity(case):
    def reported(gt, pred, options):
        return compare(case.plan, gt, pred, options).similarity

    root = case.plan.root
    expected = table(root.similarity, case.gts, case.preds, case.options)

    assert_same(table(reported, case.gts, case.preds, case.options), expected)
    assert_same(root.matrix(case.gts, case.preds, case.options), expected)
