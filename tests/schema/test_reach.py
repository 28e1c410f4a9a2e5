"""How many schemas a value may be held against, to the last one."""

import json

import pytest

from stickler_cli.schema.judging import APART
from stickler_cli.schema.references import SchemaFiles
from stickler_cli.schema.verdicts import Reach

MOST = 10


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr("stickler_cli.schema.verdicts.MOST_CHECKS", MOST)


def reached(schema):
    """Return the places that hold a value against too many, and what is judged apart."""
    files = SchemaFiles(schema)
    reach = Reach(files)
    found = [files.locate(part.schema).path for part, _, _ in reach.problems(files.root)]
    (document,) = reach.documents.contents.values()
    return found, document


def arms(count):
    return [{"title": str(number)} for number in range(count)]


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        ({"anyOf": arms(MOST - 1)}, []),
        ({"anyOf": arms(MOST)}, [()]),
        ({"allOf": arms(4), "anyOf": arms(5)}, []),
        ({"allOf": arms(4), "oneOf": arms(6)}, [()]),
        # At the innermost that is too much, not also at what is around it.
        ({"anyOf": [{"anyOf": arms(MOST)}, {}]}, [("anyOf", 0)]),
        ({"anyOf": [{"anyOf": arms(MOST - 1)}, {}]}, [()]),
        ({"anyOf": [{"anyOf": arms(MOST)}, {"anyOf": arms(MOST)}]}, [("anyOf", 0), ("anyOf", 1)]),
        # What leads back counts once; a reference counts as what it leads to.
        ({"anyOf": [{"$ref": "#"}, *arms(MOST - 3)]}, []),
        ({"anyOf": [{"$ref": "#"}, *arms(MOST - 2)]}, [()]),
        # What is in a value is another matter.
        ({"anyOf": arms(5), "properties": {"a": {"anyOf": arms(MOST - 1)}}}, []),
        ({"properties": {"a": {"anyOf": arms(MOST)}}}, [("properties", "a")]),
        ({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"anyOf": arms(7)}}}, []),
        ({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"anyOf": arms(8)}}}, [()]),
    ],
)
def test_a_value_is_held_against_so_many_schemas(schema, places):
    assert reached(schema)[0] == places


def test_what_was_followed_before_does_not_end_the_search(tmp_path):
    tmp_path.joinpath("other.json").write_text(json.dumps({"anyOf": arms(MOST)}))
    inside = {"$ref": "#/$defs/a"}
    schema = {"properties": {"x": {"$ref": "other.json"}, "y": inside}, "$defs": {"a": {}}}
    files = SchemaFiles(schema, file=tmp_path / "schema.json")

    ((part, _, _),) = Reach(files).problems(files.root)
    assert files.locate(part.schema).uri == tmp_path.joinpath("other.json").as_uri()


@pytest.mark.parametrize(("fields", "apart"), [(MOST - 1, False), (MOST, True)])
@pytest.mark.parametrize("beside", [{}, {"unevaluatedProperties": True}])
def test_a_definition_that_reaches_more_is_judged_apart(fields, apart, beside):
    large = {"properties": {f"x{at}": {} for at in range(fields)}}
    found, document = reached(
        {"properties": {"a": {"$ref": "#/$defs/large", **beside}}, "$defs": {"large": large}}
    )

    assert found == []
    # Where schemas ask what others said of a value, nothing can be judged apart.
    reference = {APART: "urn:stickler:schema#/%24defs/large"}
    judged_apart = apart and not beside
    assert document["properties"]["a"] == (
        reference if judged_apart else {"$ref": "#/$defs/large", **beside}
    )


@pytest.mark.parametrize(
    ("rest", "apart"),
    [({}, False), ({"anyOf": [{}]}, True), ({"contains": {}}, True), ({"required": []}, False)],
)
def test_what_contains_itself_is_judged_apart_where_a_value_may_be_held_against_several(
    rest, apart
):
    definition = {"properties": {"c": {"$ref": "#/$defs/n"}}, **rest}
    found, document = reached({"$ref": "#/$defs/n", "$defs": {"n": definition}})

    assert found == []
    assert (APART in document) is apart
    assert (APART in document["$defs"]["n"]["properties"]["c"]) is apart


@pytest.mark.parametrize(("fields", "apart"), [(MOST - 3, False), (MOST - 2, True)])
def test_what_contains_itself_counts_once_more(fields, apart):
    inside = {"c": {"$ref": "#/$defs/n"}, **{f"x{at}": {} for at in range(fields)}}
    document = reached({"$ref": "#/$defs/n", "$defs": {"n": {"properties": inside}}})[1]

    assert (APART in document) is apart


@pytest.mark.parametrize(
    ("dialect", "kept"),
    [
        ("http://json-schema.org/draft-07/schema", {"definitions", "$defs"}),
        (
            "https://json-schema.org/draft/2020-12/schema",
            {"definitions", "$defs", "title", "minProperties"},
        ),
    ],
)
def test_what_is_void_beside_a_reference_stays_void(dialect, kept):
    large = {"properties": {f"x{at}": {} for at in range(MOST)}}
    beside = {"definitions": {"b": {}}, "$defs": {"c": {}}, "title": "t", "minProperties": 2}
    schema = {
        "$schema": dialect,
        "properties": {"a": {"$ref": "#/definitions/large", **beside}},
        "definitions": {"large": large},
    }

    found = reached(schema)[1]["properties"]["a"]
    assert found.keys() == kept | {APART}
    assert found["definitions"] == beside["definitions"]
