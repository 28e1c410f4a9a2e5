"""The JSON Schemas of the formats agree with their Python types."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from schemas import writing
from schemas.writing import FORMATS, main, schema_of

SCHEMAS = Path(__file__).parents[2] / "schemas"


def list_definitions(schema, path=""):
    """Yield the path and the schema of every value in a format."""
    yield path, schema
    for name, part_schema in (schema.get("properties", {}) | schema.get("$defs", {})).items():
        yield from list_definitions(part_schema, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from list_definitions(schema[name], f"{path}.{name}")


def shipped(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_shipped_is_what_the_types_say(name):
    assert schema_of(name) == shipped(name), "run python -m schemas.writing schemas"


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_every_place_has_a_type_and_a_description_and_objects_are_closed(name):
    schema = shipped(name)
    Draft202012Validator.check_schema(schema)
    for path, definition in list_definitions(schema):
        assert {"type", "$ref", "anyOf", "enum"} & {*definition}, path
        if not path.endswith(("items", "additionalProperties")):
            assert definition.get("description", "").endswith("."), path
        if definition.get("type") == "object":
            assert "additionalProperties" in definition, path
            assert {*definition.get("required", ())} <= {*definition.get("properties", ())}, path
    for title, definition in schema["$defs"].items():
        assert definition.get("additionalProperties") is False or "enum" in definition, title


def test_schemas_are_written_to_a_folder(tmp_path, monkeypatch):
    formats = {name: FORMATS[name] for name in ("stickler-verdict", "stickler-policy")}
    monkeypatch.setattr(writing, "FORMATS", formats)
    main(str(tmp_path))

    assert {file.stem for file in tmp_path.iterdir()} == {*formats}
    for name in formats:
        written = (tmp_path / f"{name}.json").read_bytes()
        assert written == (SCHEMAS / f"{name}.json").read_bytes()
