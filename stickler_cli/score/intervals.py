"""Confidence intervals: how far a rate could be off because other documents might have come.

A cluster bootstrap: every document gets a weight in each replicate, which is a hash of its id, so
that documents may come in any order and in parts. docs/statistics.md has the method and its limits.
"""

from collections.abc import Sequence
from hashlib import blake2b
from math import exp, factorial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.values import dataclass
from stickler_cli.settings import LEVEL, IntervalOptions

REPLICATES: Final = 1000
"""Enough for the ends of a 95% interval: 25 replicates lie beyond each. Source: Efron and
Tibshirani (1993), An Introduction to the Bootstrap, section 12.5."""

MOST_REPLICATES: Final = 100_000  # a file that says more would only fill the memory
METHOD: Final = "Poisson bootstrap over documents, percentiles"

MOST_EMPTY: Final = 0.01
"""The share of replicates that may have nothing to divide by. It is exp(-n) of n documents that
say anything about a rate: below five of them there is no interval."""

CHUNK: Final = 256  # documents that are resampled at once, by one matrix product of a few MB
_TABLE: Final = 1 << 16
# The greatest weight is 8: what is left beyond it is less than one of the numbers of 16 bits.
_SHARES: Final = np.cumsum([exp(-1) / factorial(times) for times in range(9)])
_WEIGHTS: Final = np.searchsorted(
    np.rint(_SHARES * _TABLE), np.arange(_TABLE), side="right"
).astype(np.uint8)
"""The weight for every number of 16 bits; each is right with an error below 2**-16."""


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """What decides the intervals of a run."""

    level: float = LEVEL
    """The share of such intervals that are to hold the true value, in (0, 1)."""
    seed: int = IntervalOptions.seed
    """At least 0; another seed, other replicates."""
    replicates: int = REPLICATES
    """At least 1."""

    def view(self) -> dict[str, object]:
        """Return the settings as the run format shows them."""
        return {
            "level": self.level,
            "method": METHOD,
            "replicates": self.replicates,
            "seed": self.seed,
        }


class Interval(NamedTuple):
    """From where to where a value may lie, ends included."""

    lower: float
    upper: float


def percentiles(
    replicated: Sequence[tuple[NDArray[Any], NDArray[Any]]], level: float
) -> list[Interval | None]:
    """Return the intervals of quotients: of numerators and denominators, (replicates,) each.

    The ends are percentiles, interpolated, of the replicates that are not empty; the level is the
    share inside, in (0, 1). None where more than `MOST_EMPTY` of the denominators are 0.
    """
    quotients = (
        np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
        for above, below in replicated
    )
    values = np.array([*quotients])
    values.sort(axis=1)  # the empty ones, NaN, go last
    found: list[Interval | None] = []
    for row, there in zip(values, np.count_nonzero(~np.isnan(values), axis=1), strict=True):
        if there < (1 - MOST_EMPTY) * len(row):
            found.append(None)
            continue
        tail = (1 - level) / 2
        ends = [tail * (there - 1), (1 - tail) * (there - 1)]
        lower, upper = np.interp(ends, np.arange(there), row[:there])
        found.append(Interval(float(lower), float(upper)))
    return found


def weights(documents: Sequence[str], settings: IntervalSettings) -> NDArray[np.uint8]:
    """Return how often each document, by its id, is in each replicate: (documents, replicates).

    A document's weights are Poisson with mean 1, depend on nothing but its id, the seed and the
    number of the replicate, and are independent of those of all others.

    Source:
        Chamandy et al. (2012), Estimating Uncertainty for Massive Data Streams, for the method;
        Steele, Lea, Flood (2014), doi:10.1145/2660193.2660195, for the generator, SplitMix64.
    """
    key = str(settings.seed).encode()
    encoded = (name.encode("utf-8", "surrogatepass") for name in documents)
    hashes = (blake2b(name, digest_size=8, key=key).digest() for name in encoded)
    starts = np.array([int.from_bytes(each, "little") for each in hashes], dtype=np.uint64)
    draws = -(-settings.replicates // 4)  # each number of 64 bits makes four weights
    steps = np.arange(1, draws + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = starts[:, np.newaxis] + steps
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    parts = mixed.astype("<u8").view("<u2")  # little endian, so that every machine agrees
    drawn: NDArray[np.uint8] = _WEIGHTS[parts[:, : settings.replicates]]
    return drawn
