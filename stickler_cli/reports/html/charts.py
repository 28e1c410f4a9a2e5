"""The geometry of the page's charts: from counts to shares and rectangles."""

from collections.abc import Sequence
from math import sqrt
from typing import Final

from stickler_cli.core.figures import number_of
from stickler_cli.core.values import dataclass
from stickler_cli.score.counts import Counts, RateRule
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
    *(("tp", "TP", "right"), ("fd", "FD", "wrong value")),
    *(("fa", "FA", "invented"), ("fn", "FN", "missed")),
)
"""Attribute of `Counts`, short name and meaning; the order of the parts of a bar."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar; where it begins and how wide it is in percent of the bar."""

    name: str
    left: float
    width: float
    title: str


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
    """A histogram of figures in [0, 1], and in words what it shows."""

    bars: Sequence[Bar]
    threshold: float | None
    label: str
    ticks: Sequence[tuple[float, str]]
    curve: str = ""
    """F1 by threshold, as SVG has a path; empty where none is shown."""


def bar_parts(counts: Counts) -> list[Part]:
    """Return the parts of a bar that shows what became of all units that had a value."""
    total = counts.total - counts.tn
    parts: list[Part] = []
    left = 0.0
    for attribute, name, meaning in OUTCOMES:
        if count := getattr(counts, attribute):
            width = 100 * count / total
            title = f"{count} {name} ({meaning}), {width:.1f}% of {total}"
            parts.append(Part(attribute, left, width, title))
            left += width
    return parts


def similarity_chart(histogram: Histogram, threshold: float | None, curve: str = "") -> Chart:
    """Return how similar the pairs of a field are, and where they begin to match."""
    matched, unlike = sum(histogram.matched), sum(histogram.unlike)
    level = "their threshold" if threshold is None else f"the threshold of {threshold:g}"
    label = (
        f"Similarity of {number_of(matched + unlike, 'pair')}: "
        f"{matched} at or above {level}, {unlike} below"
    )
    bars = _bars([("tp", histogram.matched), ("fd", histogram.unlike)], "pair")
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


def score_chart(counts: Sequence[int]) -> Chart:
    """Return how the scores of documents are distributed; counts by bin, (`BINS` + 1,)."""
    label = f"Scores of {number_of(sum(counts), 'document')}; {counts[BINS]} of them exactly 1"
    return Chart(_bars([("score", counts)], "document"), None, label, _ticks(None))


def _bars(layers: Sequence[tuple[str, Sequence[int]]], noun: str) -> list[Bar]:
    """Return bars of several layers, the first one at the bottom."""
    # By the square root, or one bar of thousands would hide the errors that the chart is for.
    totals = [sum(counts) for counts in zip(*(counts for _, counts in layers), strict=True)]
    scale = HEIGHT / sqrt(max(totals)) if any(totals) else 0.0
    bars = []
    for position, total in enumerate(totals):
        x, where = position * BAR, f"{position / BINS:.2f} to below {(position + 1) / BINS:.2f}"
        if position == BINS:
            x, where = x + GAP, "exactly 1"
        height, bottom = max(sqrt(total) * scale, LEAST), HEIGHT
        for name, counts in layers:
            if count := counts[position]:
                part = height * count / total
                bottom -= part
                title = f"{where}: {number_of(count, noun)}"
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
