"""The node of texts that contain JSON. It compares the objects or lists in these texts."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from stickler_cli.core.json_texts import MAX_LEVELS, read_json_text
from stickler_cli.core.json_values import JsonValue
from .columns import Columns, Floats, Indexes, Mask, group_positions
from .leaf import LeafNode
from .one_of import DelegatingNode
from .pair_scores import PairGroup, PairScores, join_groups
from .plan import Node, Task
from .result import ThresholdSource

LETTER_STEPS: Final = 10
"""Steps of work to read one letter of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTextNode(DelegatingNode):
    """The node of texts that contain JSON: it compares the objects or lists written in them.

    An object or list that is not written as a text is compared as it is. If one side is a text
    without an object or list in it, both sides are compared as plain texts.
    """

    content: Node
    text: LeafNode = field(repr=False, compare=False)
    """Compares a pair as plain texts if one side is a text without an object or list in it."""

    @property
    def item_threshold(self) -> float:
        """The similarity at which a pair of list items matches."""
        return self.content.item_threshold

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return the source of the threshold for a list item."""
        return self.content.source_for(read_json_text(element))

    def inner_nodes(self) -> tuple[Node, ...]:
        """Return the node of the content and the node of plain texts, both for the same field."""
        return self.content, self.text

    def node_for(self, value: JsonValue) -> Node:
        """Return the node for the content of a value."""
        content = read_json_text(value)
        return self.content.node_for(content) if isinstance(content, dict | list) else self.text

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether the content of a value counts as absent."""
        return self.content.counts_as_absent(read_json_text(value))

    def element_thresholds(self, columns: Columns, gt: Indexes) -> float | Floats:
        """Return the threshold of each list item.

        An item matches if its similarity is at least this. `gt` has the column positions of the
        items.
        """
        is_text = self._plain_text_masks(columns)[0][gt]
        of_content = self.content.element_thresholds(self._read_content(columns), gt)
        return np.where(is_text, self.text.threshold, of_content)

    def delegate(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Compare pairs of texts by their content.

        If `task` is a `Recording`, the pairs are also added to its unit table.
        """
        gt_is_text, pred_is_text = self._plain_text_masks(columns)
        is_text = gt_is_text[gt] | pred_is_text[pred]
        read = self._read_content(columns)
        task = task.with_weight(self.weight)
        groups_of_pairs = []
        for are_texts, positions in group_positions(is_text.astype(np.intp)):
            node, values = (self.text, columns) if are_texts else (self.content, read)
            scores = node.compare_pairs(
                values, gt[positions], pred[positions], task.select(positions)
            )
            groups_of_pairs.append(PairGroup(positions, scores))
        return join_groups(self, columns, gt, pred, groups_of_pairs, self.weight)

    def _read_content(self, columns: Columns) -> Columns:
        """Return columns in which each JSON text is replaced by its content.

        Texts that contain no JSON stay as they are.
        """

        def charge_letters() -> None:
            texts = (value for value in (*columns.gt, *columns.pred) if isinstance(value, str))
            columns.work.charge(LETTER_STEPS * sum(map(len, texts)))

        columns.cached((id(self), "letters"), charge_letters)
        read = columns.map_values((id(self), "content"), read_json_text)
        if columns.confidences is not None and read.confidences is columns.confidences:
            stated = zip(columns.confidences, read.pred, strict=True)
            read.confidences = [
                _spread_confidence(confidence, value) for confidence, value in stated
            ]
        return read

    def _plain_text_masks(self, columns: Columns) -> tuple[Mask, Mask]:
        """Return, for each side, a mask of the values that contain no object or list.

        A mask is False for absent values. It has one more entry than the side has values: the last
        entry stands for `NOTHING`, and is False.
        """

        def find_texts() -> tuple[Mask, Mask]:
            read = self._read_content(columns)
            gt, pred = (
                np.array([not isinstance(value, dict | list) for value in (*side, [])])
                for side in (read.gt, read.pred)
            )
            absent = columns.work.absence
            for is_text, side in ((gt, read.gt), (pred, read.pred)):
                for slot in np.flatnonzero(is_text).tolist():
                    is_text[slot] = not absent(side[slot])
            return gt, pred

        masks: tuple[Mask, Mask] = columns.cached((id(self), "texts"), find_texts)
        return masks


def _spread_confidence(confidence: Any, value: JsonValue) -> Any:
    """Give the single confidence of a text to every value in the text's content.

    Return confidences as they are if they are an object, a list or None.
    """
    if isinstance(confidence, dict | list) or confidence is None:
        return confidence
    if isinstance(value, dict):
        return {name: _spread_confidence(confidence, child) for name, child in value.items()}
    if isinstance(value, list):
        return [_spread_confidence(confidence, child) for child in value]
    return confidence


def with_read_texts(gt: JsonValue, pred: JsonValue, levels: int = MAX_LEVELS) -> JsonValue:
    """Replace a predicted JSON text by its content where the ground truth has an object or list.

    >>> with_read_texts({"a": [1], "b": "[1]"}, {"a": "[2]", "b": "[2]"})
    {'a': [2], 'b': '[2]'}
    """
    if not isinstance(gt, dict | list) or not levels:
        return pred
    if isinstance(pred, str):
        content = read_json_text(pred)
        return content if type(content) is type(gt) else pred
    if isinstance(gt, dict) and isinstance(pred, dict):
        children: dict[str, JsonValue] = {
            name: with_read_texts(gt.get(name), child, levels - 1) for name, child in pred.items()
        }
        changed = any(children[name] is not child for name, child in pred.items())
        return children if changed else pred
    if isinstance(gt, list) and isinstance(pred, list) and gt and isinstance(gt[0], dict | list):
        last = len(gt) - 1
        elements = [
            with_read_texts(gt[min(index, last)], child, levels - 1)
            for index, child in enumerate(pred)
        ]
        changed = any(new is not old for new, old in zip(elements, pred, strict=True))
        return elements if changed else pred
    return pred
