from datetime import date
from decimal import Decimal
from enum import Enum

import pytest

from stickler_cli.comparators import ExactComparator
from stickler_cli.comparators.keywords import KeywordError


class Colour(str, Enum):  # noqa: UP042 - the kind whose str() is not its value
    RED = "red"


class Shade(Enum):
    DARK = 1


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        (1, 1.0),
        (1, "1"),
        (0.0, -0.0),
        (True, "TRUE"),
        (10**20, 1e20),
        (10**23, 1e23),  # as written; the double nearest to 1e23 is another number
        (Decimal("1.50"), 1.5),
        (Decimal("0.1"), 0.1),
        (float("nan"), float("nan")),
        (Decimal("nan"), "NaN"),
        (float("inf"), float("inf")),
        (date(2024, 1, 5), "2024-01-05"),
        (Colour.RED, "red"),
        (Shade.DARK, "Shade.DARK"),
        (["a", 1], "['a', 1]"),
    ],
)
def test_equal_values_are_equal_in_either_order(gt, pred):
    assert ExactComparator().compare(gt, pred) == 1.0
    assert ExactComparator().compare(pred, gt) == 1.0


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        (1, True),
        (0, False),
        (1.5, 15),
        (Decimal("1.5"), 15),
        (float("nan"), 1),
        (10**20, 10**20 + 1),
        (2**53 + 1, float(2**53)),
        ("a\u00a0b", "ab"),
        ("STRASSE", "straße"),
    ],
)
def test_different_values_differ_in_either_order(gt, pred):
    assert ExactComparator().compare(gt, pred) == 0.0
    assert ExactComparator().compare(pred, gt) == 0.0


def test_a_column_of_numbers_and_texts_follows_both_rules_though_they_are_not_transitive():
    comparator = ExactComparator()
    values = [comparator.prepare(value) for value in (1, 1.0, "1", True, "true", 1.5, 15)]

    # 1.5 and "15" have equal texts, so have 15 and 1.5; as numbers they differ.
    assert [comparator.similarities([value] * 7, values).tolist() for value in values] == [
        [1, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],  # 1.0 is written "1.0", hence "10" without punctuation
        [1, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0, 1],
    ]


@pytest.mark.parametrize("keyword", ["case_sensitive", "strip"])
@pytest.mark.parametrize("value", [1, "true", None])
def test_a_flag_that_is_no_boolean_is_refused(keyword, value):
    with pytest.raises(KeywordError, match="expected true or false") as caught:
        ExactComparator(**{keyword: value})

    assert caught.value.keyword == keyword


def test_integers_of_any_length_are_compared():
    assert ExactComparator().compare(10**5000, 10**5000) == 1.0
    assert ExactComparator().compare(10**5000, "1" + "0" * 5000) == 1.0
    assert ExactComparator().compare(10**5000, 10**5000 + 1) == 0.0


def keys(*values):
    comparator = ExactComparator()
    return comparator.keys([comparator.prepare(value) for value in values]).tolist()


def test_texts_have_keys_by_text_and_numbers_by_value():
    assert keys("a", "B", "A ", "b") == [0, 1, 0, 1]
    assert keys(1, 1.0, True, 10, "x") == [0, 0, 1, 2, 3]


def test_numbers_share_a_key_where_a_text_matches_both():
    assert keys(1.0, 10, "10") == [0, 0, 0]
    assert keys(1.0, 10, 1, "2") == [0, 1, 0, 2]
