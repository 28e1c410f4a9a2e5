import numpy as np
import pytest

from stickler_cli.compare.columns import NOTHING
from stickler_cli.compare.pair_scores import classify, clip_scores
from stickler_cli.compare.result import Outcome

THERE = np.zeros(1, np.intp)


def outcome(similarity, threshold):
    similarities = np.array([similarity])
    (value,) = classify(similarities, similarities, threshold, THERE, THERE).outcome
    return Outcome(value)


@pytest.mark.parametrize(
    ("similarity", "threshold", "is_met"),
    [
        (0.8, 0.8, True),
        (0.7999999999999999, 0.8, True),
        (0.8 - 0.9e-9, 0.8, True),
        (0.8 - 1e-9, 0.8, True),
        (0.8 - 2e-9, 0.8, False),
        (0.0, 0.0, True),
        (1.0, 1.0, True),
        (0.999, 1.0, False),
    ],
)
def test_a_threshold_is_met_within_a_billionth(similarity, threshold, is_met):
    assert outcome(similarity, threshold) is (Outcome.TP if is_met else Outcome.FD)


@pytest.mark.parametrize(
    ("similarity", "clip", "score"),
    [
        (0.4, True, 0.0),
        (0.4, False, 0.4),
        (0.5, True, 0.5),
        (0.5 - 1e-10, True, 0.5 - 1e-10),
        (0.9, True, 0.9),
    ],
)
def test_only_what_is_below_the_threshold_is_clipped(similarity, clip, score):
    clipped = clip_scores(np.array([similarity]), np.array([outcome(similarity, 0.5)]), clip=clip)

    assert clipped.tolist() == [score]


def test_an_absent_side_decides_whatever_the_similarity():
    gt, pred = np.array([NOTHING, 0, NOTHING]), np.array([0, NOTHING, NOTHING])

    figures = classify(np.ones(3), np.full(3, 0.5), 0.5, gt, pred)

    assert [Outcome(code).name for code in figures.outcome] == ["FA", "FN", "TN"]
    assert figures.similarity.tolist() == figures.score.tolist() == [0.0, 0.0, 1.0]


def test_the_similarity_decides_whatever_the_score():
    similarity, score = np.array([0.5, 0.4]), np.array([0.0, 0.4])

    figures = classify(similarity, score, 0.5, np.zeros(2, np.intp), np.zeros(2, np.intp))

    assert [Outcome(code).name for code in figures.outcome] == ["TP", "FD"]
    assert (figures.similarity is similarity, figures.score is score) == (True, True)
