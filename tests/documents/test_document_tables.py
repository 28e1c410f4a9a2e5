import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document import Reference, Side, read_document
from stickler_cli.documents.document_tables import TableColumns, documents_of_table, rows_of
from stickler_cli.documents.pairs import open_documents, open_pairs
from stickler_cli.documents.sources import SourceKind, kind_of_source
from stickler_cli.settings.deciding import FindingOptions
from stickler_cli.settings.of_commands import EvalSettings

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

LIMIT = 1_000


def write(path: Path, columns: dict[str, Any]) -> str:
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=2)
    else:
        with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, table.schema) as file:
            file.write_table(table, max_chunksize=2)
    return str(path)


def lines(path: Path, *rows: str) -> str:
    path.write_text("".join(f"{row}\n" for row in rows))
    return str(path)


def values(file: str, side: Side = "gt", column: str | None = None) -> dict[str, object]:
    documents = documents_of_table(file, side, LIMIT, TableColumns(id=column))
    return {name: read_document(reference).value for name, reference in documents}


def pairs(file: str, **said: Any) -> list[tuple[str, object, object]]:
    settings = EvalSettings(gt=file, pred=file, pairs=file, **said)
    return [(pair.id, pair.gt, pair.pred) for pair in open_pairs(file, file, settings)]


def problem_text(value: object) -> str:
    assert isinstance(value, Problem)
    return str(value)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("column", ["document", "ground_truth", "gt", "anything"])
def test_a_table_of_two_columns_has_ids_and_documents(tmp_path: Path, suffix: str, column: str):
    file = write(tmp_path / f"t.{suffix}", {"id": ["a", "b", "c"], column: ['{"n":1}', None, "{}"]})
    assert kind_of_source(file) is SourceKind.TABLE
    assert values(file) == {"a": {"n": 1}, "c": {}}


def test_of_several_columns_that_of_the_side_has_the_documents(tmp_path: Path):
    columns = {"id": [1], "note": ["x"], "prediction": ["{}"], "ground_truth": ['{"n":1}']}
    file = write(tmp_path / "t.parquet", columns)
    assert values(file, "gt") == {"1": {"n": 1}}
    assert values(file, "pred") == {"1": {}}


def test_where_no_column_is_known_those_that_there_are_are_named(tmp_path: Path):
    file = write(tmp_path / "t.parquet", {"id": [1], "left": ["{}"], "right": ["{}"]})
    with pytest.raises(
        UsageError,
        match="give the right column with --gt-column; this table has the columns id, left",
    ):
        values(file)


def test_a_table_without_ids_is_refused_and_the_option_names_their_column(tmp_path: Path):
    file = write(tmp_path / "t.arrow", {"key": ["a"], "document": ["{}"]})
    with pytest.raises(UsageError, match='there is no column "id"'):
        values(file)
    assert values(file, column="key") == {"a": {}}


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "large_binary"])
def test_text_is_taken_as_it_is(tmp_path: Path, kind: str):
    text = b'{"n": 12345678901234567890123, "n": 1.10}'
    column = pa.array([text], getattr(pa, kind)())
    file = write(tmp_path / "t.parquet", {"id": ["a"], "document": column})
    (row,) = rows_of(file, ["gt"], LIMIT)
    (reference,) = row.documents
    assert reference is not None
    assert reference.read_data() == text  # type: ignore[union-attr]


def test_structs_lists_maps_dates_and_decimals_become_json(tmp_path: Path):
    kind = pa.struct(
        [
            ("day", pa.date32()),
            ("sum", pa.decimal128(9, 2)),
            ("whole", pa.decimal128(30, 0)),
            ("parts", pa.map_(pa.string(), pa.list_(pa.int64()))),
        ]
    )
    row = {"day": date(2024, 2, 29), "sum": Decimal("1.10"), "whole": Decimal(10**25)}
    column = pa.array([{**row, "parts": [("x", [1, None])]}, None], kind)
    file = write(tmp_path / "t.parquet", {"id": ["a", "b"], "document": column})
    document = {"day": "2024-02-29", "sum": 1.1, "whole": 10**25, "parts": {"x": [1, None]}}
    assert values(file) == {"a": document}


def test_what_json_cannot_hold_is_a_problem_of_its_row(tmp_path: Path):
    column = pa.array([{"n": 1.0, "b": None}, {"n": float("nan"), "b": None}, {"b": b"x"}])
    file = write(tmp_path / "t.parquet", {"id": ["a", "b", "c"], "document": column})
    read = values(file)
    assert read["a"] == {"n": 1.0, "b": None}
    assert problem_text(read["b"]).startswith(f"{file}:2:7: NaN is not JSON")
    assert (
        problem_text(read["c"])
        == f"{file}:3:1: this value cannot be converted to JSON: a value is of type bytes"
    )


def test_a_column_of_numbers_holds_no_documents(tmp_path: Path):
    file = write(tmp_path / "t.parquet", {"id": ["a"], "document": [1]})
    with pytest.raises(
        UsageError, match=("the column document has the type int64, expected a column of JSON")
    ):
        values(file)


def test_ids_that_lack_or_occur_twice_are_problems_as_in_json_lines(tmp_path: Path):
    file = write(tmp_path / "t.parquet", {"id": ["a", None, "a"], "document": ["{}"] * 3})
    read = values(file)
    assert [*read] == ["a", "gt row 2", "gt row 3"]
    assert (
        problem_text(read["gt row 2"])
        == f"{file}:2:1: the row has no id, expected an id in every row of the file"
    )
    twice = "the id 'a' is also on row 1, expected a different id in each row"
    assert problem_text(read["gt row 3"]) == f"{file}:3:1: {twice}"
    assert problem_text(values(file, "pred")["a"]) == f"{file}:3:1: {twice}"


def test_a_document_that_is_too_large_is_a_problem(tmp_path: Path):
    text = json.dumps({"n": "x" * LIMIT})
    file = write(tmp_path / "t.parquet", {"id": ["a"], "document": [text]})
    assert "the document has 1,009 bytes" in problem_text(values(file)["a"])


@pytest.mark.parametrize(("suffix", "kind"), [("parquet", "a Parquet"), ("arrow", "an Arrow IPC")])
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, suffix: str, kind: str):
    (tmp_path / f"t.{suffix}").write_bytes(b"{}" * 100)
    with pytest.raises(UsageError, match=f"expected {kind} file"):
        values(str(tmp_path / f"t.{suffix}"))


def test_a_table_that_is_damaged_further_on_says_where(tmp_path: Path):
    columns = {"id": [*map(str, range(4))], "document": ['{"n": "' + "x" * 500 + '"}'] * 4}
    file = write(tmp_path / "t.parquet", columns)
    data = bytearray(Path(file).read_bytes())
    group = parquet.ParquetFile(file).metadata.row_group(1).column(1)
    start = group.dictionary_page_offset or group.data_page_offset
    data[start : start + 40] = b"\xff" * 40
    Path(file).write_bytes(data)
    read = values(file)
    assert [*read] == ["0", "1", "gt row 3"]
    message = problem_text(read["gt row 3"])
    assert message.startswith(f"{file}:3:1: this row and the rows after it cannot be read (")
    assert message.endswith("); the file may be damaged: write or copy it again")
    assert "\n" not in message


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_rows_of_a_table_of_pairs_are_pairs(tmp_path: Path, suffix: str):
    columns = {
        "prediction": ['{"n":2}', None, "{}"],
        "ground_truth": ['{"n":1}', "{}", None],
        "id": ["a", "b", "c"],
    }
    file = write(tmp_path / f"t.{suffix}", columns)
    assert pairs(file) == [("a", {"n": 1}, {"n": 2}), ("b", {}, None), ("c", None, {})]


def test_pairs_without_ids_are_known_by_their_row(tmp_path: Path):
    columns = {"ground_truth": ["{}", "{}"], "prediction": ["{}", "{}"]}
    file = write(tmp_path / "t.parquet", columns)
    assert [name for name, _, _ in pairs(file)] == ["row 1", "row 2"]


def test_pairs_of_which_two_have_one_id_count_once(tmp_path: Path):
    columns = {"id": ["a", "a"], "ground_truth": ["{}", "{}"], "prediction": ["{}", "{}"]}
    first, second = pairs(write(tmp_path / "t.parquet", columns))
    assert first == ("a", {}, {})
    assert second[0] == "gt row 2"
    assert "also on row 1" in problem_text(second[1])


def test_a_table_of_pairs_knows_how_many_there_are(tmp_path: Path):
    columns = {"ground_truth": ["{}"] * 3, "prediction": ["{}"] * 3}
    file = write(tmp_path / "t.parquet", columns)
    assert open_pairs(file, file, EvalSettings(gt=file, pred=file, pairs=file)).total == 3


def test_lines_of_pairs_hold_documents_or_their_text(tmp_path: Path):
    file = lines(
        tmp_path / "t.jsonl",
        '{"id": 7, "ground_truth": {"n": 1}, "prediction": "{\\"n\\": 2}"}',
        '{"ground_truth": {}, "prediction": null}',
        '{"id": "x"}',
        "{",
    )
    first, second, third, fourth = pairs(file)
    assert first == ("7", {"n": 1}, {"n": 2})
    assert second == ("line 2", {}, None)
    assert "the row has no column for the ground truth or the prediction" in problem_text(third[1])
    assert problem_text(fourth[1]).startswith(f"{file}:4:2: not valid JSON")


def test_documents_in_lines_of_pairs_are_read_exactly(tmp_path: Path):
    big = 12345678901234567890123
    text = f'{{"ground_truth": {{"n": {big}}}, "prediction": {{"a": 1, "a": 2}}}}'
    file = lines(tmp_path / "t.jsonl", text)
    settings = EvalSettings(gt=file, pred=file, pairs=file)
    (pair,) = open_pairs(file, file, settings)
    assert pair.gt == {"n": big}
    assert pair.remarks == ("duplicate_keys",)


def test_a_json_file_is_no_table_of_pairs(tmp_path: Path):
    file = lines(tmp_path / "t.json", "{}")
    with pytest.raises(UsageError) as refused:
        pairs(file)
    assert str(refused.value) == (
        f"--pairs: {file} is a JSON file without an array, expected an array of pairs in a .json "
        "file, or a table of pairs such as a .csv file"
    )


def test_names_do_not_pair_where_rows_do(tmp_path: Path):
    file = lines(tmp_path / "t.jsonl", "{}")
    with pytest.raises(UsageError, match="--pairs already pairs the documents"):
        pairs(file, pair_by="x")


def test_a_table_goes_with_a_directory_and_with_lines(tmp_path: Path):
    table = write(tmp_path / "t.parquet", {"id": ["a"], "document": ['{"n":1}']})
    (tmp_path / "pred").mkdir()
    (tmp_path / "pred" / "a.json").write_text('{"n":2}')
    (pair,) = open_pairs(table, str(tmp_path / "pred"))
    assert (pair.gt, pair.pred) == ({"n": 1}, {"n": 2})
    file = lines(tmp_path / "p.jsonl", '{"id": "a"}')
    with pytest.raises(
        UsageError, match=("to pair JSON Lines with another kind of source, give --id-field")
    ):
        open_pairs(table, file)
    (pair,) = open_pairs(table, file, EvalSettings(id_field="id"))
    assert (pair.gt, pair.pred) == ({"n": 1}, {"id": "a"})


def test_one_table_by_itself_gives_its_documents(tmp_path: Path):
    file = write(tmp_path / "t.parquet", {"id": ["a"], "document": ["{}"]})
    references: list[tuple[str, Reference]] = [*open_documents(file, FindingOptions()).refs()]
    assert [name for name, _ in references] == ["a"]


LATE = 10**15  # milliseconds: in the year 33658
TWICE = pa.map_(pa.string(), pa.int64())


@pytest.mark.parametrize(
    ("column", "why"),
    [
        ([{"n": 1, "t": value} for value in (0, LATE)], "date value out of range"),
        ([[("n", 1)], [("n", 1), ("n", 2)]], "duplicate key was 'n'"),
        ([{"n": 1, "t": value} for value in (None, 2**62)], "too large"),
    ],
    ids=["year", "key", "duration"],
)
def test_a_row_that_cannot_be_read_is_the_failure_of_its_document_alone(
    tmp_path: Path, column: list[Any], why: str
):
    kinds = {"year": pa.timestamp("ms"), "too large": pa.duration("ms")}
    if isinstance(column[0], dict):
        kind = kinds["year" if "date" in why else "too large"]
        times = pa.array([row["t"] for row in column], pa.int64()).cast(kind)
        numbers = pa.array([row["n"] for row in column])
        array = pa.StructArray.from_arrays([numbers, times], ["n", "t"])
    else:
        array = pa.array(column, TWICE)
    file = write(tmp_path / "t.parquet", {"id": ["a", "b"], "document": array})

    read = values(file)

    assert read["a"]["n"] == 1
    assert "t.parquet:2:1: the value cannot be read: " in problem_text(read["b"])
    assert why in problem_text(read["b"])


def test_an_id_that_cannot_be_read_is_that_of_its_row_alone(tmp_path: Path):
    ids = pa.array([0, LATE], pa.int64()).cast(pa.timestamp("ms"))
    file = write(tmp_path / "t.parquet", {"id": ids, "document": ["{}", "{}"]})

    assert len(values(file)) == 2


@pytest.mark.parametrize("name", ["id", "document"])
def test_a_column_that_is_named_twice_is_refused(tmp_path: Path, name: str):
    file = tmp_path / "t.parquet"
    columns = [pa.array(["a"]), pa.array(["{}"]), pa.array(["{}"])]
    parquet.write_table(pa.Table.from_arrays(columns, ["id", "document", name]), file)

    with pytest.raises(
        UsageError, match=f'several columns are named "{name}", expected different names'
    ):
        values(str(file))


def test_whichever_byte_is_another_one_the_file_is_named_or_read(tmp_path: Path):
    table_path = Path(
        write(tmp_path / "t.parquet", {"id": ["a", "b", "c"], "document": ["{}"] * 3})
    )
    data = table_path.read_bytes()
    for offset in range(0, len(data), 23):
        flipped = tmp_path / "flipped.parquet"
        flipped.write_bytes(data[:offset] + bytes([data[offset] ^ 0x55]) + data[offset + 1 :])
        try:
            problems = [
                document
                for document in values(str(flipped)).values()
                if isinstance(document, Problem)
            ]
        except UsageError as error:
            problems = [*error.problems]
        assert all("flipped.parquet" in str(problem) for problem in problems)
