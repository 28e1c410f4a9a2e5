"""What a string states about a date, and nothing that the parser makes up.

python-dateutil takes the parts that a string leaves out from a default date. Each string is
therefore read with two defaults that differ in every part: a part that comes out the same is
stated. Nothing here depends on the day of the run or on the time zone of the machine.
"""

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import compress, product
from typing import Any, Final, TypeAlias

from dateutil.parser import parser, parserinfo

LONGEST: Final = 256
"""Characters of the longest string that can be a date. Source: docs/dates.md."""

LEAP_YEAR: Final = 2000
"""The year in which dates without one are placed, so that 29 February is among them."""

DAY: Final = timedelta(days=1)

_PARTS: Final = {
    stated: frozenset(compress(("year", "month", "day"), stated))
    for stated in product((True, False), repeat=3)
}
"""Which are stated -> their names; a table, because lists of dates ask for it all the time."""

_LAST_CENTURY_FROM: Final = 69
"""Two-digit years from here on are 19xx, below it 20xx. Source: POSIX, strptime, %y."""

_DEFAULTS: Final = (datetime(LEAP_YEAR, 1, 1), datetime(LEAP_YEAR + 4, 3, 2))  # noqa: DTZ001
"""Different in every part; leap years and months of 31 days, so that any day fits either.

Without a zone: a date that states none has none.
"""

_PLAIN_ISO: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_YEAR_FIRST: Final = re.compile(r"\d{4}")
_ONE_DOT: Final = re.compile(r"(?<![\d.:])(\d{1,4})\.(\d+)(?![\d.:])")
_DELIMITER: Final = re.compile(r"\s(?:to|through|-)\s")

# What dateutil raises on odd strings besides its ParserError, a ValueError: its own arithmetic,
# look-ups and assertions fail on some. "9" * 99 is an OverflowError.
_NOT_A_DATE: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class StatedDate:
    """What is said of one date; a part is None where nothing is said of it."""

    year: int | None
    month: int | None
    day: int | None
    clock: timedelta = timedelta(0)
    """The time of day, from midnight; zero where none is stated."""
    offset: timedelta | None = None
    """The time zone, ahead of UTC; None where none is stated."""

    @property
    def parts(self) -> frozenset[str]:
        """The names of those of year, month and day that are stated."""
        return _PARTS[self.year is not None, self.month is not None, self.day is not None]

    @property
    def is_whole(self) -> bool:
        """Whether year, month and day are stated."""
        return None not in (self.year, self.month, self.day)

    @property
    def states_year(self) -> bool:
        """Whether a year is stated."""
        return self.year is not None

    @property
    def ends(self) -> tuple["StatedDate", "StatedDate"]:
        """The first and last date of a range of one."""
        return self, self

    @property
    def first_day(self) -> date:
        """The first day that the statement allows, in `LEAP_YEAR` where no year is stated."""
        return date(self.year or LEAP_YEAR, self.month or 1, self.day or 1)

    @property
    def last_day(self) -> date:
        """The last day that the statement allows, in `LEAP_YEAR` where no year is stated."""
        year, month = self.year or LEAP_YEAR, self.month or 12
        return date(year, month, self.day or monthrange(year, month)[1])

    def limited_to(self, parts: frozenset[str]) -> "StatedDate":
        """Forget all parts but these."""
        return replace(
            self,
            year=self.year if "year" in parts else None,
            month=self.month if "month" in parts else None,
            day=self.day if "day" in parts else None,
        )

    def moment(self, *, utc: bool) -> timedelta:
        """Give the time since the day before 0001-01-01, by its own clock or in UTC.

        A timedelta, because a datetime overflows when the last day of 9999 moves to UTC.
        """
        offset = self.offset if utc and self.offset is not None else timedelta(0)
        return self.first_day.toordinal() * DAY + self.clock - offset


@dataclass(frozen=True, slots=True)
class StatedRange:
    """Two dates and the days between them; both state a year, or neither does."""

    start: StatedDate
    end: StatedDate

    @property
    def ends(self) -> tuple[StatedDate, StatedDate]:
        """The first and the last date."""
        return self.start, self.end

    @property
    def states_year(self) -> bool:
        """Whether a year is stated, at both ends."""
        return self.start.states_year

    @property
    def is_single(self) -> bool:
        """Whether both ends state the same day, month or year; by their clock in one zone."""
        utc = share_zones(self.ends) and self.start.offset != self.end.offset
        return (
            self.start.parts == self.end.parts
            and self.start.moment(utc=utc).days == self.end.moment(utc=utc).days
        )


Stated: TypeAlias = StatedDate | StatedRange


def share_zones(dates: tuple[StatedDate, ...]) -> bool:
    """Tell whether dates are compared in UTC: all are whole dates with a time zone.

    Otherwise they are compared by their own clocks, which is to say that a date without a zone
    is in that of the other.
    """
    return all(one.is_whole and one.offset is not None for one in dates)


def readings(text: str, *, dayfirst: bool | None) -> tuple[Stated | None, ...]:
    """Read a string in each order of day and month that it may be written in.

    Args:
        text: a date, or two with ` to `, ` through ` or ` - ` between them.
        dayfirst: the order where the string leaves it open; None for not known.

    Returns:
        One reading, or two if `dayfirst` is None: month before day, then day before month. None
        stands for a string that is no date and no range.

    >>> readings("2/1", dayfirst=None)[1] == readings("2 Jan", dayfirst=False)[0]
    True
    """
    orders = (False, True) if dayfirst is None else (dayfirst,)
    if len(text) > LONGEST:
        return (None,) * len(orders)
    return tuple(_read(text.strip(), dayfirst=order) for order in orders)


def stated_by(value: date) -> StatedDate:
    """Take a date or datetime as it is."""
    if not isinstance(value, datetime):
        return StatedDate(value.year, value.month, value.day)
    clock = timedelta(
        hours=value.hour,
        minutes=value.minute,
        seconds=value.second,
        microseconds=value.microsecond,
    )
    return StatedDate(value.year, value.month, value.day, clock, value.utcoffset())


@lru_cache(maxsize=32_768)
def _read(text: str, *, dayfirst: bool) -> Stated | None:
    first, *others = _DELIMITER.split(text)
    if not others:
        return _read_date(text, dayfirst=dayfirst)
    if len(others) > 1:
        return None
    start = _read_date(first.strip(), dayfirst=dayfirst)
    end = _read_date(others[0].strip(), dayfirst=dayfirst)
    return None if start is None or end is None else _range(start, end)


def _range(start: StatedDate, end: StatedDate) -> StatedRange | None:
    """Make a range; None if the dates do not bound one.

    A year at one end only, or a day without a month, does not say where the range lies. Without
    years the start may come after the end: the range then runs over the new year.
    """
    if start.states_year != end.states_year:
        return None
    if not (start.parts & {"year", "month"} and end.parts & {"year", "month"}):
        return None
    if start.offset is None or end.offset is None:
        zone = start.offset if end.offset is None else end.offset
        start, end = replace(start, offset=zone), replace(end, offset=zone)
    utc = share_zones((start, end))
    latest = replace(end, month=end.last_day.month, day=end.last_day.day)
    if start.states_year and start.moment(utc=utc).days > latest.moment(utc=utc).days:
        return None
    return StatedRange(start, end)


def _read_date(text: str, *, dayfirst: bool) -> StatedDate | None:
    if text.startswith("-") or text.endswith("-"):
        return None  # half a range; dateutil would pass over the dash
    try:
        if _PLAIN_ISO.fullmatch(text):  # the usual way to write a date, and much faster read
            return stated_by(date.fromisoformat(text))
        # dateutil takes 05.2024 for a decimal number, and cuts it to 5.
        text = _ONE_DOT.sub(r"\1/\2", text)
        order = dayfirst and not _YEAR_FIRST.match(text)
        one, other = (
            _PARSER.parse(text, default=default, dayfirst=order, tzinfos=_zone)
            for default in _DEFAULTS
        )
    except _NOT_A_DATE:
        return None
    return _what_agrees(one, other)


def _what_agrees(one: datetime, other: datetime) -> StatedDate | None:
    whole = stated_by(one)
    stated = replace(
        whole,
        year=whole.year if one.year == other.year else None,
        month=whole.month if one.month == other.month else None,
        day=whole.day if one.day == other.day else None,
    )
    return stated if stated.parts else None


def _zone(name: str | None, seconds: int | None) -> tzinfo | None:
    """Give the zone of an offset; none for a name without one, as `EST` means several zones.

    UTC, GMT and Z arrive with the offset 0. dateutil would warn of other names, or take them from
    the machine's own zone.
    """
    return None if seconds is None else timezone(timedelta(seconds=seconds))


class _Rules(parserinfo):
    """How dateutil reads a string, where its own way depends on today or on its defaults."""

    def convertyear(self, year: int, century_specified: bool = False) -> int:
        if century_specified or year >= 100:
            return year
        return year + (1900 if year >= _LAST_CENTURY_FROM else 2000)

    def validate(self, res: Any) -> bool:
        res.weekday = None  # else dateutil moves to that day of the default's week
        return super().validate(res)


_PARSER: Final = parser(_Rules())
