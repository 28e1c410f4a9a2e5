import pickle

import pytest

from stickler_cli.compare.one_of import RecursionNode, Target
from stickler_cli.compare.result import Outcome
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.schema.compiler import compile_schema
from .nodes import a_list, alike, an_object, anything, compared, figures, pairs_of, table, text


def tree():
    target = Target()
    again = RecursionNode(threshold=0.7, location="#/$defs/tree", target=target)
    target.node = an_object(name=text(weight=3), left=again, children=a_list(again))
    return target.node, again


def test_a_tree_is_compared_as_deep_as_the_documents():
    node, _ = tree()
    gt = {"name": "ab", "children": [{"name": "cd", "children": [{"name": "ef"}]}]}
    pred = {"name": "ab", "children": [{"name": "cd", "children": [{"name": "xy"}]}]}

    # Innermost 0; the child (3 * 1 + 1 * 0) / 4; the root (3 * 1 + 1 * 0.75) / 4.
    assert alike(node, gt, pred) == 0.9375
    assert table(node, [gt], [pred]) == [[0.9375]]
    comparison = compared(node, gt, pred)
    assert comparison.similarity == 0.9375
    (child,) = comparison.fields[2].items
    assert child.outcome is Outcome.TP
    assert pairs_of(child.fields[2]) == [(0, None, "FN"), (None, 0, "FA")]


def nested_lists(make, **rest):
    """Return a list or tuple node whose items are lists or tuples of the same kind."""
    target = Target()
    target.node = make(RecursionNode(threshold=0.5, location="#", target=target), **rest)
    return target.node


def a_tuple(position, **rest):
    return TupleNode(threshold=0.5, positions=(position,), other_positions=position, **rest)


@pytest.mark.parametrize("make", [a_list, a_tuple])
def test_a_value_that_would_be_wrapped_for_ever_is_compared_by_its_own_kind(make):
    node = nested_lists(make, other=anything())

    assert alike(node, "abcd", "abcx") == 0.75
    assert alike(node, [["abcd"]], [["abcx"]]) == 0.75
    assert pairs_of(compared(node, ["abcd"], ["abcx"])) == [(0, 0, "TP")]


@pytest.mark.parametrize("make", [a_list, a_tuple])
def test_a_value_that_would_be_wrapped_for_ever_counts_as_one_where_it_is_missed(make):
    node = nested_lists(make)

    missed = compared(node, ["a", "b"], None)

    assert pairs_of(missed) == [(0, None, "FN"), (1, None, "FN")]
    assert figures(missed.items[0]) == ("leaf", "a", None, Outcome.FN, 0.0, 0.0, 0.5)
    assert compared(node, ["a"], "a").outcome is Outcome.FD


def test_a_recursion_without_its_target_is_a_mistake_of_the_program():
    node = RecursionNode(threshold=0.7, location="#/$defs/tree", target=Target())

    with pytest.raises(AssertionError, match=r"the plan of #/\$defs/tree is not complete"):
        node.choose({})


def test_a_plan_that_contains_itself_survives_pickling():
    plan = compile_schema({"type": "object", "properties": {"n": {"$ref": "#"}, "a": {}}})
    gt = {"n": {"n": {"a": "ab"}}}

    copy = pickle.loads(pickle.dumps(plan))  # noqa: S301 # made here

    assert alike(copy.root, gt, gt) == 1.0
    assert copy.model_name == plan.model_name
