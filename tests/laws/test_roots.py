"""A document that is an array has the same counts as an object with this array as a field."""

import pytest
from hypothesis import assume, given

from stickler_cli.compare import engine
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.document_result import DocumentResult, Status
from .accounts import outline, tally_of
from .strategies import Scope, cases

# What an array says of its object's aggregate has no meaning where there is no object.
ANYTHING = Scope(wrong=True, aggregate=False)


def counted(plan, gts, preds, options):
    account = engine.compare(plan, gts, preds, options)
    scores = account.document_scores.tolist()
    results = [
        DocumentResult(str(index), Status.EVALUATED, score) for index, score in enumerate(scores)
    ]
    return Batch(results, account)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["list", "tuple"])
def test_an_array_counts_as_it_does_in_a_field(kind):
    @given(cases(ANYTHING, sides=3, kind=kind))
    def holds(case):
        gts, preds = ([document.get("x") for document in side] for side in (case.gts, case.preds))
        assume(all(isinstance(document, list) for document in (*gts, *preds)))
        schema = {"$defs": case.schema["$defs"], **case.schema["properties"]["x"]}
        plan = compile_schema(schema)
        assert plan.kind == "array"

        wrapped = counted(case.plan, case.gts, case.preds, case.options)
        bare = counted(plan, gts, preds, case.options)

        outer, inner = outline(tally_of(wrapped)), outline(tally_of(bare))
        assert inner["counts"] == outer["counts"] == outer["x"]["counts"]
        assert inner == outer["x"]
        assert bare.scores == pytest.approx(wrapped.scores)
        for document in range(len(gts)):
            errors_shown = [
                (f"x{error.path}", error.outcome, error.error_class)
                for error in bare.errors(document)
            ]
            of_field = wrapped.errors(document)
            assert errors_shown == [
                (error.path, error.outcome, error.error_class) for error in of_field
            ]

    holds()
