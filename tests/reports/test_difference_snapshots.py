"""Whole reports of the difference between two runs of the receipts, and its JSON Schema."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import junitparser
import pytest
import xmlschema
from jsonschema import Draft202012Validator
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from stickler_cli.cli import main
from stickler_cli.core.rules import encoded
from stickler_cli.core.sections import Figures
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.row_reports import CHANGES, rows_of
from stickler_cli.runs.saved import load_run
from stickler_cli.score.gates import parse_gate
from stickler_cli.studies.diff.answer import LOWEST, compare_runs
from stickler_cli.studies.diff.record import Decision, Difference, Trend

ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).parent / "snapshots"
SCHEMA = json.loads((ROOT / "schemas" / "stickler-diff.json").read_text(encoding="utf-8"))
JUNIT = xmlschema.XMLSchema10(str(Path(__file__).parent / "junit-10.xsd"))
PAGE = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
GATES = ("f1>=-0.1", "currency.f1>=-0.01", "documents.worse<=9", "subtotal.f1.lower>=0")

STYLES = {
    "diff-80.txt": ("table", TableStyle(width=80, plain=False)),
    "diff-40.txt": ("table", TableStyle(width=40, plain=False)),
    "diff-color.txt": ("table", TableStyle(width=140, plain=False, color=True)),
    "diff-plain.txt": ("table", TableStyle()),
    "diff.md": ("markdown", TableStyle()),
    "diff.csv": ("csv", TableStyle()),
    "diff.json": ("json", TableStyle()),
    "diff.junit.xml": ("junit", TableStyle(junit_fields=True)),
    "diff.github.txt": ("github", TableStyle()),
    "diff.metrics.txt": ("openmetrics", TableStyle()),
}


@pytest.fixture(scope="module")
def receipts(tmp_path_factory: pytest.TempPathFactory) -> Difference:
    """The difference between two runs of the receipts.

    In the second run, one field is wrong in all documents, one document has many errors, and one
    document is no longer missing.
    """
    folder, receipts = tmp_path_factory.mktemp("runs"), ROOT / "fixtures" / "receipt"
    runs = []
    for name in ("pred", "pred-next"):
        file = folder / f"{name}.json"
        sources = [
            str(ROOT / "schemas" / "receipt.json"),
            str(receipts / "gt"),
            str(receipts / name),
        ]
        assert main(["eval", *sources, "-q", "-o", str(file)]) == 0
        runs.append(replace(load_run(str(file)), version="0"))
    gates = [parse_gate(gate, lowest=LOWEST) for gate in GATES]
    difference = compare_runs({"base.json": runs[0]}, {"new.json": runs[1]}, gates)
    return replace(
        difference, base=_with_schema_name(difference.base), new=_with_schema_name(difference.new)
    )


def _with_schema_name(run):
    return replace(run, schema="schemas/receipt.json")


@pytest.mark.parametrize("name", STYLES)
def test_the_difference_of_the_receipts_looks_as_checked_in(receipts, same_as, name):
    form, style = STYLES[name]
    text = render(form, receipts, style)

    same_as(
        re.sub(
            r'(?m)^(  "version": "|      <property name="version" value=")[^"]*', r"\g<1>0", text
        ),
        SNAPSHOTS / name,
    )


@pytest.mark.parametrize("name", ["diff-80.txt", "diff-40.txt"])
def test_no_line_of_a_table_is_wider_than_the_terminal(receipts, name):
    form, style = STYLES[name]
    widths = {
        len(line) for line in render(form, receipts, style).splitlines() if not _one_word(line)
    }

    assert max(widths) <= style.width


def _one_word(line):
    """Return whether a line cannot be broken, or is a row of a table that has no room."""
    return len(line.split()) <= 2 or line[:2] in ("+ ", "- ", "= ", "? ")


def problems(record):
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(record)]


def test_the_json_fits_its_schema(receipts):
    Draft202012Validator.check_schema(SCHEMA)
    record = json.loads(render("json", receipts, TableStyle()))

    assert record == encoded(receipts)
    assert problems(record) == []
    assert problems({**record, "format": "stickler-diff/2"})
    assert problems({**record, "surprise": 1})


def test_the_names_in_the_code_are_those_of_the_format():
    assert SCHEMA["properties"]["format"]["const"] == "stickler-diff/1" == SCHEMA["title"]
    assert SCHEMA["$defs"]["Trend"]["enum"] == list(Trend)
    assert SCHEMA["$defs"]["Decision"]["enum"] == list(Decision)


def child_schemas(schema: dict) -> Iterator[dict]:
    yield schema
    for field_schema in (*schema.get("properties", {}).values(), schema.get("items")):
        if isinstance(field_schema, dict):
            yield from child_schemas(field_schema)


def test_every_place_of_the_format_is_described_and_every_object_is_closed():
    for object_schema in (
        object_part
        for root in (SCHEMA, *SCHEMA["$defs"].values())
        for object_part in child_schemas(root)
    ):
        assert {"type", "$ref", "anyOf"} & set(object_schema)
        for inner in object_schema.get("properties", {}).values():
            assert inner["description"].endswith(".")
        if object_schema.get("type") == "object":
            assert object_schema["additionalProperties"] is False
            optional_names = [
                name
                for name, property_schema in object_schema["properties"].items()
                if "default" not in property_schema
            ]
            assert object_schema["required"] == optional_names


def test_the_junit_is_valid_and_red_where_a_gate_is(receipts):
    text = render("junit", receipts, TableStyle(junit_fields=True))
    JUNIT.validate(text)
    (suite,) = junitparser.JUnitXml.fromstring(text.encode())
    failed = {(case.classname, case.name) for case in suite if case.result}

    assert failed == {
        ("stickler.diff.gates", "currency.f1>=-0.01"),
        ("stickler.diff.gates", "subtotal.f1.lower>=0"),
        ("stickler.diff.fields", "currency"),
        ("stickler.diff.fields", "subtotal"),
    }
    assert suite.tests == len(receipts.gates) + 1 + len(receipts.fields)


def test_without_gates_junit_has_a_case_that_passes(receipts):
    text = render("junit", replace(receipts, gates=()), TableStyle())
    (suite,) = junitparser.JUnitXml.fromstring(text.encode())

    assert [(case.name, case.result) for case in suite] == [("documents", [])]


def test_prometheus_reads_the_metrics(receipts):
    values = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(render("openmetrics", receipts, TableStyle()))
        for sample in family.samples
    }

    assert values["stickler_diff_documents", "worse"] == 4
    assert values["stickler_diff_fields", "regressed"] == 1
    assert values["stickler_diff_field_f1_change", "currency"] == pytest.approx(-12 / 13, abs=1e-6)
    assert values["stickler_diff_gate_passed", "f1>=-0.1"] == 1


def test_a_significant_drop_is_red_and_never_green(receipts):
    text = render("table", receipts, STYLES["diff-color.txt"][1])
    (row,) = [line for line in text.splitlines() if "- currency" in line]

    assert "\x1b[1;31m- currency" in row
    assert "\x1b[1;31mregressed" in row
    assert "32m" not in row


def test_the_page_lists_the_headers_of_the_csv():
    section = PAGE[PAGE.index("| header |") :]

    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(
        rows_of(Figures(CHANGES, []))[0]
    )


def test_the_page_lists_the_trends():
    section = PAGE[PAGE.index("| trend |") : PAGE.index("A change smaller")]

    assert re.findall(r"^\| `([\w ]+)` \|", section, re.MULTILINE) == list(Trend)


class _Page(HTMLParser):
    """The words of a page, with the resources and scripts that it would load or run."""

    def __init__(self):
        super().__init__()
        self.words, self.loads, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        self.loads += [
            value
            for name, value in attributes
            if name in ("src", "href") and not value.startswith(("#", "data:"))
        ]
        assert not any(name.startswith("on") for name, _ in attributes)
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.words += text.split()


def test_the_html_page_says_what_the_table_says_and_loads_nothing(receipts):
    page = _Page()
    page.feed(render("html", receipts, TableStyle()))
    words = " ".join(page.words)

    assert (page.loads, page.open) == ([], [])
    assert "currency - regressed" in words
    assert "0.923 0.000 -0.923" in words
    assert "[-0.998, -0.373] 0.0312 6 0" in words
    assert "kilbride-ie 0 " in words  # values lost before; then after
    assert "✕ failed currency.f1>=-0.01" in words
