"""Every row of `tests/cases/comparators.jsonl`: the similarity of one pair of values."""

import json
from collections import Counter
from pathlib import Path

import pytest

from stickler_cli.comparators.comparator_registry import construct

pytestmark = pytest.mark.anywhere

CASES = Path(__file__).parent.parent / "cases" / "comparators.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def numbered(rows):
    seen = Counter()
    for row in rows:
        seen[row["comparator"]] += 1
        yield f"{row['comparator']}-{seen[row['comparator']]}"


@pytest.mark.parametrize("row", ROWS, ids=list(numbered(ROWS)))
def test_a_comparator_gives_the_similarity_of_its_case_alone_and_in_a_column(row):
    comparator, gt, pred = construct(row["comparator"], row["config"]), row["gt"], row["pred"]
    similarity = comparator.compare(gt, pred)

    assert similarity == pytest.approx(row["similarity"], abs=1e-9)
    if gt is not None and pred is not None:
        column = [comparator.prepare(gt)], [comparator.prepare(pred)]
        assert comparator.similarities(*column).tolist() == [similarity]
