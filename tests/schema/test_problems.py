import sys

import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema

TUPLE_HINT = (
    'for a tuple, write "prefixItems"; or name the dialect of the schema: "$schema": '
    '"http://json-schema.org/draft-07/schema#"'
)
TYPES = "one of array, boolean, integer, null, number, object, string"
TYPE = f"{TYPES}, or a list of these types"
SCHEMA = "a schema (an object, true or false)"
NAME = "a name of letters, digits, -, _ and . that begins with a letter or _"
REQUIRED = 'in the parent object, write "required" as a list of property names'
DATE = 'write "type": "string", "format": "date"'
DRAFT_4 = (
    'this is the syntax of Draft 4; to use Draft 4, add "$schema": '
    '"http://json-schema.org/draft-04/schema#"'
)


def problem_of(schema, draft=None):
    document_schema = {"type": "object", "properties": {"a": schema}}
    if draft:
        document_schema["$schema"] = f"http://json-schema.org/{draft}/schema#"
    with pytest.raises(SchemaError) as refusal:
        compile_schema(document_schema, "s.json")
    (problem,) = refusal.value.problems
    return problem


@pytest.mark.parametrize(
    ("schema", "found", "expected", "hint"),
    [
        ("string", 'property a is "string"', SCHEMA, 'write {"type": "string"}'),
        (None, "property a is null", SCHEMA, ""),
        ({"type": "str"}, 'type is "str"', TYPE, "did you mean string?"),
        ({"type": "Float"}, 'type is "Float"', TYPE, "did you mean number?"),
        ({"type": "date"}, 'type is "date"', TYPE, DATE),
        ({"type": 5}, "type is 5", TYPE, ""),
        ({"type": ["string", "nul"]}, 'an element of type is "nul"', TYPES, "did you mean null?"),
        ({"type": []}, "type is []", "at least one element", ""),
        ({"type": ["null", "null"]}, 'type is ["null", "null"]', "each element only once", ""),
        ({"required": True}, "required is true", "a list", REQUIRED),
        ({"items": [{}]}, "items is [{}]", SCHEMA, TUPLE_HINT),
        ({"properties": []}, "properties is []", "an object", ""),
        ({"anyOf": ["x"]}, 'an element of anyOf is "x"', SCHEMA, ""),
        ({"enum": "a"}, 'enum is "a"', "a list", ""),
        ({"minimum": "0.5"}, 'minimum is "0.5"', "a number", "write 0.5 without quotes"),
        ({"minLength": -1}, "minLength is -1", "a number of at least 0", ""),
        ({"multipleOf": 0}, "multipleOf is 0", "a number above 0", ""),
        ({"readOnly": "true"}, 'readOnly is "true"', "true or false", "write true without quotes"),
        ({"uniqueItems": "false"}, 'uniqueItems is "false"', "true or false",
         "write false without quotes"),
        ({"exclusiveMinimum": True}, "exclusiveMinimum is true", "a number", DRAFT_4),
        ({"exclusiveMaximum": True}, "exclusiveMaximum is true", "a number", DRAFT_4),
        ({"$anchor": "a b"}, '$anchor is "a b"', NAME, ""),
        ({"$id": "a#b"}, '$id is "a#b"', "a URI without a fragment (#...)", ""),
        ({"dependencies": {"b": 5}}, "b is 5", "a schema, or a list of property names", ""),
        ({"$vocabulary": {"a b": 5}}, "a b is 5", "true or false", ""),
    ],
)  # fmt: skip
def test_what_is_no_json_schema_is_told_in_plain_words(schema, found, expected, hint):
    problem = problem_of(schema)

    assert (problem.found, problem.expected, problem.hint) == (found, expected, hint)


def test_a_list_of_items_in_a_dialect_that_is_named_gets_the_word_for_tuples():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "items": [{}],
    }

    with pytest.raises(SchemaError, match=r"write \"prefixItems\" for a tuple$"):
        compile_schema(schema)


def test_a_wrong_items_of_draft_7_may_be_a_list():
    problem = problem_of({"items": 5}, "draft-07")

    assert problem.expected == "a schema, or a list of schemas"


def test_a_keyword_that_needs_another_names_it():
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": True}

    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema, "s.json")

    (problem,) = refusal.value.problems
    assert problem.found.startswith("the schema is {")
    assert '"minimum" beside "exclusiveMinimum"' in problem.expected


def test_a_rule_without_words_of_its_own_is_told_as_it_is():
    problem = problem_of({"additionalItems": 5}, "draft-04")

    assert problem.found == "additionalItems is 5"
    assert problem.expected == "a value that JSON Schema allows for this keyword"


def test_problems_come_in_the_order_of_the_schema():
    schema = {
        "type": "object",
        "properties": {"z": {"type": 1}, "b": {"enum": 1}, "a": {"allOf": [{}, {"type": 2}]}},
    }

    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema)

    assert [problem.pointer for problem in refusal.value.problems] == [
        "/properties/z/type",
        "/properties/b/enum",
        "/properties/a/allOf/1/type",
    ]


@pytest.mark.parametrize(
    ("schema", "printed"),
    [(True, "true"), (None, "null"), ("a", '"a"'), ([{"type": "object"}], '[{"type": "object"}]')],
)
def test_what_is_no_schema_object_is_shown(schema, printed):
    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema, "s.json")

    (problem,) = refusal.value.problems
    assert problem.found == f"the schema does not describe a document: the schema is {printed}"
    assert problem.place == "s.json#"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"enum": ["a", "b"]},
        {"x-aws-stickler-comparator": "StructuredModelComparator"},
        {"type": "array", "x-aws-stickler-comparator": "BBoxIoUComparator"},
    ],
)
def test_a_root_that_is_no_object_and_no_array_is_refused(schema):
    with pytest.raises(SchemaError, match="the schema does not describe a document") as refusal:
        compile_schema(schema)
    assert {problem.hint for problem in refusal.value.problems if not problem.pointer} == {""}


def test_a_schema_that_is_nested_without_end_is_refused():
    schema = {"type": "string"}
    for _ in range(sys.getrecursionlimit()):
        schema = {"type": "object", "properties": {"a": schema}}

    with pytest.raises(SchemaError, match="nested too deeply"):
        compile_schema(schema)


def test_a_schema_with_too_many_combinations_is_refused(monkeypatch):
    monkeypatch.setattr("stickler_cli.schema.places.MOST_PLACES", 3)
    fields = {name: {"type": "string", "title": name} for name in "abc"}

    with pytest.raises(
        SchemaError,
        match=r"describes more than 3 fields and items; describe fewer fields, or use fewer ",
    ):
        compile_schema({"type": "object", "properties": fields})
    del fields["c"]
    assert len(compile_schema({"type": "object", "properties": fields}).root.fields) == 2


@pytest.mark.parametrize(("fields", "refused"), [("abc", False), ("abcd", True)])
def test_the_subschemas_of_all_places_are_counted(fields, refused, monkeypatch):
    monkeypatch.setattr("stickler_cli.schema.places.MOST_PLACES", 10)
    monkeypatch.setattr("stickler_cli.schema.places.MOST_VISITS", 1)
    restriction = {"type": "string", "allOf": [{"format": "x"}, {"enum": ["a"]}]}
    schema = {
        "type": "object",
        "properties": {name: {**restriction, "title": name} for name in fields},
    }

    if refused:  # 1 + 4 * 3
        with pytest.raises(SchemaError, match="describes more than 10 fields and items"):
            compile_schema(schema)
    else:  # 1 + 3 * 3
        assert len(compile_schema(schema).root.fields) == 3


def test_what_else_is_wrong_is_told_too():
    """It shows once the keywords are left out that are no JSON Schema, and no more than these."""
    used = {"type": "string", "x-aws-stickler-pairing-floor": 0.1}
    schema = {
        "type": "object",
        "properties": {
            "a": {**used, "minLength": "3"},
            "b": {"anyOf": [{**used, "title": 1}, {"$ref": "#/$defs/none"}], "required": "b"},
            "c": used,
        },
    }

    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema, "s.json")
    floor = "x-aws-stickler-pairing-floor"
    assert {(problem.source, problem.pointer) for problem in refusal.value.problems} == {
        ("s.json", f"/properties/{place}")
        for place in (
            *("a/minLength", f"a/{floor}", "b/required", "b/anyOf/0/title"),
            *(f"b/anyOf/0/{floor}", "b/anyOf/1/$ref", f"c/{floor}"),
        )
    }


def test_what_is_wrong_in_several_ways_is_told_once_a_place_beside_all_else():
    wrong = {"required": [1, 1], "x-aws-stickler-threshold": 2}

    with pytest.raises(SchemaError) as refusal:
        compile_schema({"type": "object", "properties": {"a": wrong}})
    assert [problem.pointer for problem in refusal.value.problems] == [
        "/properties/a/required",
        "/properties/a/required/0",
        "/properties/a/required/1",
        "/properties/a/x-aws-stickler-threshold",
    ]
