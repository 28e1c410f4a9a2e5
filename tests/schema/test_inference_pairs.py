"""Inference accepts what an expert would accept, with few exceptions."""

import pytest

from tests.schema.inference_pairs import WAYS, judge_pairs, pairs_of

OWN = [*pairs_of("inference_pairs.jsonl")]


def test_the_table_says_both():
    assert len(OWN) >= 200
    assert 0.4 <= sum(pair.right for pair in OWN) / len(OWN) <= 0.6
    assert len({pair.kind for pair in OWN}) >= 25


@pytest.mark.slow
@pytest.mark.parametrize("knowledge", WAYS)
@pytest.mark.parametrize(
    ("pairs", "limits"),
    [(OWN, (0.01, 0.03)), ([*pairs_of("inference_second.jsonl")], (0.015, 0.05))],
)
def test_few_pairs_are_judged_otherwise_than_by_an_expert(pairs, limits, knowledge):
    lenient, strict, total = judge_pairs(pairs, knowledge)

    assert len(lenient) <= limits[0] * total
    assert len(strict) <= limits[1] * total


@pytest.mark.parametrize("knowledge", WAYS)
def test_pairs_that_were_once_reported_are_judged_right(knowledge):
    lenient, strict, _ = judge_pairs(pairs_of("inference_issue.jsonl"), knowledge)

    assert (lenient, strict) == ([], [])
