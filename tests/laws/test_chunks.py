"""The result of a document does not depend on the documents that are compared with it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.compare import engine
from stickler_cli.compare.tree import tree_of
from .accounts import compare, view
from .strategies import Scope, cases

ANYTHING = cases(Scope(wrong=True), sides=3)


def views(case, order):
    """Compare documents together in the given order; return the results of each as JSON."""
    gts, preds = ([side[index] for index in order] for side in (case.gts, case.preds))
    account = engine.compare(case.plan, gts, preds, case.options)
    return [json.dumps(view(tree_of(account, index))) for index in range(len(order))]


@given(ANYTHING)
def test_documents_compared_together_come_to_what_each_comes_to_by_itself(case):
    single = [
        json.dumps(view(compare(case.plan, gt, pred, case.options)))
        for gt, pred in zip(case.gts, case.preds, strict=True)
    ]

    assert views(case, range(3)) == single


@given(ANYTHING, st.permutations(range(3)))
def test_documents_in_another_order_come_to_the_same(case, order):
    straight = views(case, range(3))

    assert views(case, order) == [straight[index] for index in order]
