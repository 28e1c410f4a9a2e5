"""The paired permutation test, compared with values by hand, scipy, and simulations."""

import numpy as np
import pytest
from scipy import stats

from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.studies.diff import significance
from stickler_cli.studies.diff.significance import (
    Sample,
    change_intervals,
    holm,
    is_enumerated,
    p_values,
    quotients,
    smallest_p,
)


def sample(before, after, below=None):
    """Return the sample of a figure whose denominators are the same in both runs, 1 by default."""
    weights = np.ones(len(before)) if below is None else np.array(below, dtype=float)
    return Sample(np.array([before, weights], dtype=float), np.array([after, weights], dtype=float))


def p_values_of(samples, seed=0):
    names = [f"document {number}" for number in range(samples[0].before.shape[1])]
    return p_values(samples, names, IntervalSettings(seed=seed))


def p_of(*arguments):
    (p,) = p_values_of([sample(*arguments)])
    return p


def test_if_all_of_six_documents_get_worse_two_of_64_swaps_are_as_bad():
    assert p_of([1] * 6, [0] * 6) == 2 / 64


def test_five_worse_and_one_better_is_as_rare_as_fourteen_of_64_swaps():
    # |sum of six signs| >= 4: all six alike (2 ways) or all but one (12 ways)
    assert p_of([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1]) == 14 / 64


def test_the_deviation_of_a_change_is_the_error_of_the_mean_of_documents():
    sample_made = sample([1, 1, 0, 1], [0, 1, 1, 0])

    assert sample_made.change == -0.25
    assert sample_made.deviation == pytest.approx(np.std([-1, 0, 1, -1], ddof=1) / 2)


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
    """Return samples of pairs of runs that differ by chance only.

    Values of the same document tend to be right or wrong together.
    """
    random = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        quality, size = random.beta(4, 1, documents), random.integers(1, 20, documents)
        runs = []
        for _ in range(2):
            right = random.binomial(size, random.beta(1 + 8 * quality, 9 - 8 * quality))
            invented = random.binomial(size, 0.05)
            runs.append(np.array([2 * right, right + size + invented], dtype=float))
        samples.append(Sample(*runs))
    return samples


def test_drawn_swaps_come_to_nearly_the_p_of_all_swaps(monkeypatch):
    samples = quotient_samples(20, 13)
    exact = p_values_of(samples)
    monkeypatch.setattr(significance, "MAX_ENUMERATED", 0)
    drawn = p_values_of(samples)

    # four standard errors of a share among 9999
    assert drawn == pytest.approx(exact, abs=4 * 0.5 / 9999**0.5)
    assert drawn != exact


def test_drawn_swaps_are_those_of_the_seed():
    samples = quotient_samples(2, 30)

    assert not is_enumerated(samples[0])
    assert p_values_of(samples, 1) == p_values_of(samples, 1) != p_values_of(samples, 2)
    assert p_values_of(samples, 1)[0] == p_values_of(samples[:1], 1)[0]


def test_drawn_swaps_do_not_depend_on_the_order_of_documents():
    (drawn_sample,) = quotient_samples(1, 30)
    turned = Sample(drawn_sample.before[:, ::-1], drawn_sample.after[:, ::-1])
    names, settings = [f"document {number}" for number in range(30)], IntervalSettings()

    assert p_values([turned], names[::-1], settings) == p_values([drawn_sample], names, settings)


def test_a_drawn_p_is_never_zero():
    assert p_of([1] * 400, [0] * 400) == 1 / 10_000


@pytest.mark.slow
@pytest.mark.parametrize("documents", [12, 40])
def test_of_runs_that_differ_by_chance_one_in_twenty_is_called_significant(documents):
    samples = quotient_samples(600, documents)
    share = np.mean(np.array(p_values_of(samples)) <= 0.05)

    # three standard errors of a share among 600
    assert share == pytest.approx(0.05, abs=3 * (0.05 * 0.95 / 600) ** 0.5)


def test_nothing_to_divide_by_counts_as_without_error():
    assert list(quotients(np.array([[0.0, 1.0], [0.0, 2.0]]))) == [1.0, 0.5]
    nothing, invented = np.zeros((2, 6)), np.array([[0.0] * 6, [1.0] * 6])

    assert p_values_of([Sample(nothing, invented)]) == [2 / 64]


def test_the_least_p_is_what_comes_of_all_documents_changing_alike():
    for documents in range(1, 9):
        assert p_of([1] * documents, [0] * documents) == smallest_p(documents)


def test_holm_multiplies_the_smallest_by_all_and_keeps_the_order():
    # 0.01 x 4, then 0.02 x 3, then 0.03 x 2, no less than the one before; 0.5 x 1
    assert holm([0.03, 0.01, 0.5, 0.02]) == [0.06, 0.04, 0.5, 0.06]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_runs_that_are_alike_show_as_much_as_the_number_of_their_documents_does():
    for number in (1, 6, 100):
        names = [str(document) for document in range(number)]
        (interval,) = change_intervals(
            [sample([1] * number, [1] * number)], names, IntervalSettings()
        )
        # What the exact binomial interval leaves to errors that nobody has seen; four standard
        # errors of 1000 replicates.
        exact = 0.025 ** (1 / number)
        error = 4 * (0.025 / 1000) ** 0.5 * exact / (0.025 * number)
        assert interval.lower == pytest.approx(exact - 1, abs=error)
        assert interval.upper == pytest.approx(1 - exact, abs=error)


def test_a_document_has_the_same_weight_in_both_runs():
    noise = np.arange(50) % 2
    (alike, unlike) = change_intervals(
        [sample(noise, noise), sample(noise, 1 - noise)],
        [str(document) for document in range(50)],
        IntervalSettings(),
    )

    assert alike.upper - alike.lower < (unlike.upper - unlike.lower) / 2


@pytest.mark.parametrize("values", [1, 10])
@pytest.mark.parametrize(("differing", "excluded"), [(4, False), (8, True)])
@pytest.mark.parametrize("better", [False, True])
def test_the_end_near_no_change_is_where_the_test_is(values, differing, excluded, better):
    # Of a hundred documents some lose one of their values. The weight of one more is above that of
    # k others, all exponential, in 2 ** -k of replicates: in 6% of four, in 0.4% of eight; 2.5%
    # are left out. The test has p of twice that, and takes 5%.
    sizes = np.full(100, float(values))
    fewer = sizes - (np.arange(100) < differing)
    sides = (
        np.stack([fewer if better else sizes, sizes]),
        np.stack([sizes if better else fewer, sizes]),
    )
    sample_made = Sample(*sides)
    (interval,) = change_intervals(
        [sample_made], [str(index) for index in range(100)], IntervalSettings()
    )

    assert (interval.lower > 0 if better else interval.upper < 0) is excluded
    assert (p_values_of([sample_made])[0] <= 0.05) is excluded
    # At the other end a document that is wholly right or wrong may still come: 0.025 ** (1 / 100).
    assert max(map(abs, interval)) > 0.036


def test_a_change_is_within_its_interval_and_that_within_its_bounds():
    (interval,) = change_intervals([sample([1] * 4, [0] * 4)], list("abcd"), IntervalSettings())

    assert interval.lower == -1
    assert -1 < interval.upper < 0.6


def test_without_figures_or_anything_to_divide_by_there_are_no_intervals():
    nothing, nonzero = np.zeros((2, 4)), np.ones((2, 4))

    assert change_intervals([], [], IntervalSettings()) == []
    intervals_found = change_intervals(
        [Sample(nothing, nonzero), Sample(nonzero, nothing)], list("abcd"), IntervalSettings()
    )
    assert intervals_found == [None, None]
