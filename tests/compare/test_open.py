from datetime import date

import pytest

from stickler_cli.comparators import BBoxIoUComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.result import Outcome

from .nodes import DEFAULTS, a_list, an_object, anything, pairs_of, text

OPEN = anything()


def outcomes(comparison):
    return {entry.name: entry.comparison.outcome.name for entry in comparison.fields}


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
    assert OPEN.similarity(gt, pred, DEFAULTS) == similarity
    assert OPEN.matrix([gt], [pred], DEFAULTS).tolist() == [[similarity]]


def test_the_prediction_says_it_where_the_ground_truth_is_absent():
    comparison = OPEN.compare(None, {"a": 1, "b": None}, DEFAULTS)

    assert (comparison.outcome, outcomes(comparison)) == (Outcome.FA, {"a": "FA"})
    assert pairs_of(OPEN.compare("", ["x", 1], DEFAULTS)) == [(None, 0, "FA"), (None, 1, "FA")]


def test_the_fields_of_an_object_are_all_keys_that_are_present():
    comparison = OPEN.compare({"a": 1, "n": None}, {"b": 2, "m": ""}, DEFAULTS)

    assert outcomes(comparison) == {"a": "FN", "b": "FA"}
    assert comparison.extras == ()


def test_objects_and_lists_are_open_all_the_way_down():
    gt = {"rows": [{"cells": [1, "abcd"]}, {"cells": [True]}]}
    pred = {"rows": [{"cells": [True]}, {"cells": ["abcd", 1.0]}]}

    assert OPEN.similarity(gt, pred, DEFAULTS) == 1.0
    assert OPEN.compare(gt, pred, DEFAULTS).similarity == 1.0


def test_objects_match_at_their_thresholds():
    node = anything(object_threshold=0.4, match_threshold=0.6)
    gt, pred = {"a": 1, "b": 2}, {"a": 1, "b": 3}

    assert node.compare(gt, pred, DEFAULTS).outcome is Outcome.TP
    assert pairs_of(node.compare([gt], [pred], DEFAULTS)) == [(0, 0, "FD")]


def test_the_weight_does_not_depend_on_the_kind():
    node = anything(weight=4)

    assert node.weigh("a", None) == 4
    assert node.weights(["a", 1], [None]) == 4
    assert an_object(a=node, b=text(weight=1)).matrix(
        [{"a": 1, "b": "x"}], [{"a": 1, "b": "y"}], DEFAULTS
    ).tolist() == [[0.8]]


def test_a_floor_holds_for_the_list_itself_and_not_for_lists_inside():
    node = anything(pairing_floor=0.6, elements=OPEN)

    assert len(node.compare(["abcdef"], ["abcxyz"], DEFAULTS).elements) == 2
    assert pairs_of(node.compare([["abcdef"]], [["abcdef"]], DEFAULTS)) == [(0, 0, "TP")]
    assert OPEN.similarity(["abcdef"], ["abcxyz"], DEFAULTS) == 0.5


def test_a_comparator_may_take_lists_whole():
    box = LeafNode(threshold=0.5, comparator=BBoxIoUComparator())
    node = anything(whole={"array": box})

    assert node.compare([0, 0, 1, 1], [1, 1, 0, 0], DEFAULTS).similarity == 1.0
    assert node.compare([0, 0, 1, 1], [1, 1, 0, 0], DEFAULTS).outcome is Outcome.TP


def test_values_inside_an_object_may_have_a_node_of_their_own():
    strict = anything(object_threshold=0.9)
    node = anything(inside=strict, object_threshold=0.1)
    gt, pred = {"o": {"a": 1, "b": 2}}, {"o": {"a": 1, "b": 3}}

    comparison = node.compare(gt, pred, DEFAULTS)

    assert comparison.outcome is Outcome.TP
    assert outcomes(comparison) == {"o": "FD"}


def test_values_of_one_kind_share_a_node():
    assert OPEN.choose("a") is OPEN.choose("b")
    assert OPEN.choose([]) is OPEN.choose([1])


def test_a_value_that_is_not_json_is_compared_as_text():
    assert OPEN.choose(date(2024, 1, 2)) is OPEN.choose("a")


def test_elements_of_several_kinds_pair_by_the_ground_truth():
    comparison = a_list(OPEN).compare(["abcd", 1, {"a": 1}], [{"a": 1}, "abcx", 1], DEFAULTS)

    assert pairs_of(comparison) == [(0, 1, "TP"), (1, 2, "TP"), (2, 0, "TP")]
    assert comparison.score == (0.75 + 1 + 1) / 3


def test_an_object_that_nothing_declares_is_a_map():
    assert not isinstance(OPEN.choose({}), ObjectNode)
    assert OPEN.choose({}).declared.fields == ()
