"""Numbers with their units, and the other ways to write them."""

from decimal import Decimal

import pytest

from stickler_cli.comparators.numeric import NumericComparator, measured, with_point

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
        ("$5", "USD 5.00"),
        ("USD", "$"),
        ("USD", "US Dollars"),
        ("10 units", "10 U"),
        ("5 mg", 5),
        ("5 tablets", "5 tabs"),
        ("35 m²", "35 m2"),
        ("35 m²", "35 sqm"),
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
        ("as needed", "As needed"),
    ],
)
def test_numbers_are_the_same_however_written(gt, pred):
    assert READING.compare(gt, pred) == READING.compare(pred, gt) == 1.0
    one, other = READING.keys([READING.prepare(gt), READING.prepare(pred)]).tolist()
    assert one == other


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("$5", "€5"),
        ("5 mg", "5 mcg"),
        ("5 mg", "5 g"),
        ("5 mmol", "5 mol"),
        ("35 m²", "35 m"),
        ("24 V", "24 kV"),
        ("5 mg/mL", "5 mg"),
        ("$5/m", "$5000000"),
        ("5 million", 5),
        ("5 k", "5000"),
        ("5 m", "5000000"),
        ("13.5 g/dL", "13.5 g/L"),
        ("<5", "5"),
        ("19%", 0.2),
        ("19%", "19 mg%"),
        ("120.00-", 120),
        ("1,200", 1.2),
        ("5 of 6", 5),
        ("USD", "EUR"),
        ("USD", 5),
        ("", 5),
    ],
)
def test_another_number_or_unit_is_another_value(gt, pred):
    expected = 1.0 if (gt, pred) == ("19%", "19 mg%") else 0.0  # a unit that one side leaves out

    assert READING.compare(gt, pred) == READING.compare(pred, gt) == expected


def test_a_tolerance_holds_for_amounts_of_a_currency():
    assert CENT.compare("$9.99", "10.00 USD") == 1.0
    assert CENT.compare("$9.99", "10.01 USD") == 0.0
    assert CENT.keys([CENT.prepare("$9.99")]) is None
    assert CENT.similarities([CENT.prepare("$9.99")] * 2, [9.99, None]).tolist() == [1.0, 0.0]


def test_a_sign_of_decimals_can_be_said():
    comma = NumericComparator(decimal=",")

    assert comma.compare("1.250,5", 1250.5) == 1.0
    assert NumericComparator(unit="same").compare("1,250 kg", "1250") == 1.0
    assert NumericComparator(decimal="auto").compare("$5", "€5,0") == 1.0


def test_an_amount_is_read_with_all_that_stands_beside_it():
    found = measured("-1.299,90 R$ per unit")

    assert found.number == Decimal("-1299.90")
    assert (found.currencies, found.units) == ({"brl"}, {"pc"})


@pytest.mark.parametrize(
    ("text", "number"), [("1,234,567", "1234567"), ("12", "12"), ("1'000.5", "1000.5")]
)
def test_thousands_are_told_from_decimals(text, number):
    assert with_point(text) == number


@pytest.mark.parametrize("keyword", ["unit", "decimal"])
def test_other_choices_are_refused(keyword):
    with pytest.raises(ValueError, match=f'{keyword} is "x", expected one of'):
        NumericComparator(**{keyword: "x"})
