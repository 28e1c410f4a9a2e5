"""Parsing dates: the parts that a text states, and the parts that it leaves out."""

import time
from datetime import date, datetime, timedelta
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stickler_cli.comparators import date_parsing
from stickler_cli.comparators.date_parsing import (
    LONGEST,
    StatedDate,
    StatedRange,
    readings,
    stated_by,
)

JAN_5 = StatedDate(2024, 1, 5)


def read_date(text, *, dayfirst=False):
    (reading,) = readings(text, dayfirst=dayfirst)
    return reading


@pytest.mark.parametrize(
    ("text", "year", "month", "day"),
    [
        ("2024-01-05", 2024, 1, 5),
        ("Jan 5, 2024", 2024, 1, 5),
        ("01/05/2024", 2024, 1, 5),
        ("240105", 2005, 1, 24),
        ("Jan 2024", 2024, 1, None),
        ("2024-01", 2024, 1, None),
        ("2024", 2024, None, None),
        ("January", None, 1, None),
        ("Jan 5", None, 1, 5),
        ("1/5", None, 1, 5),
        ("31st", None, None, 31),
        ("Feb 29", None, 2, 29),
        ("Mar 2", None, 3, 2),
        ("Jan 1", None, 1, 1),
        ("2000-01-01", 2000, 1, 1),
        ("March 2, 2004", 2004, 3, 2),
        ("0012-03-04", 12, 3, 4),
    ],
)
def test_what_a_string_does_not_state_is_none(text, year, month, day):
    assert read_date(text) == StatedDate(year, month, day)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "n/a", "today", "Q1 2024", "12:30 PM", "10:45", "Monday", "Fri 10:30", "UTC"),
        *("2024-02-30", "2023-02-29", "Feb 30", "2024-13-01", "0000-01-01", "2024-01-05T24:00"),
        *("-1/5/24", "1/5/24-", "- 1/5/24", "1/5/24 -", "-", "9" * 99, "9" * 5000, "\ud800", "²"),
        *("1e5", "Infinity", "nan", "10:30 Jan 5 +99:99", "12:30" + "9" * 40, "\0"),
    ],
)
def test_what_states_no_date_is_none(text):
    assert read_date(text) is None


def test_a_string_may_have_as_many_characters_as_are_allowed():
    assert read_date("2024-01-05".ljust(LONGEST)) == JAN_5
    assert read_date("2024-01-05".ljust(LONGEST + 1)) is None
    assert readings("x" * (LONGEST + 1), dayfirst=None) == (None, None)


def test_an_open_order_is_read_both_ways():
    assert readings("02/01/2024", dayfirst=None) == (StatedDate(2024, 2, 1), StatedDate(2024, 1, 2))


@pytest.mark.parametrize(
    "text", ["2024-02-01", "2024/02/01", " 2024.02.01", "20240201", "2024.2.1"]
)
def test_a_year_in_front_puts_the_month_second(text):
    assert read_date(text, dayfirst=True) == StatedDate(2024, 2, 1)


@pytest.mark.parametrize("dayfirst", [True, False])
def test_a_number_over_12_is_no_month_in_either_order(dayfirst):
    assert read_date("13/01/2024", dayfirst=dayfirst) == StatedDate(2024, 1, 13)
    assert read_date("01/13/2024", dayfirst=dayfirst) == StatedDate(2024, 1, 13)


@pytest.mark.parametrize(
    ("text", "year"),
    [("1/2/68", 2068), ("1/2/69", 1969), ("1/2/00", 2000), ("Jan 2 '99", 1999), ("1/2/0099", 99)],
)
def test_two_digits_of_a_year_are_1969_to_2068(text, year):
    assert read_date(text).year == year


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("05.2024", StatedDate(2024, 5, None)),
        ("2024.05", StatedDate(2024, 5, None)),
        ("12.24", StatedDate(None, 12, 24)),
        ("Jan 5.2024", JAN_5),
        ("5.1.2024", StatedDate(2024, 5, 1)),
        ("2024-01-05 00:00:00.0", JAN_5),
        ("1.99999", None),
    ],
)
def test_a_dot_parts_a_date_and_makes_no_decimal(text, stated):
    assert read_date(text) == stated


def test_a_weekday_moves_nothing():
    assert read_date("Monday, January 2024") == StatedDate(2024, 1, None)
    assert read_date("Sunday, January 5, 2024") == JAN_5


def test_the_time_of_day_and_the_offset_are_kept():
    clock = timedelta(hours=22, minutes=30)
    zone = timedelta(hours=-5)
    assert read_date("2024-01-05 10:30 PM") == StatedDate(2024, 1, 5, clock)
    assert read_date("2024-01-05T22:30-05:00") == StatedDate(2024, 1, 5, clock, zone)
    assert read_date("2024-01-05 22:30 GMT") == StatedDate(2024, 1, 5, clock, timedelta(0))


def test_other_names_of_time_zones_are_passed_over_even_if_the_machine_knows_them(monkeypatch):
    monkeypatch.setattr(time, "tzname", ("EST", "EDT"))

    assert read_date("2024-01-05 10:31 EST") == StatedDate(
        2024, 1, 5, timedelta(hours=10, minutes=31)
    )


def test_a_date_and_a_datetime_are_taken_as_they_are():
    moment = datetime.fromisoformat("2024-01-05T10:30:15.000001+02:00")

    assert stated_by(date(2024, 1, 5)) == JAN_5
    assert stated_by(moment) == StatedDate(
        2024, 1, 5, timedelta(hours=10, minutes=30, seconds=15, microseconds=1), timedelta(hours=2)
    )


@pytest.mark.parametrize("delimiter", [" to ", " through ", " - ", "\tto\n"])
def test_a_range_has_a_delimiter_with_spaces(delimiter):
    assert read_date(f"Jan 5, 2024{delimiter}2024-01-09") == StatedRange(
        JAN_5, StatedDate(2024, 1, 9)
    )


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-05 to later",
        "from 2024-01-05 to 2024-01-09",
        "2024-01-05 TO 2024-01-09",
        "2024-01-05 – 2024-01-09",  # noqa: RUF001 - a dash that is no delimiter
        "2024-01-05 to 2024-01-06 to 2024-01-07",
        "2024-01-05 - - 2024-01-09",
        "2024-01-05 to 2024-01-09 -",
        "2024-01-09 to 2024-01-05",
        "Mar 2024 to Feb 2024",
        "2024-03-01 to Feb 2024",
        "Jan 5 to Jan 9, 2024",
        "Jan 5, 2024 to Jan 9",
        "5 to 10",
        "Jan 5 to 10",
    ],
)
def test_two_dates_that_bound_nothing_are_no_range(text):
    assert read_date(text) is None


@pytest.mark.parametrize(
    "text",
    ["Dec 20 to Jan 5", "Nov to Feb", "2024-02-10 to Feb 2024", "Feb 29 to Feb 28", "2023 to 2024"],
)
def test_a_range_may_have_ends_of_any_size_and_run_over_the_new_year(text):
    assert isinstance(read_date(text), StatedRange)


FORMATS = ["%Y-%m-%d", "%B %d, %Y", "%d %b %Y", "%A, %d %B %Y", "%m/%d/%Y", "%Y%m%d"]


@given(st.dates(min_value=date(1000, 1, 1)), st.sampled_from(FORMATS))
def test_a_written_date_is_read_back(day, pattern):
    assert read_date(day.strftime(pattern)) == StatedDate(day.year, day.month, day.day)


fragments = st.sampled_from(
    [
        *("Jan", "Feb", "Mon", "of", "at", "-", "/", ".", ":", " ", " to ", " - ", "'", "T", "Z"),
        *("UTC", "GMT", "EST", "+", "(", ")", "am", "pm", "a", "h", "m", "s", "0", "12", "31"),
        *("2024", "99999", "9" * 30, "1.5", "²", "\u0661", "½"),
        *("\0", "\ud800", "nan", "e5", "_", ","),
    ]
)
noise = st.lists(fragments | st.text(max_size=3), max_size=9).map("".join)


@settings(max_examples=7 * settings.default.max_examples)
@given(noise, st.sampled_from([None, True, False]))
def test_any_string_is_read_without_an_error_and_always_the_same(text, dayfirst):
    first = readings(text, dayfirst=dayfirst)

    assert len(first) == (2 if dayfirst is None else 1)
    assert first == readings(f" {text} ", dayfirst=dayfirst)
    for reading in first:
        if reading is not None:
            assert reading.ends[0].stated_parts
            assert hash(reading) == hash(reading)


NUMBERS = st.integers(0, 33).flatmap(lambda number: st.sampled_from([str(number), f"{number:02d}"]))
YEARS = st.one_of(st.integers(1900, 2100).map(str), st.integers(0, 9999).map(str))
MONTHS = st.sampled_from([*("Jan", "march", "MAY", "Sept", "December", "Mon", "Noon")])
DAYS = st.builds("{}{}".format, NUMBERS, st.sampled_from(["", "", "st", "th", "TH"]))
CLOCKS = st.builds(
    "{}:{}{}{}".format,
    st.integers(0, 25).map("{:02d}".format),
    st.integers(0, 61).map("{:02d}".format),
    st.sampled_from(["", "", ":30", ":60", ":30.5", ":30.123456", ":30.1234567"]),
    st.sampled_from(["", "Z", "+00:00", "-05:30", "+24:00", "+05:60", " Z", "+0530", " EST"]),
)
USUAL = st.one_of(
    st.builds("{0}{1}{2}{1}{3}".format, NUMBERS, st.sampled_from("/.-"), NUMBERS, YEARS),
    st.builds("{} {}{} {}".format, DAYS, MONTHS, st.sampled_from(["", ",", "."]), YEARS),
    st.builds("{} {}{} {}".format, MONTHS, DAYS, st.sampled_from(["", ",", "."]), YEARS),
    st.builds("{}{}{}".format, st.dates(), st.sampled_from(["T", " ", "  "]), CLOCKS),
    st.builds("{}-{:02d}-30 {}".format, YEARS, st.integers(0, 13), CLOCKS),
    st.builds("{} {}".format, MONTHS, DAYS),
)


@settings(max_examples=10 * settings.default.max_examples)
@given(USUAL)
def test_usual_dates_are_read_as_dateutil_reads_them_in_each_order(text):
    parsed = readings(text, dayfirst=None)

    with (
        patch.object(date_parsing, "_read_usual_forms", return_value=None),
        patch.object(date_parsing, "_may_be_swapped", return_value=True),
    ):
        assert parsed == readings(text, dayfirst=None)


@pytest.mark.parametrize(
    ("text", "year", "month", "day"),
    [
        ("5 mars 2024", 2024, 3, 5),
        ("12. Februar 2024", 2024, 2, 12),
        ("Montag, den 12. März 2024", 2024, 3, 12),
        ("20 août 2024", 2024, 8, 20),
        ("5 déc. 2023", 2023, 12, 5),
        ("1er janvier 2024", 2024, 1, 1),
        ("1º de março de 2024", 2024, 3, 1),
        ("1° maggio 2024", 2024, 5, 1),
        ("5 de marzo de 2024", 2024, 3, 5),
        ("21 dicembre 2021", 2021, 12, 21),
        ("12 de outubro de 2021", 2021, 10, 12),
        ("5 maart 2024", 2024, 3, 5),
        ("17 Agustus 2023", 2023, 8, 17),
        ("5-Okt-2023", 2023, 10, 5),
        ("Marzo 5, 2024", 2024, 3, 5),
        ("janv. 2024", 2024, 1, None),
        ("2024年3月5日", 2024, 3, 5),
        ("2024年3月", 2024, 3, None),
        ("５月６日", None, 5, 6),
        ("2024년 3월 5일", 2024, 3, 5),
    ],
)
def test_months_of_eight_languages_and_characters_for_dates_are_read(text, year, month, day):
    assert readings(text, dayfirst=None) == (StatedDate(year, month, day),) * 2


@pytest.mark.parametrize("text", ["12 days ago", "13月5日", "5 mars mars 2024", "mars de"])
def test_words_of_other_languages_make_no_date_by_themselves(text):
    assert all(reading is None or not reading.is_whole for reading in readings(text, dayfirst=None))


@pytest.mark.parametrize("text", ["2024-01-05\0", "\x002024-01-05", "5 Jan\0 2024"])
def test_a_text_with_a_nul_in_it_is_no_date(text):
    assert readings(text, dayfirst=None) == (None, None)
