"""Write sections as GitHub-flavoured Markdown, short enough for comments and CI summaries."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Final

from stickler_cli.core.figures import visible
from stickler_cli.core.sections import Block, Curves, Figures, Section, Table, Text

COMMENT_LIMIT: Final = 65_000
"""Maximum number of characters of a comment. GitHub allows 65,536. The difference leaves room for
text that is added by the program that posts the comment."""

SUMMARY_LIMIT: Final = 900_000
"""Maximum number of bytes of a summary. If a step has a summary of more than 1 MiB, GitHub drops
it."""

CUT: Final = "**Cut off here, as the report is too long. The JSON report has everything.**\n"

_OPEN: Final = "<details>"
_CLOSE: Final = "</details>"
_MARKUP: Final = re.compile(r"[\\`|*_\[\]<>&~@#$!:]|(?<=www)\.")
"""Characters that can start markup, a table cell, a link, a mention or HTML inside a line."""

_BREAKS_CODE: Final = re.compile(r"[\\`|]|<[/!?A-Za-z]|&[#A-Za-z]|^\s|\s$|^$")
"""Texts that are not safe between backticks. A pipe splits a table row even there, and some
Markdown viewers render HTML there."""


def code(text: str) -> str:
    """Return text as code: markup, links, HTML and mentions in it have no effect.

    >>> code("line_items.price"), code("a|b")
    ('`line_items.price`', '<code>a&#124;b</code>')
    """
    safe = visible(text)
    if not _BREAKS_CODE.search(safe):
        return f"`{safe}`"
    return f"<code>{escaped(safe)}</code>"


def escaped(text: str) -> str:
    """Escape text so that markup, links, HTML and mentions in it have no effect.

    >>> escaped("*a* by @b")
    '&#42;a&#42; by &#64;b'
    """
    # Numeric character references never count as markup. Source: CommonMark, section 2.5.
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", visible(text))


def page_text(sections: Iterable[Section], *, is_markdown: bool) -> str:
    """Return sections as Markdown, of any size.

    Args:
        sections: the sections; the title of the first one is the title of the page.
        is_markdown: whether the texts already are Markdown. If so, only indented texts become list
            items, and a table with a legend is put into a `<details>` element. If not, the texts
            are escaped, and every text becomes a list item.
    """
    paragraphs: list[list[str]] = []
    for position, section in enumerate(sections):
        if section.title:
            paragraphs.append([f"{'####' if position else '###'} {escaped(section.title)}"])
        paragraphs += _page_parts(section.blocks, is_markdown=is_markdown)
    return "\n\n".join("\n".join(lines) for lines in paragraphs) + "\n"


def _page_parts(
    blocks: Iterable[Block | Figures | Curves], *, is_markdown: bool
) -> Iterator[list[str]]:
    """Yield each block (paragraph, list or table) as a list of Markdown lines."""
    list_items: list[str] = []
    margins = [len(block.margin) for block in blocks if isinstance(block, Text)]
    outer, write = min(margins, default=0), str if is_markdown else escaped
    for block in blocks:
        paragraphs: list[list[str]] = []
        match block:
            case Figures() | Table():
                table = block.table() if isinstance(block, Figures) else block
                table_lines, legend = (
                    table_text(table),
                    [f"- {write(legend_or_curve)}" for _, legend_or_curve in table.legend],
                )
                paragraphs = [table_lines, legend] if legend else [table_lines]
                if legend and is_markdown:
                    title = f"<details><summary>{len(table.rows)} fields</summary>"
                    paragraphs = [[title, "", *table_lines, "", *legend, "", _CLOSE]]
            case Curves():
                list_items += [
                    f"- {escaped(legend_or_curve.name)}: {escaped(legend_or_curve.description)}"
                    for legend_or_curve in block.curves
                ]
            case Text() if is_markdown and not block.indent:
                paragraphs = [
                    [f"**{block.text}**" if block.tone in ("title", "bad") else block.text]
                ]
            case Text():
                lead = block.margin.strip()
                before = f"- {lead}: " if lead else f"{block.margin[outer:]}- "
                list_items.append(before + write(block.text))
            case line if line:
                list_items.append(f"- {write(''.join(span.text for span in line))}")
        if paragraphs:
            yield from [list_items, *paragraphs] if list_items else paragraphs
            list_items = []
    if list_items:
        yield list_items


def table_text(table: Table) -> list[str]:
    """Return a table as lines of Markdown.

    Left-aligned columns at the start of the table stay left-aligned. All columns after them are
    right-aligned.
    """
    texts = sum(1 for _ in takewhile(lambda column: column.left, table.columns))
    rules = [":---"] * texts + ["---:"] * (len(table.columns) - texts)
    rows = [[code(cell.text) if cell.quoted else cell.text for cell in row] for row in table.rows]
    titles = [column.title for column in table.columns]
    return [f"| {' | '.join(row)} |" for row in (titles, rules, *rows)]


def utf8_size(text: str) -> int:
    """Return the number of bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "backslashreplace"))


def truncate_lines(text: str, limit: int, size: Callable[[str], int] = len) -> str:
    """Cut a text to a maximum size at a line break.

    The last line then says that the text was cut.

    A text that fits is returned unchanged. If not even the last line fits, the result is empty.
    `<details>` elements that were open at the cut are closed.
    """
    if size(text) <= limit:
        return text
    kept_lines: list[str] = []
    opened = 0
    room = limit - size(f"\n{CUT}")
    for line in text.splitlines(keepends=True):
        opened += line.count(_OPEN) - line.count(_CLOSE)
        room -= size(line)
        if room < opened * size(f"\n{_CLOSE}\n"):
            opened -= line.count(_OPEN) - line.count(_CLOSE)
            break
        kept_lines.append(line)
    if not kept_lines:
        return CUT if size(CUT) <= limit else ""
    return "".join([*kept_lines, *[f"\n{_CLOSE}\n"] * opened, "\n", CUT])
