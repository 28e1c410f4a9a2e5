"""Which days a range covers, and how two ranges share them.

Apart from the comparator, because ranges without a year run in a circle: 20 December to
5 January is one of them.
"""

from datetime import date
from typing import Final, TypeAlias

from stickler_cli.comparators.date_parsing import StatedDate, StatedRange

Days: TypeAlias = tuple[range, ...]
"""Runs of days that have no day in common: ordinals (1 is 0001-01-01) where years are compared,
else days of a leap year from 0; a range over the new year is two runs."""

_DAYS_OF_A_YEAR: Final = 366


def days_of(stated: StatedDate | StatedRange, parts: frozenset[str], *, utc: bool) -> Days:
    """Return the days from the first to the last date.

    Args:
        stated: states at least `parts`, at both ends.
        parts: what to read of it, year or month among them; the rest counts as not stated.
        utc: read the dates in UTC; they must be whole, with time zones.

    >>> winter = StatedRange(StatedDate(None, 12, 20), StatedDate(None, 1, 5))
    >>> days_of(winter, frozenset({"month", "day"}), utc=False)
    (range(354, 366), range(0, 5))
    """
    start, end = (end.limited_to(parts) for end in stated.ends)
    if "year" in parts:
        beyond_first = (end.last_day - end.first_day).days
        return (range(start.moment(utc=utc).days, end.moment(utc=utc).days + beyond_first + 1),)
    first = _day_of_year(start.first_day)
    stop = first + (_day_of_year(end.last_day) - first) % _DAYS_OF_A_YEAR + 1
    if _lasts_a_year(stated):
        stop = first + _DAYS_OF_A_YEAR
    if stop <= _DAYS_OF_A_YEAR:
        return (range(first, stop),)
    return range(first, _DAYS_OF_A_YEAR), range(stop - _DAYS_OF_A_YEAR)


def overlap(days: Days, others: Days) -> float:
    """Return the days of both over the days of either; in [0, 1].

    >>> overlap((range(10),), (range(5, 15),))
    0.3333333333333333
    """
    shared = sum(
        len(range(max(run.start, other.start), min(run.stop, other.stop)))
        for run in days
        for other in others
    )
    return shared / (_count(days) + _count(others) - shared) if shared else 0.0


def _count(days: Days) -> int:
    return sum(len(run) for run in days)


def _day_of_year(day: date) -> int:
    return day.timetuple().tm_yday - 1


def _lasts_a_year(stated: StatedDate | StatedRange) -> bool:
    start, end = stated.ends
    return stated.states_year and (end.last_day - start.first_day).days >= 365
