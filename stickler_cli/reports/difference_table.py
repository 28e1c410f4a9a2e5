"""Differences of runs as people read them in a terminal or in a pipe, and their tables."""

from collections.abc import Iterable, Iterator

from stickler_cli.core.figures import NOTHING, more_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text, Tone
from stickler_cli.studies.diff.changes import Change, Difference, MetricChange
from .difference_view import MARKS, SHORT, DifferenceView, signed
from .layout import TableStyle, draw, gates
from .tables import metric_text, ranked_columns


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as tables and sentences; ends with a line break."""
    view = DifferenceView(difference)
    told = view.findings
    sections: tuple[Iterable[Block], ...] = (
        _head(view),
        [change_table(view, view.whole)],
        [metric_changes_table(difference.metrics)] if difference.metrics else [],
        [Text(text, tone, INDENT) for tone, text in told],
        [change_table(view, difference.fields, "field", nested=not style.plain)]
        if difference.fields
        else [],
        *(_documents(view, what) for what in view.documents),
        gates(difference.gates),
    )
    return draw(sections, style)


def _head(view: DifferenceView) -> Iterator[Text]:
    yield Text(view.title, "title")
    for decides, text in view.contrasts:
        word = "not comparable: " if decides else "differs: "
        yield Text(word + text, "bad" if decides else "warn", INDENT)
    yield Text(view.headline)
    yield Text(view.trend_line, MARKS[view.difference.whole[0].trend][1], INDENT)
    yield Text(view.of_runs, "dim", INDENT)


def _documents(view: DifferenceView, what: str) -> Iterator[Text]:
    documents, more = view.documents[what]
    if documents:
        yield Text(f"documents that got {what}", "title")
    for document in documents:
        mark = "broke hard: " if document.hard else ""
        text = f"{signed(document.change)}  {document.id}: {mark}{view.document_text(document)}"
        yield Text(text, "bad" if document.hard else "", INDENT * 2)
    if more:
        yield Text(more_of(more))


def metric_changes_table(changes: Iterable[MetricChange]) -> Table:
    """Return a row for each figure of a metric of both runs."""
    return Table(
        [Column("metric", left=True), *map(Column, ("before", "after", "change"))],
        [
            [
                Span.of(each.name),
                Span(metric_text(each.before)),
                Span(metric_text(each.after), "title"),
                Span(NOTHING if each.change is None else f"{each.change:+.4g}"),
            ]
            for each in changes
        ],
    )


def change_table(
    view: DifferenceView,
    changes: Iterable[Change],
    first: str = "",
    *,
    page: bool = False,
    nested: bool = False,
) -> Table:
    """Return a row for each figure; only fields, whose column has a title, are broken and fixed."""
    columns = [
        *([Column("", left=True)] if page else []),
        Column(first, left=True),
        *ranked_columns(("before", "after", "change"), 3, 2, 0),
        Column(view.interval_title, 7, short="CI"),
        *(ranked_columns(("p", "broken", "fixed"), 4, 5, 6) if first else [Column("p", 4)]),
        Column("trend", 1, left=True),
        Column("decided by", 8, left=True),
    ]
    cells = []
    for change in changes:
        path, decided, (mark, tone) = change.path, change.decided_by, MARKS[change.trend]
        name = INDENT * (len(path) - 1) + field_path(path[-1:]) if nested else view.name(change)
        counts = (change.broken, change.fixed) if first else ()
        tones: tuple[Tone, ...] = ("", "", tone, "", "")
        cells.append(
            [
                *(map(Span, (mark, name)) if page else [Span.of(f"{mark} {name}", tone)]),
                *map(Span, view.figures(change), tones),
                *(Span(str(count), "" if count else "dim") for count in counts),
                Span(change.trend.value, tone),
                Span(decided.value if page else SHORT[decided], "dim"),
            ]
        )
    return Table(columns, cells, [("", text) for text in view.legend] if first else ())
