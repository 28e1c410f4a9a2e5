"""The syntax of Markdown: code, tables, and text within the limits of what shows it."""

import re
from collections.abc import Callable
from itertools import takewhile
from typing import Final

from stickler_cli.core.figures import visible
from stickler_cli.core.sections import Table

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


def table_text(table: Table, texts: int | None = None) -> list[str]:
    """Return a table; its first columns are text, as many as stand to the left, or as is said."""
    if texts is None:
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
