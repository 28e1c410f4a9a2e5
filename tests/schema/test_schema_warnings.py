"""Warnings about schemas: misspelt keywords, repeated values, and schemas without effect."""

import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.loading import loaded
from stickler_cli.schema.schema_problems import KEYWORDS, is_meant_as_schema, warnings_of
from stickler_cli.schema.verdicts import DocumentValidator

STRING = {"type": "string"}
SCHEMA = {"type": "object", "properties": {"a": STRING}}


def warnings_at(schema):
    return [
        (warning.pointer, warning.hint or warning.found)
        for warning in warnings_of(schema, "s.json")
    ]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("propertis", "properties"),
        ("Properties", "properties"),
        ("requierd", "required"),
        ("discription", "description"),
        ("enums", "enum"),
        ("minimun", "minimum"),
        ("anyof", "anyOf"),
        ("additionalproperties", "additionalProperties"),
        ("formt", "format"),
        ("properti", "properties"),
        ("Id", "$id"),
    ],
)
def test_a_misspelt_keyword_is_told_with_what_is_meant(key, meant):
    schema = {"type": "object", "properties": {"a": {**STRING, key: 1}}}

    assert warnings_at(schema) == [(f"/properties/a/{key}", f"did you mean {meant}?")]
    (warning,) = warnings_of(schema, "s.json")
    assert warning.found.startswith(f"{key} is not a keyword")
    assert warning.expected == ""


@pytest.mark.parametrize(
    "key",
    ["x-propertis", "example", "nullable", "label", "unit", "strict", "order", "name", "help"],
)
def test_other_words_are_let_be(key):
    assert warnings_at({**SCHEMA, key: {}}) == []


def test_names_of_fields_and_values_are_no_keywords():
    names = {"requierd": STRING, "formt": {**STRING, "default": {"enums": 1}}}

    assert warnings_at({"type": "object", "properties": names}) == []


def test_no_keyword_is_taken_for_another():
    assert warnings_at(dict.fromkeys(KEYWORDS, 1)) == []


DOUBLED = {"enum": ["a", "b", "a", 1, True, 1]}


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", ""])
def test_a_value_that_an_enum_lists_twice_is_a_warning(draft):
    field = {"anyOf": [DOUBLED, {"type": "array", "items": STRING}]}
    schema = {"$schema": draft, "type": "object", "properties": {"x": field}}

    loaded_schema = loaded(schema, "s.json")

    assert warnings_at(schema) == [
        ("/properties/x/anyOf/0/enum/2", 'enum lists "a" twice'),
        ("/properties/x/anyOf/0/enum/5", "enum lists 1 twice"),
    ]
    assert loaded_schema.warnings == tuple(warnings_of(schema, "s.json"))
    compile_schema(schema)
    validator = DocumentValidator(loaded_schema.contents)
    assert [*validator.violations({"x": "a"})] == []
    assert [*validator.violations({"x": "c"})] != []


def refusal(schema, **how):
    with pytest.raises(SchemaError) as caught:
        loaded(schema, "in/a/s.json", when="auto", **how)
    return caught.value.problems[0]


def test_an_empty_schema_is_refused():
    problem = refusal({})

    assert problem.found == "the schema is empty, so it describes no fields"
    assert (problem.expected.count('"properties"'), problem.hint, problem.pointer) == (1, "", "")


def contained_at(pointer, others=""):
    """Return the hint for a file that contains a schema at a pointer."""
    return (
        f"this file contains a schema at {pointer}{others}. Save that schema in its own file, or "
        f'write another file in the same directory with {{"$ref": "s.json#{pointer}"}}'
    )


@pytest.mark.parametrize(
    ("schema", "found", "hint"),
    [
        (
            {"name": "invoice", "strict": True, "schema": SCHEMA},
            'its keys are "name", "strict", "schema"',
            contained_at("/schema"),
        ),
        (
            {"type": "function", "function": {"parameters": SCHEMA}},
            'its keys are "type", "function"',
            contained_at("/function/parameters"),
        ),
        (
            {"components": {"schemas": {"A": SCHEMA, "B": SCHEMA}}},
            'its only key is "components"',
            contained_at("/components/schemas/A", " (and 1 more)"),
        ),
        (
            {"type": "object", "propertis": SCHEMA["properties"]},
            'its keys are "type", "propertis"',
            "did you mean properties instead of propertis?",
        ),
        (
            {"number": "A-1", "a": 1, "b": 2, "c": 3, "d": 4, "e": 5},
            'its keys are "number", "a", "b", "c", "d" and 1 more',
            "is this file a document? The order of arguments is SCHEMA GT PRED",
        ),
        (
            {"number": "A-1", "a": 1, "b": 2, "c": 3, "d": 4},
            'its keys are "number", "a", "b", "c", "d"',
            "is this file a document? The order of arguments is SCHEMA GT PRED",
        ),
        ({"type": "object"}, 'its only key is "type"', ""),
    ],
)
def test_what_describes_nothing_is_refused_with_what_is_meant(schema, found, hint):
    problem = refusal(schema)

    assert problem.found == f"the schema describes no fields ({found})"
    assert problem.hint == hint
    assert problem.place == "in/a/s.json#"


@pytest.mark.parametrize(("levels", "found"), [(6, True), (7, False)])
def test_so_deep_a_schema_is_looked_for(levels, found):
    inner = SCHEMA
    for _ in range(levels):
        inner = {"a": inner}

    assert is_meant_as_schema(inner) is found
    assert refusal(inner).hint.startswith("this file contains a schema at /a/a") is found


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        {"type": "object", "additionalProperties": STRING},
        {"type": "object", "patternProperties": {"^x": STRING}},
        {"anyOf": [SCHEMA, {"type": "null"}]},
    ],
)
def test_what_describes_something_is_not(schema):
    assert loaded(schema, when="auto").refusals == ()


def test_without_inference_anything_goes_and_is_known():
    assert loaded({}).plan.root is not None
    assert len(loaded({}).refusals) == 1
