"""The fields of a plan as rows for a reader: kind, comparator, threshold, weight."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.core.json_values import DocumentKind
from stickler_cli.core.locations import ANY_KEY, Path
from .json_text import JsonTextNode
from .leaf import LeafNode
from .list import ListNode
from .object import ObjectNode
from .one_of import OneOfNode, followed
from .open import OpenNode, SchemasNode
from .plan import Node, Plan, once_each
from .result import FieldInfo
from .tuple import TupleNode

ANY_KIND: Final = "any"
"""The kind of a place whose values decide."""
RECURSIVE: Final = "recursive"
"""The kind of a place that leads back to one above it; what is below is told there."""
SCHEMA: Final = "schema"
"""The kind of the key under which the documents of one of several schemas stand."""
MOST_ROWS: Final = 10_000
"""Fields that are listed at most: places that share a schema could be any number."""


def field_listing(plan: Plan) -> tuple[FieldInfo, ...]:
    """List the fields of a plan in schema order, parents first.

    Documents that are arrays are the first, a list without a name.
    """
    root = followed(plan.root)
    whole = [_row(root, ())] if plan.kind == "array" else []
    places = islice(_places_below(root, (), ()), MOST_ROWS - len(whole))
    return (*whole, *(_row(node, path, kind) for path, node, kind in places))


def known_paths(plan: Plan) -> tuple[Path, ...]:
    """List the fields that documents may have under a plan; `*` stands for any name.

    What is below a place of any kind, or of a schema that contains itself, ends in `*` too.
    """
    rows = field_listing(plan)
    paths = [row.field for row in rows]
    paths += ((*row.field, ANY_KEY) for row in rows if row.kind in (ANY_KIND, RECURSIVE))
    return (*paths, *([(ANY_KEY,)] if len(rows) == MOST_ROWS else []))


def plan_of(root: Node, name: str, kind: DocumentKind = "object") -> Plan:
    """Return the plan of documents of a name and a kind, which a node compares."""
    return Plan(root, name, asks_models(root), kind, hides(root))


def asks_models(root: Node) -> bool:
    """Return whether a comparator below a node asks a model."""
    return any(node.comparator.asks_models for node in _leaves(root))


def hides(root: Node) -> bool:
    """Return whether some values below a node count as nothing, or are not looked at."""
    nodes = [*_nodes(root)]
    return (
        any(leaf.reading is not None and leaf.reading.nothing for leaf in _leaves(root))
        or any(isinstance(node, ListNode) and node.distinct for node in nodes)
        or any(isinstance(node, OpenNode) and node.arranged.get("distinct") for node in nodes)
        or any(isinstance(node, TupleNode) and node.ignored for node in nodes)
        or any(
            it.ignored
            for node in nodes
            if isinstance(node, ObjectNode)
            for it in (*node.ignored, *node.families)
        )
    )


def comparators(plan: Plan) -> tuple[BaseComparator, ...]:
    """List the comparators that a plan may call."""
    return tuple(node.comparator for node in _leaves(plan.root))


def is_bounded(plan: Plan) -> bool:
    """Return whether arms of unions are chosen in time in proportion to the values."""
    arms = (arm for node in _nodes(plan.root) if isinstance(node, OneOfNode) for arm in node.arms)
    return all(arm.accepts.is_bounded for arm in arms)


def leaves_by_field(plan: Plan) -> Iterator[tuple[Path, Sequence[LeafNode]]]:
    """List what compares the values of each field that has any, in schema order."""
    root = followed(plan.root)
    places = chain([((), root, None)], _places_below(root, (), ()))
    for path, node, kind in islice(places, MOST_ROWS):
        if kind != SCHEMA and (leaves := _leaves_of(node)):
            yield path, leaves


def _leaves_of(node: Node) -> list[LeafNode]:
    return [part for part in followed(node).same_place() if isinstance(part, LeafNode)]


def _places_below(
    node: Node, path: Path, above: tuple[int, ...]
) -> Iterator[tuple[Path, Node, str | None]]:
    """List paths, nodes and kinds of the fields inside a node, through lists and arms.

    `above` are the nodes around it. A kind is None where the node says it.
    """
    seen: set[str] = set()
    for name, child in node.all_named():
        if name in seen:
            continue
        seen.add(name)
        place = id(followed(child))
        if isinstance(node, SchemasNode):
            yield (name,), child, SCHEMA
            yield from _places_below(child, (name,), (place,))
        elif place in above:
            yield (*path, name), child, RECURSIVE
        else:
            yield (*path, name), child, None
            yield from _places_below(child, (*path, name), (*above, place))


def list_nodes(root: Node) -> Iterator[tuple[Path, Node]]:
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


def node_at(plan: Plan, names: Path) -> Node | None:
    """Return the node of a field by its path without list indexes; None where there is none."""
    node = plan.root
    for name in names:
        fields = node.by_name()
        found = fields.get(str(name), fields.get(ANY_KEY))
        if found is None:
            return None
        node = followed(found)
    return node


def _leaves(root: Node) -> Iterator[LeafNode]:
    return (node for node in _nodes(root) if isinstance(node, LeafNode))


def _nodes(root: Node) -> Iterator[Node]:
    """List all nodes of a plan, each once."""

    def inside(node: Node) -> Iterator[Node]:
        yield from node.leaves.values() if isinstance(node, OpenNode) else node.parts()
        yield from (child for _, child in node.named())

    return once_each(root, inside)


def _row(node: Node, path: Path, kind: str | None = None) -> FieldInfo:
    if kind == SCHEMA:
        return FieldInfo(path, kind, "", None, 1.0)
    node = followed(node)
    names = dict.fromkeys(leaf.comparator.name for leaf in _leaves_of(node))
    kind = kind or _KINDS.get(type(node), ANY_KIND)
    worth = node
    while isinstance(worth, OneOfNode):
        worth = followed(worth.parts()[0])
    return FieldInfo(path, kind, " | ".join(names), _threshold(node), worth.weight)


_KINDS: Final = {
    LeafNode: "leaf",
    ObjectNode: "object",
    ListNode: "list",
    TupleNode: "tuple",
    OneOfNode: "one of",
    JsonTextNode: "JSON text",
}


def _threshold(node: Node) -> float | None:
    """Return the threshold of a unit of a field; a list's units are its elements."""
    thresholds: set[float | None] = set()
    waiting, met = [(node, False)], set()
    while waiting:
        node, is_element = waiting.pop()
        node = followed(node)
        if (id(node), is_element) in met:
            continue
        met.add((id(node), is_element))
        if isinstance(node, ListNode) and not is_element:
            waiting.append((node.items, True))
        elif isinstance(node, OneOfNode):
            waiting += ((arm, is_element) for arm in node.parts())
        elif isinstance(node, OpenNode) or (isinstance(node, TupleNode) and not is_element):
            return None
        else:
            thresholds.add(node.item_threshold if is_element else node.threshold)
    return thresholds.pop() if len(thresholds) == 1 else None
