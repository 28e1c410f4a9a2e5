"""Methods and options that programs written for stickler-eval use."""

import datetime as dt

import pytest
from pydantic import BaseModel, Field, RootModel

from stickler_cli import (
    ComparableField,
    LevenshteinComparator,
    SchemaError,
    StructuredModel,
    UsageError,
    compat,
    eval_for,
    evaluate,
)
from stickler_cli.comparators import BaseComparator


class Line(BaseModel):
    sku: str
    note: str | None = None


class Order(BaseModel):
    number: str = Field(alias="orderNumber")
    due: dt.date | None = None
    lines: list[Line] = []


class Half(BaseComparator):
    def compare(self, gt, pred):
        return 0.5


class Part(StructuredModel):
    name: str = ComparableField(LevenshteinComparator(), threshold=1.0)
    size: int = ComparableField()


class Machine(StructuredModel):
    maker: Part | None = ComparableField()
    parts: list[Part] = ComparableField()
    any: str = ComparableField(Half(), alias="anything")


MACHINE = Machine(maker={"name": "abcd"}, parts=[{"name": "a", "size": 1}], any="x")


@pytest.mark.parametrize(
    ("field", "other", "similarity"),
    [
        ("maker", Part(name="abcx"), 0.75),
        ("maker", {"name": "abcd"}, 1.0),
        ("maker", None, 0.0),
        ("parts", [Part(name="a", size=1), Part(name="zz", size=9)], 0.5),
        ("any", "y", 0.5),
    ],
)
def test_a_field_is_compared_with_a_value_whatever_its_threshold(field, other, similarity):
    assert MACHINE.compare_field_raw(field, other) == similarity


def test_a_field_that_is_absent_on_both_sides_is_alike_and_an_unknown_one_an_error():
    assert Part(name="a").compare_field_raw("size", None) == 1.0
    with pytest.raises(AttributeError, match="Part has no field colour"):
        MACHINE.maker.compare_field_raw("colour", "red")


def test_extra_fields_are_the_values_that_a_class_does_not_declare():
    part_model = Part.from_json({"name": "a", "colour": "red", "extra_fields": 1})

    assert part_model.extra_fields == {"colour": "red", "extra_fields": 1}
    assert Part(name="a").extra_fields == {}


def test_confidence_may_be_left_in_place_under_the_older_name():
    data = {"name": {"_value": "a", "_confidence": 0.5}}

    assert Part.from_json(data).get_all_confidences() == {"name": 0.5}
    assert Part.from_json(data, process_confidence=True).name == "a"
    assert StructuredModel.from_json(data, process_confidence=False).extra_fields == data
    assert StructuredModel.from_json(data, False, process_confidence=True).extra_fields == {
        "name": "a"
    }


def test_any_pydantic_class_becomes_one_that_compares_as_evaluate_does():
    model = StructuredModel.from_pydantic(Order, match_threshold=0.6)
    gt = Order(orderNumber="A-1", due="2024-03-01", lines=[Line(sku="ab", note="n")])
    pred = Order(orderNumber="a 1", due="2024-03-02", lines=[Line(sku="ab", note="x")])
    sides = [model.from_json(side.model_dump(mode="json")) for side in (gt, pred)]

    assert model.__name__ == "Order"
    assert (model.match_threshold, sides[0].number) == (0.6, "A-1")
    assert sides[0].compare_with(sides[1])["field_scores"] == evaluate(gt, pred).field_scores
    again = StructuredModel.from_json_schema(model.to_json_schema())
    assert again(**sides[0].model_dump()).compare(again(**sides[1].model_dump())) == sides[
        0
    ].compare(sides[1])


class Node(BaseModel):
    name: str
    children: list["Node"] = []


class Names(RootModel[list[str]]):
    pass


def test_a_recursive_class_becomes_one_and_a_class_of_arrays_does_not():
    node = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}
    model = StructuredModel.from_pydantic(Node)

    assert model.from_json(node).children[0].children[0].name == "c"
    assert model.from_json(node).compare(model.from_json(node)) == 1.0
    with pytest.raises(
        SchemaError, match="the schema is for arrays, but a model class needs a schema for objects"
    ):
        StructuredModel.from_pydantic(Names)


def test_a_class_of_this_library_stays_as_it_is():
    assert StructuredModel.from_pydantic(Part) is Part


# A number of one letter in three, and one of two lines right as half: (2/3 + 1/2) / 2.
GT = {"lines": [{"sku": "ab", "note": "n"}]}
PRED = {"lines": [{"sku": "ab", "note": "x"}]}


def order(**values):
    return Order(orderNumber="A-1", **values)


@pytest.mark.parametrize(
    ("threshold", "matched", "lines"),
    # The lines are half alike, and the order is as alike as (1 + 0.5) / 2.
    [(None, True, "fd"), (0.8, False, "fd"), (0.75, True, "fd"), (0.5, True, "tp")],
)
def test_a_match_threshold_is_for_the_document_and_its_items(threshold, matched, lines):
    gt, pred = order(**GT), order(**PRED)

    for result in (
        compat.evaluate(gt, pred, match_threshold=threshold),
        compat.eval_for(Order, match_threshold=threshold).evaluate(gt, pred),
    ):
        assert result.overall_score == 0.75
        assert result.matched is matched
        assert result.confusion_matrix["fields"]["lines"]["overall"][lines] == 1


def test_a_match_threshold_leaves_items_of_a_configured_class_alone():
    class Row(StructuredModel):
        a: str = ComparableField()
        b: str = ComparableField()

    class Table(StructuredModel):
        rows: list[Row] = ComparableField()

    gt, pred = Table(rows=[{"a": "x", "b": "y"}]), Table(rows=[{"a": "x", "b": "z"}])
    result = compat.evaluate(gt, pred, match_threshold=0.5)

    assert (result.overall_score, result.matched) == (0.5, True)
    assert result.confusion_matrix["fields"]["rows"]["overall"]["fd"] == 1


def test_without_its_options_they_are_the_functions_of_the_library():
    gt, pred = order(**GT), order(**PRED)

    assert compat.evaluate(gt, pred).to_dict() == evaluate(gt, pred).to_dict()
    assert compat.eval_for(Order) is eval_for(Order)
    rules = {"lines.note": {"ignore": True}}
    assert compat.evaluate(gt, pred, fields=rules).all_fields_matched
    assert compat.evaluate(gt, pred, fields=rules, match_threshold=0.9).all_fields_matched


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: compat.evaluate(order(), order(), weight_hints=True),
            "weight_hints is True",
        ),
        (lambda: compat.eval_for(Order, weight_hints=True), "weight_hints is True"),
        (
            lambda: StructuredModel.from_pydantic(Order, weight_hints=True),
            "weight_hints is",
        ),
        (
            lambda: compat.evaluate(order(), order(), weight_hints=True, match_threshold=0.5),
            "weights are not inferred from field names",
        ),
        (
            lambda: compat.evaluate({"a": 1}, {"a": 1}, match_threshold=0.5),
            "gt is of type dict, but match_threshold needs an instance",
        ),
        (
            lambda: compat.eval_for({"type": "object"}, match_threshold=0.5),
            "match_threshold is 0.5, but the schema is not a pydantic class",
        ),
    ],
)
def test_options_that_say_nothing_here_are_errors_that_say_what_does(call, message):
    with pytest.raises(UsageError, match=message):
        call()
