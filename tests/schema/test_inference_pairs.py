"""What is inferred passes what an expert would pass, with few exceptions."""

import pytest

from tests.schema.inference_pairs import WAYS, judged, pairs_of

OWN = [*pairs_of("inference_pairs.jsonl")]


def test_the_table_says_both():
    assert len(OWN) >= 200
    assert 0.4 <= sum(pair.right for pair in OWN) / len(OWN) <= 0.6
    assert len({pair.kind for pair in OWN}) >= 25


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("pairs", "most"),
    [(OWN, (0.01, 0.03)), ([*pairs_of("inference_second.jsonl")], (0.015, 0.05))],
)
def test_few_pairs_are_judged_otherwise_than_by_an_expert(pairs, most, way):
    lenient, strict, total = judged(pairs, way)

    assert len(lenient) <= most[0] * total
    assert len(strict) <= most[1] * total


@pytest.mark.parametrize("way", WAYS)
def test_pairs_that_were_once_reported_are_judged_right(way):
    lenient, strict, _ = judged(pairs_of("inference_issue.jsonl"), way)

    assert (lenient, strict) == ([], [])
