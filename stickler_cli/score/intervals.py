"""Confidence intervals: how far a rate could be off because other documents might have come.

A bootstrap over documents: every document has a weight in each replicate, which is a hash of its
id, so that documents may come in any order and in parts; and one more document, which nobody has
seen, is wholly wrong for lower ends and wholly right for upper ones. docs/statistics.md has the
method, what it covers in simulations, and its limits.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.values import dataclass
from stickler_cli.settings.allowed import LEVEL
from stickler_cli.settings.deciding import IntervalOptions

REPLICATES: Final = 1000
"""Enough for the ends of a 95% interval: 25 replicates lie beyond each. Source: Efron and
Tibshirani (1993), An Introduction to the Bootstrap, section 12.5."""

MOST_REPLICATES: Final = 100_000  # a file that says more would only fill the memory
METHOD: Final = "Bayesian bootstrap over documents and one more, wholly wrong or wholly right"
DELTA_METHOD: Final = (
    "delta method, as a beta distribution, of documents and one more, wholly wrong or wholly right"
)

CHUNK: Final = 256  # documents that are weighted at once, by one matrix product of a few MB
UNIT: Final = 1 << 8
"""A weight of 1. Weights are whole numbers, so that sums are exact and do not depend on order."""
_TABLE: Final = 1 << 16
_WEIGHTS: Final = np.maximum(
    1, np.rint(-UNIT * np.log1p(-(np.arange(_TABLE) + 0.5) / _TABLE))
).astype(np.uint16)
"""The weight for every number of 16 bits: exponential with mean 1, at most 11.8, and never 0, so
that no replicate has nothing to divide by where the documents have."""


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """What decides the intervals of a run."""

    level: float = LEVEL
    """The share of such intervals that are to hold the true value, in (0, 1)."""
    seed: int = IntervalOptions.seed
    """At least 0; another seed, other replicates."""
    replicates: int = REPLICATES
    """At least 1."""

    def view(self, *, resampled: bool = True) -> dict[str, object]:
        """Return the settings as the run format shows them, and what they were used for."""
        made = {"method": METHOD, "replicates": self.replicates}
        made = made if resampled else {"method": DELTA_METHOD}
        return {"level": self.level, **made, "seed": self.seed}


def intervals_of(options: IntervalOptions) -> IntervalSettings | None:
    """Return what decides the intervals that a command is asked for; None where it is for none."""
    return None if options.ci == "none" else IntervalSettings(options.ci, options.seed)


class Interval(NamedTuple):
    """From where to where a value may lie, ends included."""

    lower: float
    upper: float


class Share(NamedTuple):
    """What a share of sums over documents comes to."""

    value: float | None
    """None where there is nothing to divide by."""
    interval: list[float] | None
    """Its two ends; None without intervals."""


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


def quotient_intervals(
    quotients: Sequence[tuple[NDArray[Any], NDArray[Any], float]], settings: IntervalSettings
) -> list[Interval | None]:
    """Return the intervals of quotients, of weighted sums over documents, (1 + replicates,) each.

    Of each quotient: what is divided, by what, and what one document more would add to that.
    None where the first of the sums that is divided by is 0.
    """
    above, below = (np.array([each[part] for each in quotients], float) for part in (0, 1))
    added = np.outer([size for *_, size in quotients], added_weights(settings))
    below[below[:, 0] == 0] = np.nan
    more = below + added
    return ends(above / more, (above + added) / more, settings.level)


def shares_of_documents(
    documents: Sequence[str],
    shares: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
    settings: IntervalSettings | None,
) -> dict[str, Share]:
    """Return what shares of sums over documents come to, and their intervals.

    Documents may come in any order: they are summed by their ids.

    Args:
        documents: ids, (n,).
        shares: by name, what each document adds above and below the line, (n,) both.
        settings: None for no intervals; fewer than two documents have none either.
    """
    order = sorted(range(len(documents)), key=documents.__getitem__)
    names = [documents[at] for at in order]
    values = np.array([[*pair] for pair in shares.values()], float)[..., order]
    wholes = values.sum(axis=2)
    found: list[Interval | None] = [None] * len(shares)
    if settings is not None and len(names) > 1:
        sums = np.zeros((*values.shape[:2], 1 + settings.replicates))
        for start in range(0, len(names), CHUNK):
            some = slice(start, start + CHUNK)
            sums += values[:, :, some] @ weights(names[some], settings).astype(np.float64)
        below = values[:, 1]
        sizes = map(size_of, np.count_nonzero(below, axis=1), (below**2).sum(axis=1))
        found = quotient_intervals(
            [(above, under, size) for (above, under), size in zip(sums, sizes, strict=True)],
            settings,
        )
    return {
        name: Share(float(above / below) if below else None, interval and [*interval])
        for name, (above, below), interval in zip(shares, wholes, found, strict=True)
    }


def size_of(documents: int, squares: float) -> float:
    """Return how large one document more is: the quadratic mean of those that there are.

    That of a few large documents among small ones is larger than their mean, and so is what it
    would take away to find one of the large ones wrong.
    """
    return float(np.sqrt(squares / documents)) if documents else 0.0


def weights(documents: Sequence[str], settings: IntervalSettings) -> NDArray[np.uint16]:
    """Return the weight of each document, by its id, in `UNIT`s: (documents, 1 + replicates).

    In the first column each is 1: the documents as they are. The others depend on nothing but
    id, seed and number of the replicate, and are independent of those of other documents.

    Source:
        Rubin (1981), doi:10.1214/aos/1176345338, for exponential weights; Steele, Lea, Flood
        (2014), doi:10.1145/2660193.2660195, for the generator, SplitMix64.
    """
    encoded = [name.encode("utf-8", "surrogatepass") for name in documents]
    drawn = np.full((len(encoded), 1 + settings.replicates), UNIT, np.uint16)
    drawn[:, 1:] = _drawn(encoded, str(settings.seed), settings.replicates)
    return drawn


def added_weights(settings: IntervalSettings) -> NDArray[np.uint16]:
    """Return the weight of the document that is added, (1 + replicates,); first there is none."""
    found = np.zeros(1 + settings.replicates, np.uint16)
    found[1:] = _drawn([b""], f"{settings.seed} added", settings.replicates)[0]
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
