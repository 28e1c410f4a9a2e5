"""Metadata files: what is read from them, and problems in them."""

import gzip

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.documents.document_tables import read_columns


def test_a_csv_file_is_read_by_its_header(tmp_path):
    file = tmp_path / "meta.csv"
    file.write_bytes('\ufeffid,a,b\r\n1,x,"y\r\nz"\r\n\r\n2,,w,more\r\n3\r\n'.encode())

    assert read_columns(str(file), ["a", "b"]) == {"a": {"1": "x"}, "b": {"1": "y\r\nz", "2": "w"}}


def test_a_cell_may_have_any_length(tmp_path):
    file = tmp_path / "meta.csv"
    file.write_text(f'id,a\n1,"{"x" * 200_000}"\n2,y\n')

    assert read_columns(str(file), ["a"]) == {"a": {"1": "x" * 200_000, "2": "y"}}


def test_json_lines_are_read_by_their_names(tmp_path):
    file = tmp_path / "meta.jsonl.gz"
    text = '{"id": 1, "a": true}\n\n{"id": "2", "a": null, "b": [1]}\n{"id": "3", "a": 0.5}\n'
    file.write_bytes(gzip.compress(text.encode()))

    assert read_columns(str(file), ["a", "b"]) == {"a": {"1": "true", "3": "0.5"}, "b": {}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "meta.txt",
            b"",
            "meta.txt: the file name does not show what kind of table this is, expected a .csv",
        ),
        (
            "meta.csv",
            b"",
            (
                "meta.csv: the file has no rows, expected a row for each document, with the "
                "columns id, a"
            ),
        ),
        ("meta.csv", b"id,a\n", "meta.csv: the file has no rows, expected a row for each document"),
        ("meta.jsonl", b"\n", "meta.jsonl: the file has no rows, expected a row for each document"),
        (
            "meta.csv",
            b"ID,a\n1,x\n",
            (
                "meta.csv:2:1: the row has no id, expected an id in every row of the file; "
                "did you mean ID"
            ),
        ),
        (
            "meta.csv",
            b"key,a\n1,x\n",
            "the row has no id, expected an id in every row of the file; the columns are key, a",
        ),
        ("meta.csv", b"id,a\n1,x\n1,y\n", "meta.csv:3:1: the id '1' is also on line 2"),
        ("meta.csv", b"id,b\n1,x\n", 'meta.csv: there is no column "a", expected one of id, b'),
        ("meta.csv", b"id,a\n1,\xff\n", "meta.csv:2:1: the file is not UTF-8: byte 0xff is not"),
        (
            "meta.csv",
            b'id,a\n1,x\n2,"y\n3,z\n',
            "meta.csv:3:1: the quoted cell that begins on",
        ),
        ("meta.csv", b'id,a\n1,"y\n2","z\n', "meta.csv:3:1: the quoted cell that begins on"),
        (
            "meta.csv",
            b'id,a\n1,"y"z\n',
            "line 2 of the file ends on line 2, but text follows its closing quote",
        ),
        (
            "meta.csv",
            b"id,a,a\n1,x,y\n",
            'meta.csv: several columns are named "a", expected different names',
        ),
        ("meta.jsonl", b'{"id": 1}\n[]\n', "meta.jsonl:2:1: the document is of type array"),
        ("meta.jsonl", b'{"a": 1}\n', "meta.jsonl:1:1: the row has no id"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_columns(str(tmp_path / name), ["a"])
    assert message in str(raised.value)


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="cannot be read"):
        read_columns(str(tmp_path / "none.csv"), ["a"])
    (tmp_path / "meta.csv").write_text("id,a\n")
    monkeypatch.setattr("stickler_cli.documents.document_tables.MAX_METADATA_BYTES", 3)
    with pytest.raises(UsageError, match="expected at most 3 bytes"):
        read_columns(str(tmp_path / "meta.csv"), ["a"])
