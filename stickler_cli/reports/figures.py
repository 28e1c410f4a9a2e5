"""From numbers and values to text: the one home of digits, and of making text harmless."""

import math
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from stickler_cli.json_values import JsonValue, brief
from stickler_cli.metrics.counts import Counts

DIGITS: Final = 4
"""Decimals of a rate: enough to tell one error in ten thousand, few enough for a column."""

NOTHING: Final = "-"
"""Stands for a rate that has nothing to divide by, and for a score that nobody gave."""

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


def rate(value: float | None, limits: Collection[float] = ()) -> str:
    """Show a rate or score with four decimals, never rounded onto 0, 1 or a limit it is not.

    So 9,999.6 of 10,000 is no 1.0000, and what fails a gate does not look as if it passed.

    >>> rate(2 / 3), rate(0.99996), rate(0.00001), rate(0.89996, {0.9}), rate(None)
    ('0.6667', '0.9999', '0.0001', '0.8999', '-')
    """
    if value is None:
        return NOTHING
    shown = round(value, DIGITS)
    if shown != value and shown in (0.0, 1.0, *limits):
        shown += math.copysign(10**-DIGITS, value - shown)
    return f"{shown:.{DIGITS}f}"


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
    controls, lone surrogates, blanks other than a space, and what Unicode has not assigned.

    >>> visible("a\x1b[31mb\n\u202ec")
    'a\\x1b[31mb\\n\\u202ec'
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or letter == IDEOGRAPHIC_SPACE
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


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
