"""From numbers and values to text: the one home of digits, and of making text harmless."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.score.counts import Counts
from stickler_cli.score.rate_text import NOTHING

IDEOGRAPHIC_SPACE: Final = "\u3000"
"""An ordinary blank in Chinese and Japanese names, though Python calls it unprintable."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of some counts, each in [0, 1]; None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    f1: float | None


def rates_of(counts: Counts, *, recall_with_fd: bool) -> Rates:
    """Give rates for people to read: 0 of 0 is not 0.0 but nothing.

    >>> rates_of(Counts(fn=2), recall_with_fd=False)
    Rates(precision=None, recall=0.0, f1=0.0)
    """
    predicted = counts.tp + counts.fp
    relevant = counts.recall_denominator(with_fd=recall_with_fd)
    return Rates(
        counts.precision if predicted else None,
        counts.recall(with_fd=recall_with_fd) if relevant else None,
        counts.f1(recall_with_fd=recall_with_fd) if predicted or relevant else None,
    )


def setting(value: float | None) -> str:
    """Show a threshold or weight as a person would write it.

    >>> setting(0.7), setting(3.0), setting(None)
    ('0.7', '3', '-')
    """
    return NOTHING if value is None else f"{value:.6g}"


def number_of(count: int, noun: str) -> str:
    """Count things.

    >>> number_of(1, "document"), number_of(0, "document")
    ('1 document', '0 documents')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def visible(text: str) -> str:
    r"""Escape what cannot be seen, or would move the cursor, or turn the text around.

    Those are control characters, ESC and C1 among them, line breaks, zero-width and bidi
    controls, lone surrogates, blanks other than a space, and what Unicode has not assigned. Text
    that would be a command in the log of a CI job is escaped at one character.

    >>> visible("a\x1b[31mb\n\u202ec"), visible("::error::x")
    ('a\\x1b[31mb\\n\\u202ec', '\\x3a:error::x')
    """
    if not text.isprintable():
        text = "".join(
            letter
            if letter.isprintable() or letter == IDEOGRAPHIC_SPACE
            else letter.encode("unicode_escape").decode("ascii")
            for letter in text
        )
    return _COMMAND.sub(_spelt_out, text) if "##" in text or "::" in text else text


_COMMAND: Final = re.compile(r"##(?=\w*\[)|^\s*:(?=:)")
"""What begins a command in the log of a CI job: `##[` anywhere in a line, `::` at its start.

Source: actions/runner, ActionCommand.cs; Azure and TeamCity have `##vso[` and `##teamcity[`.
"""


def _spelt_out(match: re.Match[str]) -> str:
    """Spell out the last character."""
    return f"{match[0][:-1]}\\x{ord(match[0][-1]):02x}"


def value_text(value: JsonValue) -> str:
    """Show a value of a document on one line, as JSON, cut where it is long.

    >>> value_text({"a": None})
    '{"a": null}'
    """
    return visible(brief(value))


def cells(text: str) -> int:
    """Count the columns that printable text takes up on a terminal.

    Source: Unicode Standard Annex 11; wide and fullwidth characters take two, marks none.

    >>> cells("Zoe\u0308"), cells("東京")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def cut(text: str, width: int) -> str:
    """Shorten text to a number of columns, at least 1; the end becomes an ellipsis.

    >>> cut("line_items", 6), cut("total", 6)
    ('line_…', 'total')
    """
    if cells(text) <= width:
        return text
    kept = text
    while kept and cells(kept) >= width:
        kept = kept[:-1]
    return kept + "…"
