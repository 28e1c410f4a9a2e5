"""The JSON Schemas of the formats are those of their types."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from schemas import writing
from schemas.writing import FORMATS, main, schema_of

SCHEMAS = Path(__file__).parents[2] / "schemas"


def places(schema, path=""):
    for name, part in schema.get("properties", {}).items():
        yield f"{path}/{name}", part
        yield from places(part, f"{path}/{name}")
    for name, part in schema.get("$defs", {}).items():
        yield from places(part, name)


def shipped(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_shipped_is_what_the_types_say(name):
    assert schema_of(name) == shipped(name), "run python -m schemas.writing schemas"


@pytest.mark.parametrize("name", FORMATS)
def test_every_key_is_described_and_every_object_closed(name):
    schema = shipped(name)
    Draft202012Validator.check_schema(schema)
    for place, part in places(schema):
        assert "description" in part or "$ref" in part, place
    for title, part in schema["$defs"].items():
        assert part.get("additionalProperties") is False or "enum" in part, title


def test_schemas_are_written_to_a_folder(tmp_path, monkeypatch):
    some = {name: FORMATS[name] for name in ("stickler-verdict", "stickler-policy")}
    monkeypatch.setattr(writing, "FORMATS", some)
    main(str(tmp_path))

    assert {file.stem for file in tmp_path.iterdir()} == {*some}
    for name in some:
        written = (tmp_path / f"{name}.json").read_bytes()
        assert written == (SCHEMAS / f"{name}.json").read_bytes()
