"""A map: an object whose keys are fields too, under a schema that they share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.object import Field, ObjectNode
from stickler_cli.compare.plan import Node, Options
from stickler_cli.compare.result import Comparison, ObjectComparison, Outcome, ThresholdSource
from stickler_cli.core.json_values import JsonObject, JsonValue


class Searcher(Protocol):
    """What says whether a key belongs to a family."""

    def search(self, string: str, /) -> object:
        """Give something true if it does."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A family of keys and the node for their values."""

    regex: Searcher
    node: Node
    aggregate: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode(Node):
    """An object some of whose fields are named only by the documents.

    Every comparison is that of the object whose fields are the declared ones and every key that
    has a value on either side. A declared name goes before a pattern, a pattern before `rest`.
    """

    declared: ObjectNode
    patterns: tuple[Pattern, ...] = ()
    rest: Field | None = None
    """For keys that nothing else names; None makes them undeclared."""

    @property
    def item_threshold(self) -> float:
        """The similarity at which two list items of this model are a match."""
        return self.declared.match_threshold

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Tell who said the threshold for list items of this model."""
        return self.declared.match_source

    def declares(self, value: JsonValue) -> bool:
        """Say whether the value is an object."""
        return isinstance(value, dict)

    def closed(self, objects: Iterable[JsonValue]) -> ObjectNode:
        """Give the object whose fields are the declared ones and the present keys of `objects`."""
        fields = {entry.name: entry for entry in self.declared.fields}
        for value in objects:
            if isinstance(value, dict):
                for name, part in value.items():
                    if name not in fields and not is_absent(part):
                        entry = self._field(name)
                        if entry is not None:
                            fields[name] = entry
        return replace(self.declared, fields=tuple(fields.values()))

    def _field(self, name: str) -> Field | None:
        for pattern in self.patterns:
            if pattern.regex.search(name):
                return Field(name, pattern.node, pattern.aggregate)
        return replace(self.rest, name=name) if self.rest else None

    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        return self.closed((gt, pred)).similarity(gt, pred, options)

    def _matrix(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        return self.closed((*gts, *preds)).matrix(gts, preds, options)

    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        return self.closed((gt, pred)).compare(gt, pred, options)

    def compare_fields(
        self, gt: JsonObject, pred: JsonObject, options: Options
    ) -> ObjectComparison:
        """Account for two objects field by field, even where one of them is empty."""
        return self.closed((gt, pred)).compare_fields(gt, pred, options)

    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for an object that the other side does not have, field by field."""
        return self.closed((value,)).one_sided(value, outcome, options)

    def nothing(self) -> Comparison:
        """Account for both sides being absent."""
        return self.declared.nothing()
