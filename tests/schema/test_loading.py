import hashlib
import json
import subprocess
import sys

import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.loading import load_schema

SCHEMA = {"type": "object", "properties": {"a": {"$ref": "b.json"}}}


def problem_of(path):
    with pytest.raises(SchemaError) as refusal:
        load_schema(str(path))
    (problem,) = refusal.value.problems
    assert problem.source == str(path)
    return problem


def test_a_file_gives_its_plan_and_what_it_was(tmp_path):
    file = tmp_path / "s.json"
    (tmp_path / "b.json").write_text('{"type": "number"}')
    content = b"\xef\xbb\xbf" + json.dumps(SCHEMA).encode()
    file.write_bytes(content)

    loaded = load_schema(str(file))

    assert loaded.path == str(file)
    assert loaded.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
    (field,) = loaded.plan.root.fields
    assert field.node.comparator.name == "NumericComparator"


def test_a_file_that_is_not_there_is_named(tmp_path):
    problem = problem_of(tmp_path / "s.json")

    assert problem.found == "the schema cannot be read (No such file or directory)"
    assert problem.hint == "check the path"


def test_a_folder_is_no_schema(tmp_path):
    assert problem_of(tmp_path).hint.startswith("the order is SCHEMA GT PRED;")


def test_what_is_not_json_is_named_with_its_line(tmp_path):
    file = tmp_path / "s.json"
    file.write_text('{\n  "type": object\n}')

    problem = problem_of(file)
    assert problem.found.startswith("the schema is not JSON (")
    assert (problem.line, problem.column) == (2, 11)


def test_a_schema_with_problems_is_refused_under_its_name(tmp_path):
    file = tmp_path / "s.json"
    file.write_text('{"type": "strin"}')

    assert problem_of(file).pointer == "/type"


def loaded_by(file):
    """List what a new interpreter has loaded once it has compiled a schema."""
    program = (
        "import sys; from stickler_cli.schema.loading import load_schema; "
        f"load_schema({str(file)!r}); print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return set(run.stdout.split())


def test_a_plain_schema_is_compiled_without_what_takes_long_to_load(tmp_path):
    file = tmp_path / "s.json"
    file.write_text('{"type": "object", "properties": {"a": {"type": ["string", "number"]}}}')

    slow = {"jsonschema", "jsonschema_specifications", "pydantic", "referencing", "ssl"}
    assert loaded_by(file) & slow == set()
