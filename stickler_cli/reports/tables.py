"""The tables of runs: the same figures in a terminal, in a pipe and on a page.

A page has marks and names in columns of their own, full titles and the intervals of groups last.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from stickler_cli.core.figures import rate, setting, visible
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Column, Span, Table, Tone
from stickler_cli.score.counts import Counts
from .rows import FieldRow
from .run_sentences import MODES
from .view import GroupRow, RunView

_OUTCOMES: Final = ("right", "wrong", "missed", "invented", "absent")

_RATES: Final = ("precision", "recall", "F1")

WORST_MARK: Final = "!"
WORST_LEGEND: Final = "! look here first: the fields that lost most values"

_SHORT: Final = {
    "precision": "prec",
    "documents": "docs",
    "threshold": "thr",
    "invented": "inv",
    "absent": "abs",
}


def ranked_columns(titles: Iterable[str], *ranks: int) -> list[Column]:
    """Return columns with their ranks, by which a narrow terminal leaves them out."""
    ranked = zip(titles, ranks, strict=True)
    return [Column(title, rank, short=_SHORT.get(title, "")) for title, rank in ranked]


def _figures(view: RunView, counts: Counts, tone: Tone) -> list[Span]:
    """Return counts, so that errors stand out from zeros, and rates."""
    *rates, f1 = view.run.rule.rates(counts)
    return [
        Span(f"{counts.tp:,}"),
        *(Span(f"{it:,}", "" if it else "dim") for it in (counts.fd, counts.fn, counts.fa)),
        Span(f"{counts.tn:,}", "dim"),
        *(Span(view.rate(value)) for value in rates),
        Span(view.rate(f1), tone),
    ]


def countings_table(view: RunView) -> Table:
    """Return a row for the whole in each counting mode."""
    bounds, tally = view.intervals, view.run.evaluation.tally
    columns = [
        Column("counting", left=True),
        *ranked_columns((*_OUTCOMES, *_RATES), 5, 4, 2, 3, 7, 1, 1, 0),
    ]
    rows = [[Span(mode), *_figures(view, tally.counts(mode), "title")] for mode in MODES]
    if bounds is not None:
        columns.append(Column(view.interval_title, 6))
        for mode, row in zip(MODES, rows, strict=True):
            row.append(Span(view.interval(bounds.rates[mode]["f1"])))
    return Table(columns, rows, [("", f"{mode}: {text}") for mode, text in MODES.items()])


def metric_table(figures: Mapping[str, float | None]) -> Table:
    """Return a row for each figure of a metric that was asked for."""
    return Table(
        [Column("metric", left=True), Column("")],
        [[Span.of(name), Span(metric_text(figure), "title")] for name, figure in figures.items()],
    )


def metric_text(figure: float | None) -> str:
    """Return a figure of any size: as a rate if it may be one."""
    return rate(figure) if figure is None or 0 <= figure <= 1 else setting(figure)


def group_table(view: RunView, key: str, groups: Sequence[GroupRow], *, page: bool) -> Table:
    """Return a row for each of some groups."""
    columns = [
        Column(visible(f"by {view.quoted(key)}"), left=True),
        *ranked_columns(("documents", "wholly right", "F1", "mean score"), 1, 2, 0, 3),
    ]
    rows = [
        [
            Span.of(row.name if page else f"{INDENT}{row.name}"),
            Span(str(row.documents)),
            Span(str(row.right)),
            Span(view.rate(row.f1), "title"),
            Span(view.rate(row.score)),
        ]
        for row in groups
    ]
    if any(row.interval for row in groups):
        at = len(columns) if page else 4
        columns.insert(at, Column(view.interval_title, 4))
        for cells, row in zip(rows, groups, strict=True):
            cells.insert(at, Span(view.interval(row.interval)))
    return Table(columns, rows)


def field_table(
    view: RunView, shown: Sequence[FieldRow], *, page: bool = False, nested: bool = False
) -> Table:
    """Return a row for each field shown, named by its full path unless names are to be nested."""
    columns = [
        *([Column("", left=True)] if page else []),
        Column("field", left=True),
        *ranked_columns((*_OUTCOMES, *_RATES), 4, 2, 1, 3, 9, 7, 6, 0),
        Column("whole", 5, left=True),
        Column("mean score", 8),
        Column("comparator", 11, left=True),
        *ranked_columns(("threshold", "weight"), 10, 12),
    ]
    rows = [_field(view, row, page=page, nested=nested) for row in shown]
    return Table(columns, rows, legend(view))


def legend(view: RunView) -> list[tuple[str, str]]:
    """Return what explains the table of fields: a column, and a text; only what occurs."""
    rows = view.rows
    lines = []
    if any(None in row.rates for row in rows):
        lines.append(("F1", "- nothing to divide by"))
    if view.whole.counts.fd and not view.recall_counts_wrong_values:
        told = "recall leaves wrong values out (--recall-with-fd counts them as missed)"
        lines.append(("recall", told))
    if any(row.whole for row in rows):
        lines.append(("whole", "whole: items or objects found, without an error inside"))
    lists = any(row.score is None and row.counts.total for row in rows)
    none = "; the fields of list items have none" if lists else ""
    lines.append(("mean score", f"mean score: after clipping{none}"))
    return lines + ([("", WORST_LEGEND)] if any(row.worst for row in rows) else [])


def _field(view: RunView, row: FieldRow, *, page: bool, nested: bool) -> list[Span]:
    name = INDENT * row.depth + row.name if nested else field_path(row.path)
    tone: Tone = "bad" if row.worst else "" if row.counts.total > row.counts.tn else "dim"
    mark = WORST_MARK if row.worst else ""
    return [
        *([Span(mark), Span.of(name)] if page else [Span.of(f"{mark:1} {name}", tone)]),
        *_figures(view, row.counts, tone),
        Span(row.whole),
        Span(view.rate(row.score)),
        Span.of(row.compared_by, "dim"),
        Span(setting(row.threshold), "dim"),
        Span(setting(row.weight), "dim"),
    ]
