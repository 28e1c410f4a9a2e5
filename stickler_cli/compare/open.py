"""Nodes of fields without a schema, and of documents that have one of several schemas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from stickler_cli.core.json_values import JsonValue, child_gold_of, kind_of
from stickler_cli.core.locations import Step
from stickler_cli.core.problems import ComparisonError
from .columns import Columns, Indexes
from .leaf import LeafNode
from .list import ListNode
from .object import ObjectNode
from .object_fields import Field
from .one_of import ChoiceNode, OneOfNode, RecursionNode
from .pair_scores import PairGroup, PairScores, join_groups
from .plan import Mode, Node, Options, Plan, Recording
from .result import NOT_EVALUATED, ThresholdSource
from .units import SCHEMAS, Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNode(ChoiceNode):
    """The node of a field whose values may have any JSON type.

    If such a value is an object or a list, the values inside it may have any JSON type, too.
    """

    leaves: Mapping[str, LeafNode]
    """Maps the name of a type, such as `number`, to the node that compares values of this type.
    Values of any other type are compared by the node of `string`, except objects and lists."""
    leaves_by_shape: Mapping[str, LeafNode] = field(default_factory=dict)
    """Nodes that compare a whole object, or a whole list, as one value. The keys are `object` and
    `array`. If `object` is missing, objects are compared child by child. If `array` is missing,
    lists are compared item by item."""
    object_threshold: float
    """Similarity at which two objects match, in [0, 1]."""
    match_threshold: float
    """Similarity at which two objects match as list items, in [0, 1]."""
    item_node: "OpenNode | None" = None
    """The node that compares list items. If it is None, this `OpenNode` compares them."""
    value_node: "OpenNode | None" = None
    """The node that compares the values inside an object. If it is None, this `OpenNode` compares
    them."""
    pairing_floor: float | None = None
    list_threshold: float | None = None
    """Similarity at which two lists match as items of another list. None stands for `threshold`."""
    list_rules: Mapping[str, Any] = field(default_factory=dict)
    """Annotations of lists: `exhaustive`, `pairing`, `distinct`."""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    """Source of `match_threshold`."""
    weighs = True

    def choose(self, value: JsonValue) -> Node:
        """Return the node for values of the same JSON type as this value."""
        return self._node_of_kind(kind_of(value))

    def choices(self, columns: Columns) -> tuple[Sequence[Node], Indexes, Indexes]:
        """Return a node for each kind of value that occurs, and the node of each value.

        The result is (nodes, node index of each ground truth, node index of each prediction).
        """

        def find_choices() -> tuple[Sequence[Node], Indexes, Indexes]:
            """Compute the result of `choices`, which is then cached."""
            gt_kinds, pred_kinds = (
                [kind_of(value) for value in (*values, None)]
                for values in (columns.gt, columns.pred)
            )
            kinds = sorted({*gt_kinds, *pred_kinds})  # independent of the order of values
            gt, pred = (
                np.array([kinds.index(kind) for kind in side]) for side in (gt_kinds, pred_kinds)
            )
            return [self._node_of_kind(kind) for kind in kinds], gt, pred

        choices: tuple[Sequence[Node], Indexes, Indexes]
        choices = columns.cached(id(self), find_choices)
        return choices

    def _node_of_kind(self, kind: str) -> Node:
        """Return the node for values of a JSON type."""
        if kind in self.leaves_by_shape:
            return self.leaves_by_shape[kind]
        if kind == "array":
            stated = self.list_threshold
            return ListNode(
                threshold=self.threshold if stated is None else stated,
                threshold_stated=stated is not None,
                threshold_source="default" if stated is None else "annotation",
                weight=self.weight,
                items=self.item_node or self,
                pairing_floor=self.pairing_floor,
                **self.list_rules,
            )
        if kind == "object":
            return ObjectNode(
                threshold=self.object_threshold,
                threshold_source=self.threshold_source,
                weight=self.weight,
                clip=self.clip,
                match_threshold=self.match_threshold,
                match_source=self.match_source,
                families=(Field("", self.value_node or self),),
            )
        return self.leaves.get(kind, self.leaves["string"])


def document_node(
    node: Node, kinds: tuple[type[Node], ...], cache: dict[int, Node | None] | None = None
) -> Node | None:
    """Restrict a node to the node classes in `kinds`; return None if nothing is left.

    A union keeps only the arms whose nodes are of these classes. If a union keeps a single arm, the
    node of this arm is returned. A node that is not a union is kept if it is of one of these
    classes. `cache` has earlier results, keyed by the `id` of the node.
    """
    cache = {} if cache is None else cache
    if id(node) in cache:
        return cache[id(node)]
    restricted: Node | None = None
    match node:
        case RecursionNode():
            restricted = document_node(node.choose(None), kinds, cache)
        case OpenNode():
            restricted = document_node(node.choose({}), kinds, cache)
        case OneOfNode():
            nodes = [document_node(arm.node, kinds, cache) for arm in node.arms]
            arms = [
                arm._replace(node=arm_node)
                for arm, arm_node in zip(node.arms, nodes, strict=True)
                if arm_node is not None
            ]
            if arms:
                restricted = replace(node, arms=tuple(arms)) if arms[1:] else arms[0].node
        case _:
            restricted = node if isinstance(node, kinds) else None
    cache[id(node)] = restricted
    return restricted


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemasNode(Node):
    """The root node of a run whose documents have several schemas.

    Each document is inside an object with one key, which names the schema of the document:
    `{"invoice/": {...}}`.
    """

    plans: Mapping[str, Plan]
    """Maps the key that names a schema, such as `invoice/`, to the plan of the schema."""

    def list_fields(self) -> Iterator[tuple[str, Node]]:
        """Yield each schema as a field: its key, such as `invoice/`, and its plan's root node."""
        return ((step, plan.root) for step, plan in self.plans.items())

    def child_node(self, step: Step) -> Node | None:
        """Return the root node that compares the documents of a schema.

        `step` is the key of the schema, such as `invoice/`.
        """
        return self.plans[str(step)].root

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Raise AssertionError: this node cannot score documents without recording them.

        Only alternatives and list items need scores that are not recorded. A whole document is
        never an alternative or a list item.
        """
        raise AssertionError(
            "documents with several schemas can be evaluated, but cannot be scored without an "
            "evaluation"
        )

    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Group the documents by schema, and record each group as if it were a field.

        The name of this field is the key of the schema, such as `invoice/`. Return the scores of
        all documents.
        """
        slots_by_schema: dict[str, list[int]] = {}
        for slot, document in enumerate(columns.gt):
            slots_by_schema.setdefault(next(iter(document)), []).append(slot)  # type: ignore[arg-type]
        table = recording.table
        batch = table.add(SCHEMAS, self, columns, recording.placement)
        groups = []
        for step, slots in slots_by_schema.items():
            documents = self._documents_of_schema(columns, step, slots)
            positions, all_slots = np.array(slots), np.arange(len(slots))
            placement = Placement(
                container=batch,
                positions=positions,
                document=recording.placement.document[positions],
                field=table.fields.number(0, step),
                weight=1.0,
                is_whole=True,
            )
            root = self.plans[step].root
            try:
                scores = root.record(
                    documents, all_slots, all_slots, recording.with_placement(placement)
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
        """Return columns of the documents of one schema, without the object around each document.

        In a run with several schemas, a document is inside an object with one key, which names the
        schema: `{"invoice/": {...}}`. `step` is this key. `slots` has the positions of the
        documents of the schema.
        """
        gts, preds = (
            [values[slot][step] for slot in slots]  # type: ignore[index, call-overload]
            for values in (columns.gt, columns.pred)
        )
        gold = None
        if columns.gold is not None:
            gold = [child_gold_of(columns.gold.by_slot[slot], step) for slot in slots]
        documents = Columns(gts, preds, columns.work.of_field(step), gold=gold)
        if columns.confidences is not None:
            stated = (columns.confidences[slot] for slot in slots)
            documents.confidences = [confidence and confidence[step] for confidence in stated]  # type: ignore[index, call-overload]
        return documents


def plan_of_schemas(plans: Mapping[str, Plan], name: str) -> Plan:
    """Return one plan for a run whose documents have several schemas.

    `plans` maps the key of each schema, such as `invoice/`, to the plan of this schema. `name` is
    the model name of the returned plan.
    """
    files = tuple(dict.fromkeys(chain.from_iterable(plan.files for plan in plans.values())))
    return Plan(
        root=SchemasNode(threshold=0.0, plans=plans),
        model_name=name,
        asks_models=any(plan.asks_models for plan in plans.values()),
        has_ignored_values=any(plan.has_ignored_values for plan in plans.values()),
        files=files,
    )
