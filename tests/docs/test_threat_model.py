"""Every defence in the threat model names tests, and these tests exist."""

import re
from pathlib import Path

from stickler_cli.documents.reading import MAX_DOCUMENT_BYTES
from stickler_cli.schema.judging import BACKTRACK_LIMIT
from stickler_cli.schema.places import MOST_PLACES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text()


def test_every_test_that_is_named_is_there():
    defended = PAGE.partition("## What is defended")[2].partition("## What is not")[0]
    rows = [row for row in defended.splitlines() if row.startswith("| ")][1:]

    for row in rows:
        named = re.findall(r"`((?:tests|fuzz)/[^`]*)`", row)
        assert named, row
        assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_bounds_are_those_of_the_code():
    assert MAX_DOCUMENT_BYTES == 100_000_000
    assert "100 MB" in PAGE
    assert f"{MOST_PLACES:,} places" in PAGE
    assert f"{BACKTRACK_LIMIT:,} steps back" in PAGE
