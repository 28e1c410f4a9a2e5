"""The fields of a run as the page shows them: a tree of rows, each with what opens below it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stickler_cli.core.locations import Path, field_path
from stickler_cli.reports.figures import Rates, rates_of, setting, visible
from stickler_cli.reports.html.charts import Chart, Part, similarity_chart, stacked
from stickler_cli.reports.rows import FieldRow
from stickler_cli.reports.summary import gate_limits
from stickler_cli.score.counts import RATES, Counts
from stickler_cli.score.detail import Histogram
from stickler_cli.score.error_counts import ByClass, add_classes, ordered
from stickler_cli.score.intervals import FieldIntervals, Interval, interval_text
from stickler_cli.score.rate_text import rate
from stickler_cli.score.record import Run
from stickler_cli.score.tally import READINGS
from stickler_cli.score.terms import ANY_KEY

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
class Reading:
    """The counts and rates of one reading."""

    name: str
    counts: Counts
    precision: Figure
    recall: Figure
    f1: Figure
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field."""

    index: int
    end: int
    """The index after the last field inside it."""
    path: str
    above: str
    """The part of the path that the tree shows by indentation."""
    name: str
    depth: int
    kind: str
    compared_by: str
    threshold: str
    weight: str
    worst: bool
    readings: Sequence[Reading]
    """`overall` first, which the table shows."""
    score: Figure
    chart: Chart | None
    """None where no pairs were kept, or the field has none."""
    error_classes: Sequence[ClassCount]
    """What classes of errors it and the fields in it have, the most frequent first."""
    errors: int
    """FD, FA and FN by `overall`, or by `leaves` where that counts more."""


@dataclass(frozen=True, slots=True)
class Span:
    """A field and the fields inside it, by the indexes of their rows."""

    start: int
    end: int


def class_counts(counts: ByClass) -> list[ClassCount]:
    """Give counts of error classes as the page shows them, the most frequent first."""
    total = sum(counts.values())
    return [
        ClassCount(each.value, each.value.replace("_", " "), count, 100 * count / total)
        for each, count in ordered(counts).items()
    ]


def reading_of(
    name: str,
    counts: Counts,
    rates: Rates,
    limits: frozenset[float],
    intervals: FieldIntervals | None = None,
) -> Reading:
    """Give counts and rates as the page shows them, with their intervals if there are any."""
    known = intervals.rates[name] if intervals else dict.fromkeys(RATES)
    return Reading(
        name,
        counts,
        figure(rates.precision, limits, known["precision"]),
        figure(rates.recall, limits, known["recall"]),
        figure(rates.f1, limits, known["f1"]),
        stacked(counts),
    )


def figure(
    value: float | None, limits: frozenset[float], interval: Interval | None = None
) -> Figure:
    """Give a rate as the page shows it; it is never rounded onto one of the limits."""
    bounds = interval_text(interval, limits) if interval else ""
    return Figure(rate(value, limits), -1.0 if value is None else value, interval, bounds)


def field_views(
    run: Run, rows: Sequence[FieldRow], histograms: Mapping[Path, Histogram]
) -> list[FieldView]:
    """List the fields, parents first, at most `MOST_FIELDS`."""
    rows = rows[:MOST_FIELDS]
    places = Places([row.path for row in rows])
    classes: list[ByClass] = [{} for _ in rows]
    for path, counts in run.evaluation.errors.fields.items():
        for place in places.around(path):
            add_classes(classes[place], counts)
    by_row: dict[int, Histogram] = {}
    for path, histogram in histograms.items():
        own = places.exactly(path)
        if own is not None:
            by_row.setdefault(own, Histogram()).merge(histogram)
    ends = _ends(rows)
    return [
        _view(run, row, Span(index, ends[index]), by_row.get(index), classes[index])
        for index, row in enumerate(rows)
    ]


class Places:
    """Where the fields of documents are among rows; `*` stands for any name without its own."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._places = {path: index for index, path in enumerate(paths)}

    def exactly(self, path: Path) -> int | None:
        """Give the index of the row of a field; None where it has none of its own."""
        pattern = self._pattern(path)
        return self._places.get(pattern) if len(pattern) == len(path) else None

    def nearest(self, path: Path) -> int:
        """Give the index of the row of a field, or of the innermost around it; -1 without any."""
        return self._places.get(self._pattern(path), -1)

    def around(self, path: Path) -> list[int]:
        """List the rows of a field and of what it is in, outermost first."""
        pattern = self._pattern(path)
        return [self._places[pattern[:length]] for length in range(1, len(pattern) + 1)]

    def _pattern(self, path: Path) -> Path:
        """Give the longest path of rows that leads to a field."""
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
    """Find where each field's own fields end."""
    ends = [len(rows)] * len(rows)
    around: list[int] = []
    for index, row in enumerate(rows):
        while around and rows[around[-1]].depth >= row.depth:
            ends[around.pop()] = index
        around.append(index)
    return ends


def _view(
    run: Run, row: FieldRow, span: Span, histogram: Histogram | None, classes: ByClass
) -> FieldView:
    limits, with_fd = gate_limits(run), run.options.recall_with_fd
    path, name = field_path(row.path), row.name
    bootstrap = run.evaluation.bootstrap
    intervals = bootstrap.of(path, recall_with_fd=with_fd) if bootstrap else None
    readings = []
    for reading in READINGS:
        counts = row.tally.counts(reading)
        rates = rates_of(counts, recall_with_fd=with_fd)
        readings.append(reading_of(reading, counts, rates, limits, intervals))
    threshold = row.info.threshold if row.info else None
    wrong = (reading.counts.fp + reading.counts.fn for reading in readings)
    return FieldView(
        index=span.start,
        end=span.end,
        path=visible(path),
        above=visible(path.removesuffix(name)),
        name=visible(name),
        depth=row.depth,
        kind=row.info.kind if row.info else "",
        compared_by=visible(row.compared_by),
        threshold=setting(threshold),
        weight=setting(row.weight),
        worst=row.worst,
        readings=readings,
        score=figure(row.tally.mean_score, limits, intervals.score if intervals else None),
        chart=similarity_chart(histogram, threshold) if histogram else None,
        error_classes=class_counts(classes),
        errors=max(wrong),
    )
