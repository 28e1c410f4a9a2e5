"""The result of a document does not depend on the documents that are compared with it."""

import json

from hypothesis import given

from stickler_cli.compare import engine
from stickler_cli.compare.tree import tree_of
from .accounts import compare, view
from .strategies import Scope, cases


@given(cases(Scope(wrong=True), sides=3))
def test_documents_compared_together_come_to_what_each_comes_to_by_itself(case):
    together = engine.compare(case.plan, case.gts, case.preds, case.options)

    for index, (gt, pred) in enumerate(zip(case.gts, case.preds, strict=True)):
        single = compare(case.plan, gt, pred, case.options)
        assert json.dumps(view(tree_of(together, index))) == json.dumps(view(single))
