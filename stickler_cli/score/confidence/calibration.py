"""Calibration: how well confidences predict which values are right.

A unit is a predicted value with a confidence; it is right or wrong. Units of equal confidence are
added up before any figure is computed. Therefore neither the order of units nor ties change a
figure. There may be resamples of the documents; then sums have a column for each resample.
docs/confidence.md has the definitions.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.core.rules import Count, Fraction, FractionOrNone
from stickler_cli.score.intervals import BoundsRecord, divide

BINS: Final = 10
BUDGETS: Final = (0.1, 0.3, 0.5)
"""Shares of all values that people may have time to review. For each of these shares, the results
say which share of the wrong values such a review would find."""
PRECISIONS: Final = (0.95, 0.99, 0.999)
"""Shares of right values that users may require. For each of them, reports show the lowest
confidence threshold such that enough of the values at or above it are right."""

_ROUNDING: Final = 1e-12  # rounding errors of shares that equal a bound
_MIN_PROBABILITY: Final = 1e-15  # a wrong value of confidence 1 would cost infinitely much


class Selective(NamedTuple):
    """The lowest confidence threshold that reaches a required precision.

    The precision is the share of right values among those at or above the threshold.
    """

    threshold: Fraction
    """The lowest confidence that is accepted."""
    coverage: Fraction
    """The share of values whose confidence is at or above the threshold."""


class Bin(NamedTuple):
    """The values whose confidence is in one of ten ranges of equal width."""

    lower: Fraction
    """The lower bound of the range. The range includes it."""
    upper: Fraction
    """The upper bound of the range. Only the last range includes it."""
    units: Count
    """Number of values in the range."""
    confidence: FractionOrNone
    """Mean confidence of the values in the range; null if the range has no values."""
    right: FractionOrNone
    """The share of right values in the range; null if the range has no values."""
    interval: BoundsRecord | None = None
    """Confidence interval of the share that is right."""

    def view(self) -> dict[str, Any]:
        """Return the bin as it is written to a run file.

        An interval is left out if there is none.
        """
        return {key: value for key, value in self._asdict().items() if key != "interval" or value}


@dataclass(frozen=True, eq=False)
class Reliability:
    """Units grouped by confidence, and their figures in each resample of the documents.

    Every figure has the shape (n_resamples,) and is NaN if it is undefined.
    """

    confidence: Floats
    """The distinct confidences in ascending order, in an array of shape (n_distinct,)."""
    right: Floats
    """Number of right units with each confidence, in an array of shape (n_distinct, n_resamples).
    A unit counts with its weight."""
    wrong: Floats
    """Number of wrong units with each confidence, in an array of shape (n_distinct, n_resamples).
    A unit counts with its weight."""

    @cached_property
    def units(self) -> Floats:
        """Number of units with each confidence, in an array of shape (n_distinct, n_resamples)."""
        return self.right + self.wrong

    @cached_property
    def total(self) -> Floats:
        """Number of all units in each resample, in an array of shape (n_resamples,)."""
        total: Floats = self.units.sum(axis=0)
        return total

    @cached_property
    def errors(self) -> Floats:
        """Number of wrong units in each resample, in an array of shape (n_resamples,)."""
        errors: Floats = self.wrong.sum(axis=0)
        return errors

    @property
    def auroc(self) -> Floats:
        """Probability that a random right unit has a higher confidence than a random wrong unit.

        A tie counts as one half.
        """
        n_wrong_below = np.cumsum(self.wrong, axis=0) - self.wrong
        n_won_pairs = (self.right * (n_wrong_below + self.wrong / 2)).sum(axis=0)
        return divide(n_won_pairs, (self.total - self.errors) * self.errors)

    @property
    def auprc_error(self) -> Floats:
        """Average precision of a search for wrong units, which starts at the lowest confidence.

        Units of equal confidence are one step of the search.
        """
        precision = divide(np.cumsum(self.wrong, axis=0), np.cumsum(self.units, axis=0))
        weighted = np.where(self.wrong > 0, precision, 0) * self.wrong
        return divide(weighted.sum(axis=0), self.errors)

    @property
    def brier(self) -> Floats:
        """Mean squared difference between confidence and outcome: 1 for a right unit, else 0."""
        if_wrong = self.confidence[:, None] ** 2
        if_right = (1 - self.confidence[:, None]) ** 2
        return divide((self.wrong * if_wrong + self.right * if_right).sum(axis=0), self.total)

    @property
    def log_loss(self) -> Floats:
        """Mean of -ln(p); p is the confidence if the unit is right, else 1 - confidence."""
        clipped = np.clip(self.confidence, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)[:, None]
        losses = self.right * -np.log(clipped) + self.wrong * -np.log1p(-clipped)
        return divide(losses.sum(axis=0), self.total)

    @cached_property
    def _bins(self) -> tuple[Floats, Floats, Floats]:
        """Number of units, sum of confidences and number of right units in each bin.

        The bins are ranges of confidence that have equal width. Each array has the shape (BINS,
        n_resamples).
        """
        bins = np.minimum((BINS * self.confidence + _ROUNDING).astype(np.intp), BINS - 1)
        return self._sum_by_bin(np.broadcast_to(bins[:, None], self.units.shape))

    def _sum_by_bin(self, bins: Indexes) -> tuple[Floats, Floats, Floats]:
        """Return (number of units, sum of confidences, number of right units) of each bin.

        Each of the three arrays has the shape (BINS, n_resamples). `bins` has the shape
        (n_distinct, n_resamples): in each resample, it assigns each confidence to a bin, from 0 to
        BINS - 1.
        """
        n_resamples = self.units.shape[1]
        cells = (bins * n_resamples + np.arange(n_resamples)).ravel()

        def sum_cells(values: Floats) -> Floats:
            sums = np.bincount(cells, values.ravel(), minlength=BINS * n_resamples)
            return sums.astype(np.float64).reshape(BINS, n_resamples)

        confidences = self.units * self.confidence[:, None]
        return sum_cells(self.units), sum_cells(confidences), sum_cells(self.right)

    @property
    def ece(self) -> Floats:
        """Expected calibration error over ten bins of equal width."""
        _, confidence, right = self._bins
        return divide(np.abs(right - confidence).sum(axis=0), self.total)

    @property
    def ece_mass(self) -> Floats:
        """Expected calibration error over ten bins that have about equally many units.

        Units of equal confidence are always in the same bin.
        """
        n_below = np.cumsum(self.units, axis=0) - self.units
        bins = np.minimum(divide(BINS * n_below, self.total, empty=0), BINS - 1).astype(np.intp)
        _, confidence, right = self._sum_by_bin(bins)
        return divide(np.abs(right - confidence).sum(axis=0), self.total)

    @property
    def mce(self) -> Floats:
        """Maximum calibration error: the largest gap in any bin. The bins have equal width.

        The gap is the difference between the bin's mean confidence and its share of right units.
        """
        units, confidence, right = self._bins
        gaps = divide(np.abs(right - confidence), units, empty=0)
        return np.where(self.total > 0, gaps.max(axis=0), np.nan)

    @property
    def brier_parts(self) -> dict[str, Floats]:
        """The three terms of the Brier score: `reliability`, `resolution` and `uncertainty`.

        Each term is computed over the bins that `ece` uses, and has the shape (n_resamples,).
        Source: Murphy (1973), A New Vector Partition of the Probability Score.
        """
        units, confidence, right = self._bins
        base_rate = divide(self.total - self.errors, self.total)
        squared_gaps = units * divide(right - confidence, units, empty=0) ** 2
        squared_deviations = units * (divide(right, units, empty=0) - base_rate) ** 2
        return {
            "reliability": divide(squared_gaps.sum(axis=0), self.total),
            "resolution": divide(squared_deviations.sum(axis=0), self.total),
            "uncertainty": base_rate * (1 - base_rate),
        }

    def error_capture(self, budget: float) -> Floats:
        """Return the share of wrong units that a review of the least confident units finds.

        `budget` is the share of all units that are reviewed, in [0, 1].
        """
        # The share of each group of equal confidence that is reviewed, from the lowest one up.
        n_below = np.cumsum(self.units, axis=0) - self.units
        n_left_for_group = budget * self.total - n_below
        reviewed_share = np.clip(divide(n_left_for_group, self.units, empty=0), 0, 1)
        return divide((self.wrong * reviewed_share).sum(axis=0), self.errors)

    @property
    def aurc(self) -> Floats:
        """Area under the risk-coverage curve.

        For each k, take the share of wrong units among the k most confident units. The area is the
        mean of these shares over all k. Units of equal confidence have no order among themselves.
        If w of n such units are wrong, each of them counts as w/n wrong units.

        Take a group of n units of equal confidence, of which w are wrong. Let A be the number of
        units with a higher confidence, and E the number of wrong units among these A. The shares of
        the group are (E + w j/n) / (A + j) for j = 1..n. With harmonic numbers H, the sum of these
        shares is w + (E - A w/n) (H(A + n) - H(A)).
        """
        from scipy.special import digamma  # H(k) = digamma(k + 1) + Euler's constant

        n_ahead = self.total - np.cumsum(self.units, axis=0)
        n_wrong_ahead = self.errors - np.cumsum(self.wrong, axis=0)
        harmonic_steps = digamma(n_ahead + self.units + 1) - digamma(n_ahead + 1)
        factors = n_wrong_ahead - n_ahead * divide(self.wrong, self.units, empty=0)
        return divide((self.wrong + factors * harmonic_steps).sum(axis=0), self.total)

    def curve(self) -> list[tuple[float, float]]:
        """Return the risk-coverage curve of the first resample.

        Each point belongs to a confidence threshold, and is (coverage, share of wrong units). The
        highest threshold comes first.
        """
        units = np.cumsum(self.units[::-1, 0])
        wrong = np.cumsum(self.wrong[::-1, 0])
        return list(zip((units / units[-1]).tolist(), (wrong / units).tolist(), strict=True))

    def selective(self, precision: float) -> list[Selective | None]:
        """Return the lowest confidence threshold with the required precision, for each resample.

        `precision` is the required share of right units among the units at or above the threshold.
        An entry is None if no threshold reaches this share.
        """
        units = np.cumsum(self.units[::-1], axis=0)[::-1]
        right = np.cumsum(self.right[::-1], axis=0)[::-1]
        share_right = divide(right, units, empty=0)
        is_reached = (share_right >= precision - _ROUNDING) & (self.units > 0)
        lowest: list[Selective | None] = []
        for resample in range(is_reached.shape[1]):
            if not is_reached[:, resample].any():
                lowest.append(None)
                continue
            row = int(is_reached[:, resample].argmax())
            coverage = float(units[row, resample] / self.total[resample])
            lowest.append(Selective(float(self.confidence[row]), coverage))
        return lowest

    def bins(self) -> list[Bin]:
        """Return the first resample's bins of equal width, from low to high confidence."""
        units, confidences, right = (sums[:, 0].tolist() for sums in self._bins)
        return [
            Bin(
                lower=index / BINS,
                upper=(index + 1) / BINS,
                units=round(units[index]),
                confidence=_mean(confidences[index], units[index]),
                right=_mean(right[index], units[index]),
            )
            for index in range(BINS)
        ]

    def shares(self) -> Floats:
        """Return the share of right units in each bin of equal width.

        The array has the shape (BINS, n_resamples). The share of an empty bin is NaN.
        """
        units, _, right = self._bins
        return divide(right, units)

    def figures(self) -> dict[str, Floats]:
        """Return a dict that maps the name of each figure to its values in the resamples.

        The values of a figure are an array of shape (n_resamples,). A figure that consists of
        several numbers has an entry for each number, such as `error_capture.0.1`.
        """
        captures = {str(budget): self.error_capture(budget) for budget in BUDGETS}
        return {
            **{name: getattr(self, name) for name in FIGURES},
            **{f"brier_parts.{name}": value for name, value in self.brier_parts.items()},
            **{f"error_capture.{budget}": value for budget, value in captures.items()},
        }


FIGURES: Final = ("auroc", "auprc_error", "brier", "ece", "ece_mass", "mce", "log_loss", "aurc")


def reliability(
    confidence: Floats,
    is_right: Mask,
    document: Indexes | None = None,
    weights: Floats | None = None,
    *,
    multiplicity: Indexes | None = None,
) -> Reliability:
    """Group units by confidence. Each unit has weight 1, or the weight of its document.

    Args:
        confidence: the confidence of each unit, in an array of shape (n,).
        is_right: whether each unit is right, in an array of shape (n,).
        document: the position of each unit's document in `weights`, in an array of shape (n,).
        weights: the weight of each document in each resample, in an array of shape
            (n_documents, n_resamples).
        multiplicity: if equal units are merged into one entry of `confidence` and `is_right`, the
            number of units in each entry, in an array of shape (n,). Ignored if weights are given.
    """
    distinct, groups = np.unique(confidence, return_inverse=True)
    if document is None or weights is None:
        right, wrong = (
            np.bincount(
                groups[side],
                None if multiplicity is None else multiplicity[side],
                minlength=len(distinct),
            )
            for side in (is_right, ~is_right)
        )
        return Reliability(
            confidence=distinct,
            right=right[:, None].astype(np.float64),
            wrong=wrong[:, None].astype(np.float64),
        )
    weighted_sums = []
    for side in (is_right, ~is_right):
        sums = np.zeros((len(distinct), weights.shape[1]))
        # Sort units by group: each group is then one span of rows to add up.
        order = groups[side].argsort(kind="stable")
        present_groups, starts = np.unique(groups[side][order], return_index=True)
        if len(present_groups):
            unit_weights = weights[document[side][order]]
            sums[present_groups] = np.add.reduceat(unit_weights, starts, axis=0)
        weighted_sums.append(sums)
    return Reliability(distinct, *weighted_sums)


def confidence_view(units: Reliability) -> dict[str, Any]:
    """Return the figures of the first resample as they are written to a run file.

    Undefined figures are None.

    >>> units = reliability(np.array([0.9, 0.8, 0.3]), np.array([True, True, False]))
    >>> confidence_view(units)["auroc"]
    1.0
    """
    view: dict[str, Any] = {}
    for name, values in units.figures().items():
        figure, _, component = name.partition(".")
        value = None if np.isnan(values[0]) else float(values[0])
        if component:
            view.setdefault(figure, {})[component] = value
        else:
            view[figure] = value
    view["selective"] = {}
    for precision in PRECISIONS:
        lowest = units.selective(precision)[0]
        view["selective"][str(precision)] = lowest and lowest._asdict()
    return view


def _mean(total: float, count: float) -> float | None:
    return total / count if count > 0 else None
