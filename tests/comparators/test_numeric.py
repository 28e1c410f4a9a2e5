from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from stickler_cli.comparators import NumericComparator
from stickler_cli.comparators.base import KeywordError
from stickler_cli.comparators.numbers_with_units import measured, with_point, written


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Rs. 500", "500"),
        ("Rs.500", "500"),
        ("No. 12", "12"),
        ("5 p.m.", "5"),
        ("$.50", "0.50"),
        ("USD .50", "0.50"),
        ("pre-tax 100", "100"),
        ("USD-5", "-5"),
        ("$(5)", "-5"),
        ("(5)%", "-5"),
        ("(-5)", "-5"),
        ("(5 USD)", "-5"),
        ("thirty (30)", "30"),
        ("30 (thirty)", "30"),
        (")5(", "5"),
        ("(5", "5"),
        ("+5", "5"),
        ("-.5e-2", "-0.005"),
        ("1e0000000000000001", "10"),
        ("0e99999", "0"),
        ("-0", "0"),
    ],
)
def test_a_number_is_read_from_a_text(text, number):
    assert written(NumericComparator().prepare(text)) == Decimal(number)


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", ".", "-", "--5", "1.2.3", "5-10", "12-", "1/2.3.4", "n/a", "nan", "Infinity"),
        *("1e999999999", "-1e-999999999", "1e" + "9" * 5000, "1e10001", "1e-10001", "9" * 10_002),
        *(True, False, float("nan"), float("inf")),
        *(Decimal("nan"), Decimal("snan"), Decimal("-inf")),
        *(Decimal("1e999999"), 10**10_001, date(2024, 1, 5), {}, []),
    ],
    ids=lambda value: "integer" if isinstance(value, int) else repr(value)[:20],
)
def test_what_states_no_number_matches_nothing_not_even_itself(value):
    assert NumericComparator().prepare(value) is None
    assert NumericComparator().compare(value, value) == 0.0


@pytest.mark.parametrize(
    "value",
    ["1e10000", "1e-10000", 10**10_000, "9" * 10_000],
    ids=["large", "small", "integer", "digits"],
)
def test_numbers_up_to_the_documented_magnitude_are_read(value):
    comparator = NumericComparator(relative_tolerance=0.5, absolute_tolerance=1)

    assert comparator.compare(value, value) == 1.0
    assert comparator.similarities([comparator.prepare(value)], [comparator.prepare(value)]) == [
        1.0
    ]


def test_all_digits_count():
    digits = "1" * 200
    comparator = NumericComparator()

    assert comparator.compare(digits + "1", digits + "2") == 0.0
    assert comparator.compare(f"0.{digits}1", f"0.{digits}2") == 0.0
    assert comparator.compare(f"({digits}1)", f"-{digits}1") == 1.0


def test_a_difference_of_exactly_the_tolerance_is_within_it_in_columns_too():
    comparator = NumericComparator(absolute_tolerance=0.01)
    gts = [comparator.prepare(value) for value in (29.99, 0.07, "x")]
    preds = [comparator.prepare(value) for value in (30, 29.98, "0.08", "29.9799", 10**400)]

    # In floats, 0.08 - 0.07 is above 0.01 and 30 - 29.99 is too.
    assert [comparator.similarities([gt] * 5, preds).tolist() for gt in gts] == [
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]


def test_tiny_numbers_that_floats_cannot_tell_from_0_are_told_apart_in_columns():
    comparator = NumericComparator(relative_tolerance=0.5)
    gts = [comparator.prepare(value) for value in ("1e-5000", 0)]
    preds = [comparator.prepare(value) for value in ("1.4e-5000", "1.6e-5000", 0)]

    # Of 1e-5000 half of that is allowed, of 0 half of 1.
    assert [comparator.similarities([gt] * 3, preds).tolist() for gt in gts] == [
        [1, 0, 0],
        [1, 1, 1],
    ]


def test_both_names_of_one_tolerance_are_refused():
    with pytest.raises(KeywordError, match="tolerance and absolute_tolerance are both") as caught:
        NumericComparator(tolerance=0.1, absolute_tolerance=0.2)

    assert caught.value.keyword == "tolerance"


@pytest.mark.parametrize("keyword", ["relative_tolerance", "absolute_tolerance", "tolerance"])
@pytest.mark.parametrize("value", [True, "0.1", -0.1, float("nan"), float("inf"), []])
def test_a_tolerance_that_is_no_finite_number_of_at_least_0_is_refused(keyword, value):
    with pytest.raises(KeywordError, match="expected a finite number of at least 0") as caught:
        NumericComparator(**{keyword: value})

    assert caught.value.keyword == keyword


def test_numbers_have_keys_by_value_unless_there_is_a_tolerance():
    values = ["1,000", 1000.0, 10**3, 0.1, "0.10", "n/a", 10**20, "100000000000000000000"]
    prepared = [NumericComparator().prepare(value) for value in values]

    assert NumericComparator().keys(prepared).tolist() == [0, 0, 0, 1, 1, 2, 3, 3]
    assert NumericComparator(tolerance=0.1).keys(prepared) is None
    assert NumericComparator(relative_tolerance=0.1).keys(prepared) is None


def test_a_number_is_a_float_wherever_one_is_spelled_so():
    prepare = NumericComparator().prepare

    assert [type(prepare(value)) for value in ("12.50", 7, 10**20, -0.0, 1e300)] == [float] * 5
    assert [type(prepare(value)) for value in ("1e400", 2**53 + 1, "0." + "1" * 20)] == [
        Decimal
    ] * 3


READING = NumericComparator(unit="same", decimal="auto")
CENT = NumericComparator(unit="same", decimal="auto", absolute_tolerance=0.01)


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("1.200,50", 1200.5),
        ("1 250,00 €", "1250 EUR"),
        ("1,200", 1200),
        ("0,125", 0.125),
        ("120.00-", -120),
        ("120.00 CR", "(120.00)"),
        ("CR 120.00", -120.0),
        ("\u221220 °C", "-20 C"),
        ("19%", 0.19),
        ("19 %", "19"),
        ("19%", "19 mg%"),  # a unit that one side leaves out
        ("$5", "USD 5.00"),
        ("USD", "$"),
        ("USD", "US Dollars"),
        ("10 units", "10 U"),
        ("5 mg", 5),
        ("5 tablets", "5 tabs"),
        ("35 m²", "35 m2"),
        ("35 m²", "35 sqm"),
        ("2 10⁹/L", "2 10^9/l"),
        ("2 10^9/L", "2.0 10^9/l"),
        ("1e3", 1000),
        ("$1.25 million", "$1,250,000"),
        ("1,2 Mio. €", "1.200.000 EUR"),
        ("$65k", 65000),
        ("$5/m", "$5"),
        ("12 kg net", "12 kg"),
        ("4.40 mmol/L", "4.4 mmol/l"),
        ("<5", "< 5"),
        ("≤5", "<=5"),
        ("=<5", "<=5"),
        ("=> 5", "at least 5"),
        ("<5", "less than 5"),
        ("~4 mg/L", "ca. 4 mg/L"),
        ("≈ 4", "about 4"),
        ("approx. $500", "~ 500 USD"),
        ("max. 5 kg", "up to 5 kg"),
        ("≥18", "18 or older"),
        ("18+", "at least 18"),
        ("±0.5", "+/- 0.5"),
        ("0.5%", 0.005),
        ("2 weeks", "14 days"),
        ("1 g", "1000 mg"),
        ("0.5 l", "500 ml"),
        ("1.5 h", "90 min"),
        ("2 years", "24 months"),
        ("~1 kg", "about 1000 g"),
        ("8% p.a.", "8 % per year"),
        ("12,34,567", "1234567"),
        ("$5 - 10", "$5-10"),
        ("5 - 10", "5-10"),
        ("1'234'567.5", "1234567.5"),
        ("50%", 0.5),
        ("100%", 1),
        ("as needed", "As needed"),
    ],
)
def test_numbers_are_the_same_however_written(gt, pred):
    assert READING.compare(gt, pred) == READING.compare(pred, gt) == 1.0
    first, other = READING.keys([READING.prepare(gt), READING.prepare(pred)]).tolist()
    assert first == other


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("$5", "€5"),
        ("5 mg", "5 mcg"),
        ("5 mg", "5 g"),
        ("5 mmol", "5 mol"),
        ("35 m²", "35 m"),
        ("10² m", "102 m"),
        ("1·10⁶", "1·106"),
        ("24 V", "24 kV"),
        ("5 mg/mL", "5 mg"),
        ("$5/m", "$5000000"),
        ("5 million", 5),
        ("5 k", "5000"),
        ("300 K", "300,000"),  # thousands in amounts of money only
        ("5 m", "5000000"),
        ("13.5 g/dL", "13.5 g/L"),
        ("<5", "5"),
        ("<5", ">5"),
        ("<5", "≤5"),
        ("~4 mg/L", "4 mg/L"),
        ("ca. 4", "4"),
        ("about 4", "<4"),
        ("500 mg max.", "500 mg"),
        ("±0.5", "0.5"),
        ("0.5%", "0.5"),
        ("7%", 0.7),
        ("1 g", "100 mg"),
        ("30 days", "1 month"),
        ("1 g/l", "1000 mg/l"),
        ("<1 g", "1000 mg"),
        ("8% p.a.", "8% p.m."),
        ("2.0.1", "201"),
        ("v2.0.1 beta", "v2.0.2 beta"),
        ("$5-10", "$5-100"),
        ("5 10", "510"),
        ("5 10 mg", "5 20 mg"),
        ("5 10 x 3", "510 x 3"),
        ("5.3.2024", "532024"),
        ("1,2,3", "123"),
        ("0%", 0.5),
        ("19%", 0.2),
        ("120.00-", 120),
        ("1,200", 1.2),
        ("5 of 6", 5),
        ("USD", "EUR"),
        ("USD", 5),
        ("", 5),
    ],
)
def test_another_number_or_unit_is_another_value(gt, pred):
    assert READING.compare(gt, pred) == READING.compare(pred, gt) == 0.0


@pytest.mark.parametrize("unit", ["same", "ignore"])
@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        (3, "3", 0.0),
        ("3", 3, 0.0),
        (3, 3.0, 1.0),
        ("3", "3.0", 1.0),
        ("3 mg", "3 mg", 1.0),
        ("3 mg", 3, 0.0),
        ("3", "4", 0.0),
        (3, None, 0.0),
        (3, "none", 0.0),
    ],
)
def test_the_type_of_a_number_can_count(unit, gt, pred, similarity):
    comparator = NumericComparator(unit=unit, decimal="auto", same_type=True)
    prepared = [comparator.prepare(value) for value in (gt, pred)]

    assert comparator.compare(gt, pred) == comparator.compare(pred, gt) == similarity
    assert comparator.similarities(prepared[:1], prepared[1:]).tolist() == [similarity]
    first, second = comparator.keys(prepared).tolist()
    assert first == second or similarity == 0.0


def test_a_tolerance_holds_for_amounts_of_a_currency():
    assert CENT.compare("$9.99", "10.00 USD") == 1.0
    assert CENT.compare("$9.99", "10.01 USD") == 0.0
    assert CENT.compare("19%", "0.19") == 1.0
    assert CENT.compare("19%", "0.2") == CENT.compare(0.2, "19%") == 0.0
    assert NumericComparator(unit="same").compare("1,2,3 kg", "123 kg") == 1.0
    assert CENT.keys([CENT.prepare("$9.99")]) is None
    assert CENT.similarities([CENT.prepare("$9.99")] * 2, [9.99, None]).tolist() == [1.0, 0.0]


def test_a_sign_of_decimals_can_be_said():
    comma = NumericComparator(decimal=",")

    assert comma.compare("1.250,5", 1250.5) == 1.0
    assert NumericComparator(unit="same").compare("1,250 kg", "1250") == 1.0
    assert NumericComparator(decimal="auto").compare("$5", "€5,0") == 1.0


def test_an_amount_is_read_with_all_that_stands_beside_it():
    measurement = measured("-1.299,90 R$ per unit")

    assert measurement.number == Decimal("-1299.90")
    assert (measurement.currencies, measurement.units) == ({"brl"}, {"pc"})


@pytest.mark.parametrize(
    ("text", "number"), [("1,234,567", "1234567"), ("12", "12"), ("1'000.5", "1000.5")]
)
def test_thousands_are_told_from_decimals(text, number):
    assert with_point(text) == number


@pytest.mark.parametrize("keyword", ["unit", "decimal"])
def test_other_choices_are_refused(keyword):
    with pytest.raises(ValueError, match=f'{keyword} is "x", expected one of'):
        NumericComparator(**{keyword: "x"})


def test_words_beside_numbers_of_long_texts_are_counted_pair_by_pair():
    lengths = np.array([10, 65, 4_000])  # 5, 32 and 2,000 words at most, of which 32 are looked at
    letters = 2 * (10 + 65 + 4_000)

    assert NumericComparator().steps(lengths, lengths) == letters
    assert NumericComparator(unit="same").steps(lengths, lengths) == letters + 2 * 32 * 32 * 1_000


def test_of_very_many_words_beside_a_number_all_have_to_be_the_same():
    words = [f"{first}{second}ord" for first in "bcdfgh" for second in "aeiouy"]  # 36
    comparator = NumericComparator(unit="same")
    gt = f"5 {' '.join(words)}"

    assert comparator.compare(gt, f"5 {' '.join(reversed(words))}") == 1.0
    assert comparator.compare(gt, f"5 {' '.join(words[:3])}") == 1.0  # the other side says more
    assert comparator.compare(gt, f"5 {words[0][:3]}") == 0.0  # though `bao` abbreviates `baord`
    assert comparator.compare(f"5 {words[0]}", f"5 {words[0][:3]}") == 1.0


MONEY = NumericComparator(absolute_tolerance=0.01, unit="same", decimal="money")


@pytest.mark.parametrize(
    ("gt", "pred", "is_same"),
    [
        ("25.000", "25000", True),
        ("25.000 €", 25000, True),
        ("Rp 25.000", "25000", True),
        ("25.000", "25", False),
        ("25.000", "25,000", True),
        ("1,250", 1250, True),
        ("-1.250", -1250, True),
        ("(1.250)", -1250, True),
        ("0.125", 0.125, True),
        ("1234.567", "1234.567", True),
        ("1.25", 1.25, True),
        ("6.458,07", "6458.07", True),
        ("6.458,07", "6.45807", False),
        ("$1.250 million", 1250000, True),
        ("KWD 1.250", "KWD 1.25", True),
        ("KWD 1.250", "KWD 1250", False),
        ("KWD 1,250", 1250, True),
        ("1.250", "KWD 1.25", True),
        ("1.250", "KWD 1250", False),
        ("1.250 USD", "1.25", False),
    ],
)
def test_a_dot_before_three_digits_of_an_amount_separates_thousands(gt, pred, is_same):
    assert MONEY.compare(gt, pred) == is_same


def test_amounts_in_either_reading_share_a_key():
    comparator = NumericComparator(decimal="money")
    prepared = [comparator.prepare(text) for text in ("1.250", "1250", "1.25 KWD", "12")]

    keys = comparator.keys(prepared).tolist()
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert comparator.compare("1.250 %", "12.50") == 0.0
    assert NumericComparator(unit="same", decimal="money").compare("1.250 %", "12.50") == 0.0


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("25.000", "25000 EUR", 1.0),
        ("25.000", "25 KWD", 1.0),
        ("25.000", "25 EUR", 0.0),
        ("25.000", "25000", 0.0),
        ("5 USD", "5 EUR", 1.0),
    ],
)
def test_a_currency_decides_on_decimals_even_if_units_are_ignored(gt, pred, similarity):
    comparator = NumericComparator(decimal="currency")

    assert comparator.compare(gt, pred) == comparator.compare(pred, gt) == similarity


def test_a_number_is_read_by_itself():
    assert MONEY.read_number("25.000 €") == 25000
    assert MONEY.read_number("none") is None


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("5 mW", "5 MW", 0.0),
        ("100 Mb", "100 MB", 0.0),
        ("100 mb", "100 MB", 1.0),
        ("100 mb", "100 Mb", 1.0),
        ("2 GiB", "2 Gib", 0.0),
        ("64 kB", "64 KB", 1.0),
        ("5'", '5"', 0.0),
        ("5'", "5 ft", 1.0),
        ("5\u2032", "5 feet", 1.0),
        ("5\u2033", '5"', 1.0),
        ("5'", "5", 1.0),
        ("1'000", "1000", 1.0),
        ("5 MHz", "5 mHz", 0.0),
        ("5 MW", "5 MW", 1.0),
        ("5 mw", "5 MW", 1.0),
        ("500 MG", "500 mg", 1.0),
    ],
)
def test_milli_is_not_mega_where_capitals_tell(gt, pred, similarity):
    assert NumericComparator(unit="same", decimal="auto").compare(gt, pred) == similarity


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("25.000", 25, 0.0),
        ("25.000", 25000, 0.0),
        ("25.000", "25,000", 1.0),
        ("25.000 KWD", 25, 1.0),
        ("25.000 EUR", 25000, 1.0),
        ("25.000", "25 KWD", 1.0),
        ("25.000", "25000 EUR", 1.0),
        ("25.000", "25 EUR", 0.0),
        ("12.50", 12.5, 1.0),
    ],
)
def test_a_currency_tells_whether_a_dot_before_three_digits_is_decimal(gt, pred, similarity):
    comparator = NumericComparator(unit="same", decimal="currency", absolute_tolerance=0.01)

    assert comparator.compare(gt, pred) == similarity
    assert comparator.compare(pred, gt) == similarity


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("¥200", "$200", 0.0),
        ("¥200", "JPY 200", 1.0),
        ("200 CNY", "￥200", 1.0),
        ("¥200", "200", 1.0),
        ("200 kr", "200 SEK", 1.0),
        ("200 kr", "200 EUR", 0.0),
        ("200 kr", "¥200", 0.0),
        ("75k", "75,000", 1.0),
        ("5%", "5 bp", 0.0),
        ("15%", "$15", 0.0),
        ("15%", "15 percent", 1.0),
        ("15%", "15", 1.0),
        ("75k", "75", 0.0),
    ],
)
def test_signs_of_several_currencies_are_none_of_the_others(gt, pred, similarity):
    assert MONEY.compare(gt, pred) == similarity
    assert MONEY.compare(pred, gt) == similarity
