"""Significance of a change: a paired permutation test, Holm's correction, a bootstrap.

Chance is which documents came, and where a side has several runs which runs there were.

docs/statistics.md has the methods and their limits. The statistic is a quotient of sums, which
`scipy.stats.permutation_test` would make for each field and swap; here one product makes them all.
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

SWAPS: Final = 9999  # ways to swap that are drawn: a p of 0.05 is then off by 0.004 at most, mostly
MOST_ENUMERATED: Final = 14  # documents whose swaps are all tried: 2**13, less than are drawn
_HALVINGS: Final = 40  # of the range of a p value
_SAME: Final = 1e-12  # changes that are less apart are equal: they come of rounded quotients


@dataclass(frozen=True, slots=True)
class Sample:
    """Dividends and divisors of a figure in every document of both sides: (2, documents) each.

    Whole numbers, whose sums over all documents stay below 2**53; where a side has several runs, of
    all of them.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    runs: tuple[Sequence[float], Sequence[float]] = ((), ())
    """The figure in each run of either side."""
    paired: bool = False
    """Whether each document is right or not in one run of either side, and nothing between."""

    @property
    def moved(self) -> NDArray[np.float64]:
        """Changes in every document, (2, documents)."""
        return self.after - self.before

    @property
    def differing(self) -> int:
        """How many documents there are in which anything changed."""
        return int(np.count_nonzero(self.moved.any(axis=0)))

    @property
    def change(self) -> float:
        """The change of the figure; a quotient by 0 counts as 1."""
        before, after = quotients(np.stack([self.before.sum(axis=1), self.after.sum(axis=1)], 1))
        return float(after - before)

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The part of each document in the change, less their mean; of those that say anything."""
        parts = []
        for above, below in (self.before, self.after):
            total = below.sum()
            parts.append((above - below * (above.sum() / total)) / total if total else 0 * above)
        there = (self.before[1] > 0) | (self.after[1] > 0)
        found: NDArray[np.float64] = (parts[1] - parts[0])[there]
        return found

    @property
    def deviation(self) -> float:
        """The standard deviation of the change, over the draw of documents."""
        number, deviations = self.documents, self.deviations
        return sqrt(float(deviations @ deviations) * number / max(number - 1, 1))

    @property
    def sizes(self) -> NDArray[np.float64]:
        """How large a document is in either run, among those that say anything, (2,)."""
        squares = [float(below @ below) for below in (self.before[1], self.after[1])]
        return np.sqrt(np.array(squares) / max(self.documents, 1))

    @property
    def step(self) -> float:
        """How far a document that differs moves the figure: the quadratic mean of those that do."""
        (above, below), (all_above, all_below) = self.moved, (self.before + self.after).sum(axis=1)
        steps = 2 * (above - below * (all_above / all_below)) / all_below
        return float(np.sqrt(steps @ steps / self.differing))

    @property
    def documents(self) -> int:
        """How many documents there are that say anything about the figure."""
        return int(np.count_nonzero((self.before[1] > 0) | (self.after[1] > 0)))


def p_values(
    samples: Sequence[Sample], documents: Sequence[str], settings: IntervalSettings
) -> list[float]:
    """Return how often swaps would change each figure as much or more: two-sided, in (0, 1].

    Where a side has several runs, no less than what they let expect of other runs.

    If it made no difference which run a document was in, swapping its counts would change nothing
    but by chance. All swaps are tried, or `SWAPS` drawn. A figure that has nothing to divide by
    counts as 1, as there is no error in it.

    Source:
        Good (2005), Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3; Phipson
        and Smyth (2010), doi:10.2202/1544-6115.1585, for the 1 that is added to samples.
    """
    many = [sample for sample in samples if not is_enumerated(sample)]
    drawn = iter(_sampled(many, documents, settings))
    swapped = [_enumerated(it) if is_enumerated(it) else next(drawn) for it in samples]
    return [
        max(p, p_of_runs(it.change, it.deviations, it.runs))
        for p, it in zip(swapped, samples, strict=True)
    ]


def is_enumerated(sample: Sample) -> bool:
    """Return whether all ways to swap are tried, or counted."""
    return sample.paired or sample.differing <= MOST_ENUMERATED


def smallest_p(differing: int) -> float:
    """Return the least p that can come out when so many documents differ.

    >>> smallest_p(0), smallest_p(6)
    (1.0, 0.03125)
    """
    return 1.0 if differing == 0 else 2.0 ** (1 - differing)


def holm(p: Sequence[float]) -> list[float]:
    """Return p values corrected so that one false alarm among all is as rare as alpha.

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
    """Return the confidence interval of the change of every figure, over documents by id.

    Documents are resampled, and one more is added, whose weight, too, is the same in both runs. For
    lower ends that is wholly right in the first run and wholly wrong in the second, for upper ends
    the reverse; but for the end that is nearer to no change it differs only as much as documents
    that do. So the interval excludes 0 about where `p_values` are small. None where there is
    nothing to divide by in one of the runs.
    """
    if not samples:
        return []
    parts = np.concatenate([part for sample in samples for part in (sample.before, sample.after)])
    sums = resample(documents, lambda drawn: parts @ drawn, settings)
    added = added_weights(settings)
    changes = [
        _changes(sample, four, added)
        for sample, four in zip(samples, sums.reshape(len(samples), 4, -1), strict=True)
    ]
    broken, fixed = np.array(changes).swapaxes(0, 1)
    found = zip(
        samples, broken[:, 0], resampled_intervals(broken, fixed, settings.level), strict=True
    )
    return [
        interval and widened(interval, float(change), sample.runs, settings.level)
        for sample, change, interval in found
    ]


def _changes(
    sample: Sample, sums: NDArray[np.float64], added: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the change in every replicate with a document that broke, and with one fixed.

    `sums` is what is divided, and by what, in the first run, then in the second, (4, 1 +
    replicates); `added` the weight of that document, (1 + replicates,).
    """
    above, below = sums[::2], sums[1::2]
    below[below[:, 0] == 0] = np.nan
    more = np.outer(sample.sizes, added)
    wrong, right = above / (below + more), (above + more) / (below + more)
    broken, fixed = wrong[1] - right[0], right[1] - wrong[0]
    before, after = above / below
    if after[0] > before[0]:
        broken = np.maximum(broken, after - before - sample.step * added)
    elif after[0] < before[0]:
        fixed = np.minimum(fixed, after - before + sample.step * added)
    return np.array([broken, fixed])


def _sign_test(moved: NDArray[np.float64]) -> float:
    """Return how often as many or more of the documents that differ would do so in one direction.

    All swaps of them are counted: as many as there are ways to choose those that got better.

    Source: McNemar (1947), doi:10.1007/BF02295996.
    """
    differing, better = (int(np.count_nonzero(it)) for it in (moved, moved > 0))
    most = max(better, differing - better)
    ways = every = comb(differing, most)
    for chosen in range(most, differing):
        ways = ways * (differing - chosen) // (chosen + 1)
        every += ways
    return min(1.0, float(2 * every / 2**differing))


def _enumerated(sample: Sample) -> float:
    if sample.paired:
        return _sign_test(sample.moved[0])
    moved = sample.moved[:, sample.moved.any(axis=0)]
    differing = moved.shape[1]
    if not differing:
        return 1.0
    ways = np.arange(1 << (differing - 1))
    signs = np.where((ways >> np.arange(differing)[:, np.newaxis]) & 1, -1.0, 1.0)
    return float(np.mean(_as_large(sample, moved @ signs)))


def _sampled(
    samples: Sequence[Sample], documents: Sequence[str], settings: IntervalSettings
) -> list[float]:
    if not samples:
        return []
    moved = np.concatenate([sample.moved for sample in samples])
    some = np.any(moved, axis=0)
    # The first of the swaps is none, whose change is the one that was seen.
    sums = resample(
        [*compress(documents, some.tolist())],
        lambda swapped: moved[:, some] @ (2 * swapped - 1),
        settings,
        replicates=SWAPS,
        swaps=True,
    )
    return [
        np.count_nonzero(_as_large(sample, two)) / (SWAPS + 1)
        for sample, two in zip(samples, sums.reshape(len(samples), 2, -1), strict=True)
    ]


def _as_large(sample: Sample, moved: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which swaps give a change as large as the one that was seen.

    What moved is summed over documents, the swapped ones with the other sign: (2, swaps).
    """
    both = (sample.before + sample.after).sum(axis=1)[:, np.newaxis]
    seen = sample.moved.sum(axis=1)[:, np.newaxis]
    here = np.abs(quotients(both + moved) - quotients(both - moved))
    there = np.abs(quotients(both + seen) - quotients(both - seen))
    return here >= there - _SAME


def quotients(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first row divided by the second; 1 where there is nothing to divide by."""
    return divide(*sums, empty=1)


@dataclass(frozen=True, slots=True)
class Variance:
    """An estimate of a variance."""

    value: float
    freedom: float
    """Degrees of freedom."""


def variance_of_runs(runs: tuple[Sequence[float], Sequence[float]]) -> Variance | None:
    """Return how much the change varies as runs do; None where neither side has two.

    A side with one run is taken to vary as the other one.

    Source: Welch (1947), doi:10.1093/biomet/34.1-2.28, for the degrees of freedom.
    """
    of_sides = [Variance(float(np.var(it, ddof=1)), len(it) - 1) for it in runs if len(it) > 1]
    if not of_sides:
        return None
    if len(of_sides) == 1:
        (only,) = of_sides
        return Variance(only.value * sum(1 / len(it) for it in runs), only.freedom)
    parts = [Variance(it.value / (it.freedom + 1), it.freedom) for it in of_sides]
    value = sum(part.value for part in parts)
    squares = sum(part.value**2 / part.freedom for part in parts)
    return Variance(value, value**2 / squares if squares else sum(it.freedom for it in parts))


def p_of_runs(
    change: float, deviations: NDArray[np.float64], runs: tuple[Sequence[float], Sequence[float]]
) -> float:
    """Return the p of a change among runs and documents: two-sided, in [0, 1]; 0 of single runs.

    It is the level at which an interval begins to hold 0, whose half width is the root of the sum
    of squares of those of documents and of runs.

    Args:
        change: of the figure.
        deviations: what each document adds to it, less their mean.
        runs: the figure in each run of either side.

    Source:
        Zou and Donner (2008), doi:10.1002/sim.3095, for intervals of sums.
    """
    of_runs = variance_of_runs(runs)
    if of_runs is None:
        return 0.0
    number = len(deviations)
    if number < 2:
        return 1.0
    of_documents = Variance(
        float(deviations @ deviations) * number / (number - 1), float(number - 1)
    )
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        width = hypot(*(_half_width(part, middle) for part in (of_documents, of_runs)))
        low, high = (low, middle) if abs(change) > width else (middle, high)
    return high


def widened(
    interval: Interval, change: float, runs: tuple[Sequence[float], Sequence[float]], level: float
) -> Interval:
    """Return the interval of a change with room for other runs than these."""
    of_runs = variance_of_runs(runs)
    if of_runs is None:
        return interval
    more = _half_width(of_runs, 1 - level)
    lower = change - hypot(change - interval.lower, more)
    upper = change + hypot(interval.upper - change, more)
    return Interval(max(-1.0, lower), min(1.0, upper))


def _half_width(variance: Variance, alpha: float) -> float:
    """Return half the width of the interval of something of this variance, at a level."""
    from scipy.special import stdtrit  # few differences are of several runs

    return float(-stdtrit(variance.freedom, alpha / 2)) * sqrt(variance.value)
