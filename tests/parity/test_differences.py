"""Each number that differs from stickler-eval on purpose, as the page on migrating states it."""

from typing import Literal

import pytest

from stickler_cli import (
    ComparableField,
    ExactComparator,
    LevenshteinComparator,
    NumericComparator,
    Options,
    StructuredModel,
)


class Line(StructuredModel):
    sku: str = ComparableField(LevenshteinComparator())
    note: str | None = ComparableField()


class Order(StructuredModel):
    lines: list[Line] = ComparableField(default_factory=list)
    tags: list[str] = ComparableField(default_factory=list)


def lists(gt, pred, options=None):
    matrix = Order(**gt).compare_with(
        Order(**pred), include_confusion_matrix=True, options=options
    )["confusion_matrix"]
    return {
        key: count
        for node in matrix["fields"].values()
        for key, count in node["overall"].items()
        if key in ("tp", "fd", "fa", "fn") and count
    }


def test_elements_with_nothing_in_common_are_no_pair():
    assert lists({"tags": ["ab"]}, {"tags": ["cd"]}) == {"fa": 1, "fn": 1}


def test_a_floor_of_minus_one_pairs_all():
    assert lists({"tags": ["ab"]}, {"tags": ["cd"]}, Options(pairing_floor=-1)) == {"fd": 1}


def test_a_list_can_have_a_floor_of_its_own():
    class Paired(StructuredModel):
        tags: list[str] = ComparableField(pairing_floor=-1)

    gt, pred = Paired(tags=["ab"]), Paired(tags=["cd"])
    (error,) = gt.compare_with(pred, document_non_matches=True)["non_matches"]

    assert error["non_match_type"] == "false_discovery"


def test_fields_that_both_items_lack_make_no_two_items_alike():
    assert Line(sku="ab").compare(Line(sku="cd")) == 0.0


def test_scores_below_the_threshold_are_kept_unless_clipped():
    class Soft(StructuredModel):
        name: str = ComparableField(LevenshteinComparator(), threshold=0.9)

    class Hard(StructuredModel):
        name: str = ComparableField(
            LevenshteinComparator(), threshold=0.9, clip_under_threshold=True
        )

    assert Soft(name="abcd").compare(Soft(name="abcx")) == 0.75
    assert Hard(name="abcd").compare(Hard(name="abcx")) == 0.0


def test_missed_items_are_in_the_aggregate():
    gt, pred = Order(lines=[{"sku": "a"}]), Order()
    matrix = gt.compare_with(pred, include_confusion_matrix=True)["confusion_matrix"]

    assert matrix["aggregate"]["fn"] == matrix["leaves"]["fn"] == 1


def test_a_null_element_is_none():
    assert lists({"tags": ["a", ""]}, {"tags": ["a"]}) == {"tp": 1}


def test_exact_comparison_is_blind_to_case_and_punctuation_unless_told():
    assert ExactComparator().compare("Hello, world!", "hello world") == 1.0
    assert ExactComparator(case_sensitive=True, strip=False).compare("A", "a") == 0.0


def test_a_similarity_that_is_the_threshold_but_for_rounding_meets_it():
    class Model(StructuredModel):
        match_threshold = 0.8
        a: str = ComparableField(weight=0.1)
        b: str = ComparableField(weight=0.7)
        c: str = ComparableField(weight=0.2)

    class Models(StructuredModel):
        items: list[Model] = ComparableField()

    item = {"a": "x", "b": "y", "c": "z"}
    gt, pred = Models(items=[item]), Models(items=[{**item, "c": "q"}])

    assert gt.items[0].compare(pred.items[0]) == pytest.approx(0.8)
    assert [e.outcome.name for e in gt.comparison(pred).fields[0].items] == ["TP"]


def test_a_value_of_a_few_is_the_member_that_it_is():
    class Sample(StructuredModel):
        group: Literal["O+", "O-"]

    def score(pred):
        return Sample(group="O+").compare(Sample.model_construct(group=pred))

    assert [score(pred) for pred in ("O+", "o +", "O-")] == [1.0, 1.0, 0.0]


def test_a_value_that_cannot_be_read_is_right_where_both_have_it():
    class Bill(StructuredModel):
        total: str = ComparableField(NumericComparator())

    assert NumericComparator().compare("n/a", "n/a") == 0.0
    assert [
        Bill(total="n/a").compare(Bill(total=other_total)) for other_total in ("n/a", "none")
    ] == [1.0, 0.0]
