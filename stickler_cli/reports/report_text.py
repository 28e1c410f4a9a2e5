"""Reports of studies in text, Markdown and rows: sections drawn, whatever they are of."""

from collections.abc import Iterator
from typing import Any

from stickler_cli.core.sections import Block, Figures, Report, Section, Table, Text
from stickler_cli.records.row_files import Columns, Row
from stickler_cli.score.counts import BOUNDS
from .layout import TableStyle, draw
from .markdown_text import COMMENT_LIMIT, escaped, table_text, truncate_lines


def render_text(report: Report, style: TableStyle) -> str:
    """Return a report as a terminal or a pipe shows it; ends with a line break."""
    return draw([_blocks(section, style) for section in report.sections], style)


def _blocks(section: Section, style: TableStyle) -> list[Block]:
    title = [Text(section.title, "title")] if section.title else []
    aside = not style.plain
    tables = (it.table(aside=aside) if isinstance(it, Figures) else it for it in section.blocks)
    return [*title, *tables]


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
