"""The report of a difference that people read, in a terminal or in a pipe."""

from collections.abc import Sequence
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Difference, Trend
from stickler_cli.reports.difference_view import SHORT, ChangeRow, DifferenceView, signed
from stickler_cli.reports.figures import more_of
from stickler_cli.reports.layout import (
    BLANK,
    Column,
    Line,
    Span,
    Table,
    TableStyle,
    Tone,
    gate_lines,
    join,
    paragraph,
    render_lines,
    table_lines,
)

INDENT: Final = "  "


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as tables and sentences; ends with a line break."""
    view, width = DifferenceView(difference), style.room
    sections = (
        _head(view, width),
        _table(view, "", view.whole, width)[0],
        _fields(view, width, plain=style.plain),
        _documents(view, width),
        gate_lines(difference.gates, width),
    )
    return render_lines(join(sections), style)


def _head(view: DifferenceView, width: int | None) -> list[Line]:
    lines = paragraph(view.title, width, "title")
    for decides, text in view.contrasts:
        word = "not comparable: " if decides else "differs: "
        lines += paragraph(word + text, width, "bad" if decides else "warn", INDENT)
    lines += paragraph(view.headline, width)
    return [*lines, *paragraph(view.trend_line, width, view.whole[0].tone, INDENT)]


def _table(
    view: DifferenceView,
    first: str,
    rows: Sequence[ChangeRow],
    width: int | None,
    *,
    nested: bool = False,
) -> tuple[list[Line], list[str]]:
    """Return a row for each figure, and the titles of columns that had no room.

    Only fields, whose first column has a title, are broken and fixed.
    """
    columns = (
        Column(first, left=True),
        Column("before", 3),
        Column("after", 2),
        Column("change"),
        Column(view.interval_title, 7, short="CI"),
        Column("p", 4),
        *((Column("broken", 5), Column("fixed", 6)) if first else ()),
        Column("trend", 1, left=True),
        Column("decided by", 8, left=True),
    )
    cells = []
    for row in rows:
        change, tone = row.figure, row.tone
        path = change.path
        name = INDENT * (len(path) - 1) + field_path(path[-1:]) if nested else row.name
        counts = (change.broken, change.fixed) if first else ()
        cells.append(
            [
                Span.of(f"{row.mark} {name}", tone),
                Span(row.before),
                Span(row.after),
                Span(row.change, tone),
                Span(row.interval),
                Span(row.p),
                *(Span(str(count), "" if count else "dim") for count in counts),
                Span(change.trend.value, tone),
                Span(SHORT[change.decided_by], "dim"),
            ]
        )
    return table_lines(Table(columns, cells), width)


def _fields(view: DifferenceView, width: int | None, *, plain: bool) -> list[Line]:
    if not view.fields:
        return []
    lines, dropped = _table(view, "field", view.fields, width, nested=not plain)
    told = [
        line
        for tone, text in view.fields_with(Trend.REGRESSED, Trend.IMPROVED)
        for line in paragraph(text, width, tone, INDENT)
    ]
    notes = [*view.legend, *([f"no room for: {', '.join(dropped)}"] if dropped else [])]
    below = [line for text in notes for line in paragraph(text, width, "dim", INDENT)]
    return join([told, [*lines, BLANK, *below]])


def _documents(view: DifferenceView, width: int | None) -> list[Line]:
    sections = []
    for what, (documents, more) in view.documents.items():
        lines: list[Line] = []
        for document in documents:
            tone: Tone = "bad" if document.is_hard else ""
            mark = "broke hard: " if document.is_hard else ""
            text = f"{signed(document.change)}  {document.id}: {mark}{view.document_text(document)}"
            lines += paragraph(text, width, tone, INDENT * 2)
        if more:
            lines += paragraph(more_of(more), width)
        if lines:
            sections.append([*paragraph(f"documents that got {what}", width, "title"), *lines])
    return join(sections)
