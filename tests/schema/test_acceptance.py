"""Which alternative of a union accepts a value, decided in limited time."""

import pytest

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.verdicts import NumberAcceptor, SchemaAcceptor, TypeAcceptor

NODE = {"$ref": "#/$defs/n"}
STRING = {"type": "string"}
TREE = {"anyOf": [{"type": "object", "properties": {"c": NODE}}, STRING]}
CLOSED = {**TREE, "unevaluatedProperties": False}


def accepts_first(definition, *arms):
    """Return a function that returns whether a value belongs to the first arm of a union."""
    properties = {"a": {"anyOf": [*arms]}}
    schema = {"type": "object", "properties": properties, "$defs": {"n": definition}}
    return compile_schema(schema).root.fields[0].node.arms[0].accepts


@pytest.mark.parametrize(("definition", "bounded"), [(TREE, True), (CLOSED, False), (STRING, True)])
def test_only_what_looks_back_from_inside_itself_takes_more_time_than_the_value_is_long(
    definition, bounded
):
    inner = {"type": "object", "properties": {"b": NODE}}
    accepts = accepts_first(definition, inner, {"type": "number"})

    assert isinstance(accepts, SchemaAcceptor)
    assert accepts.is_bounded is bounded


@pytest.mark.parametrize(
    ("arm", "inner", "bounded"),
    [
        ({"type": "number"}, TypeAcceptor, True),
        ({"type": "number", "minimum": 0}, SchemaAcceptor, True),
        ({"type": "number", "not": NODE}, SchemaAcceptor, False),
    ],
)
def test_an_arm_of_numbers_beside_texts_takes_the_time_that_its_schema_does(arm, inner, bounded):
    accepts = accepts_first(CLOSED, arm, STRING)

    assert isinstance(accepts, NumberAcceptor)
    assert isinstance(accepts.inner, inner)
    assert accepts.is_bounded is bounded
