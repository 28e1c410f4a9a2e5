"""One kind of place each, from a merged cell to a node: leaf, array, tuple, object, map, any."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from stickler_cli.comparators.structured import StructuredModelComparator
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.map import MapNode, Pattern
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.plan import Node
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD
from stickler_cli.compare.tuple import DEFAULT_TUPLE_THRESHOLD, TupleNode
from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.schema.combinators import (
    Cell,
    declared_types,
    first,
    listed_values,
    named_schemas,
    properties,
)
from stickler_cli.schema.defaults import BY_FORMAT, TEXT, leaf_default, open_default
from stickler_cli.schema.judging import EngineError, key_pattern
from stickler_cli.schema.leaves import LeafCompiler, match_source_of, source_of, worth
from stickler_cli.schema.merging import NOTHING_INHERITED, Inherited, Merged, merge_annotations
from stickler_cli.schema.references import SchemaFiles, Source
from stickler_cli.schema.usage import Usage
from stickler_cli.schema.validity import Problems

Held = tuple[Source, JsonValue]
"""A schema, and one that it holds."""

OPEN: Final = "any"
"""The kind of a place whose values decide."""

WHOLE: Final = "a value that its comparator takes whole"

CLOSED_BY: Final = ("additionalProperties", "unevaluatedProperties")
"""Keywords that say what keys without a declaration are."""


def kinds_of(files: SchemaFiles, cell: Cell) -> list[str]:
    """Give the JSON types but null that a cell speaks about, `OPEN` where it does not say.

    Without a `type`, the keywords that only one type has say it, else the values that are listed.
    """
    types = declared_types(cell) or _inferred(files, cell)
    kinds = [name for name in dict.fromkeys(types) if name != "null"]
    if "number" in kinds:
        kinds = [name for name in kinds if name != "integer"]
    return kinds or [OPEN]


def _inferred(files: SchemaFiles, cell: Cell) -> list[str]:
    named = ("properties", "patternProperties")
    if any(key in source.schema for source in cell for key in named) or (
        _schemas(cell, "additionalProperties")
    ):
        return ["object"]
    if _schemas(cell, "items", booleans=True) or _positions(files, cell):
        return ["array"]
    listed = listed_values(cell)
    if listed is not None:
        return [kind_of(value) for value in listed]
    return ["string"] if first(cell, "format") in BY_FORMAT else []


@dataclass(frozen=True, slots=True)
class Built:
    """What stands at one place of the documents."""

    node: Node
    aggregate: bool | None
    """The place's own say on its object's aggregate."""
    speaks_for_list: bool = True
    """Whether, as the element of a list, its weight and aggregate are the list's."""


class Places(Protocol):
    """What is asked for the places inside a place."""

    files: SchemaFiles
    problems: Problems
    usage: Usage
    leaves: LeafCompiler

    def descend(self, cell: Cell, threshold: float, make: Callable[[], Node]) -> Node:
        """Make the node of an object now, or later if it is deep inside others."""

    def place(self, cell: Cell, inherited: Inherited = NOTHING_INHERITED) -> Built:
        """Compile the place that a cell describes."""


class KindCompiler:
    """Makes the node of one place whose kind is known; asks the compiler for the places in it."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def build(self, kind: str, cell: Cell, merged: Merged, inherited: Inherited) -> Built:
        """Compile a flattened cell without unions."""
        leaves = self._places.leaves
        match kind:
            case "object":
                return self._object(cell, merge_annotations(cell, NOTHING_INHERITED))
            case "array":
                return self._array(cell, merged, inherited)
            case "string" | "number" | "integer" | "boolean":
                self._places.usage.note_leaf(merged, f"{'an' if kind == 'integer' else 'a'} {kind}")
                listed = bool(listed_values(cell))
                default = leaf_default(kind, first(cell, "format"), listed=listed)
                return Built(leaves.leaf(merged, default), merged.aggregate)
            case _:
                self._places.usage.note_open(merged)
                own = merge_annotations(cell, NOTHING_INHERITED)
                return Built(leaves.open(merged, own), merged.aggregate)

    def _array(self, cell: Cell, merged: Merged, inherited: Inherited) -> Built:
        leaves = self._places.leaves
        if merged.choice.name is not None and ("array" in leaves.comparator(merged, TEXT).takes):
            self._places.usage.note_leaf(merged, WHOLE)
            return Built(leaves.leaf(merged, TEXT), merged.aggregate)
        own = merge_annotations(cell, replace(inherited, threshold=None))
        below = Inherited(merged.choice, merged.clip, own.threshold)
        positions = _positions(self._places.files, cell)
        if positions:
            self._places.usage.note_array(merged)
            return Built(self._tuple(cell, positions, merged, below), merged.aggregate)
        items = self._elements(_schemas(cell, "items", booleans=True), below)
        of_objects = not items.speaks_for_list
        self._places.usage.note_array(merged, of_objects=of_objects and not self._by_model(merged))
        if not of_objects:
            merged = replace(
                merged,
                weight=items.node.weight if merged.weight is None else merged.weight,
                aggregate=items.aggregate if merged.aggregate is None else merged.aggregate,
            )
        node = ListNode(
            other=open_default(),
            threshold=items.node.item_threshold if merged.threshold is None else merged.threshold,
            threshold_stated=merged.threshold is not None,
            threshold_source=(
                items.node.source_for(None) if merged.threshold is None else "annotation"
            ),
            weight=worth(merged),
            items=items.node,
            pairing_floor=merged.pairing_floor,
        )
        return Built(node, merged.aggregate)

    def _by_model(self, merged: Merged) -> bool:
        """Say whether a comparator asks for objects to be compared field by field."""
        comparator = self._places.leaves.comparator(merged, TEXT)
        return isinstance(comparator, StructuredModelComparator)

    def _tuple(
        self, cell: Cell, positions: list[list[Held]], merged: Merged, below: Inherited
    ) -> Node:
        """Compile a tuple; its threshold is its own, never that of its positions."""
        below = replace(below, threshold=None)
        rest = [
            held
            for source in cell
            for held in _schemas((source,), _rest_keyword(self._places.files, source))
        ]
        return TupleNode(
            other=open_default(),
            threshold=DEFAULT_TUPLE_THRESHOLD if merged.threshold is None else merged.threshold,
            threshold_source="default" if merged.threshold is None else "annotation",
            weight=worth(merged),
            positions=tuple(self._elements(held, below).node for held in positions),
            rest=self._elements(rest, below).node,
        )

    def _elements(self, held: list[Held], below: Inherited) -> Built:
        """Compile the schemas that speak about elements; without any, elements are open."""
        found = tuple(self._places.files.inside(*each) for each in held)
        if found:
            return self._places.place(found, below)
        nothing = merge_annotations((), NOTHING_INHERITED)
        return Built(self._places.leaves.open(merge_annotations((), below), nothing), None)

    def _object(self, cell: Cell, merged: Merged) -> Built:
        """Compile an object, or the leaf that it is to a comparator that takes it whole."""
        if merged.choice.name is not None:
            comparator = self._places.leaves.comparator(merged, TEXT)
            if self._by_model(merged):
                self._places.usage.note_object(merged, by_model=True)
                return self._recursive(cell, merged)
            if "object" in comparator.takes:
                self._places.usage.note_leaf(merged, WHOLE)
                return Built(self._places.leaves.leaf(merged, TEXT), merged.aggregate)
        self._places.usage.note_object(merged)
        return self._recursive(cell, merged)

    def _recursive(self, cell: Cell, merged: Merged) -> Built:
        match_threshold = (
            DEFAULT_MATCH_THRESHOLD if merged.match_threshold is None else merged.match_threshold
        )
        make = partial(self._declared, cell, merged, match_threshold)
        node = self._places.descend(cell, match_threshold, make)
        return Built(node, merged.aggregate, speaks_for_list=False)

    def _declared(self, cell: Cell, merged: Merged, match_threshold: float) -> Node:
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
            match_source=match_source_of(merged),
            threshold_source=source_of(merged),
            model_name=merged.model_name or "",
        )
        patterns, rest = self._patterns(cell), self._rest(cell)
        if not patterns and rest is None:
            return declared
        return MapNode(
            threshold=threshold,
            threshold_source=source_of(merged),
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
                patterns.append(Pattern(key_pattern(text), built.node, built.aggregate))
            except EngineError as error:
                holder = next(
                    source.schema
                    for source in cell
                    if text in named_schemas(source, "patternProperties")
                )
                self._places.problems.add(
                    holder,
                    ("patternProperties", text),
                    f"the pattern cannot be used ({error})",
                    "a regular expression as ECMA-262 has them",
                )
        return tuple(patterns)

    def _rest(self, cell: Cell) -> Field | None:
        """Compile what keys without a declaration are; None where they are undeclared."""
        files = self._places.files
        for keyword in CLOSED_BY:
            found = tuple(files.inside(*each) for each in _schemas(cell, keyword))
            if found:
                return self._field("", found)
        closed = any(
            source.schema.get(keyword) is False for source in cell for keyword in CLOSED_BY
        )
        declaring = ("properties", "patternProperties")
        if closed or any(keyword in source.schema for source in cell for keyword in declaring):
            return None
        return Field("", open_default())


def _schemas(cell: Cell, keyword: str, *, booleans: bool = False) -> list[Held]:
    """List the schemas that a cell has under a keyword, each with the schema that holds it."""
    kinds: tuple[type, ...] = (dict, bool) if booleans else (dict,)
    return [
        (source, source.schema[keyword])
        for source in cell
        if isinstance(source.schema.get(keyword), kinds)
    ]


def _positions(files: SchemaFiles, cell: Cell) -> list[list[Held]]:
    """List the positions of a tuple, each with the schemas that speak about it."""
    positions: list[list[Held]] = []
    for source in cell:
        parts = source.schema.get(files.dialect_at(source.schema).tuples)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            positions += [[]] if index == len(positions) else []
            positions[index].append((source, part))
    return positions


def _rest_keyword(files: SchemaFiles, source: Source) -> str:
    """Name the keyword for positions after the declared ones."""
    return "items" if files.dialect_at(source.schema).tuples == "prefixItems" else "additionalItems"
