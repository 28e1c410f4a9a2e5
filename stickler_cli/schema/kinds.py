"""The node of one place whose kind is known: leaf, array, tuple, object, map, any."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.keywords import KeywordError
from stickler_cli.comparators.registry import Comparators, UnknownComparatorError, construct
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.map import MapNode, Pattern
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.plan import Node
from stickler_cli.compare.result import ThresholdSource
from stickler_cli.compare.tuple import DEFAULT_TUPLE_THRESHOLD, TupleNode
from stickler_cli.core.values import dataclass
from stickler_cli.schema.verdicts.judging import EngineError, KeyPattern
from .annotations import NOTHING_INHERITED, ON_VALUE, Merged
from .combinators import InForce, named_schemas
from .defaults import BY_TYPE, TEXT, LeafDefault, default_comparator, open_default
from .places import ArrayPlace, LeafPlace, ObjectPlace, OpenPlace, Places, WholePlace
from .schema_problems import ANYWHERE, OBJECTS, ON_OBJECT, Problems, Usage


@dataclass(frozen=True, slots=True)
class Built:
    """What stands at one place of the documents."""

    node: Node
    aggregate: bool | None
    """The place's own say on its object's aggregate."""
    speaks_for_list: bool = True
    """Whether, as the element of a list, its weight and aggregate are the list's."""


class KindCompiler(ABC):
    """Makes the node of one place whose kind is known; those inside are the subclass's to find."""

    def __init__(self, places: Places, problems: Problems, comparators: Comparators) -> None:
        self._places = places
        self._problems = problems
        self._comparators = comparators
        self._usage = Usage(places.files, problems)

    @abstractmethod
    def _place(self, in_force: InForce, inherited: Merged = NOTHING_INHERITED) -> Built:
        """Compile the place at which subschemas are in force."""

    @abstractmethod
    def _descend(self, in_force: InForce, threshold: float, make: Callable[[], Node]) -> Node:
        """Make the node of an object now, or later if it is deep inside others."""

    def build(self, place: LeafPlace | WholePlace | OpenPlace | ArrayPlace | ObjectPlace) -> Built:
        """Compile a place that is no union."""
        merged = place.merged
        if isinstance(place, ArrayPlace | ObjectPlace):
            if merged.comparator is not None:
                self._comparator(merged, TEXT)  # has its problems noted
            return self._object(place) if isinstance(place, ObjectPlace) else self._array(place)
        if isinstance(place, OpenPlace):
            self._usage.note(merged, "", *ANYWHERE)
            return Built(self._open(merged, place.own), merged.aggregate)
        default = place.default if isinstance(place, LeafPlace) else TEXT
        self._usage.note(merged, place.name, *ON_VALUE)
        return Built(self._leaf(merged, default), merged.aggregate)

    def _array(self, place: ArrayPlace) -> Built:
        merged = place.merged
        if place.positions:
            self._usage.note(merged, "an array", "pairing_floor", *ON_VALUE)
            return Built(self._tuple(place), merged.aggregate)
        items = self._elements(place.elements, place.below)
        node, stated = items.node, merged.threshold
        if items.speaks_for_list or place.by_model:
            self._usage.note(merged, "an array", "pairing_floor", *ON_VALUE)
        else:
            self._usage.note(merged, OBJECTS, "pairing_floor")
        weight, aggregate = merged.worth, merged.aggregate
        if items.speaks_for_list:
            weight = node.weight if merged.weight is None else weight
            aggregate = items.aggregate if aggregate is None else aggregate
        made = ListNode(
            other=open_default(),
            threshold=node.item_threshold if stated is None else stated,
            threshold_stated=stated is not None,
            threshold_source=node.source_for(None) if stated is None else self._source(merged),
            weight=weight,
            items=node,
            pairing_floor=merged.pairing_floor,
        )
        return Built(made, aggregate)

    def _tuple(self, place: ArrayPlace) -> Node:
        threshold, below = place.merged.threshold, place.below
        return TupleNode(
            other=open_default(),
            threshold=DEFAULT_TUPLE_THRESHOLD if threshold is None else threshold,
            threshold_source="default" if threshold is None else "annotation",
            weight=place.merged.worth,
            positions=tuple(self._elements(part, below).node for part in place.positions),
            rest=self._elements(place.elements, below).node,
        )

    def _elements(self, in_force: InForce, below: Merged) -> Built:
        """Compile the schemas that speak about elements; without any, elements are open."""
        if in_force:
            return self._place(in_force, below)
        return Built(self._open(self._places.merge((), below), self._places.merge(())), None)

    def _object(self, place: ObjectPlace) -> Built:
        by_model = ON_VALUE if place.by_model else ()
        self._usage.note(place.merged, "an object", *ON_OBJECT, *by_model)
        threshold = place.merged.item_threshold
        node = self._descend(place.in_force, threshold, lambda: self._declared(place))
        return Built(node, place.merged.aggregate, speaks_for_list=False)

    def _declared(self, place: ObjectPlace) -> Node:
        own = place.merged
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
        rest = self._field("", place.rest) if place.rest else Field("", open_default())
        return MapNode(**common, patterns=patterns, rest=None if place.rest is None else rest)

    def _field(self, name: str, in_force: InForce) -> Field:
        built = self._place(in_force)
        return Field(name, built.node, built.aggregate)

    def _patterns(self, place: ObjectPlace) -> tuple[Pattern, ...]:
        patterns = []
        for text, in_force in place.patterns.items():
            built = self._place(in_force)
            try:
                patterns.append(Pattern(KeyPattern(text), built.node, built.aggregate))
            except EngineError as error:
                keyword = "patternProperties"
                named = (each for each in place.in_force if text in named_schemas(each, keyword))
                found = f"the pattern cannot be used ({error})"
                expected = "a regular expression as ECMA-262 has them"
                self._problems.add(next(named).schema, (keyword, text), found, expected)
        return tuple(patterns)

    def _leaf(self, merged: Merged, default: LeafDefault) -> LeafNode:
        return LeafNode(
            threshold=default.threshold if merged.threshold is None else merged.threshold,
            threshold_source=self._source(merged),
            weight=merged.worth,
            clip=bool(merged.clip_under_threshold),
            other=open_default(),
            comparator=self._comparator(merged, default),
        )

    def _source(self, merged: Merged) -> ThresholdSource:
        """Return who said the threshold of a place; comparators are inferred together with it."""
        if merged.threshold is None:
            return "default"
        inferred = merged.named_by and self._places.files.is_inferred(merged.named_by)
        return "inferred" if inferred else "annotation"

    def _comparator(self, merged: Merged, default: LeafDefault) -> BaseComparator:
        """Make the comparator that annotations ask for; the default where they cannot have it."""
        holder = merged.configured_by or merged.named_by
        if holder is not None:
            name = merged.comparator or default.comparator
            try:
                return self._comparators.construct(name, merged.config)
            except KeywordError as error:
                self._problems.add_keyword(holder, error)
            except UnknownComparatorError:
                pass  # told of where it stands
        return default_comparator(default.comparator)

    def _open(self, merged: Merged, own: Merged) -> OpenNode:
        """Make the node for a place of any kind; `own` speaks to objects, lists and their items."""
        plain = open_default(merged.worth)
        said = (merged.threshold, merged.pairing_floor, merged.match_threshold)
        if not (merged.chooses or merged.clip_under_threshold or any(x is not None for x in said)):
            return plain
        leaves = self._open_leaves(replace(merged, threshold=None))
        deepest = replace(plain, leaves=leaves, elements=None, inside=open_default())
        elements = self._open_elements(merged, own.threshold, deepest)
        return replace(
            self._open_elements(merged, merged.threshold, elements),
            clip=bool(own.clip_under_threshold),
            pairing_floor=own.pairing_floor,
            object_threshold=own.object_threshold,
            threshold_source=own.object_source,
        )

    def _open_elements(self, merged: Merged, threshold: float | None, inner: OpenNode) -> OpenNode:
        """Make an open node whose leaves pass at a threshold, and whose elements are `inner`."""
        leaves = self._open_leaves(replace(merged, threshold=threshold))
        return replace(
            inner,
            leaves=leaves,
            whole=dict.fromkeys(leaves["string"].comparator.takes, leaves["string"]),
            list_threshold=threshold,
            elements=inner,
            inside=open_default(),
            match_threshold=merged.item_threshold,
            object_threshold=merged.item_threshold,
            threshold_source=merged.item_source,
            match_source=merged.item_source,
        )

    def _open_leaves(self, merged: Merged) -> dict[str, LeafNode]:
        """Make a leaf for each JSON type; a config without a name goes to those that take it."""
        if merged.comparator is not None:
            return {kind: self._leaf(merged, default) for kind, default in BY_TYPE.items()}
        leaves, refused = {}, []
        for kind, default in BY_TYPE.items():
            try:
                construct(default.comparator, merged.config)
                leaves[kind] = self._leaf(merged, default)
            except KeywordError as error:
                refused.append(error)
                leaves[kind] = self._leaf(replace(merged, comparator_config=None), default)
        if len(refused) == len(BY_TYPE) and merged.configured_by is not None:
            self._problems.add_keyword(merged.configured_by, refused[0])
        return leaves
