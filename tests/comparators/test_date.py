"""Similarities of dates and ranges, by the rules of docs/dates.md."""

import json
import re
from datetime import UTC, date, datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.comparators.base import KeywordError
from stickler_cli.comparators.date import DateComparator

DOCS = Path(__file__).parents[2] / "docs" / "dates.md"
EXAMPLE = re.compile(r"\| `(.+?)` \| `(.+?)` \| `(\{.*?\})` \| ([0-9.]+) \|")
EXAMPLES = [
    match.groups()
    for match in map(EXAMPLE.fullmatch, DOCS.read_text(encoding="utf-8").splitlines())
    if match
]


def score(gt, pred, **config):
    return DateComparator(**config).compare(gt, pred)


def test_the_documentation_has_examples():
    assert len(EXAMPLES) >= 25


@pytest.mark.parametrize(("gt", "pred", "config", "expected"), EXAMPLES)
def test_an_example_of_the_documentation_scores_as_it_says(gt, pred, config, expected):
    assert score(gt, pred, **json.loads(config)) == pytest.approx(float(expected), abs=1e-9)


def test_dates_and_datetimes_are_taken_as_they_are():
    assert score(date(2024, 2, 1), datetime(2024, 2, 1, 10, 30, tzinfo=UTC)) == 1.0
    assert score(date(2024, 2, 1), "01/02/2024") == 1.0
    assert score(date(2024, 2, 1), "02/01/2024", dayfirst=True) == 0.0
    east = timezone(timedelta(hours=9))
    assert score(datetime(2024, 1, 5, 8, tzinfo=east), "2024-01-04T23:00Z") == 1.0


class Due(StrEnum):
    NEW_YEAR = "2024-01-01"


@pytest.mark.parametrize("value", [20240101, 20240101.0, Due.NEW_YEAR])
def test_whole_numbers_and_strings_of_an_enumeration_are_read(value):
    assert score("2024-01-01", value) == 1.0


@pytest.mark.parametrize(
    "value",
    [
        *(True, 1.5, float("nan"), float("inf"), -20240105, [], ["2024-01-05"], {}, b"2024"),
        pytest.param(10**5000, id="a number longer than Python prints"),
    ],
)
def test_what_is_no_date_does_not_even_match_itself(value):
    assert score(value, value) == 0.0


def test_both_sides_are_read_in_the_same_order():
    assert score("01/02/2024 to 03/02/2024", "01/02/2024 to 03/02/2024") == 1.0
    assert score("01/02/2024", "2024-02-01 to 2024-02-09") == 0.5
    # 3 days of February and 61 from 2 January to 2 March, whichever side is which.
    gt, pred = "01/02/2024 to 03/02/2024", "02/01/2024 to 02/03/2024"
    assert score(gt, pred) == pytest.approx(3 / 61)


def test_a_range_that_runs_forward_in_one_order_only_is_read_in_that_order():
    # 1 May to 2 April is no range; 5 January to 4 February is.
    assert score("05/01/2024 - 04/02/2024", "2024-01-20") == 0.5
    assert score("05/01/2024 - 04/02/2024", "2024-01-20", dayfirst=False) == 0.0


class TestTolerance:
    def test_a_timedelta_is_kept_as_days(self):
        comparator = DateComparator(tolerance=timedelta(hours=36))

        assert comparator.config == {"tolerance": 1.5}
        assert comparator.compare("2024-01-05T00:00", "2024-01-06T12:00") == 1.0
        assert comparator.compare("2024-01-05T00:00", "2024-01-06T12:01") == 0.0

    def test_whole_days_are_whole_however_they_are_written(self):
        # 2 calendar days, 24 hours and 2 minutes.
        gt, pred = "2024-01-05T23:59", "2024-01-07T00:01"
        assert score(gt, pred, tolerance=1) == 0.0
        assert score(gt, pred, tolerance=1.0) == 0.0
        assert score(gt, pred, tolerance=timedelta(days=1)) == 0.0
        assert score(gt, pred, tolerance=1.01) == 1.0

    def test_a_date_without_a_time_is_its_midnight_to_a_fraction(self):
        assert score("2024-01-05", "2024-01-05T12:00", tolerance=0.5) == 1.0
        assert score("2024-01-05", "2024-01-05T12:01", tolerance=0.5) == 0.0

    def test_a_fraction_is_measured_in_utc_between_dates_with_zones(self):
        gt = "2024-01-05T12:00:00+00:00"
        assert score(gt, "2024-01-05T18:00:00-06:00", tolerance=0.5) == 1.0
        assert score(gt, "2024-01-05T18:01:00-06:00", tolerance=0.5) == 0.0

    def test_it_needs_whole_dates_on_both_sides(self):
        assert score("Jan 5", "Jan 6", tolerance=9) == 0.0
        assert score("Jan 5", "2024-01-06", tolerance=9, allow_partial_year=True) == 0.0
        assert score("Jan 2024", "Feb 2024", tolerance=99) == 0.0

    def test_it_may_be_larger_than_any_number_of_days(self):
        assert score("0001-01-01", "9999-12-31", tolerance=10**400) == 1.0


class TestZones:
    def test_the_first_and_last_days_of_the_calendar_have_a_time_in_utc(self):
        assert score("9999-12-31T23:00-05:00", "9999-12-31T23:00-05:00") == 1.0
        assert score("0001-01-01T01:00+05:00", "0001-01-01T01:00+05:00", tolerance=0.5) == 1.0

    def test_a_range_is_compared_in_utc_where_all_have_zones(self):
        gt = "2024-01-01T00:00Z to 2024-01-10T00:00Z"
        assert score(gt, "2024-01-11T00:30+01:00") == 0.5
        assert score(gt, "2024-01-11T00:30") == 0.0
        # 10 January in UTC: one day of ten.
        assert score(gt, "2024-01-11T00:30+01:00 to 2024-01-11T00:50+01:00") == 0.5
        assert score(gt, "2024-01-10T00:30+01:00 to 2024-01-11T00:30+01:00") == 0.2

    def test_an_end_without_a_zone_takes_that_of_the_other(self):
        gt = "2024-01-01 to 2024-01-10T12:00+09:00"
        # Midnight of 1 January is 31 December in UTC.
        assert score(gt, "2023-12-31T12:00Z") == 0.5
        assert score("2024-01-01T00:00+09:00 to 2024-01-10", "2023-12-31T12:00Z") == 0.5

    def test_a_day_in_one_zone_is_one_day_although_utc_parts_it(self):
        gt = "2024-01-05T01:00-05:00 to 2024-01-05T23:00-05:00"
        assert score(gt, "2024-01-05") == 1.0

    def test_an_end_before_the_start_by_its_clock_may_be_after_it_in_utc(self):
        gt = "2024-01-06T08:00+09:00 to 2024-01-06T00:30Z"
        assert score(gt, "2024-01-06T00:00Z") == 0.5

    def test_zones_do_not_move_dates_that_are_not_whole(self):
        assert score("Jan 5 23:00 -05:00", "Jan 5 01:00Z") == 1.0


class TestPrecision:
    def test_without_a_part_in_common_nothing_agrees(self):
        config = {"precision_mode": "overlap", "allow_partial_year": True}
        assert score("2024", "May", **config) == 0.0
        assert score("15th", "May", **config) == 0.0
        assert score("15th", "2024-05-15", **config) == 0.7

    def test_a_day_of_the_month_alone_lies_in_no_range(self):
        config = {"precision_mode": "overlap", "allow_partial_year": True}
        assert score("May 1 to May 20", "15th", **config) == 0.0

    def test_a_finer_prediction_is_judged_by_the_months_of_the_range(self):
        gt = "Jan 2024 to Mar 2024"
        assert score(gt, "2024-03-31") == 0.0
        assert score(gt, "2024-03-31", precision_mode="gt_loose") == 0.5
        assert score(gt, "2024-04-01", precision_mode="gt_loose") == 0.0
        assert score("2024-03-31", gt, precision_mode="gt_loose") == 0.0
        assert score("2024-03-31", gt, precision_mode="overlap") == 0.5

    def test_ends_are_held_against_each_other_one_by_one(self):
        gt, pred = "Jan 2024 to 2024-03-05", "Jan 2024 to Mar 2024"
        assert score(gt, gt) == 1.0
        assert score(gt, pred) == 0.0
        assert score(gt, pred, precision_mode="gt_loose") == 0.0
        assert score(pred, gt, precision_mode="gt_loose") == 1.0
        assert score(gt, pred, precision_mode="overlap", range_mode="strict") == 1.0


class TestRanges:
    def test_days_of_months_and_years_are_counted_whole(self):
        # 91 days from January to March 2024, of which February and March have 60.
        assert score("Jan 2024 to Mar 2024", "Feb 2024 to Mar 2024") == pytest.approx(60 / 91)
        # 2023 to 2025 is 365 + 366 + 365.
        assert score("2023 to 2025", "2024 to 2025") == pytest.approx(731 / 1096)
        assert score("2023 to 2025", "2024") == 0.5
        # November to February is 30 + 31 + 31 + 29 in a leap year.
        assert score("Nov to Feb", "Jan to Feb") == pytest.approx(60 / 121)

    def test_a_month_to_the_same_month_is_that_month(self):
        assert score("Jan 2024 to Jan 2024", "Jan 2024") == 1.0
        assert score("Mar to March", "Mar") == 1.0

    def test_a_range_over_the_new_year_shares_days_on_both_sides_of_it(self):
        # 17 days and 31 + 31: 12 of December and 5 of January are in both.
        assert score("Dec 20 to Jan 5", "Dec 1 to Jan 31") == pytest.approx(17 / 62)
        # Nearly a year round: 361 of 366 days, and 31 + 31, of which 10 to 5 leaves 4 out.
        assert score("Mar 10 to Mar 5", "Mar 1 to Mar 31") == pytest.approx(27 / 366)

    def test_without_its_year_a_range_of_a_year_has_every_day(self):
        config = {"allow_partial_year": True}
        assert score("2020-03-10 to 2023-03-05", "Mar 7", **config) == 0.35
        assert score("2023-01-01 to 2023-12-31", "Feb 29", **config) == 0.35
        assert score("2022-02-28 to 2023-02-28", "Jul 4", **config) == 0.35
        assert score("2023-03-01 to 2024-02-28", "Feb 29", **config) == 0.0

    def test_ranges_are_equal_only_if_both_ends_are(self):
        for mode in ("strict", "contains"):
            assert score("Mar 1 to Feb 29", "Jan 1 to Dec 31", range_mode=mode) == 0.0
            assert score("Mar 1 to Feb 29", "1 Mar through 29 Feb", range_mode=mode) == 1.0


@pytest.mark.parametrize(
    ("keyword", "value", "message"),
    [
        ("tolerance", -1, "tolerance is -1, expected a number of days, at least 0, or null"),
        ("tolerance", True, "tolerance is true, expected a number of days, at least 0, or null"),
        ("tolerance", "1", 'tolerance is "1", expected a number of days, at least 0, or null'),
        ("dayfirst", "yes", 'dayfirst is "yes", expected true, false or null'),
        ("dayfirst", 1, "dayfirst is 1, expected true, false or null"),
        ("allow_partial_year", 0, "allow_partial_year is 0, expected true or false"),
        (
            "range_mode",
            "grade",
            (
                'range_mode is "grade", expected one of strict, reject, contains, graded;'
                " did you mean graded?"
            ),
        ),
        (
            "precision_mode",
            None,
            "precision_mode is null, expected one of exact, gt_loose, overlap",
        ),
    ],
)
def test_a_keyword_that_cannot_be_used_is_named_with_what_can(keyword, value, message):
    with pytest.raises(KeywordError) as caught:
        DateComparator(**{keyword: value})

    assert (caught.value.keyword, str(caught.value)) == (keyword, message)


@pytest.mark.parametrize("value", [timedelta(-1), float("nan"), float("inf")])
def test_a_tolerance_is_a_length_of_time(value):
    with pytest.raises(KeywordError):
        DateComparator(tolerance=value)


MORE = [
    *("2024-01-05", "2024-01-06", "Jan 5th, 2024", "01/05/2024", "05/01/24", "13/01/2024"),
    *("2024-01-05T10:30", "2024-01-05T22:00Z", "2024-01-05T23:30-05:00", "Nov 3", "Feb 29", "3.11"),
    *("2024", "Jan 2024", "November", "15th", "Monday", "10:45", "n/a", "", "- 1/2/24", "1/2/24 -"),
    *("2024-01-01 to 2024-01-10", "2024-01-05 to 2024-01-05", "01/02/2024 through 05/02/2024"),
    *("Dec 20 to Jan 5", "Nov to Feb", "Jan 2024 - Mar 2024", "2023 to 2025", "5 to 10"),
    *("2024-01-05T20:00-05:00 to 2024-01-07T01:00Z", "2020-01-01 to 2030-01-01", "Jan 1 to 2025"),
]
values = st.one_of(st.sampled_from(MORE), st.dates(), st.dates().map(str), st.integers())
comparators = st.builds(
    DateComparator,
    tolerance=st.sampled_from([None, 0, 1, 0.5, 40]),
    dayfirst=st.sampled_from([None, True, False]),
    allow_partial_year=st.booleans(),
    range_mode=st.sampled_from(["strict", "reject", "contains", "graded"]),
    precision_mode=st.sampled_from(["exact", "gt_loose", "overlap"]),
)


@given(comparators, st.lists(st.tuples(values, values), max_size=8))
def test_similarities_are_the_similarity_of_each_pair(comparator, pairs):
    gts = [comparator.prepare(gt) for gt, _ in pairs]
    preds = [comparator.prepare(pred) for _, pred in pairs]

    similarities = comparator.similarities(gts, preds)

    assert similarities.tolist() == list(map(comparator.similarity, gts, preds))


@given(comparators, values, values)
def test_either_side_may_be_the_ground_truth_unless_it_may_be_looser(comparator, one, other):
    if comparator.precision_mode != "gt_loose":
        assert comparator.compare(one, other) == comparator.compare(other, one)


@given(comparators, values, values)
def test_a_looser_precision_never_scores_less(comparator, gt, pred):
    config = comparator.config
    exact, gt_loose, overlap = (
        score(gt, pred, **(config | {"precision_mode": mode}))
        for mode in ("exact", "gt_loose", "overlap")
    )

    assert 0 <= exact <= gt_loose <= overlap <= 1


@given(comparators, st.dates())
def test_a_date_is_itself(comparator, day):
    assert comparator.compare(day.isoformat(), day.isoformat()) == 1.0
    assert comparator.compare(day.isoformat(), day) == 1.0


@given(comparators, st.text(), st.text())
def test_any_text_scores_from_0_to_1(comparator, gt, pred):
    assert 0 <= comparator.compare(gt, pred) <= 1
    assert 0 <= comparator.compare(gt, gt) <= 1


@pytest.mark.parametrize(
    ("range_mode", "same"),
    [("graded", True), ("contains", True), ("strict", True), ("reject", False)],
)
def test_a_text_that_is_no_date_is_right_if_both_have_it_unless_ranges_are_rejected(
    range_mode, same
):
    assert DateComparator(range_mode=range_mode).same_value is same


def keys(*texts, **config):
    comparator = DateComparator(**config)
    date_keys = comparator.keys([comparator.prepare(text) for text in texts])
    return None if date_keys is None else date_keys.tolist()


def test_days_that_an_order_or_a_clock_makes_the_same_share_a_key():
    assert keys("2024-01-02", "Jan 2, 2024", "n/a", "2024-01-03", "") == [0, 0, 1, 2, 3]
    assert keys("2024-01-02", "2024-02-01", "01/02/2024") == [0, 0, 0]
    assert keys("2024-01-02", "2024-02-01") == [0, 1]
    assert keys("2024-01-02T23:30-05:00", "2024-01-03T01:00Z", "2024-01-02") == [0, 0, 0]
    assert keys("2024-01-02T23:30-05:00", "2024-01-04T01:00Z") == [0, 1]


def test_there_are_no_keys_where_unequal_days_may_be_alike():
    assert keys("2024-01-02", tolerance=1) is None
    assert keys("2024-01-02", tolerance=0) == [0]
    assert keys("2024-01-02", "Jan 2024") is None
    assert keys("2024-01-02", "2024-01-01 to 2024-01-05") is None


@pytest.mark.parametrize(
    ("gt", "pred", "is_same"),
    [
        ("2024-05-01T07:30:00Z", "2024-05-01 09:30+02:00", True),
        ("2024-05-01T07:30:00Z", "2024-05-01T07:30Z", True),
        ("2024-05-01T07:30:00.5Z", "2024-05-01T07:30:00Z", True),
        ("2024-05-01T07:30:00Z", "2024-05-01T07:30:01Z", False),
        ("2024-05-01T07:30:00Z", "2024-05-01T19:30:00Z", False),
        ("2024-05-01T07:30:00Z", "2024-05-01", False),
        ("2024-05-01T00:00:00Z", "2024-05-01", True),
        ("2024-05-01 07:30", "May 1, 2024 7:30 AM", True),
        ("2024-05-01T07:30", "2024-05-01T07:30:00+02:00", True),
        ("03/05/2024 10:00", "2024-05-03T10:00", True),
        ("03/05/2024 10:00", "2024-05-03T11:00", False),
        ("May 5 10:30", "May 5 10:30:00", True),
        ("May 5 10:30", "May 5 10:31", False),
        ("2024-05-01 09:00 - 2024-05-02 10:00", "2024-05-01 11:00 - 2024-05-02 12:00", True),
        ("2024-05-01 09:00 - 2024-05-01 17:00", "2024-05-01", True),
        ("2024-05-01T17:15:00", "2024-05-01T17:5:00", True),
        (date(2024, 5, 1), datetime(2024, 5, 1, 7, tzinfo=UTC), False),
    ],
)
def test_times_are_compared_to_the_second_where_that_is_asked_for(gt, pred, is_same):
    comparator = DateComparator(compare_time=True)
    prepared = [comparator.prepare(value) for value in (gt, pred)]

    assert comparator.compare(gt, pred) == comparator.compare(pred, gt) == is_same
    assert comparator.similarities(prepared[:1], prepared[1:]).tolist() == [is_same]


def test_a_tolerance_applies_to_the_instants():
    hour, day = (DateComparator(compare_time=True, tolerance=days) for days in (1 / 24, 1))

    assert hour.compare("2024-05-01 07:30", "2024-05-01 08:30") == 1.0
    assert hour.compare("2024-05-01 07:30", "2024-05-01 08:31") == 0.0
    assert day.compare("2024-05-01 07:30", "2024-05-02 08:30") == 0.0


def test_instants_that_are_the_same_share_a_key():
    texts = ("2024-01-02T07:30Z", "2024-01-02 08:30+01:00", "2024-01-02T07:31Z", "2024-01-02")

    assert keys(*texts, compare_time=True) == [0, 0, 1, 2]
    assert keys("2024-01-02T07:5Z", compare_time=True) is None
