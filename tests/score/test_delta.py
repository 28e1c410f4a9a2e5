"""Intervals that are made of sums alone: what they are where that is known, and what they hold."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from benchmarks.coverage import EXTREME, KINDS, METHODS, covered
from stickler_cli.score.counts import RATES, fractions
from stickler_cli.score.delta import ScoreSums, Spread, delta_intervals, field_intervals
from stickler_cli.score.field_counts import FieldCounts
from stickler_cli.score.intervals import Interval
from stickler_cli.score.tally import COUNTING_MODES, SCORE_UNIT, Tally, units_of


def spread_of(right, wrong) -> Spread:
    right, wrong = np.asarray(right, float), np.asarray(wrong, float)
    sizes = right + wrong
    size = float(np.sqrt(sizes @ sizes / max(np.count_nonzero(sizes), 1)))
    products = (
        float(one @ other) for one, other in ((right, right), (right, wrong), (wrong, wrong))
    )
    return Spread(float(right.sum()), float(wrong.sum()), *products, size)


@pytest.mark.parametrize(
    ("right", "documents"), [(0, 1), (1, 1), (0, 7), (1, 7), (7, 7), (35, 40), (999, 1000)]
)
@pytest.mark.parametrize("size", [1, 12])
def test_of_documents_wholly_right_or_wrong_it_is_the_exact_binomial_interval(
    right, documents, size
):
    held = np.arange(documents) < right
    (found,) = delta_intervals([spread_of(size * held, size * ~held)], 0.95)

    exact = binomtest(right, documents).proportion_ci(0.95, method="exact")
    assert found == pytest.approx((exact.low, exact.high))


def test_of_many_documents_it_is_the_interval_of_the_delta_method():
    random = np.random.default_rng(5)
    sizes = random.integers(1, 20, 40_000)
    right = random.binomial(sizes, 0.8)
    (found,) = delta_intervals([spread_of(right, sizes - right)], 0.95)

    share = right.sum() / sizes.sum()
    error = np.sqrt(((right - share * sizes) ** 2).sum()) / sizes.sum()
    assert found == pytest.approx((share - 1.96 * error, share + 1.96 * error), rel=2e-4)


def test_ends_are_those_of_the_beta_distribution_with_the_mean_and_variance_of_the_share():
    right, wrong = np.array([3, 1, 0, 2]), np.array([1, 1, 4, 0])
    size = (sum((right + wrong) ** 2) / 4) ** 0.5
    (found,) = delta_intervals([spread_of(right, wrong)], 0.9)

    for end, added, level in ((found.lower, (0, size), 0.05), (found.upper, (size, 0), 0.95)):
        good, bad = np.append(right, added[0]), np.append(wrong, added[1])
        sizes = good + bad
        mean = good.sum() / sizes.sum()
        # Of the share, where the weights of documents are drawn and add up to one.
        variance = ((good - mean * sizes) ** 2).sum() / (sizes.sum() ** 2 + (sizes**2).sum())
        as_many = mean * (1 - mean) / variance - 1
        assert end == pytest.approx(beta.ppf(level, mean * as_many, (1 - mean) * as_many))


def test_all_wrong_is_the_mirror_of_all_right_and_nothing_has_no_interval():
    sizes = np.array([3, 1, 8])
    right, wrong, nothing = delta_intervals(
        [spread_of(sizes, 0 * sizes), spread_of(0 * sizes, sizes), spread_of(0 * sizes, 0 * sizes)],
        0.9,
    )

    assert right.upper == 1
    assert wrong == pytest.approx((0, 1 - right.lower))
    assert nothing is None


def test_a_billion_documents_with_one_error_have_an_interval_around_it():
    documents, size = 10**9, 1000.0
    spread = Spread(documents * size - 1, 1.0, documents * size**2, size - 1, 1.0, size)
    (found,) = delta_intervals([spread], 0.95)

    # The upper end is of a Poisson rate of one; the lower one takes a whole document to be wrong.
    assert 1 - found.upper == pytest.approx(0.0253 / (documents * size), rel=0.1)
    assert found.lower < 1 - 1 / (documents * size) < found.upper < 1


@pytest.mark.parametrize("recall_with_fd", [False, True])
def test_intervals_of_a_field_are_those_of_its_documents(recall_with_fd):
    random = np.random.default_rng(2)
    counts = random.integers(0, 4, (3, 50, 5))
    counts[:, 5:9] = 0
    scores = random.random(50)
    node = tallied(counts)
    squares = ScoreSums(
        50, sum(map(units_of, scores.tolist())), sum(map(units_of, (scores**2).tolist()))
    )
    found = field_intervals(node, squares, 0.95, recall_with_fd=recall_with_fd)

    for mode, of_mode in zip(COUNTING_MODES, counts, strict=True):
        parts = fractions(of_mode.T, recall_with_fd=recall_with_fd)
        for name in RATES:
            above, below = parts[name]
            assert (
                found.rates[mode][name]
                == delta_intervals([spread_of(above, below - above)], 0.95)[0]
            )
    assert found.score == pytest.approx(delta_intervals([spread_of(scores, 1 - scores)], 0.95)[0])


def tallied(counts) -> Tally:
    """Return the tally of a field of some documents, (3 modes, documents, 5 outcomes)."""
    tally = Tally()
    documents = counts.shape[1]
    scores = np.zeros((4, documents))
    tally.add(FieldCounts([()], np.zeros(1, int), np.arange(documents), counts, scores, [], [], {}))
    return tally


def test_scores_that_are_all_whole_have_the_exact_interval():
    found = field_intervals(
        Tally(), ScoreSums(9, 9 * SCORE_UNIT, 9 * SCORE_UNIT), 0.95, recall_with_fd=False
    )

    assert found.score == Interval(pytest.approx(0.025 ** (1 / 9)), 1.0)
    assert found.rates["overall"]["f1"] is None


@pytest.mark.parametrize(
    ("documents", "repetitions"),
    [(10, 200), (30, 100), (100, 40), pytest.param(1000, 40, marks=pytest.mark.slow)],
)
def test_both_methods_agree_and_hold_the_true_rate_as_often_as_they_say(documents, repetitions):
    cells = covered(documents, repetitions, seed=4, kinds=(*KINDS, *EXTREME))
    by_method = [[cell for cell in cells if cell.method == method] for method in METHODS]
    for resampled, of_sums in zip(*by_method, strict=True):
        assert resampled.kind == of_sums.kind
        # The widths are means over the same simulated runs.
        assert of_sums.width == pytest.approx(resampled.width, rel=0.15, abs=0.002), of_sums
        if documents < 1000 or "larger" not in of_sums.kind:
            error = (0.95 * 0.05 / repetitions) ** 0.5
            assert of_sums.covered >= 0.95 - 3 * error, of_sums
