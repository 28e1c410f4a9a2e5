"""What changed from one run to another, drawn: slopes of fields, and intervals of changes."""

from collections.abc import Sequence
from math import ceil, floor
from typing import Final

from stickler_cli.core.values import dataclass
from stickler_cli.reports.difference_view import DifferenceView
from stickler_cli.studies.diff.changes import Change, Trend
from .field_charts import axis_of

ORDER: Final = (Trend.REGRESSED, Trend.IMPROVED, Trend.UNCLEAR, Trend.UNCHANGED, Trend.IDENTICAL)
"""What comes first of fields: what got worse."""

MOST_SLOPES: Final = 24
"""Fields that a drawing has room for: those that changed most."""

HEIGHT: Final = 260.0
BETWEEN: Final = 110.0
"""Height of the drawing of slopes, and how far its two ends are apart, in units of the drawing."""

APART: Final = 12.0
"""The least distance of two names."""

_STEPS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def ranked(changes: Sequence[Change]) -> list[Change]:
    """Return fields, regressed ones first, then by how much they changed."""
    return sorted(changes, key=lambda it: (ORDER.index(it.trend), -abs(it.change or 0.0)))


@dataclass(frozen=True, slots=True)
class Slope:
    """A field's F1 in both runs, and where its name stands; all from the top of the drawing."""

    name: str
    before: float
    after: float
    label: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class SlopeChart:
    """The fields that changed most, and the marks of the axis."""

    slopes: Sequence[Slope]
    ticks: Sequence[tuple[float, str]]
    height: float
    left_out: int
    label: str


def slope_chart(view: DifferenceView, tones: dict[Trend, str]) -> SlopeChart | None:
    """Return the drawing of the fields whose F1 is not the same; None where there is none."""
    known = [
        (it, it.before, it.after)
        for it in ranked(view.difference.fields)
        if it.before is not None and it.after is not None and it.change
    ]
    if not known:
        return None
    shown = known[:MOST_SLOPES]
    axis = axis_of(min(min(before, after) for _, before, after in shown))
    height = max(HEIGHT, APART * len(shown))

    def down(value: float) -> float:
        return height * (1 - axis.place(value) / 100)

    shown.sort(key=lambda entry: -entry[2])
    labels = _apart([down(after) for *_, after in shown], height)
    slopes = [
        Slope(view.name(it), down(before), down(after), label, tones[it.trend], _told(view, it))
        for (it, before, after), label in zip(shown, labels, strict=True)
    ]
    ticks = [(height * (1 - at / 100), text) for at, text in axis.ticks]
    label = f"F1 before and after of {len(shown)} fields"
    return SlopeChart(slopes, ticks, height, len(known) - len(shown), label)


def _told(view: DifferenceView, change: Change) -> str:
    return f"{view.name(change)}: {view.told(change)}"


def _apart(wanted: Sequence[float], height: float) -> list[float]:
    """Return places at least `APART` from each other, near those that are wanted, from the top."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + APART) if places else place)
    end = height
    for at in reversed(range(len(places))):
        places[at] = min(places[at], end)
        end = places[at] - APART
    return places


@dataclass(frozen=True, slots=True)
class ChangeAxis:
    """The axis of intervals of changes, with 0 on it."""

    low: float
    high: float
    step: float

    def place(self, value: float) -> float:
        """Return where a change is, in percent of the axis."""
        return 100 * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Where its marks are, and what they say."""
        count = round((self.high - self.low) / self.step)
        values = [round(self.low + at * self.step, 6) for at in range(count + 1)]
        return [(self.place(value), f"{value:+.3g}" if value else "0") for value in values]


def change_axis(changes: Sequence[Change]) -> ChangeAxis:
    """Return an axis that all intervals of changes fit on, and that ends at round numbers."""
    ends = [end for it in changes if it.interval for end in it.interval]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    step = next((step for step in _STEPS if step * 5 >= high - low), _STEPS[-1])
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return ChangeAxis(round(first * step, 6), round(max(last, first + 1) * step, 6), step)
