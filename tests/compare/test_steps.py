"""The number of compared pairs of values is proportional to the possible pairs, at any depth."""

import random

import pytest

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.engine import compare
from stickler_cli.schema.compiler import compile_schema

STEPS = 3
"""Number of times that a pair of nodes may be compared: for pairing, and for the results."""


class Counting(BaseComparator):
    """A comparator that counts the pairs of values that it compares."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    def compare(self, gt, pred):
        self.asked += 1
        return 1.0 if gt == pred else 0.3

    def similarities(self, gts, preds):
        self.asked += len(gts) - 1
        return super().similarities(gts, preds)


def tree(depth, children, random):
    nodes = [tree(depth - 1, children, random) for _ in range(children if depth else 0)]
    return {"v": f"v{random.randrange(50)}", **({"c": nodes} if nodes else {})}


def shuffled(node, random):
    nodes = [shuffled(child, random) for child in node.get("c", ())]
    random.shuffle(nodes)
    return {**node, **({"c": nodes} if nodes else {})}


def size(node):
    return 1 + sum(map(size, node.get("c", ())))


def plan_of(node, counting):
    schema = {"$ref": "#/$defs/n", "$defs": {"n": node}}
    return compile_schema(schema, comparators={"Counting": counting})


VALUE = {"type": "string", "x-aws-stickler-comparator": "Counting"}
NODE = {
    "type": "object",
    "properties": {"v": VALUE, "c": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
}


@pytest.mark.parametrize(("depth", "children"), [(4, 3), (5, 3), (12, 1), (7, 2)])
@pytest.mark.parametrize("order", ["same", "shuffled"])
def test_nested_lists_are_paired_in_proportion_to_their_pairs(depth, children, order):
    random_order = random.Random(depth)  # noqa: S311 - no secret
    counting = Counting()
    gt = tree(depth, children, random_order)
    pred = gt if order == "same" else shuffled(gt, random_order)

    account = compare(plan_of(NODE, counting), [gt], [pred])

    assert account.document_scores.tolist() == [1.0]
    assert counting.asked <= STEPS * size(gt) ** 2


def test_a_chain_of_alternatives_that_contain_themselves_is_followed_once():
    arm = {"type": "object", "properties": {"v": VALUE, "n": {"$ref": "#/$defs/n"}}}
    counting, depth = Counting(), 14
    gt, pred = {"v": "a"}, {"v": "b"}
    for _ in range(depth):
        gt, pred = {"v": "a", "n": gt}, {"v": "b", "n": pred}

    compare(plan_of({"anyOf": [arm, {**arm, "title": "Other"}]}, counting), [gt], [pred])

    assert 0 < counting.asked <= STEPS * (depth + 1)
