"""Fields in which a ground truth may list several right values."""

import pytest

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import infer

ANY = {"x-aws-stickler-any-of": True}
TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (TEXT | ANY, True),
        (TEXT | {"x-aws-stickler-any-of": False}, False),
        (TEXT, False),
        ({"type": "array", "items": TEXT} | ANY, True),
        ({"type": "object", "properties": {"b": TEXT}} | ANY, True),
        ({"anyOf": [TEXT, {"type": "number"}]} | ANY, True),
        ({"anyOf": [TEXT | ANY, {"type": "object"}]}, True),
        ({"$ref": "#/$defs/unit"}, True),
        ({"$ref": "#/$defs/node"} | ANY, True),
    ],
)
def test_a_place_knows_whether_lists_have_several_right_values(place, expected):
    node = {"type": "object", "properties": {"unit": TEXT, "node": {"$ref": "#/$defs/node"}}}
    schema = {
        "type": "object",
        "properties": {"place": place},
        "$defs": {"unit": TEXT | ANY, "node": node},
    }
    assert compile_schema(schema).root.nodes_by_name()["place"].any_of is expected


def test_a_schema_that_contains_itself_knows_where_lists_have_several_right_values():
    child = {"$ref": "#/$defs/node"} | ANY
    node = {"type": "object", "properties": {"name": TEXT, "child": child}}
    root = compile_schema({"$ref": "#/$defs/node", "$defs": {"node": node}}).root
    first = root.nodes_by_name()["child"]
    assert (root.any_of, first.any_of) == (False, True)
    assert first.nodes_by_name()["child"].any_of is True


def test_the_elements_of_a_list_may_have_it_for_themselves():
    schema = {"type": "object", "properties": {"tags": {"type": "array", "items": TEXT | ANY}}}
    tags = compile_schema(schema).root.nodes_by_name()["tags"]
    assert (tags.any_of, tags.child_node(0).any_of) == (False, True)


def test_fields_name_the_rule():
    schema = {"type": "object", "properties": {"unit": TEXT | ANY, "city": TEXT}}
    fields = infer(schema, "s.json", when="never").fields
    assert [field.rules for field in fields] == [("any of a list",), ()]
