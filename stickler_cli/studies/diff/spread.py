"""How runs of one system differ from each other, and what that leaves of a change.

Runs are drawn as documents are: what is said is to hold for the next run of either system too.
docs/statistics.md has the method, and its size and power in simulations.
"""

from collections.abc import Sequence
from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.values import dataclass
from stickler_cli.score.intervals import Interval

_HALVINGS = 40  # of the range of a p value


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
