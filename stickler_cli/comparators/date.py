"""Dates and ranges of dates, however they are written. The rules are in docs/dates.md."""

import math
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeGuard, get_args

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import (
    BaseComparator,
    KeywordError,
    Matrix,
    checked_choice,
    checked_flag,
    is_number,
    text_of,
)
from stickler_cli.comparators.date_parsing import (
    DAY,
    Stated,
    StatedDate,
    StatedRange,
    readings,
    share_zones,
    stated_by,
)
from stickler_cli.comparators.date_ranges import days_of, overlap
from stickler_cli.core.json_values import brief

RangeMode: TypeAlias = Literal["strict", "reject", "contains", "graded"]
PrecisionMode: TypeAlias = Literal["exact", "gt_loose", "overlap"]

YEAR_MISSING: Final = 0.7
"""What the score is multiplied by when one side states no year. Source: docs/dates.md."""

INSIDE: Final = {"strict": 0.0, "contains": 1.0, "graded": 0.5}
"""What a date inside a range is worth in each range mode. Source: docs/dates.md."""

Prepared: TypeAlias = tuple[Stated | None, ...]
"""One reading, or two where the order of day and month is open: month first, then day first.

None is no date.
"""


class DateComparator(BaseComparator):
    """Compare dates and ranges of dates: 1.0 if they say the same, 0.0 if not.

    Two-digit years 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068 (POSIX, strptime, %y), in
    whatever year the comparison runs. Names of time zones other than UTC, GMT and Z are not read.
    """

    columnar: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913 - each keyword is one that a schema may set
        self,
        threshold: float = 1.0,
        *,
        tolerance: float | timedelta | None = None,
        dayfirst: bool | None = None,
        allow_partial_year: bool = False,
        range_mode: RangeMode = "graded",
        precision_mode: PrecisionMode = "exact",
    ) -> None:
        """Set how dates are read and what is close enough.

        Args:
            threshold: in [0, 1]; what `binary_compare` calls a match.
            tolerance: days between two whole dates that still match, 0 or more. Whole days are
                counted by the calendar, a fraction by the clock. A timedelta is kept as days.
            dayfirst: whether 01/02 is 1 February; None tries both orders, the same on both sides.
            allow_partial_year: give 0.7 of the score, not 0.0, when one side states no year.
            range_mode: what a range is worth: docs/dates.md.
            precision_mode: which side may leave out a day or a month: docs/dates.md.

        Raises:
            KeywordError: a keyword has a value that is none of these.
        """
        super().__init__(threshold)
        self.tolerance = _checked_tolerance(tolerance)
        # No two dates are further apart, and numpy takes no integer of any size.
        self._reach = min(self.tolerance or 0, timedelta.max.days)
        self._by_days = self._reach % 1 == 0
        self.dayfirst = _checked_order(dayfirst)
        self.allow_partial_year = checked_flag("allow_partial_year", allow_partial_year)
        self.range_mode = checked_choice("range_mode", range_mode, get_args(RangeMode))
        self.precision_mode = checked_choice(
            "precision_mode", precision_mode, get_args(PrecisionMode)
        )

    def prepare(self, value: Any) -> Prepared:
        """Read a string, a whole number such as 20240105, a date or a datetime.

        Anything else is no date, booleans included.
        """
        if isinstance(value, date):
            return (stated_by(value),)
        return _prepared(_text(value), self.dayfirst, ranges=self.range_mode != "reject")

    def similarity(self, gt: Prepared, pred: Prepared) -> float:
        """Compare two prepared values in each order of day and month; give the better score."""
        score = self._score(gt[0], pred[0])
        if len(gt) == len(pred) == 1:
            return score
        return max(score, self._score(gt[-1], pred[-1]))

    def matrix(self, gts: Sequence[Prepared], preds: Sequence[Prepared]) -> Matrix:
        """Compare each distinct value once, and all plain dates in one go; (n, m)."""
        gt_values, rows = _distinct(gts)
        pred_values, columns = _distinct(preds)
        gt_days, pred_days = _ordinals(gt_values), _ordinals(pred_values)
        near = np.abs(gt_days[:, np.newaxis] - pred_days) <= self._reach
        table: Matrix = np.asarray(near.any(axis=2), dtype=np.float64)
        plain = np.logical_and.outer(_are_plain(gt_values), _are_plain(pred_values))
        for row, column in np.argwhere(~(plain & self._by_days)):
            table[row, column] = self.similarity(gt_values[row], pred_values[column])
        return table[np.ix_(rows, columns)]

    def _score(self, gt: Stated | None, pred: Stated | None) -> float:
        if gt is None or pred is None or not self._are_comparable(gt, pred):
            return 0.0
        if gt.states_year == pred.states_year:
            return self._agreement(gt, pred)
        return YEAR_MISSING * self._agreement(gt, pred) if self.allow_partial_year else 0.0

    def _are_comparable(self, gt: Stated, pred: Stated) -> bool:
        """Tell whether the precision mode lets both state of month and day what they do."""
        for one, other in zip(gt.ends, pred.ends, strict=True):
            gt_parts, pred_parts = one.parts - {"year"}, other.parts - {"year"}
            if self.precision_mode == "exact" and gt_parts != pred_parts:
                return False
            if self.precision_mode == "gt_loose" and not gt_parts <= pred_parts:
                return False
        return True

    def _agreement(self, gt: Stated, pred: Stated) -> float:
        """Compare what both sides state; in [0, 1]. Nothing in common is no agreement."""
        dates = gt.ends + pred.ends
        shared = frozenset.intersection(*(end.parts for end in dates))
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
        if not (gt.is_whole and pred.is_whole):
            return bool(shared) and all(getattr(gt, part) == getattr(pred, part) for part in shared)
        gt_moment, pred_moment = gt.moment(utc=utc), pred.moment(utc=utc)
        if self._by_days:
            return abs(gt_moment.days - pred_moment.days) <= self._reach
        return abs(gt_moment - pred_moment) / DAY <= self._reach


@lru_cache(maxsize=32_768)
def _prepared(text: str, dayfirst: bool | None, *, ranges: bool) -> Prepared:
    """Read a text; the same dates occur again and again, and most readings are one."""
    found = tuple(
        _admitted(reading, ranges=ranges) for reading in readings(text, dayfirst=dayfirst)
    )
    return found if len(set(found)) > 1 else found[:1]


def _admitted(stated: Stated | None, *, ranges: bool) -> Stated | None:
    """Drop ranges where they are rejected, and take a range of one day for that day."""
    if not isinstance(stated, StatedRange):
        return stated
    if not ranges:
        return None
    return stated.start if stated.is_single else stated


def _text(value: object) -> str:
    """Give the text that may state a date; empty for a value that cannot."""
    if isinstance(value, str):
        return text_of(value)
    # 20240105.0 is the integer 20240105 to JSON.
    return text_of(int(value)) if is_number(value) and value % 1 == 0 else ""


def _is_plain(stated: Stated | None) -> TypeGuard[StatedDate]:
    return isinstance(stated, StatedDate) and stated.is_whole and stated.offset is None


def _ordinals(values: Sequence[Prepared]) -> NDArray[np.float64]:
    """Give the day of each plain reading, nan for others: nan is near nothing; (n, 2)."""
    days = [
        [one.first_day.toordinal() if _is_plain(one) else math.nan for one in (value[0], value[-1])]
        for value in values
    ]
    return np.array(days, dtype=np.float64).reshape(len(values), 2)


def _are_plain(values: Sequence[Prepared]) -> NDArray[np.bool_]:
    """Tell of which values the days say all that there is to compare; (n,)."""
    return np.array(
        [all(reading is None or _is_plain(reading) for reading in value) for value in values],
        dtype=np.bool_,
    )


def _distinct(values: Sequence[Prepared]) -> tuple[list[Prepared], list[int]]:
    """Give the distinct values, and for each value where its like is among them."""
    places: dict[Prepared, int] = {}
    positions = [places.setdefault(value, len(places)) for value in values]
    return list(places), positions


def _checked_tolerance(value: object) -> float | None:
    """Give back a number of days that is not negative, or None; a `KeywordError` otherwise."""
    days = value / DAY if isinstance(value, timedelta) else value
    if days is None or (is_number(days) and 0 <= days < math.inf):
        return days
    raise KeywordError(
        "tolerance", f"tolerance is {brief(value)}", "a number of days, at least 0, or null"
    )


def _checked_order(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise KeywordError("dayfirst", f"dayfirst is {brief(value)}", "true, false or null")
