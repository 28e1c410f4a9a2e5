"""Two long values, one above the other, shortened around their first difference."""

import pytest

from stickler_cli.core.sections import Span
from stickler_cli.reports.compared_values import (
    LEAD,
    cut_around_difference,
    mark_differences,
    value_lines,
)

SAME = "x" * 100


@pytest.mark.parametrize(
    ("gt", "pred", "width", "printed"),
    [
        ("a", "b", 10, ("a", "b")),
        ("abc", "ab", 3, ("abc", "ab")),
        (f"{SAME}a", f"{SAME}b", 40, (f"…{'x' * (20 - 1)}a", f"…{'x' * (20 - 1)}b")),
        (f"{SAME}a", f"{SAME}b", 80, (f"…{'x' * (LEAD - 1)}a", f"…{'x' * (LEAD - 1)}b")),
        ("a" + SAME, "b", 5, ("axxx…", "b")),
        (SAME, SAME + "!", 5, ("…x", "…x!")),
        (SAME, "", 5, ("xxxx…", "")),
    ],
)
def test_both_values_begin_shortly_before_they_differ(gt, pred, width, printed):
    assert cut_around_difference(gt, pred, width) == printed


def test_words_of_the_truth_are_marked_as_expected_and_others_as_wrong():
    gt, pred = mark_differences("a red car", "a blue car")

    assert gt == [Span.of("a "), Span.of("red", "good"), Span.of(" car")]
    assert pred == [Span.of("a "), Span.of("blue", "bad"), Span.of(" car")]


def test_a_number_differs_as_a_whole():
    gt, pred = mark_differences("12.50 EUR", "12.05 EUR")

    assert gt == [Span.of("12.50", "good"), Span.of(" EUR")]
    assert pred == [Span.of("12.05", "bad"), Span.of(" EUR")]


def test_a_terminal_has_the_truth_above_what_was_found():
    lines = ["".join(span.text for span in line) for line in value_lines("a b", "a c", 40, "  ")]

    assert lines == ["  gt    a b", "  pred  a c"]


def test_no_line_is_wider_than_the_terminal():
    for line in value_lines(f"{SAME} truth", f"{SAME} found {SAME}", 30, "  "):
        assert sum(len(span.text) for span in line) <= 30
