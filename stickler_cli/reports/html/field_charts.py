"""Where values were lost, drawn: fields by their rates, and by the classes of their errors."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor, sqrt
from typing import Final

from stickler_cli.core.figures import visible
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from stickler_cli.reports.view import RunView
from stickler_cli.score.errors.causes import ByClass, overall
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.gates import asked
from stickler_cli.score.intervals import Interval
from stickler_cli.score.value_pairs import ABSENT, ValuePairs
from .field_tree import FieldView, places_of, rows_around

MOST_DOTS: Final = 40
"""Fields that a drawing has rows for; the table of fields has the others."""

MOST_MATRICES: Final = 12
"""Fields of which it is drawn which values were found for which."""

TIMES: Final = 2
"""How often a value occurs on average in a field of a few kinds; else it is one of free text."""

_STEPS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_LEAST_SPAN: Final = 0.01  # of an axis: one error in a hundred is then all of its width


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis that ends at 1, as long as what is shown needs."""

    low: float
    step: float

    def place(self, value: float) -> float:
        """Return where a value is, in percent of the axis."""
        return 100 * (value - self.low) / (1 - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Where its marks are, and what they say."""
        values = [self.low + at * self.step for at in range(round((1 - self.low) / self.step) + 1)]
        return [(self.place(value), f"{value:.3g}") for value in values]


def axis_of(lowest: float) -> Axis:
    """Return an axis from a round number, at or below the lowest value, to 1.

    >>> axis_of(0.932).low, axis_of(0.2).step, axis_of(1.0).low
    (0.92, 0.2, 0.99)
    """
    lowest = min(lowest, 1 - _LEAST_SPAN)
    step = next(step for step in _STEPS if step == _STEPS[-1] or step * 5 >= 1 - lowest - 1e-9)
    marks = floor((1 - lowest) / step - 1e-9) + 1
    return Axis(round(max(1 - marks * step, 0.0), 6), step)


@dataclass(frozen=True, slots=True)
class Dot:
    """The F1 of a field or of the whole, on an axis; places in percent of it."""

    name: str
    at: float
    value: float
    interval: Interval | None
    reach: tuple[float, float] | None
    """Where its interval begins, and how long it is."""
    gates: Sequence[tuple[float, str, bool]]
    """Where each gate on it stands, how it is written, and whether it was passed."""
    lost: int | None
    """How many of its values are wrong, invented or missed; None of the whole."""


@dataclass(frozen=True, slots=True)
class DotPlot:
    """Fields by their F1, the lowest first, below the whole."""

    axis: Axis
    dots: Sequence[Dot]
    left_out: int


def dot_plot(view: RunView, fields: Sequence[FieldView]) -> DotPlot:
    """Return the drawing of all values of each field that has no fields in it."""
    whole = view.whole.rates.f1
    values = [it for it in fields if it.is_innermost and it.row.rates.f1 is not None]
    values.sort(key=lambda it: (it.row.rates.f1 or 0.0, -it.row.lost))
    found: list[tuple[str, float, Interval | None, Path, int | None]] = []
    if whole is not None:
        found.append(("", whole, view.bounds("f1"), (), None))
    for it in values[:MOST_DOTS]:
        interval = view.bounds("f1", it.intervals) if it.intervals else None
        found.append((it.path, it.row.rates.f1 or 0.0, interval, it.row.path, it.row.lost))
    gates = {path: _gates(view, path) for *_, path, _ in found}
    lowest = [interval.lower if interval else value for _, value, interval, _, _ in found]
    lowest += (limit for limits in gates.values() for limit, _, _ in limits)
    axis = axis_of(min(lowest, default=1.0))
    dots = [
        Dot(
            name,
            axis.place(value),
            value,
            interval,
            interval and (axis.place(interval.lower), _length(axis, interval)),
            [(axis.place(limit), text, passed) for limit, text, passed in gates[path]],
            lost,
        )
        for name, value, interval, path, lost in found
    ]
    return DotPlot(axis, dots, len(values[MOST_DOTS:]))


def _length(axis: Axis, interval: Interval) -> float:
    return axis.place(interval.upper) - axis.place(interval.lower)


def _gates(view: RunView, path: Path) -> list[tuple[float, str, bool]]:
    """Return the limits of the gates that ask for the F1 that is drawn of a field."""
    mode = view.run.rule.counting
    return [
        (it.limit, visible(it.gate.text), it.passed)
        for it in view.run.gates
        if (it.gate.metric, it.gate.mode or mode) == ("f1", mode)
        and 0 <= it.limit <= 1
        and path in asked(it.gate, [path])
    ]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """How many errors of each class there are in each field, most first."""

    title: str
    what: str
    """Which errors it counts, as links say it: `values` or `wholes`."""
    classes: Sequence[ErrorClass]
    rows: Sequence[tuple[str, Sequence[tuple[int, float]]]]
    """The path of each field, and a count and its shade in percent for each class."""
    left_out: int


def heat_maps(view: RunView) -> list[HeatMap]:
    """Return the map of wrong values, and that of what failed as a whole; only those with any."""
    errors = view.run.evaluation.errors
    kinds = (
        ("Values, by field and class", "values", errors.fields),
        ("Items and objects as a whole, by field and class", "wholes", errors.units),
    )
    return [_heat_map(view, *kind) for kind in kinds if kind[-1]]


def _heat_map(view: RunView, title: str, what: str, fields: Mapping[Path, ByClass]) -> HeatMap:
    places = places_of(view)
    by_row: dict[int, ByClass] = {}
    for path, counts in fields.items():
        # What has no row of its own counts where it is in; at the root, it has none at all.
        for row in rows_around(path, places)[-1:]:
            by_row.setdefault(row, Counter()).update(counts)
    ranked = sorted(by_row, key=lambda row: (-by_row[row].total(), row))
    classes = list(overall({(str(row),): counts for row, counts in by_row.items()}))
    most = max((max(counts.values()) for counts in by_row.values()), default=1)
    rows = [
        (
            visible(field_path(view.rows[row].path)),
            [(count := by_row[row][each], 45 * sqrt(count / most)) for each in classes],
        )
        for row in ranked[:MOST_DOTS]
    ]
    return HeatMap(title, what, classes, rows, len(ranked[MOST_DOTS:]))


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """Which values of a field were found for which."""

    path: str
    confused: int
    preds: Sequence[str]
    """As JSON, the most frequent first; last, for none at all, an empty text if that occurs."""
    rows: Sequence[tuple[str, Sequence[tuple[int, int, float]]]]
    """Each ground truth; by prediction, how many are right and wrong, and the shade in percent."""


def confusion_matrices(
    fields: Sequence[FieldView], pairs: Mapping[Path, ValuePairs]
) -> list[ConfusionMatrix]:
    """Return those of fields with few values, each more than once on average, most errors first."""
    places = {it.row.path: at for at, it in enumerate(fields)}
    by_row: dict[int, ValuePairs] = {}
    for path, found in pairs.items():
        around = rows_around(path, places)
        if len(around) == len(path):
            by_row.setdefault(around[-1], ValuePairs()).merge(found)
    made = [
        _matrix(fields[row].path, found)
        for row, found in by_row.items()
        if found.confused and fields[row].row.counts.total >= TIMES * len(found.values)
    ]
    return sorted(made, key=lambda it: -it.confused)[:MOST_MATRICES]


def _matrix(path: str, found: ValuePairs) -> ConfusionMatrix:
    names = [*found.values, ABSENT]
    gts = [name for name in names if name in found.counts]
    preds = [name for name in names if any(name in row for row in found.counts.values())]
    cells = [[found.counts[gt].get(pred, (0, 0)) for pred in preds] for gt in gts]
    most = max(wrong for row in cells for _, wrong in row)
    rows = [[(right, wrong, 45 * sqrt(wrong / most)) for right, wrong in row] for row in cells]
    return ConfusionMatrix(path, found.confused, preds, list(zip(gts, rows, strict=True)))
