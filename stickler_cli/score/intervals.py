"""Confidence intervals of rates: how uncertain they are because of the choice of documents.

A rate is right / (right + wrong), where `right` and `wrong` are two numbers that are summed over
documents. An interval is computed from these sums, and from the sums of squares and products of the
two numbers. Documents may therefore be added in any order, and need not be kept.

For the lower bound, one unseen document that is wholly wrong is added. For the upper bound, one
that is wholly right is added. The delta method gives mean and variance of the rate. The bound is a
percentile of the beta distribution with this mean and variance. docs/statistics.md has the method,
its coverage in simulations, and its limits.

Figures that cannot be computed from sums are resampled by a Bayesian bootstrap. The weight of a
document in a replicate is a hash of its id, so the order of documents makes no difference.
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

from stickler_cli.compare.columns import Floats, Mask
from stickler_cli.compare.result import FD, FN, TP
from stickler_cli.core.rules import FRACTION, REQUIRED, Count, Number, Rule, is_share
from stickler_cli.settings.deciding import LEVEL, IntervalOptions
from .sums import (
    COUNTING_MODES,
    OUTCOME_NAMES,
    RATES,
    SCORE_SCALE,
    Tally,
    moment_matrix,
    rate_fractions,
)

METHOD: Final = (
    "delta method with a beta distribution, over all documents plus one document that is "
    "all wrong or all right"
)
MIN_DOCUMENTS: Final = 30
"""With fewer documents than this, an interval says little. For example, if none of 30 observed
documents is wrong, up to a tenth of all documents, observed or not, may still be wrong.
Source: Hanley and Lippman-Hand (1983), doi:10.1001/jama.1983.03330370053031, the rule of three.
"""
NODE_SCORE: Final = "threshold_applied_score"
SCORE_SPREAD: Final = ("", "score")  # key of the score in `rate_and_score_spreads`

_ONE_OF_EACH: Final = np.eye(len(OUTCOME_NAMES))  # counts of one unit of each outcome, (5, 5)
_RELEVANT: Final = _ONE_OF_EACH[TP] + _ONE_OF_EACH[FD] + _ONE_OF_EACH[FN]
_TIMES_IF_RIGHT: Final = {"recall": 1, "f1": 2}
"""How much one right value adds to the denominator of each rate. A wrong value may add less."""
_MIN_PARAMETER: Final = 0.03  # minimum parameter of a beta distribution with accurate percentiles
_N_POINTS: Final = 500  # points at which a beta density is summed: gives four digits


Level = Annotated[
    float,
    Rule(
        "a number above 0 and below 1",
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        fits=lambda value: is_share(value) and 0 < value < 1,
    ),
]


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """How confidence intervals are made."""

    level: Level = field(default=LEVEL, metadata={REQUIRED: True})
    """Confidence level: the share of such intervals that contain the true value."""
    seed: Count = field(default=IntervalOptions.seed, metadata={REQUIRED: True})
    """Seed of the random weights that resampling gives to documents."""

    def view(self) -> dict[str, object]:
        """Return the settings and the name of the method, as they are written to a run file."""
        return {"level": self.level, "method": METHOD, "seed": self.seed}


def intervals_of(options: IntervalOptions) -> IntervalSettings | None:
    """Return the interval settings of a command's options; None if the user wants no intervals."""
    return None if options.ci == "none" else IntervalSettings(options.ci, options.seed)


BoundsRecord = Annotated[
    list[Number],
    Rule(
        "two numbers",
        {"type": "array", "minItems": 2, "maxItems": 2, "items": FRACTION.keywords},
    ),
]
"""The two bounds of a confidence interval, as they are written to files."""


class Interval(NamedTuple):
    """The bounds of a confidence interval."""

    lower: float
    upper: float


class Share(NamedTuple):
    """A share over documents, with its confidence interval."""

    value: float | None
    """The share, in [0, 1]; None for a denominator of 0."""
    interval: list[float] | None
    """The two bounds of the confidence interval; None if no interval was computed."""


@dataclass(frozen=True, slots=True)
class FieldIntervals:
    """The confidence intervals of a field, or of whole documents.

    A rate whose denominator is 0 has None as its interval.
    """

    rates: Mapping[str, Mapping[str, Interval | None]]
    """The intervals of rates: `rates[counting mode][name of the rate]`."""
    score: Interval | None

    def view(self, *, whole: bool) -> dict[str, object]:
        """Return the intervals as they are written to a run file.

        Intervals that are None are left out. Set `whole` if the intervals are those of whole
        documents. The interval of the score is then left out, because it is written elsewhere.
        """
        view: dict[str, object] = {}
        for mode, intervals in self.rates.items():
            if existing := {
                f"cm_{name}": [*interval] for name, interval in intervals.items() if interval
            }:
                view[mode] = existing
        if self.score and not whole:
            view[NODE_SCORE] = [*self.score]
        return view


class Spread(NamedTuple):
    """Sums over documents for computing the interval of a rate.

    The rate is right / (right + wrong). Each document has the two numbers `right` and `wrong`. Five
    sums are added up over all documents: the sum of each number, of its square, and of the product
    of the two numbers.
    """

    right: float
    wrong: float
    right_squares: float
    right_times_wrong: float
    wrong_squares: float
    all_right: float = 0.0
    """The denominator of the rate in an average document, as it would be if all values of the
    document were right. If right values do not change the denominator, this number is 0."""


def rate_intervals(spreads: Sequence[Spread], level: float) -> list[Interval | None]:
    """Return the confidence interval of each rate, given the `Spread` of the rate.

    The rate is right / (right + wrong). If `right` and `wrong` are both 0, the interval is None. If
    all documents have the same size, and each document is either wholly right or wholly wrong, the
    interval is the exact binomial interval.

    Source:
        Cochran (1977), Sampling Techniques, section 6.4, for the variance of a ratio; Clopper and
        Pearson (1934), doi:10.1093/biomet/26.4.404, for the exact interval, whose bounds are
        percentiles of beta distributions; docs/statistics.md has its coverage in simulations.
    """
    sums: Any = Spread(*np.array(spreads).reshape(-1, 6).T)  # each sum becomes an array, (n_rates,)
    is_defined = sums.right + sums.wrong > 0

    # Average size of a document over its units, over its right and over its wrong units.
    right_sizes = sums.right_squares + sums.right_times_wrong
    wrong_sizes = sums.wrong_squares + sums.right_times_wrong
    size = divide(right_sizes + wrong_sizes, sums.right + sums.wrong, empty=0)
    size_if_right = np.maximum(size, sums.all_right)
    added_right = np.maximum(size_if_right, divide(right_sizes, sums.right, empty=0))
    added_wrong = np.maximum(size, divide(wrong_sizes, sums.wrong, empty=0))

    lower = _rate_bound(sums, is_defined, 0.0, added_wrong, (1 - level) / 2)
    upper = _rate_bound(sums, is_defined, added_right, 0.0, (1 + level) / 2)
    rate = divide(sums.right, sums.right + sums.wrong, empty=0)
    lower, upper = np.minimum(rate, lower), np.maximum(rate, upper)
    return [
        Interval(low, high) if defined else None
        for defined, low, high in zip(
            is_defined.tolist(), lower.tolist(), upper.tolist(), strict=True
        )
    ]


def _rate_bound(
    sums: Any, is_defined: Mask, added_right: Any, added_wrong: Any, tail: float
) -> Floats:
    """Return a percentile of each rate, computed as if there were one more document.

    `sums` is a `Spread` whose attributes are arrays. `added_right` and `added_wrong` are the
    numbers `right` and `wrong` of the added document. `tail` is the probability below the
    percentile. The arrays in `sums` and the result have the shape (n_rates,).
    """
    total = np.where(is_defined, sums.right + sums.wrong + added_right + added_wrong, 1.0)
    mean = (sums.right + added_right) / total
    complement = (sums.wrong + added_wrong) / total

    # Sum of squares of right - mean (right + wrong), written so that nothing cancels near 0 and 1.
    residual_squares = (
        complement**2 * (sums.right_squares + added_right**2)
        - 2 * mean * complement * sums.right_times_wrong
        + mean**2 * (sums.wrong_squares + added_wrong**2)
    )
    # Weights that must add up to one vary a little less than independent weights.
    size_squares = (
        sums.right_squares
        + 2 * sums.right_times_wrong
        + sums.wrong_squares
        + (added_right + added_wrong) ** 2
    )
    is_inner = (mean > 0) & (complement > 0)
    # Parameters of the beta distribution with this mean and variance add up to this concentration.
    concentration = np.where(
        is_inner,
        divide(mean * complement * (total**2 + size_squares), residual_squares, empty=0) - 1,
        1.0,
    )
    # Scores may be negative: their variance can exceed that of every beta distribution.
    has_percentile = ~is_inner | (np.minimum(mean, complement) * concentration > _MIN_PARAMETER)
    is_beta = is_inner & has_percentile
    alpha = np.where(is_beta, mean * concentration, 0.5)
    beta = np.where(is_beta, complement * concentration, 0.5)
    bound = np.where(has_percentile, beta_percentiles(alpha, beta, tail), tail > 0.5)
    return np.where(mean <= 0, 0.0, np.where(complement <= 0, 1.0, bound))


def divide(numerator: Floats, denominator: Floats, *, empty: float = np.nan) -> Floats:
    """Divide two arrays. Where the denominator is 0, the result is `empty`."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    quotients: Floats = np.divide(
        numerator, denominator, out=np.full(shape, empty, np.float64), where=denominator > 0
    )
    return quotients


def beta_percentiles(alpha: Floats, beta: Floats, tail: float) -> Floats:
    """Return a percentile of each beta distribution, accurate to four digits.

    `alpha` and `beta` are the parameters of the distributions: arrays of shape (n,), like the
    result. `tail` is the probability below the percentile. The density of the log-odds is a smooth
    bell, so its integral is approximated by a sum over equal steps. scipy.special has the same
    function. It is not used, because importing it takes as long as a small run.
    """
    alphas, betas = alpha[:, np.newaxis], beta[:, np.newaxis]
    mean = alphas / (alphas + betas)
    width = 6 * np.sqrt(1 / alphas + 1 / betas)
    # Steps start at the log-odds of the mean; the tails of the density fall exponentially, on the
    # left by alpha, on the right by beta.
    low = -width - (12 - log(tail)) / alphas
    high = width + (12 - log(1 - tail)) / betas
    step = (high - low) / (_N_POINTS - 1)
    log_odds = low + step * np.arange(_N_POINTS)
    growth = 1 + mean * np.expm1(log_odds)
    density = np.exp(alphas * log_odds - (alphas + betas) * np.log(growth))
    slope = alphas - (alphas + betas) * mean * np.exp(log_odds) / growth  # of log(density)
    # Trapezoid rule, with the end correction of Euler and Maclaurin.
    integral = step * (np.cumsum(density, axis=1) - density * (0.5 + step * slope / 12))
    target = tail * integral[:, -1:]
    rows = np.arange(len(alphas))
    columns = np.maximum(np.argmax(integral >= target, axis=1) - 1, 0)  # the last point below

    # Between two points, the density grows or falls exponentially.
    rate = slope[rows, columns]
    distance = (target[:, 0] - integral[rows, columns]) / density[rows, columns]
    is_flat = np.abs(rate * distance) < 1e-9
    rate = np.where(is_flat, 1.0, rate)
    growth_distance = np.log1p(np.maximum(rate * distance, -0.999)) / rate
    distance = np.where(is_flat, distance, growth_distance)
    odds = alpha * np.exp(log_odds[rows, columns] + distance)
    percentiles: Floats = odds / (odds + beta)
    return percentiles


_cached_rate_intervals: Final = lru_cache(1024)(rate_intervals)
"""A cache of `rate_intervals`, useful because many fields of a wide schema have the same sums."""


def field_intervals(tally: Tally, level: float, *, recall_with_fd: bool) -> FieldIntervals:
    """Return the confidence intervals of a field, or of whole documents.

    `tally` has the sums of the field, or of the whole documents.
    """
    spreads = rate_and_score_spreads(tally, recall_with_fd=recall_with_fd)
    intervals = _cached_rate_intervals((*spreads.values(),), level)
    by_key = dict(zip(spreads, intervals, strict=True))
    rates = {mode: {name: by_key[mode, name] for name in RATES} for mode in COUNTING_MODES}
    return FieldIntervals(rates, by_key[SCORE_SPREAD])


def rate_and_score_spreads(tally: Tally, *, recall_with_fd: bool) -> dict[tuple[str, str], Spread]:
    """Return a dict with the spread of each rate and of the score (see `Spread`).

    The key of a rate is (counting mode, name of the rate). The key of the score is `SCORE_SPREAD`.
    """
    rates = _rate_spreads(tally, recall_with_fd=recall_with_fd)
    names = ((mode, name) for mode in COUNTING_MODES for name in RATES)
    return {**dict(zip(names, rates, strict=True)), SCORE_SPREAD: _score_spread(tally)}


def _score_spread(tally: Tally) -> Spread:
    """Return the spread of a mean score. In each document, right = score and wrong = 1 - score."""
    scores, squares = tally.score_sum, tally.score_square_sum
    total = tally.n_scored * SCORE_SCALE
    return Spread(
        right=scores / SCORE_SCALE,
        wrong=(total - scores) / SCORE_SCALE,
        right_squares=squares / SCORE_SCALE,
        right_times_wrong=(scores - squares) / SCORE_SCALE,
        wrong_squares=max(total - 2 * scores + squares, 0) / SCORE_SCALE,
    )


@cache
def _rate_coefficients(*, recall_with_fd: bool) -> Mapping[str, tuple[Any, Any]]:
    """Return a dict that maps the name of each rate to two vectors of coefficients.

    The numerator of the rate is the dot product of the first vector and the counts of the five
    outcomes. The denominator is the dot product of the second vector and these counts. Each vector
    has the shape (5,).
    """
    return rate_fractions([*_ONE_OF_EACH], recall_with_fd=recall_with_fd)


def _rate_spreads(tally: Tally, *, recall_with_fd: bool) -> Iterator[Spread]:
    """Yield the spread of each rate, one counting mode after another."""
    coefficients = _rate_coefficients(recall_with_fd=recall_with_fd)
    for mode, moments in zip(COUNTING_MODES, tally.moments, strict=True):
        counts, squares = np.array(tally.counts(mode), np.float64), moment_matrix(moments)
        n_relevant = _RELEVANT @ counts
        size_if_right = float(_RELEVANT @ squares @ _RELEVANT / n_relevant) if n_relevant else 0.0
        for name, (right, denominator) in coefficients.items():
            wrong = denominator - right
            yield Spread(
                right=float(right @ counts),
                wrong=float(wrong @ counts),
                right_squares=float(right @ squares @ right),
                right_times_wrong=float(right @ squares @ wrong),
                wrong_squares=float(wrong @ squares @ wrong),
                all_right=_TIMES_IF_RIGHT.get(name, 0) * size_if_right,
            )


def document_shares(
    shares: Mapping[str, tuple[NDArray[Any], NDArray[Any]]], settings: IntervalSettings | None
) -> dict[str, Share]:
    """Return the value and the confidence interval of each share, as a dict with names as keys.

    The order of documents makes no difference.

    Args:
        shares: maps the name of each share to (numerators, denominators), one entry per document.
        settings: None for no intervals. With fewer than two documents, there are no intervals.
    """
    spreads = [_document_spread(*fraction) for fraction in shares.values()]
    intervals: list[Interval | None] = [None] * len(shares)
    has_two_documents = all(len(denominators) > 1 for _, denominators in shares.values())
    if settings is not None and has_two_documents:
        intervals = rate_intervals(spreads, settings.level)
    results = {}
    for name, spread, interval in zip(shares, spreads, intervals, strict=True):
        total = spread.right + spread.wrong
        results[name] = Share(
            value=spread.right / total if total else None,
            interval=[*interval] if interval else None,
        )
    return results


def _document_spread(numerators: NDArray[Any], denominators: NDArray[Any]) -> Spread:
    """Return the spread of a share from its numerators and denominators in all documents.

    The sums are rounded correctly, so the order of documents makes no difference.
    """
    right, wrong = numerators.astype(float), (denominators - numerators).astype(float)
    return Spread(
        right=fsum(right.tolist()),
        wrong=fsum(wrong.tolist()),
        right_squares=fsum((right * right).tolist()),
        right_times_wrong=fsum((right * wrong).tolist()),
        wrong_squares=fsum((wrong * wrong).tolist()),
    )


N_REPLICATES: Final = 1000
"""Number of replicates in resampling. It is enough for a 95% interval, since 25 replicates lie
beyond each bound.

Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 12.5.
"""

RESAMPLING_METHOD: Final = (
    "Bayesian bootstrap over all documents plus one document that is all wrong or all right"
)
"""The name of the resampling method in files."""

WEIGHT_SCALE: Final = 1 << 8
"""Weights are multiples of 1 / `WEIGHT_SCALE`. Sums of weights are therefore exact, and their order
makes no difference."""

_MAX_CELLS: Final = 4_000_000  # cells of an array: 32 MB
_N_WEIGHTS: Final = 1 << 16  # number of weights, chosen by 16 random bits


@cache  # computed only by the first run that resamples
def _weight_table() -> Floats:
    """Return a weight for each number of 16 bits. Weights are at most 11.8.

    They have an exponential distribution with mean 1. No weight is 0, so that denominators stay
    positive in every replicate.
    """
    quantiles = (np.arange(_N_WEIGHTS) + 0.5) / _N_WEIGHTS
    scaled: Floats = np.maximum(1, np.rint(-WEIGHT_SCALE * np.log1p(-quantiles)))
    return scaled / WEIGHT_SCALE


def resample(  # noqa: PLR0913 - documents, statistic, seed and sizes are independent
    documents: Sequence[str],
    statistic: Callable[[Floats], Floats],
    settings: IntervalSettings,
    *,
    size: int = 0,
    replicates: int = N_REPLICATES,
    swaps: bool = False,
) -> Floats:
    """Return the figures of a statistic in every replicate.

    The result is an array of shape (n_figures, 1 + replicates). The first column has the original
    figures, for which every weight is 1. The weight of a document depends only on its id, the seed
    and the number of the replicate. It is independent of other weights.

    Args:
        documents: the ids of the documents, without duplicates.
        statistic: takes weights as an array of shape (n_documents, n), and returns figures as an
            array of shape (n_figures, n). The figures in each of the n columns must depend only on
            the weights in the same column.
        settings: the seed of the weights.
        size: number of array cells that the statistic needs for one replicate. A size below the
            number of documents has no effect: the number of documents is then used instead.
        replicates: number of replicates.
        swaps: whether to draw weights of 1 or 0. They say whether a document's two runs are
            swapped.

    Source:
        Rubin (1981), doi:10.1214/aos/1176345338, for exponential weights.
    """
    starts = _generator_states(
        documents, f"{settings.seed} swapped" if swaps else str(settings.seed)
    )
    n_cells = max(len(documents), size, 1)
    step = max(1, _MAX_CELLS // n_cells // 4) * 4  # a multiple of 4, as `_draw_weights` needs
    drawn_weights = (
        _draw_weights(starts, first, min(step, replicates - first), swaps=swaps)
        for first in range(0, replicates, step)
    )
    once = np.ones((len(documents), 1))
    figures = [statistic(weights) for weights in chain([once], drawn_weights)]
    return np.concatenate(figures, axis=1)


def added_weights(settings: IntervalSettings) -> Floats:
    """Return the weight of one unseen document in every replicate.

    The bounds of an interval are computed as if the unseen document were in the run. The result is
    an array of shape (1 + N_REPLICATES,). Its first entry is the weight for the original figure,
    which is computed without the unseen document. This weight is therefore 0.
    """
    states = _generator_states([""], f"{settings.seed} added")
    return np.append(0.0, _draw_weights(states, 0, N_REPLICATES)[0])


def _generator_states(ids: Sequence[str], key: str) -> NDArray[np.uint64]:
    """Return the initial state of the random generator of each document.

    The state is a hash of the document's id, with `key` as the key of the hash.
    """
    seed = key.encode()
    if len(seed) > blake2b.MAX_KEY_SIZE:
        seed = blake2b(seed).digest()
    encoded_ids = (id_.encode("utf-8", "surrogatepass") for id_ in ids)
    hashes = (blake2b(text, digest_size=8, key=seed).digest() for text in encoded_ids)
    return np.array([int.from_bytes(digest, "little") for digest in hashes], dtype=np.uint64)


def _draw_weights(
    states: NDArray[np.uint64], first: int, number: int, *, swaps: bool = False
) -> Floats:
    """Return the weight of each document in the replicates `first` to `first + number - 1`.

    The first replicate of all has the index 0. `first` must be a multiple of four. If `swaps` is
    true, weights are 0 or 1. The result is an array of shape (n_documents, number).

    Source: Steele, Lea, Flood (2014), doi:10.1145/2660193.2660195, for the generator, SplitMix64.
    """
    # Each random number of 64 bits makes four weights.
    steps = np.arange(first // 4 + 1, -(-(first + number) // 4) + 1, dtype=np.uint64)
    mixed = states[:, np.newaxis] + steps * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    # Little endian on every machine, so that the four weights come in one order.
    random_bits = mixed.astype("<u8").view("<u2")[:, :number]
    weights: Floats = (
        (random_bits & 1).astype(np.float64) if swaps else _weight_table()[random_bits]
    )
    return weights


def resampled_intervals(
    wrong: NDArray[Any], right: NDArray[Any], level: float
) -> list[Interval | None]:
    """Compute the confidence interval of each figure from replicates of the figure.

    A replicate is the figure computed again with random weights of the documents. In addition,
    each replicate in `wrong` counts one more document that is wholly wrong, and each replicate in
    `right` counts one more document that is wholly right. The lower bound is a percentile of
    `wrong`, and the upper bound is a percentile of `right`. Both are interpolated. `level`, in
    (0, 1), is the share of the replicates between the two percentiles.

    The first column of both arrays is the original figure. The interval always contains it. If the
    original figure is NaN, the interval is None. Both arrays have the shape
    (n_figures, 1 + n_replicates).
    """
    position = (1 - level) / 2 * (wrong.shape[1] - 2)
    lower = _interpolate_sorted(wrong[:, 1:], position)
    upper = -_interpolate_sorted(-right[:, 1:], position)
    return [
        None if np.isnan(value) else Interval(float(min(low, value)), float(max(high, value)))
        for value, low, high in zip(wrong[:, 0], lower, upper, strict=True)
    ]


def _interpolate_sorted(values: NDArray[Any], position: float) -> NDArray[Any]:
    """Sort each row, and return the value at a position that may be between two values.

    Such a value is interpolated. For example, the value of the row [5, 1, 3] at position 0.5 is 2,
    because it is halfway between 1 and 3. The rows of the argument do not change.
    """
    before = int(position)
    after = min(before + 1, values.shape[1] - 1)
    ordered = np.partition(values, (before, after), axis=1)
    gaps = ordered[:, after] - ordered[:, before]
    interpolated: NDArray[Any] = ordered[:, before] + (position - before) * gaps
    return interpolated


def percentile_interval(values: Floats, level: float) -> Interval | None:
    """Return the interval between two percentiles of a figure's values in replicates.

    `values` has the shape (n,). `level`, in (0, 1), is the share of values between the two
    percentiles. Return None if a value is NaN.
    """
    if np.isnan(values).any():
        return None
    tail = (1 - level) / 2
    return Interval(*np.quantile(values, [tail, 1 - tail]).tolist())
