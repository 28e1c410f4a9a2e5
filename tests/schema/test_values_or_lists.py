"""Unions that are rewritten before comparisons are inferred."""

import pytest

from stickler_cli.schema.inference import infer
from tests.schema.observing import seen_in

TEXT, NULL = {"type": "string"}, {"type": "null"}
PARTY = {"type": "object", "properties": {"name": TEXT, "iban": TEXT}}
NAMED = {"type": "object", "properties": {"name": TEXT}}
TO_PARTY = {"$ref": "#/$defs/party"}
ANY_OF = {"x-aws-stickler-any-of": True}


def inferred_place(place, when="always", **rest):
    schema = {"type": "object", "properties": {"p": place}, "$defs": {"party": PARTY}, **rest}
    return infer(schema, when=when)


def list_of(items):
    return {"type": "array", "items": items}


@pytest.mark.parametrize(
    "place",
    [
        {"type": ["object", "array"], "properties": PARTY["properties"], "items": PARTY},
        {"type": ["object", "array"], "properties": PARTY["properties"]},
        {"type": ["array", "object", "null"], "properties": PARTY["properties"], "items": TO_PARTY},
        {"anyOf": [PARTY, list_of(PARTY)]},
        {"oneOf": [list_of(TO_PARTY), TO_PARTY]},
        {"anyOf": [TO_PARTY, list_of(TO_PARTY), NULL]},
        {"anyOf": [NAMED, list_of(PARTY), {"enum": [None]}]},
        {"anyOf": [PARTY, {"type": "array"}]},
        {"allOf": [{"anyOf": [TO_PARTY, list_of(TO_PARTY)]}]},
        {"$ref": "#/$defs/parties"},
    ],
)
def test_an_object_or_a_list_of_such_objects_is_a_list(place):
    parties = {"anyOf": [TO_PARTY, list_of(TO_PARTY)]}
    schema = {
        "type": "object",
        "properties": {"outer": {"type": "object", "properties": {"p": place}}},
        "$defs": {"party": PARTY, "parties": parties},
    }

    fields = {field.path: field for field in infer(schema, when="auto").fields}

    assert fields["outer", "p"].kind == "list of object"
    assert fields["outer", "p", "iban"].comparator == "ExactComparator"


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ({"type": ["string", "array"], "items": TEXT}, "list of string"),
        ({"type": ["string", "array"]}, "list of string"),
        ({"anyOf": [TEXT, list_of(TEXT)]}, "list of string"),
        ({"anyOf": [{"type": "integer"}, list_of({"type": "number"})]}, "list of number"),
        ({"type": ["object", "array"]}, "array"),
    ],
)
def test_a_value_or_a_list_of_such_values_is_a_list(place, kind):
    (field,) = inferred_place(place).fields

    assert field.kind == kind


@pytest.mark.parametrize(
    "place",
    [
        {"type": ["string", "array"], "items": {"type": "number"}},
        {"type": ["object", "array"], "items": list_of(TEXT), "properties": {"name": TEXT}},
        {"type": ["object", "array"], "prefixItems": [TEXT], "items": TEXT},
        {"type": ["object", "array"], "anyOf": [PARTY, list_of(TEXT)]},
        {"type": ["object", "array"], "items": NAMED, "properties": PARTY["properties"]},
        {"anyOf": [PARTY, list_of(TEXT)]},
        {"anyOf": [PARTY, list_of(NAMED)]},
        {"anyOf": [PARTY, list_of(PARTY), list_of(TEXT)]},
        {"anyOf": [PARTY, TEXT, {"type": "array"}]},
        {"anyOf": [PARTY, {"$ref": "#/$defs/list"}]},
        {"anyOf": [list_of(PARTY), NULL]},
        {"anyOf": [PARTY, list_of(PARTY)]} | ANY_OF,
        {"anyOf": [PARTY, list_of(PARTY) | {"x-aws-stickler-threshold": 0.9}]},
        {"type": "array", "items": TEXT},
    ],
)
def test_other_unions_stay(place):
    definitions = {"party": PARTY, "list": {"type": "array"}}

    inferred = inferred_place(place, **{"$defs": definitions})

    assert not inferred.describes_more
    assert inferred.schema["properties"]["p"].get("type") == place.get("type")


def test_an_arm_keeps_its_place():
    inferred = inferred_place({"anyOf": [TEXT, list_of(TEXT)]})

    assert inferred.schema["properties"]["p"]["anyOf"][0] is False
    assert inferred.fields[0].stands == ("/properties/p", "/properties/p/anyOf/1/items")


@pytest.mark.parametrize("when", ["never", "auto"])
def test_an_annotated_schema_keeps_its_unions(when):
    annotated = {"type": "string", "x-aws-stickler-threshold": 0.9}
    schema = {"properties": {"p": {"anyOf": [TEXT, list_of(TEXT)]}, "q": annotated}}

    inferred = infer(schema, when=when)

    assert [field.kind for field in inferred.fields] == ["string", "list of string", "string"]


def test_values_fill_a_list_of_anything():
    seen = seen_in({"p": {"iban": "DE12"}}, {"p": [{"iban": "DE13"}]})
    schema = {"type": "object", "properties": {"p": {"type": ["object", "array"]}}}

    fields = {field.path: field for field in infer(schema, seen=seen).fields}

    assert fields["p", "iban"].comparator == "ExactComparator"
