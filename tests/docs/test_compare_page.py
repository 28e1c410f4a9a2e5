"""`docs/compare.md` and the code say the same."""

import json
import re
from pathlib import Path

from stickler_cli.cli import main
from stickler_cli.reports.pair_sections import TITLES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
TABLES, RECORD = PAGE.split("## JSON")


def keys_of(place):
    yield from place
    for part in place.get("parts", ()):
        yield from keys_of(part)


def test_the_page_lists_the_keys_of_a_place(capsys):
    pair = [str(ROOT / "fixtures" / "receipt" / side / "haneul-kr.json") for side in ("gt", "pred")]
    main(["compare", str(ROOT / "schemas" / "receipt.json"), *pair, "-f", "json"])
    (root,) = json.loads(capsys.readouterr().out)["places"]
    listed = set(re.findall(r"^\| `(\w+)` \|", RECORD, re.MULTILINE))

    assert set(keys_of(root)) <= listed
    assert listed - set(keys_of(root)) <= {"prediction_path", "reason", "undeclared_keys"}


def test_the_page_lists_columns_of_the_table():
    listed = re.findall(r"^\| `(\w+)` \|", TABLES, re.MULTILINE)

    assert listed == [title for title in TITLES if title in listed]
