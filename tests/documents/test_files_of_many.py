"""Files with many documents: JSON arrays, CSV and TSV; and a single document from a pipe."""

import gzip
import json
import subprocess
import sys

import pytest

from stickler_cli.cli import main
from stickler_cli.documents.lines import holds_array

FIELDS = {"id": {"type": "string"}, "total": {"type": "number"}}
SELLER = {"type": "object", "properties": {"name": {"type": "string"}}}
SCHEMA = {"type": "object", "properties": {**FIELDS, "seller": SELLER}}
ONE = {"id": "a", "total": 1.5, "seller": {"name": "x"}}
TWO = {"id": "b", "total": 2, "seller": {"name": "y"}}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def evaluated(capsys, *sources):
    code = main(["eval", "schema.json", *sources, "--no-config", "-f", "json", "-q"])
    return code, json.loads(capsys.readouterr().out)


def counts(record):
    return tuple(record["confusion_matrix"]["leaves"][name] for name in ("tp", "fd", "fa", "fn"))


def test_an_array_is_a_list_of_documents_where_the_schema_is_of_objects(place, capsys):
    (place / "gt.json").write_text("\ufeff " + json.dumps([ONE, TWO], indent=1))
    (place / "pred.json").write_text(json.dumps([TWO, {**ONE, "total": 7}]))

    code, record = evaluated(capsys, "gt.json", "pred.json", "--id-field", "id")
    assert (code, counts(record)) == (0, (5, 1, 0, 0))
    assert [document["id"] for document in record["per_document"]] == ["a", "b"]
    (note,) = record["notes"]
    assert note == (
        "gt.json: this file is a JSON array, so each element is one document; documents "
        "are paired by --id-field"
    )

    _, record = evaluated(capsys, "gt.json", "pred.json")
    assert counts(record) == (0, 6, 0, 0)
    assert "by their position" in record["notes"][0]


def test_an_array_on_the_side_of_predictions_alone_is_one_document_with_a_hint(place, capsys):
    (place / "gt.json").write_text(json.dumps(ONE))
    (place / "pred.json").write_text(json.dumps([ONE, TWO]))
    code, record = evaluated(capsys, "gt.json", "pred.json")
    assert code == 3
    assert ("to evaluate several documents, put them into a JSON Lines file") in record["problems"][
        0
    ]["problem"]


def test_an_array_of_a_schema_of_arrays_is_one_document(place, capsys):
    (place / "schema.json").write_text(json.dumps({"type": "array", "items": SCHEMA}))
    (place / "gt.json").write_text(json.dumps([ONE, TWO]))
    code, record = evaluated(capsys, "gt.json", "gt.json")
    assert (code, record["documents"]["total"], record["notes"]) == (0, 1, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[{} {}]", "not valid JSON: a comma or the closing bracket of the array is missing"),
        ("[{}", "not valid JSON: a comma or the closing bracket of the array is missing"),
        ("[{}, nope]", "not valid JSON: no JSON value begins at character 6 of the file"),
        (
            f"[{'[' * 100_000}",
            "gt.json:1:1: the document is nested too deeply, expected at most 1024 levels",
        ),
    ],
)
def test_an_array_that_breaks_off_is_a_problem_in_its_place(place, capsys, text, problem):
    (place / "gt.json").write_text(text)
    code, record = evaluated(capsys, "gt.json", "gt.json")
    assert code == 3
    assert any(problem in problem_record["problem"] for problem_record in record["problems"])


def test_arrays_are_as_large_as_a_document_may_be(place, capsys):
    (place / "gt.json").write_text(json.dumps([ONE] * 20))
    code, record = evaluated(capsys, "gt.json", "gt.json", "--max-document-size", "500")
    assert code == 3
    assert "the JSON array has more than 500 bytes" in record["problems"][0]["problem"]


@pytest.mark.parametrize(("suffix", "comma"), [("csv", ","), ("tsv", "\t"), ("CSV", ",")])
def test_columns_are_fields_and_dotted_names_are_nested(place, capsys, suffix, comma):
    rows = [
        ["id", "total", "seller.name", "not a [path"],
        ["a", "1.5", "x", ""],
        ["b", "2", "", ""],
    ]
    (place / f"gt.{suffix}").write_text("\n".join(map(comma.join, rows)))
    (place / "pred.jsonl").write_text(f"{json.dumps(TWO)}\n{json.dumps(ONE)}\n")

    code, record = evaluated(capsys, f"gt.{suffix}", "pred.jsonl", "--id-field", "id")
    assert (code, counts(record)) == (0, (5, 0, 1, 0))
    _, record = evaluated(capsys, f"gt.{suffix}", f"gt.{suffix}")
    assert [document["id"] for document in record["per_document"]] == ["line 1", "line 2"]


@pytest.mark.parametrize(
    "header", ['"id","total","seller.name"', 'id,total,"seller.name"', '"id",total,seller.name']
)
def test_a_byte_order_mark_leaves_the_first_column_its_name(place, capsys, header):
    (place / "gt.csv").write_text(f'\ufeff{header}\n"a","1.5","x"\n', encoding="utf-8")
    (place / "pred.jsonl").write_text('{"id": "a", "total": 1.5, "seller": {"name": "x"}}\n')

    code, record = evaluated(capsys, "gt.csv", "pred.jsonl", "--id-field", "id")

    assert (code, record["documents"]["evaluated"]) == (0, 1)
    assert counts(record) == (3, 0, 0, 0)


def test_blank_lines_of_a_table_are_no_documents_and_move_none(place, capsys):
    (place / "gt.csv").write_text("id,total\na,1\n\nb,2\n\n", encoding="utf-8")
    (place / "pred.csv").write_text("id,total\na,1\nb,2\n", encoding="utf-8")

    code, record = evaluated(capsys, "gt.csv", "pred.csv")

    assert (code, record["documents"]["evaluated"]) == (0, 2)
    assert [document["id"] for document in record["per_document"]] == ["line 1", "line 2"]


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        ("a,a.b", '"a" (column 1)', '"a.b" (column 2)'),
        ("a.b,a", '"a.b" (column 1)', '"a" (column 2)'),
        ("a,b,a", '"a" (column 1)', '"a" (column 3)'),
        ("a[0],a.0", '"a[0]" (column 1)', '"a.0" (column 2)'),
        ("a.b.c,x,a", '"a.b.c" (column 1)', '"a" (column 3)'),
        ("x,,", '"" (column 2)', '"" (column 3)'),
    ],
)
@pytest.mark.parametrize("sides", [("bad.csv", "ok.jsonl"), ("ok.jsonl", "bad.csv")])
def test_columns_for_one_place_are_both_named(place, capsys, header, first, second, sides):
    (place / "ok.jsonl").write_text(json.dumps(ONE))
    (place / "bad.csv").write_text(f"{header}\n1,2,3\n")

    assert main(["eval", "schema.json", *sides, "--no-config"]) == 2
    error = capsys.readouterr().err
    assert (
        f"bad.csv: the columns {first} and {second} both give the same field of the document"
        in error
    )


def test_a_row_of_more_cells_than_the_header_is_a_problem(place, capsys):
    (place / "gt.csv").write_text("id,total\na,1,250\nb,2\n")

    code, record = evaluated(capsys, "gt.csv", "gt.csv")

    assert code == 3
    (problem,) = record["problems"]
    assert (
        "the row has 3 cells, expected at most 2 cells, as in the header row" in problem["problem"]
    )
    assert record["documents"]["evaluated"] == 1


OPENS = "the quoted cell that begins on line"
BROKEN = {
    'id,total\n"a",1\n"b,2\nc,3\nd,4\n': (
        1,
        f"{OPENS} 3 of the file has no closing quote, expected a quote that closes the cell",
    ),
    'id,total\na,"1\n2"\nb,"1\n\n"",2\n': (1, f"{OPENS} 4 of the file has no closing quote"),
    'id,total\na,1\nb,"2\nc,"3"\nd,4\n': (
        1,
        (
            f"{OPENS} 3 of the file ends on line 4, but text follows its closing quote, "
            "expected a comma or a line break"
        ),
    ),
    'id,total\na,"say \\"hi\\""\n': (
        0,
        f"{OPENS} 2 of the file ends on line 2, but text follows its closing quote",
    ),
    'id,"total\na,1\n': (0, f"{OPENS} 1 of the file has no closing quote"),
    "id,total\na,1\rb,2\n": (0, "cannot be read as CSV: new-line character seen in unquoted field"),
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
@pytest.mark.parametrize("text", BROKEN)
def test_a_row_that_is_no_csv_is_named_and_the_last(place, capsys, text, suffix):
    documents, message = BROKEN[text]
    content = text.replace(",", "\t" if suffix == "tsv" else ",").encode()
    (place / f"gt.{suffix}").write_bytes(gzip.compress(content) if "gz" in suffix else content)

    code, record = evaluated(capsys, f"gt.{suffix}", f"gt.{suffix}")

    assert code == 3
    (problem,) = record["problems"]
    assert problem["document"] == f"line {documents + 1}"
    assert message in problem["problem"]
    assert (record["documents"]["evaluated"], record["documents"]["total"]) == (
        documents,
        documents + 1,
    )


def test_a_cell_of_a_table_is_as_long_as_a_document_may_be(place, capsys):
    (place / "gt.csv").write_text("id,total\n" + "x" * 200_000 + ",1\nb,2\n")
    code, record = evaluated(capsys, "gt.csv", "gt.csv")
    assert (code, record["documents"]["evaluated"]) == (0, 2)

    (place / "gt.csv").write_text("id\na\n" + "x" * 495 + "\nb\n")
    _, record = evaluated(capsys, "gt.csv", "gt.csv", "--max-document-size", "500")
    assert "the row has 504 bytes, expected at most 500" in record["problems"][0]["problem"]
    assert record["documents"]["evaluated"] == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "x" * 6000,
            "gt.csv:2:1: this file cannot be read as CSV: the row has more than 500 bytes",
        ),
        (
            "é" * 6000,
            "gt.csv:2:1: this file cannot be read as CSV: the row has more than 500 bytes",
        ),
        (
            '"' + "x\n" * 3000,
            f"more than 500 bytes, and {OPENS} 3 of the file is never clo",
        ),
        (
            '"' + "x" * 6000 + '"',
            f"more than 500 bytes, and {OPENS} 3 of the file is never closed",
        ),
    ],
)
def test_a_row_without_end_is_read_up_to_the_limit(place, capsys, row, message):
    (place / "gt.csv").write_text(f"id\na\n{row}", encoding="utf-8")

    _, record = evaluated(capsys, "gt.csv", "gt.csv", "--max-document-size", "500")

    assert message in record["problems"][0]["problem"]
    assert record["documents"]["evaluated"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "sources", ["one.json -", "- one.json", "one.json /dev/stdin", "<(cat one.json) one.json"]
)
def test_one_document_may_come_by_a_pipe(place, sources):
    (place / "one.json").write_text(json.dumps(ONE, indent=1))
    command = (
        f"cat one.json | {sys.executable} -m stickler_cli eval schema.json {sources} -f json -q"
    )
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    record = json.loads(ran.stdout)
    assert counts(record) == (3, 0, 0, 0)
    assert record["per_document"][0]["id"] == "one"


@pytest.mark.slow
def test_a_document_by_a_pipe_may_be_too_large(place):
    (place / "one.json").write_text("{}")
    (place / "two.json").write_text(json.dumps(TWO))
    command_line = "eval schema.json one.json - -f json -q --max-document-size 10"
    command = f"cat two.json | {sys.executable} -m stickler_cli {command_line}"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "the document is too large" in ran.stdout


def test_a_file_that_is_not_there_holds_no_array(place):
    assert not holds_array("none.json")


@pytest.mark.parametrize(("n_steps", "code"), [(64, 0), (65, 2), (200_000, 2)])
def test_a_column_stands_for_a_place_of_64_levels_at_most(tmp_path, capsys, n_steps, code):
    file = tmp_path / "gt.csv"
    file.write_text(f"id,{'.'.join('a' * n_steps)}\n1,x\n")

    assert main(["eval", str(file), str(file), "--no-config"]) == code

    err = " ".join(capsys.readouterr().err.split())
    refusal = f"the name of column 2 has {n_steps:,} parts, expected at most 64 parts"
    assert (refusal in err) is (code == 2)
    assert ("rename the column" in err) is (code == 2)
