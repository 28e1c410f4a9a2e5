"""Small files that would need much memory."""

import gzip
import json
from contextlib import suppress

import pytest

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents import document_tables, reading
from stickler_cli.documents.document import LineReference
from stickler_cli.documents.document_tables import rows_of

ROWS = 50
DOCUMENT = json.dumps({"a": "x" * 10_000})


def written(folder, **how):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    ids = [str(number) for number in range(ROWS)]
    file = folder / "gt.parquet"
    parquet.write_table(pa.table({"id": ids, "document": [DOCUMENT] * ROWS}), file, **how)
    return str(file)


def test_rows_that_share_a_text_are_decoded_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(document_tables, "MAX_DECODED_BYTES", 30_000)
    decoded_rows = []
    cells = document_tables._cells  # noqa: SLF001 - what is decoded at once is what is tested
    monkeypatch.setattr(
        document_tables,
        "_cells",
        lambda column, *more: decoded_rows.append(len(column)) or cells(column, *more),
    )

    rows = [*rows_of(written(tmp_path), ("gt",), 100_000)]

    assert [row.id for row in rows] == [str(number) for number in range(ROWS)]
    assert {row.documents[0].data for row in rows} == {DOCUMENT.encode()}
    assert sum(decoded_rows) == ROWS
    assert max(decoded_rows) <= 4  # of 10,010 bytes each, in pieces of about 30,000


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_group_of_rows_that_unpacks_to_far_more_is_a_problem(tmp_path, monkeypatch, dictionary):
    file = written(tmp_path, compression="gzip", use_dictionary=dictionary)
    assert len([*rows_of(file, ("gt",), 100_000)]) == ROWS
    monkeypatch.setattr(document_tables, "MAX_GROUP_BYTES", 5_000)
    monkeypatch.setattr(document_tables, "MAX_UNPACKED_RATIO", 2)

    (row,) = rows_of(file, ("gt",), 100_000)

    assert isinstance(row.documents[0], Problem)
    assert "row group 0 grows from " in row.documents[0].found
    assert "bytes when unpacked; at most 5,000" in row.documents[0].found


def test_a_group_of_rows_with_far_more_values_than_bytes_is_a_problem(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = str(tmp_path / "gt.parquet")
    documents = [{"a": [0] * 100_000}]  # 800,000 bytes as values, of which the file has one
    parquet.write_table(pa.table({"id": ["1"], "document": documents}), file)
    assert isinstance(next(iter(rows_of(file, ("gt",), 10**6))).documents[0], LineReference)
    monkeypatch.setattr(document_tables, "MAX_GROUP_BYTES", 700_000)

    (row,) = rows_of(file, ("gt",), 10**6)

    assert isinstance(row.documents[0], Problem)
    assert "row group 0 grows from " in row.documents[0].found
    assert " to 800," in row.documents[0].found


def arrow_file(folder, documents, compression="zstd"):
    pa = pytest.importorskip("pyarrow")
    ipc = pytest.importorskip("pyarrow.ipc")
    table = pa.table({"id": [str(row) for row in range(len(documents))], "document": documents})
    file = str(folder / "gt.arrow")
    with ipc.new_file(
        file, table.schema, options=ipc.IpcWriteOptions(compression=compression)
    ) as writer:
        writer.write_table(table)
    return file


def bombs():
    pa = pytest.importorskip("pyarrow")
    nulls = pa.ListArray.from_arrays([0, 100_000], pa.nulls(100_000))
    return {
        "a text": [json.dumps({"a": "x" * 1_000_000})],
        "nulls": pa.StructArray.from_arrays([nulls], ["a"]),
        "a dictionary": pa.array([json.dumps({"a": "x" * 1_000_000})]).dictionary_encode(),
    }


@pytest.mark.parametrize("compression", ["zstd", "lz4", None])
@pytest.mark.parametrize("name", ["a text", "nulls", "a dictionary"])
def test_a_batch_of_an_arrow_file_that_unpacks_to_far_more_is_a_problem(
    tmp_path, monkeypatch, name, compression
):
    file = arrow_file(tmp_path, bombs()[name], compression)
    (row,) = rows_of(file, ("gt",), 10**7)
    assert isinstance(row.documents[0], LineReference)
    monkeypatch.setattr(document_tables, "MAX_GROUP_BYTES", 200_000)
    monkeypatch.setattr(document_tables, "MAX_UNPACKED_RATIO", 2)

    (row,) = rows_of(file, ("gt",), 10**7)

    if compression is None and name != "nulls":  # its bytes are there
        assert isinstance(row.documents[0], LineReference)
        return
    problem_text = "the dictionaries grow" if name == "a dictionary" else "batch 0 grows"
    assert isinstance(row.documents[0], Problem)
    assert f"{problem_text} from " in row.documents[0].found
    assert "bytes when unpacked; at most 200,000" in row.documents[0].found


@pytest.mark.parametrize("place", [-14, -60, 8, 200])
def test_an_arrow_file_with_damaged_metadata_ends_in_words(tmp_path, place):
    file = arrow_file(tmp_path, [DOCUMENT] * 3)
    data = bytearray((tmp_path / "gt.arrow").read_bytes())
    data[place : place + 8] = b"\xff" * 8
    (tmp_path / "gt.arrow").write_bytes(data)

    with suppress(UsageError):  # where it is no Arrow file at all
        rows = [*rows_of(file, ("gt",), 10**7)]
        assert isinstance(rows[-1].documents[0], Problem | LineReference)


def test_rows_of_long_lists_are_decoded_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(document_tables, "MAX_DECODED_BYTES", 100_000)
    documents = [{"a": [{"n": [row] * 100}] * 10} for row in range(20)]
    decoded_rows = []
    cells = document_tables._cells  # noqa: SLF001 - what is decoded at once is what is tested
    monkeypatch.setattr(
        document_tables,
        "_cells",
        lambda column, *more: decoded_rows.append(len(column)) or cells(column, *more),
    )

    rows = [*rows_of(arrow_file(tmp_path, documents), ("gt",), 100_000)]

    assert [json.loads(row.documents[0].data) for row in rows] == documents
    assert sum(decoded_rows) == 20
    assert max(decoded_rows) <= 3  # of 1,000 numbers each, which take 40,000 bytes


def test_a_packed_file_unpacks_to_a_hundred_times_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_DOCUMENT_BYTES", 1_000)
    packed = gzip.compress(b" " * 1_000_000)  # to a thousandth
    file = tmp_path / "x.json.gz"
    file.write_bytes(packed)

    problem = reading.read_bytes(str(file), 10**9)

    assert isinstance(problem, Problem)
    assert problem.expected == f"at most {100 * len(packed):,} bytes"
    file.write_bytes(gzip.compress(b" " * 1_000))  # a document of usual size may be anything
    assert reading.read_bytes(str(file), 10**9) == b" " * 1_000
