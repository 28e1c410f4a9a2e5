"""The node of one place whose kind is known: leaf, array, tuple, object, map, any."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stickler_cli.comparators.registry import Comparators
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.map import MapNode, Pattern
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.plan import Node
from stickler_cli.compare.tuple import DEFAULT_TUPLE_THRESHOLD, TupleNode
from stickler_cli.core.values import dataclass
from stickler_cli.schema.combinators import InForce, named_schemas
from stickler_cli.schema.defaults import TEXT, open_default
from stickler_cli.schema.judging import EngineError, KeyPattern
from stickler_cli.schema.leaves import LeafCompiler
from stickler_cli.schema.merging import NOTHING_INHERITED, Merged
from stickler_cli.schema.places import (
    ArrayPlace,
    LeafPlace,
    ObjectPlace,
    OpenPlace,
    Places,
    WholePlace,
)
from stickler_cli.schema.validity import ANYWHERE, OBJECTS, ON_OBJECT, ON_VALUE, Problems, Usage


@dataclass(frozen=True, slots=True)
class Built:
    """What stands at one place of the documents."""

    node: Node
    aggregate: bool | None
    """The place's own say on its object's aggregate."""
    speaks_for_list: bool = True
    """Whether, as the element of a list, its weight and aggregate are the list's."""


class KindCompiler(LeafCompiler, ABC):
    """Makes the node of one place whose kind is known; those inside are the subclass's to find."""

    def __init__(self, places: Places, problems: Problems, comparators: Comparators) -> None:
        super().__init__(problems, comparators)
        self._places = places
        self._usage = Usage(places.files, problems)

    @abstractmethod
    def place(self, in_force: InForce, inherited: Merged = NOTHING_INHERITED) -> Built:
        """Compile the place at which subschemas are in force."""

    @abstractmethod
    def descend(self, in_force: InForce, threshold: float, make: Callable[[], Node]) -> Node:
        """Make the node of an object now, or later if it is deep inside others."""

    def build(self, place: LeafPlace | WholePlace | OpenPlace | ArrayPlace | ObjectPlace) -> Built:
        """Compile a place that is no union."""
        merged = place.merged
        if isinstance(place, ArrayPlace | ObjectPlace):
            if merged.comparator is not None:
                self.comparator(merged, TEXT)  # has its problems noted
            return self._object(place) if isinstance(place, ObjectPlace) else self._array(place)
        if isinstance(place, OpenPlace):
            self._usage.note(merged, "", *ANYWHERE)
            return Built(self.open(merged, place.own), merged.aggregate)
        default = place.default if isinstance(place, LeafPlace) else TEXT
        self._usage.note(merged, place.name, *ON_VALUE)
        return Built(self.leaf(merged, default), merged.aggregate)

    def _array(self, place: ArrayPlace) -> Built:
        merged, positions = place.merged, place.positions
        if positions:
            self._usage.note(merged, "an array", "pairing_floor", *ON_VALUE)
            return Built(self._tuple(place), merged.aggregate)
        items = self._elements(place.elements, place.below)
        of_objects = not items.speaks_for_list
        if of_objects and not place.by_model:
            self._usage.note(merged, OBJECTS, "pairing_floor")
        else:
            self._usage.note(merged, "an array", "pairing_floor", *ON_VALUE)
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
            weight=merged.worth,
            items=items.node,
            pairing_floor=merged.pairing_floor,
        )
        return Built(node, merged.aggregate)

    def _tuple(self, place: ArrayPlace) -> Node:
        """Compile a tuple; its threshold is its own, never that of its positions."""
        threshold = place.merged.threshold
        return TupleNode(
            other=open_default(),
            threshold=DEFAULT_TUPLE_THRESHOLD if threshold is None else threshold,
            threshold_source="default" if threshold is None else "annotation",
            weight=place.merged.worth,
            positions=tuple(
                self._elements(position, place.below).node for position in place.positions
            ),
            rest=self._elements(place.elements, place.below).node,
        )

    def _elements(self, in_force: InForce, below: Merged) -> Built:
        """Compile the schemas that speak about elements; without any, elements are open."""
        if in_force:
            return self.place(in_force, below)
        return Built(self.open(self._places.merge((), below), self._places.merge(())), None)

    def _object(self, place: ObjectPlace) -> Built:
        by_model = ON_VALUE if place.by_model else ()
        self._usage.note(place.own, "an object", *ON_OBJECT, *by_model)
        threshold = place.own.item_threshold
        node = self.descend(place.in_force, threshold, lambda: self._declared(place))
        return Built(node, place.own.aggregate, speaks_for_list=False)

    def _declared(self, place: ObjectPlace) -> Node:
        own = place.own
        common: dict[str, Any] = {
            "threshold": own.object_threshold,
            "threshold_source": own.object_source,
            "weight": own.worth,
            "clip": bool(own.clip_under_threshold),
            "other": open_default(),
            "fields": tuple(self._field(name, part) for name, part in place.properties.items()),
            "match_threshold": own.item_threshold,
            "match_source": own.item_source,
            "model_name": own.model_name or "",
        }
        patterns = self._patterns(place)
        if not patterns and place.rest is None:
            return ObjectNode(**common)
        rest = None if place.rest is None else self._rest(place.rest)
        return MapNode(**common, patterns=patterns, rest=rest)

    def _field(self, name: str, in_force: InForce) -> Field:
        built = self.place(in_force)
        return Field(name, built.node, built.aggregate)

    def _rest(self, in_force: InForce) -> Field:
        return self._field("", in_force) if in_force else Field("", open_default())

    def _patterns(self, place: ObjectPlace) -> tuple[Pattern, ...]:
        patterns = []
        for text, in_force in place.patterns.items():
            built = self.place(in_force)
            try:
                patterns.append(Pattern(KeyPattern(text), built.node, built.aggregate))
            except EngineError as error:
                found = f"the pattern cannot be used ({error})"
                holder = next(
                    source.schema
                    for source in place.in_force
                    if text in named_schemas(source, "patternProperties")
                )
                steps = ("patternProperties", text)
                self._problems.add(
                    holder, steps, found, "a regular expression as ECMA-262 has them"
                )
        return tuple(patterns)
