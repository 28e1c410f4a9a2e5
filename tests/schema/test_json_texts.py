"""Texts that are JSON: how a schema declares them, and how documents show them."""

import pytest

from stickler_cli.compare.json_text import JsonTextNode
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import infer
from stickler_cli.schema.inference.observation import DEEPEST, Observed
from stickler_cli.schema.inference.observed_schemas import observed_schema
from stickler_cli.schema.loading import loaded
from tests.schema.observing import seen_in

X = "x-aws-stickler-"
JSON = {"type": "string", "contentMediaType": "application/json"}
IDS = {"type": "object", "properties": {"id": {"type": "string"}}}


def node_of(field):
    (compiled,) = compile_schema({"type": "object", "properties": {"p": field}}).root.fields
    return compiled.node


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        (JSON, JsonTextNode),
        ({**JSON, "contentSchema": IDS, X + "weight": 2}, JsonTextNode),
        ({**JSON, "contentMediaType": "Application/JSON; charset=utf-8"}, JsonTextNode),
        ({**JSON, "contentMediaType": "application/ld+json"}, JsonTextNode),
        ({**JSON, "contentMediaType": "text/html"}, LeafNode),
        ({**JSON, X + "comparator": "ExactComparator"}, LeafNode),
        ({**JSON, X + "threshold": 0.9}, LeafNode),
        ({**JSON, X + "aliases": {"a": ["b"]}}, LeafNode),
    ],
)
def test_a_media_type_declares_json_unless_an_annotation_says_how_to_compare(field, kind):
    node = node_of(field)

    assert type(node) is kind
    assert node.weight == field.get(X + "weight", 1)


def inferred_of(schema, *documents):
    """Return the inferred schema of a field `p`, and the paths of all fields."""
    inference = infer({"type": "object", "properties": {"p": schema}}, seen=seen_in(*documents))
    return inference.schema["properties"]["p"], [field.path for field in inference.fields]


def test_texts_that_are_all_json_get_a_media_type_and_a_schema():
    field, paths = inferred_of({"type": "string"}, {"p": '{"id": "A"}'}, {"p": ""})

    assert field["contentMediaType"] == "application/json"
    content = field["contentSchema"]["properties"]["id"]
    assert content[X + "comparator"] == "ExactComparator"
    assert paths == [("p",), ("p", "id")]


@pytest.mark.parametrize(
    ("schema", "documents"),
    [
        ({"type": "string"}, [{"p": '{"id": "A"}'}, {"p": "none"}]),
        ({"type": "string"}, [{"p": "none"}, {"p": '{"id": "A"}'}]),
        ({"type": "string"}, [{"p": None}]),
        ({"type": "string", X + "comparator": "ExactComparator"}, [{"p": '{"id": "A"}'}]),
        ({"enum": ['{"id": "A"}', "x"]}, [{"p": '{"id": "A"}'}]),
    ],
)
def test_other_texts_stay_texts(schema, documents):
    field, paths = inferred_of(schema, *documents)

    assert "contentMediaType" not in field
    assert paths == [("p",)]


def test_the_content_of_a_declared_text_is_inferred_where_the_schema_is_silent():
    schema = {"type": "object", "properties": {"p": JSON}}

    silent = loaded(schema, "s.json", when="auto")
    assert [field.path for field in silent.fields] == [("p",)]
    loaded_schema = loaded(
        schema, "s.json", when="auto", look=lambda: seen_in({"p": '[{"id": "A"}]'})
    )
    assert [field.path for field in loaded_schema.fields] == [("p",), ("p", "id")]
    other = loaded(schema, "s.json", when="auto", look=lambda: seen_in({"p": "none"}))
    assert [field.path for field in other.fields] == [("p",)]


def test_a_definition_in_another_file_is_left_as_it_is(tmp_path):
    (tmp_path / "t.json").write_text('{"type": "object", "properties": {"p": {"type": "string"}}}')
    schema = {"type": "object", "properties": {"o": {"$ref": "t.json"}}}

    inference = infer(
        schema, "s.json", tmp_path / "s.json", seen=seen_in({"o": {"p": '{"id": "A"}'}})
    )
    assert inference.fields[-1].path == ("o", "p")
    assert inference.schema == schema


def test_documents_without_a_schema_show_texts_of_json():
    mixed = observed_schema(seen_in({"p": '{"id": "A"}'}, {"p": {"n": 1}}, {"p": None}))
    field = mixed["properties"]["p"]

    assert field["type"] == ["string", "null"]
    assert field["contentSchema"]["properties"].keys() == {"id", "n"}
    lists = observed_schema(seen_in({"p": ['{"id": "A"}']}, {"p": ['["x"]']}))
    items = lists["properties"]["p"]["items"]
    assert items["contentSchema"]["type"] == ["object", "array"]
    text = observed_schema(seen_in({"p": '{"id": "A"}'}, {"p": 5}))
    assert "contentMediaType" not in text["properties"]["p"]


def test_what_is_seen_in_maps_is_put_together():
    first, second, third = (seen_in({"p": text}) for text in ('{"a": 1}', '{"b": 1}', "none"))

    first.absorb(second)
    assert first.find_field(("p",)).fields.keys() == {"a", "b"}
    assert first.summary() != second.summary()
    first.absorb(third)
    assert not first.find_texts(("p",)).is_json_text
    assert seen_in({"p": '{"a": "x"}'}).summary() != seen_in({"p": "x"}).summary()


def test_levels_and_places_of_texts_are_bounded():
    deep = '{"a": 1}'
    for _ in range(DEEPEST):
        deep = {"a": deep}
    texts = seen_in(deep).find_texts(("a",) * DEEPEST)
    assert texts.kinds["string"] == 1
    assert not texts.is_json_text

    seen = Observed()
    seen.budget.places_left = 1
    seen.add({"p": '{"a": 1}'})
    assert not seen.fields["p"].is_json_text


STEP = {"type": "object", "properties": {"call": {"$ref": "#/$defs/call"}}}
CALL = {"type": "object", "properties": {"arguments": {"type": "string"}}}
STEPS = {
    "type": "object",
    "properties": {
        "note": {"type": "string"},
        "first": {"$ref": "#/$defs/step"},
        "second": {"$ref": "#/$defs/step"},
    },
    "$defs": {"call": CALL, "step": STEP},
}


def seen_in_steps(first, second):
    """Return what is observed in a document whose two steps have these arguments."""
    return seen_in(
        {
            "note": "x",
            "first": {"call": {"arguments": first}},
            "second": {"call": {"arguments": second}},
        }
    )


def test_a_schema_that_describes_texts_at_several_places_has_the_content_of_all():
    observed = seen_in_steps('{"iban": "DE1"}', '{"amount": 5}')
    mixed = seen_in_steps('{"iban": "DE1"}', "none")

    paths = {field.path for field in infer(STEPS, seen=observed).fields}
    texts = {field.path for field in infer(STEPS, seen=mixed).fields}

    assert ("first", "call", "arguments", "iban") in paths
    assert ("second", "call", "arguments", "amount") in paths
    assert ("second", "call", "arguments") in texts


def test_texts_elsewhere_and_beyond_a_limit_are_not_looked_at_again(monkeypatch):
    seen = seen_in_steps('{"iban": "DE1"}', "none")

    both_looked_at = {field.path for field in infer(STEPS, seen=seen).fields}
    monkeypatch.setattr("stickler_cli.schema.inference.field_walker.MAX_TEXT_VISITS", 0)
    one_looked_at = {field.path for field in infer(STEPS, seen=seen).fields}

    assert ("first", "call", "arguments") in both_looked_at
    assert ("first", "call", "arguments", "iban") in one_looked_at
