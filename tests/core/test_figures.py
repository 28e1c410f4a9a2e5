import json

import pytest

from stickler_cli.core.figures import (
    cells,
    count_unlisted,
    cut_middle,
    describe_keys,
    digits_of,
    fit_widths,
    format_beside_limit,
    in_short,
    interval_text,
    join_some,
    number_of,
    percent,
    rate,
    setting,
    truncate,
    value_text,
    visible,
    visible_json,
)
from stickler_cli.score.intervals import Interval


@pytest.mark.parametrize(
    ("value", "limits", "text"),
    [
        (0.0, (), "0.0000"),
        (1.0, (), "1.0000"),
        (2 / 3, (), "0.6667"),
        (0.99995, (), "0.9999"),
        (1 - 1e-12, (), "0.9999"),
        (1e-12, (), "0.0001"),
        (0.89996, (), "0.9000"),
        (0.89996, (0.9,), "0.8999"),
        (0.90004, (0.9,), "0.9001"),
        (0.9, (0.9,), "0.9000"),
        (0.99496, (0.9, 0.995), "0.9949"),
        (None, (), "-"),
    ],
)
def test_a_rate_is_rounded_but_never_onto_an_end_or_limit_that_it_is_not(value, limits, text):
    assert rate(value, limits) == text


def test_a_percentage_is_never_rounded_to_none_or_all():
    shares = (0.0, 0.0001, 116 / 155, 0.9999, 1.0)
    assert [*map(percent, shares)] == ["0.0%", "0.1%", "74.8%", "99.9%", "100.0%"]


def test_thresholds_and_weights_are_shown_as_they_were_written():
    assert [setting(value) for value in (0.85, 1.0, 3, None)] == ["0.85", "1", "3", "-"]


def test_one_is_singular():
    assert [number_of(count, "file") for count in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("plain [red] | `x` 東京", "plain [red] | `x` 東京"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m", "\\x9b31m"),
        ("a\r\n\tb\x00\x7f", "a\\r\\n\\tb\\x00\\x7f"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("zero\u200bwidth\u2066", "zero\\u200bwidth\\u2066"),
        ("line\u2028break", "line\\u2028break"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("no\xa0break", "no\\xa0break"),
        ("山田\u3000太郎\x07", "山田\u3000太郎\\x07"),
    ],
)
def test_what_cannot_be_seen_is_spelt_out(text, printed):
    assert visible(text) == printed


def test_a_value_is_shown_as_json_on_one_line():
    assert value_text({"a": ["x\ny\x9b", None]}) == '{"a": ["x\\ny\\x9b", null]}'


def test_wide_letters_take_two_columns_and_marks_none():
    assert [cells(text) for text in ("abc", "東京", "e\u0301", "ｱ", "\uff21")] == [3, 4, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "width", "printed"),
    [("total", 5, "total"), ("total", 4, "tot…"), ("東京都", 4, "東…"), ("total", 1, "…")],
)
def test_text_is_cut_to_columns_with_an_ellipsis(text, width, printed):
    assert truncate(text, width) == printed


def test_an_interval_has_the_digits_of_rates_and_says_how_many_are_worth_it():
    assert interval_text(None) == "-"
    assert interval_text(Interval(0.8, 0.89996), (0.9,)) == "[0.8000, 0.8999]"
    assert interval_text(Interval(0.81, 0.92), digits=2) == "[0.81, 0.92]"
    assert digits_of(None) == 4
    assert digits_of(Interval(0.5, 0.5)) == 4
    # 0.4 wide: the first decimal differs, and one more is shown; 0.003 wide: the third, and one.
    assert [digits_of(Interval(0.5, end)) for end in (0.9, 0.503)] == [2, 4]


def test_the_keys_of_an_object_are_told_in_quotes():
    assert describe_keys({}) == "it has no keys"
    assert describe_keys({"a b": 1}) == 'its only key is "a b"'
    assert describe_keys(dict.fromkeys("abcde")) == 'its keys are "a", "b", "c", "d", "e"'
    assert describe_keys(dict.fromkeys("abcdef")) == (
        'its keys are "a", "b", "c", "d", "e" and 1 more'
    )


def test_some_names_are_told_and_how_many_more_there_are():
    assert join_some("abc", 2) == "a, b and 1 more"
    assert join_some("ab", 2) == "a, b"
    assert count_unlisted(3) == "and 3 more; the JSON report lists all of them"
    assert count_unlisted(1_000, "stickler diff a b") == (
        "and 1,000 more; to list all: stickler diff a b"
    )


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (0.96651, 0.97, "0.967"),
        (0.96996, 0.97, "0.96996"),
        (0.9, 0.9, "0.9"),
        (3, 5, "3"),
        (0.1 + 0.2, 0.3, "0.30000000000000004"),
    ],
)
def test_a_figure_has_the_decimals_that_tell_it_from_a_limit(value, limit, text):
    assert format_beside_limit(value, limit) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ('{"a": "b#c [##]"}', '{"a": "b#c [##]"}'),
        ('"##vso[task.complete]"', '"\\u0023#vso[task.complete]"'),
        ('"\x7f\x9b31m"', '"\\u007f\\u009b31m"'),
        ('"a\u202eb\u200bc\ufeffd\u2028e"', '"a\\u202eb\\u200bc\\ufeffd\\u2028e"'),
        ('"a\u061cb\xadc\u3164"', '"a\\u061cb\\u00adc\\u3164"'),
        ('"a\U000e0041b"', '"a\\udb40\\udc41b"'),
    ],
)
def test_json_that_is_printed_is_the_same_json_without_commands(text, printed):
    assert visible_json(text) == printed
    assert json.loads(printed) == json.loads(text)


@pytest.mark.parametrize(
    ("count", "printed"),
    [(0, "0"), (9_999, "9,999"), (10_000, "10k"), (999_499, "999k"), (999_500, "1M")],
)
def test_a_long_number_is_shown_in_thousands_or_millions(count, printed):
    assert in_short(count) == printed


@pytest.mark.parametrize(
    ("value", "width", "expected"),
    [
        ("invoice-2024-000017", 9, "invo…0017"),
        ("invoice-2024-000017", 8, "inv…0017"),
        ("short", 9, "short"),
        ("日本語の請求書", 7, "日…求書"),  # each letter takes two columns
    ],
)
def test_a_text_is_cut_in_its_middle_to_a_width(value, width, expected):
    assert cut_middle(value, width) == expected
    assert cells(cut_middle(value, width)) <= width


def test_the_widest_columns_give_way_first():
    assert fit_widths([5, 40, 30], 45) == [5, 20, 20]
    assert fit_widths([5, 6], 45) == [5, 6]
