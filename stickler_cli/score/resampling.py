"""Documents resampled, for figures of which sums do not tell how far they could be off.

A Bayesian bootstrap: every document has a weight in each replicate, which is a hash of its id, so
that documents may come in any order. It needs the documents; `intervals.py` does not.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .intervals import Interval, IntervalSettings

REPLICATES: Final = 1000
"""Enough for the ends of a 95% interval: 25 replicates lie beyond each. Source: Efron and
Tibshirani (1993), An Introduction to the Bootstrap, section 12.5."""

RESAMPLED: Final = "Bayesian bootstrap over documents and one more, wholly wrong or wholly right"
"""The method, as records say it."""

CHUNK: Final = 256  # documents that are weighted at once, by one matrix product of a few MB
UNIT: Final = 1 << 8
"""A weight of 1. Weights are whole numbers, so that sums are exact and do not depend on order."""
_TABLE: Final = 1 << 16
_WEIGHTS: Final = np.maximum(
    1, np.rint(-UNIT * np.log1p(-(np.arange(_TABLE) + 0.5) / _TABLE))
).astype(np.uint16)
"""The weight for every number of 16 bits: exponential with mean 1, at most 11.8, and never 0, so
that no replicate has nothing to divide by where the documents have."""


def resampled_view(settings: IntervalSettings) -> dict[str, object]:
    """Return how intervals of changes are made, as records show it."""
    return {**settings.view(), "method": RESAMPLED, "replicates": REPLICATES}


def ends(wrong: NDArray[Any], right: NDArray[Any], level: float) -> list[Interval | None]:
    """Return the intervals of figures from their values in replicates, (figures, 1 + replicates).

    The first value is the figure itself, which is always within its interval; None where that is
    NaN. Ends are percentiles, interpolated: lower ones of the replicates with a wrong document,
    upper ones of those with a right one. The level is the share between them, in (0, 1).
    """
    place = (1 - level) / 2 * (wrong.shape[1] - 2)
    lower = _interpolated(wrong[:, 1:], place)
    upper = -_interpolated(-right[:, 1:], place)
    return [
        None if np.isnan(value) else Interval(float(min(low, value)), float(max(high, value)))
        for value, low, high in zip(wrong[:, 0], lower, upper, strict=True)
    ]


def _interpolated(values: NDArray[Any], place: float) -> NDArray[Any]:
    """Return what would stand at a place of each row, if that were sorted."""
    below = int(place)
    above = min(below + 1, values.shape[1] - 1)
    ordered = np.partition(values, (below, above), axis=1)
    found: NDArray[Any] = ordered[:, below] + (place - below) * (
        ordered[:, above] - ordered[:, below]
    )
    return found


def weights(documents: Sequence[str], settings: IntervalSettings) -> NDArray[np.uint16]:
    """Return the weight of each document, by its id, in `UNIT`s: (documents, 1 + replicates).

    In the first column each is 1: the documents as they are. The others depend on nothing but
    id, seed and number of the replicate, and are independent of those of other documents.

    Source:
        Rubin (1981), doi:10.1214/aos/1176345338, for exponential weights; Steele, Lea, Flood
        (2014), doi:10.1145/2660193.2660195, for the generator, SplitMix64.
    """
    encoded = [name.encode("utf-8", "surrogatepass") for name in documents]
    drawn = np.full((len(encoded), 1 + REPLICATES), UNIT, np.uint16)
    drawn[:, 1:] = _drawn(encoded, str(settings.seed), REPLICATES)
    return drawn


def added_weights(settings: IntervalSettings) -> NDArray[np.uint16]:
    """Return the weight of the document that is added, (1 + replicates,); first there is none."""
    found = np.zeros(1 + REPLICATES, np.uint16)
    found[1:] = _drawn([b""], f"{settings.seed} added", REPLICATES)[0]
    return found


def _drawn(names: Sequence[bytes], key: str, replicates: int) -> NDArray[np.uint16]:
    hashes = (blake2b(name, digest_size=8, key=key.encode()).digest() for name in names)
    starts = np.array([int.from_bytes(each, "little") for each in hashes], dtype=np.uint64)
    draws = -(-replicates // 4)  # each number of 64 bits makes four weights
    steps = np.arange(1, draws + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = starts[:, np.newaxis] + steps
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    parts = mixed.astype("<u8").view("<u2")  # little endian, so that every machine agrees
    found: NDArray[np.uint16] = _WEIGHTS[parts[:, :replicates]]
    return found
