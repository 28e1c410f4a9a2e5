import pytest

from stickler_cli.comparators import BBoxIoUComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.one_of import Acceptor, Arm, OneOfNode
from stickler_cli.compare.result import Outcome
from .nodes import (
    a_list,
    alike,
    anything,
    compared,
    compared_together,
    pairs_of,
    table,
    text,
)

OPEN = anything()


def outcomes(comparison):
    return {entry.name: entry.outcome.name for entry in comparison.fields}


@pytest.mark.parametrize(
    ("gt", "pred", "similarity"),
    [
        ("abcd", "abcx", 0.75),
        (5, 5.0, 1.0),
        (5, "$5", 1.0),
        (1.5, 1.4, 0.0),
        (True, True, 1.0),
        (True, False, 0.0),
        (True, 1, 0.0),
        ("5", 5, 1.0),
        (["a", "b"], ["b", "a"], 1.0),
        (["a", "b"], "a", 0.5),
        ({"a": 1, "b": "x"}, {"b": "x"}, 0.5),
        ("a", {"a": 1}, 0.0),
        ({"a": 1}, ["a"], 0.0),
    ],
)
def test_the_ground_truth_says_how_a_pair_is_compared(gt, pred, similarity):
    assert alike(OPEN, gt, pred) == similarity
    assert table(OPEN, [gt], [pred]) == [[similarity]]


def test_a_comparator_may_take_lists_whole():
    box = LeafNode(threshold=0.5, comparator=BBoxIoUComparator())
    node = anything(leaves_by_shape={"array": box})

    assert compared(node, [0, 0, 1, 1], [1, 1, 0, 0]).similarity == 1.0
    assert compared(node, [0, 0, 1, 1], [1, 1, 0, 0]).outcome is Outcome.TP


def test_values_inside_an_object_may_have_a_node_of_their_own():
    strict = anything(object_threshold=0.9)
    node = anything(value_node=strict, object_threshold=0.1)
    gt, pred = {"o": {"a": 1, "b": 2}}, {"o": {"a": 1, "b": 3}}

    comparison = compared(node, gt, pred)

    assert comparison.outcome is Outcome.TP
    assert outcomes(comparison) == {"o": "FD"}


def test_elements_of_several_kinds_pair_by_the_ground_truth():
    comparison = compared(a_list(OPEN), ["abcd", 1, {"a": 1}], [{"a": 1}, "abcx", 1])

    assert pairs_of(comparison) == [(0, 1, "TP"), (1, 2, "TP"), (2, 0, "TP")]
    assert comparison.score == (0.75 + 1 + 1) / 3


def test_places_of_any_kind_that_are_arms_of_one_union_have_thresholds_of_their_own():
    class OfLength(Acceptor):
        def __init__(self, length):
            self.length = length

        def __call__(self, value):
            return len(value) == self.length

    arms = (
        Arm(OfLength(3), anything(leaves={"string": text(0.9)})),
        Arm(OfLength(6), anything()),
    )
    comparisons = compared_together(
        OneOfNode(threshold=0.5, arms=arms), ["abc", "abcdef"], ["abx", "abcdxx"]
    )

    assert [comparison.outcome for comparison in comparisons] == [Outcome.FD, Outcome.TP]


def test_lists_and_objects_of_any_kind_have_what_the_place_says_of_them():
    place = anything(
        threshold=0.6,
        list_threshold=0.8,
        object_threshold=0.4,
        match_threshold=0.3,
        weight=2.0,
        clip=True,
        match_source="match-threshold",
        threshold_source="annotation",
        pairing_floor=0.2,
    )
    chosen, silent = place.choose([1]), anything(threshold=0.6).choose([1])
    assert (chosen.threshold, chosen.threshold_stated, chosen.threshold_source) == (
        0.8,
        True,
        "annotation",
    )
    assert (silent.threshold, silent.threshold_stated, silent.threshold_source) == (
        0.6,
        False,
        "default",
    )
    assert (chosen.weight, chosen.pairing_floor, chosen.items) == (2.0, 0.2, place)
    chosen = place.choose({})
    assert (chosen.threshold, chosen.threshold_source) == (0.4, "annotation")
    assert (chosen.match_threshold, chosen.match_source) == (0.3, "match-threshold")
    assert (chosen.weight, chosen.clip, chosen.families[0].node) == (2.0, True, place)
