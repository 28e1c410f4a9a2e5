"""`docs/lint.md` and the rules say the same."""

import re
from pathlib import Path

from stickler_cli.studies.lint.findings import RULES

PAGE = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")


def test_the_page_lists_every_rule_as_the_code_has_it():
    rows = re.findall(r"^\| `([\w-]+)` \| (error|warning|note) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(name, rule.severity, rule.means) for name, rule in RULES.items()]
