"""`docs/results.md` and the code say the same."""

import json
import re
from pathlib import Path

from stickler_cli.reports.formats import FORMATS, SUFFIXES
from stickler_cli.reports.row_reports import COUNTS, TIDY, WIDE
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.sums import BOUNDS, RATES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "schemas" / "stickler-run.json").read_text(encoding="utf-8"))


def first_column(section):
    """Return the texts marked as code in the first column of a section's tables."""
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    cells = re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_page_lists_the_formats_and_their_suffixes():
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\.[\w.]+`(?:, )?)*) ?\|", PAGE, re.MULTILINE)

    assert [name for name, _ in rows] == list(FORMATS)
    assert {
        suffix: name for name, cell in rows for suffix in re.findall(r"`(.*?)`", cell)
    } == SUFFIXES


def test_the_page_lists_the_columns_of_the_csv_in_their_order():
    assert first_column("CSV")[: len(TIDY)] == list(TIDY)


def test_the_page_lists_the_headers_of_the_wide_csv_in_their_order():
    listed = []
    for header in first_column("CSV")[len(TIDY) :]:
        if header.endswith("_*_lower"):
            before = header.removesuffix("*_lower")
            listed += [f"{before}{name}_{end}" for name in RATES for end in BOUNDS]
        elif not header.endswith("_*_upper"):
            names = (*COUNTS, *RATES) if header.endswith("_*") else ("",)
            names = tuple(ErrorClass) if header == "class_*" else names
            listed += [header.removesuffix("*") + name for name in names]

    assert listed == list(WIDE)


def test_the_page_lists_the_keys_of_the_run_format():
    assert sorted(first_column("The run format")) == sorted(SCHEMA["properties"])


def test_the_row_that_the_page_shows_is_one_of_the_table():
    (row,) = re.findall(r"^  total .*$", PAGE, re.MULTILINE)
    table = (ROOT / "fixtures" / "invoice" / "expected.txt").read_text(encoding="utf-8")

    assert row in table.splitlines()
