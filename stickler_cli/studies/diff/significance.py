"""Test whether changes of figures are significant, and compute their confidence intervals.

The methods are a paired permutation test, Holm's correction and a bootstrap. They answer whether a
change may be due to chance. Chance is the choice of the documents and, if a side has several runs,
also the choice of the runs.

docs/statistics.md describes the methods and their limits. The statistic is a quotient of sums, so
one matrix product computes it for all fields and all permutations. `scipy.stats.permutation_test`
is not used, because it would compute the statistic once for each field and each permutation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from math import comb, hypot, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.score.intervals import (
    Interval,
    IntervalSettings,
    added_weights,
    divide,
    resample,
    resampled_intervals,
)

# Number of random swaps: the error of a p value of 0.05 is mostly at most 0.004.
SWAPS: Final = 9999
# Number of documents up to which all swaps are tried: 2**13 is less than `SWAPS`.
MAX_ENUMERATED: Final = 14
_HALVINGS: Final = 40  # steps of the bisection for a p value
_SAME: Final = 1e-12  # smaller differences between two changes are rounding of their quotients


@dataclass(frozen=True, slots=True)
class Sample:
    """The dividends and divisors of a figure, for every document and both sides.

    `before` (first side) and `after` (second side) have shape (2, n_documents): row 0 has the
    dividends, row 1 the divisors. All of these are whole numbers, and their totals are below 2**53.
    If a side has several runs, dividends and divisors are sums over these runs.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    runs: tuple[Sequence[float], Sequence[float]] = ((), ())
    """The figure in each run of the first side, and the figure in each run of the second side."""
    paired: bool = False
    """Whether a sign test applies: each side has one run, and the figure of a document is 0 or
    1."""

    @property
    def moved(self) -> NDArray[np.float64]:
        """The changes of dividend and divisor in each document, second minus first.

        An array of shape (2, documents).
        """
        return self.after - self.before

    @property
    def differing(self) -> int:
        """The number of documents whose dividend or divisor differs between the two sides."""
        return int(np.count_nonzero(self.moved.any(axis=0)))

    @property
    def change(self) -> float:
        """The change of the figure. A figure is taken as 1 if its divisor is 0."""
        before, after = quotients(np.stack([self.before.sum(axis=1), self.after.sum(axis=1)], 1))
        return float(after - before)

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The influence of each document on the change of the figure. All influences add up to 0.

        Documents without the figure on both sides (both divisors are 0) are left out.
        """
        addends = []
        for dividend, divisor in (self.before, self.after):
            total = divisor.sum()
            rate = dividend.sum() / total if total else 0.0
            addends.append((dividend - divisor * rate) / total if total else 0 * dividend)
        has_figure = (self.before[1] > 0) | (self.after[1] > 0)
        deviations: NDArray[np.float64] = (addends[1] - addends[0])[has_figure]
        return deviations

    @property
    def deviation(self) -> float:
        """Standard error of the change. It covers only what is due to the choice of documents."""
        number, deviations = self.documents, self.deviations
        return sqrt(float(deviations @ deviations) * number / max(number - 1, 1))

    @property
    def sizes(self) -> NDArray[np.float64]:
        """The typical divisor of a document on each side, shape (2,).

        "Typical" is the root mean square.
        """
        squares = [float(below @ below) for below in (self.before[1], self.after[1])]
        return np.sqrt(np.array(squares) / max(self.documents, 1))

    @property
    def step(self) -> float:
        """How much one differing document typically changes the figure (root mean square)."""
        (above, below), (all_above, all_below) = self.moved, (self.before + self.after).sum(axis=1)
        steps = 2 * (above - below * (all_above / all_below)) / all_below
        return float(np.sqrt(steps @ steps / self.differing))

    @property
    def documents(self) -> int:
        """The number of documents that have the figure on at least one side."""
        return int(np.count_nonzero((self.before[1] > 0) | (self.after[1] > 0)))


def p_values(
    samples: Sequence[Sample], documents: Sequence[str], settings: IntervalSettings
) -> list[float]:
    """Return the two-sided p-value of each change, in (0, 1], by a permutation test.

    If both systems are equally good, the counts of a document could as well be swapped between the
    sides. The test tries every possible set of documents to swap. If too many documents differ, it
    tries `SWAPS` random sets instead. A figure is taken as 1 if its divisor is 0. If a side has
    several runs, a second p-value is computed from the variance among runs, and the greater one is
    returned.

    Source:
        Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3; Phipson
        and Smyth (2010), doi:10.2202/1544-6115.1585, for adding 1 to the number of drawn swaps.
    """
    large_samples = [sample for sample in samples if not is_enumerated(sample)]
    drawn_p = iter(_p_of_drawn_swaps(large_samples, documents, settings))
    p_of_swaps = [
        _p_of_all_swaps(sample) if is_enumerated(sample) else next(drawn_p) for sample in samples
    ]
    return [
        max(p, p_of_runs(sample.change, sample.deviations, sample.runs))
        for p, sample in zip(p_of_swaps, samples, strict=True)
    ]


def is_enumerated(sample: Sample) -> bool:
    """Return whether the p-value is exact.

    It is exact if a sign test applies, or if few enough documents differ to swap every possible set
    of them. Otherwise, the p-value is estimated from random swaps.
    """
    return sample.paired or sample.differing <= MAX_ENUMERATED


def smallest_p(differing: int) -> float:
    """Return the smallest p-value that is possible if `differing` documents differ.

    >>> smallest_p(0), smallest_p(6)
    (1.0, 0.03125)
    """
    return 1.0 if differing == 0 else 2.0 ** (1 - differing)


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected for the number of tests, by Holm's method.

    With the corrected values, the chance of any false alarm in all tests together is at most the
    significance level.

    Source: Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure.

    >>> holm([0.04, 0.25, 0.01])
    [0.08, 0.25, 0.03]
    """
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, np.arange(len(p), 0, -1) * np.array(p)[order])
    corrected: list[float] = np.maximum.accumulate(steps)[np.argsort(order)].tolist()
    return corrected


def change_intervals(
    samples: Sequence[Sample], documents: Sequence[str], settings: IntervalSettings
) -> list[Interval | None]:
    """Return a confidence interval for each change, by resampling documents.

    The interval is None if the divisor of the figure is 0 in one of the runs. `documents` are the
    ids.

    To compute the lower bound, an artificial document is added to both runs. Its values are right
    in the first run and wrong in the second run. For the upper bound, its values are wrong in the
    first run and right in the second run. This moves both bounds outwards. The bound closer to 0 is
    moved less: the artificial document then has only as many changed values as a typical document
    that differs between the runs. As a result, an interval excludes 0 in about the same cases in
    which its p-value (`p_values`) is small.
    """
    if not samples:
        return []
    columns = np.concatenate([side for sample in samples for side in (sample.before, sample.after)])
    sums = resample(documents, lambda weights: columns @ weights, settings)
    added = added_weights(settings)
    changes = [
        _compute_changes(sample, sample_sums, added)
        for sample, sample_sums in zip(samples, sums.reshape(len(samples), 4, -1), strict=True)
    ]
    broken, fixed = np.array(changes).swapaxes(0, 1)
    intervals = resampled_intervals(broken, fixed, settings.level)
    return [
        interval and widen_interval(interval, float(change), sample.runs, settings.level)
        for sample, change, interval in zip(samples, broken[:, 0], intervals, strict=True)
    ]


def _compute_changes(
    sample: Sample, sums: NDArray[np.float64], added: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the change of a figure in each bootstrap replicate, (2, 1 + replicates).

    Each row is computed with an artificial document in both runs, which `change_intervals`
    explains. For the first row, this document is right in the first run and wrong in the second
    run. For the second row, it is wrong in the first run and right in the second run.

    Args:
        sample: the figure in every document.
        sums: dividend and divisor of the first run, then of the second, (4, 1 + replicates).
        added: the weight of the artificial document, (1 + replicates,).
    """
    above, below = sums[::2], sums[1::2]
    below[below[:, 0] == 0] = np.nan
    added_sizes = np.outer(sample.sizes, added)
    wrong = above / (below + added_sizes)
    right = (above + added_sizes) / (below + added_sizes)
    broken, fixed = wrong[1] - right[0], right[1] - wrong[0]
    before, after = above / below
    if after[0] > before[0]:
        broken = np.maximum(broken, after - before - sample.step * added)
    elif after[0] < before[0]:
        fixed = np.minimum(fixed, after - before + sample.step * added)
    return np.array([broken, fixed])


def _sign_test(moved: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of McNemar's sign test. Only documents that differ are used.

    Source: McNemar (1947), doi:10.1007/BF02295996.
    """
    n_differing, n_better = int(np.count_nonzero(moved)), int(np.count_nonzero(moved > 0))
    n_one_way = max(n_better, n_differing - n_better)
    n_choices = n_extreme = comb(n_differing, n_one_way)
    for n_chosen in range(n_one_way, n_differing):
        n_choices = n_choices * (n_differing - n_chosen) // (n_chosen + 1)
        n_extreme += n_choices
    return min(1.0, float(2 * n_extreme / 2**n_differing))


def _p_of_all_swaps(sample: Sample) -> float:
    """Return the exact p-value of a change.

    The p-value is that of a sign test if this test applies. Otherwise, every possible set of the
    documents that differ is swapped between the sides.
    """
    if sample.paired:
        return _sign_test(sample.moved[0])
    moved = sample.moved[:, sample.moved.any(axis=0)]
    differing = moved.shape[1]
    if not differing:
        return 1.0
    swaps = np.arange(1 << (differing - 1))
    signs = np.where((swaps >> np.arange(differing)[:, np.newaxis]) & 1, -1.0, 1.0)
    return float(np.mean(_is_as_large(sample, moved @ signs)))


def _p_of_drawn_swaps(
    samples: Sequence[Sample], documents: Sequence[str], settings: IntervalSettings
) -> list[float]:
    if not samples:
        return []
    moved = np.concatenate([sample.moved for sample in samples])
    has_moved = np.any(moved, axis=0)
    moved = moved[:, has_moved]
    total_moved = moved.sum(axis=1, keepdims=True)
    # A weight of 0 swaps a document, which then moves the sums the other way. The first replicate
    # swaps no document: its change is the observed one.
    sums = resample(
        [*compress(documents, has_moved.tolist())],
        lambda weights: 2 * (moved @ weights) - total_moved,
        settings,
        replicates=SWAPS,
        swaps=True,
    )
    return [
        np.count_nonzero(_is_as_large(sample, sample_sums)) / (SWAPS + 1)
        for sample, sample_sums in zip(samples, sums.reshape(len(samples), 2, -1), strict=True)
    ]


def _is_as_large(sample: Sample, moved: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of swaps whose change is at least as large as the observed one; shape (swaps,).

    `moved` says how far dividend and divisor differ between the sides after each swap. Its shape is
    (2, swaps).
    """
    total = (sample.before + sample.after).sum(axis=1)[:, np.newaxis]
    observed_moved = sample.moved.sum(axis=1)[:, np.newaxis]
    change = np.abs(quotients(total + moved) - quotients(total - moved))
    observed = np.abs(quotients(total + observed_moved) - quotients(total - observed_moved))
    return change >= observed - _SAME


def quotients(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide the first row by the second row. The result is 1 where the divisor is 0."""
    return divide(*sums, empty=1)


@dataclass(frozen=True, slots=True)
class Variance:
    """An estimate of a variance."""

    value: float
    freedom: float
    """Degrees of freedom."""


def variance_of_runs(runs: tuple[Sequence[float], Sequence[float]]) -> Variance | None:
    """Return the variance of a change that is due to the choice of runs.

    `runs` are the figures in the runs of the first side, and those in the runs of the second side.
    A side with one run is assumed to vary as much as the other side. The result is None if each
    side has only one run.

    Source: Welch (1947), doi:10.1093/biomet/34.1-2.28, for the degrees of freedom.
    """
    variances = [
        Variance(float(np.var(side, ddof=1)), len(side) - 1) for side in runs if len(side) > 1
    ]
    if not variances:
        return None
    if len(variances) == 1:
        (variance,) = variances
        return Variance(variance.value * sum(1 / len(side) for side in runs), variance.freedom)
    of_means = [
        Variance(variance.value / (variance.freedom + 1), variance.freedom)
        for variance in variances
    ]
    total = sum(variance.value for variance in of_means)
    squares = sum(variance.value**2 / variance.freedom for variance in of_means)
    freedom = total**2 / squares if squares else sum(variance.freedom for variance in of_means)
    return Variance(total, freedom)


def p_of_runs(
    change: float, deviations: NDArray[np.float64], runs: tuple[Sequence[float], Sequence[float]]
) -> float:
    """Return the p-value of a change, given its variance among runs and among documents.

    The p-value is the smallest alpha at which the confidence interval of level 1 - alpha excludes
    0. Half the width of this interval is the square root of a sum of two squares: one is due to
    documents, and the other to runs. If each side has one run, the variance among runs is unknown.
    The result is then 0. `p_values` uses the greater of two p-values, so it ignores this result.

    Args:
        change: the change of the figure.
        deviations: the influence of each document on the change, as in `Sample.deviations`.
        runs: the figure in each run of the first side, and in each run of the second side.

    Source:
        Zou and Donner (2008), doi:10.1002/sim.3095, for intervals of sums.
    """
    runs_variance = variance_of_runs(runs)
    if runs_variance is None:
        return 0.0
    number = len(deviations)
    if number < 2:
        return 1.0
    documents_variance = Variance(
        float(deviations @ deviations) * number / (number - 1), float(number - 1)
    )
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        half_width = hypot(
            _half_width(documents_variance, middle), _half_width(runs_variance, middle)
        )
        low, high = (low, middle) if abs(change) > half_width else (middle, high)
    return high


def widen_interval(
    interval: Interval, change: float, runs: tuple[Sequence[float], Sequence[float]], level: float
) -> Interval:
    """Widen the interval of a change, so that it also covers chance in the choice of runs."""
    runs_variance = variance_of_runs(runs)
    if runs_variance is None:
        return interval
    half_width = _half_width(runs_variance, 1 - level)
    lower = change - hypot(change - interval.lower, half_width)
    upper = change + hypot(interval.upper - change, half_width)
    return Interval(max(-1.0, lower), min(1.0, upper))


def _half_width(variance: Variance, alpha: float) -> float:
    """Return half the width of a confidence interval of level 1 - `alpha`, from Student's t."""
    from scipy.special import stdtrit  # imported late: only differences of several runs need it

    return float(-stdtrit(variance.freedom, alpha / 2)) * sqrt(variance.value)
