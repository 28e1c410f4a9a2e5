import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from stickler_cli.comparators.code import CodeComparator
from stickler_cli.comparators.date import DateComparator
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.compare.result import Outcome
from stickler_cli.core.problems import UsageError
from stickler_cli.records.codec import decode
from stickler_cli.records.run_format import ErrorClassesRecord
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.causes import ErrorCounts
from stickler_cli.score.errors.confusions import (
    LONGEST_DATE,
    MOST_BITS,
    day_and_month_swapped,
    find_slip,
    find_slip_of_numbers,
    part_of_date,
    plain_text,
    same_date,
)
from stickler_cli.score.errors.error_classes import (
    LONGEST,
    NEIGHBOURS,
    SIBLINGS,
    ErrorClass,
    ValuePlaces,
    classify,
    is_telling,
    origins,
    searchable_form,
)
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.sums import sum_counts
from .batches import a_list, an_object, batch

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "documents.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
    # What does not count in the object around it is an error all the same.
    if "x-aws-stickler-aggregate" not in line
]

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}
NUMBER = {"type": "number"}


def classes(schema, gt, pred):
    """Return the errors of a document as (path, class)."""
    errors = batch(compile_schema(schema), {"": (gt, pred)}).errors(0)
    return [(error.path, error.error_class.value) for error in errors]


def of_values(gt, pred):
    """Return the class of two values in a document without other values."""
    return classify(Outcome.FD, ("a",), gt, pred, ValuePlaces({"a": gt})).value


ALIKE = {
    "format": [
        ("ACME, Inc.", "Acme Inc"),
        ("two  words", "two\nwords"),
        ("12:30", "12.30"),
        ("1.50 kg", "1,50 kg"),
        ("INV-2024-17", "inv 2024/17"),
        ("2024-01-05", "5 January 2024"),
        ("2024-01-05", "05.01.24"),
        ("2024-01-05", "01/05/2024"),
        ("2024-01-05", "20240105"),
        ("Jan 2024", "2024-01"),
        (1250, "1,250.00"),
        ("$1,250", "1250.00 USD"),
        ("(12.50)", "-12.5"),
        (1234.56, "1.234,56"),
        (442237.9, "442.237,90"),
        ("442237.90", "442.237,90 EUR"),
        ("12,5", 12.5),
        (1250, "1.250"),
        (1, 1.0),
        (True, "True"),
        ("Straße", "STRASSE"),
        ("naïve-test", "NAÏVE TEST"),
        ("x" * LONGEST, "X" * LONGEST),
    ],
    "look_alike": [
        ("INV-100", "INV-1O0"),
        ("Bill", "BiII"),
        ("modern", "modem"),
        ("vvhite", "white"),
        ("SB-25", "58-ZS"),
        ("Pomaшка", "Ромашка"),  # noqa: RUF001 - the second is Cyrillic throughout
        ("ΑΒΕ", "ABE"),  # noqa: RUF001 - the first is Greek
        ("Müller", "Muller"),
        ("データ", "デｰタ"),
        ("コーヒー", "コ-ヒ-"),
        ("ＡＢＣ-1", "ABC-1"),  # noqa: RUF001 - fullwidth
        (105, "I05"),
    ],
    "digit_slip": [
        (-5, 5),
        (1024, 1042),
        (1024, 1724),
        (1024, 104),
        (1024, 10024),
        (1024, 10247),
        (5, 5.1),
        (12, 1.3),
        (12, 12.03),
        ("12.00", "12.03"),
        (12.5, 12.65),
        (100, 200),
        ("$1,250.00", "$1,260.00"),
        ("INV-1023", "INV-1032"),
        ("A5", "A7"),
        ("2024-01-05", "2024-01-06"),
        (2**70, 2**70 + 1),
    ],
    "decimal_shift": [
        (554.91, 55491),
        (1250, 125),
        (1250, 12.5),
        ("7%", 0.07),
        ("Rs. 5.00", "Rs. 500"),
        ("1.50 kg", "150 kg"),
        (1e300, 1e-300),
        (-554.91, 55491),
    ],
    "day_month_swapped": [
        ("2026-06-01", "2026-01-06"),
        ("05.01.2024", "01.05.2024"),
        ("05/01/24", "01/05/2024"),
        ("June 1, 2026", "Jan 6, 2026"),
        ("2020-03-04", "03 April 2020"),
        ("4 March 2020", "April 3, 2020"),
        ("2020-03-04", "2020 April 3"),
        ("Mon 1 June 2026", "6th January 2026"),
    ],
    "partial_date": [
        ("2024-01-05", "01-05"),
        ("5 January 2024", "5 January"),
        ("2024-01-05", "2024-01"),
        ("05.01.2024", "01/2024"),
    ],
    "other": [
        ("Ulm", "Rome"),
        (5, 7),
        (5.0, 7.0),
        (0, 12),
        (120, 345),
        (1234, 12),
        (1e300, 2e-300),
        (1234, 1423),
        (1234, 1354),
        (2**200, 1.5),
        ("Ulm", "?!"),
        ("Room 5 B", "Room B"),
        ("05/01/2024", "3 May"),
        ("Room 12", "Hall 12"),
        ("Room 12", "Room 345"),
        ("7", "B"),
        ("!!", "??"),
        ("!!", "..."),
        ("की", "का"),
        (True, False),
        ("x" * LONGEST + "y", "y" + "x" * LONGEST),
        ("5 and 6 of the first row and nothing but that", "6 of the 5th row, and then much more"),
        ([1, 2], [3, 4]),
    ],
    "wrong_kind": [
        ({"city": "Ulm"}, "Ulm"),
        ([1], {"a": 1}),
        (["Ulm"], "Ulm"),
        (12.5, "n/a"),
        (12.5, True),
        (True, "yes"),
        ("n/a", "n/a"),
        (True, 1),
    ],
}
"""Pairs of values with a class that does not depend on which of the two is the ground truth."""


@pytest.mark.parametrize(
    ("gt", "pred", "expected"),
    [(*pair, name) for name, pairs in ALIKE.items() for pair in pairs],
)
def test_a_pair_of_values_has_the_class_of_its_difference_either_way(gt, pred, expected):
    assert of_values(gt, pred) == expected
    assert of_values(pred, gt) == expected


@pytest.mark.parametrize(
    ("fragment", "whole"),
    [
        ("Acme", "Acme International"),
        ("A", "Acme"),
        ("international", "ACME International"),
        ("INV-12", "INV-123"),
        ("Acme Intern…", "Acme International"),
        ("x" * LONGEST, "x" * LONGEST + "y"),
        ("x" * LONGEST, "y" + "x" * LONGEST),
    ],
)
def test_a_part_of_the_ground_truth_is_truncated_and_the_reverse_an_overrun(fragment, whole):
    assert of_values(whole, fragment) == "truncated"
    assert of_values(fragment, whole) == "overrun"


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        ("2024-01-05", "2024-05-02"),
        ("2024-01-05", "2025-05-01"),
        ("2024-01-05", "02-05"),
        ("12:30", "30:12"),
        ("2024-01-05", "around 2024-05-01, or later"),
    ],
)
def test_other_dates_and_times_are_not(gt, pred):
    assert of_values(gt, pred) in ("other", "digit_slip", "overrun")


def test_numbers_of_more_digits_than_python_writes_are_other():
    assert of_values(2**20_000, 2**20_000 + 1) == "other"


def test_what_one_side_lacks_is_missed_or_invented():
    schema = an_object(a=EXACT, b=EXACT, o=an_object(c=EXACT), t=a_list(EXACT), u=a_list(EXACT))

    assert classes(
        schema, {"a": "x", "o": {"c": "y"}, "t": ["one"]}, {"b": "z", "u": ["two"], "new": 1}
    ) == [
        ("a", "missed_value"),
        ("b", "invented_value"),
        ("o", "missed_object"),
        ("o.c", "missed_value"),
        ("t[0]", "missed_item"),
        ("u[0]", "invented_item"),
        ("new", "invented_value"),
    ]


def test_a_value_in_a_field_that_should_be_empty_is_swapped_if_it_is_another_s():
    schema = an_object(net=NUMBER, gross=NUMBER)

    assert classes(schema, {"net": 125}, {"gross": 125.0, "Net": 125}) == [
        ("net", "missed_value"),
        ("gross", "swapped"),
        ("Net", "swapped"),
    ]


def test_a_swap_wins_over_a_slip():
    schema = an_object(net=NUMBER, gross=NUMBER)

    assert classes(schema, {"net": 1015, "gross": 1115}, {"net": 1115, "gross": 1115}) == [
        ("net", "swapped")
    ]


def test_objects_that_changed_places_are_swapped_with_what_is_telling_in_them():
    place = an_object(city=EXACT, zip=EXACT)
    schema = an_object(billing=place, shipping=place)
    ulm, rome = {"city": "Ulm", "zip": "89073"}, {"city": "Rome", "zip": "00118"}

    assert classes(
        schema, {"billing": ulm, "shipping": rome}, {"billing": rome, "shipping": ulm}
    ) == [
        ("billing", "swapped"),
        ("billing.city", "other"),  # a short name may be any city
        ("billing.zip", "swapped"),
        ("shipping", "swapped"),
        ("shipping.city", "other"),
        ("shipping.zip", "swapped"),
    ]


ROWS = an_object(rows=a_list({**an_object(sku=EXACT, name=EXACT, price=NUMBER, unit=EXACT)}))


def row(index, **changes):
    return {
        "sku": f"S-{index}",
        "name": f"n{index}n",
        "price": 700.01 + index,
        "unit": "kg",
        **changes,
    }


@pytest.mark.parametrize("distance", [1, 2, NEIGHBOURS - 1, NEIGHBOURS, NEIGHBOURS + 1])
@pytest.mark.parametrize("towards", [-1, 1])
def test_a_value_of_a_near_row_is_swapped_and_of_a_far_one_not(distance, towards):
    row_index, rows = NEIGHBOURS + 1, [row(index * 11) for index in range(2 * NEIGHBOURS + 3)]
    wrong_index = row_index + towards * distance
    wrong = {**rows[row_index], "price": rows[wrong_index]["price"]}

    classes_found = classes(
        ROWS, {"rows": rows}, {"rows": [*rows[:row_index], wrong, *rows[row_index + 1 :]]}
    )

    expected = "swapped" if distance <= NEIGHBOURS else "other"
    assert classes_found == [(f"rows[{row_index}].price", expected)]


def test_units_and_quantities_are_not_looked_for_in_other_rows():
    gt = {"rows": [row(1), row(22, unit="m")]}

    assert classes(ROWS, gt, {"rows": [row(1), row(22, unit="kg")]}) == [("rows[1].unit", "other")]


def test_an_item_with_half_of_its_fields_right_has_errors_and_another_is_wrong():
    half, less = row(1, sku="Z", name="Z"), row(1, sku="Z", name="Z", price=None)
    rows = {"rows": [row(1)]}

    assert classes(ROWS, rows, {"rows": [half]}) == [
        ("rows[0]", "item_with_errors"),
        ("rows[0].sku", "other"),
        ("rows[0].name", "other"),
    ]
    assert classes(ROWS, rows, {"rows": [less]}) == [
        ("rows[0]", "wrong_item"),
        ("rows[0].sku", "other"),
        ("rows[0].name", "other"),
        ("rows[0].price", "missed_value"),
    ]


def test_values_of_an_invented_item_are_invented_wherever_they_stand():
    gt = {"rows": [row(1)]}

    assert classes(ROWS, gt, {"rows": [row(1), row(1, unit="m")]}) == [
        ("rows[1]", "invented_item"),
        *((f"rows[1].{name}", "invented_value") for name in ("sku", "name", "price", "unit")),
    ]


@pytest.mark.parametrize(
    ("neighbours_of_tuple", "expected"),
    [(["zeta", "alpha 1024"], "swapped"), (["alpha 1024"], "wrong_item")],
)
def test_a_position_of_a_tuple_is_looked_for_at_the_same_position_of_others(
    neighbours_of_tuple, expected
):
    pair = {"type": "array", "prefixItems": [EXACT, EXACT]}
    schema = an_object(rows=a_list(an_object(id=EXACT, name=EXACT, pair=pair)))
    rows = [
        {"id": "1", "name": "n", "pair": neighbours_of_tuple},
        {"id": "2", "name": "m", "pair": ["o", "beta"]},
    ]
    wrong = {**rows[1], "pair": ["o", "alpha 1024"]}

    classes_found = classes(schema, {"rows": rows}, {"rows": [rows[0], wrong]})

    assert classes_found == [("rows[1].pair[1]", expected)]


def test_only_so_many_fields_of_a_map_are_looked_at():
    schema = {"type": "object", "additionalProperties": NUMBER}
    gt = {f"k{index}": 1000 + 37 * index for index in range(SIBLINGS + 2)}
    last, unseen = f"k{SIBLINGS + 1}", f"k{SIBLINGS}"

    assert classes(schema, gt, {**gt, last: gt["k1"]}) == [(last, "swapped")]
    assert classes(schema, gt, {**gt, last: gt[unseen] + 0}) == [(last, "other")]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1250, "1250"),
        (12.5, "12.5"),
        (-1250.0, "-1250"),
        (1e22, "10000000000000000000000"),
        (2**140, hex(2**140)),
        (-(2**140), hex(-(2**140))),
    ],
)
def test_a_text_may_be_that_of_a_number_elsewhere(number, text):
    places = ValuePlaces({"code": "A-1", "total": number, "tax": 7})

    assert places.find_other_place(text, ("code",))
    assert not places.find_other_place(text, ("total",))
    assert not places.find_other_place("1251", ("code",))
    assert not places.find_other_place("2b", ("code",))


def test_a_value_that_stands_for_a_list_of_one_is_found_in_its_place():
    schema = an_object(tags=a_list(EXACT), title=EXACT)

    assert classes(
        schema, {"tags": "red wine", "title": "Menu"}, {"tags": ["blue"], "title": 7}
    ) == [
        ("tags[0]", "missed_item"),
        ("tags[0]", "invented_item"),
        ("title", "wrong_kind"),
    ]
    document = {"rows": {"a": "same thing"}, "b": "other thing"}
    assert (
        classify(Outcome.FD, ("rows", 0, "a"), "x", "other thing", ValuePlaces(document))
        is ErrorClass.OTHER
    )


def counted(*pairs):
    schema = compile_schema(ROWS)
    evaluation = Evaluation()
    for gt, pred in pairs:
        evaluation.add(batch(schema, {"": (gt, pred)}))
    return evaluation


PAIRS = (
    ({"rows": [row(1), row(22)]}, {"rows": [row(1, name="N-1-N", price=7010.1)]}),
    ({"rows": [row(1)]}, {"rows": [row(1, price=7010.1)], "new": 1}),
    ({"rows": [row(1)]}, {"rows": [row(1)]}),
)


def test_an_evaluation_counts_classes_overall_and_by_field():
    evaluation = counted(*PAIRS)

    assert evaluation.to_dict()["error_classes"] == {
        "total": 7,
        "overall": {"missed_value": 4, "invented_value": 1, "decimal_shift": 2},
        "fields": {
            "*": {"invented_value": 1},
            "rows.name": {"missed_value": 1},
            "rows.price": {"missed_value": 1, "decimal_shift": 2},
            "rows.sku": {"missed_value": 1},
            "rows.unit": {"missed_value": 1},
        },
        "units": {
            "total": 1,
            "overall": {"missed_item": 1},
            "fields": {"rows": {"missed_item": 1}},
        },
    }
    assert list(evaluation.errors.overall().items()) == [
        (ErrorClass.MISSED_VALUE, 4),
        (ErrorClass.DECIMAL_SHIFT, 2),
        (ErrorClass.INVENTED_VALUE, 1),
    ]


def test_wrong_values_are_as_many_as_leaves_counts():
    for case in CASES:
        documents = batch(compile_schema(case["schema"]), {"": (case["gt"], case["pred"])})
        errors = ErrorCounts()
        errors.add(documents, None)
        lost = sum_counts(documents.counts)[()].counts("leaves").lost
        assert errors.overall().total() == lost, case["name"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"a": {"typo": 1}}, '/fields/a/typo: the value is "typo", expected one of missed_item'),
        ({"a": {"other": -1}}, "/fields/a/other: the value is -1, expected a whole number"),
        ({"a[0]": {}}, 'the value is "a[0]", expected a field path'),
    ],
)
def test_counts_that_are_none_are_refused_with_their_place(fields, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        decode(ErrorClassesRecord, {"fields": fields}, "run.json")


def test_the_page_names_every_class():
    page = (Path(__file__).parents[2] / "docs" / "error-classes.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)

    assert sorted(set(named)) == sorted(ErrorClass)


def test_a_value_by_itself_is_looked_for_as_a_list_of_one():
    places = ValuePlaces({"codes": "ABC123", "other": "XYZ789", "more": ["QRS456"]})

    assert places.find_other_place("XYZ789", ("codes", 0))
    assert places.find_other_place("QRS456", ("codes", 0))
    assert not places.find_other_place("XYZ789", ("codes", 1))


def test_what_is_missed_or_invented_is_a_value_or_an_object():
    nowhere = ValuePlaces(None)
    for outcome, word in ((Outcome.FN, "missed"), (Outcome.FA, "invented")):
        for value, kind in (({"b": "long enough"}, "object"), ("long enough", "value")):
            sides = (value, None) if outcome is Outcome.FN else (None, value)
            assert classify(outcome, ("a",), *sides, nowhere).value == f"{word}_{kind}"


def test_a_value_is_looked_for_in_the_same_place_of_every_object_around_it():
    rows = [{"o": {"a": "First One", "b": "Second One"}}, {"o": {"a": "Third One"}}]
    places = ValuePlaces({"rows": rows, "a": "Fourth One", "o": {"a": {"rows": "Fifth One"}}})
    path = ("rows", 0, "o", "a")

    found_paths = [
        places.find_other_place(text, path) for text in ("Second One", "Third One", "Fourth One")
    ]
    assert found_paths == [("rows", 0, "o", "b"), ("rows", 1, "o", "a"), None]
    # What is known of the fields of one object is not taken for those of another.
    two = ValuePlaces(
        {"x": {"a": {"k": "Same Thing"}, "b": {}}, "y": {"a": {}, "b": {"k": "other"}}}
    )
    assert two.find_other_place("Same Thing", ("x", "b", "k"))
    assert not two.find_other_place("Same Thing", ("y", "z", "k"))
    # A value of the same name a level deeper is in no other object of the same path.
    assert not ValuePlaces({"a": "One Thing", "b": {"a": "Other Thing"}}).find_other_place(
        "Other Thing", ("a",)
    )


def test_a_value_that_several_neighbours_have_is_of_none_of_them():
    places = ValuePlaces(
        {"buyer": "Ada Byron", "payer": "Ada Byron", "seller": "Bo Diaz-Ruiz", "x": 1}
    )

    assert places.find_other_place("Ada Byron", ("seller",)) is None
    assert places.find_other_place("Ada Byron", ("payer",)) == ("buyer",)
    gt = {"amount": 441.5, "total": 441.5, "price": 31.5}
    assert [*origins(gt, {**gt, "price": 441.5}, ["price"])] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pending", False),
        ("not applicable", False),
        ("Not applicable", False),  # one word of two begins with a capital
        ("approved with conditions", True),  # 22 letters
        ("Ada Byron", True),
        ("Bo Diaz", False),  # 6 letters
        ("2024", False),
        ("2124", True),
        ("10000", False),
        ("120", False),
        ("1200", True),  # four digits, of which two are significant
        ("12050", True),
        ("12.5", True),
        ("ABCDEFGH12345678", True),
        ("\u682a\u5f0f\u4f1a\u793e", True),  # four signs
        ("\u6771\u4eac\u90fd", False),
    ],
)
def test_a_value_is_telling_if_another_field_hardly_has_it_by_chance(text, expected):
    assert is_telling(text) is expected


def test_of_an_object_the_first_values_say_whether_it_is_telling():
    assert searchable_form({"a": ["x", {"b": "Ada Byron"}]})
    assert searchable_form({"a": "x", "b": []}) is None
    assert (
        searchable_form({f"k{index}": "x" for index in range(2 * SIBLINGS)} | {"b": "Ada Byron"})
        is None
    )


def test_objects_and_lists_are_looked_for_in_a_hundred_fields_too():
    document = {"a": ["x"], **{f"k{index}": [index + 0.123] for index in range(SIBLINGS)}}

    wanted = SIBLINGS - 2, SIBLINGS - 1
    found_paths = [
        ValuePlaces(document).find_other_place([value + 0.123], ("a",)) for value in wanted
    ]
    assert found_paths == [(f"k{SIBLINGS - 2}",), None]


def test_limits_of_what_is_read_are_the_longest_that_is():
    assert plain_text(2**MOST_BITS - 1).isdecimal()
    assert plain_text(2**MOST_BITS) == hex(2**MOST_BITS)
    for length, same in ((LONGEST_DATE, True), (LONGEST_DATE + 1, False)):
        assert same_date("2024-01-05".ljust(length), "5 January 2024") is same


@pytest.mark.parametrize(
    ("relation", "first", "second", "holds"),
    [
        # A date without its year is part of one of any century.
        (part_of_date, "2000-01-05", "5 January", True),
        # A number above all days is the year where it stands.
        (day_and_month_swapped, "32-01-05", "32-05-01", True),
        (day_and_month_swapped, "n/a", "05/01/2024", False),
        # Digits alone are no date.
        (same_date, "20240105", "5 January 2024", False),
    ],
)
def test_whether_two_texts_are_related_as_dates_does_not_depend_on_their_order(
    relation, first, second, holds
):
    assert bool(relation(first, second)) is holds
    assert bool(relation(second, first)) is holds


def test_numbers_that_differ_by_a_power_of_ten_are_confused_either_way():
    assert find_slip_of_numbers(Decimal(12), Decimal(1200)) == SHIFTED
    assert find_slip_of_numbers(Decimal(1200), Decimal(12)) == SHIFTED


SHIFTED = "the decimal point is shifted"

SLIPS = [
    (5.0, -5.0, "the sign differs"),
    (120, "(120.00)", "the sign differs"),
    ("-5", "5", "the sign differs"),
    (7830.80, 7830.81, "off by 0.01"),
    (7830.80, 7831.80, "off by 1"),
    ("$1,250.00", "$1,251.00", "off by 1"),
    (1250, 1260, "one digit differs"),
    (1250, 150, "one digit is missing"),
    (1250, 12550, "there is one digit too many"),
    (1250, 1520, "two digits are exchanged"),
    (1250, -1260, "one digit differs, and the sign differs"),
    ("INV-1023", "INV-1032", "two digits are exchanged"),
    ("INV-1023", "INV-103", "one digit is missing"),
    ("A1B23", "A12B3", "the same digits are in other positions"),
    (5, 7, ""),
    (1250, 3799, ""),
    ("INV-1023", "INV-4567", ""),
    ("INV", "INV-1", ""),
    ("pen", "pet", ""),
]


@pytest.mark.parametrize(("gt", "pred", "words"), SLIPS)
def test_a_slip_is_told_in_words(gt, pred, words):
    assert find_slip(gt, pred) == words


MONEY = NumericComparator(unit="same", decimal="money")
DAY_FIRST = DateComparator(dayfirst=True)


@pytest.mark.parametrize(
    ("comparator", "gt", "pred", "expected"),
    [
        (MONEY, "25.000", "25", "decimal_shift"),
        (MONEY, "25.000 EUR", 25, "decimal_shift"),
        (MONEY, "6.458,07", "6.45807", "decimal_shift"),
        (MONEY, "0.5%", "0.5", "decimal_shift"),
        (MONEY, "<5", 5, "other"),
        (MONEY, "~4", "<4", "other"),
        (NumericComparator(same_type=True), 3, "3", "format"),
        (NumericComparator(unit="same", same_type=True), 3, "3.0", "format"),
        (MONEY, "25.000", "26.000", "digit_slip"),
        (MONEY, "25.000", "none", "other"),
        (DAY_FIRST, "06/08/2025", "2025-06-08", "day_month_swapped"),
        (DAY_FIRST, "06/08/2025", "08/06/2025", "day_month_swapped"),
        (DateComparator(dayfirst=False), "07/04/2024", "4 July 2023", "other"),
        (CodeComparator(language="sql"), "a > 3", "a < 3", "other"),
    ],
)
def test_values_are_told_apart_as_their_field_reads_them(comparator, gt, pred, expected):
    places = ValuePlaces({"a": gt})

    assert classify(Outcome.FD, ("a",), gt, pred, places, comparator).value == expected
