"""Causes: similar errors are grouped, and each lost value belongs to one cause."""

import random

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.records.run_reading import read_evaluation
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.batch import batch_of_unit
from stickler_cli.score.errors import causes
from stickler_cli.score.evaluation import Evaluation
from .batches import a_list, an_object, batch, compare, evaluate

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


def evaluated(*pairs, plan=PLAN):
    """Evaluate documents together; their ids are their numbers."""
    return evaluate([batch(plan, {str(index): pair for index, pair in enumerate(pairs)})])


def causes_of(evaluation):
    """Return the values of each cause, without keys that other tests check."""
    other_keys = {"class", "number", "document_ids"}
    return [
        tuple(value for key, value in entry.items() if key not in other_keys)
        for entry in evaluation.to_dict()["causes"]
    ]


def test_items_in_which_the_same_fields_differ_are_one_cause():
    wrong = {**LINE, "price": 7, "unit": "m"}
    twice = {"lines": [LINE, {**LINE, "sku": "B-2"}]}
    both_wrong = {"lines": [wrong, {**wrong, "sku": "B-2"}]}
    other = {"lines": [{**LINE, "name": "nut", "unit": "m"}]}

    evaluation = evaluated(
        (twice, both_wrong), ({"lines": [LINE]}, {"lines": [wrong]}), (twice, other)
    )

    assert evaluation.to_dict()["causes"] == [
        {
            "number": 1,
            "field": "lines",
            "class": "item_with_errors",
            "differing_fields": ["price", "unit"],
            "errors": 3,
            "values": 6,
            "documents": 2,
            "document_ids": ["0", "1"],
        },
        {
            "number": 2,
            "field": "lines",
            "class": "missed_item",
            "errors": 1,
            "values": 4,
            "documents": 1,
            "document_ids": ["2"],
        },
        {
            "number": 3,
            "field": "lines",
            "class": "item_with_errors",
            "differing_fields": ["name", "unit"],
            "errors": 1,
            "values": 2,
            "documents": 1,
            "document_ids": ["2"],
        },
    ]


def test_repeated_pairs_of_values_are_causes_of_their_own():
    pairs = [("USD", "NZD"), ("USD", "NZD"), ("USD", "EUR")]
    evaluation = evaluated(*(({"currency": gt}, {"currency": pred}) for gt, pred in pairs))

    assert causes_of(evaluation) == [
        ("currency", "USD", "NZD", 2, 2, 2),
        ("currency", "USD", "EUR", 1, 1, 1),
    ]


def test_documents_with_errors_of_any_kind_are_wrong():
    gt = {"currency": "EUR"}
    batch_of_three = batch(PLAN, {"a": (gt, gt), "b": (gt, {"currency": "USD"}), "c": (gt, {})})
    assert batch_of_three.is_wrong.tolist() == [False, True, True]


def test_what_one_side_lacks_is_a_cause_with_all_of_its_values():
    gt = {"seller": {"name": "Bo", "city": "Ulm"}, "tags": ["a", "b"], "currency": "EUR"}
    evaluation = evaluated((gt, {"new": 1}), (gt, gt), (gt, {**gt, "tags": ["a"]}))

    assert causes_of(evaluation) == [
        ("tags", 3, 3, 2),
        ("seller", 1, 2, 1),
        ("currency", 1, 1, 1),
        ("new", "*", 1, 1, 1),
    ]


def test_an_object_below_its_threshold_loses_no_values_but_those_of_its_fields():
    gt, pred = {"seller": {"name": "Bo", "city": "Ulm"}}, {"seller": {"name": "Bo", "city": "Rom"}}

    assert causes_of(evaluated((gt, pred))) == [("seller.city", "Ulm", "Rom", 1, 1, 1)]


def documents(count):
    """Return `count` documents with all kinds of errors, the same ones for each call."""
    draw = random.Random(count)  # noqa: S311 - no secret
    pairs = []
    for _ in range(count):
        lines = [{**LINE, "sku": f"S-{draw.randrange(9)}"} for _ in range(draw.randrange(4))]
        gt = {"currency": draw.choice("abc"), "lines": lines, "rates": {draw.choice("xyz"): 1}}
        pred = {
            "currency": draw.choice("abc"),
            "lines": [
                {**line, draw.choice(list(line)): "?"} for line in lines if draw.random() < 0.8
            ],
            "rates": {draw.choice("xyz"): draw.randrange(3)},
            "seller": {"name": draw.choice("pq")},
        }
        pairs.append((gt, draw.choice([pred, gt, {}])))
    return pairs


@pytest.mark.parametrize("max_traits", [1, 2, 5, causes.MAX_TRAITS])
def test_causes_add_in_any_order_and_hold_every_value_that_was_lost(monkeypatch, max_traits):
    monkeypatch.setattr(causes, "MAX_TRAITS", max_traits)
    pairs = documents(29)  # has groups of 6, 5, 3, 3, and 2 kinds
    total = evaluated(*pairs).to_dict()
    named = [(str(index), pair) for index, pair in enumerate(pairs)]
    shuffled = random.Random(7).sample(named, len(named))  # noqa: S311 - no secret

    merged = Evaluation()
    while shuffled:
        chunk, shuffled = shuffled[:7], shuffled[7:]
        merged.merge(read_evaluation(evaluate([batch(PLAN, dict(chunk))]).to_dict()))

    assert merged.to_dict()["causes"] == total["causes"]
    assert sum(entry["values"] for entry in total["causes"]) == total["error_classes"]["total"]
    assert all(len(kinds) <= max_traits for kinds in merged.fold(causes.Causes).groups.values())
    assert read_evaluation(total).to_dict() == total


def test_errors_of_too_many_kinds_are_one_cause_that_does_not_say_in_how_many_documents(
    monkeypatch,
):
    monkeypatch.setattr(causes, "MAX_TRAITS", 20)
    evaluation = Evaluation()
    for number in range(causes.MAX_TRAITS + 3):
        comparison = compare(PLAN, {"currency": f"G {number} x"}, {"currency": f"P {number} y"})
        evaluation.add(batch_of_unit(comparison))
        if number >= causes.MAX_TRAITS:
            assert [cause.size for cause in evaluation.fold(causes.Causes)] == [
                causes.CauseSize(number + 1, number + 1, 0)
            ]

    assert evaluation.to_dict()["causes"] == [
        {
            "number": 1,
            "field": "currency",
            "class": "other",
            "errors": 23,
            "values": 23,
            "document_ids": [""],
        }
    ]


def test_as_many_kinds_as_there_is_room_for_are_told_apart_and_one_more_makes_them_one(monkeypatch):
    monkeypatch.setattr(causes, "MAX_TRAITS", 2)
    wrong = [({"currency": letter}, {"currency": "y"}) for letter in "abcd"]
    two, three = evaluated(*wrong[:2]), evaluated(*wrong[1:])

    assert causes_of(two) == [("currency", "a", "y", 1, 1, 1), ("currency", "b", "y", 1, 1, 1)]
    assert causes_of(three) == [("currency", 3, 3)]
    single = evaluated(wrong[0])
    single.merge(three)
    assert causes_of(single) == [("currency", 4, 4)]


def test_of_causes_that_lost_as_many_values_the_one_of_more_errors_comes_first():
    # The line has four values, and each currency is one.
    wrong = {"currency": "x"}, {"currency": "y"}
    evaluation = evaluated(*[wrong] * 3, ({"currency": "x", "lines": [LINE]}, {"currency": "y"}))

    assert causes_of(evaluation) == [("currency", "x", "y", 4, 4, 4), ("lines", 1, 4, 1)]


def test_each_cause_has_a_key_that_a_run_file_keeps(monkeypatch):
    monkeypatch.setattr(causes, "MAX_TRAITS", 3)
    evaluation = evaluated(*documents(40))
    again = read_evaluation(evaluation.to_dict())
    keys = [cause.key for cause in evaluation.fold(causes.Causes).ranked()]

    assert len(set(keys)) == len(keys) > 3
    assert [cause.key for cause in again.fold(causes.Causes).ranked()] == keys


def test_a_cause_counts_the_documents_that_it_is_in_wherever_they_stand():
    wrong, right = ({"currency": "x"}, {"currency": "y"}), ({"currency": "x"}, {"currency": "x"})
    twice = ({"currency": "x", "lines": [LINE, LINE]}, {"currency": "y"})
    evaluation = evaluated(right, wrong, right, twice, wrong)

    of_currency = {cause.pattern: cause.size for cause in evaluation.fold(causes.Causes)}[
        "currency",
    ]
    assert of_currency == causes.CauseSize(3, 3, 3)
    assert {cause.pattern: cause.size for cause in evaluation.fold(causes.Causes)}[
        "lines",
    ] == causes.CauseSize(2, 8, 1)
    assert {len(cause.key) for cause in evaluation.fold(causes.Causes)} == {10}


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


SALE = {"price": 31.5, "count": 14, "amount": 441, "name": "a bolt"}
SALES = compile_schema(
    an_object(
        lines=a_list(
            an_object(
                **{name: {"type": "number"} for name in ("price", "count", "amount")}, name=EXACT
            )
        ),
        due=EXACT,
        paid=EXACT,
    )
)


def origins(*pairs):
    """Return the origins of each cause as lists of (field, *fields of origin, number of errors)."""
    evaluation = evaluated(*pairs, plan=SALES)
    assert read_evaluation(evaluation.to_dict()).to_dict() == evaluation.to_dict()
    return [
        [(origin["field"], *origin["of"], origin["errors"]) for origin in cause["origins"]]
        for cause in evaluation.to_dict()["causes"]
        if "origins" in cause
    ]


def test_an_item_says_which_of_its_fields_hold_another_or_the_product_of_two():
    pred = {**SALE, "price": 441, "amount": 441 * 14, "name": "nut"}
    other = {**SALE, "price": 441, "amount": 77.5, "name": "nut"}

    assert origins(*(({"lines": [SALE]}, {"lines": [pred]}) for pred in (pred, other, pred))) == [
        [("lines.price", "lines.amount", 3), ("lines.amount", "lines.count", "lines.price", 2)]
    ]


@pytest.mark.parametrize(
    ("gt", "pred"),
    [
        pytest.param({"amount": 442}, {"amount": 900}, id="no product in the ground truth"),
        pytest.param({}, {"amount": 84000.02}, id="more than half a cent off"),
        pytest.param({}, {"price": 0, "amount": 0}, id="of nothing"),
        pytest.param({}, {"price": "many", "amount": "much"}, id="of no numbers"),
    ],
)
def test_what_is_no_product_is_told_as_none(gt, pred):
    wrong = {**SALE, "price": 6000, "name": "nut", **pred}
    assert origins(({"lines": [{**SALE, **gt}]}, {"lines": [wrong]})) == []


def test_a_swapped_value_says_whose_it_is():
    gt = {"due": "2024-02-09", "paid": "2024-03-31"}
    assert origins((gt, {**gt, "due": "2024-03-31"})) == [[("due", "paid", 1)]]


def test_origins_that_are_too_many_are_left_out_in_any_order(monkeypatch):
    monkeypatch.setattr(causes, "MAX_TRAITS", 1)
    name = "A Bolt of Iron"
    sale = {**SALE, "name": name}
    swap = {**sale, "price": 441, "amount": 30.25}, {**sale, "price": 30.75, "amount": name}
    first, second = [({"lines": [sale]}, {"lines": [{**base, "name": "x"}]}) for base in swap]

    assert origins(first) == [[("lines.price", "lines.amount", 1)]]
    assert origins(first, second) == origins(second, first) == [[]]
    assert origins(first, second, first) == [[]]

    # Few, and too many.
    shards = [evaluated(first, plan=SALES), evaluated(first, second, plan=SALES)]
    for order in (shards, shards[::-1]):
        merged = Evaluation()
        for shard in order:
            merged.merge(shard)
        assert [cause["origins"] for cause in merged.to_dict()["causes"] if "origins" in cause] == [
            []
        ]


def test_an_item_that_fails_without_a_wrong_value_has_no_number():
    half = {"type": "string", "x-aws-stickler-threshold": 0.4}
    plan = compile_schema(an_object(lines=a_list(an_object(name=half))))
    pair = {"lines": [{"name": "abcd"}]}, {"lines": [{"name": "abxy"}]}
    evaluation = evaluated(pair, plan=plan)

    (cause,) = evaluation.to_dict()["causes"]
    assert (cause["values"], "number" in cause) == (0, False)
    assert evaluation.fold(causes.Causes).numbered() == []


def test_causes_become_too_many_where_documents_are_forgotten_too(monkeypatch):
    monkeypatch.setattr(causes, "MAX_TRAITS", 1)
    wrong = [({"currency": letter}, {"currency": "y", "seller": {"name": "x"}}) for letter in "ab"]
    evaluation, other_evaluation = evaluated(wrong[0]), evaluated(wrong[1])
    evaluation.fold(causes.Causes).drop_rows()
    evaluation.merge(other_evaluation)
    again = read_evaluation(evaluation.to_dict())
    again.merge(read_evaluation(other_evaluation.to_dict()))

    assert causes_of(evaluation) == [("currency", 2, 2), ("seller", 2, 2, 2)]
    assert causes_of(again) == [("currency", 3, 3), ("seller", 3, 3, 3)]


def test_documents_are_forgotten_with_the_rows_of_a_run():
    evaluation = evaluated(({"currency": "x"}, {"currency": "y"}))
    evaluation.rows = "none"
    evaluation.merge(evaluated(({"currency": "x"}, {"currency": "y"})))
    told_of = evaluation.fold(causes.Causes)

    assert told_of.documents_of(told_of) is None
    assert "document_ids" not in evaluation.to_dict()["causes"][0]
    again = read_evaluation(evaluation.to_dict())
    again.merge(evaluated(({"currency": "x"}, {"currency": "y"})))
    assert again.fold(causes.Causes).ids is None


def test_causes_are_numbered_as_they_are_told():
    pairs = [("a", "b"), ("a", "b"), ("2024-01-05", "2024-05-01"), ("2024-02-03", "2024-03-02")]
    pairs += [("c", "long"), ("d", "other")]
    evaluation = evaluated(*(({"currency": gt}, {"currency": pred}) for gt, pred in pairs))

    numbers = [(entry["number"], entry["class"]) for entry in evaluation.to_dict()["causes"]]
    assert numbers == [
        (1, "other"),
        (2, "day_month_swapped"),
        (2, "day_month_swapped"),
        (3, "other"),
        (3, "other"),
    ]
    causes_found = evaluation.fold(causes.Causes)
    assert [causes_found.documents_of(cause) for cause in causes_found.numbered()] == [
        ["0", "1"],
        ["2", "3"],
        ["4", "5"],
    ]


def test_a_cause_is_asked_for_by_its_number():
    causes_found = evaluated(({"currency": "x"}, {"currency": "y"})).fold(causes.Causes)

    assert causes_found.find_numbered(1) == causes_found.numbered()[0]
    with pytest.raises(UsageError, match="the run has 1 cause, expected a number up to 1"):
        causes_found.find_numbered(2)


def test_some_errors_of_a_cause_may_be_added_by_themselves():
    evaluation = evaluated(*(({"currency": "USD"}, {"currency": "NZD"}) for _ in range(3)))
    (cause,) = evaluation.fold(causes.Causes)
    some_causes = causes.Causes()
    some_causes.add_errors(cause, causes.CauseSize(2, 2, 2), ["0", "2"])

    assert [(cause.key, cause.size) for cause in some_causes] == [(cause.key, (2, 2, 2))]
    assert some_causes.documents_of([cause]) == ["0", "2"]
