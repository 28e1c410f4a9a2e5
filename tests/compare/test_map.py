import re

import pytest

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import Field, MapNode, Pattern
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.plan import Options
from stickler_cli.compare.result import Outcome
from stickler_cli.core.problems import ComparisonError
from .nodes import (
    a_list,
    alike,
    an_object,
    compared,
    compared_together,
    compared_whole,
    exact,
    pairs_of,
    table,
    text,
)


def a_map(*, rest=None, patterns=(), **settings):
    settings = {"threshold": 0.7, **settings}
    return MapNode(
        patterns=patterns,
        rest=rest and Field("", rest),
        **settings,
    )


SCORES = a_map(rest=exact())


def outcomes(comparison):
    return {entry.name: entry.comparison.outcome.name for entry in comparison.fields}


def test_every_key_with_a_value_on_either_side_is_a_field():
    comparison = compared(SCORES, {"a": 1, "b": 2, "n": None}, {"c": 3, "b": 2, "m": ""})

    assert outcomes(comparison) == {"a": "FN", "b": "TP", "c": "FA"}
    assert list(outcomes(comparison)) == ["a", "b", "c"]
    assert comparison.similarity == 1 / 3
    assert comparison.extras == ()


def test_a_declared_name_goes_before_a_pattern_and_a_pattern_before_the_rest():
    node = a_map(
        fields=an_object(n_total=text()).fields,
        patterns=(Pattern(re.compile("^n_"), exact(weight=2)), Pattern(re.compile("_x$"), text())),
        rest=exact(weight=5),
    )
    comparison = compared(node, {"n_total": "a", "n_x": 1, "b_x": "c", "d": 4}, {"d": 4})

    assert [(entry.name, entry.weight) for entry in comparison.fields] == [
        ("n_total", 1),
        ("n_x", 2),
        ("b_x", 1),
        ("d", 5),
    ]


def test_a_pattern_is_searched_anywhere_in_a_key():
    node = a_map(patterns=(Pattern(re.compile("total"), exact()),))

    assert outcomes(compared(node, {"sub_total": 1}, {"sub_total": 1})) == {"sub_total": "TP"}


def test_keys_that_nothing_names_are_undeclared():
    node = a_map(patterns=(Pattern(re.compile("^n_"), exact()),))
    gt, pred = {"n_a": 1, "x": 1}, {"n_a": 1, "y": 2}

    comparison = compared(node, gt, pred)

    assert (comparison.extras, comparison.undeclared) == (("y",), ("x",))
    assert compared(node, gt, pred, Options(extra_fields="ignore")).extras == ()


def test_patterns_and_the_rest_have_their_say_on_the_aggregate():
    node = MapNode(
        threshold=0.7,
        fields=an_object(a=text()).fields,
        patterns=(Pattern(re.compile("^n_"), exact(), aggregate=True),),
        rest=Field("", exact(), aggregate=False),
    )
    comparison = compared(node, {"a": "a", "n_b": "b", "c": "c"}, {"a": "a"})

    assert {entry.name: entry.counted for entry in comparison.fields} == {
        "a": False,
        "n_b": True,
        "c": False,
    }


def test_a_map_that_one_side_lacks_says_which_keys_it_had():
    missed = compared(SCORES, {"a": 1, "b": None}, None)

    assert (missed.outcome, outcomes(missed)) == (Outcome.FN, {"a": "FN"})


def test_two_absent_maps_have_no_fields():
    comparison = compared(SCORES, {"a": None}, {})

    assert (comparison.outcome, comparison.fields) == (Outcome.TN, ())


def test_a_map_against_another_kind_is_one_false_discovery():
    comparison = compared(SCORES, {"a": 1}, [1])

    assert comparison.shape == "mismatch"
    assert comparison.outcome is Outcome.FD


def test_maps_in_a_list_pair_by_all_their_keys():
    node = a_list(a_map(rest=exact(), match_threshold=0.5))
    gt, pred = [{"a": 1, "b": 2}, {"c": 3}], [{"c": 3, "d": 4}, {"a": 1, "b": 2}]

    comparison = compared(node, gt, pred)

    assert pairs_of(comparison) == [(0, 1, "TP"), (1, 0, "TP")]
    assert comparison.elements[1].threshold == 0.5
    assert table(node.items, gt, pred) == [[0, 1], [0.5, 0]]


def test_an_empty_map_at_the_root_still_has_its_keys():
    comparison = compared_whole(SCORES, {}, {"a": 1})

    assert outcomes(comparison) == {"a": "FA"}
    assert comparison.similarity == 0.0


def test_a_similarity_is_that_of_the_keys_that_are_there():
    assert alike(SCORES, {"a": 1, "b": 2}, {"a": 1, "c": None}) == 0.5


def test_maps_that_some_of_a_column_lack_are_told_apart():
    gts = [{}, {"a": 1, "b": 2}, None, {"c": 3}, {"d": 4}]
    preds = [{"a": None}, {"a": 1, "b": 3}, {}, {}, {"d": 4}]

    found = compared_together(SCORES, gts, preds)

    assert [each.outcome.name for each in found] == ["TN", "FD", "TN", "FN", "TP"]
    assert [each.similarity for each in found] == [1.0, 0.5, 1.0, 0.0, 1.0]
    assert [outcomes(each) for each in found] == [
        {},
        {"a": "TP", "b": "FD"},
        {},
        {"c": "FN"},
        {"d": "TP"},
    ]


def test_keys_that_only_documents_name_weigh_what_their_family_does():
    node = a_map(
        fields=an_object(a=text(weight=2)).fields,
        patterns=(Pattern(re.compile("^n_"), exact(weight=5)),),
        rest=exact(weight=3),
    )

    # 5 of 10 are wrong; 3 of 5; 2 of 5.
    assert alike(node, {"a": "x", "n_b": 1, "c": 2}, {"a": "x", "n_b": 9, "c": 2}) == 0.5
    assert alike(node, {"a": "x", "c": 2}, {"a": "x", "c": 9}) == 0.4
    assert alike(node, {"a": "x", "c": 2}, {"a": "y", "c": 2}) == 0.6


def test_maps_of_a_column_may_have_declared_fields_only():
    node = a_map(fields=an_object(a=text()).fields, rest=exact())

    found = compared_together(node, [{"a": "x", "b": 1}, {"a": "x"}], [{"b": 1}, {"a": "x"}])

    assert [each.similarity for each in found] == [0.5, 1.0]
    assert [outcomes(each) for each in found] == [{"a": "FN", "b": "TP"}, {"a": "TP"}]


def test_a_key_has_its_say_on_the_aggregate_only_where_it_is_present():
    node = MapNode(
        threshold=0.7,
        fields=an_object(a=text()).fields,
        patterns=(Pattern(re.compile("^n_"), exact(), aggregate=True),),
        rest=Field("", exact(), aggregate=None),
    )
    with_say, without = {"a": "x", "n_b": 1, "c": 2}, {"a": "x", "c": 2}

    found = compared_together(node, [{}, without, with_say], [{}, without, with_say])

    assert [{entry.name: entry.counted for entry in each.fields} for each in found] == [
        {},
        {"a": True, "c": True},
        {"a": False, "n_b": True, "c": False},
    ]


def test_keys_that_opt_out_are_not_counted_wherever_they_are():
    node = MapNode(
        threshold=0.7,
        patterns=(Pattern(re.compile("^n_"), exact(), aggregate=False),),
        rest=Field("", exact()),
    )
    document = {"n_b": 1, "c": 2}

    (found,) = compared_together(node, [document], [document])

    assert {entry.name: entry.counted for entry in found.fields} == {"n_b": False, "c": True}


class HasKey(Acceptor):
    def __init__(self, name):
        self.name = name

    def __call__(self, value):
        return isinstance(value, dict) and self.name in value


class Text(Acceptor):
    def __call__(self, value):
        return isinstance(value, str)


class Number(Acceptor):
    def __call__(self, value):
        return isinstance(value, int)


def test_maps_that_are_arms_of_one_union_have_families_of_their_own():
    with_patterns = a_map(
        patterns=(Pattern(re.compile("^n_"), exact(weight=3)),), rest=exact(weight=1)
    )
    node = OneOfNode(
        threshold=0.5,
        arms=(Arm(HasKey("p"), with_patterns), Arm(HasKey("q"), a_map(rest=exact(weight=2)))),
    )
    gts = [{"p": 1, "n_a": 1}, {"q": 1, "n_a": 1}]
    preds = [{"p": 1, "n_a": 9}, {"q": 1, "n_a": 9}]

    found = compared_together(node, gts, preds)

    # 1 of 4, and 2 of 4.
    assert [each.similarity for each in found] == [0.25, 0.5]


def test_keys_stand_as_the_ground_truth_has_them_and_then_the_prediction():
    comparison = compared(SCORES, {"a": 1, "b": 2}, {"d": 4, "b": 2, "c": 3, "a": 1})

    assert [entry.name for entry in comparison.fields] == ["a", "b", "d", "c"]


def test_the_arm_of_a_key_has_its_say_on_the_aggregate():
    arms = Arm(Text(), text(), aggregate=False), Arm(Number(), exact())
    node = a_map(rest=OneOfNode(threshold=0.5, arms=arms))
    document = {"a": "x", "b": 1}

    fields = compared(node, document, document).fields

    assert {entry.name: entry.counted for entry in fields} == {"a": False, "b": True}


class Picky(BaseComparator):
    """Takes all values but one."""

    def compare(self, gt, pred):
        if gt == "bad":
            raise LookupError("cannot")
        return 0.5


@pytest.mark.parametrize("names", [("b",), ("a", "b"), ("c", "b", "a")])
def test_the_key_that_a_comparator_fails_on_is_named(names):
    node = a_map(rest=LeafNode(threshold=0.5, comparator=Picky()))
    gt = {name: "bad" if name == "b" else "good" for name in names}

    with pytest.raises(ComparisonError) as failed:
        compared(node, gt, dict.fromkeys(names, "other"))

    assert failed.value.path == ("b",)
