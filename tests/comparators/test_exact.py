from datetime import date
from decimal import Decimal
from enum import Enum

import pytest

from stickler_cli.comparators import (
    CaseInsensitiveComparator,
    EnumComparator,
    ExactComparator,
)
from stickler_cli.comparators.base import KeywordError


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


ENUM = EnumComparator(members=["O+", "O-", "on hold", "a", "A", "b c", "b.c", 1, "1"])


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("O+", "O-", 0.0),
        ("O+", " o +", 1.0),
        ("O+", "O", 0.0),  # both but for punctuation, so none
        ("on hold", "On-Hold!", 1.0),
        ("a", "A", 0.0),
        ("a", " a", 0.0),  # of two members but for case and white space
        ("b c", "B C", 1.0),
        ("b c", "bc", 1.0),  # which b.c is but for punctuation alone
        ("b-c", "b:c", 0.0),  # to ExactComparator each is either of two members
        (1, 1.0, 1.0),
        (1, "1", 0.0),
        (1, True, 0.0),
        ("AB +", "ab+", 1.0),
        ("AB+", "AB-", 0.0),
        (7, "7", 1.0),
        (["x"], ["x"], 1.0),
        (None, None, 1.0),
        (None, "O+", 0.0),
    ],
)
def test_a_value_is_the_member_that_it_is(gt, pred, similarity):
    assert ENUM.compare(gt, pred) == similarity
    assert ENUM.compare(pred, gt) == similarity
    ready = [ENUM.prepare(gt), ENUM.prepare(pred)] if None not in (gt, pred) else [0, 1]
    codes = ENUM.keys(ready)
    assert (codes[0] == codes[1]) == (ready[0] == ready[1])


def test_without_members_texts_are_equal_but_for_case_and_white_space():
    assert EnumComparator().compare(" Straße 1", "STRASSE1") == 1.0
    assert EnumComparator().compare("a-b", "ab") == 0.0
    assert EnumComparator(members=("a-b",)).config == {"members": ("a-b",)}


def test_members_are_a_list():
    with pytest.raises(KeywordError, match='members is "ab", expected a list of values'):
        EnumComparator(members="ab")


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("10.0.0.1", "100.0.1", 0.0),
        ("a.b@x.org", " A.B@X.org\n", 1.0),
        ("10:30", "10: 30", 0.0),
        (5, 5.0, 1.0),
        (5, "5", 1.0),
        (1, True, 0.0),
    ],
)
def test_case_and_outer_white_space_alone_are_nothing(gt, pred, similarity):
    assert CaseInsensitiveComparator().compare(gt, pred) == similarity


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("INV-1001", "inv 1001", 1.0),
        ("RE-2024-0815", "RE20240815", 1.0),
        ("#10472", "10472", 1.0),
        ("10472", 10472, 1.0),
        ("AB -", "ab-", 1.0),
        ("Paid.", "paid", 1.0),
        ("O+", "O-", 0.0),
        ("C++", "C#", 0.0),
        ("12/34", "1/234", 0.0),
        ("12/34", "12-34", 1.0),
        ("FR14 2004 3M02 606", "FR1420043M02606", 1.0),
        ("A1B 2", "A1 B2", 1.0),
        ("10.0.0.1", "100.0.1", 0.0),
        ("10²", "102", 0.0),
        ("5 m²", "5m2", 1.0),
        ("10472", 10473, 0.0),
        ("abc", "abc\0", 0.0),
        ("ab12", "ab12\0 12", 0.0),
        ("ab\0", "ab\0", 1.0),
    ],
)
def test_only_what_separates_is_left_out_where_that_is_asked_for(gt, pred, similarity):
    comparator = ExactComparator(only_separators=True)

    gt_prepared, pred_prepared = map(comparator.prepare, (gt, pred))
    assert comparator.compare(gt, pred) == similarity
    assert (
        comparator.similarities([gt_prepared, pred_prepared], [pred_prepared, gt_prepared]).tolist()
        == [similarity] * 2
    )
    first, second = comparator.keys([gt_prepared, pred_prepared]).tolist()
    assert first == second or not similarity


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("AB-1/2", "AB 12", 0.0),
        ("12/345", "12345", 0.0),
        ("12/345", "12-345", 1.0),
        ("1.2.3", "123", 0.0),
        ("12 345", "12345", 1.0),
        ("2024/001", "2024001", 1.0),
        ("BE 0123.456.789", "BE0123456789", 1.0),
    ],
)
def test_marks_in_a_short_number_are_no_separators(gt, pred, similarity):
    comparator = ExactComparator(only_separators=True)

    assert comparator.compare(gt, pred) == similarity
    assert comparator.compare(pred, gt) == similarity


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("https://Ex.com/Ab", "HTTPS://ex.com/Ab", 1.0),
        ("https://ex.com/Ab", "https://ex.com/ab", 0.0),
        ("http://ex.com?q=A", "http://ex.com?q=a", 0.0),
        ("ex.com/Ab", "ex.com/ab", 0.0),
        ("ftp://Host", "ftp://host", 1.0),
        ("A@B.com", "a@b.com", 1.0),
        ("Report.PDF", "report.pdf", 1.0),
    ],
)
def test_case_counts_behind_the_host_of_an_address(gt, pred, similarity):
    assert CaseInsensitiveComparator(case_of_paths=True).compare(gt, pred) == similarity
    assert CaseInsensitiveComparator().compare(gt, pred) == 1.0


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("E11.9", "E119", 1.0),
        ("s72.001a", "S72001A", 1.0),
        ("E11.9", "E1.19", 0.0),
        ("AE11.9", "AE119", 0.0),  # no code of ICD
        ("11.9", "119", 0.0),
        ("٤٥٦", "456", 1.0),
        ("٤٥٦", "457", 0.0),
    ],
)
def test_codes_of_icd_may_lack_their_dot_and_digits_may_be_of_any_script(gt, pred, similarity):
    comparator = ExactComparator(only_separators=True)

    assert comparator.compare(gt, pred) == similarity
    assert comparator.compare(pred, gt) == similarity


@pytest.mark.parametrize("only_separators", [False, True])
@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        (3, "3", 0.0),
        (True, "true", 0.0),
        (True, 1, 0.0),
        (3, 3.0, 1.0),
        ("A-3", "a-3", 1.0),
        (True, True, 1.0),
    ],
)
def test_the_type_of_a_value_can_count(only_separators, gt, pred, similarity):
    comparator = ExactComparator(only_separators=only_separators, same_type=True)
    prepared = [comparator.prepare(value) for value in (gt, pred)]

    assert comparator.compare(gt, pred) == comparator.compare(pred, gt) == similarity
    assert comparator.similarities(prepared[:1], prepared[1:]).tolist() == [similarity]
    first, second = comparator.keys(prepared).tolist()
    assert (first == second) is (similarity == 1.0)
