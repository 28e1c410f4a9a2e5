"""Every row of `tests/cases/schema_errors.jsonl`: the place of an error, and the message."""

import json
from pathlib import Path

import pytest

from stickler_cli.core.problems import SchemaError
from stickler_cli.schema.compiler import compile_schema

CASES = Path(__file__).parents[1] / "cases" / "schema_errors.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
WRONG = [row for row in ROWS if row["errors"]]
FINE = [row for row in ROWS if not row["errors"]]


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row["name"])
def test_a_wrong_schema_is_refused_with_all_its_problems(row):
    with pytest.raises(SchemaError) as refusal:
        compile_schema(row["schema"], "schema.json")

    problems = {problem.pointer: str(problem) for problem in refusal.value.problems}
    assert problems.keys() == {error["pointer"] for error in row["errors"]}
    for error in row["errors"]:
        for word in error["mentions"]:
            assert word in problems[error["pointer"]]


@pytest.mark.parametrize("row", FINE, ids=lambda row: row["name"])
def test_a_fine_schema_compiles(row):
    compile_schema(row["schema"], "schema.json")
