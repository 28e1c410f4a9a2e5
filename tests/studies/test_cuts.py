"""Proposed thresholds, what confirms them, and how often their intervals are right."""

import numpy as np
import pytest

from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.studies.tune.cuts import FieldSample, passes, propose

SETTINGS = IntervalSettings()


def a_sample(similarity, same=None, prefix=""):
    names = [f"{prefix}{index}" for index in range(len(similarity))]
    verdicts = None if same is None else np.array(same)
    return FieldSample(np.array(similarity, float), np.arange(len(names)), names, verdicts)


def two_humps(size, seed, *, low=(3, 6), high=(20, 2), unlike=0.3):
    """Return similarities of pairs, and a mask of the pairs that are the same.

    `unlike` is the share of pairs that are not the same.
    """
    drawn = np.random.default_rng(seed)
    same = drawn.random(size) >= unlike
    near = np.where(drawn.random(size) < 0.6, 1.0, drawn.beta(*high, size))
    return np.where(same, near, drawn.beta(*low, size)), same


def f1(similarity, same, threshold):
    passing = similarity >= threshold
    return 2 * (passing & same).sum() / (passing.sum() + same.sum())


def test_a_threshold_inside_the_lower_hump_is_moved_to_the_gap_by_similarities_alone():
    similarity, same = two_humps(600, 1)
    proposal = propose(a_sample(similarity), 0.3, SETTINGS)
    assert proposal.threshold is not None
    assert 0.55 < proposal.threshold < 0.85
    assert f1(similarity, same, proposal.threshold) > f1(similarity, same, 0.3) + 0.05
    assert proposal.now < proposal.then
    assert proposal.gain.lower > 0
    assert (
        proposal.moved
        == (passes(a_sample(similarity), 0.3) & (similarity < proposal.threshold)).sum()
    )


def test_with_verdicts_the_best_f1_counts():
    similarity, same = two_humps(600, 2, low=(8, 5))
    proposal = propose(a_sample(similarity, same), 0.5, SETTINGS)
    assert f1(similarity, same, proposal.threshold) > 0.95 > f1(similarity, same, 0.5)


@pytest.mark.parametrize(
    ("similarity", "reason"),
    [
        ([0.5, 1.0] * 15, "fewer than 40 pairs"),
        ([0.0, 1.0] * 30, "all similarities are 0 or 1"),
        ([0.2] * 4 + [0.9] * 60, "one half of the documents has fewer than"),
        (np.linspace(0.3, 1, 400), "no gap"),
        (np.random.default_rng(0).beta(20, 2, 400), "no gap"),
    ],
)
def test_nothing_is_proposed_where_the_evidence_is_thin(similarity, reason):
    proposal = propose(a_sample(similarity), 0.5, SETTINGS)
    assert proposal.threshold is None
    assert reason in proposal.reason


def test_few_documents_are_thin_evidence_however_many_pairs_they_have():
    similarity, _ = two_humps(600, 1)
    sample = FieldSample(similarity, np.arange(600) % 10, [str(index) for index in range(10)])
    assert "fewer than 20 documents" in propose(sample, 0.3, SETTINGS).reason


def test_a_threshold_that_is_right_already_stays():
    similarity, _ = two_humps(600, 1)
    best = propose(a_sample(similarity), 0.3, SETTINGS).threshold
    proposal = propose(a_sample(similarity), best, SETTINGS)
    assert proposal.threshold is None
    assert "as well as any other" in proposal.reason


def test_a_single_pair_on_the_other_side_confirms_no_gain():
    similarity = np.array([0.3] * 100 + [0.95] * 100)
    same = similarity > 0.5
    similarity[0] = 0.62
    proposal = propose(a_sample(similarity, same), 0.6, SETTINGS)
    assert proposal.threshold is None


def test_one_seed_gives_one_result_and_documents_stay_whole():
    similarity, same = two_humps(300, 3)
    sample = a_sample(similarity, same)
    assert propose(sample, 0.3, SETTINGS) == propose(sample, 0.3, SETTINGS)
    halves = {propose(sample, 0.3, IntervalSettings(seed=seed)).now for seed in range(3)}
    assert len(halves) > 1


@pytest.mark.slow
@pytest.mark.parametrize("verdicts", [True, False])
def test_the_interval_of_the_gain_covers_and_proposals_help(verdicts):
    """For 25 sets of 400 documents; the proposal is held against 100,000 pairs more."""
    similarities, truth = two_humps(100_000, 0)
    covered = judged = 0
    for seed in range(25):
        similarity, same = two_humps(400, seed + 1)
        sample = a_sample(similarity, same if verdicts else None, f"{seed}-")
        proposal = propose(sample, 0.35, SETTINGS)
        if proposal.threshold is None:
            continue
        judged += 1
        cut = proposal.threshold
        gain = f1(similarities, truth, cut) - f1(similarities, truth, 0.35)
        assert gain > 0
        if not verdicts:
            gain = explained(similarities, cut) - explained(similarities, 0.35)
        covered += proposal.gain.lower <= gain <= proposal.gain.upper
    assert judged > 12
    assert covered >= 0.9 * judged


def explained(similarity, threshold):
    passing = similarity >= threshold
    share = passing.mean()
    separation = similarity[passing].mean() - similarity[~passing].mean()
    return share * (1 - share) * separation**2 / similarity.var()
