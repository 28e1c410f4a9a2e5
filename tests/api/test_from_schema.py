"""Models that are made from an annotated JSON Schema."""

import json

import pytest
from pydantic import ValidationError

from stickler_cli import ComparableField, SchemaError, StructuredModel, evaluate_many
from stickler_cli.comparators import BaseComparator

SCHEMA = {
    "x-aws-stickler-model-name": "Order",
    "type": "object",
    "properties": {
        "number": {"type": "string", "x-aws-stickler-comparator": "ExactComparator"},
        "class": {"type": "string"},
        "unit-price": {"type": "number"},
        "_note": {"type": "string"},
        "copy": {"type": "boolean"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "seller": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]},
        "rates": {"type": "object", "additionalProperties": {"type": "number"}},
    },
    "$defs": {
        "line": {"type": "object", "properties": {"sku": {"type": "string"}}},
        "person": {
            "type": "object",
            "x-aws-stickler-model-name": "Person",
            "properties": {
                "name": {"type": "string"},
                "boss": {"$ref": "#/$defs/person"},
            },
        },
    },
}
Order = StructuredModel.from_json_schema(SCHEMA)
VALUES = {
    "number": "A1",
    "class": "first",
    "unit-price": 2.5,
    "_note": "n",
    "copy": True,
    "lines": [{"sku": "x"}],
    "seller": {"name": "Ann", "boss": {"name": "Bob"}},
    "rates": {"EUR": 1.1},
}


class Same(BaseComparator):
    def compare(self, gt, pred):
        return float(gt == pred)


def test_the_class_is_named_as_the_schema_says():
    assert Order.__name__ == "Order"
    assert StructuredModel.from_json_schema({"properties": {}}).__name__ == "DynamicModel"


def test_objects_become_instances_whose_fields_are_attributes():
    order = Order(**VALUES)

    assert order.lines[0].sku == "x"
    assert order.seller.boss.name == "Bob"
    assert type(order.seller.boss) is type(order.seller)
    assert order.rates == {"EUR": 1.1}


def test_a_name_that_python_refuses_has_an_attribute_all_the_same():
    order = Order(**VALUES)

    assert (order.field_class, order.field_unit_price, order.field__note) == ("first", 2.5, "n")
    assert order.copy_ is True


def test_results_have_the_names_of_the_schema():
    order = Order(**VALUES)

    assert order.compare_with(order)["field_scores"] == dict.fromkeys(VALUES, 1.0)


def test_values_of_any_type_are_taken_and_scored():
    wrong = Order(number=["A1"], rates=2, copy=True, lines="x", seller=[1])

    assert 0 < Order(**VALUES).compare(wrong) < 1


def test_the_schema_comes_back_as_it_was():
    exported = Order.to_json_schema()

    assert exported == SCHEMA
    exported["properties"].clear()
    assert Order.to_json_schema() == SCHEMA


def test_the_class_of_a_part_has_no_schema_of_its_own():
    line = type(Order(**VALUES).lines[0])

    with pytest.raises(SchemaError, match="covers only a part of the schema of Order, expected"):
        line.to_json_schema()
    assert line.to_stickler_config()["fields"]["sku"]["type"] == "str"


def test_a_bad_schema_tells_everything_at_once():
    schema = {"properties": {"a": {"x-aws-stickler-weight": 0}, "b": {"x-stickler-threshold": 1}}}

    with pytest.raises(SchemaError) as caught:
        StructuredModel.from_json_schema(schema)

    assert len(caught.value.problems) == 2


def test_a_comparator_of_ones_own_needs_leave():
    schema = {"properties": {"a": {"x-aws-stickler-comparator": "decimal:Decimal"}}}

    with pytest.raises(SchemaError, match="a comparator of an installed package"):
        StructuredModel.from_json_schema(schema)
    with pytest.raises(SchemaError, match="decimal:Decimal is not one"):
        StructuredModel.from_json_schema(schema, allow_plugins=True)


@pytest.mark.parametrize("name", ["", "order.json"])
@pytest.mark.parametrize("uri", [False, True])
def test_references_start_from_a_file_or_its_directory(tmp_path, name, uri):
    (tmp_path / "parts.json").write_text(json.dumps({"properties": {"a": {"type": "integer"}}}))
    base = tmp_path / name
    schema = {"properties": {"part": {"$ref": "parts.json"}}}

    model = StructuredModel.from_json_schema(schema, base.as_uri() if uri else base)

    assert model(part={"a": 1}).part.a == 1


def test_relative_references_need_a_place_to_start():
    with pytest.raises(SchemaError):
        StructuredModel.from_json_schema({"properties": {"part": {"$ref": "parts.json"}}})


def test_a_class_made_of_a_schema_may_be_a_field_of_another():
    address = StructuredModel.from_json_schema(
        {
            "x-aws-stickler-model-name": "Address",
            "properties": {"city": {"$ref": "#/$defs/city"}},
            "$defs": {"city": {"type": "string", "x-aws-stickler-threshold": 0.9}},
        }
    )

    class Person(StructuredModel):
        name: str = ComparableField()
        home: address = ComparableField()
        second_homes: list[address] = ComparableField(default_factory=list)

    plan = Person.comparison_plan()
    home = plan.root.fields[1].node

    assert (home.model_name, home.fields[0].node.threshold) == ("Address", 0.9)
    assert StructuredModel.from_json_schema(Person.to_json_schema()).comparison_plan() == plan
    assert (
        Person(name="a", home={"city": "Rome"}, second_homes=[{"city": "Bonn"}])
        .second_homes[0]
        .city
    )


def test_a_class_with_renamed_attributes_is_no_field_of_another():
    class Outer(StructuredModel):
        order: Order = ComparableField()

    with pytest.raises(SchemaError, match="these attributes have different names in its schema"):
        Outer.comparison_plan()


def test_a_subclass_may_add_methods_and_nothing_else():
    class Loud(Order):
        def shout(self):
            return self.number.upper()

    assert Loud(number="a").shout() == "A"
    assert Loud(number="a").compare(Order(number="a")) == 1.0
    assert Loud.to_json_schema() == SCHEMA
    with pytest.raises(TypeError, match="can only add methods"):
        type("More", (Order,), {"__annotations__": {"extra": str}})


def test_a_class_with_methods_passes_them_on():
    class Counting(StructuredModel):
        def names(self):
            return sorted(type(self).model_fields)

    model = Counting.from_json_schema({"properties": {"b": {}, "a": {}}})

    assert model().names() == ["a", "b"]


def test_a_class_with_fields_takes_no_others_from_a_schema():
    class Full(StructuredModel):
        a: str = ComparableField()

    with pytest.raises(TypeError, match="Full already has fields"):
        Full.from_json_schema(SCHEMA)


def test_a_schema_whose_documents_are_of_several_kinds_makes_a_class():
    schema = {
        "anyOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "number"}}, "required": ["b"]},
        ]
    }
    model = StructuredModel.from_json_schema(schema)

    assert model(b=1).compare(model(b=1)) == 1.0
    with pytest.raises(SchemaError) as caught:
        model.to_stickler_config()
    assert str(caught.value) == (
        f"{model.__name__}#: this schema allows documents with different sets of fields, or "
        "documents that are not objects; to_stickler_config() cannot describe this; call "
        "to_json_schema() instead"
    )
    assert StructuredModel.from_json_schema(model.to_json_schema())(b=1).compare(model(b=1)) == 1.0


WITH_DEFAULTS = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "default": "x"},
        "n": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["q"]},
        "part": {"$ref": "#/$defs/part"},
        "other": {"$ref": "#/$defs/part", "default": {"e": "own", "f": "y"}},
        "maybe": {"anyOf": [{"$ref": "#/$defs/part"}, {"type": "null"}]},
        "many": {"type": "array", "items": {"$ref": "#/$defs/part"}},
        "either": {"oneOf": [{"$ref": "#/$defs/part"}, {"type": "string"}]},
    },
    "required": ["n", "a"],
    "$defs": {
        "part": {
            "type": "object",
            "properties": {
                "e": {"type": "string", "default": "E"},
                "f": {"type": "string"},
                "inner": {"$ref": "#/$defs/part"},
            },
            "required": ["f"],
        }
    },
}


def test_a_key_that_is_not_given_has_its_default():
    model = StructuredModel.from_json_schema(WITH_DEFAULTS)
    instance = model(n=1, part={}, maybe={"inner": {}}, many=[{}, {"e": None}], either={})

    assert (instance.a, instance.tags, instance.other.e) == ("x", ["q"], "own")
    assert (instance.part.e, instance.maybe.e, instance.maybe.inner.e) == ("E", "E", "E")
    assert [element.e for element in instance.many] == ["E", None]
    assert instance.part.f is None
    instance.tags.append("changed")
    assert model(n=1).tags == ["q"]
    # What is compared is what an instance holds.
    assert model(n=1).compare(model(n=1, a="x", tags=["q"], other={"e": "own", "f": "y"})) == 1.0
    assert model(n=1).compare(model(n=1, a="y")) < 1.0


def test_documents_have_no_defaults():
    evaluation = evaluate_many(
        StructuredModel.from_json_schema(WITH_DEFAULTS), [({"n": 1, "a": "x"}, {"n": 1})]
    )

    assert evaluation.tally.counts("overall").fn == 1


def test_a_key_that_is_required_and_not_given_is_missed_unless_it_is_to_be_refused():
    assert StructuredModel.from_json_schema(WITH_DEFAULTS)().n is None

    strict = StructuredModel.from_json_schema(WITH_DEFAULTS, enforce_required=True)

    assert strict(n="no number", part={"f": "x"}).a == "x"
    for values in ({}, {"n": 1, "part": {}}, {"n": 1, "many": [{"f": "x"}, {}]}):
        with pytest.raises(ValidationError, match="Field required"):
            strict(**values)
