"""The report of a difference that people read, in a terminal or in a pipe."""

from collections.abc import Iterable
from typing import Final

from stickler_cli.core.locations import Path, field_path
from stickler_cli.diff.changes import Change, Difference, DocumentChange, Verdict
from stickler_cli.reports.difference_sentences import (
    MARKS,
    SHORT,
    differences,
    document_text,
    fields_with,
    headline,
    interval_of,
    interval_title,
    legend,
    limits,
    name_of,
    named_documents,
    signed,
    title,
    verdict_line,
)
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
from stickler_cli.score.rate_text import rate

INDENT: Final = "  "

TONES: Final[dict[Verdict, Tone]] = {
    Verdict.IMPROVED: "good",
    Verdict.REGRESSED: "bad",
    Verdict.UNCHANGED: "dim",
    Verdict.UNCLEAR: "",
}

_OF_FIELDS: Final = ("broken", "fixed")
"""Columns that only fields have."""


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as tables and sentences; ends with a line break."""
    width = style.room
    sections = (
        _head(difference, width),
        _whole(difference, width),
        _fields(difference, width, plain=style.plain),
        _documents(difference, width),
        gate_lines(difference.gates, width),
    )
    return render_lines(join(sections), style)


def _head(difference: Difference, width: int | None) -> list[Line]:
    lines = paragraph(title(difference), width, "title")
    for decides, text in differences(difference):
        word = "not comparable: " if decides else "differs: "
        lines += paragraph(word + text, width, "bad" if decides else "warn", INDENT)
    lines += paragraph(headline(difference), width)
    tone = TONES[difference.whole[0].verdict]
    return [*lines, *paragraph(verdict_line(difference), width, tone, INDENT)]


def _columns(difference: Difference, first: str) -> tuple[Column, ...]:
    return (
        Column(first, left=True),
        Column("before", 3),
        Column("after", 2),
        Column("change"),
        Column(interval_title(difference), 7, short="CI"),
        Column("p", 4),
        Column("broken", 5),
        Column("fixed", 6),
        Column("verdict", 1, left=True),
        Column("decided by", 8, left=True),
    )


def _cells(difference: Difference, change: Change, name: str) -> list[Span]:
    near, tone = limits(difference), TONES[change.verdict]
    p = change.corrected_p if change.path else change.p
    return [
        Span.of(f"{MARKS[change.verdict]} {name}", tone),
        Span(rate(change.before)),
        Span(rate(change.after)),
        Span(signed(change.change, near), tone),
        Span(interval_of(change.interval, near)),
        Span(rate(p)),
        *(Span(str(count), "" if count else "dim") for count in (change.broken, change.fixed)),
        Span(change.verdict.value, tone),
        Span(SHORT[change.decided_by], "dim"),
    ]


def _whole(difference: Difference, width: int | None) -> list[Line]:
    columns = _columns(difference, "")
    kept = [place for place, column in enumerate(columns) if column.title not in _OF_FIELDS]
    rows = [_cells(difference, change, name_of(change)) for change in difference.whole]
    table = Table(
        [columns[place] for place in kept], [[row[place] for place in kept] for row in rows]
    )
    lines, _ = table_lines(table, width)
    return lines


def _fields(difference: Difference, width: int | None, *, plain: bool) -> list[Line]:
    if not difference.fields:
        return []
    rows = [
        _cells(difference, change, name_of(change) if plain else _nested(change.path))
        for change in difference.fields
    ]
    lines, dropped = table_lines(Table(_columns(difference, "field"), rows), width)
    told: list[Line] = []
    for verdict in (Verdict.REGRESSED, Verdict.IMPROVED):
        for text in fields_with(difference, verdict):
            told += paragraph(text, width, TONES[verdict], INDENT)
    notes = [*legend(difference), *([f"no room for: {', '.join(dropped)}"] if dropped else [])]
    below = [line for text in notes for line in paragraph(text, width, "dim", INDENT)]
    return [*told, *([BLANK] if told else []), *lines, BLANK, *below]


def _nested(path: Path) -> str:
    return INDENT * (len(path) - 1) + field_path(path[-1:])


def _documents(difference: Difference, width: int | None) -> list[Line]:
    lines: list[Line] = []
    for what, (documents, more) in named_documents(difference).items():
        if documents:
            lines += [BLANK] if lines else []
            lines += paragraph(f"documents that got {what}", width, "title")
            lines += _listed(documents, width)
            if more:
                lines += paragraph(f"and {more} more; all of them are in the JSON report", width)
    return lines


def _listed(documents: Iterable[DocumentChange], width: int | None) -> list[Line]:
    lines: list[Line] = []
    for document in documents:
        tone: Tone = "bad" if document.is_hard else ""
        mark = "broke hard: " if document.is_hard else ""
        text = f"{signed(document.change)}  {document.id}: {mark}{document_text(document)}"
        lines += paragraph(text, width, tone, INDENT * 2)
    return lines
