"""Documents with several schemas have the same counts in one run as in a run for each schema."""

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
    results = [
        DocumentResult(str(index), Status.EVALUATED, score) for index, score in enumerate(scores)
    ]
    return Batch(results, account)


def placed(errors, step=()):
    return [
        ((*step, *parse_field_path(error.path)), error.outcome, error.error_class)
        for error in errors
    ]


@given(cases(ANYTHING, sides=2), cases(ANYTHING, sides=3))
def test_one_run_of_two_schemas_is_the_sum_of_a_run_of_each(first_case, second_case):
    steps = {"one/": first_case, "two/": second_case}
    plan = plan_of_schemas({step: case.plan for step, case in steps.items()}, "both")
    # Documents of the two take turns, the last of the second ones stands alone.
    order = [("one/", 0), ("two/", 0), ("two/", 1), ("one/", 1), ("two/", 2)]
    gts = [{step: steps[step].gts[row]} for step, row in order]
    preds = [{step: steps[step].preds[row]} for step, row in order]

    together = batch(plan, gts, preds, first_case.options)
    batches_by_step = {
        step: batch(case.plan, case.gts, case.preds, first_case.options)
        for step, case in steps.items()
    }

    total = tally_of(together)
    assert [*total.fields] == ["one/", "two/"]
    for step, single_batch in batches_by_step.items():
        assert outline(total.fields[step]) == outline(tally_of(single_batch))
        assert total.fields[step].tally.n_scored == len(steps[step].gts)
        assert total.fields[step].tally.mean_score == pytest.approx(np.mean(single_batch.scores))
    for mode in MODES:
        sums = (tally_of(single_batch).counts(mode) for single_batch in batches_by_step.values())
        assert total.counts(mode) == sum(sums, Counts())
    for document, (step, row) in enumerate(order):
        assert together.scores[document] == batches_by_step[step].scores[row]
        assert placed(together.errors(document)) == placed(
            batches_by_step[step].errors(row), (step,)
        )
