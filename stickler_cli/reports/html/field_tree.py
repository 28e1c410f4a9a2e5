"""The fields of a run as the page shows them: a tree of rows, each with what opens below it."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from stickler_cli.core.figures import visible
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from stickler_cli.reports.rows import FieldRow
from stickler_cli.reports.view import RunView
from stickler_cli.score.conditions import ANY_KEY
from stickler_cli.score.detail import Histogram
from stickler_cli.score.errors.causes import ByClass, ordered
from stickler_cli.score.intervals import FieldIntervals
from .charts import Chart, similarity_chart, threshold_curve

MOST_FIELDS: Final = 2_000
"""Rows of the table of fields: a page with more opens slowly, and the CSV report has them all."""


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field."""

    row: FieldRow
    path: str
    end: int
    """The index after the last field inside it."""
    is_innermost: bool
    """Whether there is no field in it."""
    intervals: FieldIntervals | None
    chart: Chart | None
    classes: ByClass
    """What classes of errors it and the fields in it have, the most frequent first."""

    @property
    def above(self) -> str:
        """The part of the path that the tree shows by indentation."""
        return visible(field_path(self.row.path).removesuffix(self.row.name))


def field_views(view: RunView, histograms: Mapping[Path, Histogram]) -> list[FieldView]:
    """Return the fields, parents first, at most `MOST_FIELDS`."""
    rows = view.rows[:MOST_FIELDS]
    places = places_of(view)
    classes: list[ByClass] = [Counter() for _ in rows]
    errors = view.run.evaluation.errors
    for path in {**errors.fields, **errors.units}:
        for place in rows_around(path, places):
            classes[place].update(errors.at(path))
    pairs: dict[int, Histogram] = {}
    for path, histogram in histograms.items():
        around = rows_around(path, places)
        if around and len(around) == len(path):
            pairs.setdefault(around[-1], Histogram()).merge(histogram)
    found = []
    for index, row in enumerate(rows):
        after = range(index + 1, len(rows))
        name = field_path(row.path)
        end = next((place for place in after if rows[place].depth <= row.depth), len(rows))
        found.append(
            FieldView(
                row,
                visible(name),
                end,
                end == index + 1,
                view.run.evaluation.intervals(view.run.rule, name),
                _chart(view, row, pairs[index]) if index in pairs else None,
                ordered(classes[index]),
            )
        )
    return found


def _chart(view: RunView, row: FieldRow, pairs: Histogram) -> Chart:
    judged = row.tally.counts("overall")
    return similarity_chart(pairs, row.threshold, threshold_curve(pairs, judged, view.run.rule))


def places_of(view: RunView) -> dict[Path, int]:
    """Return the index of the row of each field on the page."""
    return {row.path: index for index, row in enumerate(view.rows[:MOST_FIELDS])}


def rows_around(path: Path, places: Mapping[Path, int]) -> list[int]:
    """Return the rows of what a field of documents is in, outermost first, its own the last.

    `*` stands for any name without a row of its own; what has no row ends the way.
    """
    found: list[int] = []
    pattern: Path = ()
    for step in path:
        own = (*pattern, step)
        pattern = own if own in places else (*pattern, ANY_KEY)
        if pattern not in places:
            break
        found.append(places[pattern])
    return found
