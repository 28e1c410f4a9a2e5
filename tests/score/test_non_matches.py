import pytest

from stickler_cli.compare.plan import Options
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.comparison_view import non_match
from stickler_cli.score.errors.causes import Causes, cause_key, split_cause_keys
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import (
    Error,
    PathText,
    columns_of_record,
    describe_difference,
    describe_shortfall,
    error_of,
    error_record,
)
from .batches import TEXT, a_list, an_object, batch, evaluate

OTHER = ErrorClass.OTHER


def errors_of(schema, gt, pred, **options):
    """Return all errors of a document."""
    return batch(compile_schema(schema), {"": (gt, pred)}, Options(**options)).errors(0)


def list_outer_errors(schema, gt, pred, **options):
    """Return the errors that are not inside another, as (path, type, ground truth, prediction)."""
    documents = batch(compile_schema(schema), {"": (gt, pred)}, Options(**options))
    errors = [error for error in documents.errors(0) if error.inside is None]
    (outermost,) = documents.outermost_errors
    assert list(map(without_inside, errors)) == [
        without_inside(error_of("", error)) for error in outermost
    ]
    return [(error.path, error.outcome, error.gt, error.pred) for error in errors]


def without_inside(error):
    """Return an error without its cause and the number of errors inside it."""
    return error._replace(values=None, cause="")


def list_inner_errors(schema, gt, pred):
    """Return the errors of values, and the errors of items and objects that contain them.

    Errors of values are (path, type, path of the containing error), others (path, number of errors
    inside, path of the containing error). The numbers must add up to the errors inside.
    """
    errors = errors_of(schema, gt, pred)
    values = [error for error in errors if error.values is None]
    wholes = [error for error in errors if error.values is not None]
    assert sum(whole_error.values for whole_error in wholes) == sum(
        error.inside is not None for error in values
    )
    entries = [(error.path, error.outcome, error.inside) for error in values]
    return entries, [
        (whole_error.path, whole_error.values, whole_error.inside) for whole_error in wholes
    ]


FD, FA, FN = "FD", "FA", "FN"


def test_each_kind_of_error_is_listed_in_schema_order():
    schema = an_object(c=TEXT, b=TEXT, a=TEXT)

    assert list_outer_errors(schema, {"a": "x", "b": "y"}, {"b": "z", "c": "w"}) == [
        ("c", FA, None, "w"),
        ("b", FD, "y", "z"),
        ("a", FN, "x", None),
    ]


LINES = an_object(lines=a_list(an_object(sku=TEXT, name=TEXT, unit=TEXT, note=TEXT)))


def line(sku, name, unit="pc", **rest):
    return {"sku": sku, "name": name, "unit": unit, **rest}


def differing(item_schema, gt, pred, **options):
    """Return the names of the fields in which two paired list items differ.

    The pair is a false discovery.
    """
    entry, *_ = errors_of(
        an_object(lines=a_list(item_schema)), {"lines": [gt]}, {"lines": [pred]}, **options
    )
    return entry.differing


STRICT = {"x-aws-stickler-match-threshold": 1.0}


def test_an_item_below_its_threshold_names_the_fields_that_differ():
    schema = {**an_object(e=TEXT, d=TEXT, c=TEXT, b=TEXT, a=TEXT), **STRICT}
    gt, pred = {"a": "x", "c": "y", "d": "z"}, {"a": "x", "c": "n", "e": "w"}

    entry, *_ = errors_of(an_object(lines=a_list(schema)), {"lines": [gt]}, {"lines": [pred]})

    # Invented, missed and wrong, in schema order; `b` neither has. One of four is right.
    assert entry.differing == ("e", "d", "c")
    assert entry.reason == "below threshold (0.250 < 1)"
    assert entry.explanation == "below threshold (0.250 < 1): e, d, c differ"


def test_one_field_that_differs_is_told_as_one():
    schema = {**an_object(a=TEXT, **{"b c": TEXT}), **STRICT}
    gt, pred = {"a": "x", "b c": "y"}, {"a": "x", "b c": "z"}

    entry, *_ = errors_of(an_object(lines=a_list(schema)), {"lines": [gt]}, {"lines": [pred]})

    assert entry.explanation == 'below threshold (0.500 < 1): ["b c"] differs'


def test_undeclared_keys_of_an_item_differ_last():
    schema = {**an_object(b=TEXT, a=TEXT), **STRICT}
    gt, pred = {"a": "x", "b": "y", "was": 1}, {"new": 1, "a": "x", "b": "z"}

    assert differing(schema, gt, pred) == ("b", "new")
    assert differing(schema, gt, pred, extra_fields="ignore") == ("b",)


def test_only_pairs_of_items_name_fields_that_differ():
    gt, pred = line("1", "bolt", "m"), line("987", "gear", "kg")
    nested = an_object(o=an_object(a=TEXT, b=TEXT))
    half, equal_half = {"a": "x", "b": "z"}, {"a": "x", "b": "y"}

    unpaired = errors_of(LINES, {"lines": [gt]}, {"lines": [pred]})
    nested_errors = errors_of(nested, {"o": equal_half}, {"o": half})

    assert {entry.differing for entry in (*unpaired, *nested_errors)} == {()}


def test_wrong_values_of_an_item_below_its_threshold_are_entries_inside_of_it():
    gt = [line("1", "bolt"), line("2", "gear", note="M4")]
    pred = [line("2", "nut", "kg", extra=1), line("1", "bolt")]

    # The second: the number is right, name and unit are wrong, the note is missed, a key invented.
    assert list_inner_errors(LINES, {"lines": gt}, {"lines": pred}) == (
        [
            ("lines[1].name", FD, "lines[1]"),
            ("lines[1].unit", FD, "lines[1]"),
            ("lines[1].note", FN, "lines[1]"),
            ("lines[0].extra", FA, "lines[1]"),
        ],
        [("lines[1]", 4, None)],
    )


def test_values_of_what_one_side_lacks_are_entries_inside_of_the_outermost():
    schema = an_object(rows=a_list(an_object(id=TEXT, o=an_object(a=TEXT), parts=a_list(LINES))))
    gt = [{"id": "1", "o": {"a": "x"}, "parts": [{"lines": [line("7", "bolt")]}]}]

    assert list_inner_errors(schema, {"rows": gt}, {}) == (
        [
            ("rows[0].id", FN, "rows[0]"),
            ("rows[0].o.a", FN, "rows[0]"),
            ("rows[0].parts[0].lines[0].sku", FN, "rows[0]"),
            ("rows[0].parts[0].lines[0].name", FN, "rows[0]"),
            ("rows[0].parts[0].lines[0].unit", FN, "rows[0]"),
        ],
        [("rows[0]", 5, None)],
    )


def test_wholes_inside_of_an_item_below_its_threshold_have_their_own_values():
    item_schema = an_object(a=TEXT, b=TEXT, c=TEXT)
    schema = an_object(
        rows=a_list(an_object(id=TEXT, o=item_schema, p=item_schema, parts=a_list(item_schema)))
    )
    right = {"a": "x", "b": "y", "c": "z"}
    half = {"a": "x", "b": "n", "c": "n"}
    gt = {"id": "1", "o": right, "p": right, "parts": [right, {"a": "6", "b": "7", "c": "8"}]}
    pred = {"id": "2", "o": half, "parts": [half]}

    schema["properties"]["rows"]["x-aws-stickler-pairing-floor"] = -1
    assert list_inner_errors(schema, {"rows": [gt]}, {"rows": [pred]}) == (
        [
            ("rows[0].id", FD, "rows[0]"),
            ("rows[0].o.b", FD, "rows[0]"),
            ("rows[0].o.c", FD, "rows[0]"),
            ("rows[0].p.a", FN, "rows[0].p"),
            ("rows[0].p.b", FN, "rows[0].p"),
            ("rows[0].p.c", FN, "rows[0].p"),
            ("rows[0].parts[0].b", FD, "rows[0].parts[0]"),
            ("rows[0].parts[0].c", FD, "rows[0].parts[0]"),
            ("rows[0].parts[1].a", FN, "rows[0].parts[1]"),
            ("rows[0].parts[1].b", FN, "rows[0].parts[1]"),
            ("rows[0].parts[1].c", FN, "rows[0].parts[1]"),
        ],
        [
            ("rows[0]", 3, None),
            ("rows[0].o", 0, "rows[0]"),
            ("rows[0].p", 3, "rows[0]"),
            ("rows[0].parts[0]", 2, "rows[0]"),
            ("rows[0].parts[1]", 3, "rows[0]"),
        ],
    )


def test_an_invented_item_and_a_missed_one_of_one_index_have_their_own_values():
    gt, pred = line("1", "bolt", "m"), {"sku": "987", "name": "gear"}

    assert list_inner_errors(LINES, {"lines": [gt]}, {"lines": [pred]}) == (
        [
            ("lines[0].sku", FN, "lines[0]"),
            ("lines[0].name", FN, "lines[0]"),
            ("lines[0].unit", FN, "lines[0]"),
            ("lines[0].sku", FA, "lines[0]"),
            ("lines[0].name", FA, "lines[0]"),
        ],
        [("lines[0]", 3, None), ("lines[0]", 2, None)],
    )


def test_names_with_dots_and_blanks_are_quoted():
    schema = an_object(**{"unit price": an_object(**{"a.b": TEXT})})

    errors = list_inner_errors(schema, {"unit price": {"a.b": "x"}}, {"unit price": 1})
    assert errors == (
        [
            ('["unit price"]', FA, '["unit price"]'),
            ('["unit price"]["a.b"]', FN, '["unit price"]'),
        ],
        [('["unit price"]', 2, None)],
    )
    both = an_object(**{"a.b": TEXT}, c=TEXT)
    assert list_outer_errors(both, {"a.b": "x", "c": "y"}, {"c": "y"}) == [
        ('["a.b"]', FN, "x", None)
    ]


def test_an_error_says_its_similarity_or_which_side_has_no_partner():
    schema = an_object(a={**TEXT, "x-aws-stickler-threshold": 0.8}, b=TEXT, c=TEXT)
    errors = errors_of(schema, {"a": "abcd", "b": "x"}, {"a": "abcx", "c": "x"})

    assert [(error.similarity, error.reason) for error in errors] == [
        (0.75, "below threshold (0.750 < 0.8)"),
        (None, "unmatched ground truth"),
        (None, "unmatched prediction"),
    ]


@pytest.mark.parametrize(
    ("similarity", "threshold", "reason"),
    [
        (0.0, 0.5, "below threshold (0.000 < 0.5)"),
        (0.41312, 0.7, "below threshold (0.413 < 0.7)"),
        (0.69996, 0.7, "below threshold (0.69996 < 0.7)"),
        (0.9999996, 1.0, "below threshold (0.9999996 < 1)"),
        (0.7 - 2e-9, 0.7, "below threshold (0.699999998 < 0.7)"),
    ],
)
def test_a_reason_has_the_digits_that_it_takes_to_see_it(similarity, threshold, reason):
    assert describe_difference("x", "y", similarity, threshold) == reason


def test_what_a_judge_says_follows_the_reason():
    entry = Error("d", "a", "a", "FD", OTHER, "x", "y", reason="why", judge="another company")

    assert entry.explanation == "why: another company"


def test_an_item_says_where_its_wrong_values_are_from():
    number = {"type": "number"}
    line = an_object(quantity=number, unit_price=number, amount=number, name=TEXT)
    schema = an_object(lines=a_list({**line, **STRICT}))
    gt = {"quantity": 21, "unit_price": 175.54, "amount": 3686.34, "name": "fee"}
    pred = {**gt, "unit_price": 3686.34, "amount": 77413.14}

    error = errors_of(schema, {"lines": [gt]}, {"lines": [pred]})[0]

    assert error.origin == "unit_price holds the true amount; amount = 21 x 3686.34"
    assert error.explanation == (
        f"{error.origin}; below threshold (0.500 < 1): unit_price, amount differ"
    )
    other = errors_of(schema, {"lines": [gt]}, {"lines": [{**gt, "unit_price": 3686.35}]})[0]
    assert other.origin == ""


def test_a_swapped_value_is_explained_by_the_place_that_it_was_swapped_with():
    error = Error(
        "a", "due", "due", "FD", ErrorClass.SWAPPED, reason="why", swapped_with="rows[1].due"
    )

    assert error.explanation == "why: the value of rows[1].due"


def test_a_record_has_what_an_error_has_and_is_read_back():
    error = Error("d", "a[0]", "a", "FD", OTHER, 0, None, 0.0, "a", 0, "why", ("b",), "no", "12")
    record = {
        "document": "d",
        "path": "a[0]",
        "field": "a",
        "outcome": "FD",
        "class": "other",
        "ground_truth_value": 0,
        "prediction_value": None,
        "similarity": 0.0,
        "inside": "a",
        "values": 0,
        "reason": "why",
        "differing_fields": ["b"],
        "judge": "no",
        "cause": "12",
    }
    bare = Error("d", "a", "a", "FN", OTHER, "x")

    assert error_record(error) == record
    assert [*error_record(error)] == [*record]
    assert error_record(bare) == {
        "document": "d",
        "path": "a",
        "field": "a",
        "outcome": "FN",
        "class": "other",
        "ground_truth_value": "x",
        "prediction_value": None,
    }
    for record_error in (error, bare):
        read = Error(**columns_of_record(error_record(record_error)))
        assert read._replace(differing=(*read.differing,)) == record_error


@pytest.mark.parametrize(
    ("value", "fits"),
    [("", True), ("a.b", True), ('["a b"]', True), ("a[", False), ("..", False), (3, False)],
)
def test_the_field_of_an_error_is_a_path_or_empty(value, fits):
    (rule,) = PathText.__metadata__

    assert rule.fits(value) is fits


def test_the_keys_of_a_cause_are_those_of_its_field_and_class_and_of_itself():
    lines = [line("1", "bolt"), line("2", "nut")]
    compared = batch(compile_schema(LINES), {"": ({"lines": lines}, {"lines": lines[:1]})})
    errors = compared.errors(0)
    evaluation = evaluate([compared])
    (cause,) = evaluation.fold(Causes)

    assert [error.cause for error in errors[1:]] == ["", "", ""]
    group, own_key = split_cause_keys(errors[0].cause)
    assert (group, own_key) == (cause_key(("lines",), ErrorClass.MISSED_ITEM, None), cause.key)


def test_a_match_threshold_of_0_is_told_of_values_that_have_nothing_in_common():
    assert describe_difference({"a": 1}, [1], 0.0, 0.0) == (
        "a value of type object cannot match a value of type array"
    )


def test_a_reason_says_so_where_values_are_equal_as_written():
    reason = "below threshold (0.000 < 0.5)"
    equal = f"{reason}: both texts are equal, but the comparator cannot read this text"

    assert describe_difference("n/a", "n/a", 0.0, 0.5) == equal
    assert describe_difference(False, 0, 0.0, 0.5) == reason  # which are equal to Python


def test_a_reason_has_no_more_than_12_digits():
    assert describe_shortfall(0.7 - 1e-13, 0.7) == "below threshold (0.700000000000 < 0.7)"


def test_an_undeclared_key_of_an_invented_item_is_in_no_place_of_the_ground_truth():
    plan = compile_schema(an_object(rows=a_list(an_object(a=TEXT, b=TEXT))))
    gt = {"rows": [{"a": "first", "b": "one"}, {"a": "second", "b": "two"}]}
    pred = {"rows": [gt["rows"][1], {"a": "other", "c": "second"}, gt["rows"][0]]}

    errors = batch(plan, {"": (gt, pred)}).errors(0)

    # What stands at rows[1] of the ground truth is another item.
    assert [(error.path, error.error_class.value) for error in errors if error.values is None] == [
        ("rows[1].a", "invented_value"),
        ("rows[1].c", "invented_value"),
    ]


@pytest.mark.parametrize(
    ("schema", "gt", "pred", "expected"),
    [
        (
            an_object(**{"ship.to": {"type": "object"}}),
            {"ship.to": {"s t": "x"}},
            {"ship.to": {"s t": "qqq"}},
            [("ship.to", None), ("ship.to.s t", None)],
        ),
        (
            an_object(**{"a list": a_list(an_object(n=TEXT))}),
            {"a list": [{"n": "x"}]},
            {},
            [("a list[0]", None), ("a list[0].n", "a list[0]")],
        ),
    ],
)
def test_non_matches_have_names_as_they_are(schema, gt, pred, expected):
    entries = map(non_match, errors_of(schema, gt, pred))

    assert [(entry["field_path"], entry.get("inside")) for entry in entries] == expected
