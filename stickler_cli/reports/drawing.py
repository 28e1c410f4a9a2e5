"""From lines to text, in colour or plain: the last step of everything that is drawn for people."""

from collections.abc import Iterable, Sequence

from stickler_cli.reports.layout import BLANK, Line, plain_text
from stickler_cli.reports.style import TableStyle


def stacked(sections: Iterable[Sequence[Line]]) -> list[Line]:
    """Put sections one below the other, a blank line between; empty ones leave none."""
    lines: list[Line] = []
    for section in sections:
        lines += [BLANK, *section] if lines and section else section
    return lines


def drawn(lines: Sequence[Line], style: TableStyle) -> str:
    """Give lines as text; ends with a line break."""
    if style.plain or not style.color:
        return plain_text(lines)
    from stickler_cli.reports.terminal import colored_text  # loads rich

    return colored_text(lines)
