"""`docs/tables.md` is true: columns are those of the files, and its queries run."""

import json
import re
import shlex
from pathlib import Path

import pytest

from stickler_cli.cli import main
from stickler_cli.records.account_format import (
    columns_of_documents,
    columns_of_errors,
    columns_of_values,
)

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "tables.md").read_text(encoding="utf-8")
TYPES = {
    "text": str,
    "number": float,
    "numbers": object,
    "integer": int,
    "true or false": bool,
    "JSON": object,
}


@pytest.mark.parametrize(
    ("section", "columns"),
    [
        ("Documents", columns_of_documents([])),
        ("Errors", columns_of_errors()),
        ("Values", columns_of_values()),
    ],
)
def test_the_page_lists_the_columns_and_their_types(section, columns):
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    listed = [
        (name.replace("*", each), kind)
        for name, kind in re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", text, re.MULTILINE)
        for each in (("tp", "fd", "fa", "fn", "tn") if "*" in name else (name,))
    ]

    assert [(name, TYPES[kind]) for name, kind in listed] == [
        (column.name, column.kind) for column in columns
    ]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the command of the page writes."""
    pytest.importorskip("pyarrow", reason="pyarrow IS NOT INSTALLED: no Parquet")
    monkeypatch.chdir(tmp_path)
    for name in ("schemas", "fixtures"):
        (tmp_path / name).symlink_to(PROJECT / name)
    (command,) = re.findall(r"^\$ stickler (eval schemas/.*)$", PAGE, re.MULTILINE)
    assert main([*shlex.split(command), "-o", "run.json"]) in (0, 3)
    return tmp_path


@pytest.mark.parametrize("library", ["duckdb", "polars", "pandas"])
def test_a_query_gives_what_the_run_says(files, library):
    pytest.importorskip(library, reason=f"{library} IS NOT INSTALLED: its query is not run")
    (query,) = (
        block
        for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
        if f"import {library}" in block
    )
    names: dict = {}
    exec(query, names)  # noqa: S102 - it is on our own page
    run = json.loads((files / "run.json").read_text())
    if library == "duckdb":
        lost = run["error_classes"]["fields"]
        by_field = {path: sum(classes.values()) for path, classes in lost.items()}
        expected = sorted(by_field.items(), key=lambda entry: (-entry[1], entry[0]))[:5]
        assert names["worst"] == expected
    elif library == "polars":
        leaves = run["confusion_matrix"]["fields"]["total"]["leaves"]
        (row,) = (row for row in names["precision"].to_dicts() if row["field"] == "total")
        assert row["precision"] == leaves["derived"]["cm_precision"]
    else:
        units = run["error_classes"]["units"]["total"]
        assert len(names["joined"]) == run["error_classes"]["total"] + units
