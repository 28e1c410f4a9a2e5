"""The geometry of charts: from counts and shares to coordinates of a drawing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Any, Final, NamedTuple

from stickler_cli.core.figures import in_short, number_of, rate
from stickler_cli.score.detail import BINS, Histogram
from stickler_cli.score.intervals import Interval
from stickler_cli.score.sums import Counts, RateRule

WIDTH: Final = 440.0
HEIGHT: Final = 96.0  # both in units of the drawing; the page scales it
SIDE: Final = 240.0  # width and height of a square chart, in units of the drawing
MOST_POINTS: Final = 120  # maximum number of points of a curve
GAP: Final = 10.0  # gap before the bar of similarities of exactly 1

BAR: Final = (WIDTH - GAP) / (BINS + 1)
MIN_BAR_HEIGHT: Final = 2.0
"""Minimum height of a bar, so that one error remains visible beside a million matches."""

_STEPS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
# Smallest range of an axis: its full width is then one error in a hundred.
_LEAST_SPAN: Final = 0.01

OUTCOMES: Final = (
    *(("tp", "TP", "right"), ("fd", "FD", "wrong")),
    *(("fn", "FN", "missed"), ("fa", "FA", "invented")),
)
"""(Attribute of `Counts`, short name, meaning) for each outcome.

The order is that of the segments of a bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A vertical bar of a histogram, or a segment of a stacked bar."""

    x: float
    y: float
    height: float
    name: str
    title: str
    count: int
    lower: str
    """Lower bound of the values that the bar counts, as written in links."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A histogram of figures in [0, 1], with a label for screen readers."""

    bars: Sequence[Bar]
    threshold: float | None
    label: str
    ticks: Sequence[tuple[float, str]]
    curve: str = ""
    """Curve of F1 for each threshold, as data of an SVG path. Empty if there is no curve."""


def similarity_chart(histogram: Histogram, threshold: float | None, curve: str = "") -> Chart:
    """Return a histogram of the similarities of a field's paired values, with the threshold.

    `curve` shows F1 for each threshold, as data of an SVG path.
    """
    matched, unlike = sum(histogram.matched), sum(histogram.unlike)
    level = "their threshold" if threshold is None else f"the threshold of {threshold:g}"
    label = (
        f"Similarity of {number_of(matched + unlike, 'pair')} of values: {matched} at or "
        f"above {level}, {unlike} below"
    )
    bars = _make_bars({"tp": histogram.matched, "fd": histogram.unlike})
    threshold_x = None if threshold is None else _x(threshold)
    return Chart(
        bars=bars, threshold=threshold_x, label=label, ticks=_make_ticks(threshold), curve=curve
    )


def threshold_curve(pairs: Histogram, counts: Counts, rule: RateRule) -> str:
    """Return the curve of F1 for each threshold, as data of an SVG path.

    The curve is an estimate, because another threshold would also change which list items are
    paired. It is empty if all pairs are in one bin.

    Args:
        pairs: a histogram of the similarities of the field's pairs of values.
        counts: counts of the field. Its FA and FN are the same for each threshold.
        rule: the rule that computes rates from counts.
    """
    by_bin = [sum(bin_counts) for bin_counts in zip(pairs.matched, pairs.unlike, strict=True)]
    if sum(map(bool, by_bin)) < 2:
        return ""
    points = []
    for first_bin in range(BINS + 1):
        right = sum(by_bin[first_bin:])
        rates = rule.rates(counts._replace(tp=right, fd=sum(by_bin[:first_bin])))
        points.append(f"{_x(first_bin / BINS):.1f},{HEIGHT * (1 - (rates.f1 or 0.0)):.1f}")
    return "M" + " L".join(points)


def _make_bars(layers: Mapping[str, Sequence[int]]) -> list[Bar]:
    """Return the stacked bars of a histogram, from left to right.

    `layers` maps the name of an outcome to its counts, one for each bin. The first outcome is drawn
    at the bottom.
    """
    # Heights are square roots: otherwise a bar of thousands would hide the errors.
    totals = [*map(sum, zip(*layers.values(), strict=True))]
    scale = HEIGHT / sqrt(max(totals)) if any(totals) else 0.0
    bars = []
    for position, total in enumerate(totals):
        x, where = position * BAR, f"{position / BINS:.2f} to below {(position + 1) / BINS:.2f}"
        if position == BINS:
            x, where = x + GAP, "exactly 1"
        height, bottom = max(sqrt(total) * scale, MIN_BAR_HEIGHT), HEIGHT
        for name, counts in layers.items():
            if count := counts[position]:
                segment_height = height * count / total
                bottom -= segment_height
                title = f"{where}: {number_of(count, 'pair')}"
                bars.append(
                    Bar(
                        x=x,
                        y=bottom,
                        height=segment_height,
                        name=name,
                        title=title,
                        count=count,
                        lower=f"{position / BINS:g}",
                    )
                )
    return bars


def _x(value: float) -> float:
    return value * BINS * BAR if value < 1 else BINS * BAR + GAP / 2


def _make_ticks(threshold: float | None) -> list[tuple[float, str]]:
    """Return (position, text) for each tick. Ticks too close to the threshold are left out."""
    ends = {0.0: (0.0, "0"), 0.5: (_x(0.5), "0.5"), 1.0: (WIDTH - BAR / 2, "1")}
    if threshold is None:
        return list(ends.values())
    kept = [tick for value, tick in ends.items() if abs(threshold - value) >= 0.12]
    return [*kept, (_x(threshold), f"{threshold:g}")]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the reliability chart, for the values in one bin of confidences.

    Its x is the mean confidence of these values. Its y is the share of right values among them.
    """

    x: float
    y: float
    reach: tuple[float, ...] | None
    """Lower and upper bound of the confidence interval, as y coordinates; None if there is none."""
    bin_middle: float
    """x coordinate of the middle of the bin, where its count is written."""
    count: str
    title: str


@dataclass(frozen=True, slots=True)
class CoverageChart:
    """A chart of the share of wrong values among the most confident values.

    The horizontal axis is the share of all values that are accepted. The most confident values are
    accepted first. The vertical axis is the share of wrong values among the accepted ones.
    `top_text` is the label at the upper end of the vertical axis.
    """

    path: str
    """Data of the SVG path of the curve."""
    top_text: str
    label: str
    chosen: tuple[float, float, float] | None = None
    """The vertical line at the threshold of a policy. Its three coordinates are x, the y of the
    error rate, and the y of the upper bound of this rate. None if there is no policy."""
    allowed: float | None = None
    """y coordinate of the allowed error rate; None if there is none."""


def reliability_chart(record: Mapping[str, Any]) -> tuple[list[Point], str]:
    """Return (points, label) of the reliability chart.

    There is a point for each bin with values.
    """
    points = []
    for entry in record["bins"]:
        count, right, ends = entry["units"], entry["right"], entry.get("interval")
        if count:
            between = f" ({rate(ends[0])} to {rate(ends[1])})" if ends else ""
            where = f"confidence {entry['lower']:g} to {entry['upper']:g}"
            title = f"{where}: {number_of(count, 'value')}, {rate(right)}{between} right"
            reach = tuple(map(_down, ends)) if ends else None
            middle = SIDE * (entry["lower"] + entry["upper"]) / 2
            point = Point(
                x=SIDE * entry["confidence"],
                y=_down(right),
                reach=reach,
                bin_middle=middle,
                count=in_short(count),
                title=title,
            )
            points.append(point)
    label = (
        f"Share of right values by confidence, for {number_of(record['units'], 'value')} "
        f"in {number_of(len(points), 'bin')}; expected calibration error "
        f"{rate(record['ece'])}"
    )
    return points, label


def coverage_chart(
    curve: Sequence[tuple[float, float]],
    chosen: tuple[float, float, float] | None = None,
    allowed: float | None = None,
    label: str = "",
    top: float | None = None,
) -> CoverageChart:
    """Return a chart of the error rate for each coverage. Coverage is the share of accepted values.

    Args:
        curve: coverage and error rate of each point.
        chosen: coverage, error rate and its upper bound at the threshold of a policy.
        allowed: the allowed error rate.
        label: a description in words; empty for the usual one.
        top: the end of the error axis; None to choose it from the values.
    """
    drawn_points = curve[:: max(1, len(curve) // MOST_POINTS)]
    if curve and drawn_points[-1] != curve[-1]:
        drawn_points = [*drawn_points, curve[-1]]
    top_error = top or max(
        [error for _, error in drawn_points] + [allowed or 0, chosen[2] if chosen else 0, 0.01]
    )
    steps = [
        f"{SIDE * coverage:.1f},{_down(error / top_error):.1f}" for coverage, error in drawn_points
    ]
    total_error = curve[-1][1] if curve else 0.0
    description = (
        f"Share of wrong values among the most confident values; {rate(total_error)} of all "
        "values are wrong"
    )
    point = None
    if chosen is not None:
        coverage, error, bound = chosen
        point = SIDE * coverage, _down(error / top_error), _down(bound / top_error)
        description += (
            f"; {rate(coverage)} of values are accepted, {rate(error)} of these are wrong "
            f"(upper bound {rate(bound)})"
        )
    level = None if allowed is None else _down(allowed / top_error)
    return CoverageChart(
        path="M" + " L".join(steps) if steps else "",
        top_text=f"{top_error:.2g}",
        label=label or description,
        chosen=point,
        allowed=level,
    )


def _down(share: float) -> float:
    return SIDE * (1 - min(share, 1.0))


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis whose ends are round numbers."""

    low: float
    high: float
    step: float
    signed: bool = False
    """Whether the values are changes, which are written with a sign."""

    def place(self, value: float) -> float:
        """Return the position of a value, in percent of the length of the axis."""
        return 100 * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and texts of the ticks."""
        count = round((self.high - self.low) / self.step)
        values = [round(self.low + tick * self.step, 6) for tick in range(count + 1)]
        number_format = "+.3g" if self.signed else ".3g"
        return [
            (self.place(value), format(value, number_format) if value else "0") for value in values
        ]


def axis_of(lowest: float) -> Axis:
    """Return an axis that ends at 1. It begins at a round number that is not above `lowest`.

    >>> axis_of(0.932).low, axis_of(0.2).step, axis_of(1.0).low
    (0.92, 0.2, 0.99)
    """
    return _make_axis(min(lowest, 1 - _LEAST_SPAN), 1.0, _STEPS[:-1])


def change_axis(intervals: Iterable[Interval | None]) -> Axis:
    """Return an axis for changes that includes 0 and all intervals."""
    ends = [0.0, *(end for interval in intervals if interval for end in interval)]
    return _make_axis(min(ends), max(ends), _STEPS, signed=True)


def _make_axis(low: float, high: float, steps: Sequence[float], *, signed: bool = False) -> Axis:
    """Return an axis with about five steps. Both of its ends are multiples of the step."""
    step = next((step for step in steps if step * 5 >= high - low - 1e-9), steps[-1])
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return Axis(
        low=round(first * step, 6),
        high=round(max(last, first + 1) * step, 6),
        step=step,
        signed=signed,
    )


# Maximum number of columns of a heat map that fills half of the page width.
MAX_NARROW_COLUMNS: Final = 7


class HeatCell(NamedTuple):
    """A cell of a heat map. It counts the errors of one field (row) in one error class (column).

    In a confusion matrix, a row is a true value and a column a predicted value.
    """

    errors: int
    query: str
    """Query part of a link to the errors that the cell counts. Empty if there is no link."""
    right: int = 0
    """Number of right values, for a cell in the column of right values."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of error counts whose cells are shaded by count."""

    title: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[HeatCell]]]
    left_out: int = 0
    """Number of rows that are not shown. In a confusion matrix, these are true values without
    errors."""
    is_of_wholes: bool = False
    """Whether the heat map counts items and objects that failed as a whole, instead of single wrong
    values."""

    @property
    def is_wide(self) -> bool:
        """Whether the heat map has too many columns for half of the page width."""
        return len(self.columns) > MAX_NARROW_COLUMNS

    @property
    def highest(self) -> int:
        """The highest count, which has the darkest shade."""
        return max(cell.errors for _, row in self.rows for cell in row)
