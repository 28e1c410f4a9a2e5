"""The paired permutation test, against what can be worked out by hand, scipy, and simulations."""

import numpy as np
import pytest
from scipy import stats

from stickler_cli.diff import significance
from stickler_cli.diff.significance import (
    Sample,
    change_intervals,
    holm,
    is_enumerated,
    p_values,
    quotients,
    smallest_p,
)
from stickler_cli.score.intervals import IntervalSettings


def sample(before, after, below=None):
    """A figure with the same denominators in both runs, 1 in every document."""
    ones = np.ones(len(before)) if below is None else np.array(below, dtype=float)
    return Sample(np.array([before, ones], dtype=float), np.array([after, ones], dtype=float))


def p_of(*arguments):
    (p,) = p_values([sample(*arguments)], seed=0)
    return p


def test_if_all_of_six_documents_get_worse_two_of_64_swaps_are_as_bad():
    assert p_of([1] * 6, [0] * 6) == 2 / 64


def test_five_worse_and_one_better_is_as_rare_as_fourteen_of_64_swaps():
    # |sum of six signs| >= 4: all six alike (2 ways) or all but one (12 ways)
    assert p_of([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1]) == 14 / 64


def test_documents_in_which_nothing_changed_make_no_difference():
    assert p_of([1] * 6 + [0] * 50, [0] * 6 + [0] * 50) == 2 / 64


def test_runs_that_are_alike_have_a_p_of_one():
    assert p_of([1, 0], [1, 0]) == 1.0
    assert p_of([], []) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_the_p_of_all_swaps_is_that_of_scipy(seed):
    random = np.random.default_rng(seed)
    before, after = random.integers(0, 9, (2, 10)).astype(float)
    expected = stats.permutation_test(
        (before, after),
        lambda x, y, axis: np.sum(y, axis=axis) - np.sum(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )

    assert p_of(before, after) == pytest.approx(min(1.0, expected.pvalue), abs=1e-12)


def quotient_samples(count, documents, seed=0):
    """Two runs that differ by chance only; values of a document are right or wrong together."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        quality, size = random.beta(4, 1, documents), random.integers(1, 20, documents)
        runs = []
        for _ in range(2):
            right = random.binomial(size, random.beta(1 + 8 * quality, 9 - 8 * quality))
            invented = random.binomial(size, 0.05)
            runs.append(np.array([2 * right, right + size + invented], dtype=float))
        found.append(Sample(*runs))
    return found


def test_drawn_swaps_come_to_nearly_the_p_of_all_swaps(monkeypatch):
    samples = quotient_samples(20, 13)
    exact = p_values(samples, seed=0)
    monkeypatch.setattr(significance, "MOST_ENUMERATED", 0)
    drawn = p_values(samples, seed=0)

    # four standard errors of a share among 9999
    assert drawn == pytest.approx(exact, abs=4 * 0.5 / 9999**0.5)
    assert drawn != exact


def test_drawn_swaps_are_those_of_the_seed():
    samples = quotient_samples(2, 30)

    assert not is_enumerated(samples[0])
    assert p_values(samples, 1) == p_values(samples, 1) != p_values(samples, 2)
    assert p_values(samples, 1)[0] == p_values(samples[:1], 1)[0]


def test_a_drawn_p_is_never_zero():
    assert p_of([1] * 400, [0] * 400) == 1 / 10_000


@pytest.mark.slow
@pytest.mark.parametrize("documents", [12, 40])
def test_of_runs_that_differ_by_chance_one_in_twenty_is_called_significant(documents):
    samples = quotient_samples(600, documents)
    share = np.mean(np.array(p_values(samples, seed=0)) <= 0.05)

    # three standard errors of a share among 600
    assert share == pytest.approx(0.05, abs=3 * (0.05 * 0.95 / 600) ** 0.5)


def test_nothing_to_divide_by_counts_as_without_error():
    assert list(quotients(np.array([[0.0, 1.0], [0.0, 2.0]]))) == [1.0, 0.5]
    nothing, invented = np.zeros((2, 6)), np.array([[0.0] * 6, [1.0] * 6])

    assert p_values([Sample(nothing, invented)], 0) == [2 / 64]


def test_the_least_p_is_what_comes_of_all_documents_changing_alike():
    for documents in range(1, 9):
        assert p_of([1] * documents, [0] * documents) == smallest_p(documents)


def test_holm_multiplies_the_smallest_by_all_and_keeps_the_order():
    # 0.01 x 4, then 0.02 x 3, then 0.03 x 2, no less than the one before; 0.5 x 1
    assert holm([0.03, 0.01, 0.5, 0.02]) == [0.06, 0.04, 0.5, 0.06]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("gain", [0.0, -0.1])
def test_intervals_of_changes_hold_the_true_change_nearly_as_often_as_they_say(gain):
    # Whether a value is right is drawn with its document's quality, so F1 of many is known: with n
    # right of m, 2n / (n + m).
    random = np.random.default_rng(3)
    documents, values, means = 60, 10, (0.8, 0.8 + gain)
    samples = []
    for _ in range(400):
        runs = []
        shared = random.uniform(-0.1, 0.1, documents)
        for mean in means:
            right = random.binomial(values, mean + shared)
            runs.append(np.array([2 * right, right + values], dtype=float))
        samples.append(Sample(*runs))
    before, after = (2 * mean / (1 + mean) for mean in means)
    names = [f"document {number}" for number in range(documents)]
    intervals = change_intervals(samples, names, IntervalSettings())
    held = np.mean([it.lower <= after - before <= it.upper for it in intervals])

    assert 0.92 <= held <= 0.98


def test_the_interval_of_runs_that_are_alike_is_a_point():
    (interval,) = change_intervals(
        [sample([1, 0] * 5, [1, 0] * 5)], [str(number) for number in range(10)], IntervalSettings()
    )

    assert (interval.lower, interval.upper) == (0.0, 0.0)


def test_four_documents_have_no_interval_and_no_figures_need_none():
    assert change_intervals([sample([1] * 4, [0] * 4)], list("abcd"), IntervalSettings()) == [None]
    assert change_intervals([], [], IntervalSettings()) == []
