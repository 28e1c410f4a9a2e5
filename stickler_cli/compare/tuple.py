"""A tuple: a list whose positions have schemas of their own; position against position."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.list import SequenceNode, paired_element, unpaired_element
from stickler_cli.compare.plan import Node, Options
from stickler_cli.compare.result import Comparison, ListComparison, Outcome
from stickler_cli.core.json_values import JsonValue

DEFAULT_TUPLE_THRESHOLD: Final = 0.5
"""The score that a tuple must reach as an element of a list. Source: docs/semantics.md, Lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleNode(SequenceNode):
    """A list of positions.

    `threshold` is what the tuple must reach as an element of a list; each position passes on its
    own. A tuple is never clipped as a whole.
    """

    positions: tuple[Node, ...]
    rest: Node
    """For positions after the declared ones."""

    def first_of(self, value: JsonValue) -> Node:
        """Give the node of the only element of a list of one."""
        return (self.positions[0] if self.positions else self.rest).chosen(value)

    def _positions(
        self, gt: JsonValue, pred: JsonValue
    ) -> Iterator[tuple[int, Node, JsonValue, JsonValue]]:
        """Go through the positions that have a value; None stands for an absent side."""
        gts, preds = _listed(gt), _listed(pred)
        for index in range(max(len(gts), len(preds))):
            node = self.positions[index] if index < len(self.positions) else self.rest
            gt_value = gts[index] if index < len(gts) else None
            pred_value = preds[index] if index < len(preds) else None
            gt_value = None if is_absent(gt_value) else gt_value
            pred_value = None if is_absent(pred_value) else pred_value
            if gt_value is not None or pred_value is not None:
                yield index, node, gt_value, pred_value

    def _similarity(self, gt: JsonValue, pred: JsonValue, options: Options) -> float:
        scores = [
            0.0
            if gt_value is None or pred_value is None
            else node.score(gt_value, pred_value, options)
            for _, node, gt_value, pred_value in self._positions(gt, pred)
        ]
        return sum(scores) / len(scores)

    def _compare(self, gt: JsonValue, pred: JsonValue, options: Options) -> Comparison:
        elements, raw, score = [], 0.0, 0.0
        for index, node, gt_value, pred_value in self._positions(gt, pred):
            comparison = node.compare(gt_value, pred_value, options)
            if gt_value is None or pred_value is None:
                elements.append(unpaired_element(comparison, index))
            else:
                elements.append(paired_element(comparison, (index, index), comparison.threshold))
            raw += comparison.similarity
            score += comparison.score
        score /= len(elements)
        return ListComparison(
            gt,
            pred,
            self.judge(score),
            raw / len(elements),
            score,
            self.threshold,
            tuple(elements),
        )

    def one_sided(self, value: JsonValue, outcome: Outcome, options: Options) -> Comparison:
        """Account for a tuple that the other side does not have, position by position."""
        if not self.declares(value):
            return self.one_sided_leaf(value, outcome)
        missing = outcome is Outcome.FA
        gt, pred = (None, value) if missing else (value, None)
        elements = tuple(
            unpaired_element(
                node.one_sided(pred_part if missing else gt_part, outcome, options), index
            )
            for index, node, gt_part, pred_part in self._positions(gt, pred)
        )
        return ListComparison(gt, pred, outcome, 0.0, 0.0, self.threshold, elements)


def _listed(value: JsonValue) -> list[JsonValue]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
