"""The maximum number of schemas against which one value is checked."""

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
    """Return the paths with too many subschemas, and the schema with parts checked separately."""
    files = SchemaFiles(schema)
    reach = Reach(files)
    paths = [files.locate(place.schema).path for place, _, _ in reach.problems(files.root)]
    (document,) = reach.documents.contents.values()
    return paths, document


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
    reference = {"$ref": "#/$defs/a"}
    schema = {"properties": {"x": {"$ref": "other.json"}, "y": reference}, "$defs": {"a": {}}}
    files = SchemaFiles(schema, file=tmp_path / "schema.json")

    ((place, _, _),) = Reach(files).problems(files.root)
    assert files.locate(place.schema).uri == tmp_path.joinpath("other.json").as_uri()


@pytest.mark.parametrize(("fields", "is_separate"), [(MOST - 1, False), (MOST, True)])
@pytest.mark.parametrize("siblings", [{}, {"unevaluatedProperties": True}])
def test_a_definition_that_reaches_more_is_judged_apart(fields, is_separate, siblings):
    large = {"properties": {f"x{index}": {} for index in range(fields)}}
    paths, document = reached(
        {"properties": {"a": {"$ref": "#/$defs/large", **siblings}}, "$defs": {"large": large}}
    )

    assert paths == []
    # Where schemas ask what others said of a value, nothing can be judged apart.
    reference = {APART: "urn:stickler:schema#/%24defs/large"}
    judged_apart = is_separate and not siblings
    assert document["properties"]["a"] == (
        reference if judged_apart else {"$ref": "#/$defs/large", **siblings}
    )


@pytest.mark.parametrize(
    ("keywords", "is_separate"),
    [({}, False), ({"anyOf": [{}]}, True), ({"contains": {}}, True), ({"required": []}, False)],
)
def test_what_contains_itself_is_judged_apart_where_a_value_may_be_held_against_several(
    keywords, is_separate
):
    definition = {"properties": {"c": {"$ref": "#/$defs/n"}}, **keywords}
    paths, document = reached({"$ref": "#/$defs/n", "$defs": {"n": definition}})

    assert paths == []
    assert (APART in document) is is_separate
    assert (APART in document["$defs"]["n"]["properties"]["c"]) is is_separate


@pytest.mark.parametrize(("fields", "is_separate"), [(MOST - 3, False), (MOST - 2, True)])
def test_what_contains_itself_counts_once_more(fields, is_separate):
    properties = {"c": {"$ref": "#/$defs/n"}, **{f"x{index}": {} for index in range(fields)}}
    document = reached({"$ref": "#/$defs/n", "$defs": {"n": {"properties": properties}}})[1]

    assert (APART in document) is is_separate


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
    large = {"properties": {f"x{index}": {} for index in range(MOST)}}
    siblings = {"definitions": {"b": {}}, "$defs": {"c": {}}, "title": "t", "minProperties": 2}
    schema = {
        "$schema": dialect,
        "properties": {"a": {"$ref": "#/definitions/large", **siblings}},
        "definitions": {"large": large},
    }

    kept_schema = reached(schema)[1]["properties"]["a"]
    assert kept_schema.keys() == kept | {APART}
    assert kept_schema["definitions"] == siblings["definitions"]
