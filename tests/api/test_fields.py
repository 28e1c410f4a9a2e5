"""`ComparableField`: what it refuses, and what it says in the schema of its model."""

from typing import Annotated

import pytest
from pydantic import ValidationError

from stickler_cli import ComparableField, ExactComparator, StructuredModel
from stickler_cli.comparators import LevenshteinComparator
from stickler_cli.core.problems import SchemaError


class Order(StructuredModel):
    number: str = ComparableField(
        ExactComparator(case_sensitive=True), 0.9, 2.0, ..., True, True, alias="no", max_length=5
    )
    notes: list[str] = ComparableField(default_factory=list, pairing_floor=-1, aggregate=False)
    free: str = ComparableField(threshold=None)


PROPERTIES = Order.to_json_schema()["properties"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"threshold": 1.5}, r"threshold is 1\.5, expected a number in \[0, 1\]"),
        ({"threshold": True}, "threshold is True"),
        ({"weight": 0}, "weight is 0, expected a number above 0"),
        ({"weight": float("nan")}, "weight is nan"),
        ({"pairing_floor": 1}, r"pairing_floor is 1, expected a number in \[-1, 1\)"),
    ],
)
def test_a_number_out_of_range_is_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        ComparableField(**keywords)


def test_a_comparator_class_is_no_comparator():
    with pytest.raises(TypeError, match="expected an instance of a comparator"):
        ComparableField(comparator=ExactComparator)


def test_every_rule_becomes_an_annotation():
    rules = {key: value for key, value in PROPERTIES["number"].items() if key.startswith("x-")}

    assert rules == {
        "x-aws-stickler-comparator": "ExactComparator",
        "x-aws-stickler-comparator-config": {"case_sensitive": True},
        "x-aws-stickler-threshold": 0.9,
        "x-aws-stickler-weight": 2.0,
        "x-aws-stickler-aggregate": True,
        "x-aws-stickler-clip-under-threshold": True,
    }
    assert PROPERTIES["notes"]["x-aws-stickler-pairing-floor"] == -1
    assert PROPERTIES["notes"]["x-aws-stickler-aggregate"] is False


def test_no_threshold_leaves_it_to_the_kind_of_the_field():
    assert "x-aws-stickler-threshold" not in PROPERTIES["free"]


def test_pydantic_still_validates_and_fills_in_defaults():
    with pytest.raises(ValidationError, match="at most 5"):
        Order(no="123456")
    with pytest.raises(ValidationError, match="Field required"):
        Order()

    assert Order(number="1").notes == []
    assert Order(no="1").free is None


def test_a_field_may_be_declared_inside_annotated():
    class Model(StructuredModel):
        name: Annotated[str, ComparableField(threshold=0.9, default=...)]

    (entry,) = Model.comparison_plan().root.fields
    assert entry.node.threshold == 0.9


def test_pydantics_own_schema_has_no_annotations():
    assert "x-aws-stickler" not in str(Order.model_json_schema())


# --- what a comparator says of thresholds, and where it has no say


class Own(StructuredModel):
    stated: str = ComparableField(comparator=LevenshteinComparator(threshold=0.9))
    default_stated: str = ComparableField(comparator=LevenshteinComparator(threshold=0.7))
    by_place: str = ComparableField(comparator=ExactComparator(0.2))
    by_field: str = ComparableField(comparator=LevenshteinComparator(threshold=0.9), threshold=0.3)
    unstated: str = ComparableField(comparator=LevenshteinComparator())
    of_kind: str = ComparableField(comparator=LevenshteinComparator(threshold=0.8), threshold=None)
    items: list[str] = ComparableField(comparator=LevenshteinComparator(threshold=0.9))


def test_the_threshold_that_a_comparator_was_given_is_that_of_the_field():
    expected = [0.9, 0.7, 0.2, 0.3, 0.5, 0.8, 0.9]

    assert [field.node.threshold for field in Own.comparison_plan().root.fields] == expected
    exported = StructuredModel.from_json_schema(Own.to_json_schema())
    assert [field.node.threshold for field in exported.comparison_plan().root.fields] == expected


class Inner(StructuredModel):
    name: str = ComparableField(threshold=1.0)


class Outer(StructuredModel):
    one: Inner | None = ComparableField(comparator=LevenshteinComparator(), weight=2)
    many: list[Inner] = ComparableField(comparator=ExactComparator())
    texts: list[str] = ComparableField(comparator=ExactComparator())


class Outermost(StructuredModel):
    outer: Outer = ComparableField()


def test_a_comparator_on_models_is_passed_over_with_a_warning():
    with pytest.warns(UserWarning, match="passed over") as told:
        plan = Outermost.comparison_plan()

    rest = "is passed over; put it on those fields"
    assert [str(each.message) for each in told] == [
        f"Outer.one is compared by its own fields: LevenshteinComparator {rest}",
        f"Outer.many is compared by its own fields: ExactComparator {rest}",
    ]
    outer = plan.root.fields[0].node
    assert outer.fields[0].node.weight == 2
    assert outer.fields[2].node.items.comparator == ExactComparator()


def test_in_a_json_schema_it_stays_an_error():
    part = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {"x": {**part, "x-aws-stickler-comparator": "ExactComparator"}},
    }

    with pytest.raises(SchemaError, match="comparator is on an object"):
        StructuredModel.from_json_schema(schema)
