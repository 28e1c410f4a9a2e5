"""What a plan says of each field, as rows for a reader: kind, comparator, threshold, weight."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.map import MapNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.one_of import OneOfNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node, Plan
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.locations import Path

ANY_KEY: Final = "*"
"""Stands in an outline for the keys that only the documents name."""


@dataclass(frozen=True, slots=True)
class FieldOutline:
    """One field of a plan."""

    path: Path
    """Without list indexes: `("line_items", "price")`."""
    kind: str
    """`leaf`, `object`, `list`, `tuple`, `one of` or `any`."""
    comparator: str
    """The name of what compares its leaves; empty where fields of its own do."""
    threshold: float | None
    """What a unit of it must reach; None where that depends on the values."""
    weight: float
    """What the field is worth in its object."""


def outline(plan: Plan) -> tuple[FieldOutline, ...]:
    """List the fields of a plan in schema order, parents first; a recursion is not followed."""
    return tuple(_below(plan.root, ()))


def comparators(plan: Plan) -> tuple[BaseComparator, ...]:
    """List the comparators that a plan may call."""
    return tuple(node.comparator for node in _nodes(plan.root) if isinstance(node, LeafNode))


def _below(node: Node, path: Path) -> Iterator[FieldOutline]:
    """List the fields inside a node, through lists and arms."""
    seen: set[str] = set()
    for name, child in _fields(node):
        if name not in seen:
            seen.add(name)
            yield _row(child, (*path, name))
            yield from _below(child, (*path, name))


def _fields(node: Node) -> Iterator[tuple[str, Node]]:
    match node:
        case ObjectNode():
            yield from ((entry.name, entry.node) for entry in node.fields)
        case MapNode():
            yield from _fields(node.declared)
            rest = [pattern.node for pattern in node.patterns]
            rest += [node.rest.node] if node.rest else []
            yield from ((ANY_KEY, child) for child in rest)
        case _:
            for part in _parts(node):
                yield from _fields(part)


def _parts(node: Node) -> Iterator[Node]:
    """List the nodes whose fields are the node's own: elements, positions, arms."""
    match node:
        case ListNode():
            yield node.items
        case TupleNode():
            yield from node.positions
            yield node.rest
        case OneOfNode():
            yield from (arm.node for arm in node.arms)
        case _:
            pass


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for part in _parts(node):
        yield from _nodes(part)
    if isinstance(node, OpenNode):
        yield from node.leaves.values()
    for _, child in _fields(node) if isinstance(node, ObjectNode | MapNode) else ():
        yield from _nodes(child)


def _row(node: Node, path: Path) -> FieldOutline:
    names = dict.fromkeys(leaf.comparator.name for leaf in _own_leaves(node))
    kind = _KINDS.get(type(node), "any")
    return FieldOutline(path, kind, " | ".join(names), _threshold(node), node.weigh(None, None))


_KINDS: Final = {
    LeafNode: "leaf",
    ObjectNode: "object",
    MapNode: "object",
    ListNode: "list",
    TupleNode: "tuple",
    OneOfNode: "one of",
}


def _own_leaves(node: Node) -> Iterator[LeafNode]:
    """List the leaves that are compared at a node itself, not at fields below it."""
    if isinstance(node, LeafNode):
        yield node
    for part in _parts(node):
        yield from _own_leaves(part)


def _threshold(node: Node) -> float | None:
    """Give what a unit of a field must reach; a list's units are its elements."""
    match node:
        case ListNode():
            return _threshold_of_items(node.items)
        case TupleNode() | OpenNode():
            return None
        case OneOfNode():
            thresholds = {_threshold(arm.node) for arm in node.arms}
            return thresholds.pop() if len(thresholds) == 1 else None
        case _:
            return node.threshold


def _threshold_of_items(items: Node) -> float | None:
    if isinstance(items, OneOfNode):
        thresholds = {_threshold_of_items(arm.node) for arm in items.arms}
        return thresholds.pop() if len(thresholds) == 1 else None
    return None if isinstance(items, OpenNode) else items.item_threshold
