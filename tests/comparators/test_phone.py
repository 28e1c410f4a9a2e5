"""Telephone numbers: whether two texts are the same number, with or without a known country."""

import sys

import pytest

from stickler_cli.comparators import PhoneComparator
from stickler_cli.comparators.base import KeywordError
from stickler_cli.core.problems import UnavailableError


@pytest.fixture
def phones():
    pytest.importorskip("phonenumbers", reason="phonenumbers IS NOT INSTALLED")
    return PhoneComparator


@pytest.mark.parametrize(
    ("region", "gt", "pred", "similarity"),
    [
        (None, "+1 (650) 253-0000", "650.253.0000", 1.0),
        (None, "650.253.0000", "+1 (650) 253-0000", 1.0),
        (None, "tel:+1-650-253-0000", "+16502530000", 1.0),
        (None, "0049 30 901820", "+49 (0)30 901820", 1.0),
        (None, "Tel. 0049 30 901820", "+49 30 901820", 1.0),
        (None, "+44 7400 900 456", "07400 900456", 1.0),
        (None, "+49 30 901820", "+43 30 901820", 0.0),
        (None, "+1 650 253 0000 x 5", "+1 650 253 0000 ext. 5", 1.0),
        (None, "+1 650 253 0000 x 5", "+1 650 253 0000", 0.0),
        ("US", "(650) 253-0000", "1-650-253-0000", 1.0),
        ("DE", "030 901820", "+49 30 901820", 1.0),
        ("GB", "030 901820", "+49 30 901820", 1.0),  # none in Great Britain, but in the other's
        (None, "030/90 18 20", "030 901820", 1.0),  # of no known country
        (None, "12-34", "1234", 1.0),  # no valid number
        (None, "12-34", "1235", 0.0),
        (None, "\u0663\u0664", "34", 1.0),
        (None, "n/a", "none", 0.0),
        (None, "n/a", " n/a", 1.0),
        (None, 6502530000, "650-253-0000", 1.0),
        (None, "1" * 1000, "1" * 1000 + "2", 0.0),
    ],
)
def test_two_numbers_match_if_they_are_one_line(phones, region, gt, pred, similarity):
    assert phones(region=region).compare(gt, pred) == similarity


@pytest.mark.parametrize("region", ["us", "USA", "", 49])
def test_a_region_is_two_capital_letters(region):
    with pytest.raises(KeywordError, match="two capital letters, such as US"):
        PhoneComparator(region=region)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    for use in (PhoneComparator().require, lambda: PhoneComparator().compare("1", "2")):
        with pytest.raises(UnavailableError, match=r"pip install '\.\[phone\]'"):
            use()


DIGITS = PhoneComparator(digits_only=True)


@pytest.mark.parametrize(
    ("gt", "pred", "same"),
    [
        ("+1 555 0100", "555 0100", 1.0),
        ("+49 30 901820", "(030) 90 18 20", 1.0),
        ("0049 (0)30 901820", "030 901820", 1.0),
        ("030 901820", "030 901821", 0.0),
        ("+49 30 901820", "+43 30 901820", 0.0),
        ("+1 555 0100", "0100", 0.0),
        ("+44 7700 900456", "07700 900456", 1.0),
        ("none", "None", 1.0),
        ("none", "unknown", 0.0),
    ],
)
def test_digits_alone_may_lack_a_country_code(gt, pred, same, monkeypatch):
    monkeypatch.setattr("stickler_cli.comparators.phone._library", None)
    DIGITS.require()

    assert DIGITS.compare(gt, pred) == DIGITS.compare(pred, gt) == same
