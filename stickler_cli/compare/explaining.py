"""From an account back to the reasons: which threshold, which arithmetic, which other pairs.

An account does not keep the similarities of pairs that were not chosen; here they are computed
again, by the same nodes of the same columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from stickler_cli.compare.account import Account
from stickler_cli.compare.columns import Columns, Indexes
from stickler_cli.compare.comparison import Comparison, ElementComparison, comparison_of
from stickler_cli.compare.explained import (
    Candidate,
    Explained,
    Pairing,
    Sum,
)
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.list import ListNode
from stickler_cli.compare.plan import Node, Options, Purpose
from stickler_cli.compare.result import Outcome, ThresholdSource
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.core.locations import Path, Step


def explain(account: Account, options: Options) -> Explained:
    """Explain what `compare` found for one document, under the same options.

    Models that pairs depend on are asked about all pairs of list elements once more; judges are
    asked nothing.

    Raises:
        ComparisonError: a comparator failed on a pair that was not chosen.
    """
    return _Explainer(options.to(Purpose.PAIRING)).place(comparison_of(account, 0), (), ())


class _Explainer:
    """Walks a comparison."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def place(self, comparison: Comparison, gt_path: Path, pred_path: Path) -> Explained:
        """Explain one place."""
        node = comparison.account.node
        whole = Explained(
            gt_path=gt_path,
            pred_path=pred_path,
            kind="leaf",
            comparator=node.comparator.name if isinstance(node, LeafNode) else "",
            reason=comparison.reason,
            gt=comparison.gt,
            pred=comparison.pred,
            outcome=comparison.outcome,
            similarity=comparison.similarity,
            score=comparison.score,
            threshold=comparison.threshold,
            threshold_source=node.threshold_source,
        )
        match comparison.shape:
            case "object":
                return self._object(comparison, whole)
            case "list":
                return self._list(comparison, whole)
            case _:
                return whole

    def _object(self, comparison: Comparison, whole: Explained) -> Explained:
        parts, total, weights = [], 0.0, 0.0
        both = comparison.outcome in (Outcome.TP, Outcome.FD)
        for entry in comparison.fields:
            paths = (*whole.gt_path, entry.name), (*whole.pred_path, entry.name)
            absent = entry.comparison.outcome is Outcome.TN  # then it takes no part in the mean
            adds = entry.weight * entry.comparison.score if both and not absent else None
            part = self.place(entry.comparison, *paths)
            parts.append(replace(part, weight=entry.weight, adds=adds))
            if adds is not None:
                total, weights = total + adds, weights + entry.weight
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

    def _list(self, comparison: Comparison, whole: Explained) -> Explained:
        node = comparison.account.node
        both = comparison.outcome in (Outcome.TP, Outcome.FD)
        is_tuple = isinstance(node, TupleNode)
        whole = replace(
            whole,
            kind="tuple" if is_tuple else "list",
            comparator="",
            gt=None if both else whole.gt,
            pred=None if both else whole.pred,
        )
        elements = comparison.elements
        if not elements:
            return whole
        pairings: Iterator[Pairing | None] = iter([None] * len(elements))
        if isinstance(node, ListNode) and both:
            pairings = pairings_of(node, comparison, self._options)
        parts, total = [], 0.0
        for element, pairing in zip(elements, pairings, strict=True):
            part = self._element(element, whole, is_tuple=is_tuple)
            adds = _added(element, is_tuple=is_tuple) if both else None
            total += adds or 0.0
            parts.append(replace(part, pairing=pairing, adds=adds))
        longest = len(parts) if is_tuple else _longest(elements)
        if isinstance(node, ListNode):
            stated = node.pairing_floor is not None
            source: Literal["annotation", "run"] = "annotation" if stated else "run"
            whole = replace(whole, floor=node.floor(self._options), floor_source=source)
        return replace(whole, parts=tuple(parts), sum=Sum(total, longest) if both else None)

    def _element(
        self, element: ElementComparison, whole: Explained, *, is_tuple: bool
    ) -> Explained:
        comparison = element.comparison
        gt_step = element.pred_index if element.gt_index is None else element.gt_index
        pred_step = element.gt_index if element.pred_index is None else element.pred_index
        paths = (*whole.gt_path, *_steps(gt_step)), (*whole.pred_path, *_steps(pred_step))
        return replace(
            self.place(comparison, *paths),
            outcome=element.outcome,
            similarity=comparison.reported,
            threshold=element.threshold,
            threshold_source=_element_source(comparison, is_tuple=is_tuple),
        )


def _steps(index: int | None) -> tuple[Step, ...]:
    return () if index is None else (index,)


def _extra(name: str, comparison: Comparison, whole: Explained) -> Explained:
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


def _element_source(comparison: Comparison, *, is_tuple: bool) -> ThresholdSource:
    """Return who set the threshold of an element: a position of a tuple has its own."""
    node = comparison.account.node
    return node.threshold_source if is_tuple else node.source_for(comparison.gt)


def _added(element: ElementComparison, *, is_tuple: bool) -> float:
    """Return what an element adds to the sum of its list."""
    comparison = element.comparison
    if element.gt_index is None or element.pred_index is None:
        return 0.0
    if is_tuple:
        return comparison.score
    clips = comparison.account.node.item_clip
    return 0.0 if clips and not element.passed else comparison.reported


def _longest(elements: Sequence[ElementComparison]) -> int:
    """Count the present elements of the longer side."""
    gts = sum(element.gt_index is not None for element in elements)
    preds = sum(element.pred_index is not None for element in elements)
    return max(gts, preds)


def pairings_of(node: ListNode, comparison: Comparison, options: Options) -> Iterator[Pairing]:
    """Tell of each element of a list what it was paired with, and what else it might have been."""
    columns, elements = comparison.account.columns, comparison.elements
    gt_elements, pred_elements, values = columns.elements
    gt_slot, pred_slot = (
        int(side[comparison.pair]) for side in (comparison.account.gt, comparison.account.pred)
    )
    rows = np.arange(gt_elements.lengths[gt_slot]) + gt_elements.starts[gt_slot]
    others = np.arange(pred_elements.lengths[pred_slot]) + pred_elements.starts[pred_slot]
    similarity = _all_pairs(node.items, values, rows, others, options)
    gt_indexes = gt_elements.places[rows].tolist()
    pred_indexes = pred_elements.places[others].tolist()
    partner_of_gt = {each.gt_index: each.pred_index for each in elements}
    partner_of_pred = {each.pred_index: each.gt_index for each in elements}
    row_of = {index: row for row, index in enumerate(gt_indexes)}
    column_of = {index: column for column, index in enumerate(pred_indexes)}
    for element in elements:
        gt_index, pred_index = element.gt_index, element.pred_index
        if gt_index is not None:
            candidates = similarity[row_of[gt_index]].tolist()
            best = _best(candidates, pred_indexes, pred_index, partner_of_pred)
        else:
            candidates = similarity[:, column_of[pred_index or 0]].tolist()
            best = _best(candidates, gt_indexes, None, partner_of_gt)
        yield Pairing(gt_index, pred_index, best)


def _all_pairs(
    node: Node, values: Columns, gt: Indexes, pred: Indexes, options: Options
) -> "np.ndarray":
    """Return the similarity of every element of one side and every one of the other, (n, m)."""
    pairs = np.repeat(gt, len(pred)), np.tile(pred, len(gt))
    return node.compare(values, *pairs, options).reported.reshape(len(gt), len(pred))


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
