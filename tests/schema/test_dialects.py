import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.dialects import (
    DEFAULT,
    DRAFT_4,
    DRAFT_6,
    DRAFT_7,
    DRAFT_2019_09,
    DRAFT_2020_12,
    dialect_of,
    own_id,
    own_names,
)


@pytest.mark.parametrize(
    ("named", "dialect"),
    [
        ("https://json-schema.org/draft/2020-12/schema", DRAFT_2020_12),
        ("http://json-schema.org/draft/2020-12/schema#", DRAFT_2020_12),
        ("https://json-schema.org/draft/2019-09/schema", DRAFT_2019_09),
        ("http://json-schema.org/draft-07/schema#", DRAFT_7),
        ("https://json-schema.org/draft-07/schema", DRAFT_7),
        ("http://json-schema.org/draft-7/schema", DRAFT_7),
        ("http://json-schema.org/draft07/schema#", DRAFT_7),
        ("Draft 7", DRAFT_7),
        ("http://json-schema.org/draft-06/schema#", DRAFT_6),
        ("http://json-schema.org/draft-05/schema#", DRAFT_4),
        ("http://json-schema.org/draft-04/schema#", DRAFT_4),
        ("http://json-schema.org/schema#", DEFAULT),
        ("https://example.org/draft-04/schema", DEFAULT),
        ("my own", DEFAULT),
        (5, DEFAULT),
        (None, DEFAULT),
    ],
)
def test_the_dialect_is_what_schema_says_however_it_is_spelt(named, dialect):
    assert dialect_of({"$schema": named}) is dialect


def test_the_default_dialect_is_2020_12():
    assert dialect_of({}) is dialect_of(True) is DRAFT_2020_12


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_drafts_before_4_are_refused_by_name(number):
    schema = {"$schema": f"http://json-schema.org/draft-0{number}/schema#", "type": "object"}

    with pytest.raises(SchemaError) as refusal:
        compile_schema(schema, "s.json")

    (problem,) = refusal.value.problems
    assert problem.found == f"the schema is written in Draft {number}"
    assert problem.pointer == "/$schema"


@pytest.mark.parametrize("dialect", [DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019_09, DRAFT_2020_12])
def test_an_object_schema_compiles_in_every_dialect(dialect):
    schema = {"$schema": dialect.uri, "type": "object", "properties": {"a": {"type": "string"}}}

    assert [field.name for field in compile_schema(schema).root.fields] == ["a"]


def test_draft_4_has_ids_without_a_dollar():
    schema = {
        "$schema": DRAFT_4.uri,
        "id": "http://example.org/a.json",
        "type": "object",
        "properties": {"a": {"$ref": "b.json"}},
        "definitions": {"b": {"id": "b.json", "type": "number"}},
    }

    (field,) = compile_schema(schema).root.fields
    assert field.node.comparator.name == "NumericComparator"


def test_a_ref_makes_an_id_beside_it_void_up_to_draft_7():
    schema = {"$id": "a.json", "$ref": "#/b"}

    assert own_id(schema, DRAFT_7) is None
    assert own_id(schema, DRAFT_2019_09) == "a.json"


def test_an_id_may_be_a_plain_name_up_to_draft_7():
    assert own_id({"$id": "#a"}, DRAFT_7) is None
    assert own_names({"$id": "#a"}, DRAFT_7) == ["a"]
    assert own_names({"$id": "a.json"}, DRAFT_7) == []
    assert own_names({"$id": "#a", "$anchor": "b", "$dynamicAnchor": "c"}, DRAFT_2020_12) == [
        "b",
        "c",
    ]
    assert own_names({"$anchor": "b", "$dynamicAnchor": "c"}, DRAFT_2019_09) == ["b"]
