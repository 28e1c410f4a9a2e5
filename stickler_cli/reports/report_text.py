"""Reports of studies in text, Markdown and rows: sections drawn, whatever they are of."""

from collections.abc import Iterator
from typing import Any, Final

from stickler_cli.core.sections import (
    INDENT,
    Block,
    Curve,
    Curves,
    Figures,
    Report,
    Section,
    Table,
    Text,
)
from stickler_cli.records.row_files import Columns, Row
from stickler_cli.score.counts import BOUNDS
from .layout import TableStyle, draw
from .markdown_text import COMMENT_LIMIT, escaped, table_text, truncate_lines


def render_text(report: Report, style: TableStyle) -> str:
    """Return a report as a terminal or a pipe shows it; ends with a line break."""
    return draw([_blocks(section, style) for section in report.sections], style)


def _blocks(section: Section, style: TableStyle) -> Iterator[Block]:
    if section.title:
        yield Text(section.title, "title")
    for block in section.blocks:
        match block:
            case Figures():
                yield block.table(aside=not style.plain)
            case Curves():
                yield from () if style.plain else _drawn(block)
            case _:
                yield block


HEIGHTS: Final = "▁▂▃▄▅▆▇█"
CELLS: Final = 40


def _drawn(curves: Curves) -> Iterator[Block]:
    """Yield a line for each curve, from none that pass to all."""
    wide = max((len(it.name) for it in curves.curves), default=0)
    most = 2 * curves.level
    yield Text(f"{curves.title}; | is where it ends, {HEIGHTS[-1]} {most:g}")
    for it in curves.curves:
        yield Text(f"{it.name:<{wide}}  {_line(it, most)}", indent=INDENT)


def _line(it: Curve, most: float) -> str:
    cells = []
    for at in range(1, CELLS + 1):
        near = min(it.points, key=lambda point: abs(point[0] - at / CELLS), default=(0, 0))
        cells.append(HEIGHTS[min(int(near[1] / most * len(HEIGHTS)), len(HEIGHTS) - 1)])
    cells.insert(round(it.passing * CELLS), "|")
    return "".join(cells)


def render_markdown(report: Report, style: TableStyle) -> str:
    """Return a report as Markdown that a comment can hold: titles, lists and tables."""
    parts: list[list[str]] = []
    for at, section in enumerate(report.sections):
        if section.title:
            parts.append([f"{'####' if at else '###'} {escaped(section.title)}"])
        parts += _markdown(section)
    text = "\n\n".join("\n".join(lines) for lines in parts) + "\n"
    return truncate_lines(text, COMMENT_LIMIT)


def _markdown(section: Section) -> Iterator[list[str]]:
    """Yield paragraphs, lists and tables, each as its lines."""
    listed: list[str] = []
    margins = [len(block.margin) for block in section.blocks if isinstance(block, Text)]
    outer = min(margins, default=0)
    for block in section.blocks:
        match block:
            case Figures() | Table():
                if listed:
                    yield listed
                listed = []
                table = block.table() if isinstance(block, Figures) else block
                yield table_text(table)
                if table.legend:
                    yield [f"- {escaped(text)}" for _, text in table.legend]
            case Curves():
                listed += [f"- {escaped(it.name)}: {escaped(it.said)}" for it in block.curves]
            case Text():
                listed.append(f"{block.margin[outer:]}- {escaped(block.text)}")
            case line:
                listed.append(f"- {escaped(''.join(span.text for span in line))}")
    if listed:
        yield listed


def rows_of(figures: Figures) -> tuple[Columns, list[Row]]:
    """Return the columns and cells of a table as files of rows have them."""
    columns: dict[str, type] = {}
    for each in figures.figures:
        if each.kind is list:
            name = each.name.removesuffix("_interval").removesuffix("interval")
            columns |= {f"{name}_{end}".removeprefix("_"): float for end in BOUNDS}
        else:
            columns[each.name] = each.kind
    return columns, [[*_cells(figures, row)] for row in figures.rows]


def _cells(figures: Figures, row: object) -> Iterator[Any]:
    for each in figures.figures:
        cell: Any = each.of(row)
        if each.kind is list:
            yield from [None, None] if cell is None else cell
        else:
            yield cell
