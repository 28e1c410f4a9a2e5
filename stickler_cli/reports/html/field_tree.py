"""The fields of a run as the page shows them: a tree of rows, each with what opens below it."""

from collections.abc import Mapping, Sequence
from typing import Final

from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from stickler_cli.reports.figures import visible
from stickler_cli.reports.html.charts import Chart, Part, bar_parts, similarity_chart
from stickler_cli.reports.rows import FieldRow, Figures
from stickler_cli.reports.view import RunView
from stickler_cli.score.conditions import ANY_KEY
from stickler_cli.score.counts import RATES, Counts
from stickler_cli.score.detail import Histogram
from stickler_cli.score.error_counts import ByClass, add_classes, ordered
from stickler_cli.score.intervals import FieldIntervals, Interval

MOST_FIELDS: Final = 2_000
"""Rows of the table of fields: a page with more opens slowly, and the CSV report has them all."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate or score as text, and as a number to sort by; -1 sorts what has none below 0."""

    text: str
    number: float
    interval: Interval | None = None
    """Where it may lie; None where nobody knows."""
    bounds: str = ""
    """The interval as text."""


@dataclass(frozen=True, slots=True)
class ClassCount:
    """How many errors of one class there are."""

    id: str
    name: str
    count: int
    share: float
    """In percent of all errors."""


@dataclass(frozen=True, slots=True)
class ModeView:
    """The counts and rates of one counting mode."""

    name: str
    counts: Counts
    precision: Figure
    recall: Figure
    f1: Figure
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field."""

    row: FieldRow
    index: int
    end: int
    """The index after the last field inside it."""
    path: str
    above: str
    """The part of the path that the tree shows by indentation."""
    modes: Sequence[ModeView]
    """`overall` first, which the table shows."""
    score: Figure
    chart: Chart | None
    """None where no pairs were kept, or the field has none."""
    error_classes: Sequence[ClassCount]
    """What classes of errors it and the fields in it have, the most frequent first."""
    errors: int
    """FD, FA and FN by `overall`, or by `leaves` where that counts more."""


def class_counts(counts: ByClass) -> list[ClassCount]:
    """Return counts of error classes as the page shows them, the most frequent first."""
    total = sum(counts.values())
    return [
        ClassCount(each.value, each.value.replace("_", " "), count, 100 * count / total)
        for each, count in ordered(counts).items()
    ]


def mode_views(
    view: RunView, figures: Mapping[str, Figures], intervals: FieldIntervals | None
) -> list[ModeView]:
    """Return counts and rates as the page shows them, with their intervals if there are any."""
    found = []
    for mode, each in figures.items():
        bounds = intervals.rates[mode] if intervals else dict.fromkeys(RATES)
        precision, recall, f1 = (
            figure(view, getattr(each.rates, name), bounds[name])
            for name in ("precision", "recall", "f1")
        )
        found.append(ModeView(mode, each.counts, precision, recall, f1, bar_parts(each.counts)))
    return found


def figure(view: RunView, value: float | None, interval: Interval | None = None) -> Figure:
    """Return a rate or score as the page shows it."""
    bounds = view.interval(interval) if interval else ""
    return Figure(view.rate(value), -1.0 if value is None else value, interval, bounds)


def field_views(view: RunView, histograms: Mapping[Path, Histogram]) -> list[FieldView]:
    """Return the fields, parents first, at most `MOST_FIELDS`."""
    rows = view.rows[:MOST_FIELDS]
    places = Places([row.path for row in rows])
    classes: list[ByClass] = [{} for _ in rows]
    for path, counts in view.evaluation.errors.fields.items():
        for place in places.around(path):
            add_classes(classes[place], counts)
    by_row: dict[int, Histogram] = {}
    for path, histogram in histograms.items():
        own = places.exactly(path)
        if own is not None:
            by_row.setdefault(own, Histogram()).merge(histogram)
    found = []
    for index, (row, end) in enumerate(zip(rows, _ends(rows), strict=True)):
        name = field_path(row.path)
        intervals = view.rule.intervals(view.evaluation, name)
        modes = mode_views(view, row.figures, intervals)
        pairs = by_row.get(index)
        found.append(
            FieldView(
                row=row,
                index=index,
                end=end,
                path=visible(name),
                above=visible(name.removesuffix(row.name)),
                modes=modes,
                score=figure(view, row.score, intervals.score if intervals else None),
                chart=similarity_chart(pairs, row.threshold) if pairs else None,
                error_classes=class_counts(classes[index]),
                errors=max(mode.counts.fp + mode.counts.fn for mode in modes),
            )
        )
    return found


class Places:
    """Where the fields of documents are among rows; `*` stands for any name without its own."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._places = {path: index for index, path in enumerate(paths)}

    def exactly(self, path: Path) -> int | None:
        """Return the index of the row of a field; None where it has none of its own."""
        pattern = self._pattern(path)
        return self._places.get(pattern) if len(pattern) == len(path) else None

    def nearest(self, path: Path) -> int:
        """Return the index of the row of a field, or of the innermost around it; -1 without any."""
        return self._places.get(self._pattern(path), -1)

    def around(self, path: Path) -> list[int]:
        """Return the rows of a field and of what it is in, outermost first."""
        pattern = self._pattern(path)
        return [self._places[pattern[:length]] for length in range(1, len(pattern) + 1)]

    def _pattern(self, path: Path) -> Path:
        """Return the longest path of rows that leads to a field."""
        pattern: Path = ()
        for step in path:
            longer = (*pattern, step)
            if longer not in self._places:
                longer = (*pattern, ANY_KEY)
            if longer not in self._places:
                break
            pattern = longer
        return pattern


def _ends(rows: Sequence[FieldRow]) -> list[int]:
    """Return where each field's own fields end."""
    ends = [len(rows)] * len(rows)
    around: list[int] = []
    for index, row in enumerate(rows):
        while around and rows[around[-1]].depth >= row.depth:
            ends[around.pop()] = index
        around.append(index)
    return ends
