"""The geometry of the page's charts: from counts to shares and rectangles.

Outcomes are told apart by pattern as well as colour. Heights go by the square root of counts, or
one bar of thousands would hide the handful of errors that the chart is there for.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Final

from stickler_cli.core.values import dataclass
from stickler_cli.reports.figures import number_of
from stickler_cli.score.counts import Counts
from stickler_cli.score.detail import BINS, Histogram

WIDTH: Final = 440.0
HEIGHT: Final = 96.0
"""In units of the drawing; the page scales it."""

GAP: Final = 10.0
"""Sets the bar of those that are exactly 1 apart."""

BAR: Final = (WIDTH - GAP) / (BINS + 1)
LEAST: Final = 2.0
"""The height of the lowest bar, so that one error can be seen beside a million matches."""

OUTCOMES: Final = (
    ("tp", "TP", "right"),
    ("fd", "FD", "wrong value"),
    ("fa", "FA", "invented"),
    ("fn", "FN", "missed"),
)
"""Attribute of `Counts`, short name and meaning; the order of the parts of a bar."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar."""

    name: str
    """`tp`, `fd`, `fa` or `fn`."""
    count: int
    left: float
    """Where it begins, in percent of the bar."""
    width: float
    """In percent of the bar."""
    title: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One upright bar, maybe of two parts: below the threshold, and from it on."""

    x: float
    y: float
    height: float
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A histogram of figures in [0, 1]."""

    bars: Sequence[Bar]
    threshold: float | None
    """Where the line stands."""
    label: str
    """What it shows, for those who do not see it."""
    ticks: Sequence[tuple[float, str]]
    """Places on the axis and what is written there."""


def bar_parts(counts: Counts) -> list[Part]:
    """Return the parts of a bar that shows what became of all units that had a value."""
    total = counts.total - counts.tn
    parts: list[Part] = []
    left = 0.0
    for attribute, name, meaning in OUTCOMES:
        count = getattr(counts, attribute)
        if count:
            width = 100 * count / total
            title = f"{count} {name} ({meaning}), {100 * count / total:.1f}% of {total}"
            parts.append(Part(attribute, count, left, width, title))
            left += width
    return parts


def similarity_chart(histogram: Histogram, threshold: float | None) -> Chart:
    """Return how similar the pairs of a field are, and where they begin to match."""
    matched, unlike = sum(histogram.matched), sum(histogram.unlike)
    level = "their threshold" if threshold is None else f"the threshold of {threshold:g}"
    label = (
        f"Similarity of {number_of(matched + unlike, 'pair')}: "
        f"{matched} at or above {level}, {unlike} below"
    )
    bars = _bars([("tp", histogram.matched), ("fd", histogram.unlike)], "pair")
    return Chart(bars, None if threshold is None else _x(threshold), label, _ticks(threshold))


def score_chart(counts: Sequence[int]) -> Chart:
    """Return how the scores of documents are distributed; counts by bin, (`BINS` + 1,)."""
    perfect = counts[BINS]
    label = f"Scores of {number_of(sum(counts), 'document')}; {perfect} of them exactly 1"
    return Chart(_bars([("score", counts)], "document"), None, label, _ticks(None))


def _bars(layers: Sequence[tuple[str, Sequence[int]]], noun: str) -> list[Bar]:
    """Return bars of several layers, the first one at the bottom."""
    totals = [sum(counts) for counts in zip(*(counts for _, counts in layers), strict=True)]
    scale = HEIGHT / sqrt(max(totals)) if any(totals) else 0.0
    bars = []
    for position, total in enumerate(totals):
        height = max(sqrt(total) * scale, LEAST) if total else 0.0
        bottom = HEIGHT
        for name, counts in layers:
            count = counts[position]
            if count:
                part = height * count / total
                bottom -= part
                title = f"{_range(position)}: {number_of(count, noun)}"
                bars.append(Bar(_left(position), bottom, part, name, title))
    return bars


def _left(position: int) -> float:
    return position * BAR + (GAP if position == BINS else 0)


def _x(value: float) -> float:
    return min(value, 1.0) * BINS * BAR if value < 1 else BINS * BAR + GAP / 2


def _range(position: int) -> str:
    if position == BINS:
        return "exactly 1"
    return f"{position / BINS:.2f} to below {(position + 1) / BINS:.2f}"


def _ticks(threshold: float | None) -> list[tuple[float, str]]:
    """Return the names of ends and middle of the axis, unless the threshold's own is in the way."""
    ends = [(0.0, "0"), (0.5, "0.5"), (1.0, "1")]
    kept = [
        (_x(value) if value < 1 else WIDTH - BAR / 2, text)
        for value, text in ends
        if threshold is None or abs(threshold - value) >= 0.12
    ]
    return kept if threshold is None else [*kept, (_x(threshold), f"{threshold:g}")]
