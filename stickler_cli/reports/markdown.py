"""Sections as GitHub-flavoured Markdown, within the limits of comments and summaries of CI jobs."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Final

from stickler_cli.core.figures import visible
from stickler_cli.core.sections import Block, Curves, Figures, Section, Table, Text

COMMENT_LIMIT: Final = 65_000
"""Characters. GitHub refuses a comment of more than 65,536; some are left for who posts it."""

SUMMARY_LIMIT: Final = 900_000
"""Bytes. GitHub drops the whole summary of a step that has more than 1 MiB."""

CUT: Final = "**Cut here: there is no room for more. The JSON report has everything.**\n"

_OPEN: Final = "<details>"
_CLOSE: Final = "</details>"
_MARKUP: Final = re.compile(r"[\\`|*_\[\]<>&~@#$!:]|(?<=www)\.")
"""What markup, tables, links, mentions or HTML begin with inside a line."""

_BREAKS_CODE: Final = re.compile(r"[\\`|]|<[/!?A-Za-z]|&[#A-Za-z]|^\s|\s$|^$")
"""What had better not stand between backticks: a pipe splits a table's row even there, and not
everything that shows Markdown leaves HTML in code alone."""


def code(text: str) -> str:
    """Return text as code: no markup, link or HTML in it works, and nobody is mentioned.

    >>> code("line_items.price"), code("a|b")
    ('`line_items.price`', '<code>a&#124;b</code>')
    """
    safe = visible(text)
    if not _BREAKS_CODE.search(safe):
        return f"`{safe}`"
    return f"<code>{escaped(safe)}</code>"


def escaped(text: str) -> str:
    """Return text in which no markup, link or HTML works, and nobody is mentioned.

    >>> escaped("*a* by @b")
    '&#42;a&#42; by &#64;b'
    """
    # As numbers, characters never count as markup. Source: CommonMark, section 2.5.
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", visible(text))


def page_text(sections: Iterable[Section], *, quoted: bool) -> str:
    """Return sections as Markdown, however long; ends with a line break.

    Args:
        sections: the first is titled as the whole.
        quoted: whether texts are Markdown already: what is indented is an item of a list, and a
            table with a legend is folded. Else all is escaped, and every text is an item.
    """
    parts: list[list[str]] = []
    for at, section in enumerate(sections):
        if section.title:
            parts.append([f"{'####' if at else '###'} {escaped(section.title)}"])
        parts += _page_parts(section.blocks, quoted=quoted)
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _page_parts(blocks: Iterable[Block | Figures | Curves], *, quoted: bool) -> Iterator[list[str]]:
    """Yield paragraphs, lists and tables, each as its lines."""
    listed: list[str] = []
    margins = [len(block.margin) for block in blocks if isinstance(block, Text)]
    outer, write = min(margins, default=0), str if quoted else escaped
    for block in blocks:
        found: list[list[str]] = []
        match block:
            case Figures() | Table():
                table = block.table() if isinstance(block, Figures) else block
                drawn, legend = table_text(table), [f"- {write(it)}" for _, it in table.legend]
                found = [drawn, legend] if legend else [drawn]
                if legend and quoted:
                    title = f"<details><summary>{len(table.rows)} fields</summary>"
                    found = [[title, "", *drawn, "", *legend, "", _CLOSE]]
            case Curves():
                listed += [f"- {escaped(it.name)}: {escaped(it.said)}" for it in block.curves]
            case Text() if quoted and not block.indent:
                found = [[f"**{block.text}**" if block.tone in ("title", "bad") else block.text]]
            case Text():
                lead = block.margin.strip()
                before = f"- {lead}: " if lead else f"{block.margin[outer:]}- "
                listed.append(before + write(block.text))
            case line if line:
                listed.append(f"- {write(''.join(span.text for span in line))}")
        if found:
            yield from [listed, *found] if listed else found
            listed = []
    if listed:
        yield listed


def table_text(table: Table) -> list[str]:
    """Return a table; as many of its first columns are text as stand to the left."""
    texts = sum(1 for _ in takewhile(lambda column: column.left, table.columns))
    rules = [":---"] * texts + ["---:"] * (len(table.columns) - texts)
    rows = [[code(cell.text) if cell.quoted else cell.text for cell in row] for row in table.rows]
    titles = [column.title for column in table.columns]
    return [f"| {' | '.join(row)} |" for row in (titles, rules, *rows)]


def utf8_size(text: str) -> int:
    """Return how many bytes text has as UTF-8."""
    return len(text.encode("utf-8", "backslashreplace"))


def truncate_lines(text: str, limit: int, size: Callable[[str], int] = len) -> str:
    """Return the lines from the top that have room; if some have none, the last line says so.

    Where there is not even room for that, nothing is left. No `<details>` is left open.
    """
    if size(text) <= limit:
        return text
    kept: list[str] = []
    opened = 0
    room = limit - size(f"\n{CUT}")
    for line in text.splitlines(keepends=True):
        opened += line.count(_OPEN) - line.count(_CLOSE)
        room -= size(line)
        if room < opened * size(f"\n{_CLOSE}\n"):
            opened -= line.count(_OPEN) - line.count(_CLOSE)
            break
        kept.append(line)
    if not kept:
        return CUT if size(CUT) <= limit else ""
    return "".join([*kept, *[f"\n{_CLOSE}\n"] * opened, "\n", CUT])
