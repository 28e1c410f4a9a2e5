"""Lay out sections as text for a terminal or a pipe: paragraphs, tables and small curves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from stickler_cli.core.figures import cells, truncate, visible
from stickler_cli.core.sections import (
    BLANK,
    INDENT,
    Block,
    Column,
    Curve,
    Curves,
    Figures,
    Line,
    Section,
    Span,
    Table,
    Text,
    Tone,
)

GAP: Final = "  "  # between columns: two blanks, as single blanks occur inside cells

FLEXIBLE: Final = 20
"""The first column may shrink to this width if other columns need room."""

LEAST: Final = 4  # width that the first column keeps even on the narrowest terminal

LEAST_TEXT: Final = 8
"""Minimum width of text after a margin."""

HEIGHTS: Final = "▁▂▃▄▅▆▇█"
CURVE_CELLS: Final = 40  # width of a drawn curve

_CODES: Final[dict[Tone, str]] = {
    "title": "1",
    "bad": "1;31",
    "warn": "33",
    "good": "1;32",
    "dim": "2",
}
"""ANSI codes of the tones. The terminal's theme decides how a colour looks. Source: ECMA-48,
section 8.3.117."""


@dataclass(frozen=True, slots=True)
class TableStyle:
    """Style options of a report. Formats that programs read, such as JSON, ignore most of them."""

    width: int | None = None
    """Width of the terminal in columns, above 0; None if lines may have any length."""
    color: bool = False
    plain: bool = True
    """Whether the output is for a pipe or a file. Paths are then shown in full, each row is a
    single line, and there are no colours."""
    in_log: bool = False
    """Whether the output can end up in the log of a CI job, because it goes to a terminal, a pipe
    or a device. Control characters and workflow commands in values are then escaped."""
    show_non_matches: int = 0
    show_documents: int = 0
    junit_fields: bool = False
    wide: bool = False
    """Whether CSV and similar formats contain the figures of every counting mode (`--csv wide`)."""
    sort: str = "schema"
    """Order of fields in tables: `schema`, `f1`, `errors` or `name`."""
    verbose: bool = False
    """Whether the report includes further figures, such as those in other counting modes."""
    only_errors: bool = False
    columns: Sequence[str] = ()
    """Titles of the columns in the table of fields; empty for the default columns."""
    fields: str = "*"
    """Glob for the paths of the fields that tables show."""
    places: int = 0
    """Number of locations that `lint` shows for each finding."""

    @property
    def room(self) -> int | None:
        """Maximum width of a line in terminal columns; None if it is unlimited."""
        return None if self.plain else self.width


def draw(sections: Iterable[Section], style: TableStyle) -> str:
    """Return sections as text, with a blank line between them. Empty sections are skipped.

    If the style has colours, the tones of the text become ANSI codes.
    """
    lines: list[Line] = []
    for section in sections:
        drawn = [*_block_lines(Text(section.title, "title"), style)] if section.title else []
        drawn += (line for block in section.blocks for line in _block_lines(block, style))
        lines += [BLANK, *drawn] if lines and drawn else drawn
    if style.plain or not style.color:
        return plain_text(lines)
    return "".join("".join(map(_colored, line)) + "\n" for line in lines)


def _colored(span: Span) -> str:
    code = _CODES.get(span.tone)
    return f"\x1b[{code}m{span.text}\x1b[0m" if code and span.text else span.text


def _block_lines(block: Block | Figures | Curves, style: TableStyle) -> list[Line]:
    match block:
        case Text():
            return _text_lines(block, style.room)
        case Figures():
            return _block_lines(block.table(aside=not style.plain), style)
        case Curves():
            texts = () if style.plain else _curve_texts(block)
            return [line for text in texts for line in _block_lines(text, style)]
        case Table():
            (header, *body), dropped = table_lines(block, style.room)
            lines = [header]
            for line, row_details in zip(body, block.below or [()] * len(body), strict=True):
                lines += [
                    line,
                    *(
                        detail_line
                        for detail in row_details
                        for detail_line in _block_lines(detail, style)
                    ),
                ]
            shown_titles = {column.title for column in block.columns} - {*dropped} | {""}
            legend = [text for title, text in block.legend if title in shown_titles]
            if dropped and (block.legend or style.columns):
                legend.append(f"columns left out to save width: {', '.join(dropped)}")
            if block.legend:
                lines.append(BLANK)
            legend_blocks = (Text(text, "dim", INDENT) for text in legend)
            return [*lines, *(line for text in legend_blocks for line in _block_lines(text, style))]
        case _:
            return [block]


def plain_text(lines: Iterable[Line]) -> str:
    """Return lines as text without tones; ends with a line break."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def table_lines(table: Table, width: int | None = None) -> tuple[list[Line], list[str]]:
    """Lay out a table.

    Return its lines, including the header, and the titles of columns that did not fit.
    """
    columns = table.columns
    titles = [column.title for column in columns]
    widths = _widths(titles, table)
    if width is not None and sum(widths) + len(GAP) * (len(widths) - 1) > width:
        titles = [column.short or column.title for column in columns]
        widths = _widths(titles, table)
    kept_columns = _with_room(columns, widths, inf if width is None else width)
    if width is not None:
        other_columns = sum(widths[index] + len(GAP) for index in kept_columns if index)
        widths[0] = min(widths[0], max(LEAST, width - other_columns))
    header = [Span(title, "title") for title in titles]
    lines = []
    for row in (header, *table.rows):
        spans: list[Span] = []
        for index in kept_columns:
            text = truncate(row[index].text, widths[index])
            padding = " " * (widths[index] - cells(text))
            padded = text + padding if columns[index].left else padding + text
            spans += [Span(GAP if index else ""), Span(padded, row[index].tone)]
        lines.append(tuple(spans))
    return lines, [
        column.title for index, column in enumerate(columns) if index not in kept_columns
    ]


def _widths(titles: Sequence[str], table: Table) -> list[int]:
    return [
        max(cells(text) for text in (title, *(row[index].text for row in table.rows)))
        for index, title in enumerate(titles)
    ]


def _with_room(columns: Sequence[Column], widths: Sequence[int], width: float) -> list[int]:
    """Return the indexes of the columns that fit into a width.

    The first column and the columns of rank 0 are always kept. The other columns are added while
    there is room, the lowest rank first.
    """
    used_columns, kept_columns = min(widths[0], FLEXIBLE), [0]
    for index in sorted(range(1, len(columns)), key=lambda index: columns[index].rank):
        used_columns += widths[index] + len(GAP)
        if used_columns > width and columns[index].rank:
            break
        kept_columns.append(index)
    return sorted(kept_columns)


def paragraph(text: str, width: int | None = None, tone: Tone = "", indent: str = "") -> list[Line]:
    """Return text as lines of at most `width` columns, broken at blanks.

    Lines after the first one begin with `indent`. A word longer than a line is not broken, so that
    a user can copy paths and numbers.
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


def _text_lines(block: Text, width: int | None) -> list[Line]:
    if width is not None and block.margin:
        width = max(width - len(block.margin), LEAST_TEXT)
    lines = paragraph(block.text, width, block.tone, block.indent)
    if block.lead is not None:
        word, blank, remainder = lines[0][0].text.partition(" ")
        lines[0] = (Span(word, block.lead), Span(blank + remainder, block.tone))
    return [(Span(block.margin), *line) for line in lines] if block.margin else lines


def _curve_texts(curves: Curves) -> Iterator[Text]:
    """Yield each curve as a line of text.

    A curve shows how the error rate changes with the share of accepted values.
    """
    name_width = max((len(curve.name) for curve in curves.curves), default=0)
    top_of_scale = curves.top or 2 * curves.level
    yield Text(f"{curves.title} (| is {curves.mark}; a full bar is {top_of_scale:g})")
    for curve in curves.curves:
        yield Text(f"{curve.name:<{name_width}}  {_curve_line(curve, top_of_scale)}", indent=INDENT)


def _curve_line(curve: Curve, top_of_scale: float) -> str:
    characters = []
    for position in range(1, CURVE_CELLS + 1):
        nearest_point = min(
            curve.points, key=lambda point: abs(point[0] - position / CURVE_CELLS), default=(0, 0)
        )
        characters.append(
            HEIGHTS[min(int(nearest_point[1] / top_of_scale * len(HEIGHTS)), len(HEIGHTS) - 1)]
        )
    characters.insert(round(curve.passing * CURVE_CELLS), "|")
    return "".join(characters)


MOST_ROWS: Final = 200  # more than a schema has fields, fewer than the keys of a large map

_TABLE: Final = "border-collapse:collapse;color:inherit;background:transparent;font-size:13px"
_CELL: Final = "border-bottom:1px solid rgba(128,128,128,.35);padding:0 6px;line-height:23px"
_KEYS: Final = {
    "right": "#2a78b5",
    "wrong": "repeating-linear-gradient(45deg,#c8500a 0 3px,#e3a784 3px 5px)",
    "missed": "repeating-linear-gradient(90deg,#8a4a86 0 2px,#c4a4c2 2px 4px)",
    "invented": "radial-gradient(circle at 3px 3px,#ecce80 1.5px,#d99a00 2px)",
}
"""Colour and pattern of each outcome in HTML tables. They are the same as on the HTML page."""
_WRONG: Final = "text-decoration:underline wavy #c8500a 1px;text-underline-offset:2px"
_LINE: Final = "margin:0;line-height:24px"
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
# Not from `html`, which would load all modules of the page.
_ESCAPED: Final = str.maketrans(_ENTITIES)


def html_table(lines: Sequence[Span], table: Table, others_name: str) -> str:
    """Return lines and a table as HTML for a notebook.

    The table shows at most `MOST_ROWS` rows. If there are more rows, a last line says how many are
    left out. It ends with `others_name`, a sentence that says how to get all rows.
    """
    paragraphs = "".join(f'<p style="{_LINE}">{_html(line)}</p>' for line in lines)
    legend = dict(table.legend)
    heads = "".join(
        f'<th scope="col" title="{legend.get(column.title, "").translate(_ESCAPED)}" '
        f'style="{_style(column)}">{_key_square(column.title)}{column.title.translate(_ESCAPED)}</th>'
        for column in table.columns
    )
    body = "".join(_html_row(table.columns, row) for row in table.rows[:MOST_ROWS])
    n_others = len(table.rows) - MOST_ROWS
    others_text = f"<p>{n_others} more: {others_name}</p>" if n_others > 0 else ""
    return (
        f'<div style="overflow-x:auto">{paragraphs}<table style="{_TABLE}"><thead><tr>{heads}</tr>'
        f"</thead><tbody>{body}</tbody></table>{others_text}</div>"
    )


def _key_square(title: str) -> str:
    """Return the HTML of a small coloured square for the header of a column.

    Only a column that counts an outcome, such as `wrong`, has a square. Its colour is the colour of
    the outcome. If the title is not the name of an outcome, return an empty text.
    """
    if title not in _KEYS:
        return ""
    size = "display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:3px"
    return f'<i style="{size};background:{_KEYS[title]}"></i>'


def _html_row(columns: Sequence[Column], row: Sequence[Span]) -> str:
    name, *cells = (f"<bdi>{_html(cell)}</bdi>" for cell in row)
    values = "".join(
        f'<td style="{_style(column)}">{cell}</td>'
        for column, cell in zip(columns[1:], cells, strict=True)
    )
    return f'<tr><th scope="row" style="{_style(columns[0])}">{name}</th>{values}</tr>'


def _html(span: Span) -> str:
    text = span.text.translate(_ESCAPED)
    if span.tone == "bad" and text:
        return f'<span style="{_WRONG}">{text}</span>'
    return f"<strong>{text}</strong>" if span.tone == "title" else text


def _style(column: Column) -> str:
    numbers = "right;white-space:nowrap;font-variant-numeric:tabular-nums"
    side = "left;overflow-wrap:anywhere" if column.left else numbers
    return f"{_CELL};font-weight:normal;text-align:{side}"
