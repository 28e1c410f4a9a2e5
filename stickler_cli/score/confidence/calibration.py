"""How far confidences can be trusted: from units, each a confidence and whether it was right.

Every figure is made of sums over units of equal confidence, so neither order nor ties matter; the
sums may be of resampled documents, one column each. docs/confidence.md has the definitions.
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
"""Shares of all units that somebody may have time to review."""
PRECISIONS: Final = (0.95, 0.99, 0.999)
"""Shares right that may be asked of units that pass unseen."""

_ROUNDING: Final = 1e-12  # what a share may lack of a bound that it stands for
_LEAST: Final = 1e-15  # confidences of 0 and 1 would make one error cost without end


class Selective(NamedTuple):
    """Where to draw a line to have a share right above it, on these documents."""

    threshold: Fraction
    """The lowest such confidence."""
    coverage: Fraction
    """The share of values at or above it."""


class Bin(NamedTuple):
    """Values of some confidence."""

    lower: Fraction
    """The least confidence."""
    upper: Fraction
    """What it does not reach, but for the last bin."""
    units: Count
    """How many values there are."""
    confidence: FractionOrNone
    """Their mean confidence; null of none."""
    right: FractionOrNone
    """The share that is right; null of none."""
    interval: BoundsRecord | None = None
    """Where that share may lie."""

    def view(self) -> dict[str, Any]:
        """Return it as files have it, without an interval that there is not."""
        return {key: it for key, it in self._asdict().items() if key != "interval" or it}


@dataclass(frozen=True, eq=False)
class Reliability:
    """Units by their confidence, and their figures in resamples of documents.

    Every figure has shape (resamples,) and is NaN where it is not defined.
    """

    confidence: Floats
    """The distinct ones, ascending, (k,)."""
    right: Floats
    """How many units of each are right, (k, resamples)."""
    wrong: Floats
    """How many are wrong, (k, resamples)."""

    @cached_property
    def units(self) -> Floats:
        """How many units there are of each confidence."""
        return self.right + self.wrong

    @cached_property
    def total(self) -> Floats:
        """How many units there are."""
        total: Floats = self.units.sum(axis=0)
        return total

    @cached_property
    def errors(self) -> Floats:
        """How many of them are wrong."""
        errors: Floats = self.wrong.sum(axis=0)
        return errors

    @property
    def auroc(self) -> Floats:
        """P(confidence of a right unit > of a wrong one), ties half."""
        below = np.cumsum(self.wrong, axis=0) - self.wrong
        won = (self.right * (below + self.wrong / 2)).sum(axis=0)
        return divide(won, (self.total - self.errors) * self.errors)

    @property
    def auprc_error(self) -> Floats:
        """Average precision of finding wrong units from the least confident up, ties together."""
        precision = divide(np.cumsum(self.wrong, axis=0), np.cumsum(self.units, axis=0))
        found = np.where(self.wrong > 0, precision, 0) * self.wrong
        return divide(found.sum(axis=0), self.errors)

    @property
    def brier(self) -> Floats:
        """The mean squared distance of confidence and outcome."""
        far, near = self.confidence[:, None] ** 2, (1 - self.confidence[:, None]) ** 2
        return divide((self.wrong * far + self.right * near).sum(axis=0), self.total)

    @property
    def log_loss(self) -> Floats:
        """The mean of -ln of the probability given to the outcome."""
        clipped = np.clip(self.confidence, _LEAST, 1 - _LEAST)[:, None]
        lost = self.right * -np.log(clipped) + self.wrong * -np.log1p(-clipped)
        return divide(lost.sum(axis=0), self.total)

    @cached_property
    def _bins(self) -> tuple[Floats, Floats, Floats]:
        """Units, sum of confidences and right units of each bin of equal width."""
        which = np.minimum((BINS * self.confidence + _ROUNDING).astype(np.intp), BINS - 1)
        return self._by(np.broadcast_to(which[:, None], self.units.shape))

    def _by(self, which: Indexes) -> tuple[Floats, Floats, Floats]:
        """Return units, sum of confidences and right units by bin, (bins, resamples) each."""
        columns = self.units.shape[1]
        cells = (which * columns + np.arange(columns)).ravel()

        def sums(values: Floats) -> Floats:
            found = np.bincount(cells, values.ravel(), minlength=BINS * columns)
            return found.astype(np.float64).reshape(BINS, columns)

        weighted = self.units * self.confidence[:, None]
        return sums(self.units), sums(weighted), sums(self.right)

    @property
    def ece(self) -> Floats:
        """Expected calibration error over ten bins of equal width."""
        _, confidence, right = self._bins
        return divide(np.abs(right - confidence).sum(axis=0), self.total)

    @property
    def ece_mass(self) -> Floats:
        """The same over ten bins of about equal size; units of one confidence stay together."""
        below = np.cumsum(self.units, axis=0) - self.units
        which = np.minimum(divide(BINS * below, self.total, empty=0), BINS - 1).astype(np.intp)
        _, confidence, right = self._by(which)
        return divide(np.abs(right - confidence).sum(axis=0), self.total)

    @property
    def mce(self) -> Floats:
        """The greatest gap of a bin of equal width that holds any unit."""
        units, confidence, right = self._bins
        gaps = divide(np.abs(right - confidence), units, empty=0)
        return np.where(self.total > 0, gaps.max(axis=0), np.nan)

    @property
    def brier_parts(self) -> dict[str, Floats]:
        """Reliability, resolution and uncertainty over the bins of `ece`.

        Source: Murphy (1973), A New Vector Partition of the Probability Score.
        """
        units, confidence, right = self._bins
        base = divide(self.total - self.errors, self.total)
        gaps = units * divide(right - confidence, units, empty=0) ** 2
        spread = units * (divide(right, units, empty=0) - base) ** 2
        return {
            "reliability": divide(gaps.sum(axis=0), self.total),
            "resolution": divide(spread.sum(axis=0), self.total),
            "uncertainty": base * (1 - base),
        }

    def error_capture(self, budget: float) -> Floats:
        """Return the share of wrong units among the least confident ones that a budget reviews."""
        below = np.cumsum(self.units, axis=0) - self.units
        share = np.clip(divide(budget * self.total - below, self.units, empty=0), 0, 1)
        return divide((self.wrong * share).sum(axis=0), self.errors)

    @property
    def aurc(self) -> Floats:
        """Mean share wrong among the k most confident, over all k; ties in proportion.

        Of a group of n units with w wrong behind A units with E wrong, the k-th share is
        (E + w j/n) / (A + j) for j = 1..n; they add up to w + (E - A w/n) (H(A + n) - H(A)).
        """
        from scipy.special import digamma  # H(k) = digamma(k + 1) + a constant

        ahead = self.total - np.cumsum(self.units, axis=0)
        wrong_ahead = self.errors - np.cumsum(self.wrong, axis=0)
        steps = digamma(ahead + self.units + 1) - digamma(ahead + 1)
        rest = wrong_ahead - ahead * divide(self.wrong, self.units, empty=0)
        return divide((self.wrong + rest * steps).sum(axis=0), self.total)

    def curve(self) -> list[tuple[float, float]]:
        """Return coverage and share wrong from each confidence on, the highest first."""
        units = np.cumsum(self.units[::-1, 0])
        wrong = np.cumsum(self.wrong[::-1, 0])
        return list(zip((units / units[-1]).tolist(), (wrong / units).tolist(), strict=True))

    def selective(self, precision: float) -> list[Selective | None]:
        """Return the lowest confidence from which on at least that share is right."""
        units = np.cumsum(self.units[::-1], axis=0)[::-1]
        right = np.cumsum(self.right[::-1], axis=0)[::-1]
        good = (divide(right, units, empty=0) >= precision - _ROUNDING) & (self.units > 0)
        found: list[Selective | None] = []
        for column in range(good.shape[1]):
            if not good[:, column].any():
                found.append(None)
                continue
            at = int(good[:, column].argmax())
            coverage = float(units[at, column] / self.total[column])
            found.append(Selective(float(self.confidence[at]), coverage))
        return found

    def bins(self) -> list[Bin]:
        """Return the bins of equal width of the first resample, the least confident first."""
        by_bin = enumerate(zip(*(each[:, 0].tolist() for each in self._bins), strict=True))
        return [
            Bin(at / BINS, (at + 1) / BINS, round(n), _mean(confidence, n), _mean(right, n))
            for at, (n, confidence, right) in by_bin
        ]

    def shares(self) -> Floats:
        """Return the share that is right of each bin of equal width, (bins, resamples)."""
        units, _, right = self._bins
        return divide(right, units)

    def figures(self) -> dict[str, Floats]:
        """Return all that is one number, by name; parts of a figure are `name.part`."""
        captured = {str(budget): self.error_capture(budget) for budget in BUDGETS}
        return {
            **{name: getattr(self, name) for name in FIGURES},
            **{f"brier_parts.{name}": value for name, value in self.brier_parts.items()},
            **{f"error_capture.{budget}": value for budget, value in captured.items()},
        }


FIGURES: Final = ("auroc", "auprc_error", "brier", "ece", "ece_mass", "mce", "log_loss", "aurc")


def reliability(
    confidence: Floats,
    right: Mask,
    document: Indexes | None = None,
    weights: Floats | None = None,
    *,
    times: Indexes | None = None,
) -> Reliability:
    """Return units by confidence: as they are, or weighted by the documents that they are in.

    `confidence`, `right`, `document` and `times` are (units,), `weights` (documents, resamples).
    An entry may stand for several units, which `times` tells.
    """
    distinct, which = np.unique(confidence, return_inverse=True)
    if document is None or weights is None:
        counts = (
            np.bincount(which[it], None if times is None else times[it], minlength=len(distinct))
            for it in (right, ~right)
        )
        good, bad = (count[:, None].astype(np.float64) for count in counts)
        return Reliability(distinct, good, bad)
    sides = []
    for side in (right, ~right):
        sums = np.zeros((len(distinct), weights.shape[1]))
        order = which[side].argsort(kind="stable")
        groups, starts = np.unique(which[side][order], return_index=True)
        if len(groups):
            sums[groups] = np.add.reduceat(weights[document[side][order]], starts, axis=0)
        sides.append(sums)
    return Reliability(distinct, *sides)


def confidence_view(units: Reliability) -> dict[str, Any]:
    """Return the figures of units as they are, in the words of the run format; None if undefined.

    >>> units = reliability(np.array([0.9, 0.8, 0.3]), np.array([True, True, False]))
    >>> confidence_view(units)["auroc"]
    1.0
    """
    shown: dict[str, Any] = {}
    for name, value in units.figures().items():
        first, _, part = name.partition(".")
        number = None if np.isnan(value[0]) else float(value[0])
        if part:
            shown.setdefault(first, {})[part] = number
        else:
            shown[first] = number
    shown["selective"] = {
        str(precision): found and found._asdict()
        for precision in PRECISIONS
        for found in units.selective(precision)
    }
    return shown


def _mean(total: float, count: float) -> float | None:
    return total / count if count > 0 else None
