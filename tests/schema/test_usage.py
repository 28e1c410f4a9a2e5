import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.compiler import compile_schema

OBJECT = {"type": "object", "properties": {"b": {"type": "string"}}}
ON_OBJECT = "the annotation on an object schema"
ON_VALUES = "the annotation on a single value, or an array of values"
ON_ARRAY = "the annotation on an array"
ON_LIST = "the annotation on an array without prefixItems"


def misplaced(schema):
    """Return the problems of a field's schema, by annotation."""
    try:
        compile_schema({"type": "object", "properties": {"a": schema}})
    except SchemaError as error:
        return {problem.pointer.rpartition("/")[2]: problem for problem in error.problems}
    return {}


@pytest.mark.parametrize(
    ("schema", "key", "value", "found", "expected"),
    [
        ({"type": "string"}, "pairing-floor", 0.1, "is on a string", ON_ARRAY),
        ({"type": "integer"}, "match-threshold", 0.1, "is on an integer", ON_OBJECT),
        ({"type": "boolean"}, "model-name", "M", "is on a boolean", ON_OBJECT),
        ({"type": "array"}, "match-threshold", 0.1, "is on an array", ON_OBJECT),
        ({"type": "array"}, "model-name", "M", "is on an array", ON_OBJECT),
        (
            {"type": "array", "prefixItems": [{"type": "string"}]},
            "match-threshold",
            0.1,
            "is on an array",
            ON_OBJECT,
        ),
        (OBJECT, "pairing-floor", 0.1, "is on an object", ON_ARRAY),
        (OBJECT, "comparator", "ExactComparator", "is on an object", ON_VALUES),
        (OBJECT, "comparator-config", {}, "is on an object", ON_VALUES),
    ],
)
def test_an_annotation_without_effect_is_refused(schema, key, value, found, expected):
    problems = misplaced({**schema, PREFIX + key: value})

    assert list(problems) == [PREFIX + key]
    assert problems[PREFIX + key].found == f"{key} {found}"
    assert problems[PREFIX + key].expected == expected


ITEMS = {"type": "array", "items": OBJECT}


@pytest.mark.parametrize(
    ("schema", "keys", "expected_findings"),
    [
        (
            ITEMS,
            {"match-threshold": 0.1, "pairing-floor": 0.1},
            {
                "match-threshold": (
                    "match-threshold is on an array",
                    'put the annotation inside "items"',
                )
            },
        ),
        (
            ITEMS,
            {"comparator": "ExactComparator", "model-name": "M"},
            {
                "comparator": (
                    "comparator is on an array of objects",
                    (
                        "objects are compared field by field, so put the annotation on the "
                        "properties of the objects"
                    ),
                ),
                "model-name": ("model-name is on an array", 'put the annotation inside "items"'),
            },
        ),
        (
            {"type": "string"},
            {"comparator": "ExactComparator", "comparator-config": {}, "match-threshold": 0.1},
            {"match-threshold": ("match-threshold is on a string", "")},
        ),
        (
            OBJECT,
            {"comparator-config": {}, "pairing-floor": 0.1, "match-threshold": 0.1},
            {
                "comparator-config": (
                    "comparator-config is on an object",
                    (
                        "an object is compared field by field, so put the annotation on the "
                        "properties of the object"
                    ),
                ),
                "pairing-floor": ("pairing-floor is on an object", ""),
            },
        ),
    ],
)
def test_it_is_told_where_an_annotation_is_and_where_it_belongs(schema, keys, expected_findings):
    problems = misplaced({**schema, **{PREFIX + key: value for key, value in keys.items()}})

    assert {
        key.removeprefix(PREFIX): (problem.found, problem.hint) for key, problem in problems.items()
    } == expected_findings


def test_an_array_that_its_comparator_takes_whole_has_no_pairing_floor():
    schema = {"type": "array", "items": {"type": "number"}, f"{PREFIX}pairing-floor": 0.1}
    problems = misplaced({**schema, f"{PREFIX}comparator": "BBoxIoUComparator"})

    finding = problems[f"{PREFIX}pairing-floor"].found
    assert finding == "pairing-floor is on a value that one comparator compares as a whole"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", f"{PREFIX}pairing-floor": 0.1, f"{PREFIX}comparator": "ExactComparator"},
        {**OBJECT, f"{PREFIX}match-threshold": 0.1, f"{PREFIX}model-name": "M"},
        {**OBJECT, f"{PREFIX}threshold": 0.1, f"{PREFIX}clip-under-threshold": True},
        {**OBJECT, f"{PREFIX}comparator": "StructuredModelComparator"},
        {"type": "array", "items": OBJECT, f"{PREFIX}comparator": "StructuredModelComparator"},
        {
            f"{PREFIX}pairing-floor": 0.1,
            f"{PREFIX}match-threshold": 0.1,
            f"{PREFIX}model-name": "M",
        },
    ],
)
def test_an_annotation_with_effect_is_fine(schema):
    assert not misplaced(schema)


def test_an_annotation_that_one_arm_can_use_is_fine():
    arms = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]

    assert not misplaced({"anyOf": arms, f"{PREFIX}pairing-floor": 0.1})


def test_an_annotation_that_no_arm_can_use_is_refused_once():
    arms = [{"type": "string"}, {"type": "number"}]

    assert list(misplaced({"anyOf": arms, f"{PREFIX}pairing-floor": 0.1})) == [
        f"{PREFIX}pairing-floor"
    ]


def test_a_definition_that_serves_two_kinds_needs_one_that_can_use_it():
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/floor", "type": "string"},
            "b": {"$ref": "#/$defs/floor", "type": "array"},
        },
        "$defs": {"floor": {f"{PREFIX}pairing-floor": 0.1}},
    }

    compile_schema(schema)
    del schema["properties"]["b"]
    with pytest.raises(SchemaError, match="/\\$defs/floor/x-aws-stickler-pairing-floor"):
        compile_schema(schema)


KEYED = {"type": "array", "items": {"type": "object", "properties": {"sku": {}, "price": {}}}}


@pytest.mark.parametrize(
    ("schema", "key", "value", "found", "expected"),
    [
        (
            KEYED,
            "key",
            "skuu",
            'key is "skuu", but the items have no field of this name',
            "one of sku, price",
        ),
        (
            KEYED,
            "key",
            ["sku", "date"],
            'key is "date", but the items have no field of this name',
            "one of sku, price",
        ),
        (
            {"type": "array"},
            "key",
            "a",
            'key is "a", but the items have no field of this name',
            "declared fields",
        ),
        (
            {"type": "array", "items": {"type": "string"}},
            "key",
            "a",
            "key is on an array",
            "the annotation on an array of objects",
        ),
        ({"type": "string"}, "ordered", True, "ordered is on a string", ON_LIST),
        (
            {"type": "array", "prefixItems": [{}]},
            "ordered",
            True,
            "ordered is on an array",
            ON_LIST,
        ),
        (KEYED, "aliases", {}, "aliases is on an array of objects", ON_VALUES),
        (OBJECT, "absent-values", [], "absent-values is on an object", ON_VALUES),
    ],
)
def test_what_a_ground_truth_knows_is_said_where_it_has_an_effect(
    schema, key, value, found, expected
):
    misplaced_found = misplaced({**schema, PREFIX + key: value})[PREFIX + key]

    assert (misplaced_found.found, misplaced_found.expected) == (found, expected)


def test_the_nearest_field_is_named():
    assert misplaced({**KEYED, f"{PREFIX}key": "skuu"})[f"{PREFIX}key"].hint == "did you mean sku?"


@pytest.mark.parametrize(
    "schema",
    [
        {**KEYED, f"{PREFIX}key": ["sku", "price"]},
        {"type": "array", "items": {"anyOf": [{"type": "string"}, KEYED["items"]]}},
        {"anyOf": [{"type": "string"}, KEYED]},
    ],
)
def test_a_key_that_some_kind_of_item_declares_is_fine(schema):
    assert not misplaced({f"{PREFIX}key": "sku", **schema})


def test_an_item_that_contains_itself_has_keys():
    node = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "parts": {
                "type": "array",
                "items": {"$ref": "#/$defs/node"},
                f"{PREFIX}key": "id",
            },
        },
    }
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}}

    compile_schema({**schema, "$defs": {"node": node}})
    node["properties"]["parts"][f"{PREFIX}key"] = "name"
    with pytest.raises(
        SchemaError,
        match='key is "name", but the items have no field of this name, expected one of id',
    ):
        compile_schema({**schema, "$defs": {"node": node}})


def test_whole_documents_cannot_be_ignored():
    with pytest.raises(SchemaError, match="the schema ignores every field of the documents"):
        compile_schema({**OBJECT, f"{PREFIX}ignore": True})
