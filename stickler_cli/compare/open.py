"""Places without a schema, whose values decide their kind, and documents of several schemas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from stickler_cli.core.json_values import JsonValue, kind_of, part_of
from stickler_cli.core.locations import Step
from stickler_cli.core.problems import ComparisonError
from .columns import Columns, Indexes
from .leaf import LeafNode
from .list import ListNode
from .object import Field, ObjectNode
from .one_of import ChoiceNode, OneOfNode, RecursionNode
from .pair_scores import PairGroup, PairScores, join_groups
from .plan import Mode, Node, Options, Plan
from .result import NOT_EVALUATED, ThresholdSource
from .units import SCHEMAS, Placement, UnitTable


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
    arranged: Mapping[str, Any] = field(default_factory=dict)
    """What is said of lists: `exhaustive`, `pairing`, `distinct`."""
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
                **self.arranged,
            )
        if kind == "object":
            return ObjectNode(
                threshold=self.object_threshold,
                threshold_source=self.threshold_source,
                weight=self.weight,
                clip=self.clip,
                match_threshold=self.match_threshold,
                match_source=self.match_source,
                families=(Field("", self.inside or self),),
            )
        return self.leaves.get(kind, self.leaves["string"])


def document_node(
    node: Node, kinds: tuple[type[Node], ...], known: dict[int, Node | None] | None = None
) -> Node | None:
    """Return the part of a node that is of some kinds; `known` are the answers by identity."""
    known = {} if known is None else known
    if id(node) in known:
        return known[id(node)]
    part: Node | None = None
    match node:
        case RecursionNode():
            part = document_node(node.choose(None), kinds, known)
        case OpenNode():
            part = document_node(node.choose({}), kinds, known)
        case OneOfNode():
            parts = [(arm, document_node(arm.node, kinds, known)) for arm in node.arms]
            arms = [replace(arm, node=part) for arm, part in parts if part is not None]
            if arms:
                part = replace(node, arms=tuple(arms)) if arms[1:] else arms[0].node
        case _:
            part = node if isinstance(node, kinds) else None
    known[id(node)] = part
    return part


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemasNode(Node):
    """The root of documents such as `{"invoice/": {...}}`, whose only key says of which schema."""

    plans: Mapping[str, Plan]
    """By that key."""

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the schemas as fields."""
        return ((step, plan.root) for step, plan in self.plans.items())

    def below(self, step: Step) -> Node | None:
        """Return the root of the documents of a schema."""
        return self.plans[str(step)].root

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Refuse to score documents by themselves: none of them has alternatives or is an item."""
        raise AssertionError("documents of several schemas are recorded, never only scored")

    def record_declared(  # noqa: PLR0913, PLR0917 - as `record` takes them
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Record documents, those of each schema together and below its name."""
        slots_by_schema: dict[str, list[int]] = {}
        for slot, document in enumerate(columns.gt):
            slots_by_schema.setdefault(next(iter(document)), []).append(slot)  # type: ignore[arg-type]
        batch = table.add(SCHEMAS, self, columns, place)
        groups = []
        for step, slots in slots_by_schema.items():
            documents = self._documents_of_schema(columns, step, slots)
            positions, every = np.array(slots), np.arange(len(slots))
            below = Placement(
                container=batch,
                positions=positions,
                document=place.document[positions],
                field=table.fields.number(0, step),
                weight=1.0,
                is_whole=True,
            )
            try:
                scores = self.plans[step].root.record(
                    documents, every, every, options, table, below
                )
            except ComparisonError as error:
                raise error.below(step) from error.__cause__
            groups.append(PairGroup(positions, scores))
        scores = join_groups(self, columns, gt, pred, groups, self.weight)
        batch.gt_slot, batch.pred_slot = gt, pred
        batch.outcome = np.full(batch.size, NOT_EVALUATED, np.int8)
        batch.similarity = batch.score = scores.score
        return scores

    def _documents_of_schema(self, columns: Columns, step: str, slots: list[int]) -> Columns:
        """Return the columns of the documents below the key of one schema."""
        gts, preds = (
            [values[slot][step] for slot in slots]  # type: ignore[index, call-overload]
            for values in (columns.gt, columns.pred)
        )
        known = columns.gold
        gold = None if known is None else [part_of(known.of[slot], step) for slot in slots]
        documents = Columns(gts, preds, columns.place.below(step), gold=gold)
        if columns.confidences is not None:
            stated = (columns.confidences[slot] for slot in slots)
            documents.confidences = [each and each[step] for each in stated]  # type: ignore[index, call-overload]
        return documents


def plan_of_schemas(plans: Mapping[str, Plan], name: str) -> Plan:
    """Return the plan of documents of several schemas, by the step under which each stands."""
    root = SchemasNode(threshold=0.0, plans=plans)
    asks, hides = (
        any(getattr(plan, what) for plan in plans.values()) for what in ("asks_models", "hides")
    )
    files = tuple(dict.fromkeys(chain.from_iterable(plan.files for plan in plans.values())))
    return Plan(root, name, asks, hides=hides, files=files)
