"""`evaluate_many` without a schema."""

import pytest
from pydantic import BaseModel, Field

from stickler_cli import Scorer, StructuredModel, UsageError, evaluate, evaluate_many

BOLT, NUT = {"sku": "bolt", "count": 4}, {"sku": "nut", "count": 1}
GT = {"id": "A-17", "total": 9.5, "lines": [BOLT, NUT]}
PRED = {"id": "a 17", "total": 8.5, "lines": [NUT, {**BOLT, "count": 5}]}


class Order(BaseModel):
    id: str
    total: float | None = None
    note: str | None = None


class Marked(StructuredModel):
    id: str


INFERRED = "ignore:.*inferred how to compare"


def test_without_a_schema_the_one_that_the_ground_truths_show_is_inferred_as_evaluate_does():
    single = evaluate(GT, PRED)
    with pytest.warns(UserWarning, match="^no schema given: inferred one from 1 ground truth$"):
        results = evaluate_many(None, [(GT, PRED)])

    assert results.f1 == single.f1
    assert results.overall_score == single.overall_score
    assert [field.field for field in results.fields] == [row.path for row in single.inferred]
    assert [field.threshold for field in results.fields] == [
        row.threshold for row in single.inferred
    ]


@pytest.mark.filterwarnings(INFERRED)
@pytest.mark.parametrize("missing", [(), ((None, GT),)])
def test_without_a_schema_the_class_of_all_ground_truths_is_it(missing):
    gt = Order(id="A-17", total=9.5)
    pairs = [*missing, (gt, {"id": "A-17", "note": "new"}), ("last", gt, gt)]

    results = evaluate_many(None, iter(pairs))

    # Of six values four are right, a total is missed and a note invented; a note is absent.
    assert results.tally.counts("leaves") == (3, 0, 1, 1, 1)
    assert results.to_dict() == evaluate_many(Order, pairs).to_dict()


@pytest.mark.filterwarnings("ignore:no schema given")
def test_ground_truths_of_several_classes_are_compared_by_their_values():
    results = evaluate_many(None, [(Order(id="A"), {"id": "A"}), (Marked(id="B"), {"id": "B"})])

    assert [field.field for field in results.fields] == [("id",), ("total",), ("note",)]


class Aliased(BaseModel):
    total: float = Field(alias="totalAmount")
    lines: list[dict[str, int]] = []


TOTAL = {"totalAmount": 9.5, "lines": [{"a": 1}]}


@pytest.mark.filterwarnings(INFERRED)
def test_dicts_are_compared_as_the_class_of_all_predictions_if_it_declares_their_keys():
    wrong = Aliased(totalAmount=8.5)
    pairs = [(TOTAL, Aliased(**TOTAL)), (TOTAL, wrong), (TOTAL, None)]

    results = evaluate_many(None, pairs)

    # A total is right, one is wrong, one is missed; two documents miss a line.
    assert results.tally.counts("leaves") == (2, 1, 0, 3, 0)
    assert results.to_dict() == evaluate_many(Aliased, pairs).to_dict()


def test_keys_that_the_class_of_all_predictions_lacks_are_compared_all_the_same():
    gt = {**TOTAL, "note": "n"}
    with pytest.warns(UserWarning, match="^no schema given: inferred one from 1 ground truth$"):
        results = evaluate_many(None, [(gt, Aliased(**TOTAL))])

    assert results.tally.counts("leaves") == (2, 0, 0, 1, 0)


class Empty(BaseModel):
    pass


@pytest.mark.filterwarnings("ignore:no schema given")
def test_values_decide_where_predictions_are_of_several_classes_or_without_fields():
    for preds in ([Empty()], [Order(id="A"), Marked(id="A")], [Order(id="A"), {"id": "A"}]):
        results = evaluate_many(None, [({"id": "A"}, pred) for pred in preds])

        assert [field.field for field in results.fields] == [("id",)]


def test_no_schema_and_no_ground_truth_is_an_error_that_says_so():
    with pytest.raises(
        UsageError, match=("argument 'schema': no schema is given, and there is no ground truth")
    ):
        evaluate_many(None, [])


def rated(value, confidence):
    return {"value": value, "confidence": confidence}


# Of the two values of a document the second is wrong; confidences are no values.
RATED_GT = {"total": rated(13.5, 1.0), "unit": rated("g/dL", 1.0)}
RATED_PRED = {"total": rated(13.5, 0.4), "unit": rated("mg/dL", 0.9)}
PLAIN_SCHEMA = {"properties": {"total": {"type": "number"}, "unit": {"type": "string"}}}


@pytest.mark.filterwarnings("ignore:no schema given", INFERRED)
@pytest.mark.parametrize("gt", [RATED_GT, {"total": 13.5, "unit": "g/dL"}])
@pytest.mark.parametrize("schema", [None, PLAIN_SCHEMA])
def test_values_are_taken_out_of_objects_with_confidences_however_documents_are_compared(
    schema, gt
):
    batch = evaluate_many(schema, [(gt, RATED_PRED)])
    single = evaluate(gt, RATED_PRED, schema=schema)
    scored = Scorer(PLAIN_SCHEMA).score(gt, RATED_PRED)

    assert batch.tally.counts("leaves") == (1, 1, 0, 0, 0)
    assert batch.overall_score == single.overall_score == 0.5
    assert [error["field_path"] for error in single.non_matches] == ["unit"]
    assert scored.fields == {"total": 1.0, "unit": 0.0}


@pytest.mark.filterwarnings("ignore:no schema given")
def test_ground_truths_that_show_the_schema_are_unwrapped_as_the_options_say():
    gt, pred = {"total": {"val": 5, "score": 1}}, {"total": {"val": 5, "score": 0.5}}

    def counts(wrapped, ignore=()):
        pairs = [(gt, pred)]
        return evaluate_many(None, pairs, wrapped=wrapped, ignore=ignore).tally.counts("leaves")

    assert counts("auto") == (1, 1, 0, 0, 0)  # a form that is not known
    assert counts("val:score") == (1, 0, 0, 0, 0)
    assert counts("none", ("**.score",)) == (1, 0, 0, 0, 0)


@pytest.mark.filterwarnings("ignore:no schema given")
def test_a_document_that_looks_like_a_wrapper_of_one_value_stays_a_document():
    assert evaluate({"total": 5}, {"value": [5], "confidence": 0.5}).f1 == 0.0
    assert evaluate(rated(5, 1), rated(5, 1)).field_scores == {"value": 1.0, "confidence": 1.0}
