"""Lines and columns of text, each piece with a tone: how a report lies on a terminal or page.

A module of its own because the same tables go to terminals of any width and, untruncated, into
pipes. Widths are counted here, so nothing is left to wrap by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from stickler_cli.reports.figures import cells, truncate, visible
from stickler_cli.score.gates import GateResult

Tone = Literal["", "title", "bad", "warn", "good", "dim"]
"""What a piece of text means; how it looks is the terminal's business."""

GAP: Final = "  "
"""Between columns: two blanks, so that single ones inside a cell do not split it."""

FLEXIBLE: Final = 20
"""Columns of the terminal that the first column may keep when others ask for room."""

LEAST: Final = 4
"""Columns that the first column keeps on the narrowest of terminals."""


_CODES: Final[dict[Tone, str]] = {
    "title": "1",
    "bad": "1;31",
    "warn": "33",
    "good": "1;32",
    "dim": "2",
}
"""The ANSI codes of the sixteen colours that follow the terminal's own theme, bold and faint; none
carries a meaning alone. Source: ECMA-48, section 8.3.117."""


@dataclass(frozen=True, slots=True)
class TableStyle:
    """What a report depends on besides its subject; most reports for programs ignore it."""

    width: int | None = None
    """Columns of the terminal, above 0; None renders at full width and truncates nothing."""
    color: bool = False
    plain: bool = True
    """For pipes and files: full paths, one row a line, no colour, no width."""
    show_non_matches: int = 0
    """How many non-matches to list."""
    junit_fields: bool = False
    """Whether JUnit XML has a case for each field."""

    @property
    def room(self) -> int | None:
        """The columns that lines have; None for as many as they take."""
        return None if self.plain else self.width


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text on one line; safe to print, whatever it was made of."""

    text: str
    tone: Tone = ""

    @classmethod
    def of(cls, text: str, tone: Tone = "") -> "Span":
        """Return text from anywhere, made safe."""
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
    """Rows of cells, one per column; the first column is the one that may be truncated."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Span]]


def join(sections: Iterable[Sequence[Line]]) -> list[Line]:
    """Return the lines of sections with a blank line between; empty sections leave none."""
    lines: list[Line] = []
    for section in sections:
        lines += [BLANK, *section] if lines and section else section
    return lines


def plain_text(lines: Iterable[Line]) -> str:
    """Return lines as text without any tone; ends with a line break."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def render_lines(lines: Iterable[Line], style: TableStyle) -> str:
    """Return lines as text, in colour if the style has it; ends with a line break.

    The text of a span is printable, so no other code can be in it.
    """
    if style.plain or not style.color:
        return plain_text(lines)
    return "".join("".join(map(_colored, line)) + "\n" for line in lines)


def _colored(span: Span) -> str:
    code = _CODES.get(span.tone)
    return f"\x1b[{code}m{span.text}\x1b[0m" if code and span.text else span.text


def table_lines(table: Table, width: int | None = None) -> tuple[list[Line], list[str]]:
    """Return a table as lines, header first.

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
    kept, dropped = _with_room(table.columns, widths, width)
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


def _with_room(
    columns: Sequence[Column], widths: Sequence[int], width: int | None
) -> tuple[list[int], list[int]]:
    """Return the columns that have room, by rank, and those that have not; each in their order."""
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
    """Return one row, padded; blanks at its end go when it is printed."""
    spans: list[Span] = []
    for index, cell in zip(kept, row, strict=True):
        text = truncate(cell.text, widths[index])
        padding = " " * (widths[index] - cells(text))
        padded = text + padding if columns[index].left else padding + text
        spans += [Span(GAP if index else ""), Span(padded, cell.tone)]
    return tuple(spans)


def paragraph(text: str, width: int | None = None, tone: Tone = "", indent: str = "") -> list[Line]:
    """Return text broken at its blanks to lines of a width; lines after the first are indented.

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


def gate_lines(gates: Iterable[GateResult], width: int | None) -> list[Line]:
    """Return what each gate comes to."""
    lines: list[Line] = []
    for result in gates:
        word, tone = _GATE_WORDS[result.passed]
        first, *rest = paragraph(f"{word}  {result.reason}", width, "", " " * 6)
        (span,) = first
        lines += [(Span(word, tone), Span(span.text.removeprefix(word))), *rest]
    return lines


_GATE_WORDS: Final[dict[bool, tuple[str, Tone]]] = {True: ("PASS", "good"), False: ("FAIL", "bad")}
