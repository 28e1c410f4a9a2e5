"""Rows in files of all formats: chosen by suffix, typed, harmless, and in groups."""

import csv
import io
import json

import pytest

from stickler_cli.core import problems
from stickler_cli.core.problems import UnavailableError, UsageError
from stickler_cli.records import row_files
from stickler_cli.records.account_format import (
    document_of_rows,
    rows_of_document,
    table_of_errors,
)
from stickler_cli.records.row_files import LineTable, format_of_lines, lines_as_rows, row_bytes

COLUMNS = {"name": str, "count": int, "rate": float, "right": bool, "value": object}
ROWS = [
    ("=cmd()", 2, 0.5, True, {"a": [1]}),
    ("\ud800", 0, None, False, "-1"),
    (None, None, 1, None, None),
]


def parquet():
    return pytest.importorskip("pyarrow.parquet", reason="pyarrow IS NOT INSTALLED: no Parquet")


@pytest.mark.parametrize(("form", "between"), [("csv", ","), ("tsv", "\t")])
def test_text_has_what_there_is_and_no_formula(form, between):
    text = row_bytes(form, COLUMNS, ROWS).decode()
    assert list(csv.reader(io.StringIO(text), delimiter=between)) == [
        list(COLUMNS),
        ["'=cmd()", "2", "0.5", "true", '{"a": [1]}'],
        ["\\ud800", "0", "", "false", "'-1"],
        ["", "", "1", "", ""],
    ]


def test_lines_of_json_have_the_values_as_they_are():
    first, *_, last = row_bytes("jsonl", COLUMNS, [ROWS[0], ROWS[2]]).splitlines()
    assert json.loads(first) == dict(zip(COLUMNS, ROWS[0], strict=True))
    assert json.loads(last) == dict(zip(COLUMNS, ROWS[2], strict=True))


def test_parquet_has_types_and_json_text(monkeypatch):
    reader = parquet()
    monkeypatch.setattr(row_files, "ROW_GROUP", 2)
    data = row_bytes("parquet", COLUMNS, ROWS)
    file = reader.ParquetFile(io.BytesIO(data))
    assert file.num_row_groups == 2
    table = file.read()
    assert [str(field.type) for field in table.schema] == [
        *("string", "int64", "double", "bool", "string")
    ]
    assert [list(row.values()) for row in table.to_pylist()] == [
        ["=cmd()", 2, 0.5, True, '{"a": [1]}'],
        ["\\ud800", 0, None, False, '"-1"'],
        [None, None, 1.0, None, None],
    ]


def test_arrow_has_the_same_rows_in_as_many_groups(monkeypatch):
    reader = parquet()
    monkeypatch.setattr(row_files, "ROW_GROUP", 2)
    import pyarrow as pa

    with pa.ipc.open_file(io.BytesIO(row_bytes("arrow", COLUMNS, ROWS))) as file:
        assert file.num_record_batches == 2
        table_read = file.read_all()
    assert table_read == reader.read_table(io.BytesIO(row_bytes("parquet", COLUMNS, ROWS)))


def test_parquet_of_no_rows_still_has_its_columns():
    reader = parquet()
    data = row_bytes("parquet", COLUMNS, [])
    assert reader.read_table(io.BytesIO(data)).column_names == list(COLUMNS)


@pytest.mark.parametrize(
    ("file", "form"),
    [("a.JSONL", "jsonl"), ("a.ndjson", "jsonl"), ("x/a.csv", "csv"), ("/dev/fd/3", "jsonl")],
)
def test_the_suffix_tells_the_format(file, form):
    assert format_of_lines("--documents", file) == form


@pytest.mark.parametrize("file", ["a.json", "a.xlsx", "a.jsonl.gz", "a.txt"])
def test_a_suffix_that_cannot_be_written_is_refused(file):
    expected = r"one that ends in \.csv, \.tsv, \.jsonl, \.ndjson, \.parquet, \.arrow"
    with pytest.raises(
        UsageError, match=rf"--documents: the file name is {file}, expected {expected}"
    ):
        format_of_lines("--documents", file)


def test_parquet_without_its_extra_is_refused(monkeypatch):
    monkeypatch.setattr(problems, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match=r"pip install '\.\[parquet\]'"):
        format_of_lines("--documents", "a.parquet")


def test_lines_become_rows_with_cells_from_inside():
    table = LineTable({"id": str, "a": int})
    stream = io.BytesIO()
    with lines_as_rows(stream, "csv", lambda: table) as rows:
        rows.write(b'{"id":"x","a":1}\n{"id":"y"}\n')
        rows.write(b'{"id":"z","a":36893488147419103232}\n')
    assert stream.getvalue() == b"id,a\nx,1\ny,\nz,36893488147419103232\n"


def test_documents_have_a_row_for_each_field_and_mode():
    counts = {"overall": {"tp": 1}, "leaves": {"tp": 2, "fd": 1}}
    line = {"document": "d", "status": "evaluated", "overall_score": 0.5, "remarks": ["odd"]}
    line |= counts | {"fields": {"": {"tp": 3}, "a": {**counts, "score": 0.25, "items": 1}}}
    document_row, *field_rows = rows_of_document(line)
    assert (
        document_row["field"],
        document_row["mode"],
        document_row["tp"],
        document_row["score"],
    ) == ("", "overall", 3, 0.5)
    assert (document_row["remarks"], field_rows[0].get("remarks")) == (["odd"], None)
    of_a = [row for row in field_rows if row["field"] == "a"]
    assert [(row["mode"], row["tp"], row["fd"], row["score"], row["items"]) for row in of_a] == [
        ("overall", 1, 0, 0.25, 1),
        ("aggregate", 0, 0, 0.25, 1),
        ("leaves", 2, 1, 0.25, 1),
    ]
    again = document_of_rows(
        {"by": None, "confidences": None, **row} for row in (document_row, *field_rows)
    )
    three = {key: {"tp": 3} for key in ("overall", "aggregate", "leaves")}
    a = {"aggregate": {}, **counts, "score": 0.25, "items": 1}
    assert again == {"id": "d", "status": "evaluated", "score": 0.5, "fields": {"": three, "a": a}}


def test_a_document_that_was_not_compared_has_one_row():
    (row,) = rows_of_document({"document": "d", "status": "missing", "overall_score": None})
    assert (row["document"], row["field"], "mode" in row) == ("d", "", False)


def test_errors_have_columns_with_types():
    kinds = table_of_errors().columns
    assert kinds["document"] is kinds["class"] is kinds["reason"] is kinds["outcome"] is str
    assert kinds["similarity"] is float
    assert kinds["ground_truth_value"] is kinds["differing_fields"] is object
