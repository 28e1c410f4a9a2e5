"""How a wrong date came from the right one: another spelling, day and month swapped, a part.

Every rule takes time in proportion to the length of its texts, and is meant for short ones.
"""

import re
from collections import Counter
from typing import Final

LONGEST_DATE: Final = 40  # characters of a date: a weekday, a long month and a time

_DIGITS: Final = re.compile(r"[0-9]+")
_MONTH: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH_TOLD: Final = re.compile(rf"^\s*[0-9]{{4}}[^0-9]|{_MONTH}", re.IGNORECASE)
_DATE_PART: Final = re.compile(rf"[0-9]+|(?:{_MONTH})")
_DATE: Final = re.compile(
    rf"(?:(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[,.]?\s+)?)"
    rf"(?:(?:[0-9]{{1,4}}(?:st|nd|rd|th)?|(?:{_MONTH})[a-z]*)(?:[-/.,\s]+|$)){{2,3}}",
    re.IGNORECASE,
)
"""Two or three numbers or months, in any order."""

_DATE_LIKE: Final = re.compile(rf"[0-9][-/.\s][0-9]|{_MONTH}", re.IGNORECASE)
"""Two parts of a date, or a month; a cheap look before the parser's dear one."""


def same_date(gt: str, pred: str) -> bool:
    """Return whether two texts state the same date, the day first in both or in neither.

    >>> same_date("2024-01-05", "5 January 2024"), same_date("05/01/2024", "01/05/2024")
    (True, False)
    """
    if max(len(gt), len(pred)) > LONGEST_DATE or not (_DIGITS.search(gt) and _DIGITS.search(pred)):
        return False
    # Years may be cut to two digits. Numbers of both texts that are not in the other one make the
    # dates differ, and most pairs need not be parsed to know it.
    ours, theirs = ({int(n) % 100 for n in _DIGITS.findall(text)} for text in (gt, pred))
    if not (ours <= theirs or theirs <= ours):
        return False
    if not (_DATE_LIKE.search(gt) and _DATE_LIKE.search(pred)):
        return False
    from stickler_cli.comparators.date_parsing import readings  # loads dateutil

    by_order = zip(readings(gt, dayfirst=None), readings(pred, dayfirst=None), strict=True)
    return any(one is not None and one == other for one, other in by_order)


def day_and_month_swapped(gt: str, pred: str) -> bool:
    """Return whether two dates have the same year, and day and month in each other's place.

    >>> day_and_month_swapped("2026-06-01", "06 January 2026")
    True
    >>> day_and_month_swapped("05/01/24", "5 Jan 2024")  # but in some order they are the same
    False
    """
    parts, others = _date_parts(gt), _date_parts(pred)
    if len(parts) != 3 or len(others) != 3 or _tells_month(gt) is not _tells_month(pred):
        return False
    (year, *rest), (other_year, *other_rest) = parts, others
    return year == other_year and rest == other_rest[::-1] and rest[0] != rest[1]


def part_of_date(gt: str, pred: str) -> bool:
    """Return whether one text is a date, and the other the same without its year or day.

    >>> part_of_date("2024-01-05", "5 January"), part_of_date("2024-01-05", "2024-02")
    (True, False)
    >>> part_of_date("2024-01-30", "30 January")
    True
    """
    fewer, more = sorted((_date_parts(gt), _date_parts(pred)), key=len)
    return len(fewer) == 2 and len(more) == 3 and not Counter(fewer) - Counter(more)


def _date_parts(text: str) -> list[int]:
    """Return year of the century, month and day of a date; of what is no date, nothing.

    Month and day are as they stand where nothing tells which is which.
    """
    if len(text) > LONGEST_DATE or not _DATE.fullmatch(text.strip()):
        return []
    parts: list[int] = []
    year: int | None = None
    for part in _DATE_PART.findall(text.casefold()):
        if part.isalpha():
            parts.insert(0, _MONTH.index(part[:3]) // 4 + 1)
        elif int(part) > 31 and year is None:
            year = int(part) % 100
        else:
            parts.append(int(part))
    if len(parts) == 3 and year is None:  # without a century the year comes last
        year = parts.pop()
    return parts if year is None else [year, *parts]


def _tells_month(date: str) -> bool:
    """Return whether a date says which part of it is the month: by its name, or after the year."""
    return bool(_MONTH_TOLD.search(date))
