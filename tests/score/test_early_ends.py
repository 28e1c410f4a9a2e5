"""Documents that end early: everything after a field or item is missed, which is one cause."""

from dataclasses import replace

import pytest

from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import Batch
from stickler_cli.score.document_result import Status
from stickler_cli.score.errors.early_ends import find_early_ends
from .batches import TEXT, a_list, an_object, annotated_batch, batch, evaluate

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


def end_of(schema, gt, pred):
    """Return where a document ends early; None if it does not."""
    compared = annotated_batch(compile_schema(schema), {"": (gt, pred)})
    return find_early_ends(compared.table).get(0)


def ends_of(schema, gt, pred):
    """Return the last predicted field of a document that ends early after a field, else None."""
    end = end_of(schema, gt, pred)
    return end.place.path if end and end.kind == "field" else None


def sentence_of(schema, gt, pred):
    """Return a sentence on where a document ends early; empty if it does not."""
    end = end_of(schema, gt, pred)
    return end.sentence if end else ""


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
        # Something is predicted at the end.
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


CODES = ["aa", "bb", "cc", "dd", "ee"]
AFTER_CODES = {"codes": CODES, "note": "x", "place": "y"}
CODES_FIRST = an_object(codes=a_list(TEXT), note=TEXT, place=TEXT)


@pytest.mark.parametrize(
    ("pred", "sentence"),
    [
        # The last three items are missed, or the last one and two fields.
        ({"codes": CODES[:2]}, "nothing is predicted after codes[1]"),
        ({"codes": CODES[:4]}, "nothing is predicted after codes[3]"),
        # The order of the prediction makes no difference, nor does a wrong item.
        ({"codes": ["bb", "aa"]}, "nothing is predicted after codes[1]"),
        # Too little is missed after the last item.
        ({"codes": CODES[:4], "note": "x"}, ""),
        ({"codes": CODES}, ""),
        # Fields after the list are predicted.
        ({"codes": CODES[:1], "place": "y"}, ""),
        # Items before the last predicted one are missed.
        ({"codes": CODES[1:3]}, ""),
        ({"codes": [CODES[0], CODES[4]]}, ""),
        # Something is predicted that is not in the list, or has another kind.
        ({"codes": CODES[:1], "vendor": "Acme"}, ""),
        ({"codes": {"first": "aa"}}, ""),
    ],
)
def test_a_document_ends_inside_a_list_if_only_its_first_items_are_predicted(pred, sentence):
    assert sentence_of(CODES_FIRST, AFTER_CODES, pred) == sentence


def test_items_that_the_ground_truth_lacks_show_that_the_list_was_not_cut():
    ordered = an_object(codes={**a_list(TEXT), "x-aws-stickler-ordered": True}, note=TEXT)
    truth = {"codes": CODES, "note": "x"}

    assert sentence_of(ordered, truth, {"codes": ["aa"]}) == "nothing is predicted after codes[0]"
    assert sentence_of(ordered, truth, {"codes": ["aa", "zz"]}) == ""


def test_items_that_an_open_list_drops_show_that_the_list_was_not_cut():
    def truth(items, *, exhaustive):
        return {"codes": {"_value": items, "_exhaustive": exhaustive}, "note": "x", "place": "y"}

    ordered = {**a_list(TEXT), "x-aws-stickler-ordered": True}
    schema = an_object(codes=ordered, note=TEXT, place=TEXT)
    gold = truth(CODES, exhaustive=False)
    assert sentence_of(schema, gold, {"codes": ["aa"]}) == "nothing is predicted after codes[0]"
    assert sentence_of(schema, gold, {"codes": ["aa", "zz"]}) == ""
    inner = an_object(groups=a_list(an_object(codes=a_list(TEXT))), **ENDING)
    groups = [{"codes": {"_value": ["aa"], "_exhaustive": False}}]
    gold = {"groups": groups, **dict.fromkeys(ENDING, "x")}
    assert sentence_of(inner, gold, {"groups": [{"codes": ["aa", "zz"]}]}) == (
        "nothing is predicted after groups"
    )


def test_values_inside_the_last_predicted_item_belong_to_the_item():
    item = an_object(sku=TEXT, price=NUMBER, unit=TEXT, note=TEXT)
    schema = an_object(lines=a_list(item), total=NUMBER)
    line = {"price": 5.5, "unit": "kg", "note": "x"}
    lines = [{"sku": f"A-{number}", **line} for number in range(5)]
    cut = [*lines[:2], {"sku": "A-2", "price": 5.5, "unit": "kg"}]
    truth = {"lines": lines, "total": 27.5}
    compared = batch(compile_schema(schema), {"a": (truth, {"lines": cut})})

    # Of lines[2] only the note is missed, which is an error of its own.
    origins = {error.path: error.origin for error in compared.errors(0)}
    end = "nothing is predicted after lines[2]"
    inner = ("sku", "price", "unit", "note")
    assert origins == {
        "lines[2].note": "",
        **dict.fromkeys(("lines[3]", "lines[4]", "total"), end),
        **{f"lines[{index}].{name}": end for index in (3, 4) for name in inner},
    }
    assert [(cause["field"], cause["values"]) for cause in causes_of([compared])] == [
        ("", 9),
        ("lines.note", 1),
    ]


def test_a_list_of_lists_and_an_array_document_can_be_cut():
    schema = an_object(rows=a_list(a_list(TEXT)))
    rows = [["p"], ["q", "r"], ["s"], ["t"], ["u"]]

    assert sentence_of(schema, {"rows": rows}, {"rows": rows[:2]}) == (
        "nothing is predicted after rows[1]"
    )
    assert sentence_of(a_list(TEXT), CODES, CODES[:1]) == "nothing is predicted after [0]"
    assert sentence_of(a_list(TEXT), CODES, CODES[:3]) == ""


def test_the_lists_under_the_keys_of_a_map_are_not_cut():
    schema = an_object(first={"type": "object", "additionalProperties": a_list(TEXT)}, **ENDING)
    truth = {"first": {"x": CODES, "y": CODES}, **dict.fromkeys(ENDING, "x")}

    pred = {"first": {"x": CODES[:1], "y": CODES}}
    assert sentence_of(schema, truth, pred) == "nothing is predicted after first.*"


@pytest.mark.parametrize("pred", [{}, {"currency": "", "seller": {"name": None}, "lines": [{}]}])
def test_a_prediction_without_values_is_an_end_of_its_own(pred):
    assert sentence_of(SCHEMA, FULL, pred) == "the prediction has no values"
    assert sentence_of(SCHEMA, {"currency": "EUR"}, pred) == "the prediction has no values"
    # Nothing is lost.
    assert sentence_of(SCHEMA, {}, pred) == ""


def test_a_prediction_with_an_undeclared_or_uncounted_value_has_a_value():
    assert sentence_of(SCHEMA, FULL, {"vendor": "Acme"}) == ""
    assert sentence_of(SCHEMA, {**FULL, "currency": UNKNOWN}, {"currency": "EUR"}) == (
        "nothing is predicted after currency"
    )
    assert sentence_of(a_list(TEXT), CODES, []) == "the prediction has no values"


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


def causes_of(batches):
    return evaluate(batches).to_dict()["causes"]


def test_ends_in_one_list_are_one_cause_with_the_first_and_last_item():
    plan = compile_schema(CODES_FIRST)
    first = batch(plan, {"a": (AFTER_CODES, {"codes": CODES[:2]})})
    second = batch(plan, {"b": (AFTER_CODES, {"codes": CODES[:4]})})

    merged = evaluate([first])
    merged.merge(evaluate([second]))

    (cause,) = merged.to_dict()["causes"]
    # Three codes and two fields are missed in the first document, one code and two fields in the
    # second.
    assert (cause["values"], cause["documents"]) == (8, 2)
    assert cause["last_items"] == {"lowest": 1, "highest": 3}
    assert [cause] == causes_of([first, second])


def with_statuses(compared, *statuses):
    """Return a batch whose documents have these statuses."""
    results = zip(compared.results, statuses, strict=True)
    return Batch([replace(result, status=status) for result, status in results], compared.table)


def test_empty_missing_and_invalid_predictions_are_causes_of_their_own():
    truth = {"currency": "EUR", "tags": ["a", "b"]}
    names = ("one", "two", "gone", "bad")
    compared = batch(PLAN, {name: (truth, {}) for name in names})
    statuses = (Status.EVALUATED, Status.EVALUATED, Status.MISSING, Status.INVALID)
    compared = with_statuses(compared, *statuses)

    # Three values are missed in each document, two of them items.
    common = {"field": "", "class": "missed_value"}
    expected = [
        ("empty", {"errors": 6, "values": 6, "documents": 2, "document_ids": ["one", "two"]}),
        ("invalid", {"errors": 3, "values": 3, "documents": 1, "document_ids": ["bad"]}),
        ("missing", {"errors": 3, "values": 3, "documents": 1, "document_ids": ["gone"]}),
    ]
    assert causes_of([compared]) == [
        {"number": number, **common, "end": kind, **sizes}
        for number, (kind, sizes) in enumerate(expected, 1)
    ]
    origins = [{error.origin for error in compared.errors(number)} for number in range(4)]
    assert origins == [
        {"the prediction has no values"},
        {"the prediction has no values"},
        {"there is no prediction"},
        {"the prediction cannot be read"},
    ]
    restored = read_evaluation(evaluate([compared]).to_dict())
    assert restored.to_dict()["causes"] == causes_of([compared])


def test_documents_that_end_inside_one_list_are_one_cause_with_the_range_of_their_last_items():
    plan = compile_schema(CODES_FIRST)
    preds = {"a": CODES[:1], "b": CODES[:3], "c": CODES[:2]}
    documents = {name: (AFTER_CODES, {"codes": codes}) for name, codes in preds.items()}

    # Missed items and fields: 4 + 2 in a, 2 + 2 in b, 3 + 2 in c.
    expected = [
        {
            "number": 1,
            "field": "",
            "class": "missed_value",
            "end": "item",
            "ends_after": "codes",
            "errors": 15,
            "values": 15,
            "documents": 3,
            "last_items": {"lowest": 0, "highest": 2},
            "document_ids": ["a", "b", "c"],
        }
    ]
    assert causes_of([batch(plan, documents)]) == expected
    alone = [batch(plan, {name: documents[name]}) for name in "bac"]
    assert causes_of(alone) == expected
    restored = read_evaluation(evaluate(alone).to_dict())
    assert restored.to_dict()["causes"] == expected


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
            "end": "field",
            "ends_after": "currency",
            "errors": 12,
            "values": 20,
            "documents": 2,
            "document_ids": ["a", "b"],
        },
        {
            **ends,
            "end": "field",
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
    preds += [{"currency": "EUR", "lines": LINES[:1]}, {"lines": LINES}]
    documents = {f"{number:02}": (FULL, preds[number % len(preds)]) for number in range(24)}
    expected = evaluate([batch(PLAN, documents)]).to_dict()["causes"]
    n_documents = {}
    for cause in expected:
        if "end" in cause:
            n_documents[cause["end"]] = n_documents.get(cause["end"], 0) + cause["documents"]
    assert n_documents == {"field": 9, "empty": 3, "item": 3}

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
