"""Documents resampled, for figures of which sums do not tell how far they could be off.

A Bayesian bootstrap: every document has a weight in each replicate, which is a hash of its id, so
that documents may come in any order. It needs the documents; `intervals.py` does not.
"""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.account import Floats
from .intervals import Interval, IntervalSettings

REPLICATES: Final = 1000
"""Enough for the ends of a 95% interval: 25 replicates lie beyond each. Source: Efron and
Tibshirani (1993), An Introduction to the Bootstrap, section 12.5."""

RESAMPLED: Final = "Bayesian bootstrap over documents and one more, wholly wrong or wholly right"
"""The method, as records say it."""

UNIT: Final = 1 << 8
"""Weights are whole numbers of 1/256, so that sums are exact and do not depend on order."""

_AT_ONCE: Final = 4_000_000  # cells of an array: 32 MB
_TABLE: Final = 1 << 16


@cache  # few runs resample
def _weights() -> Floats:
    """Return the weight for every number of 16 bits: exponential with mean 1, at most 11.8.

    It is never 0, so that no replicate has nothing to divide by where the documents have.
    """
    found: Floats = np.maximum(1, np.rint(-UNIT * np.log1p(-(np.arange(_TABLE) + 0.5) / _TABLE)))
    return found / UNIT


def resample(  # noqa: PLR0913 - what is drawn, of what, and how much at once
    documents: Sequence[str],
    statistic: Callable[[Floats], Floats],
    settings: IntervalSettings,
    *,
    size: int = 0,
    replicates: int = REPLICATES,
    swaps: bool = False,
) -> Floats:
    """Return the figures of a statistic in every replicate, (figures, 1 + replicates).

    The first column has each document once. Weights depend on nothing but id, seed and number of
    the replicate, and are independent of those of other documents.

    Args:
        documents: ids, each once.
        statistic: takes weights of documents, (documents, some replicates), and returns its
            figures, (figures, some replicates), each replicate by itself.
        settings: the seed of the weights.
        size: of the arrays that the statistic makes of one replicate, if more than documents.
        replicates: how many there are.
        swaps: whether a weight is 1 or 0, by whether the runs of a document change places.

    Source:
        Rubin (1981), doi:10.1214/aos/1176345338, for exponential weights.
    """
    starts = _starts(documents, f"{settings.seed} swapped" if swaps else str(settings.seed))
    step = max(1, _AT_ONCE // max(len(documents), size, 1) // 4) * 4
    drawn = (
        _drawn(starts, first, min(step, replicates - first), swaps=swaps)
        for first in range(0, replicates, step)
    )
    once = np.ones((len(documents), 1))
    return np.concatenate([statistic(each) for each in chain([once], drawn)], axis=1)


def added_weights(settings: IntervalSettings) -> Floats:
    """Return the weight of the document that is added, (1 + replicates,); first there is none."""
    drawn = _drawn(_starts([""], f"{settings.seed} added"), 0, REPLICATES)
    return np.append(0.0, drawn[0])


def _starts(names: Sequence[str], key: str) -> NDArray[np.uint64]:
    encoded = (name.encode("utf-8", "surrogatepass") for name in names)
    hashes = (blake2b(name, digest_size=8, key=key.encode()).digest() for name in encoded)
    return np.array([int.from_bytes(each, "little") for each in hashes], dtype=np.uint64)


def _drawn(starts: NDArray[np.uint64], first: int, number: int, *, swaps: bool = False) -> Floats:
    """Return weights of so many replicates from a multiple of four on: (documents, number).

    Source: Steele, Lea, Flood (2014), doi:10.1145/2660193.2660195, for the generator, SplitMix64.
    """
    # Each number of 64 bits makes four weights.
    steps = np.arange(first // 4 + 1, -(-(first + number) // 4) + 1, dtype=np.uint64)
    mixed = starts[:, np.newaxis] + steps * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    parts = mixed.astype("<u8").view("<u2")[:, :number]  # little endian, as every machine's
    found: Floats = (parts & 1).astype(np.float64) if swaps else _weights()[parts]
    return found


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
    """Return the value at a place of each row, were it sorted."""
    below = int(place)
    above = min(below + 1, values.shape[1] - 1)
    ordered = np.partition(values, (below, above), axis=1)
    found: NDArray[Any] = ordered[:, below] + (place - below) * (
        ordered[:, above] - ordered[:, below]
    )
    return found


def percentiles(values: Floats, level: float) -> Interval | None:
    """Return the interval between percentiles of replicates; None if some are undefined."""
    if np.isnan(values).any():
        return None
    tail = (1 - level) / 2
    return Interval(*np.quantile(values, [tail, 1 - tail]).tolist())
