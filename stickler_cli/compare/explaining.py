"""From a Comparison back to the reasons: which threshold, which arithmetic, which other pairs.

A comparison does not keep the similarities of pairs that were not chosen; here they are computed
again, by the same nodes of the same plan.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from stickler_cli.clients.rounds import answered
from stickler_cli.compare.absence import is_absent, present_elements
from stickler_cli.compare.explained import (
    Candidate,
    Explained,
    Pairing,
    Sum,
)
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode, reported
from stickler_cli.compare.map import MapNode
from stickler_cli.compare.object import ObjectNode
from stickler_cli.compare.plan import Node, Options, Plan
from stickler_cli.compare.result import (
    Comparison,
    ElementComparison,
    FieldComparison,
    JudgedComparison,
    ListComparison,
    ObjectComparison,
    Outcome,
    ThresholdSource,
)
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, Step


def explain(plan: Plan, comparison: ObjectComparison, options: Options) -> Explained:
    """Explain what `compare` found for two documents, under the same plan and options.

    Models that pairs depend on are asked about all pairs of list elements once more; judges are
    asked nothing.

    Raises:
        ComparisonError: a comparator failed on a pair that was not chosen.
    """
    node = plan.root.resolve(comparison.gt, comparison.pred)
    explainer = _Explainer(replace(options, asks_models=plan.asks_models))
    return answered(lambda: explainer.place(node, comparison, (), ()))


class _Explainer:
    """Walks the nodes of a plan and a comparison side by side."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def place(
        self, node: Node, comparison: Comparison, gt_path: Path, pred_path: Path
    ) -> Explained:
        """Explain one place."""
        node = _resolved(node, comparison.gt, comparison.pred)
        source = node.threshold_source
        whole = Explained(
            gt_path=gt_path,
            pred_path=pred_path,
            kind="leaf",
            comparator=node.comparator.name if isinstance(node, LeafNode) else "",
            reason=comparison.reason if isinstance(comparison, JudgedComparison) else "",
            gt=comparison.gt,
            pred=comparison.pred,
            outcome=comparison.outcome,
            similarity=comparison.similarity,
            score=comparison.score,
            threshold=comparison.threshold,
            threshold_source=source,
        )
        match comparison:
            case ObjectComparison():
                return self._object(node, comparison, whole)
            case ListComparison():
                return self._list(node, comparison, whole)
            case _:
                return whole

    def _object(self, node: Node, comparison: ObjectComparison, whole: Explained) -> Explained:
        nodes = _fields(node, comparison)
        parts, total, weights = [], 0.0, 0.0
        both = comparison.outcome in (Outcome.TP, Outcome.FD)
        for entry in comparison.fields:
            part = self._field(nodes[entry.name], entry, whole, takes_part=both)
            if part.adds is not None:
                total, weights = total + part.adds, weights + entry.weight
            parts.append(part)
        parts += (_extra(name, comparison, whole) for name in comparison.extras)
        return replace(
            whole,
            kind="object",
            comparator="",
            gt=None if both else whole.gt,
            pred=None if both else whole.pred,
            parts=tuple(parts),
            sum=Sum(total, weights) if both else None,
            undeclared=comparison.undeclared,
        )

    def _field(
        self, node: Node, entry: FieldComparison, whole: Explained, *, takes_part: bool
    ) -> Explained:
        """Explain a field of an object; absent ones on both sides take no part in its mean."""
        paths = (*whole.gt_path, entry.name), (*whole.pred_path, entry.name)
        part = self.place(node, entry.comparison, *paths)
        absent = entry.comparison.outcome is Outcome.TN
        adds = entry.weight * entry.comparison.score if takes_part and not absent else None
        return replace(part, weight=entry.weight, adds=adds)

    def _list(self, node: Node, comparison: ListComparison, whole: Explained) -> Explained:
        both = comparison.outcome in (Outcome.TP, Outcome.FD)
        is_tuple = isinstance(node, TupleNode)
        whole = replace(
            whole,
            kind="tuple" if is_tuple else "list",
            comparator="",
            gt=None if both else whole.gt,
            pred=None if both else whole.pred,
        )
        if not comparison.elements:
            return whole
        pairings: Iterator[Pairing | None] = iter([None] * len(comparison.elements))
        if isinstance(node, ListNode) and both:
            pairings = iter(pairings_of(node, comparison, self._options))
        parts, total = [], 0.0
        for element, pairing in zip(comparison.elements, pairings, strict=True):
            part = self._element(node, element, whole)
            adds = _added(node, element) if both else None
            total += adds or 0.0
            parts.append(replace(part, pairing=pairing, adds=adds))
        longest = len(parts) if is_tuple else _longest(comparison)
        if isinstance(node, ListNode):
            stated = node.pairing_floor is not None
            source: Literal["annotation", "run"] = "annotation" if stated else "run"
            whole = replace(whole, floor=node.floor(self._options), floor_source=source)
        return replace(whole, parts=tuple(parts), sum=Sum(total, longest) if both else None)

    def _element(self, node: Node, element: ElementComparison, whole: Explained) -> Explained:
        comparison = element.comparison
        gt_step = element.pred_index if element.gt_index is None else element.gt_index
        pred_step = element.gt_index if element.pred_index is None else element.pred_index
        inner = _element_node(node, gt_step)
        paths = (*whole.gt_path, *_steps(gt_step)), (*whole.pred_path, *_steps(pred_step))
        part = self.place(inner, comparison, *paths)
        return replace(
            part,
            outcome=element.outcome,
            similarity=reported(comparison),
            threshold=element.threshold,
            threshold_source=_element_source(node, inner, comparison),
        )


def _steps(index: int | None) -> tuple[Step, ...]:
    return () if index is None else (index,)


def _resolved(node: Node, gt: JsonValue, pred: JsonValue) -> Node:
    """Give the node that compared two values, either of which may be absent."""
    return node.resolve(None if is_absent(gt) else gt, None if is_absent(pred) else pred)


def _fields(node: Node, comparison: ObjectComparison) -> dict[str, Node]:
    """Give the node of each field of two objects."""
    if isinstance(node, MapNode):
        node = node.closed((comparison.gt, comparison.pred))
    return {entry.name: entry.node for entry in node.fields} if isinstance(node, ObjectNode) else {}


def _extra(name: str, comparison: ObjectComparison, whole: Explained) -> Explained:
    """Explain an undeclared key of a prediction: a false alarm, which takes no part in a score."""
    return Explained(
        gt_path=(*whole.gt_path, name),
        pred_path=(*whole.pred_path, name),
        kind="leaf",
        pred=comparison.pred[name] if isinstance(comparison.pred, dict) else None,
        outcome=Outcome.FA,
        similarity=0.0,
        score=0.0,
        threshold=0.0,
        threshold_source="default",
        extra=True,
    )


def _element_node(node: Node, position: int | None) -> Node:
    match node:
        case ListNode():
            return node.items
        case TupleNode() if position is not None and position < len(node.positions):
            return node.positions[position]
        case TupleNode():
            return node.rest
        case _:  # pragma: no cover - only lists and tuples have elements
            raise TypeError(type(node).__name__)


def _element_source(node: Node, inner: Node, comparison: Comparison) -> ThresholdSource:
    """Say who set the threshold of an element: a position of a tuple has its own."""
    chosen = _resolved(inner, comparison.gt, comparison.pred)
    if isinstance(node, TupleNode):
        return chosen.threshold_source
    return chosen.source_for(comparison.gt)


def _added(node: Node, element: ElementComparison) -> float:
    """Give what an element adds to the sum of its list."""
    comparison = element.comparison
    if element.gt_index is None or element.pred_index is None:
        return 0.0
    if isinstance(node, TupleNode):
        return comparison.score
    chosen = _resolved(_element_node(node, None), comparison.gt, comparison.pred)
    return 0.0 if chosen.item_clip and not element.passed else reported(comparison)


def _longest(comparison: ListComparison) -> int:
    """Count the present elements of the longer side."""
    gts = sum(element.gt_index is not None for element in comparison.elements)
    preds = sum(element.pred_index is not None for element in comparison.elements)
    return max(gts, preds)


def pairings_of(node: ListNode, comparison: ListComparison, options: Options) -> Iterator[Pairing]:
    """Tell of each element of a list what it was paired with, and what else it might have been."""
    gt_indexes, gts = present_elements(_listed(comparison.gt))
    pred_indexes, preds = present_elements(_listed(comparison.pred))
    similarity = node.items.matrix(gts, preds, options.for_pairing())
    partner_of_gt = {each.gt_index: each.pred_index for each in comparison.elements}
    partner_of_pred = {each.pred_index: each.gt_index for each in comparison.elements}
    rows = {index: row for row, index in enumerate(gt_indexes)}
    columns = {index: column for column, index in enumerate(pred_indexes)}
    for element in comparison.elements:
        gt_index, pred_index = element.gt_index, element.pred_index
        if gt_index is not None:
            candidates = similarity[rows[gt_index]].tolist()
            best = _best(candidates, pred_indexes, pred_index, partner_of_pred)
        else:
            candidates = similarity[:, columns[pred_index or 0]].tolist()
            best = _best(candidates, gt_indexes, None, partner_of_gt)
        yield Pairing(gt_index, pred_index, best)


def _best(
    similarities: Sequence[float],
    indexes: Sequence[int],
    taken: int | None,
    partners: Mapping[int | None, int | None],
) -> Candidate | None:
    """Find the best of the other side's elements but the one that was taken; ties go to the first.

    Nothing that has nothing in common is a candidate.
    """
    best: Candidate | None = None
    for index, similarity in zip(indexes, similarities, strict=True):
        if index != taken and similarity > (best.similarity if best else 0.0):
            best = Candidate(index, similarity, partners[index])
    return best


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]
