"""Values that are right though not equal: the note, their list, and how they become wrong."""

import csv
import json

import pytest

from stickler_cli.cli import main

LONG = " ".join(
    f"{first}{second}{first}q" for first in "bcdfghklmnprst" for second in "aeiou"
)  # 70 content words that are unlike each other
OTHER = f"{LONG} rivaroxaban"
LONG = f"{LONG} apixaban"
GT = [
    {"summary": LONG, "supplier": "Ford Motors", "total": "$5.00"},
    {"summary": LONG, "supplier": "Volvo Trucks", "total": "$6.00"},
]
PRED = [
    {"summary": OTHER, "supplier": "Ford Motors", "total": "$5.00"},
    {"summary": LONG, "supplier": "Volvo Truks", "total": "6.00"},
]
CLAUSES = (
    "3 values called right though not equal: "
    "1 with another word (summary 1; 'apixaban' / 'rivaroxaban' in d0); "
    "1 with other letters (supplier 1; 'trucks' / 'truks' in d1); "
    "1 with no currency or unit (total 1; '$6.00' / '6.00' in d1); "
    '--values FILE lists them by difference, and "same_letters": true in a comparator-config '
    "makes other words wrong"
)


@pytest.fixture
def documents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    for side, values in (("gt", GT), ("pred", PRED)):
        (tmp_path / side).mkdir()
        for index, value in enumerate(values):
            (tmp_path / side / f"d{index}.json").write_text(json.dumps(value), encoding="utf-8")
    return tmp_path


def test_the_table_has_one_note_on_them(documents, capsys):
    assert main(["eval", "gt", "pred"]) == 0

    captured = capsys.readouterr()
    assert f"note: {CLAUSES}\n" in captured.out
    assert "called right" not in captured.err


def test_other_formats_have_the_note_on_standard_error_and_json_has_the_counts(documents, capsys):
    assert main(["eval", "gt", "pred", "-f", "json"]) == 0

    captured = capsys.readouterr()
    assert f"note: {CLAUSES}\n" in captured.err
    assert [
        (entry["field"], entry["difference"], entry["count"])
        for entry in json.loads(captured.out)["close_matches"]
    ] == [
        ("summary", "another word", 1),
        ("supplier", "other letters", 1),
        ("total", "no currency or unit", 1),
    ]


def test_nothing_is_noted_where_all_is_equal_or_the_run_is_quiet(documents, capsys):
    assert main(["eval", "gt", "gt", "-f", "json"]) == 0
    assert main(["eval", "gt", "pred", "-f", "json", "-q"]) == 0

    captured = capsys.readouterr()
    assert "called right" not in captured.err


def test_the_page_has_the_note(documents):
    assert main(["eval", "gt", "pred", "-q", "-o", "page.html"]) == 0

    assert "values called right though not equal" in (documents / "page.html").read_text("utf-8")


def test_values_are_listed_with_their_difference(documents):
    assert main(["eval", "gt", "pred", "-q", "--values", "values.csv"]) == 0

    with (documents / "values.csv").open(encoding="utf-8", newline="") as lines:
        differences = {
            (row["document"], row["field"]): row["difference"] for row in csv.DictReader(lines)
        }
    assert differences == {
        ("d0", "summary"): "another word",
        ("d0", "supplier"): "",
        ("d0", "total"): "",
        ("d1", "summary"): "",
        ("d1", "supplier"): "other letters",
        ("d1", "total"): "no currency or unit",
    }


def test_the_advice_makes_other_words_wrong(documents, capsys):
    assert main(["init", "gt", "-o", "schema.json", "-q"]) == 0
    schema = (documents / "schema.json").read_text("utf-8")
    stricter = schema.replace('"same_words": true', '"same_words": true, "same_letters": true')
    (documents / "schema.json").write_text(stricter, encoding="utf-8")
    assert main(["eval", "schema.json", "gt", "pred", "-f", "json"]) == 0

    captured = capsys.readouterr()
    leaves = json.loads(captured.out)["confusion_matrix"]["leaves"]
    assert (leaves["tp"], leaves["fd"]) == (4, 2)
    assert "1 value called right though not equal: 1 with no currency or unit" in captured.err


@pytest.mark.parametrize("infer", ["auto", "always", "never"])
def test_a_schema_that_counts_words_has_the_note_in_every_mode(documents, capsys, infer):
    key = "x-aws-stickler-comparator"
    name = {"type": "string", key: "FuzzyComparator", f"{key}-config": {"same_words": True}}
    schema = {"type": "object", "properties": {"supplier": name}}
    (documents / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    arguments = ["eval", "schema.json", "gt", "pred", "-f", "json", "--infer", infer]
    assert main(arguments) == 0

    assert "1 with other letters (supplier 1; 'trucks' / 'truks' in d1)" in capsys.readouterr().err
