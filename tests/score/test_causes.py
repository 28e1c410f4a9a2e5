"""Causes: errors that are alike are put together, and every value lost is in one of them."""

import random

import pytest

from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of
from stickler_cli.score.errors import causes
from stickler_cli.score.evaluation import Evaluation
from .batches import a_list, an_object, batch, compare

EXACT = {"type": "string", "x-aws-stickler-comparator": "ExactComparator"}


ITEM = an_object(sku=EXACT, name=EXACT, price={"type": "number"}, unit=EXACT)
SCHEMA = an_object(
    currency=EXACT,
    seller=an_object(name=EXACT, city=EXACT),
    lines=a_list(ITEM),
    tags=a_list(EXACT),
    rates={"type": "object", "additionalProperties": {"type": "number"}},
)
PLAN = compile_schema(SCHEMA)
LINE = {"sku": "A-1", "name": "bolt", "price": 5.5, "unit": "kg"}


def evaluated(*pairs):
    """Compare documents together."""
    evaluation = Evaluation()
    evaluation.update(batch(PLAN, {str(at): pair for at, pair in enumerate(pairs)}))
    return evaluation


def told(evaluation):
    """Return the causes without those of their keys that are plain."""
    return [
        tuple(value for key, value in entry.items() if key != "class")
        for entry in evaluation.to_dict()["causes"]
    ]


def test_items_in_which_the_same_fields_differ_are_one_cause():
    wrong = {**LINE, "price": 7, "unit": "m"}
    twice = {"lines": [LINE, {**LINE, "sku": "B-2"}]}
    both = {"lines": [wrong, {**wrong, "sku": "B-2"}]}
    other = {"lines": [{**LINE, "name": "nut", "unit": "m"}]}

    found = evaluated((twice, both), ({"lines": [LINE]}, {"lines": [wrong]}), (twice, other))

    assert found.to_dict()["causes"] == [
        {
            "field": "lines",
            "class": "item_with_errors",
            "differing_fields": ["price", "unit"],
            "errors": 3,
            "values": 6,
            "documents": 2,
        },
        {"field": "lines", "class": "missed_item", "errors": 1, "values": 4, "documents": 1},
        {
            "field": "lines",
            "class": "item_with_errors",
            "differing_fields": ["name", "unit"],
            "errors": 1,
            "values": 2,
            "documents": 1,
        },
    ]


def test_repeated_pairs_of_values_are_causes_of_their_own():
    pairs = [("USD", "NZD"), ("USD", "NZD"), ("USD", "EUR")]
    found = evaluated(*(({"currency": gt}, {"currency": pred}) for gt, pred in pairs))

    assert told(found) == [
        ("currency", "USD", "NZD", 2, 2, 2),
        ("currency", "USD", "EUR", 1, 1, 1),
    ]


def test_documents_with_errors_of_any_kind_are_wrong():
    gt = {"currency": "EUR"}
    made = batch(PLAN, {"a": (gt, gt), "b": (gt, {"currency": "USD"}), "c": (gt, {})})
    assert made.wrong.tolist() == [False, True, True]


def test_what_one_side_lacks_is_a_cause_with_all_of_its_values():
    gt = {"seller": {"name": "Bo", "city": "Ulm"}, "tags": ["a", "b"], "currency": "EUR"}
    found = evaluated((gt, {"new": 1}), (gt, gt), (gt, {**gt, "tags": ["a"]}))

    assert told(found) == [
        ("tags", 3, 3, 2),
        ("seller", 1, 2, 1),
        ("currency", 1, 1, 1),
        ("new", "*", 1, 1, 1),
    ]


def test_an_object_below_its_threshold_loses_no_values_but_those_of_its_fields():
    gt, pred = {"seller": {"name": "Bo", "city": "Ulm"}}, {"seller": {"name": "Bo", "city": "Rom"}}

    assert told(evaluated((gt, pred))) == [("seller.city", "Ulm", "Rom", 1, 1, 1)]


def documents(count):
    """Return documents with all kinds of errors, the same every time."""
    draw = random.Random(count)  # noqa: S311 - no secret
    found = []
    for _ in range(count):
        lines = [{**LINE, "sku": f"S-{draw.randrange(9)}"} for _ in range(draw.randrange(4))]
        gt = {"currency": draw.choice("abc"), "lines": lines, "rates": {draw.choice("xyz"): 1}}
        pred = {
            "currency": draw.choice("abc"),
            "lines": [{**it, draw.choice(list(it)): "?"} for it in lines if draw.random() < 0.8],
            "rates": {draw.choice("xyz"): draw.randrange(3)},
            "seller": {"name": draw.choice("pq")},
        }
        found.append((gt, draw.choice([pred, gt, {}])))
    return found


@pytest.mark.parametrize("most", [1, 2, 5, causes.MOST_KINDS])
def test_causes_add_in_any_order_and_hold_every_value_that_was_lost(monkeypatch, most):
    monkeypatch.setattr(causes, "MOST_KINDS", most)
    pairs = documents(60)
    whole = evaluated(*pairs).to_dict()
    shuffled = random.Random(7).sample(pairs, len(pairs))  # noqa: S311 - no secret

    merged = Evaluation()
    while shuffled:
        part, shuffled = shuffled[:7], shuffled[7:]
        merged.merge(read_evaluation(evaluated(*part).to_dict()))

    assert merged.to_dict()["causes"] == whole["causes"]
    assert sum(entry["values"] for entry in whole["causes"]) == whole["error_classes"]["total"]
    assert all(len(kinds) <= most for kinds in merged.fold(causes.Causes).groups.values())
    assert read_evaluation(whole).to_dict() == whole


def test_errors_of_too_many_kinds_are_one_cause_that_does_not_say_in_how_many_documents():
    found = Evaluation()
    for number in range(causes.MOST_KINDS + 3):
        comparison = compare(PLAN, {"currency": f"G {number} x"}, {"currency": f"P {number} y"})
        found.update(batch_of(comparison))
        if number >= causes.MOST_KINDS:
            assert [it.size for it in found.fold(causes.Causes)] == [
                causes.CauseSize(number + 1, number + 1, 0)
            ]

    assert found.to_dict()["causes"] == [
        {"field": "currency", "class": "other", "errors": 503, "values": 503}
    ]


def test_as_many_kinds_as_there_is_room_for_are_told_apart_and_one_more_makes_them_one(monkeypatch):
    monkeypatch.setattr(causes, "MOST_KINDS", 2)
    wrong = [({"currency": letter}, {"currency": "y"}) for letter in "abcd"]
    two, three = evaluated(*wrong[:2]), evaluated(*wrong[1:])

    assert told(two) == [("currency", "a", "y", 1, 1, 1), ("currency", "b", "y", 1, 1, 1)]
    assert told(three) == [("currency", 3, 3)]
    one = evaluated(wrong[0])
    one.merge(three)
    assert told(one) == [("currency", 4, 4)]


def test_of_causes_that_lost_as_many_values_the_one_of_more_errors_comes_first():
    # The line has four values, and each currency is one.
    wrong = {"currency": "x"}, {"currency": "y"}
    found = evaluated(*[wrong] * 3, ({"currency": "x", "lines": [LINE]}, {"currency": "y"}))

    assert told(found) == [("currency", "x", "y", 4, 4, 4), ("lines", 1, 4, 1)]


def test_each_cause_has_a_key_that_a_run_file_keeps(monkeypatch):
    monkeypatch.setattr(causes, "MOST_KINDS", 3)
    evaluation = evaluated(*documents(40))
    again = read_evaluation(evaluation.to_dict())
    keys = [cause.key for cause in evaluation.fold(causes.Causes).ranked()]

    assert len(set(keys)) == len(keys) > 3
    assert [cause.key for cause in again.fold(causes.Causes).ranked()] == keys


def test_a_cause_counts_the_documents_that_it_is_in_wherever_they_stand():
    wrong, right = ({"currency": "x"}, {"currency": "y"}), ({"currency": "x"}, {"currency": "x"})
    twice = ({"currency": "x", "lines": [LINE, LINE]}, {"currency": "y"})
    found = Evaluation()
    found.update(batch(PLAN, {"1": right, "2": wrong, "3": right, "4": twice, "5": wrong}))

    of_currency = {cause.pattern: cause.size for cause in found.fold(causes.Causes)}["currency",]
    assert of_currency == causes.CauseSize(3, 3, 3)
    assert {cause.pattern: cause.size for cause in found.fold(causes.Causes)}[
        "lines",
    ] == causes.CauseSize(2, 8, 1)
    assert {len(cause.key) for cause in found.fold(causes.Causes)} == {10}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("é" * 78, '"' + "é" * 78 + '"'),
        ("x" * 79, ""),
        (10**79, "1" + "0" * 79),
        (10**80, ""),
        pytest.param(10**5000, "", id="more digits than Python writes"),
        ([1], ""),
        ({}, ""),
        (False, "false"),
    ],
)
def test_values_are_told_apart_by_up_to_eighty_characters_of_json(value, text):
    assert causes.short_json(value) == text
