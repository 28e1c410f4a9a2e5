"""The comparator of dates and ranges of dates in any format. The rules are in docs/dates.md."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.caching import lru_cache_of_short_texts
from stickler_cli.core.match_differences import MatchDifference
from .base import (
    BaseComparator,
    Keys,
    KeywordError,
    Similarities,
    checked_choice,
    checked_flag,
    codes_of,
    is_number,
    linked_codes,
    text_of,
)
from .date_parsing import (
    DAY,
    SECOND,
    Stated,
    StatedDate,
    StatedRange,
    readings,
    share_zones,
    stated_by,
)

RangeMode: TypeAlias = Literal["strict", "reject", "contains", "graded"]
PrecisionMode: TypeAlias = Literal["exact", "gt_loose", "overlap"]

Days: TypeAlias = tuple[range, ...]
"""Ranges of day numbers that do not overlap. If years are compared, day 1 is 0001-01-01. Otherwise,
day 0 is 1 January of a leap year. A period across the new year then needs two ranges."""

_DAYS_OF_A_YEAR: Final = 366

YEAR_MISSING: Final = 0.7
"""The score is multiplied by this if only one side has a year. Source: docs/dates.md."""

INSIDE: Final = {"strict": 0.0, "contains": 1.0, "graded": 0.5}
"""Score of a single date inside a range, for each `range_mode`. Source: docs/dates.md."""


class Readings(NamedTuple):
    """The two ways to read a date: `01/02` is read as month/day, and as day/month."""

    month_first: Stated | None
    """The date, if the month comes before the day; None if the text is not a date."""
    day_first: Stated | None
    """The date, if the day comes before the month. If both readings are equal, this is the same
    object as `month_first`."""
    moments: tuple[float, ...]
    """The date as four numbers, for quick comparison, in this order:

    - `month_first`, by the clock of the date itself
    - `day_first`, by the clock of the date itself
    - `month_first`, in UTC
    - `day_first`, in UTC

    Each number counts whole days, or seconds if times are compared. A number is NaN if its reading
    is None. The numbers in UTC are NaN if the date has no time zone. All four numbers are 0 if one
    of the two readings is not a single day or second, but a month or a range, for instance."""


class DateComparator(BaseComparator):
    """Compare dates and ranges of dates: 1.0 if they are equal, 0.0 if not."""

    columnar: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913, PLR0917 - each keyword is one that a schema may set
        self,
        threshold: float = 1.0,
        tolerance: float | timedelta | None = None,
        dayfirst: bool | None = None,
        allow_partial_year: bool = False,
        range_mode: RangeMode = "graded",
        precision_mode: PrecisionMode = "exact",
        compare_time: bool = False,
    ) -> None:
        """Set how dates are read, and the distance at which two dates match.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            tolerance: maximum distance in days at which two complete dates still match, at least 0.
                If this is a whole number, times of day do not count. If it is a fraction, they
                count: 0.5 is 12 hours. A timedelta is converted to days.
            dayfirst: whether 01/02 is 1 February. None tries both orders, but always the same order
                on both sides.
            allow_partial_year: whether dates get 0.7 of the score, instead of 0.0, if only one side
                has a year.
            range_mode: how ranges are scored; see docs/dates.md.
            precision_mode: which side may omit a day or a month; see docs/dates.md.
            compare_time: whether times of day must be equal to the second. A date without a time
                counts as midnight. The tolerance then applies to points in time.
        """
        super().__init__(threshold)
        self.tolerance = _check_tolerance(tolerance)
        self.compare_time = checked_flag("compare_time", compare_time)
        # No two dates are further apart, and numpy only handles limited integers.
        self._reach = min(self.tolerance or 0, timedelta.max.days)
        self._by_days = self._reach % 1 == 0
        self._unit = SECOND if compare_time else DAY
        if type(dayfirst) not in {bool, type(None)}:
            raise KeywordError.of("dayfirst", dayfirst, "true, false or null")
        self.dayfirst = dayfirst
        self.allow_partial_year = checked_flag("allow_partial_year", allow_partial_year)
        self.range_mode = checked_choice("range_mode", range_mode, get_args(RangeMode))
        self.precision_mode = checked_choice(
            "precision_mode", precision_mode, get_args(PrecisionMode)
        )

    @property
    def same_value(self) -> bool:  # type: ignore[override]
        """Whether equal values match even if they are not dates.

        False if `range_mode` is `reject`.
        """
        return self.range_mode != "reject"

    def prepare(self, value: Any) -> Readings:
        """Read a date from a string, a whole number such as 20240105, a date or a datetime.

        If the value is anything else, both readings are None.
        """
        if isinstance(value, date):
            return _combine_readings(stated_by(value), stated_by(value), self._unit)
        if not isinstance(value, str):  # in JSON, 20240105.0 equals 20240105
            value = int(value) if is_number(value) and value % 1 == 0 else ""
        return _read_both_orders(
            text_of(value), self.dayfirst, self.range_mode != "reject", self._unit
        )

    def similarity(self, gt: Readings, pred: Readings) -> float:
        """Return the score of two dates, in [0, 1].

        Both dates are read as month/day, and then both as day/month. The better score counts.
        """
        score = self._score(gt.month_first, pred.month_first)
        if gt.month_first is gt.day_first and pred.month_first is pred.day_first:
            return score
        return max(score, self._score(gt.day_first, pred.day_first))

    def find_difference(self, gt: Any, pred: Any) -> MatchDifference | None:
        """Find dates whose score depends on the order of day and month.

        For example, 03/04/2024 and 3 April 2024 match only if 03/04 is read as day/month. Return
        None if both orders give the same score.
        """
        gt_readings, pred_readings = self.prepare(gt), self.prepare(pred)
        with_month_first = self._score(gt_readings.month_first, pred_readings.month_first)
        with_day_first = self._score(gt_readings.day_first, pred_readings.day_first)
        if with_month_first == with_day_first:
            return None
        return MatchDifference("day or month first", text_of(gt), text_of(pred))

    def similarities(self, gts: Sequence[Readings], preds: Sequence[Readings]) -> Similarities:
        """Return the score of each pair.

        Pairs of single days or seconds are compared all at once. All other pairs are compared one
        by one.
        """
        gt_moments, pred_moments = _stack_moments(gts), _stack_moments(preds)
        distances = np.abs(gt_moments - pred_moments)
        # Compare in UTC if both dates have time zones.
        distances = np.where(np.isnan(distances[2:]), distances[:2], distances[2:])
        reach = self._reach * (DAY // self._unit)
        similarities: Similarities = (np.fmin(*distances) <= reach).astype(np.float64)
        is_odd = (gt_moments[0] == 0) | (pred_moments[0] == 0)
        is_odd |= not (self._by_days or self.compare_time)
        if is_odd.any():
            odd = [(gts[index], preds[index]) for index in np.flatnonzero(is_odd).tolist()]
            similarities[is_odd] = super().similarities(*zip(*odd, strict=True))
        return similarities

    def keys(self, prepared: Sequence[Readings]) -> "Keys | None":
        """Return codes that are equal for values that may be the same day or second.

        A value has up to four readings: month first or day first, each by the clock of the date
        itself and in UTC. Two values have the same code if one of these readings gives the same day
        or second for both. They also have the same code if other values link them: for example,
        01/02 links 1 February and 2 January.

        Return None if there is a tolerance, or if a value is not a single day or second.
        """
        moments = _stack_moments(prepared)
        if self._reach or (moments[0] == 0).any():
            return None
        if np.array_equal(moments[0], moments[1], equal_nan=True) and np.isnan(moments[2:]).all():
            return codes_of(moments[0].tolist())
        return linked_codes(
            [(kind, moment) for kind, moment in enumerate(kinds_of_value) if not math.isnan(moment)]
            for kinds_of_value in moments.T.tolist()
        )

    def _score(self, gt: Stated | None, pred: Stated | None) -> float:
        if gt is None or pred is None or not self._are_comparable(gt, pred):
            return 0.0
        if gt.states_year == pred.states_year:
            return self._agreement(gt, pred)
        return YEAR_MISSING * self._agreement(gt, pred) if self.allow_partial_year else 0.0

    def _are_comparable(self, gt: Stated, pred: Stated) -> bool:
        """Return whether the dates are equally precise, as far as `precision_mode` requires this.

        `exact` requires the same parts (day, month) on both sides. `gt_loose` requires that the
        prediction has all parts of the ground truth.
        """
        for gt_end, pred_end in zip(gt.ends, pred.ends, strict=True):
            gt_parts, pred_parts = gt_end.stated_parts - {"year"}, pred_end.stated_parts - {"year"}
            if self.precision_mode == "exact" and gt_parts != pred_parts:
                return False
            if self.precision_mode == "gt_loose" and not gt_parts <= pred_parts:
                return False
        return True

    def _agreement(self, gt: Stated, pred: Stated) -> float:
        """Return the score of two dates or ranges, in [0, 1], by the parts that both sides state.

        The parts are year, month and day. A part that only one side states, such as the year, does
        not lower the score. The score is 0.0 if there is no part that both sides state. If a side
        is a range, it is also 0.0 if the day is the only such part.
        """
        dates = gt.ends + pred.ends
        shared = frozenset.intersection(*(end.stated_parts for end in dates))
        utc = share_zones(dates)
        if isinstance(gt, StatedDate) and isinstance(pred, StatedDate):
            return float(self._is_same(gt, pred, shared, utc=utc))
        if not shared & {"year", "month"}:
            return 0.0
        gt_days, pred_days = days_of(gt, shared, utc=utc), days_of(pred, shared, utc=utc)
        common = overlap(gt_days, pred_days)
        if isinstance(gt, StatedDate) or isinstance(pred, StatedDate):
            return INSIDE[self.range_mode] if common else 0.0
        return common if self.range_mode == "graded" else float(gt_days == pred_days)

    def _is_same(
        self, gt: StatedDate, pred: StatedDate, shared: frozenset[str], *, utc: bool
    ) -> bool:
        """Return whether two single dates match.

        Complete dates match within the tolerance. Others match if all parts in `shared` are equal.
        """
        compare_time = self.compare_time and gt.has_clear_time and pred.has_clear_time
        if not (gt.is_whole and pred.is_whole):
            if compare_time and gt.clock // SECOND != pred.clock // SECOND:
                return False
            return bool(shared) and all(getattr(gt, name) == getattr(pred, name) for name in shared)
        gt_moment, pred_moment = gt.moment(utc=utc), pred.moment(utc=utc)
        if compare_time:
            seconds = abs(gt_moment // SECOND - pred_moment // SECOND)
            return seconds <= self._reach * (DAY // SECOND)
        if self._by_days:
            return abs(gt_moment.days - pred_moment.days) <= self._reach
        return abs(gt_moment - pred_moment) / DAY <= self._reach


@lru_cache_of_short_texts(maxsize=32_768)  # dates repeat across documents
def _read_both_orders(text: str, dayfirst: bool | None, ranges: bool, unit: timedelta) -> Readings:
    """Read a text as month/day, and as day/month.

    If `dayfirst` is not None, both readings use the order that it states.
    """
    compare_time = unit is SECOND
    admitted = [
        _simplify_range(reading, ranges=ranges, compare_time=compare_time)
        for reading in readings(text, dayfirst=dayfirst)
    ]
    return _combine_readings(admitted[0], admitted[-1], unit)


def _combine_readings(
    month_first: Stated | None, day_first: Stated | None, unit: timedelta
) -> Readings:
    """Return two readings of a date, with their day numbers or second numbers (moments).

    If one of the readings is not a single day or second, all moments are 0.
    """
    if month_first == day_first:
        day_first = month_first  # same object: the order is clear
    first, second = _find_moment(month_first, unit), _find_moment(day_first, unit)
    if (0, 0) in {first, second}:
        first = second = (0, 0)
    return Readings(month_first, day_first, tuple(chain(*zip(first, second, strict=True))))


def _simplify_range(stated: Stated | None, *, ranges: bool, compare_time: bool) -> Stated | None:
    """Simplify a range of a single day to this day.

    If ranges are rejected, return None for any range.

    Other dates and ranges are returned unchanged.
    """
    if not isinstance(stated, StatedRange):
        return stated
    if not ranges:
        return None
    if not stated.is_single:
        return stated
    return replace(stated.start, clock=timedelta(0)) if compare_time else stated.start


def _find_moment(stated: Stated | None, unit: timedelta) -> tuple[float, float]:
    """Return a date as two numbers: the first by the date's own clock, the second in UTC.

    Each number counts the days or seconds (`unit`) since the day before 0001-01-01. The number in
    UTC is NaN if the date has no time zone. Both numbers are NaN if there is no date. Both numbers
    are 0 if the value is not a single day or second, and must be compared in another way: a range,
    an incomplete date, or an unclear time if seconds are counted.
    """
    if stated is None:
        return math.nan, math.nan
    if isinstance(stated, StatedRange) or not stated.is_whole:
        return 0, 0
    if unit is SECOND and not stated.has_clear_time:
        return 0, 0
    utc = math.nan if stated.offset is None else stated.moment(utc=True) // unit
    return stated.moment(utc=False) // unit, utc


def _stack_moments(values: Sequence[Readings]) -> NDArray[np.float64]:
    """Return the moments of `n` values as an array of shape (4, n).

    The four rows have the order of `Readings.moments`.
    """
    moments = chain.from_iterable(value.moments for value in values)
    return np.fromiter(moments, np.float64, 4 * len(values)).reshape(-1, 4).T


def _check_tolerance(value: object) -> float | None:
    days = value / DAY if isinstance(value, timedelta) else value
    if days is None or (is_number(days) and 0 <= days < math.inf):
        return days
    raise KeywordError.of("tolerance", value, "a number of days, at least 0, or null")


def days_of(stated: StatedDate | StatedRange, compared_parts: frozenset[str], *, utc: bool) -> Days:
    """Return all days from the first date to the last.

    Parts that are not in `compared_parts` are ignored. If years are ignored, days are those of a
    leap year. If `utc` is true, dates are converted to UTC; they must then be complete and have
    time zones.

    >>> winter = StatedRange(StatedDate(None, 12, 20), StatedDate(None, 1, 5))
    >>> days_of(winter, frozenset({"month", "day"}), utc=False)
    (range(354, 366), range(0, 5))
    """
    whole_start, whole_end = stated.ends
    start, end = whole_start.limited_to(compared_parts), whole_end.limited_to(compared_parts)
    if "year" in compared_parts:
        beyond_first = (end.last_day - end.first_day).days
        return (range(start.moment(utc=utc).days, end.moment(utc=utc).days + beyond_first + 1),)
    first = _day_of_year(start.first_day)
    stop = first + (_day_of_year(end.last_day) - first) % _DAYS_OF_A_YEAR + 1
    if stated.states_year and (whole_end.last_day - whole_start.first_day).days >= 365:
        stop = first + _DAYS_OF_A_YEAR
    if stop <= _DAYS_OF_A_YEAR:
        return (range(first, stop),)
    return range(first, _DAYS_OF_A_YEAR), range(stop - _DAYS_OF_A_YEAR)


def overlap(gt_days: Days, pred_days: Days) -> float:
    """Return the number of common days, divided by the number of days on at least one side.

    >>> overlap((range(10),), (range(5, 15),))
    0.3333333333333333
    """
    shared = sum(
        len(range(max(gt_run.start, pred_run.start), min(gt_run.stop, pred_run.stop)))
        for gt_run in gt_days
        for pred_run in pred_days
    )
    either = sum(map(len, (*gt_days, *pred_days))) - shared
    return shared / either if shared else 0.0


def _day_of_year(day: date) -> int:
    return day.timetuple().tm_yday - 1
