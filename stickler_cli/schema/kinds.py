"""One kind of place each: leaf, array, object and open, from a merged cell to a node."""

import re
from dataclasses import dataclass, replace
from typing import Final, Protocol

from stickler_cli.comparators.base import BaseComparator, KeywordError
from stickler_cli.comparators.registry import UnknownComparatorError, construct
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.map import MapNode, Pattern
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD
from stickler_cli.compare.tuple import DEFAULT_TUPLE_THRESHOLD, TupleNode
from stickler_cli.json_values import JsonValue, kind_of
from stickler_cli.schema.combinators import Cell, first, properties
from stickler_cli.schema.defaults import (
    BY_FORMAT,
    BY_TYPE,
    TEXT,
    LeafDefault,
    leaf_default,
    open_default,
)
from stickler_cli.schema.merging import NOTHING_INHERITED, Inherited, Merged, merge_annotations
from stickler_cli.schema.references import SchemaFiles, Source
from stickler_cli.schema.usage import Usage
from stickler_cli.schema.validity import COMPARATOR, Problems

Held = tuple[Source, JsonValue]
"""A schema, and one that it holds."""

DEFAULT_WEIGHT: Final = 1.0
"""Source: docs/schema.md."""

OPEN: Final = "any"
"""The kind of a place whose values decide."""


def kind_of_cell(cell: Cell) -> str:
    """Infer the kind of a place without a type: from the keywords that only one kind has."""
    if any(
        keyword in source.schema
        for source in cell
        for keyword in ("properties", "patternProperties")
    ) or _schemas(cell, "additionalProperties"):
        return "object"
    if any(keyword in source.schema for source in cell for keyword in ("items", "prefixItems")):
        return "array"
    listed = _listed(cell)
    if listed is not None:
        kinds = {kind_of(value) for value in listed} - {"null"}
        return kinds.pop() if len(kinds) == 1 and kinds <= BY_TYPE.keys() else OPEN
    return "string" if first(cell, "format") in BY_FORMAT else OPEN


@dataclass(frozen=True, slots=True)
class Built:
    """What stands at one place of the documents."""

    node: Node
    aggregate: bool | None
    """The place's own say on its object's aggregate."""


class Places(Protocol):
    """What is asked for the places inside a place."""

    files: SchemaFiles
    problems: Problems
    usage: Usage
    allow_plugins: bool

    def place(self, cell: Cell, inherited: Inherited = NOTHING_INHERITED) -> Built:
        """Compile the place that a cell describes."""


class KindCompiler:
    """Makes the node of one place whose kind is known; asks the compiler for the places in it."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def build(self, kind: str, cell: Cell, merged: Merged, inherited: Inherited) -> Built:
        """Compile a flattened cell without unions."""
        match kind:
            case "object":
                node: Node = self._object(cell, merge_annotations(cell, NOTHING_INHERITED))
            case "array":
                return self._array(cell, merged, inherited)
            case "string" | "number" | "integer" | "boolean":
                self._places.usage.note_leaf(merged, kind)
                default = leaf_default(kind, first(cell, "format"), listed=bool(_listed(cell)))
                node = self._leaf(merged, default)
            case _:
                self._places.usage.note_open(merged)
                node = self._open(merged)
        return Built(node, merged.aggregate)

    def _leaf(self, merged: Merged, default: LeafDefault) -> LeafNode:
        threshold = default.threshold if merged.threshold is None else merged.threshold
        return LeafNode(
            threshold=threshold,
            weight=worth(merged),
            clip=bool(merged.clip),
            other=open_default(),
            comparator=self._comparator(merged, default),
        )

    def _comparator(self, merged: Merged, default: LeafDefault) -> BaseComparator:
        choice = merged.choice
        try:
            return construct(
                choice.name or default.comparator,
                choice.config,
                allow_plugins=self._places.allow_plugins,
            )
        except KeywordError as error:
            holder = choice.configured_by or choice.named_by
            if holder is not None:
                self._places.problems.add_keyword(holder, error)
        except UnknownComparatorError as error:
            if choice.named_by is not None:
                self._places.problems.add(
                    choice.named_by, (COMPARATOR,), error.found, error.expected, error.hint
                )
        return construct(default.comparator, {})

    def _array(self, cell: Cell, merged: Merged, inherited: Inherited) -> Built:
        if merged.choice.name is not None:
            comparator = self._comparator(merged, TEXT)
            if "array" in comparator.takes:
                self._places.usage.note_leaf(merged, "value that the comparator takes whole")
                return Built(self._leaf(merged, TEXT), merged.aggregate)
        self._places.usage.note_array(merged)
        own = merge_annotations(cell, replace(inherited, threshold=None))
        below = Inherited(merged.choice, merged.clip, own.threshold)
        positions = first(cell, "prefixItems") or first(cell, "items")
        if isinstance(positions, list):
            return Built(self._tuple(cell, merged, below), merged.aggregate)
        items = self._elements(_schemas(cell, "items", booleans=True), below)
        if not isinstance(items.node, ObjectNode | MapNode):
            # What stands on the items of a list of leaves speaks for the list.
            merged = replace(
                merged,
                weight=items.node.weight if merged.weight is None else merged.weight,
                aggregate=items.aggregate if merged.aggregate is None else merged.aggregate,
            )
        node = ListNode(
            threshold=items.node.item_threshold if merged.threshold is None else merged.threshold,
            weight=worth(merged),
            items=items.node,
            pairing_floor=merged.pairing_floor,
        )
        return Built(node, merged.aggregate)

    def _tuple(self, cell: Cell, merged: Merged, below: Inherited) -> Node:
        """Compile a tuple; its threshold is its own, never that of its positions."""
        below = replace(below, threshold=None)
        files = self._places.files
        keyword = "prefixItems" if first(cell, "prefixItems") is not None else "items"
        positions: list[list[Source]] = []
        for source in cell:
            parts = source.schema.get(keyword)
            for index, part in enumerate(parts if isinstance(parts, list) else ()):
                positions += [[]] if index == len(positions) else []
                positions[index].append(files.inside(source, part))
        rest = _schemas(cell, "items" if keyword == "prefixItems" else "additionalItems")
        return TupleNode(
            threshold=DEFAULT_TUPLE_THRESHOLD if merged.threshold is None else merged.threshold,
            weight=worth(merged),
            positions=tuple(self._places.place(tuple(each), below).node for each in positions),
            rest=self._elements(rest, below).node,
        )

    def _elements(self, held: list[Held], below: Inherited) -> Built:
        """Compile the schemas that speak about elements; without any, elements are open."""
        found = tuple(self._places.files.inside(*each) for each in held)
        if found:
            return self._places.place(found, below)
        return Built(self._open(merge_annotations((), below)), None)

    def _object(self, cell: Cell, merged: Merged) -> Node:
        self._places.usage.note_object(merged)
        match_threshold = (
            DEFAULT_MATCH_THRESHOLD if merged.match_threshold is None else merged.match_threshold
        )
        threshold = match_threshold if merged.threshold is None else merged.threshold
        fields = tuple(
            self._field(name, part) for name, part in properties(self._places.files, cell).items()
        )
        declared = ObjectNode(
            threshold=threshold,
            weight=worth(merged),
            clip=bool(merged.clip),
            other=open_default(),
            fields=fields,
            match_threshold=match_threshold,
            model_name=merged.model_name or "",
        )
        patterns, rest = self._patterns(cell), self._rest(cell)
        if not patterns and rest is None:
            return declared
        return MapNode(
            threshold=threshold,
            weight=worth(merged),
            clip=bool(merged.clip),
            other=open_default(),
            declared=declared,
            patterns=patterns,
            rest=rest,
        )

    def _field(self, name: str, cell: Cell) -> Field:
        built = self._places.place(cell)
        return Field(name, built.node, built.aggregate)

    def _patterns(self, cell: Cell) -> tuple[Pattern, ...]:
        patterns = []
        for text, part in properties(self._places.files, cell, "patternProperties").items():
            built = self._places.place(part)
            try:
                patterns.append(Pattern(re.compile(text), built.node, built.aggregate))
            except re.error as error:
                holder = next(source for source in cell if "patternProperties" in source.schema)
                self._places.problems.add(
                    holder.schema,
                    ("patternProperties", text),
                    f"the pattern cannot be used ({error})",
                    "a regular expression that Python reads",
                )
        return tuple(patterns)

    def _rest(self, cell: Cell) -> Field | None:
        """Compile what keys without a declaration are; None where they are undeclared."""
        files = self._places.files
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            found = tuple(files.inside(*each) for each in _schemas(cell, keyword))
            if found:
                return self._field("", found)
        declaring = ("properties", "patternProperties")
        closed = any(source.schema.get("additionalProperties") is False for source in cell)
        if closed or any(keyword in source.schema for source in cell for keyword in declaring):
            return None
        return Field("", open_default())

    def _open(self, merged: Merged) -> OpenNode:
        """Make the node for a place of any kind, with the annotations that it has."""
        default = open_default(worth(merged))
        if not (merged.choice.says_something or merged.clip) and (
            merged.threshold is None
            and merged.pairing_floor is None
            and merged.match_threshold is None
        ):
            return default
        inner = replace(default, leaves=self._open_leaves(replace(merged, threshold=None)))
        threshold = TEXT.threshold if merged.threshold is None else merged.threshold
        match_threshold = (
            DEFAULT_MATCH_THRESHOLD if merged.match_threshold is None else merged.match_threshold
        )
        leaves = self._open_leaves(merged)
        whole = dict.fromkeys(leaves["string"].comparator.takes, leaves["string"])
        elements = replace(
            default,
            leaves=leaves,
            whole=whole,
            threshold=threshold,
            elements=inner,
            inside=open_default(),
            match_threshold=match_threshold,
            object_threshold=match_threshold,
        )
        return replace(
            elements,
            elements=elements,
            clip=bool(merged.clip),
            pairing_floor=merged.pairing_floor,
            object_threshold=match_threshold if merged.threshold is None else merged.threshold,
        )

    def _open_leaves(self, merged: Merged) -> dict[str, LeafNode]:
        """Make a leaf for each JSON type; a config without a name goes to those that take it."""
        if merged.choice.name is not None:
            return {kind: self._leaf(merged, default) for kind, default in BY_TYPE.items()}
        leaves, refused = {}, []
        for kind, default in BY_TYPE.items():
            try:
                construct(default.comparator, merged.choice.config)
                leaves[kind] = self._leaf(merged, default)
            except KeywordError as error:
                refused.append(error)
                leaves[kind] = self._leaf(replace(merged, choice=NOTHING_INHERITED.choice), default)
        if len(refused) == len(BY_TYPE) and merged.choice.configured_by is not None:
            self._places.problems.add_keyword(merged.choice.configured_by, refused[0])
        return leaves


def worth(merged: Merged) -> float:
    """Give the weight of a field in its object."""
    return DEFAULT_WEIGHT if merged.weight is None else merged.weight


def _schemas(cell: Cell, keyword: str, *, booleans: bool = False) -> list[Held]:
    """List the schemas that a cell has under a keyword, each with the schema that holds it."""
    kinds: tuple[type, ...] = (dict, bool) if booleans else (dict,)
    return [
        (source, source.schema[keyword])
        for source in cell
        if isinstance(source.schema.get(keyword), kinds)
    ]


def _listed(cell: Cell) -> list[JsonValue] | None:
    """Give the values that an enum or const names; None without either."""
    for source in cell:
        if "const" in source.schema:
            return [source.schema["const"]]
        values = source.schema.get("enum")
        if isinstance(values, list):
            return list(values)
    return None
