"""A list: order never matters, elements are paired by optimal assignment."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import is_absent, present_elements
from stickler_cli.compare.pairing import pair
from stickler_cli.compare.plan import Node, Options
from stickler_cli.compare.result import (
    Comparison,
    ElementComparison,
    ListComparison,
    ObjectComparison,
    Outcome,
)
from stickler_cli.compare.thresholds import meets
from stickler_cli.json_values import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode(Node, ABC):
    """What lists and tuples share: a value that is not a list counts as a list of one."""

    @abstractmethod
    def first_of(self, value: JsonValue) -> Node:
        """Give the node of the only element of a list of one."""

    def declares(self, value: JsonValue) -> bool:
        """Take any value, but one that would be wrapped for ever."""
        return isinstance(value, list) or not self._wraps_for_ever(value)

    def _wraps_for_ever(self, value: JsonValue) -> bool:
        """Say whether a list of one of the value would hold a list of one of it, and so on.

        So it is in a list that contains itself, where no other arm takes the value.
        """
        seen: list[Node] = []
        node: Node = self
        while isinstance(node, SequenceNode):
            if any(node is other for other in seen):
                return True
            seen.append(node)
            node = node.first_of(value)
        return False

    def nothing(self) -> Comparison:
        """Account for both sides being absent: one unit, without elements."""
        return ListComparison(None, None, Outcome.TN, 1.0, 1.0, self.threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNode(SequenceNode):
    """A list of elements of one node.

    `threshold` is what the list must reach as an element of another list; its own elements pass
    on thresholds of their own. A list is never clipped as a whole.
    """

    items: Node
    pairing_floor: float | None = None
    """In [-1, 1); None leaves it to the run."""
    threshold_stated: bool = True
    """Whether `threshold` is the schema's word; else it goes by the elements, if these differ."""

    def first_of(self, value: JsonValue) -> Node:
        """Give the node of the only element of a list of one."""
        return self.items.chosen(value)

    def threshold_for(self, element: JsonValue) -> float:
        """Give what a list must reach as an element of another: what its own elements must."""
        if self.threshold_stated or not isinstance(element, list):
            return self.threshold
        first = next((part for part in element if not is_absent(part)), None)
        return self.threshold if first is None else self.items.chosen(first).threshold_for(first)

    def _floor(self, options: Options) -> float:
        return options.pairing_floor if self.pairing_floor is None else self.pairing_floor

    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        gts, preds = _elements(gt)[1], _elements(pred)[1]
        return self._score(gts, preds, self.items.matrix(gts, preds, options), options)

    def _matrix(
        self, gts: Sequence[JsonValue], preds: Sequence[JsonValue], options: Options
    ) -> Matrix:
        gt_lists = [_elements(gt)[1] for gt in gts]
        pred_lists = [_elements(pred)[1] for pred in preds]
        columns = [element for elements in pred_lists for element in elements]
        edges = np.cumsum([0, *map(len, pred_lists)])
        result = np.empty((len(gts), len(preds)))
        # Row by row: one call covers the elements of a list against those of all others, and
        # memory stays at a row's worth where all against all may be gigabytes.
        for row, elements in enumerate(gt_lists):
            cells = self.items.matrix(elements, columns, options)
            for column, others in enumerate(pred_lists):
                block = cells[:, edges[column] : edges[column + 1]]
                result[row, column] = self._score(elements, others, block, options)
        return result

    def _score(
        self,
        gts: Sequence[JsonValue],
        preds: Sequence[JsonValue],
        similarity: Matrix,
        options: Options,
    ) -> float:
        """Give sum(scores of the kept pairs) / max(n, m); in [0, 1]."""
        total = 0.0
        for match in pair(similarity, self._floor(options)):
            node = self.items.resolve(gts[match.gt], preds[match.pred])
            if not node.item_clip or meets(match.similarity, node.threshold_for(gts[match.gt])):
                total += match.similarity
        return total / max(len(gts), len(preds))

    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        gt_indexes, gts = _elements(gt)
        pred_indexes, preds = _elements(pred)
        similarity = self.items.matrix(gts, preds, options)
        pairs = {match.gt: match for match in pair(similarity, self._floor(options))}
        elements, raw, score = [], 0.0, 0.0
        for row, value in enumerate(gts):
            if row not in pairs:
                elements.append(self._unpaired(value, gt_indexes[row], Outcome.FN, options))
                continue
            match = pairs[row]
            element = self._paired(
                (value, preds[match.pred]), (gt_indexes[row], pred_indexes[match.pred]), options
            )
            elements.append(element)
            raw += match.similarity
            score += _pair_score(element, self.items.resolve(value, preds[match.pred]))
        taken = {match.pred for match in pairs.values()}
        elements += [
            self._unpaired(value, pred_indexes[column], Outcome.FA, options)
            for column, value in enumerate(preds)
            if column not in taken
        ]
        longest = max(len(gts), len(preds))
        return ListComparison(
            gt,
            pred,
            self.judge(score / longest),
            raw / longest,
            score / longest,
            self.threshold,
            tuple(elements),
        )

    def _paired(
        self, values: tuple[JsonValue, JsonValue], indexes: tuple[int, int], options: Options
    ) -> ElementComparison:
        node = self.items.resolve(*values)
        return paired_element(
            node.compare(*values, options), indexes, node.threshold_for(values[0])
        )

    def _unpaired(
        self, value: JsonValue, index: int, outcome: Outcome, options: Options
    ) -> ElementComparison:
        return unpaired_element(self.items.one_sided(value, outcome, options), index)

    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for a list that the other side does not have, element by element."""
        if not self.declares(value):
            return self.one_sided_leaf(value, outcome)
        elements = tuple(
            self._unpaired(element, index, outcome, options)
            for index, element in zip(*_elements(value), strict=True)
        )
        gt, pred = (value, None) if outcome is Outcome.FN else (None, value)
        return ListComparison(gt, pred, outcome, 0.0, 0.0, self.threshold, elements)


def paired_element(
    comparison: Comparison, indexes: tuple[int, int], threshold: float
) -> ElementComparison:
    """Classify a pair of elements by the threshold for elements."""
    if isinstance(comparison, ObjectComparison | ListComparison):
        outcome = Outcome.TP if meets(reported(comparison), threshold) else Outcome.FD
    else:
        outcome = comparison.outcome
    return ElementComparison(*indexes, outcome, threshold, comparison)


def unpaired_element(comparison: Comparison, index: int) -> ElementComparison:
    """Count an element without a pair: FN on the ground-truth side, FA on the other."""
    outcome = comparison.outcome
    missed = outcome is Outcome.FN
    return ElementComparison(
        index if missed else None,
        None if missed else index,
        outcome,
        comparison.threshold,
        comparison,
    )


def reported(comparison: Comparison) -> float:
    """Give the similarity of a pair as an element: of two lists, their score."""
    return comparison.score if isinstance(comparison, ListComparison) else comparison.similarity


def _pair_score(element: ElementComparison, node: Node) -> float:
    if node.item_clip and not element.passed:
        return 0.0
    return reported(element.comparison)


def _elements(value: JsonValue) -> tuple[list[int], list[JsonValue]]:
    return present_elements(value if isinstance(value, list) else [value])
