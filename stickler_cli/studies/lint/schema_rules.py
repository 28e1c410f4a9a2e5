"""Rules on a schema by itself: thresholds and weights without effect."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.compare.field_listing import MOST_ROWS
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.object import FieldsNode
from stickler_cli.compare.one_of import followed
from stickler_cli.compare.plan import PAIRING_FLOOR, Node
from stickler_cli.core.locations import Path, field_path
from stickler_cli.schema.loading import LoadedSchema
from .findings import Findings

LEAST_SHARE: Final = 0.001
"""Of the weights of an object, below which a field moves no figure that a report shows."""


def judge_schema(loaded: LoadedSchema, findings: Findings) -> None:
    """Find thresholds and weights without effect."""
    for path, node in _places(loaded.plan.root):
        for rule, where, found, expected in _of(path, node):
            findings.of_schema(rule, field_path(where), found, expected)


def _of(path: Path, node: Node) -> Iterator[tuple[str, Path, str, str]]:
    if isinstance(node, LeafNode) and node.threshold == 0:
        yield "threshold-zero", path, "the threshold is 0", "a number above 0"
    if isinstance(node, ListNode):
        floor = PAIRING_FLOOR if node.pairing_floor is None else node.pairing_floor
        threshold = node.items.item_threshold
        if 0 < threshold <= floor:
            found = f"the threshold is {threshold:g}, and the pairing floor {floor:g}"
            yield "threshold-below-floor", path, found, "a floor below the threshold"
    if isinstance(node, FieldsNode):
        fields = [(name, followed(child).weight) for name, child in node.named()]
        total = sum(weight for _, weight in fields)
        for name, weight in fields:
            if weight < LEAST_SHARE * total:
                found = f"the weight is {weight:g} of {total:g}"
                yield "irrelevant-weight", (*path, name), found, f"{LEAST_SHARE:.1%} or more"


def _places(root: Node) -> Iterator[tuple[Path, Node]]:
    """Yield the nodes of a plan with their paths, each once."""
    waiting: list[tuple[Path, Node]] = [((), root)]
    met: set[int] = set()
    while waiting and len(met) < MOST_ROWS:
        path, node = waiting.pop()
        node = followed(node)
        if id(node) not in met:
            met.add(id(node))
            yield path, node
            waiting += reversed([(path, part) for part in node.parts()])
            waiting += reversed([((*path, name), child) for name, child in node.named()])
