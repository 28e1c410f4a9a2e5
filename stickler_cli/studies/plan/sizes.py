"""Numbers of documents: intervals, and the power of comparisons, turned round.

The sums of a run grow as the number of its documents does: the interval of any number of documents
like them is that of their sums, multiplied.
"""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Final

import numpy as np
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from stickler_cli.core.values import dataclass
from stickler_cli.score.intervals import Interval, Spread, rate_intervals

FEWEST: Final = 10
"""Documents below which a run says too little: a range stands for the number then."""
FEWEST_TO_DIFFER: Final = 6  # of fewer, no swaps are rare enough to show a change
MOST: Final = 10**8  # what so many documents do not reach is out of reach
_POINTS: Final = 24  # of a curve


def least(reached: Callable[[float], bool]) -> int | None:
    """Return the least number of documents that reaches something; None where none does.

    >>> least(lambda documents: documents >= 1234.5), least(lambda documents: False)
    (1235, None)
    """
    low, high = 1, 2
    while not reached(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Pilot:
    """The sums of a figure over the documents of a run."""

    spread: Spread
    documents: int
    level: float
    """Of intervals."""

    @property
    def share(self) -> float | None:
        """The figure; None where there is nothing to divide by."""
        whole = self.spread.right + self.spread.wrong
        return self.spread.right / whole if whole else None

    @property
    def deviation(self) -> float:
        """The standard deviation of the figure, over the draw of the documents."""
        right, wrong, right_squares, both, wrong_squares, _ = self.spread
        whole = (right + wrong) or 1.0
        share, other = right / whole, wrong / whole
        squares = other**2 * right_squares - 2 * share * other * both + share**2 * wrong_squares
        return sqrt(max(squares, 0.0)) / whole

    @property
    def extremes(self) -> "tuple[Pilot, Pilot]":
        """The same with an unseen document, wholly right and wholly wrong, of average size."""
        right, wrong, right_squares, both, wrong_squares, all_right = self.spread
        bad = (right_squares + 2 * both + wrong_squares) / ((right + wrong) or 1.0)
        good = max(bad, all_right)
        kinder = self.spread._replace(right=right + good, right_squares=right_squares + good**2)
        harder = self.spread._replace(wrong=wrong + bad, wrong_squares=wrong_squares + bad**2)
        return replace(self, spread=kinder), replace(self, spread=harder)

    def interval(self, number: float) -> Interval | None:
        """Return the interval of a number of such documents."""
        times = number / self.documents
        more = Spread._make([*(part * times for part in self.spread[:5]), self.spread.all_right])
        with np.errstate(all="ignore"):  # of a part of a document it may have no end
            return rate_intervals([more], self.level)[0]

    def evened(self, thirds: int) -> "Pilot":
        """The same with more of what is rare: most pilots have too little of it.

        A third of a large document is lacking in the median, of rare ones that are counted two.

        Source: Choi (1994), doi:10.1090/S0002-9939-1994-1195477-8, for gamma distributions.
        """
        right, wrong, right_squares, both, wrong_squares, all_right = self.spread
        ups, downs = (
            1 + thirds / 3 * squares / part**2 if part else 1.0
            for part, squares in ((right, right_squares), (wrong, wrong_squares))
        )
        more = right_squares * ups, both * sqrt(ups * downs), wrong_squares * downs
        return replace(self, spread=Spread(right, wrong, *more, all_right))

    def half_width(self, number: float) -> float:
        """Return half the width that is to be expected of that."""
        lower, upper = self.evened(1).interval(number) or (0.0, 1.0)
        return (upper - lower) / 2

    def for_width(self, wanted: float) -> int | None:
        """Return how many documents give an interval of a half width."""
        return least(lambda number: self.half_width(number) <= wanted)

    def for_gate(self, limit: float, power: float, *, lower_end: bool) -> int | None:
        """Return how many documents bring that end of the interval to a limit, with a chance."""
        evened = self.evened(2)
        apart = float(ndtri(power)) * evened.deviation

        def reached(number: float) -> bool:
            unlucky = evened.moved(apart * sqrt(self.documents / number), worse=lower_end)
            lower, upper = unlucky.interval(number) or (0.0, 1.0)
            return lower >= limit if lower_end else upper <= limit

        return least(reached)

    def moved(self, apart: float, *, worse: bool) -> "Pilot":
        """Return the sums of a run that came out so much worse, or better, by chance.

        There are more documents of the kind that makes it so, and fewer of the others.
        """
        right, wrong, right_squares, both, wrong_squares, all_right = self.spread
        rarer, whole = (wrong if worse else right), right + wrong
        more = max(1 + apart * whole / rarer, 0.0) if rarer else 1.0
        less = max(1 - (more - 1) * rarer / (whole - rarer), 0.0) if whole > rarer else 1.0
        ups, downs = (less, more) if worse else (more, less)
        squares = right_squares * ups, both * more, wrong_squares * downs
        return replace(self, spread=Spread(right * ups, wrong * downs, *squares, all_right))


def chance_ratios(documents: int, level: float) -> tuple[float, float]:
    """Return how much smaller and larger than theirs the variance of all may be.

    Source: the interval of a variance by chi-squared, as for normal deviations.
    """
    freedom = max(documents - 1, 1)
    low, high = (freedom / float(chdtri(freedom, (1 + sign * level) / 2)) for sign in (-1, 1))
    return low, high


def power_of(change: float, documents: float, level: float) -> float:
    """Return the chance that a paired comparison of documents shows a change.

    `change` is in standard deviations of what is measured with so many, `level` 1 less the chance
    of an alarm where nothing changed.
    """
    if documents < FEWEST_TO_DIFFER:
        return 0.0
    critical = -float(stdtrit(documents - 1, (1 - level) / 2))
    return float(ndtr(change - critical) + ndtr(-change - critical))


def curve_of(value: Callable[[float], float], documents: int | None) -> list[list[float]]:
    """Return a value for numbers of documents up to twice those that it takes."""
    steps = () if documents is None else range(1, _POINTS + 1)
    numbers = [2 * (documents or 0) * step / _POINTS for step in steps]
    return [[round(number, 1), value(number)] for number in numbers]
