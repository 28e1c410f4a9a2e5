"""Documents that are arrays, in the Python API."""

import pytest
from pydantic import BaseModel, RootModel

from stickler_cli import StructuredModel, evaluate, evaluate_many
from stickler_cli.core.problems import SchemaError

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"sku": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}},
    },
}


class Line(BaseModel):
    sku: str


class Lines(RootModel[list[Line]]):
    pass


def test_many_arrays_are_evaluated():
    evaluation = evaluate_many(
        SCHEMA,
        [([{"sku": "a"}], [{"sku": "a"}]), ([], None), ([{"sku": "a"}], {"sku": "a"})],
    )

    # The list of nothing is as absent as the prediction that is missing.
    assert (evaluation.documents["evaluated"], evaluation.documents["invalid"]) == (3, 1)
    assert (evaluation.tally.counts("overall"), evaluation.overall_score) == (
        (1, 0, 0, 1, 1),
        pytest.approx(2 / 3),
    )
    (problem,) = (row for row in evaluation.problems if row.status == "invalid")
    assert problem.problem == "document 2: the prediction is of type object, expected a JSON array"


def test_an_object_schema_takes_no_array():
    evaluation = evaluate_many(SCHEMA["items"], [([], {})])

    assert evaluation.documents["failed"] == 1


def test_a_model_of_a_list_is_evaluated():
    result = evaluate(Lines([Line(sku="a"), Line(sku="b")]), Lines([Line(sku="b")]))

    assert result.overall_score == 0.5
    assert [entry["field_path"] for entry in result.non_matches] == ["[0]", "[0].sku"]
    assert evaluate(Lines([Line(sku="a")]), [{"sku": "a"}]).all_fields_matched
    with pytest.raises(TypeError, match="give an instance of a pydantic model or a list"):
        evaluate(Lines([Line(sku="a")]), {"sku": "a"})


def test_no_class_is_made_of_a_schema_of_arrays():
    with pytest.raises(
        SchemaError, match="the schema is for arrays, but a model class needs a schema for objects"
    ):
        StructuredModel.from_json_schema(SCHEMA)
