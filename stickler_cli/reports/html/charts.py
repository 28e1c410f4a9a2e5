"""The geometry of the charts of pages: from counts and shares to places in a drawing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Any, Final, NamedTuple

from stickler_cli.core.figures import in_short, number_of, rate
from stickler_cli.score.detail import BINS, Histogram
from stickler_cli.score.intervals import Interval
from stickler_cli.score.sums import Counts, RateRule

WIDTH: Final = 440.0
HEIGHT: Final = 96.0  # in units of the drawing; the page scales it
SIDE: Final = 240.0  # width and height of a square chart, likewise
MOST_POINTS: Final = 120  # of a curve
GAP: Final = 10.0  # sets the bar of those that are exactly 1 apart

BAR: Final = (WIDTH - GAP) / (BINS + 1)
LEAST: Final = 2.0
"""The height of the lowest bar, so that one error can be seen beside a million matches."""

_STEPS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_LEAST_SPAN: Final = 0.01  # of an axis: one error in a hundred is then all of its width

OUTCOMES: Final = (
    *(("tp", "TP", "right"), ("fd", "FD", "wrong")),
    *(("fn", "FN", "missed"), ("fa", "FA", "invented")),
)
"""Attribute of `Counts`, short name and meaning; the order of the parts of a bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One upright bar, maybe of two parts: below the threshold, and from it on."""

    x: float
    y: float
    height: float
    name: str
    title: str
    count: int
    lower: str
    """Where its bin begins, as links say it."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A histogram of figures in [0, 1], and a label."""

    bars: Sequence[Bar]
    threshold: float | None
    label: str
    ticks: Sequence[tuple[float, str]]
    curve: str = ""
    """F1 by threshold, as SVG has a path; empty where none is shown."""


def similarity_chart(histogram: Histogram, threshold: float | None, curve: str = "") -> Chart:
    """Return a histogram of the similarities of the pairs of a field, with its threshold."""
    matched, unlike = sum(histogram.matched), sum(histogram.unlike)
    level = "their threshold" if threshold is None else f"the threshold of {threshold:g}"
    label = (
        f"Similarity of {number_of(matched + unlike, 'pair')}: "
        f"{matched} at or above {level}, {unlike} below"
    )
    bars = _bars({"tp": histogram.matched, "fd": histogram.unlike})
    at = None if threshold is None else _x(threshold)
    return Chart(bars, at, label, _ticks(threshold), curve)


def threshold_curve(pairs: Histogram, counts: Counts, rule: RateRule) -> str:
    """Return F1 against the threshold, as SVG has a path, if pairs stay as they are.

    An estimate: with another threshold other items would be paired, and more would be judged
    inside them. Of one bar it would be a step, and is empty.

    Args:
        pairs: the pairs of the field that were judged, by similarity.
        counts: of the field, of what was judged; its FA and FN have no pair.
        rule: how rates come of counts.
    """
    by_bin = [sum(both) for both in zip(pairs.matched, pairs.unlike, strict=True)]
    if sum(map(bool, by_bin)) < 2:
        return ""
    points = []
    for at in range(BINS + 1):
        right = sum(by_bin[at:])
        told = rule.rates(counts._replace(tp=right, fd=sum(by_bin[:at])))
        points.append(f"{_x(at / BINS):.1f},{HEIGHT * (1 - (told.f1 or 0.0)):.1f}")
    return "M" + " L".join(points)


def _bars(layers: Mapping[str, Sequence[int]]) -> list[Bar]:
    """Return bars of several layers of pairs, the first one at the bottom."""
    # By the square root, or one bar of thousands would hide the errors that the chart is for.
    totals = [*map(sum, zip(*layers.values(), strict=True))]
    scale = HEIGHT / sqrt(max(totals)) if any(totals) else 0.0
    bars = []
    for position, total in enumerate(totals):
        x, where = position * BAR, f"{position / BINS:.2f} to below {(position + 1) / BINS:.2f}"
        if position == BINS:
            x, where = x + GAP, "exactly 1"
        height, bottom = max(sqrt(total) * scale, LEAST), HEIGHT
        for name, counts in layers.items():
            if count := counts[position]:
                part = height * count / total
                bottom -= part
                title = f"{where}: {number_of(count, 'pair')}"
                bars.append(Bar(x, bottom, part, name, title, count, f"{position / BINS:g}"))
    return bars


def _x(value: float) -> float:
    return value * BINS * BAR if value < 1 else BINS * BAR + GAP / 2


def _ticks(threshold: float | None) -> list[tuple[float, str]]:
    """Return the names of ends and middle of the axis, unless the threshold's own is in the way."""
    ends = {0.0: (0.0, "0"), 0.5: (_x(0.5), "0.5"), 1.0: (WIDTH - BAR / 2, "1")}
    if threshold is None:
        return list(ends.values())
    kept = [tick for value, tick in ends.items() if abs(threshold - value) >= 0.12]
    return [*kept, (_x(threshold), f"{threshold:g}")]


@dataclass(frozen=True, slots=True)
class Point:
    """The values of a bin: their mean confidence and the share that is right, with its interval."""

    x: float
    y: float
    reach: tuple[float, ...] | None
    """The ends of its interval, the lower one first."""
    bin_middle: float
    """The middle of the bin, where its count is written."""
    count: str
    title: str


@dataclass(frozen=True, slots=True)
class CoverageChart:
    """Error against coverage, both from 0; the axis of errors ends at `top_text`."""

    path: str
    """Of the curve, as SVG has it."""
    top_text: str
    label: str
    chosen: tuple[float, float, float] | None = None
    """Where a policy draws the line: x, and y of the error and of its bound."""
    allowed: float | None = None
    """The y of the error that is allowed."""


def reliability_chart(known: Mapping[str, Any]) -> tuple[list[Point], str]:
    """Return share right by confidence, bin by bin, of the record of a run, and a label."""
    points = []
    for entry in known["bins"]:
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
        f"Share right by confidence, of {number_of(known['units'], 'value')} in "
        f"{number_of(len(points), 'bin')}; expected calibration error {rate(known['ece'])}"
    )
    return points, label


def coverage_chart(
    curve: Sequence[tuple[float, float]],
    chosen: tuple[float, float, float] | None = None,
    allowed: float | None = None,
    label: str = "",
    top: float | None = None,
) -> CoverageChart:
    """Return the chart of (coverage, error), with the point and the bound that a policy chose.

    `label` says it in words, where it is a picture of something else; `top` is the end of the axis
    of errors, if the values do not decide it.
    """
    few = curve[:: max(1, len(curve) // MOST_POINTS)]
    if curve and few[-1] != curve[-1]:
        few = [*few, curve[-1]]
    most = top or max(
        [error for _, error in few] + [allowed or 0, chosen[2] if chosen else 0, 0.01]
    )
    steps = [f"{SIDE * coverage:.1f},{_down(error / most):.1f}" for coverage, error in few]
    whole = curve[-1][1] if curve else 0.0
    said = f"Share wrong among the most confident values; {rate(whole)} of all"
    place = None
    if chosen is not None:
        coverage, error, bound = chosen
        place = SIDE * coverage, _down(error / most), _down(bound / most)
        said += f"; {rate(coverage)} pass, {rate(error)} of them wrong, {rate(bound)} at most"
    level = None if allowed is None else _down(allowed / most)
    return CoverageChart(
        "M" + " L".join(steps) if steps else "", f"{most:.2g}", label or said, place, level
    )


def _down(share: float) -> float:
    return SIDE * (1 - min(share, 1.0))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis that ends at round numbers."""

    low: float
    high: float
    step: float
    signed: bool = False
    """Whether it is one of changes."""

    def place(self, value: float) -> float:
        """Return where a value is, in percent of the axis."""
        return 100 * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The places and the texts of its marks."""
        count = round((self.high - self.low) / self.step)
        values = [round(self.low + at * self.step, 6) for at in range(count + 1)]
        shown = "+.3g" if self.signed else ".3g"
        return [(self.place(value), format(value, shown) if value else "0") for value in values]


def axis_of(lowest: float) -> Axis:
    """Return an axis from a round number, at or below the lowest value, to 1.

    >>> axis_of(0.932).low, axis_of(0.2).step, axis_of(1.0).low
    (0.92, 0.2, 0.99)
    """
    return _axis(min(lowest, 1 - _LEAST_SPAN), 1.0, _STEPS[:-1])


def change_axis(intervals: Iterable[Interval | None]) -> Axis:
    """Return an axis that all intervals of changes fit on, and 0."""
    ends = [0.0, *(end for it in intervals if it for end in it)]
    return _axis(min(ends), max(ends), _STEPS, signed=True)


def _axis(low: float, high: float, steps: Sequence[float], *, signed: bool = False) -> Axis:
    """Return an axis of some five steps, which ends at multiples of them."""
    step = next((step for step in steps if step * 5 >= high - low - 1e-9), steps[-1])
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return Axis(round(first * step, 6), round(max(last, first + 1) * step, 6), step, signed)


MAX_NARROW_COLUMNS: Final = 7  # of a heat map that stands in one of two columns


class HeatCell(NamedTuple):
    """How many errors there are of a row and a column."""

    errors: int
    query: str
    """What a link to them asks for."""
    right: int = 0
    """How many values of that row and column are right."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Numbers of errors by rows and columns."""

    title: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[HeatCell]]]
    left_out: int = 0
    """How many rows there are besides; of values, how many were always right."""

    @property
    def is_wide(self) -> bool:
        """Whether half of the page has no room for its columns."""
        return len(self.columns) > MAX_NARROW_COLUMNS

    @property
    def highest(self) -> int:
        """The number with the darkest shade."""
        return max(it.errors for _, row in self.rows for it in row)
