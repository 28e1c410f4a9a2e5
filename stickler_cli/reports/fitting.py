"""Markdown within the limits of what shows it: cut between lines, and saying so."""

from collections.abc import Callable
from typing import Final

COMMENT_LIMIT: Final = 65_000
"""Characters. GitHub refuses a comment of more than 65,536; some are left for who posts it."""

SUMMARY_LIMIT: Final = 900_000
"""Bytes. GitHub drops the whole summary of a step that has more than 1 MiB."""

CUT: Final = "**Cut here: there is no room for more. The JSON report has everything.**\n"

_OPEN: Final = "<details>"
_CLOSE: Final = "</details>"


def utf8_size(text: str) -> int:
    """Count the bytes of text as UTF-8."""
    return len(text.encode("utf-8", "backslashreplace"))


def fitted(text: str, limit: int, size: Callable[[str], int] = len) -> str:
    """Keep the lines from the top that have room; if some have none, the last line says so.

    Args:
        text: Markdown that ends with a line break; no `<details>` in it but those of the report.
        limit: at least 0. Where there is not even room to say that something was cut, nothing
            is left.
        size: how much of the limit a text takes up.
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
