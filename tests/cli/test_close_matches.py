"""Values that match without being equal: the note on them, their list, and how to reject them."""

import csv
import json

import pytest

from stickler_cli.cli import main
from stickler_cli.core.match_differences import DIFFERENCES
from stickler_cli.core.match_differences import REMEDIES as REMEDIES_IN_NOTES

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
NOTES = (
    "note: 3 values counted as right although not exactly equal to the ground truth; "
    "--values FILE lists these values\n"
    "note: 1 value counted as right despite a different word, in summary: 'apixaban' predicted "
    "as 'rivaroxaban' in d0; "
    'to count it as wrong, set "same_letters": true in the comparator-config\n'
    "note: 1 value counted as right despite different letters in a word, in supplier: 'trucks' "
    "predicted as 'truks' in d1; "
    'to count it as wrong, set "same_letters": true in the comparator-config\n'
    "note: 1 value counted as right despite a currency or unit added or missing, in total: '$6.00' "
    "predicted as '6.00' in d1; to count it as wrong, use CaseInsensitiveComparator\n"
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
    assert NOTES in captured.out
    assert "counted as right" not in captured.err


def test_other_formats_have_the_note_on_standard_error_and_json_has_the_counts(documents, capsys):
    assert main(["eval", "gt", "pred", "-f", "json"]) == 0

    captured = capsys.readouterr()
    assert NOTES in captured.err
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
    assert "counted as right" not in captured.err


def test_the_page_has_the_note(documents):
    assert main(["eval", "gt", "pred", "-q", "-o", "page.html"]) == 0

    assert ("values counted as right although not exactly equal") in (
        documents / "page.html"
    ).read_text("utf-8")


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
    assert "note: 1 value counted as right although not exactly equal" in captured.err
    assert (
        "note: 1 value counted as right despite a currency or unit added or missing" in captured.err
    )


@pytest.mark.parametrize("infer", ["auto", "always", "never"])
def test_a_schema_that_counts_words_has_the_note_in_every_mode(documents, capsys, infer):
    key = "x-aws-stickler-comparator"
    name = {"type": "string", key: "FuzzyComparator", f"{key}-config": {"same_words": True}}
    schema = {"type": "object", "properties": {"supplier": name}}
    (documents / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    arguments = ["eval", "schema.json", "gt", "pred", "-f", "json", "--infer", infer]
    assert main(arguments) == 0

    assert ", in supplier: 'trucks' predicted as 'truks' in d1;" in capsys.readouterr().err


REMEDIES = [
    ("another word", "text", LONG, OTHER, {"same_letters": True}),
    ("other letters", "supplier", "Ford Motors", "Fjord Motors", {"same_letters": True}),
    (
        "a word more or less",
        "supplier",
        "Consolidated Delta Air Lines",
        "Consolidated Delta Lines",
        1,
    ),
    ("words joined or split", "city", "Newcastle", "New Castle", "CaseInsensitiveComparator"),
    (
        "a sign more or less",
        "terms",
        "interest at 7% on the loan of a year",
        "interest at 7 on the loan of a year",
        "CaseInsensitiveComparator",
    ),
    ("another order", "name", "Thomas James", "James Thomas", "CaseInsensitiveComparator"),
    ("another number", "total", "12.34", "12.35", None),
    ("no currency or unit", "total", "$5", "5", "CaseInsensitiveComparator"),
    ("thousands or decimals", "total", "1,234", "1.234", {"decimal": "auto"}),
    ("day or month first", "date", "2024-03-04", "04/03/2024", {"dayfirst": False}),
    ("other capitals", "element", "CO", "Co", "CodeComparator"),
    ("other separators", "plate", "B-MW 1234", "BM-W 1234", "CaseInsensitiveComparator"),
    ("small overlap", "bbox", [0, 0, 10, 10], [0, 0, 10, 6], 0.75),
]


@pytest.mark.parametrize(("difference", "field", "gt", "pred", "remedy"), REMEDIES)
def test_the_remedy_of_each_difference_makes_it_wrong(
    tmp_path, monkeypatch, capsys, difference, field, gt, pred, remedy
):
    monkeypatch.chdir(tmp_path)
    for side, value in (("gt", gt), ("pred", pred)):
        (tmp_path / f"{side}.jsonl").write_text(json.dumps({field: value}), encoding="utf-8")
    assert main(["init", "gt.jsonl", "-o", "schema.json", "-q"]) == 0
    schema = json.loads((tmp_path / "schema.json").read_text("utf-8"))
    assert main(["eval", "gt.jsonl", "pred.jsonl", "-f", "json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["confusion_matrix"]["leaves"]["tp"] == 1
    assert f", in {field}: " in captured.err
    one_order = "to accept only one of the two orders"
    aim = one_order if difference == "day or month first" else "to count it as wrong"
    assert f"; {aim}, {REMEDIES_IN_NOTES[difference]}\n" in captured.err

    place, key = schema["properties"][field], "x-aws-stickler-comparator"
    match remedy:
        case str():
            del place[f"{key}-config"]
            place[key] = remedy
        case dict():
            place[f"{key}-config"] = {**place.get(f"{key}-config", {}), **remedy}
        case None:
            del place[f"{key}-config"]["absolute_tolerance"]
        case threshold:
            place["x-aws-stickler-threshold"] = threshold
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    assert main(["eval", "schema.json", "gt.jsonl", "pred.jsonl", "-f", "json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["confusion_matrix"]["leaves"]["fd"] == 1
    assert "counted as right" not in captured.err


@pytest.mark.parametrize(("day_first", "wrong"), [(True, 0), (False, 1)])
def test_a_stated_order_of_day_and_month_decides_about_a_date_without_a_note(
    tmp_path, monkeypatch, capsys, day_first, wrong
):
    monkeypatch.chdir(tmp_path)
    dates = {"gt": "2024-03-04", "pred": "04/03/2024"}
    for side, text in dates.items():
        (tmp_path / f"{side}.jsonl").write_text(json.dumps({"date": text}), encoding="utf-8")
    comparator = {
        "x-aws-stickler-comparator": "DateComparator",
        "x-aws-stickler-comparator-config": {"dayfirst": day_first},
    }
    schema = {"type": "object", "properties": {"date": {"type": "string", **comparator}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")

    assert main(["eval", "schema.json", "gt.jsonl", "pred.jsonl", "-f", "json"]) == 0

    captured = capsys.readouterr()
    assert json.loads(captured.out)["confusion_matrix"]["leaves"]["fd"] == wrong
    assert "counted as right" not in captured.err


def test_each_difference_has_a_remedy_that_was_tried():
    assert {difference for difference, *_ in REMEDIES} == {*DIFFERENCES}


def test_two_examples_with_other_texts_are_shown_and_long_texts_are_cut(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    names = [("Ford Motors", "Fjord Motors"), ("Volvo Trucks", "Volvo Truks")]
    rows = [{"buyer": gt, "seller": gt} for gt, _ in names]
    other_documents = [{"buyer": pred, "seller": pred} for _, pred in names]
    long_name = "Anna Maria Katharina Elisabeth Josefine Hansen"
    rows.append({"buyer": "Tom Bell", "seller": long_name})
    other_documents.append(
        {"buyer": "Tom Bell", "seller": f"Hansen {long_name.removesuffix(' Hansen')}"}
    )
    for side, documents in (("gt", rows), ("pred", other_documents)):
        lines = "\n".join(map(json.dumps, documents))
        (tmp_path / f"{side}.jsonl").write_text(lines, encoding="utf-8")

    assert main(["eval", "gt.jsonl", "pred.jsonl", "-f", "json"]) == 0

    err = capsys.readouterr().err
    assert (
        "note: 4 values counted as right despite different letters in a word, in buyer (2), "
        "seller (2): 'ford' predicted as 'fjord' in line 1, 'trucks' predicted as "
        "'truks' in line 2; to count them as wrong, "
    ) in err
    assert "'Anna Maria Katharina Elisabeth Josefi...' predicted as 'Hansen Anna Maria" in err
