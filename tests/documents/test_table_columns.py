"""The columns of a table of pairs are chosen once, in the same way for every format."""

import csv
import json
from pathlib import Path

import pytest

from stickler_cli.cli.app import main
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.documents.document import read_document
from stickler_cli.documents.document_tables import column_names, rows_of
from stickler_cli.documents.pairs import pairs_of_table

FORMATS = ["csv", "tsv", "jsonl", "json", "parquet", "arrow"]
LIMIT = 10_000


def write_table(path: Path, columns: dict[str, list[str | None]]) -> str:
    """Write a table, given the texts of each column; None is an empty cell."""
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    match path.suffix:
        case ".csv" | ".tsv":
            with path.open("w", newline="") as stream:
                comma = "," if path.suffix == ".csv" else "\t"
                csv.writer(stream, delimiter=comma).writerows(
                    [list(columns), *(row.values() for row in rows)]
                )
        case ".jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        case ".json":
            path.write_text(json.dumps(rows))
        case _:
            pa = pytest.importorskip("pyarrow")
            table = pa.table(
                {name: pa.array(cells, pa.string()) for name, cells in columns.items()}
            )
            if path.suffix == ".parquet":
                pytest.importorskip("pyarrow.parquet").write_table(table, path)
            else:
                with (
                    pa.OSFile(str(path), "wb") as sink,
                    pa.ipc.new_file(sink, table.schema) as file,
                ):
                    file.write_table(table)
    return str(path)


def documents(file: str) -> list[list[object]]:
    """Return the ground truth and the prediction of each row; a problem is given as text."""
    return [
        [
            None if document is None else str(value) if isinstance(value, Problem) else value
            for document in row.documents
            for value in [None if document is None else read_document(document).value]
        ]
        for row in rows_of(file, ("gt", "pred"), LIMIT)
    ]


TWO_OF_EACH = {
    "id": ["1", "2"],
    "output": ['{"o": 1}', '{"o": 2}'],
    "expected": ['{"e": 1}', '{"e": 2}'],
    "gt": [None, '{"g": 2}'],
    "pred": ['{"p": 1}', None],
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_empty_cell_does_not_lead_to_another_column(tmp_path: Path, suffix: str):
    file = write_table(tmp_path / f"t.{suffix}", TWO_OF_EACH)

    assert documents(file) == [[None, {"p": 1}], [{"g": 2}, None]]


@pytest.mark.parametrize("suffix", FORMATS)
def test_two_columns_for_a_side_give_a_note_that_names_both(tmp_path: Path, suffix: str):
    file = write_table(tmp_path / f"t.{suffix}", TWO_OF_EACH)

    assert sorted(column_names(file, LIMIT)) == sorted(TWO_OF_EACH)
    assert [str(note) for note in pairs_of_table(file, LIMIT).problems] == [
        f"{file}: the columns {columns} could contain the {title}; {advice}"
        for columns, title, advice in (
            (
                "'gt' and 'expected'",
                "ground truth",
                "'gt' is used; to use another column, give --gt-column",
            ),
            (
                "'pred' and 'output'",
                "prediction",
                "'pred' is used; to use another column, give --pred-column",
            ),
        )
    ]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ({"gt": "--gt-column", "pred": None}, "no column contains the documents of PRED"),
        ({"pred": "--pred-column", "gt": None}, "no column contains the documents of GT"),
    ],
)
def test_a_header_without_a_column_for_a_side_is_an_error(
    tmp_path: Path, suffix: str, missing: dict[str, str | None], message: str
):
    (present,) = (side for side, option in missing.items() if option)
    file = write_table(tmp_path / f"t.{suffix}", {"id": ["1"], present: ["{}"], "other": ["{}"]})

    with pytest.raises(UsageError, match=message):
        documents(file)


def test_a_row_of_json_lines_with_another_column_is_a_problem(tmp_path: Path):
    file = tmp_path / "t.jsonl"
    rows = [
        {"expected": {"n": 1}, "output": {"n": 1}},
        {"output": {"n": 2}},  # no ground truth: exporters leave nulls out
        {"gt": {"n": 3}, "output": {"n": 3}},
        {"gt": {"n": 4}, "expected": {"n": 5}, "output": {"n": 4}},
        {"expected": {"n": 6}, "output": {"n": 6}},
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    problem = (
        "this row has its ground truth in the column 'gt', but row 1 has it in the column "
        "'expected', expected the same columns in each row; give one column with --gt-column"
    )

    assert documents(str(file)) == [
        [{"n": 1}, {"n": 1}],
        [None, {"n": 2}],
        [f"{file}:3:1: {problem}"] * 2,
        [f"{file}:4:1: {problem}"] * 2,
        [{"n": 6}, {"n": 6}],
    ]


def test_the_first_row_with_a_column_for_a_side_decides(tmp_path: Path):
    file = tmp_path / "t.jsonl"
    file.write_text(
        'broken\n{"pred": {}}\n{"label": {"n": 1}, "pred": {}}\n{"gt": {}, "pred": {}}\n'
    )

    assert [row[0] for row in documents(str(file))[1:3]] == [None, {"n": 1}]
    assert column_names(str(file), LIMIT) == ["pred"]
    assert "row 3 has it in the column 'label'" in str(documents(str(file))[3][0])


def test_a_short_row_of_csv_has_empty_cells(tmp_path: Path):
    (tmp_path / "t.csv").write_text('expected,pred,gt\n"{""n"": 1}"\n"{}","{}","{""n"": 2}"\n')

    assert documents(str(tmp_path / "t.csv")) == [[None, None], [{"n": 2}, {}]]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_schema_is_inferred_from_the_column_that_is_compared(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    columns = {"expected": ['{"x": 1}'] * 2, "gt": [None, '{"n": 1}'], "pred": ['{"n": 1}'] * 2}
    file = write_table(tmp_path / f"t.{suffix}", columns)

    assert main(["eval", "--pairs", file, "-f", "json", "--no-config"]) == 0
    out, err = capsys.readouterr()
    assert [field["field"] for field in json.loads(out)["fields"]] == ["n"]
    assert "could contain the ground truth; 'gt' is used" in out
    if suffix != "parquet":
        command = err.split("`")[1].split()
        assert command[1:5] == ["init", file, "--gt-root", "gt"]
        assert main(command[1:]) == 0
        assert json.loads(Path("schema.json").read_text())["properties"].keys() == {"n"}


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            b"id#\n1#x\n",
            2,
            (
                "t.{}: column 2 has no name in the header, expected a name for each column; name "
                "the column or delete it\n"
            ),
        ),
        (
            b"#id\n0#x\n",
            2,
            (
                "t.{}: column 1 has no name in the header, expected a name for each column; name "
                "the column or delete it (if pandas wrote the file, that column is the index; "
                "to_csv(..., index=False) leaves it out)\n"
            ),
        ),
        (b"id#caf\xe9\n1#x\n", 2, "t.{}: the header has the byte 0xe9 in column 2, which is not"),
        ("id#a\n1#x\n".encode("utf-16"), 2, "t.{}: the header has text that is encoded as UTF-16"),
        (b"id#a\n1#x\n2#caf\xe9\n", 3, "t.{}:2:1: the row has the byte 0xe9 in column 2, which is"),
        (b'id#a\n1#"x\n', 2, "the quoted cell that begins on line 2 of the file has no closing"),
    ],
)
def test_a_faulty_table_is_told_in_words_of_tables(
    tmp_path: Path,
    suffix: str,
    text: bytes,
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
):
    comma = "," if suffix == "csv" else "\t"
    text = text.replace(b"#\x00", f"{comma}\0".encode()).replace(b"#", comma.encode())
    file = tmp_path / f"t.{suffix}"
    file.write_bytes(text)

    assert main(["eval", str(file), str(file), "--no-config"]) == code
    err = capsys.readouterr().err
    assert message.format(suffix) in err
    assert "JSON" not in err
