"""`docs/tables.md` is true: files have its columns, and its queries run."""

import json
import re
import shlex
from pathlib import Path

import pytest

from stickler_cli.cli import main
from stickler_cli.records.account_format import (
    table_of_documents,
    table_of_errors,
    table_of_values,
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
    ("section", "table"),
    [
        ("Documents", table_of_documents()),
        ("Errors", table_of_errors()),
        ("Values", table_of_values()),
    ],
)
def test_the_page_lists_the_columns_and_their_types(section, table):
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    listed = [
        (name, kind)
        for names, kind in re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", text, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", names)
    ]

    assert [(name, TYPES[kind]) for name, kind in listed] == [*table.columns.items()]


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


@pytest.mark.slow
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
        (may,) = (f1 for month, field, f1 in names["f1"] if (month, field) == ("May", ""))
        (document,) = (row for row in run["per_document"] if row["id"] == "midori-jp")
        leaves = dict.fromkeys(("tp", "fd", "fa", "fn"), 0) | document["fields"][""]["leaves"]
        tp, fd, fa, fn = (leaves[name] for name in ("tp", "fd", "fa", "fn"))
        assert may == 2 * tp / (2 * tp + fd + fa + fn)
    elif library == "polars":
        leaves = run["confusion_matrix"]["fields"]["total"]["leaves"]
        (row,) = (row for row in names["precision"].to_dicts() if row["field"] == "total")
        assert row["precision"] == leaves["derived"]["cm_precision"]
    else:
        units = run["error_classes"]["units"]["total"]
        assert len(names["joined"]) == run["error_classes"]["total"] + units
