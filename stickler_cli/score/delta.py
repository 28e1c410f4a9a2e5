"""Confidence intervals from sums, squares and products alone, however many documents there are.

One document more, wholly wrong for the lower end and wholly right for the upper one, is added, as
the bootstrap does. The mean and the variance of the rate, by the delta method, are then those of a
beta distribution, whose percentile is the end. Near 0 and 1, and with few documents, this is the
exact interval of a share instead of a normal one; with many it is that of the delta method.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from .bootstrap import FieldIntervals
from .counts import RATES, fractions
from .intervals import Interval, size_of
from .moments import NAMES, documents_with, products
from .tally import COUNTING_MODES, SCORE_UNIT, Tally

_UNITS: Final = np.eye(len(NAMES))


class Spread(NamedTuple):
    """Sums over documents of what is right and what is wrong in each, and of their products."""

    right: float
    wrong: float
    right_squares: float
    products: float
    wrong_squares: float
    size: float
    """How large one document more is."""


def delta_intervals(spreads: Sequence[Spread], level: float) -> list[Interval | None]:
    """Return the intervals of right / (right + wrong), None where both are 0.

    Of documents of one size that are wholly right or wrong this is the exact binomial interval.

    Source:
        Cochran (1977), Sampling Techniques, section 6.4, for the variance of a ratio; Clopper and
        Pearson (1934), doi:10.1093/biomet/26.4.404, for the exact interval, which is of beta
        distributions; docs/statistics.md has what this one holds in simulations.
    """
    from scipy.special import betaincinv  # takes as long to load as a small run

    right, wrong, right_squares, both, wrong_squares, size = np.array(spreads).reshape(-1, 6).T
    some = right + wrong > 0
    found = []
    for good, bad, tail in ((0.0, size, (1 - level) / 2), (size, 0.0, (1 + level) / 2)):
        total = np.where(some, right + wrong + size, 1.0)
        mean = (right + good) / total
        other = (wrong + bad) / total
        # Of right - mean (right + wrong), written so that nothing cancels near 0 and 1.
        squares = (
            other**2 * (right_squares + good**2)
            - 2 * mean * other * both
            + mean**2 * (wrong_squares + bad**2)
        )
        # Weights that add up to one vary a little less than independent ones.
        sizes = right_squares + 2 * both + wrong_squares + size**2
        with np.errstate(invalid="ignore"):
            as_many = mean * other * (total**2 + sizes) / squares - 1
            end = betaincinv(mean * as_many, other * as_many, tail)
        found.append(np.where(mean <= 0, 0.0, np.where(other <= 0, 1.0, end)))
    share = right / np.where(some, right + wrong, 1.0)
    ends = np.minimum(share, found[0]), np.maximum(share, found[1])
    return [
        Interval(lower, upper) if there else None
        for there, lower, upper in zip(some.tolist(), *(it.tolist() for it in ends), strict=True)
    ]


class ScoreSums(NamedTuple):
    """The scores of some documents, summed."""

    documents: int
    units: int
    """Their sum, in `SCORE_UNIT`s."""
    squares: int
    """The sum of their squares, likewise."""

    def spread(self) -> Spread:
        """Return what is right and wrong in the documents, a score being a share that is right."""
        whole = self.documents * SCORE_UNIT
        both, wrong_squares = self.units - self.squares, whole - 2 * self.units + self.squares
        sums = (self.units, whole - self.units, self.squares, both, max(wrong_squares, 0))
        return _spread([it / SCORE_UNIT for it in sums], 1.0)


def field_intervals(
    node: Tally, scores: ScoreSums, level: float, *, recall_with_fd: bool
) -> FieldIntervals:
    """Return the intervals of a field, or of whole documents."""
    spreads = [*_spreads(node, recall_with_fd=recall_with_fd), scores.spread()]
    *rates, score = delta_intervals(spreads, level)
    found = iter(rates)
    return FieldIntervals(
        {mode: {name: next(found) for name in RATES} for mode in COUNTING_MODES}, score
    )


def _spreads(node: Tally, *, recall_with_fd: bool) -> Iterator[Spread]:
    """Yield the spread of each rate of each counting mode."""
    # Of the five counts by themselves: how often each is in what a rate divides, and by what.
    parts = [*fractions([*_UNITS], recall_with_fd=recall_with_fd).values()]
    for mode, moments in zip(COUNTING_MODES, node.moments, strict=True):
        counts, squares = np.array(getattr(node, mode), np.float64), products(moments)
        about = documents_with(moments, recall_with_fd=recall_with_fd)
        for (right, below), documents in zip(parts, about, strict=True):
            wrong = below - right
            size = size_of(documents, float(below @ squares @ below))
            sums = right @ counts, wrong @ counts
            pairs = ((right, right), (right, wrong), (wrong, wrong))
            yield _spread([*sums, *(one @ squares @ other for one, other in pairs)], size)


def _spread(sums: Sequence[float], size: float) -> Spread:
    right, wrong, right_squares, both, wrong_squares = sums
    return Spread(right, wrong, right_squares, both, wrong_squares, size)
