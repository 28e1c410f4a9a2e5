"""Lines and columns of text, each piece with a style: how a report lies on a terminal or page.

A module of its own because the same tables go to terminals of any width and, uncut, into pipes.
Widths are counted here, so nothing is left to wrap by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from stickler_cli.reports.figures import cells, cut, visible

Tone = Literal["", "title", "bad", "warn", "good", "dim"]
"""What a piece of text means; how it looks is the terminal's business."""

GAP: Final = "  "
"""Between columns: two blanks, so that single ones inside a cell do not split it."""

FLEXIBLE: Final = 20
"""Columns of the terminal that the first column may keep when others ask for room."""

LEAST: Final = 4
"""Columns that the first column keeps on the narrowest of terminals."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text on one line; safe to print, whatever it was made of."""

    text: str
    tone: Tone = ""

    @classmethod
    def of(cls, text: str, tone: Tone = "") -> "Span":
        """Make text from anywhere safe."""
        return cls(visible(text), tone)


Line: TypeAlias = tuple[Span, ...]

BLANK: Final[Line] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    rank: int = 0
    """Columns of the highest rank go first where the terminal is narrow; 0 always stays."""
    left: bool = False
    """Whether its cells stand to the left."""
    short: str = ""
    """The title where room is scarce."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, one per column; the first column is the one that may be cut."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Span]]


def plain_text(lines: Sequence[Line]) -> str:
    """Put lines together without any style; ends with a line break."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def table_lines(table: Table, width: int | None = None) -> tuple[list[Line], list[str]]:
    """Lay out a table, header first.

    Args:
        table: at least one column.
        width: the columns there are; None for as many as it takes.

    Returns:
        The lines, all of the same columns, and the titles of the columns left out.
    """
    titles = [_title(column, width) for column in table.columns]
    widths = [
        max(cells(text) for text in (title, *(row[index].text for row in table.rows)))
        for index, title in enumerate(titles)
    ]
    kept, dropped = _fitting(table.columns, widths, width)
    if width is not None:
        others = sum(widths[index] + len(GAP) for index in kept if index)
        widths[0] = min(widths[0], max(LEAST, width - others))
    header = [Span(title, "title") for title in titles]
    lines = [
        _line([row[index] for index in kept], kept, table.columns, widths)
        for row in (header, *table.rows)
    ]
    return lines, [table.columns[index].title for index in dropped]


def _title(column: Column, width: int | None) -> str:
    return column.short if column.short and width is not None else column.title


def _fitting(
    columns: Sequence[Column], widths: Sequence[int], width: int | None
) -> tuple[list[int], list[int]]:
    """Choose columns by rank until one has no room; both answers are in the columns' order."""
    everything = list(range(len(columns)))
    if width is None:
        return everything, []
    used = min(widths[0], FLEXIBLE)
    kept = {0}
    for index in sorted(everything[1:], key=lambda index: columns[index].rank):
        used += widths[index] + len(GAP)
        if used > width and columns[index].rank:
            break
        kept.add(index)
    return sorted(kept), [index for index in everything if index not in kept]


def _line(
    row: Sequence[Span], kept: Sequence[int], columns: Sequence[Column], widths: Sequence[int]
) -> Line:
    """Pad one row; the last column is padded too, and blanks at the end go when it is printed."""
    spans: list[Span] = []
    for index, cell in zip(kept, row, strict=True):
        text = cut(cell.text, widths[index])
        padding = " " * (widths[index] - cells(text))
        padded = text + padding if columns[index].left else padding + text
        spans += [Span(GAP if index else ""), Span(padded, cell.tone)]
    return tuple(spans)


def paragraph(text: str, width: int | None = None, tone: Tone = "", indent: str = "") -> list[Line]:
    """Break text at its blanks to fit a width; lines after the first are indented.

    A word longer than the width stays whole: a path or number in two pieces is no use.
    """
    safe = visible(text)
    if width is None:
        return [(Span(safe, tone),)]
    lines = [""]
    for word in safe.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
        if cells(longer) <= width or not lines[-1].strip():
            lines[-1] = longer
        else:
            lines.append(indent + word)
    return [(Span(line, tone),) for line in lines]
