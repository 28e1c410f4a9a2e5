"""Every row of `tests/cases/comparators.jsonl`: what one comparator makes of one pair of values."""

import json
from collections import Counter
from pathlib import Path

import pytest

from stickler_cli.comparators.registry import construct

pytestmark = pytest.mark.anywhere

CASES = Path(__file__).parent.parent / "cases" / "comparators.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
PRESENT = [row for row in ROWS if row["gt"] is not None and row["pred"] is not None]


def numbered(rows):
    seen = Counter()
    for row in rows:
        seen[row["comparator"]] += 1
        yield f"{row['comparator']}-{seen[row['comparator']]}"


@pytest.mark.parametrize("row", ROWS, ids=list(numbered(ROWS)))
def test_a_comparator_gives_the_similarity_of_its_case(row):
    comparator = construct(row["comparator"], row["config"])

    assert comparator.compare(row["gt"], row["pred"]) == pytest.approx(row["similarity"], abs=1e-9)


@pytest.mark.parametrize("row", PRESENT, ids=list(numbered(PRESENT)))
def test_a_column_of_one_gives_what_a_single_comparison_does(row):
    comparator = construct(row["comparator"], row["config"])

    gts, preds = [comparator.prepare(row["gt"])], [comparator.prepare(row["pred"])]

    assert comparator.similarities(gts, preds).tolist() == [
        comparator.compare(row["gt"], row["pred"])
    ]
