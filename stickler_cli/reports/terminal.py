"""Colour for terminals, and the only module that loads rich."""

from collections.abc import Sequence
from typing import Final

from rich.color import ColorSystem
from rich.style import Style

from stickler_cli.reports.layout import Line, Tone

_STYLES: Final[dict[Tone, Style]] = {
    "": Style(),
    "title": Style(bold=True),
    "bad": Style(bold=True, color="red"),
    "warn": Style(color="yellow"),
    "good": Style(bold=True, color="green"),
    "dim": Style(dim=True),
}
"""The sixteen colours that follow the terminal's own theme; none carries a meaning alone."""


def colored_text(lines: Sequence[Line]) -> str:
    """Put lines together with ANSI codes; ends with a line break.

    The text of a span is printable, so no other code can be in it. Markup and emoji names are
    not looked for: a value that says `[red]` stays as it is.
    """
    return "".join(
        "".join(
            _STYLES[span.tone].render(span.text, color_system=ColorSystem.STANDARD) for span in line
        )
        + "\n"
        for line in lines
    )
