"""The days of ranges, and the days that two ranges have in common."""

from datetime import timedelta

import pytest

from stickler_cli.comparators.date import days_of, overlap
from stickler_cli.comparators.date_parsing import StatedDate, StatedRange

WHOLE = frozenset({"year", "month", "day"})
MONTH_AND_DAY = frozenset({"month", "day"})
JAN_1_2024 = 738_886
"""The ordinal of 1 January 2024: 2023 years of 365 days, 490 leap days, and one day."""


@pytest.mark.parametrize(
    ("start", "end", "parts", "n_days"),
    [
        ((2024, 1, 1), (2024, 1, 1), WHOLE, 1),
        ((2024, 1, 1), (2024, 1, 10), WHOLE, 10),
        ((2024, 1, None), (2024, 3, None), frozenset({"year", "month"}), 31 + 29 + 31),
        ((2024, None, None), (2025, None, None), frozenset({"year"}), 366 + 365),
    ],
)
def test_a_range_has_its_last_day_month_or_year(start, end, parts, n_days):
    stated = StatedRange(StatedDate(*start), StatedDate(*end))

    assert days_of(stated, parts, utc=False) == (range(JAN_1_2024, JAN_1_2024 + n_days),)


def test_a_day_is_counted_where_it_is_in_utc():
    late = StatedDate(2024, 1, 1, timedelta(hours=23), timedelta(hours=-5))

    assert days_of(late, WHOLE, utc=True) == (range(JAN_1_2024 + 1, JAN_1_2024 + 2),)
    assert days_of(late, WHOLE, utc=False) == (range(JAN_1_2024, JAN_1_2024 + 1),)


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        ((2023, 1, 1), (2023, 12, 31), (range(366),)),
        ((2023, 3, 1), (2024, 2, 29), (range(60, 366), range(60))),
        ((2023, 3, 1), (2024, 2, 28), (range(60, 366), range(59))),
        ((2020, 12, 31), (2030, 1, 1), (range(365, 366), range(365))),
        ((2023, 12, 31), (2024, 1, 1), (range(365, 366), range(1))),
    ],
)
def test_without_the_year_days_are_counted_round_a_leap_year(start, end, days):
    stated = StatedRange(StatedDate(*start), StatedDate(*end))

    assert days_of(stated, MONTH_AND_DAY, utc=False) == days


def test_ranges_that_touch_share_nothing():
    assert overlap((range(10),), (range(10, 20),)) == 0.0
    assert overlap((), ()) == 0.0


def test_runs_are_shared_one_by_one():
    # 2 + 3 of 8 + 7 - 5.
    assert overlap((range(8),), (range(2), range(5, 10))) == 0.5
