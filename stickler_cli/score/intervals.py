"""Confidence intervals: how far a rate could be off because other documents might have come.

They are made of sums over documents, of their squares and products: of any number of documents,
kept or not, in any order. One document more, which nobody has seen, is wholly wrong for the lower
end and wholly right for the upper one. The mean and the variance of the rate, by the delta method,
are then those of a beta distribution, whose percentile is the end. docs/statistics.md has the
method, what it covers in simulations, and its limits.

Where sums do not tell how far a figure could be off, documents are resampled: a Bayesian bootstrap.
Every document has a weight in each replicate, which is a hash of its id, so that they may come in
any order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import chain
from math import fsum, log
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Floats
from stickler_cli.compare.result import FD, FN, TP
from stickler_cli.core.rules import FRACTION, REQUIRED, Count, Number, Rule, is_share
from stickler_cli.settings.deciding import LEVEL, IntervalOptions
from .sums import COUNTING_MODES, NAMES, RATES, SCORE_UNIT, Tally, fractions, products

METHOD: Final = (
    "delta method, as a beta distribution, of documents and one more, wholly wrong or wholly right"
)
FEWEST_DOCUMENTS: Final = 30
"""Below these an interval says little: if nothing is wrong in so many, a tenth of all may be bad.

Source: Hanley and Lippman-Hand (1983), doi:10.1001/jama.1983.03330370053031, the rule of three.
"""
NODE_SCORE: Final = "threshold_applied_score"
SCORE_SPREAD: Final = ("", "score")  # its key among the spreads of a field

_UNITS: Final = np.eye(len(NAMES))
_TO_FIND: Final = _UNITS[TP] + _UNITS[FD] + _UNITS[FN]
_TIMES_FOUND: Final = {"recall": 1, "f1": 2}
"""How often a value that is to be found is in what a rate divides by, if it is found right: that
may be more often than if it is not."""
_LEAST: Final = 0.03  # of both parameters of a beta distribution: below, its ends may be anywhere
_POINTS: Final = 500  # at which the density of a beta distribution is summed: four digits or more


Level = Annotated[
    float,
    Rule(
        "a number between 0 and 1",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        fits=lambda it: is_share(it) and 0 < it < 1,
    ),
]


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """How confidence intervals were made."""

    level: Level = field(default=LEVEL, metadata={REQUIRED: True})
    """The share of such intervals that are to hold the true value."""
    seed: Count = field(default=IntervalOptions.seed, metadata={REQUIRED: True})
    """Which weights of documents were drawn, where they were resampled."""

    def view(self) -> dict[str, object]:
        """Return how intervals are made, as the run format shows it."""
        return {"level": self.level, "method": METHOD, "seed": self.seed}


def intervals_of(options: IntervalOptions) -> IntervalSettings | None:
    """Return what decides the intervals that a command is asked for; None where it is for none."""
    return None if options.ci == "none" else IntervalSettings(options.ci, options.seed)


BoundsRecord = Annotated[
    list[Number],
    Rule(
        "two numbers",
        {"type": "array", "minItems": 2, "maxItems": 2, "items": FRACTION.keywords},
    ),
]
"""Both ends of a confidence interval, as files have them."""


class Interval(NamedTuple):
    """From where to where a value may lie, ends included."""

    lower: float
    upper: float


class Share(NamedTuple):
    """A share of sums over documents."""

    value: float | None
    """None where there is nothing to divide by."""
    interval: list[float] | None
    """Its two ends; None without intervals."""


@dataclass(frozen=True, slots=True)
class FieldIntervals:
    """The intervals of one field, or of whole documents; None where there is none to give."""

    rates: Mapping[str, Mapping[str, Interval | None]]
    """By mode and rate."""
    score: Interval | None

    def view(self, *, whole: bool) -> dict[str, object]:
        """Return those that there are as a node of the run format shows them."""
        shown: dict[str, object] = {}
        for mode, rates in self.rates.items():
            if found := {f"cm_{name}": [*it] for name, it in rates.items() if it}:
                shown[mode] = found
        if self.score and not whole:
            shown[NODE_SCORE] = [*self.score]
        return shown


class Spread(NamedTuple):
    """Sums over documents of what is right and what is wrong in each, and of their products."""

    right: float
    wrong: float
    right_squares: float
    products: float
    wrong_squares: float
    all_right: float = 0.0
    """How large a document would be if all of it were right, where that is more than it is."""


def rate_intervals(spreads: Sequence[Spread], level: float) -> list[Interval | None]:
    """Return the intervals of right / (right + wrong), None where both are 0.

    Of documents of one size that are wholly right or wrong this is the exact binomial interval.

    Source:
        Cochran (1977), Sampling Techniques, section 6.4, for the variance of a ratio; Clopper and
        Pearson (1934), doi:10.1093/biomet/26.4.404, for the exact interval, which is of beta
        distributions; docs/statistics.md has what this one holds in simulations.
    """
    right, wrong, right_squares, both, wrong_squares, all_right = np.array(spreads).reshape(-1, 6).T
    some = right + wrong > 0
    # How large the document is in which a value, a right one or a wrong one is, on average.
    where_right, where_wrong = right_squares + both, wrong_squares + both
    size = ratio(where_right + where_wrong, right + wrong, empty=0)
    right_one = np.maximum(np.maximum(size, all_right), ratio(where_right, right, empty=0))
    wrong_one = np.maximum(size, ratio(where_wrong, wrong, empty=0))
    found = []
    for good, bad, tail in ((0.0, wrong_one, (1 - level) / 2), (right_one, 0.0, (1 + level) / 2)):
        total = np.where(some, right + wrong + good + bad, 1.0)
        mean = (right + good) / total
        other = (wrong + bad) / total
        # Of right - mean (right + wrong), written so that nothing cancels near 0 and 1.
        squares = (
            other**2 * (right_squares + good**2)
            - 2 * mean * other * both
            + mean**2 * (wrong_squares + bad**2)
        )
        # Weights that add up to one vary a little less than independent ones.
        sizes = right_squares + 2 * both + wrong_squares + (good + bad) ** 2
        inside = (mean > 0) & (other > 0)
        as_many = np.where(
            inside, ratio(mean * other * (total**2 + sizes), squares, empty=0) - 1, 1.0
        )
        # Of estimates, whose parts may be below 0, it may be larger than that of any share.
        known = ~inside | (np.minimum(mean, other) * as_many > _LEAST)
        first, second = (np.where(inside & known, it * as_many, 0.5) for it in (mean, other))
        end = np.where(known, beta_percentiles(first, second, tail), tail > 0.5)
        found.append(np.where(mean <= 0, 0.0, np.where(other <= 0, 1.0, end)))
    share = ratio(right, right + wrong, empty=0)
    ends = np.minimum(share, found[0]), np.maximum(share, found[1])
    return [
        Interval(lower, upper) if there else None
        for there, lower, upper in zip(some.tolist(), *(it.tolist() for it in ends), strict=True)
    ]


def ratio(above: Floats, below: Floats, *, empty: float = np.nan) -> Floats:
    """Return the quotient of each, or what stands for it where there is nothing to divide by."""
    shape = np.broadcast_shapes(above.shape, below.shape)
    found: Floats = np.divide(above, below, out=np.full(shape, empty, np.float64), where=below > 0)
    return found


def beta_percentiles(first: Floats, second: Floats, tail: float) -> Floats:
    """Return what each of some beta distributions is below with a chance, to four digits.

    The density of the log-odds is a smooth bell, so that a sum over equal steps is its integral.
    scipy.special has the same, and takes as long to load as a small run.
    """
    one, other = first[:, np.newaxis], second[:, np.newaxis]
    mean, width = one / (one + other), 6 * np.sqrt(1 / one + 1 / other)
    # From the log-odds of the mean; its tails fall by the one to the left, the other to the right.
    low, high = -width - (12 - log(tail)) / one, width + (12 - log(1 - tail)) / other
    step = (high - low) / (_POINTS - 1)
    apart = low + step * np.arange(_POINTS)
    grown = 1 + mean * np.expm1(apart)
    density = np.exp(one * apart - (one + other) * np.log(grown))
    slope = one - (one + other) * mean * np.exp(apart) / grown
    below = step * (np.cumsum(density, axis=1) - density * (0.5 + step * slope / 12))
    wanted = tail * below[:, -1:]
    row, at = np.arange(len(one)), np.maximum(np.argmax(below >= wanted, axis=1) - 1, 0)
    # On from the last point below, where the density grows or falls exponentially.
    bent = slope[row, at]
    more = (wanted[:, 0] - below[row, at]) / density[row, at]
    straight = np.abs(bent * more) < 1e-9
    bent = np.where(straight, 1.0, bent)
    more = np.where(straight, more, np.log1p(np.maximum(bent * more, -0.999)) / bent)
    odds = first * np.exp(apart[row, at] + more)
    found: Floats = odds / (odds + second)
    return found


_known_intervals: Final = lru_cache(1024)(rate_intervals)
"""Wide schemas have many fields with the same sums."""


def field_intervals(tally: Tally, level: float, *, recall_with_fd: bool) -> FieldIntervals:
    """Return the intervals of a field, or of whole documents."""
    spreads = spreads_of(tally, recall_with_fd=recall_with_fd)
    found = dict(zip(spreads, _known_intervals((*spreads.values(),), level), strict=True))
    rates = {mode: {name: found[mode, name] for name in RATES} for mode in COUNTING_MODES}
    return FieldIntervals(rates, found[SCORE_SPREAD])


def spreads_of(tally: Tally, *, recall_with_fd: bool) -> dict[tuple[str, str], Spread]:
    """Return the spreads of all rates, by counting mode and name, and that of the score."""
    rates = _spreads(tally, recall_with_fd=recall_with_fd)
    names = ((mode, name) for mode in COUNTING_MODES for name in RATES)
    return {**dict(zip(names, rates, strict=True)), SCORE_SPREAD: _score_spread(tally)}


def _score_spread(tally: Tally) -> Spread:
    """Return what is right and wrong in the documents, a score being a share that is right."""
    units, squares, whole = tally.score_units, tally.score_squares, tally.scored * SCORE_UNIT
    both, wrong_squares = units - squares, whole - 2 * units + squares
    sums = (units, whole - units, squares, both, max(wrong_squares, 0))
    return Spread(*(it / SCORE_UNIT for it in sums))


def _spreads(tally: Tally, *, recall_with_fd: bool) -> Iterator[Spread]:
    """Yield the spread of each rate of each counting mode."""
    # Of the five counts by themselves: how often each is in what a rate divides, and by what.
    parts = fractions([*_UNITS], recall_with_fd=recall_with_fd)
    for mode, moments in zip(COUNTING_MODES, tally.moments, strict=True):
        counts, squares = np.array(tally.counts(mode), np.float64), products(moments)
        to_find = _TO_FIND @ counts
        if_right = float(_TO_FIND @ squares @ _TO_FIND / to_find) if to_find else 0.0
        for name, (right, below) in parts.items():
            wrong = below - right
            pairs = ((right, right), (right, wrong), (wrong, wrong))
            sums = (right @ counts, wrong @ counts, *(it @ squares @ other for it, other in pairs))
            yield Spread._make([*map(float, sums), _TIMES_FOUND.get(name, 0) * if_right])


def shares_of_documents(
    shares: Mapping[str, tuple[NDArray[Any], NDArray[Any]]], settings: IntervalSettings | None
) -> dict[str, Share]:
    """Return shares of sums over documents, which may come in any order, and their intervals.

    Args:
        shares: by name, what each document adds above and below the line, (n,) both.
        settings: None for no intervals; fewer than two documents have none either.
    """
    spreads = [_spread_of(*share) for share in shares.values()]
    found: list[Interval | None] = [None] * len(shares)
    if settings is not None and all(len(below) > 1 for _, below in shares.values()):
        found = rate_intervals(spreads, settings.level)
    return {
        name: Share(it.right / whole if (whole := it.right + it.wrong) else None, ends and [*ends])
        for name, it, ends in zip(shares, spreads, found, strict=True)
    }


def _spread_of(above: NDArray[Any], below: NDArray[Any]) -> Spread:
    """Return the spread of a share, by sums that are as exact as floats can be."""
    right, wrong = above.astype(float), (below - above).astype(float)
    squares = (right * right, right * wrong, wrong * wrong)
    return Spread(*(fsum(each.tolist()) for each in (right, wrong, *squares)))


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
    seed = key.encode()
    if len(seed) > blake2b.MAX_KEY_SIZE:
        seed = blake2b(seed).digest()
    hashes = (blake2b(name, digest_size=8, key=seed).digest() for name in encoded)
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
