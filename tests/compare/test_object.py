import pytest

from stickler_cli.comparators import LevenshteinComparator
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.comparison import comparison_of
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.result import Outcome
from stickler_cli.core.problems import ComparisonError
from .nodes import (
    alike,
    an_object,
    anything,
    compared,
    compared_together,
    figures,
    table,
    text,
)


def outcomes(comparison):
    return {entry.name: entry.comparison.outcome.name for entry in comparison.fields}


PERSON = an_object(name=text(weight=3), city=text(weight=1))


class Failing(BaseComparator):
    """Fails where the ground truth is `bad`, and knows what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def compare(self, gt, pred):
        self.asked.append(gt)
        if gt == "bad":
            raise ValueError("no")
        return 1.0


@pytest.mark.parametrize(
    ("gt", "path", "asks_second"),
    [
        ({"a": "x", "b": "bad", "c": "bad"}, ("b",), True),
        ({"a": "bad", "b": "bad", "c": "x"}, ("a",), False),
        ({"a": "x", "b": "x", "c": "bad"}, ("c",), True),
    ],
)
def test_of_fields_that_fail_the_first_is_told_whoever_compares_them(gt, path, asks_second):
    one, other = Failing(), Failing()  # of one class, and still they share nothing
    nodes = [LeafNode(threshold=0.5, comparator=of) for of in (one, other, one)]
    node = an_object(**dict(zip("abc", nodes, strict=True)))

    with pytest.raises(ComparisonError) as caught:
        compared(node, gt, dict.fromkeys("abc", "y"))
    assert caught.value.path == path
    assert bool(other.asked) is asks_second


def test_leaves_of_one_comparator_are_compared_by_one_call_with_rules_of_their_own(monkeypatch):
    calls = []
    own = LevenshteinComparator.similarities

    def counted(self, gts, preds):
        calls.append(len(gts))
        return own(self, gts, preds)

    monkeypatch.setattr(LevenshteinComparator, "similarities", counted)
    node = an_object(
        a=text(threshold=0.5), b=text(threshold=0.9, weight=3.0), c=text(threshold=0.9, clip=True)
    )
    gt, pred = dict.fromkeys("abc", "abcd"), dict.fromkeys("abc", "abcx")

    (first, second) = compared_together(node, [gt, gt], [pred, {"a": "abcd"}])

    assert calls == [3]
    assert outcomes(first) == {"a": "TP", "b": "FD", "c": "FD"}
    assert first.field_scores == {"a": 0.75, "b": 0.75, "c": 0.0}
    assert first.similarity == (0.75 + 3 * 0.75 + 0.0) / 5
    assert outcomes(second) == {"a": "TP", "b": "FN", "c": "FN"}
    assert second.similarity == 1 / 5


def test_field_scores_are_those_of_the_fields():
    node = an_object(a=text(), b=an_object(c=text()))
    (_, second) = compared_together(node, [{}, {"a": "x", "b": {"c": "y"}}], [{}, {"a": "x"}])

    assert second.field_scores == {"a": 1.0, "b": 0.0}
    assert second.fields[0].comparison.field_scores == {}
    assert compared(anything(), {"k": "x", "l": "y"}, {"k": "x"}).field_scores == {
        "k": 1.0,
        "l": 0.0,
    }


@pytest.mark.parametrize(
    ("says", "counted"),
    [
        ((None, None, None), "abc"),
        ((None, False, None), "ac"),
        ((True, None, None), "a"),
        ((True, False, None), "a"),
        ((True, None, True), "ac"),
        ((False, False, False), ""),
    ],
)
def test_one_true_makes_fields_opt_in_and_else_false_opts_out(says, counted):
    fields = tuple(Field(name, text(), say) for name, say in zip("abc", says, strict=True))
    node = ObjectNode(threshold=0.7, fields=fields)
    comparison = compared(node, {"a": "x"}, {"a": "x"})

    assert {entry.name for entry in comparison.fields if entry.counted} == set(counted)


@pytest.mark.parametrize("wrong", ["x", 0, False, ["x"]])
def test_a_value_of_another_kind_is_one_false_discovery_with_both_sides_told(wrong):
    gt = {"name": "abcd", "city": "ab"}

    comparison = compared(PERSON, gt, wrong)

    missed, invented = (
        comparison_of(side, comparison.pair)
        for side in (comparison.account.missed, comparison.account.invented)
    )
    assert comparison.shape == "mismatch"
    assert (comparison.outcome, comparison.similarity) == (Outcome.FD, 0.0)
    assert outcomes(missed) == {"name": "FN", "city": "FN"}
    assert figures(invented) == ("leaf", None, wrong, Outcome.FA, 0.0, 0.0, 0.7)
    assert alike(PERSON, gt, wrong) == 0.0
    assert table(PERSON, [gt], [wrong, gt]) == [[0.0, 1.0]]


def test_two_values_of_another_kind_are_compared_as_that_kind():
    node = an_object(name=text(), rest={"other": anything()})

    assert figures(compared(node, "abcd", "abcx")) == figures(compared(text(), "abcd", "abcx"))
    assert alike(node, ["ab", "cd"], ["cd", "ab"]) == 1.0


def test_objects_that_some_of_a_column_lack_are_told_apart():
    absent, half = {"name": None}, {"name": "abcd", "city": "z"}
    gts = [absent, {"name": "abcd"}, {}, {"name": "abcd", "city": "y"}, None]
    preds = [{}, {"name": "abcx"}, absent, half, ""]

    found = compared_together(PERSON, gts, preds)

    # The name weighs three of four.
    assert [each.outcome.name for each in found] == ["TN", "TP", "TN", "TP", "TN"]
    assert [each.similarity for each in found] == [1.0, 0.75, 1.0, 0.75, 1.0]
    assert [outcomes(each) for each in found] == [
        {},
        {"name": "TP", "city": "TN"},
        {},
        {"name": "TP", "city": "FD"},
        {},
    ]
