"""Small schemas with very many combinations: they compile quickly, or are refused.

If one of these tests fails, it does not end.
"""

import pytest

from stickler_cli.compare.object import ObjectNode
from stickler_cli.core.problems import SchemaError
from stickler_cli.schema import places
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import infer
from stickler_cli.schema.inference.field_walker import FieldWalker

THRESHOLD = "x-aws-stickler-threshold"
WEIGHT = "x-aws-stickler-weight"
DEFINITIONS = 39


def chain(make):
    """Return definitions, each of which has two references to the one before."""
    definitions = {"d0": {"type": "object", "properties": {"x": {"type": "number"}}}}
    for level in range(1, DEFINITIONS):
        definitions[f"d{level}"] = make({"$ref": f"#/$defs/d{level - 1}"}, level)
    last = {"$ref": f"#/$defs/d{DEFINITIONS - 1}"}
    return {"type": "object", "properties": {"a": last}, "$defs": definitions}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_two_alternatives_that_are_one_place_are_compiled_once(keyword):
    schema = chain(lambda below, _: {keyword: [below, {**below, "title": "the same"}]})

    (field,) = compile_schema(schema).root.fields
    assert isinstance(field.node, ObjectNode)
    assert {field.path for field in infer(schema).fields} == {("a",), ("a", "x")}


def test_so_they_are_at_the_root():
    schema = chain(lambda below, _: {"anyOf": [below, dict(below)]})
    root = {"$ref": f"#/$defs/d{DEFINITIONS - 1}", "$defs": schema["$defs"]}

    assert [field.name for field in compile_schema(root).root.fields] == ["x"]


def test_the_objects_of_a_root_are_found_where_unions_share_their_arms():
    def other(below, level):
        return {"anyOf": [below, {"type": "object", "properties": {"y": below}}]}

    root = {"$ref": f"#/$defs/d{DEFINITIONS - 1}", "$defs": chain(other)["$defs"]}

    assert len(compile_schema(root).root.arms) == 2
    assert infer(root).fields


def test_unions_that_share_their_arms_are_looked_into_once_each():
    definitions = chain(lambda below, level: below)["$defs"]
    definitions["d1"] = {"type": "object", "properties": {"y": {"type": "number"}}}
    for level in range(2, DEFINITIONS):
        arms = [{"$ref": f"#/$defs/d{level - 1}"}, {"$ref": f"#/$defs/d{level - 2}"}]
        definitions[f"d{level}"] = {"anyOf": arms}

    with pytest.raises(SchemaError, match="checked against more than"):
        compile_schema({"$ref": f"#/$defs/d{DEFINITIONS - 1}", "$defs": definitions})


@pytest.mark.parametrize(
    "make",
    [
        lambda below, level: {"anyOf": [below, {**below, WEIGHT: level}]},
        lambda below, level: {
            "anyOf": [{**below, "properties": {f"{side}{level}": {}}} for side in "lr"]
        },
    ],
)
def test_more_combinations_than_anyone_means_are_refused(make, monkeypatch):
    monkeypatch.setattr(places, "MOST_PLACES", 300)  # more than a chain without choices has

    for use in (compile_schema, infer):
        with pytest.raises(SchemaError, match="describes more than 300 fields and items"):
            use(chain(make))


def test_what_a_place_is_made_of_counts_too(monkeypatch):
    monkeypatch.setattr(places, "MOST_PLACES", 4)
    definition = {"allOf": [{"title": f"{number}", WEIGHT: 1} for number in range(100)]}

    with pytest.raises(SchemaError, match="describes more than 4 fields and items"):
        compile_schema({"type": "object", "properties": {"a": definition}})


@pytest.mark.parametrize("use", [compile_schema, infer])
def test_an_object_of_too_many_fields_is_refused_before_any_is_looked_at(use, monkeypatch):
    monkeypatch.setattr(places, "MOST_PLACES", 10)
    looked_at = []
    find_place = places.PlaceFinder.find_place
    monkeypatch.setattr(
        places.PlaceFinder, "find_place", lambda *it: looked_at.append(it) or find_place(*it)
    )
    fields = {f"{number}": {"type": "string"} for number in range(11)}

    with pytest.raises(SchemaError, match="describes more than 10 fields and items"):
        use({"type": "object", "properties": fields})
    assert len(looked_at) == 1
    assert compile_schema({"type": "object", "properties": dict.fromkeys(fields, True)})


@pytest.mark.parametrize(
    ("stands", "times"),
    [("nowhere", 1), ("at a field", 1), ("where nothing leads to", 2)],
)
def test_a_schema_is_gone_through_once_where_annotations_are_in_use(stands, times, monkeypatch):
    gone_through = []
    fields = FieldWalker.list_fields
    monkeypatch.setattr(
        FieldWalker, "list_fields", lambda walker: gone_through.append(walker) or fields(walker)
    )
    annotated, plain = {"type": "string", THRESHOLD: 0.9}, {"type": "string"}
    field = annotated if stands == "at a field" else plain
    unused = annotated if stands == "where nothing leads to" else plain

    inferred = infer({"properties": {"a": field}, "$defs": {"unused": unused}}, when="auto")

    assert len(gone_through) == times
    assert bool(inferred.annotations) == (stands != "at a field")


@pytest.mark.parametrize("keyword", ["properties", "items"])
def test_definitions_that_hold_the_one_before_twice_are_compiled_once_each(keyword):
    def hold_twice(below, level):
        if keyword == "items":
            return {"type": "array", "prefixItems": [below, below]}
        return {"type": "object", "properties": {"left": below, "right": below}}

    assert compile_schema(chain(hold_twice))
    assert len(infer(chain(hold_twice)).fields) < 20 * DEFINITIONS
