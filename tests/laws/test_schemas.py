"""Documents of several schemas in one run count as those of each schema by itself."""

import numpy as np
import pytest
from hypothesis import given

from stickler_cli.compare import engine
from stickler_cli.compare.open import plan_of_schemas
from stickler_cli.core.locations import parse_field_path
from stickler_cli.score.batch import Batch
from stickler_cli.score.document_result import DocumentResult, Status
from stickler_cli.score.sums import Counts
from .accounts import outline, tally_of
from .strategies import Scope, cases

ANYTHING = Scope(wrong=True)
MODES = ("overall", "aggregate", "leaves")


def batch(plan, gts, preds, options):
    account = engine.compare(plan, gts, preds, options)
    scores = account.document_scores.tolist()
    results = [DocumentResult(str(at), Status.EVALUATED, score) for at, score in enumerate(scores)]
    return Batch(results, account)


def placed(errors, step=()):
    return [
        ((*step, *parse_field_path(error.path)), error.outcome, error.error_class)
        for error in errors
    ]


@given(cases(ANYTHING, sides=2), cases(ANYTHING, sides=3))
def test_one_run_of_two_schemas_is_the_sum_of_a_run_of_each(one, two):
    steps = {"one/": one, "two/": two}
    plan = plan_of_schemas({step: case.plan for step, case in steps.items()}, "both")
    # Documents of the two take turns, the last of the second ones stands alone.
    order = [("one/", 0), ("two/", 0), ("two/", 1), ("one/", 1), ("two/", 2)]
    gts = [{step: steps[step].gts[at]} for step, at in order]
    preds = [{step: steps[step].preds[at]} for step, at in order]

    together = batch(plan, gts, preds, one.options)
    apart = {
        step: batch(case.plan, case.gts, case.preds, one.options) for step, case in steps.items()
    }

    whole = tally_of(together)
    assert [*whole.fields] == ["one/", "two/"]
    for step, alone in apart.items():
        assert outline(whole.fields[step]) == outline(tally_of(alone))
        assert whole.fields[step].tally.n_scored == len(steps[step].gts)
        assert whole.fields[step].tally.mean_score == pytest.approx(np.mean(alone.scores))
    for mode in MODES:
        sums = (tally_of(alone).counts(mode) for alone in apart.values())
        assert whole.counts(mode) == sum(sums, Counts())
    for document, (step, at) in enumerate(order):
        assert together.scores[document] == apart[step].scores[at]
        assert placed(together.errors(document)) == placed(apart[step].errors(at), (step,))
