"""A comparison for people to read: `explain`, and the display in notebooks."""

import json
import re

import pytest
from pydantic import BaseModel

from stickler_cli import ComparableField, ExactComparator, StructuredModel, evaluate
from stickler_cli.cli.app import main


class Line(StructuredModel):
    sku: str = ComparableField()


class Order(StructuredModel):
    number: str = ComparableField(ExactComparator())
    note: str = ComparableField()
    lines: list[Line] = ComparableField()


GT = Order(number="A1", note="x", lines=[{"sku": "gear"}, {"sku": "bolt"}])
PRED = Order(number="A2", note="x", lines=[{"sku": "gear"}, {"sku": "<b>zz</b>"}])


@pytest.mark.parametrize(
    ("detail", "flags"), [("brief", []), ("errors", ["--only-errors"]), ("all", ["--all"])]
)
def test_explain_is_what_the_command_prints_below_its_title(
    detail, flags, tmp_path, monkeypatch, capsys
):
    files = {
        "schema.json": Order.to_json_schema(),
        "gt.json": GT.comparison_values(),
        "pred.json": PRED.comparison_values(),
    }
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")

    assert main(["compare", *files, *flags]) == 0

    printed = capsys.readouterr().out.splitlines()
    explained = GT.comparison(PRED).explain(detail, 90).splitlines()
    assert printed[0] == "document gt (schema Order in schema.json)"
    assert explained[0] == "Order"
    assert explained[1:] == printed[1:]


def test_a_notebook_shows_the_score_and_a_row_for_each_place():
    html = GT.comparison(PRED)._repr_html_()

    assert ">Order, overall score 0.5000: sum 1.5 / weight 3 = 0.5000</p><table" in html
    for place in ("(document)", "number", "lines[1]"):
        assert f"<bdi>{place}</bdi>" in html


def test_a_notebook_shows_wrong_places_first():
    html = GT.comparison(PRED)._repr_html_()
    outcomes = re.findall(r"<bdi>(right|wrong|missed|invented)</bdi>", html)

    assert {"right", "wrong"} <= {*outcomes}
    assert outcomes == sorted(outcomes, key=lambda outcome: outcome == "right")


def test_a_notebook_marks_the_wrong_value_and_not_the_truth():
    html = GT.comparison(PRED)._repr_html_()
    marked = re.findall(r'<span style="text-decoration:underline wavy[^"]*">([^<]*)</span>', html)

    assert "&quot;A2&quot;" in marked
    assert "&quot;A1&quot;" in html
    assert "&quot;A1&quot;" not in marked


def test_values_of_documents_are_harmless_in_a_notebook():
    html = GT.comparison(PRED)._repr_html_()

    assert "&lt;b&gt;zz&lt;/b&gt;" in html
    assert "<b>" not in html


def test_a_result_of_evaluate_shows_its_comparison():
    class Receipt(BaseModel):
        total: float

    result = evaluate(Receipt(total=1), Receipt(total=2))

    assert result._repr_html_() == result.comparison._repr_html_()
    assert "total" in result.comparison.explain("errors")


def test_a_comparison_prints_as_one_line():
    assert repr(GT.comparison(PRED)) == "<PairComparison FD similarity=0.5>"
