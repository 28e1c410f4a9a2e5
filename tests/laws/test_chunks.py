"""The result of a document does not depend on the documents that are compared with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.compare import engine
from stickler_cli.compare.tree import tree_of
from stickler_cli.documents.wrappers import Unwrapper
from .accounts import view
from .strategies import Scope, annotated, cases


@pytest.mark.parametrize("is_annotated", [False, True])
def test_documents_compared_together_come_to_what_each_comes_to_by_itself(is_annotated):
    @given(st.data(), cases(Scope(wrong=True, open_lists=True), sides=3))
    def holds(data, case):
        truths = [data.draw(annotated(gt)) if is_annotated else gt for gt in case.gts]
        bare = [Unwrapper(case.plan.root)(truth, is_truth=True) for truth in truths]
        gts, gold = [document.value for document in bare], [document.gold for document in bare]

        together = engine.compare(case.plan, gts, case.preds, case.options, gold=gold)

        for index, pred in enumerate(case.preds):
            single = engine.compare(
                case.plan, [gts[index]], [pred], case.options, gold=[gold[index]]
            )
            views = [view(tree_of(together, index)), view(tree_of(single, 0))]
            assert json.dumps(views[0]) == json.dumps(views[1])

    holds()
