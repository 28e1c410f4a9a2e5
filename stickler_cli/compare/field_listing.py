"""Listings of a plan's fields with kinds, comparators, thresholds and weights."""

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
from .one_of import OneOfNode, follow_references
from .open import OpenNode, SchemasNode
from .plan import Node, Plan, walk_nodes
from .result import FieldInfo
from .tuple import TupleNode

ANY_KIND: Final = "any"
"""The kind of a field whose kind depends on its values."""
RECURSIVE: Final = "recursive"
"""The kind of a field that has the same schema as an object or list around it, such as a folder
inside a folder. The fields inside it are not listed again: they are listed below the outer
field."""
SCHEMA: Final = "schema"
"""The kind of a field that stands for a whole schema, in a run with several schemas. In such a run,
each document is inside an object with one key, such as `invoice/`, which names the schema."""
MAX_ROWS: Final = 10_000
"""At most this many fields are listed, because a recursive schema may have any number of fields."""


def field_listing(plan: Plan) -> tuple[FieldInfo, ...]:
    """Return the fields of a plan in schema order, parents before children.

    If documents are arrays, the first row is the array itself, a list without a name.
    """
    root = follow_references(plan.root)
    root_rows = [_make_row(root, ())] if plan.kind == "array" else []
    fields = islice(_fields_below(root, (), ()), MAX_ROWS - len(root_rows))
    return (*root_rows, *(_make_row(node, path, kind) for path, node, kind in fields))


def known_paths(plan: Plan) -> tuple[Path, ...]:
    """Return the paths of all fields that documents may have under a plan; `*` stands for any name.

    Two kinds of fields are listed without the fields inside them: fields that may have any content,
    and fields that repeat the schema of an outer field. For all fields inside such a field, there
    is one path that ends in `*`. If the list of fields is full (`MAX_ROWS`), the path `*` stands
    for all fields that are not listed.
    """
    rows = field_listing(plan)
    paths = [row.field for row in rows]
    paths += ((*row.field, ANY_KEY) for row in rows if row.kind in (ANY_KIND, RECURSIVE))
    return (*paths, *([(ANY_KEY,)] if len(rows) == MAX_ROWS else []))


def plan_of(root: Node, name: str, kind: DocumentKind = "object") -> Plan:
    """Return a named plan for documents of the JSON type `kind`, which are compared by `root`."""
    return Plan(
        root=root,
        model_name=name,
        asks_models=asks_models(root),
        kind=kind,
        has_ignored_values=has_ignored_values(root),
    )


def asks_models(root: Node) -> bool:
    """Return whether a node or one of its descendants has a comparator that asks a model."""
    return any(node.comparator.asks_models for node in _leaves(root))


def has_ignored_values(root: Node) -> bool:
    """Return whether a node or its descendants ignore some values, or count some as absent."""
    nodes = [*_nodes(root)]
    return (
        any(leaf.reading is not None and leaf.reading.nothing for leaf in _leaves(root))
        or any(isinstance(node, ListNode) and node.distinct for node in nodes)
        or any(isinstance(node, OpenNode) and node.list_rules.get("distinct") for node in nodes)
        or any(isinstance(node, TupleNode) and node.ignored for node in nodes)
        or any(
            declared.ignored
            for node in nodes
            if isinstance(node, ObjectNode)
            for declared in (*node.ignored, *node.families)
        )
    )


def comparators(plan: Plan) -> tuple[BaseComparator, ...]:
    """Return the comparators that a plan may call."""
    return tuple(node.comparator for node in _leaves(plan.root))


def is_bounded(plan: Plan) -> bool:
    """Return whether all unions of a plan choose an alternative in linear time.

    The time for choosing the alternative of a value then grows at most in proportion to the size of
    the value.
    """
    arms = (arm for node in _nodes(plan.root) if isinstance(node, OneOfNode) for arm in node.arms)
    return all(arm.accepts.is_bounded for arm in arms)


def leaves_by_field(plan: Plan) -> Iterator[tuple[Path, Sequence[LeafNode]]]:
    """Yield the path and the leaves of each field that has leaves, in schema order."""
    root = follow_references(plan.root)
    root_and_fields = chain([((), root, None)], _fields_below(root, (), ()))
    for path, node, kind in islice(root_and_fields, MAX_ROWS):
        if kind != SCHEMA and (leaves := _leaves_of(node)):
            yield path, leaves


def _leaves_of(node: Node) -> list[LeafNode]:
    """Return the leaf nodes that may compare the values of a field.

    For a field of single values, the result is the node of the field itself. For a list, a tuple or
    a union, it is the leaf nodes of the items, positions or arms, at any depth.
    """
    inner_nodes = follow_references(node).list_inner_nodes()
    return [inner for inner in inner_nodes if isinstance(inner, LeafNode)]


def _fields_below(
    node: Node, path: Path, ancestors: tuple[int, ...]
) -> Iterator[tuple[Path, Node, str | None]]:
    """Yield (path, node, kind) of each field below a node, also of fields inside lists and unions.

    If `kind` is None, the field has the kind of its node. `ancestors` has the `id` of the node and
    of each node around it.
    """
    seen: set[str] = set()
    for name, child in node.list_all_fields():
        if name in seen:
            continue
        seen.add(name)
        identity = id(follow_references(child))
        if isinstance(node, SchemasNode):
            yield (name,), child, SCHEMA
            yield from _fields_below(child, (name,), (identity,))
        elif identity in ancestors:
            yield (*path, name), child, RECURSIVE
        else:
            yield (*path, name), child, None
            yield from _fields_below(child, (*path, name), (*ancestors, identity))


def list_nodes(root: Node) -> Iterator[tuple[Path, Node]]:
    """Yield (path, node) of each node of a plan, each node once."""
    waiting: list[tuple[Path, Node]] = [((), root)]
    seen: set[int] = set()
    while waiting and len(seen) < MAX_ROWS:
        path, node = waiting.pop()
        node = follow_references(node)
        if id(node) not in seen:
            seen.add(id(node))
            yield path, node
            waiting += reversed([(path, inner) for inner in node.inner_nodes()])
            waiting += reversed([((*path, name), child) for name, child in node.list_fields()])


def node_at(plan: Plan, names: Path) -> Node | None:
    """Return the node of a field, or None if there is no such field.

    `names` is the path of the field without list indexes.
    """
    node = plan.root
    for name in names:
        nodes = node.nodes_by_name()
        child = nodes.get(str(name), nodes.get(ANY_KEY))
        if child is None:
            return None
        node = follow_references(child)
    return node


def _leaves(root: Node) -> Iterator[LeafNode]:
    """Yield each leaf of a plan once."""
    return (node for node in _nodes(root) if isinstance(node, LeafNode))


def _nodes(root: Node) -> Iterator[Node]:
    """Yield each node of a plan once."""

    def list_children(node: Node) -> Iterator[Node]:
        yield from node.leaves.values() if isinstance(node, OpenNode) else node.inner_nodes()
        yield from (child for _, child in node.list_fields())

    return walk_nodes(root, list_children)


def _make_row(node: Node, path: Path, kind: str | None = None) -> FieldInfo:
    """Return the row of a field; `kind` replaces the kind of its node."""
    if kind == SCHEMA:
        return FieldInfo(field=path, kind=kind, comparator="", threshold=None, weight=1.0)
    node = follow_references(node)
    names = dict.fromkeys(leaf.comparator.name for leaf in _leaves_of(node))
    kind = kind or _KINDS.get(type(node), ANY_KIND)
    first_arm = node
    while isinstance(first_arm, OneOfNode):
        first_arm = follow_references(first_arm.inner_nodes()[0])
    return FieldInfo(
        field=path,
        kind=kind,
        comparator=" | ".join(names),
        threshold=_find_threshold(node),
        weight=first_arm.weight,
    )


_KINDS: Final = {
    LeafNode: "leaf",
    ObjectNode: "object",
    ListNode: "list",
    TupleNode: "tuple",
    OneOfNode: "one of",
    JsonTextNode: "JSON text",
}


def _find_threshold(node: Node) -> float | None:
    """Return the threshold of a field's values; for a list, the threshold of its items.

    Return None if values have different thresholds, or if the threshold depends on the values.
    """
    thresholds: set[float | None] = set()
    waiting, seen = [(node, False)], set()
    while waiting:
        node, is_item = waiting.pop()
        node = follow_references(node)
        if (id(node), is_item) in seen:
            continue
        seen.add((id(node), is_item))
        if isinstance(node, ListNode) and not is_item:
            waiting.append((node.items, True))
        elif isinstance(node, OneOfNode):
            waiting += ((arm, is_item) for arm in node.inner_nodes())
        elif isinstance(node, OpenNode) or (isinstance(node, TupleNode) and not is_item):
            return None
        else:
            thresholds.add(node.item_threshold if is_item else node.threshold)
    return thresholds.pop() if len(thresholds) == 1 else None
