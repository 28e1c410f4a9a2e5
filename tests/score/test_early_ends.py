"""Documents that end early: everything after a field is missed, and that is one cause."""

import pytest

from stickler_cli.compare.engine import compare
from stickler_cli.documents.wrappers import Unwrapper
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.errors.early_ends import find_early_ends
from .batches import TEXT, a_list, an_object, batch, evaluate

NUMBER = {"type": "number"}
MAP = {"type": "object", "additionalProperties": NUMBER}
SCHEMA = an_object(
    currency=TEXT,
    seller=an_object(name=TEXT, city=TEXT),
    lines=a_list(an_object(sku=TEXT, price=NUMBER)),
    tags=a_list(TEXT),
    rates=MAP,
)
PLAN = compile_schema(SCHEMA)
LINES = [{"sku": "A-1", "price": 5.5}, {"sku": "B-2", "price": 7.5}]
FULL = {
    "currency": "EUR",
    "seller": {"name": "Acme", "city": "Ulm"},
    "lines": LINES,
    "tags": ["a", "b"],
    "rates": {"x": 1, "y": 2},
}


def ends_of(schema, gt, pred):
    """Return the last predicted field of a document that ends early, else None."""
    plan = compile_schema(schema)
    bare = Unwrapper(plan.root)(gt, is_truth=True)
    ends = find_early_ends(compare(plan, [bare.value], [pred], gold=[bare.gold]))
    return ends[0].path if ends else None


def without(*names):
    return {name: value for name, value in FULL.items() if name not in names}


@pytest.mark.parametrize(
    ("gt", "pred", "last"),
    [
        # The object, two lists and the map are missed.
        (FULL, {"currency": "EUR"}, ("currency",)),
        (FULL, {"currency": "USD"}, ("currency",)),
        (FULL, {"currency": "EUR", "seller": {"city": ""}, "lines": []}, ("currency",)),
        # The city, two lists and the map are missed.
        (FULL, {"currency": "EUR", "seller": {"name": "Acme"}}, ("seller", "name")),
        # A value before the last one may be missed.
        (FULL, {"seller": FULL["seller"]}, ("seller", "city")),
        # An invented value is predicted, too.
        (without("currency"), {"currency": "EUR"}, ("currency",)),
        # Fields that the ground truth lacks do not count: three are missed.
        (without("seller"), {"currency": "EUR"}, ("currency",)),
        (without("seller", "lines"), {"currency": "EUR"}, None),
        # Only two fields are missed after the last one.
        (FULL, {"currency": "EUR", "lines": LINES}, None),
        (FULL, {"currency": "EUR", "lines": LINES[:1]}, None),
        # Nothing is predicted, or something at the end.
        (FULL, {}, None),
        (FULL, {"currency": "EUR", "rates": {"x": 1}}, None),
        (FULL, {"currency": "EUR", "tags": ["z"]}, None),
        # Values of different kinds are both present.
        (FULL, {"currency": "EUR", "rates": "1, 2"}, None),
        # An undeclared key has no place in the order; inside an item it does not matter.
        (FULL, {"currency": "EUR", "vendor": "Acme"}, None),
        (FULL, FULL, None),
    ],
)
def test_a_document_ends_early_if_three_fields_are_missed_after_the_last_one(gt, pred, last):
    assert ends_of(SCHEMA, gt, pred) == last


MAP_OF_OBJECTS = {"type": "object", "additionalProperties": an_object(k=TEXT)}
ENDING = {"a": TEXT, "b": TEXT, "c": TEXT}


@pytest.mark.parametrize(
    ("first", "gt", "pred", "last"),
    [
        # All keys of a map are one field, even those that are missed.
        (MAP, {"x": 1, "y": 2}, {"y": 2}, ("first", "*")),
        (MAP_OF_OBJECTS, {"x": {"k": "p"}}, {"x": {"k": "q"}}, ("first", "*")),
        # The items of a list are one field, and so is a list in a list.
        (a_list(TEXT), ["p", "q"], ["q"], ("first",)),
        (a_list(a_list(TEXT)), [["p"], ["q"]], [["q"]], ("first",)),
        # An undeclared key inside an item does not matter.
        (a_list(an_object(k=TEXT)), [{"k": "p"}], [{"k": "p", "z": 1}], ("first",)),
    ],
)
def test_everything_in_a_list_or_map_is_one_field(first, gt, pred, last):
    schema = an_object(first=first, **ENDING)
    truth = {"first": gt, **dict.fromkeys(ENDING, "x")}

    assert ends_of(schema, truth, {"first": pred}) == last
    assert ends_of(schema, truth, {"first": pred, "c": "x"}) is None


def test_the_items_of_a_document_that_is_an_array_are_no_fields():
    assert ends_of(a_list(TEXT), ["a", "b", "c", "d", "e"], ["a"]) is None


UNKNOWN = {"_labelled": False}


def test_predictions_that_are_not_counted_may_be_there():
    truth = {"currency": "EUR", **dict.fromkeys(ENDING, "x")}
    schema = an_object(currency=TEXT, first=TEXT, **ENDING, last=TEXT)
    assert ends_of(schema, {**truth, "last": UNKNOWN}, {"currency": "EUR"}) is None
    assert ends_of(schema, {**truth, "first": UNKNOWN}, {"currency": "EUR"}) == ("first",)

    open_list = an_object(currency=TEXT, **ENDING, last=a_list(TEXT))
    gold = {**truth, "last": {"_value": [], "_exhaustive": False}}
    assert ends_of(open_list, gold, {"currency": "EUR"}) == ("currency",)
    assert ends_of(open_list, gold, {"currency": "EUR", "last": ["y"]}) is None


CUT = {"currency": "EUR"}
CUT_IN_SELLER = {"currency": "EUR", "seller": {"name": "Acme"}}


def test_all_values_after_the_end_are_one_cause_and_in_no_other():
    missing_tags = without("tags")
    documents = {"a": (FULL, CUT), "b": (FULL, CUT), "c": (FULL, CUT_IN_SELLER)}
    evaluation = evaluate([batch(PLAN, {**documents, "d": (FULL, missing_tags)})])

    # Of a and b: seller 2 values, lines 4, tags 2, rates 2; of c: the city instead of the seller.
    # Errors of a: the seller, two lines, two tags, the map. Of c: the city and the last five.
    ends = {"field": "", "class": "missed_value", "number": 1}
    assert evaluation.to_dict()["causes"] == [
        {
            **ends,
            "ends_after": "currency",
            "errors": 12,
            "values": 20,
            "documents": 2,
            "document_ids": ["a", "b"],
        },
        {
            **ends,
            "ends_after": "seller.name",
            "errors": 6,
            "values": 9,
            "documents": 1,
            "document_ids": ["c"],
        },
        {
            "number": 2,
            "field": "tags",
            "class": "missed_item",
            "errors": 2,
            "values": 2,
            "documents": 1,
            "document_ids": ["d"],
        },
    ]
    counts = evaluation.to_dict()["error_classes"]
    assert counts["overall"] == {"missed_item": 8, "missed_value": 23}
    restored = read_evaluation(evaluation.to_dict())
    assert restored.to_dict()["causes"] == evaluation.to_dict()["causes"]


def test_a_slip_in_a_number_says_at_the_error_what_differs():
    schema = an_object(total=NUMBER)
    compared = batch(compile_schema(schema), {"a": ({"total": 3200}, {"total": -3200})})

    (error,) = compared.errors(0)
    assert (error.error_class, error.origin) == ("digit_slip", "the sign differs")


def test_the_cause_is_the_same_for_any_chunks_and_order():
    preds = [CUT, CUT_IN_SELLER, {}, FULL, without("tags"), {"seller": FULL["seller"]}]
    documents = {f"{number:02}": (FULL, preds[number % len(preds)]) for number in range(30)}
    expected = evaluate([batch(PLAN, documents)]).to_dict()["causes"]
    assert sum(cause["documents"] for cause in expected if "ends_after" in cause) == 15

    names = sorted(documents, key=lambda name: name[::-1])
    for size in (1, 7):
        chunks = [names[first : first + size] for first in range(0, len(names), size)]
        batches = [batch(PLAN, {name: documents[name] for name in chunk}) for chunk in chunks]
        assert evaluate(batches).to_dict()["causes"] == expected


def test_each_error_after_the_end_names_the_last_field_and_has_the_key_of_the_cause():
    compared = batch(PLAN, {"a": (FULL, CUT_IN_SELLER), "b": (FULL, without("tags"))})
    errors = compared.errors(0)
    judged = [error for error in errors if error.cause]

    assert [error.path for error in judged] == [
        *("seller.city", "lines[0]", "lines[1]", "tags[0]", "tags[1]", "rates")
    ]
    assert {error.origin for error in judged} == {"nothing is predicted after seller.name"}
    assert len({error.cause for error in judged}) == 1
    assert judged[0].explanation == (
        "nothing is predicted after seller.name; unmatched ground truth"
    )
    assert {error.origin for error in compared.errors(1)} == {""}
