"""A place without a schema: the values say what they are, defaults say how to compare them."""

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.core.values import dataclass
from .columns import Columns, Indexes
from .leaf import LeafNode
from .list import ListNode
from .map import MapNode
from .object import Field
from .one_of import ChoiceNode
from .plan import Node
from .result import ThresholdSource


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNode(ChoiceNode):
    """A value of any kind; objects and lists are open all the way down."""

    leaves: Mapping[str, LeafNode]
    """By JSON type; `string` also serves values that JSON does not have."""
    whole: Mapping[str, LeafNode] = field(default_factory=dict)
    """By shape (`array`, `object`): where a comparator takes such values as one."""
    object_threshold: float
    """In [0, 1]; at or above it two objects match."""
    match_threshold: float
    """In [0, 1]; at or above it two list items that are objects are the same one."""
    elements: "OpenNode | None" = None
    """For the elements of a list, where they differ from this node."""
    inside: "OpenNode | None" = None
    """For the values inside an object, where they differ from this node."""
    pairing_floor: float | None = None
    list_threshold: float | None = None
    """What a list must reach as an element of another; None goes by what is in it."""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    """Who said `match_threshold` and, but for an annotation, `object_threshold`."""
    weighs = True

    def choose(self, value: JsonValue) -> Node:
        """Return the node for values of this kind."""
        return self._node(kind_of(value))

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return a node for each kind of value, and the position of that of each slot."""

        def find() -> tuple[Sequence[Node], Indexes, Indexes]:
            names = [
                [kind_of(value) for value in (*side, None)] for side in (columns.gt, columns.pred)
            ]
            kinds = sorted({*names[0], *names[1]})  # whatever order the values of a chunk have
            gt, pred = (np.array([kinds.index(name) for name in side]) for side in names)
            return [self._node(kind) for kind in kinds], gt, pred

        found: tuple[Sequence[Node], Indexes, Indexes] = columns.derived(id(self), find)
        return found

    def _node(self, kind: str) -> Node:
        if kind in self.whole:
            return self.whole[kind]
        if kind == "array":
            stated = self.list_threshold
            return ListNode(
                threshold=self.threshold if stated is None else stated,
                threshold_stated=stated is not None,
                threshold_source="default" if stated is None else "annotation",
                weight=self.weight,
                items=self.elements or self,
                pairing_floor=self.pairing_floor,
            )
        if kind == "object":
            return MapNode(
                threshold=self.object_threshold,
                threshold_source=self.threshold_source,
                weight=self.weight,
                clip=self.clip,
                match_threshold=self.match_threshold,
                match_source=self.match_source,
                rest=Field("", self.inside or self),
            )
        return self.leaves.get(kind, self.leaves["string"])
