"""A plan has the names of the files to which the references of its schema lead."""

import json

import pytest

from stickler_cli.schema.loading import load_schema, load_schemas
from stickler_cli.schema.references import list_files_behind


def test_files_that_references_lead_to_are_named_once(tmp_path):
    definitions = {"n": {"type": "integer"}, "m": {"$ref": "more.json#/m"}}
    properties = {name: {"$ref": f"../parts.json#/{name}"} for name in ("n", "m")}
    schema = {"type": "object", "properties": properties}
    files = {"more.json": {"m": {"type": "string"}}, "parts.json": definitions}
    files |= {"of/a.json": schema, "of/b.json": schema, "own.json": {"type": "object"}}
    for name, contents in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(contents))
    named = {str(tmp_path / "parts.json"), str(tmp_path / "more.json")}

    assert {*load_schema(str(tmp_path / "of" / "a.json")).plan.files} == named
    several = load_schemas(str(tmp_path / "of")).plan.files
    assert ({*several}, len(several)) == (named, 2)
    assert load_schema(str(tmp_path / "own.json")).plan.files == ()
    assert {*list_files_behind(tmp_path / "of" / "a.json")} == named
    assert list_files_behind(tmp_path / "own.json") == ()


@pytest.mark.parametrize("text", [None, "", "[]", "1", "{", "[" * 2_000])
def test_a_file_that_is_no_schema_refers_to_nothing(tmp_path, text):
    if text is not None:
        (tmp_path / "a.json").write_text(text)

    assert list_files_behind(tmp_path / "a.json") == ()


@pytest.mark.parametrize(
    "reference", ["absent.json", "https://a.org/s.json", "#/absent", "http://[/x", 3, "broken.json"]
)
def test_references_that_cannot_be_followed_are_skipped(tmp_path, reference):
    schema = {
        "properties": {"a": {"$ref": reference}, "b": {"$ref": "b.json"}, "c": {"$ref": "#"}},
        "additionalProperties": {"allOf": [{"$ref": "loop.json"}]},
    }
    (tmp_path / "a.json").write_text(json.dumps(schema))
    (tmp_path / "b.json").write_text("true")
    (tmp_path / "loop.json").write_text('{"items": {"$ref": "a.json"}}')
    (tmp_path / "broken.json").write_text("{")

    files = list_files_behind(tmp_path / "a.json")

    assert {*files} == {str(tmp_path / name) for name in ("b.json", "loop.json")}
