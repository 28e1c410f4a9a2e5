"""The number that a text states, on its digits as they are written.

A module of its own, without numpy, because whoever names what is wrong with a number reads it so.
"""

import re
from decimal import Decimal
from typing import Final

from stickler_cli.core.pattern import pattern

MAGNITUDE: Final = 10_000
"""Numbers from 10**-MAGNITUDE to 10**MAGNITUDE are read; no measurement needs more, and the exact
sum of `1e999999999` and 1 would fill the memory."""

_SCIENTIFIC: Final = pattern(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE]([+-]?[0-9]+)")
_PLAIN: Final = pattern(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_WORD: Final = pattern(r"[^\W\d_]+(?:[-.][^\W\d_]+)*(\.?)")
"""With the dots and hyphens that are part of it: `Rs. 500` is 500, not 0.500."""
_FIRST_TO_LAST: Final = pattern(r"[0-9](?:.*[0-9])?", re.DOTALL)
_IGNORED: Final = pattern(r"[^0-9.-]+")


def written(number: float | Decimal) -> Decimal:
    """Turn a number into the decimal that its shortest spelling states."""
    return Decimal(float.__repr__(number) if isinstance(number, float) else number)


def parse_number(text: str) -> Decimal | None:
    """Read the number that a text states, as docs/comparators.md says; None where there is none.

    >>> parse_number("EUR 1,250.00"), parse_number("n/a")
    (Decimal('1250.00'), None)
    """
    text = text.strip()
    scientific = _SCIENTIFIC.fullmatch(text)
    if scientific is not None:
        # So many digits that Decimal itself would refuse the exponent.
        beyond = len(scientific[1].lstrip("+-0")) > len(str(MAGNITUDE))
        return None if beyond else readable(Decimal(text))
    bare = _IGNORED.sub("", _without_words(text))
    if not _PLAIN.fullmatch(bare):
        return None
    number = Decimal(bare)
    before, opening, rest = text.partition("(")
    _, closing, after = rest.rpartition(")")
    if opening and closing and not any(map(str.isalnum, before + after)):
        # An accountant's negative, as `$(5)` is and `thirty (30)` is not.
        number = number.copy_sign(Decimal(-1))
    return readable(number)


def _without_words(text: str) -> str:
    """Leave out words; a dot at the end of one between digits is the number's: `12USD.50`."""
    digits = _FIRST_TO_LAST.search(text)
    if digits is None:
        return ""

    def kept(word: re.Match[str]) -> str:
        between = digits.start() < word.start() and word.end() < digits.end()
        return word[1] if between else ""

    return _WORD.sub(kept, text)


def readable(number: Decimal) -> Decimal | None:
    """Return a number of a size that exact arithmetic can bear."""
    if not number:
        return Decimal(0)
    return number if number.is_finite() and abs(number.adjusted()) <= MAGNITUDE else None
