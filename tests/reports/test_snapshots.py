"""Whole outputs of runs, compared with snapshots."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from stickler_cli import __version__
from stickler_cli.reports.formats import render
from stickler_cli.reports.layout import TableStyle

ROOT = Path(__file__).parents[2]
SNAPSHOTS = Path(__file__).parent / "snapshots"
SETS = ("bank-statement", "invoice", "receipt", "resume")

STYLES = {
    "order-80.txt": ("table", TableStyle(width=80, plain=False)),
    "order-40.txt": ("table", TableStyle(width=40, plain=False)),
    "order-color.txt": ("table", TableStyle(width=120, plain=False, color=True)),
    "order-plain.txt": ("table", TableStyle()),
    "order.md": ("markdown", TableStyle()),
    "order.csv": ("csv", TableStyle()),
    "order-wide.csv": ("csv", TableStyle(wide=True)),
    "order.json": ("json", TableStyle()),
    "order.junit.xml": ("junit", TableStyle(junit_fields=True)),
    "order.github.txt": ("github", TableStyle()),
    "order.metrics.txt": ("openmetrics", TableStyle()),
}


def read_snapshot(file):
    return json.loads(file.read_text(encoding="utf-8"))


def with_version(text, version):
    return re.sub(
        r'(?m)^(  "version": "|      <property name="version" value=")[^"]*',
        rf"\g<1>{version}",
        text,
    )


@pytest.mark.parametrize("name", STYLES)
def test_orders_look_as_checked_in(orders, errors_of, same_as, name):
    form, style = STYLES[name]
    style = replace(style, show_non_matches=5)
    notes = ("in the directory pred, 1 file is not .json and was skipped",)
    noted = replace(orders, notes=notes, first_non_matches=errors_of())

    same_as(with_version(render(form, noted, style), "0"), SNAPSHOTS / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(("suffix", "form"), [("txt", "table"), ("json", "json")])
def test_fixtures_give_what_is_checked_in(fixture_run, same_as, name, suffix, form):
    file = ROOT / "fixtures" / name / f"expected.{suffix}"
    text = render(form, fixture_run(name), TableStyle())

    same_as(with_version(text, read_version(file)), file)


def read_version(file):
    """Return the version in a file; a new release changes nothing else in the file."""
    if not file.exists() or file.suffix != ".json":
        return __version__
    return read_snapshot(file)["version"]


@pytest.mark.parametrize("name", SETS)
def test_what_is_checked_in_has_the_counts_derived_by_hand(name):
    folder = ROOT / "fixtures" / name
    page = (folder / "README.md").read_text(encoding="utf-8")
    by_hand = re.findall(r"`(\w+)` alone: TP (\d+), FD (\d+), FA (\d+), FN (\d+), TN (\d+)", page)
    total_row = re.search(r"\*\*all\*\*" + r" \| (\d+)" * 5, page)
    matrix = read_snapshot(folder / "expected.json")["confusion_matrix"]

    assert by_hand
    assert counts_of(matrix) == [int(count) for count in total_row.groups()]
    for field, *counts in by_hand:
        assert counts_of(matrix["fields"][field]) == [int(count) for count in counts]


def counts_of(node):
    return [node["overall"][name] for name in ("tp", "fd", "fa", "fn", "tn")]
