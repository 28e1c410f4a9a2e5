"""Tuples: lists whose items are compared by position. Each position has a node of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent
from .columns import NOTHING, AlignedItems, Columns, Indexes, align_items, group_positions
from .list import SequenceNode, place_items
from .pair_scores import PairGroup, PairScores, fill_rows, join_groups
from .plan import Mode, Node, Options, Recording, Scoring, Task
from .result import FA, FN, NOT_EVALUATED, TN
from .units import LIST, notes_by_row

DEFAULT_TUPLE_THRESHOLD: Final = 0.5
"""Similarity at which two tuples match if they are list items. Source: docs/semantics.md, Lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TupleNode(SequenceNode):
    """The node of a tuple, with a node for each position.

    `threshold` is the similarity at which two tuples match if they are list items. Each position
    has a threshold of its own. The score of a tuple is never clipped.
    """

    positions: tuple[Node, ...]
    other_positions: Node
    """The node of all positions after the declared ones."""
    ignored: frozenset[int] = frozenset()
    """Indexes of positions that are not compared. An index equal to the number of declared
    positions stands for all later positions: with two declared positions, 2 means that the third
    and all later positions are not compared."""

    def node_of_single_item(self, value: JsonValue) -> Node:
        """Return the node that compares a value as the only item of a tuple."""
        return self.node_at(0).node_for(value)

    def inner_nodes(self) -> Sequence[Node]:
        """Return the node of each declared position, then the node of all later positions."""
        return (*self.positions, self.other_positions)

    def mask_ignored(self, values: list[JsonValue]) -> list[JsonValue]:
        """Replace the items at ignored positions by None."""
        n_declared = len(self.positions)
        return [
            None if min(position, n_declared) in self.ignored else value
            for position, value in enumerate(values)
        ]

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether all positions count as absent.

        A value that is not a list counts as a list of one item.
        """
        items = self.mask_ignored(value if isinstance(value, list) else [value])
        return all(
            is_absent(item) or self.node_at(position).counts_as_absent(item)
            for position, item in enumerate(items)
        )

    positional = True

    def node_at(self, position: int) -> Node:
        """Return the node of a position."""
        return self.positions[position] if position < len(self.positions) else self.other_positions

    def _find_positions(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> AlignedItems:
        """Align the items of tuples by position, and return the positions that are evaluated.

        A position is evaluated if it is labelled, and at least one of the two tuples has a value
        there.
        """
        gt_tuples, pred_tuples, elements = columns.elements
        gt_items, pred_items = gt_tuples.select(gt), pred_tuples.select(pred)
        n_indexes = 1 + max(int(side.indexes.max(initial=0)) for side in (gt_items, pred_items))
        positions = align_items(gt_items, pred_items, n_indexes)
        if elements.gold is None:
            return positions
        gt, pred = positions.gt, positions.pred
        is_unlabelled = elements.gold.is_unlabelled[gt]
        for node_index, selected in self._group_by_node(positions):
            gt[selected] = self.node_at(node_index).choose_alternatives(
                elements, gt[selected], pred[selected], options, mode
            )
        gt, pred = elements.drop_absent(gt, pred)
        gt = np.where(elements.gold.all_optional[gt] & (pred < 0), NOTHING, gt)
        is_evaluated = ~is_unlabelled & (np.maximum(gt, pred) >= 0)
        return positions._replace(gt=gt, pred=pred).select(is_evaluated)

    def _group_by_node(self, positions: AlignedItems) -> Iterator[tuple[int, Indexes]]:
        """Group positions by the node that compares them.

        Yield (index of the node, indexes of its entries in `positions`). One node compares all
        positions after the declared ones. A node without entries is omitted.
        """
        return group_positions(np.minimum(positions.indexes, len(self.positions)))

    def _compare_positions(
        self, elements: Columns, positions: AlignedItems, task: Task
    ) -> PairScores:
        """Compare the elements of tuples. Each position of a tuple has a node, which compares them.

        The comparisons are recorded if `task` is a `Recording`.
        """
        gt, pred = positions.gt, positions.pred
        groups = []
        for node_index, selected in self._group_by_node(positions):
            scores = self.node_at(node_index).compare_pairs(
                elements, gt[selected], pred[selected], task.select(selected)
            )
            groups.append(PairGroup(selected, scores))
        return join_groups(self.other_positions, elements, gt, pred, groups)

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of tuples by the mean similarity of their positions.

        A position counts if at least one side has it.
        """
        if mode >= Mode.LISTS_MATCH:
            return self.score_full_match(columns, gt, pred)
        masked = self.mask_ignored_columns(columns)
        positions = self._find_positions(masked, gt, pred, options, mode)
        scores = self._compare_positions(masked.elements.columns, positions, Scoring(options, mode))
        return self._score_tuples(columns, gt, pred, positions.owner, scores)

    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Score and record pairs of tuples, and each position that at least one side has."""
        table, placement = recording.table, recording.placement
        masked = self.mask_ignored_columns(columns)
        batch = table.add(LIST, self, columns, placement)
        positions = self._find_positions(masked, gt, pred, recording.options, Mode.FINAL)
        start, elements = table.size, masked.elements.columns

        def record_positions(positions: AlignedItems) -> PairScores:
            """Record each position as an item of its tuple, and return the scores."""
            items = place_items(batch, positions.owner)._replace(
                gt_index=np.where(positions.gt == NOTHING, NOTHING, positions.indexes),
                pred_index=np.where(positions.pred == NOTHING, NOTHING, positions.indexes),
            )
            return self._compare_positions(elements, positions, recording.with_placement(items))

        items = record_positions(positions)
        is_present, has_absent = items.outcome < TN, False
        if not is_present.all():
            # Some values turned out to count as absent: discard them and record again.
            has_absent = True
            table.discard(start)
            positions = positions.select(is_present)
            items = record_positions(positions)
        scores = self._score_tuples(
            columns, gt, pred, positions.owner, items, has_absent=has_absent
        )
        fill_rows(table, batch, scores, placement)
        if placement.is_document:
            batch.outcome = np.where(scores.outcome == TN, TN, NOT_EVALUATED)
        if columns.gold is not None:
            n_unlabelled = columns.gold.count_unlabelled_items(gt)
            table.n_unlabelled_items.update(notes_by_row(n_unlabelled, batch))
        return scores

    def _score_tuples(  # noqa: PLR0913 - pairs of tuples, and their positions
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        owner: Indexes,
        items: PairScores,
        *,
        has_absent: bool = False,
    ) -> PairScores:
        """Return the scores of pairs of tuples, given the scores of their positions.

        `owner` and `items` have an entry for each compared position. The entry of `owner` is the
        index of a pair of tuples in `gt` and `pred`: the pair to which the position belongs.
        `has_absent` is True if the caller omitted positions because their values count as absent.
        """
        is_present = items.outcome < TN  # TN: absent on both sides
        if not is_present.all():
            has_absent, owner = True, owner[is_present]
        outcome, similarity, score = (
            figures[is_present] for figures in (items.outcome, items.similarity, items.score)
        )
        n_tuples = len(gt)
        n_positions = np.maximum(np.bincount(owner, minlength=n_tuples), 1)
        mean = np.bincount(owner, similarity, n_tuples) / n_positions
        mean_score = mean
        if items.score is not items.similarity:  # same array: nothing clipped
            mean_score = np.bincount(owner, score, n_tuples) / n_positions
        if columns.gold is not None or columns.work.has_ignored_values or has_absent:
            # A tuple without a present position is absent.
            n_gt = np.bincount(owner[outcome != FA], minlength=n_tuples)
            n_pred = np.bincount(owner[outcome != FN], minlength=n_tuples)
            gt, pred = np.where(n_gt == 0, NOTHING, gt), np.where(n_pred == 0, NOTHING, pred)
        return self.score_lists(columns, gt, pred, mean, mean_score)
