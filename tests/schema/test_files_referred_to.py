"""A plan names the files that the references of its schema lead to."""

import json

from stickler_cli.schema.loading import load_schema, load_schemas


def test_files_that_references_lead_to_are_named_once(tmp_path):
    parts = {"n": {"type": "integer"}, "m": {"$ref": "more.json#/m"}}
    properties = {name: {"$ref": f"../parts.json#/{name}"} for name in ("n", "m")}
    schema = {"type": "object", "properties": properties}
    files = {"more.json": {"m": {"type": "string"}}, "parts.json": parts}
    files |= {"of/a.json": schema, "of/b.json": schema, "own.json": {"type": "object"}}
    for name, contents in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(contents))
    named = {str(tmp_path / "parts.json"), str(tmp_path / "more.json")}

    assert {*load_schema(str(tmp_path / "of" / "a.json")).plan.files} == named
    several = load_schemas(str(tmp_path / "of")).plan.files
    assert ({*several}, len(several)) == (named, 2)
    assert load_schema(str(tmp_path / "own.json")).plan.files == ()
