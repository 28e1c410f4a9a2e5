"""Each study has all formats; Markdown, pages and rows are made from the report's sections."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from stickler_cli.cli import main
from stickler_cli.studies.registry import STUDIES

FIXTURES = Path(__file__).parents[2] / "fixtures"
CALIBRATION = ("schema.json", "calibration-gt.jsonl", "calibration-pred.jsonl")
SOURCES = {
    "places": [
        *(str(FIXTURES / "places" / name) for name in ("schema.json", "gt.jsonl", "pred.jsonl")),
        *("--id-field", "id"),
    ],
    "audit": [
        str(FIXTURES / "audit" / "schema.json"),
        *(str(FIXTURES / "audit" / f"{name}.jsonl") for name in ("gt", "a", "b", "c")),
        *("--id-field", "id"),
    ],
    "split": [
        *(str(FIXTURES / "packets" / name) for name in ("gt.jsonl", "pred.jsonl")),
        *("--id-field", "packet"),
    ],
    "tune": [
        *(str(FIXTURES / "confidence" / name) for name in CALIBRATION),
        *("--id-field", "id"),
    ],
}


@pytest.fixture(scope="module")
def kept_outputs():
    """What studies have printed, by their arguments: several tests read the same output."""
    return {}


@pytest.fixture
def run_study(capsys, kept_outputs):
    def run(name, form, *more):
        arguments = (name, *SOURCES[name], "--no-config", "-f", form, *more)
        if arguments not in kept_outputs:
            code = main(arguments)
            captured = capsys.readouterr()
            assert code in {0, 1}, captured.err
            kept_outputs[arguments] = captured.out
        return kept_outputs[arguments]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*SOURCES} - {"tune"}))  # which finds nothing to change
def test_markdown_has_the_title_and_a_row_for_each_row_of_the_table(run_study, name):
    text, table = run_study(name, "markdown"), run_study(name, "table")
    title, sentence, *_ = table.splitlines()

    text_shown = re.sub("&#(\\d+);", lambda match: chr(int(match[1])), text)
    assert text_shown.startswith(f"### {title}\n\n- {sentence}\n\n| ")
    rows = [line for line in text.splitlines() if line.startswith("| ") and ":---" not in line]
    assert len(rows) > 5
    assert all(cell.strip() for row in rows for cell in row.strip("|").split("|"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_a_page_has_all_tables_and_lets_nothing_be_loaded(run_study, name):
    page = run_study(name, "html")

    assert 'content="default-src ' in page
    pictures = sum(page.count(f'<table class="{kind}"') for kind in ("heat", "stacked", "dots"))
    assert page.count("<table") - pictures == run_study(name, "markdown").count("\n| :---")
    assert run_study(name, "table").splitlines()[0] in page


@pytest.mark.slow
def test_rows_of_places_are_the_fields_with_both_ends_of_intervals(run_study):
    rows = [*csv.DictReader(io.StringIO(run_study("places", "csv")))]
    record = json.loads(run_study("places", "json"))

    assert [row["field"] for row in rows] == ["", *(field["field"] for field in record["fields"])]
    assert float(rows[0]["located_lower"]) == record["whole"]["located_interval"][0]
    assert float(rows[0]["located_upper"]) == record["whole"]["located_interval"][1]
    assert rows[0]["located"] == repr(record["whole"]["located"])
    single_rows = [*csv.DictReader(io.StringIO(run_study("places", "csv", "--ci", "none")))]
    assert (single_rows[0]["located_lower"], single_rows[0]["both_right"]) == (
        "",
        rows[0]["both_right"],
    )


def test_rows_of_packets_are_the_figures(run_study):
    rows = [json.loads(line) for line in run_study("split", "jsonl").splitlines()]
    figures = json.loads(run_study("split", "json"))["figures"]

    assert [(row["name"], row["value"]) for row in rows] == [
        (figure["name"], figure["value"]) for figure in figures
    ]


def test_rows_of_tune_are_the_fields(run_study):
    rows = [*csv.DictReader(io.StringIO(run_study("tune", "csv")))]
    fields = json.loads(run_study("tune", "json"))["fields"]

    assert [row["field"] for row in rows] == [field["field"] for field in fields]
    assert [row["reason"] for row in rows] == [field["reason"] for field in fields]


def test_rows_of_lint_are_the_places_of_its_findings(capsys):
    def linted(form):
        schema, gt = str(FIXTURES.parent / "schemas" / "resume.json"), str(FIXTURES / "resume/gt")
        main(["lint", schema, gt, "--no-config", "-f", form])
        return capsys.readouterr().out

    rows = [json.loads(line) for line in linted("jsonl").splitlines()]
    findings = json.loads(linted("json"))["findings"]
    assert [(row["rule"], row["file"], row["pointer"], row["found"]) for row in rows] == [
        (finding["rule"], place["file"], place["pointer"], place["found"])
        for finding in findings
        for place in finding["places"]
    ]
    assert linted("html").count("<p") > len(findings)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_says_what_its_answer_is_in(name):
    study = STUDIES[name]
    assert study.folder.startswith("stickler_cli.studies.")
    assert {"table", "json", "markdown", "html", "csv"} <= {*study.formats}
