"""Large runs: the computed counts are those of the documents, and the model of time is right."""

import json

import pytest

from benchmarks.scale_documents import (
    INVENTED_NOTE,
    ITEMS,
    LOST_ITEM,
    SCHEMA,
    WRONG_QUANTITY,
    count_documents,
    count_expected,
    has_mistake,
    pair,
)
from benchmarks.scale_model import Measured, describe_projection, fit_model
from stickler_cli import evaluate_many
from stickler_cli.schema.compiler import compile_schema


@pytest.mark.parametrize("documents", [0, 1, 5, 399, 400, 1748, 4000])
@pytest.mark.parametrize(
    "conditions", [[INVENTED_NOTE], [LOST_ITEM, WRONG_QUANTITY], [LOST_ITEM, {ITEMS: 1}], [{4: 0}]]
)
def test_documents_that_meet_conditions_are_counted_by_a_division(documents, conditions):
    meets_all = [
        all(has_mistake(condition, index) for condition in conditions) for index in range(documents)
    ]
    assert count_documents(documents, *conditions) == sum(meets_all)


@pytest.mark.slow
@pytest.mark.parametrize("documents", [1, 28, 2000])
def test_counts_are_those_that_the_engine_finds(documents):
    pairs = [tuple(map(json.loads, pair(index))) for index in range(documents)]
    evaluation = evaluate_many(compile_schema(SCHEMA), pairs)
    for path, counts in count_expected(documents).items():
        leaves = evaluation.sums.tally(tuple(path.split("[]."))).counts("leaves")
        assert {key: getattr(leaves, key) for key in counts} == counts, path


def test_a_projection_tells_the_runs_that_a_model_makes():
    def run(workers, documents):
        n_workers = max(workers, 1)
        seconds = 5 + documents * max(2e-4 / n_workers, 1e-5, 2.1e-4 / 4)
        return Measured(workers, documents, seconds, documents * 1e-5, 3 + documents * 2.1e-4)

    points = [run(workers, documents) for workers in (0, 1, 2, 8) for documents in (10**5, 10**7)]
    model = fit_model(points)
    parameters = (model.start, model.start_work, model.worker, model.central)
    assert parameters == pytest.approx((5, 3, 2e-4, 1e-5))
    assert model.enough() in {19, 20}
    notes = " ".join(describe_projection(points, cores=4))
    work = "and 2103.0 s of processor time"
    for workers, seconds in ((2, "1005.0 s"), (8, "530.0 s")):
        assert f"tells {seconds} of 10,000,000 documents on {workers}, {work}; {seconds}" in notes
