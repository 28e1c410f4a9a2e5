"""A list: order never matters, elements are paired by optimal assignment."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import is_absent, present_elements
from stickler_cli.compare.pairing import Pair, pair, pair_within
from stickler_cli.compare.plan import Node, Options
from stickler_cli.compare.result import (
    FD,
    TP,
    Comparison,
    ElementComparison,
    ListComparison,
    ObjectComparison,
    Outcome,
    ThresholdSource,
)
from stickler_cli.compare.thresholds import meets
from stickler_cli.core.json_values import JsonValue

FEW_PAIRS: Final = 64
"""So many pairs are compared all with all; of more it pays to look at likely ones first."""

FEW_NESTED: Final = 2
"""The same where to compare a pair is to pair what is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode(Node, ABC):
    """What lists and tuples share: a value that is not a list counts as a list of one."""

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair what is in them."""
        return True

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

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Tell who said the threshold for a list as an element of another."""
        if self.threshold_stated or not isinstance(element, list):
            return self.threshold_source
        first = next((part for part in element if not is_absent(part)), None)
        return (
            self.threshold_source if first is None else self.items.chosen(first).source_for(first)
        )

    def floor(self, options: Options) -> float:
        """Give the similarity at or below which two elements are no pair."""
        return options.pairing_floor if self.pairing_floor is None else self.pairing_floor

    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        gts, preds = _elements(gt)[1], _elements(pred)[1]
        return self._score(gts, preds, self._pairs(gts, preds, options))

    def _pairs(
        self,
        gts: Sequence[JsonValue],
        preds: Sequence[JsonValue],
        options: Options,
        account: "Callable[[int, int], Comparison] | None" = None,
    ) -> list[Pair]:
        """Put elements together; `account` compares two where one pair is to be looked at."""
        floor = self.floor(options)
        few = FEW_NESTED if self.items.nested else FEW_PAIRS
        shortened = not self.items.columnar and not options.asks_models
        if shortened and len(gts) * len(preds) > few:

            def similarity(row: int, column: int) -> float:
                if account is not None:
                    return reported(account(row, column))
                return self.items.similarity(gts[row], preds[column], options)

            bound = self.items.bound(gts, preds, options)
            if not isinstance(bound, float):
                pairs = pair_within(bound, similarity, floor)
                if pairs is not None:
                    return pairs
        return pair(self.items.matrix(gts, preds, options.for_pairing()), floor)

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
            cells = self.items.matrix(elements, columns, options.for_pairing())
            for column, others in enumerate(pred_lists):
                block = cells[:, edges[column] : edges[column + 1]]
                pairs = pair(block, self.floor(options))
                result[row, column] = self._score(elements, others, pairs)
        return result

    def _score(
        self,
        gts: Sequence[JsonValue],
        preds: Sequence[JsonValue],
        pairs: Iterable[Pair],
    ) -> float:
        """Give sum(scores of the kept pairs) / max(n, m); in [0, 1]."""
        total = 0.0
        for match in pairs:
            node = self.items.resolve(gts[match.gt], preds[match.pred])
            if not node.item_clip or meets(match.similarity, node.threshold_for(gts[match.gt])):
                total += match.similarity
        return total / max(len(gts), len(preds))

    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        gt_indexes, gts = _elements(gt)
        pred_indexes, preds = _elements(pred)
        accounts: dict[tuple[int, int], Comparison] = {}

        def account(row: int, column: int) -> Comparison:
            if (row, column) not in accounts:
                accounts[row, column] = self.items.compare_present(gts[row], preds[column], options)
            return accounts[row, column]

        pairs = {match.gt: match for match in self._pairs(gts, preds, options, account)}
        elements, raw, score = [], 0.0, 0.0
        for row, value in enumerate(gts):
            match = pairs.get(row)
            if match is None:
                elements.append(self._unpaired(value, gt_indexes[row], Outcome.FN, options))
                continue
            node = self.items.resolve(value, preds[match.pred])
            element = paired_element(
                account(row, match.pred),
                (gt_indexes[row], pred_indexes[match.pred]),
                node.threshold_for(value),
            )
            elements.append(element)
            raw += reported(element.comparison) if options.asks_models else match.similarity
            if element.passed or not node.item_clip:
                score += reported(element.comparison)
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
    outcome = comparison.outcome
    if isinstance(comparison, (ObjectComparison, ListComparison)):
        outcome = TP if meets(reported(comparison), threshold) else FD
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


def _elements(value: JsonValue) -> tuple[list[int], list[JsonValue]]:
    return present_elements(value if isinstance(value, list) else [value])
