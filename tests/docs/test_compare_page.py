"""`docs/compare.md` and the code say the same."""

import json
import re
from pathlib import Path

from stickler_cli.reports.pair import TITLES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
TABLES, RECORD = PAGE.split("## JSON")


def test_the_page_names_keys_that_there_are():
    schema = json.loads((ROOT / "schemas" / "stickler-comparison.json").read_text("utf-8"))
    keys = {key for record in schema["$defs"].values() for key in record.get("properties", ())}
    named = set(re.findall(r"`(\w+)`", RECORD)) - {"both", "gt", "pred"}

    assert named <= keys | {*schema["properties"]}


def test_the_page_lists_columns_of_the_table():
    listed = re.findall(r"^\| `(\w+)` \|", TABLES, re.MULTILINE)

    assert listed == [title for title in TITLES if title in listed]
