"""The memory that Arrow values need in Python is known before they are converted."""

import json

import pytest

from stickler_cli.core.problems import Problem
from stickler_cli.documents import document_tables
from stickler_cli.documents.decoded_sizes import BYTES_OF_OBJECT, decoded_sizes
from stickler_cli.documents.document import LineReference
from stickler_cli.documents.document_tables import rows_of

pa = pytest.importorskip("pyarrow")

OBJECT = BYTES_OF_OBJECT


def share(n_rows, value):
    """Return an Arrow array of equal values that stores the value once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int32()), pa.array([value]))


def run_of(n_rows, value):
    return pa.RunEndEncodedArray.from_arrays(pa.array([n_rows], pa.int32()), pa.array([value]))


def view_lists(starts, lengths, items):
    offsets, sizes = pa.array(starts, pa.int32()), pa.array(lengths, pa.int32())
    return pa.ListViewArray.from_arrays(offsets, sizes, pa.array(items))


LIST = pa.list_(pa.int8())
SIZES = {
    "numbers": (pa.array([1, None]), [OBJECT, OBJECT]),
    "texts": (pa.array(["abc", None]), [OBJECT + 3, OBJECT]),
    "views of texts": (pa.array(["ab", None, "x" * 99], pa.string_view()), [42, 40, 139]),
    "bytes of one size": (pa.array([b"abcd"], pa.binary(4)), [OBJECT + 4]),
    "a dictionary": (share(3, "abc"), [43, 43, 43]),
    "a large dictionary": (pa.array(["a", "bb", "ccc"]).dictionary_encode()[2:], [43]),
    "a dictionary without entries": (pa.array([None], pa.dictionary(pa.int8(), pa.string())), [40]),
    "a run": (run_of(3, "abc"), [43, 43, 43]),
    "a part of runs": (run_of(3, "abc")[1:], [43, 43]),
    "lists": (pa.array([[1, 2], None, [], [3]], LIST), [120, 40, 40, 80]),
    "a part of lists": (pa.array([[1, 2], [3]], LIST)[1:], [80]),
    "no lists": (pa.array([], LIST), []),
    "lists of one size": (pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2))[1:], [120]),
    "views of the same items": (view_lists([0, 0, 1], [3, 3, 2], [7, 8, 9]), [160, 160, 120]),
    "objects": (pa.array([{"a": "abc", "b": [1]}]), [OBJECT + 43 + 80]),
    "maps": (
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int8())),
        [40 + 40 + 41 + 40, 40],
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_each_value_has_the_size_that_it_takes_in_python(name):
    column, sizes = SIZES[name]
    assert decoded_sizes(column).tolist() == sizes


LONG_TEXT = "x" * 1_000_000
N_ROWS = 300


def shared_columns():
    document = json.dumps({"a": LONG_TEXT})
    views = view_lists([0] * N_ROWS, [30_000] * N_ROWS, [0] * 30_000)
    return {
        "a dictionary": share(N_ROWS, document),
        "a dictionary in objects": pa.StructArray.from_arrays([share(N_ROWS, LONG_TEXT)], ["a"]),
        "runs in objects": pa.StructArray.from_arrays([run_of(N_ROWS, LONG_TEXT)], ["a"]),
        "views in objects": pa.StructArray.from_arrays([views], ["a"]),
    }


def write_arrow(file, table):
    ipc = pytest.importorskip("pyarrow.ipc")
    with ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def write_parquet(file, table):
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, file, compression="zstd")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a dictionary", ".arrow"),
        ("a dictionary", ".parquet"),
        ("a dictionary in objects", ".arrow"),
        ("a dictionary in objects", ".parquet"),
        ("runs in objects", ".arrow"),  # Parquet has no runs
        ("views in objects", ".arrow"),  # and stores the items of views for each row
    ],
)
def test_rows_that_share_long_values_are_refused_after_some(tmp_path, monkeypatch, name, suffix):
    file = str(tmp_path / f"gt{suffix}")
    ids = [str(row) for row in range(N_ROWS)]
    write = write_arrow if suffix == ".arrow" else write_parquet
    write(file, pa.table({"id": ids, "document": shared_columns()[name]}))
    monkeypatch.setattr(document_tables, "MAX_GROUP_BYTES", 20_000_000)
    monkeypatch.setattr(document_tables, "MAX_UNPACKED_RATIO", 1)
    monkeypatch.setattr(document_tables, "MAX_DECODED_BYTES", 5_000_000)

    *rows, last = rows_of(file, ("gt",), 10**7)

    # Each row has 1 MB or more as Python values.
    assert len(rows) <= 20
    assert all(isinstance(row.documents[0], LineReference) for row in rows)
    assert isinstance(last.documents[0], Problem)
    assert "the rows grow from " in last.documents[0].found
    assert "at most 20,000,000" in last.documents[0].found


@pytest.mark.slow
def test_a_row_of_a_million_values_is_a_problem_with_what_to_do(tmp_path):
    file = str(tmp_path / "gt.parquet")
    items = pa.ListArray.from_arrays(
        pa.array([0, 1_000_000, 1_000_002]), pa.array([0] * 1_000_002, pa.int8())
    )
    documents = pa.StructArray.from_arrays([items], ["a"])
    write_parquet(file, pa.table({"id": ["1", "2"], "document": documents}))

    first, second = (row.documents[0] for row in rows_of(file, ("gt",), 10**8))

    # 999,999 commas, two brackets and the root
    assert first == Problem(
        file,
        "the documents of this row have about 1,000,002 values",
        "at most 1,000,000 in a row",
        hint="if you trust them, put them into JSON files",
        line=1,
    )
    assert isinstance(second, LineReference)


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "is_refused"), [(499_999, False), (500_000, True)])
def test_both_sides_of_a_row_together_have_at_most_a_million_values(tmp_path, n_items, is_refused):
    file = str(tmp_path / "pairs.parquet")
    lists = pa.array([[None] * n_items, [1]], pa.list_(pa.int8()))
    write_parquet(file, pa.table({"id": ["1", "2"], "gt": lists, "pred": lists}))

    first, second = rows_of(file, ("gt", "pred"), 10**8)

    # The root, a bracket and n - 1 commas on each side: n + 1 values
    assert [isinstance(document, Problem) for document in first.documents] == [is_refused] * 2
    assert all(isinstance(document, LineReference) for document in second.documents)
