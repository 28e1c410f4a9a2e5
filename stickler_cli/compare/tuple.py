"""Tuples: lists whose elements are compared by their positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent
from .columns import NOTHING, Aligned, Columns, Indexes, aligned, groups
from .list import SequenceNode, place_items
from .pair_scores import PairGroup, PairScores, fill_rows, join_groups
from .plan import Mode, Node, Options, Recording, Scoring, Task
from .result import FA, FN, NOT_EVALUATED, TN
from .units import LIST, Placement, UnitTable, notes_by_row

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
    ignored: frozenset[int] = frozenset()
    """Positions that nobody looks at; after the declared ones, all of them."""

    def first_of(self, value: JsonValue) -> Node:
        """Return the node of the only element of a list of one."""
        return self.at(0).chosen(value)

    def parts(self) -> Sequence[Node]:
        """Return the nodes of all positions."""
        return (*self.positions, self.rest)

    def left_of(self, values: list[JsonValue]) -> list[JsonValue]:
        """Return the elements of a list, None for those that nobody looks at."""
        unseen, declared = self.ignored, len(self.positions)
        return [None if min(at, declared) in unseen else it for at, it in enumerate(values)]

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether all positions are nothing here; any other value is a list of one."""
        left = self.left_of(value if isinstance(value, list) else [value])
        return all(is_absent(it) or self.at(at).is_nothing(it) for at, it in enumerate(left))

    positional = True

    def at(self, position: int) -> Node:
        """Return the node of a position."""
        return self.positions[position] if position < len(self.positions) else self.rest

    def _find_positions(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> Aligned:
        """Return the positions of tuples that are labelled and that a side has."""
        gt_elements, pred_elements, elements = columns.elements
        gt_items, pred_items = gt_elements.of(gt), pred_elements.of(pred)
        longest = max(int(side[2].max(initial=0)) for side in (gt_items, pred_items)) + 1
        gt, pred, owner, place = aligned(gt_items, pred_items, longest)
        if elements.gold is not None:
            is_unlabelled = elements.gold.unlabelled[gt]
            for position, selected in groups(np.minimum(place, len(self.positions))):
                gt[selected] = self.at(position).choose_alternatives(
                    elements, gt[selected], pred[selected], options, mode
                )
            gt, pred = elements.present(gt, pred)
            gt = np.where(elements.gold.lacks[gt] & (pred < 0), NOTHING, gt)
            is_evaluated = ~is_unlabelled & (np.maximum(gt, pred) >= 0)
            gt, pred = gt[is_evaluated], pred[is_evaluated]
            owner, place = owner[is_evaluated], place[is_evaluated]
        return gt, pred, owner, place

    def _compare_positions(self, elements: Columns, aligned: Aligned, task: Task) -> PairScores:
        """Score those of each declared position, and all others together."""
        gt, pred, _, place = aligned
        groups_by_position = []
        for position, selected in groups(np.minimum(place, len(self.positions))):
            scores = self.at(position).compare_pairs(
                elements, gt[selected], pred[selected], task.of(selected)
            )
            groups_by_position.append(PairGroup(selected, scores))
        return join_groups(self.rest, elements, gt, pred, groups_by_position)

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of tuples by the mean similarity of the positions that either has."""
        if mode >= Mode.LISTS_MATCH:
            return self.score_full_match(columns, gt, pred)
        whole, columns = columns, self.read(columns)
        aligned_positions = self._find_positions(columns, gt, pred, options, mode)
        scores = self._compare_positions(
            columns.elements[2], aligned_positions, Scoring(options, mode)
        )
        return self._score_tuples(whole, columns, gt, pred, aligned_positions[2], scores)

    def record_declared(  # noqa: PLR0913, PLR0917 - as `record` takes them
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Record pairs of tuples, then the positions that either has."""
        whole, columns = columns, self.read(columns)
        batch = table.add(LIST, self, whole, place)
        aligned_positions = self._find_positions(columns, gt, pred, options, Mode.FINAL)
        start, elements = table.size, columns.elements[2]

        def record_positions(aligned: Aligned) -> PairScores:
            gt_slots, pred_slots, owner, position = aligned
            items = place_items(batch, owner)._replace(
                gt_index=np.where(gt_slots == NOTHING, NOTHING, position),
                pred_index=np.where(pred_slots == NOTHING, NOTHING, position),
            )
            return self._compare_positions(elements, aligned, Recording(options, table, items))

        items = record_positions(aligned_positions)
        owner, has_absent = aligned_positions[2], False
        is_present = items.outcome < TN
        if not is_present.all():  # values may count as absent, and open lists come to nothing
            has_absent = True
            table.discard(start)
            gt_slots, pred_slots, owner, position = (
                column[is_present] for column in aligned_positions
            )
            items = record_positions((gt_slots, pred_slots, owner, position))
        scores = self._score_tuples(whole, columns, gt, pred, owner, items, has_absent=has_absent)
        fill_rows(table, batch, scores, place)
        if place.is_document:
            batch.outcome = np.where(scores.outcome == TN, TN, NOT_EVALUATED)
        if columns.gold is not None:
            table.n_unlabelled_items.update(notes_by_row(columns.gold.dropped(gt), batch))
        return scores

    def _score_tuples(  # noqa: PLR0913, PLR0917 - pairs of tuples, and their positions
        self,
        whole: Columns,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        owner: Indexes,
        items: PairScores,
        *,
        has_absent: bool = False,
    ) -> PairScores:
        """Return scores of pairs of tuples, given those of the positions that either has.

        `owner` is the pair of tuples that each position is of.
        """
        is_present = items.outcome < TN
        if not is_present.all():
            has_absent, owner = True, owner[is_present]
        outcome, similarity, score = (
            figures[is_present] for figures in (items.outcome, items.similarity, items.score)
        )
        size = np.maximum(np.bincount(owner, minlength=len(gt)), 1)
        mean = np.bincount(owner, similarity, len(gt)) / size
        mean_score = mean
        if items.score is not items.similarity:
            mean_score = np.bincount(owner, score, len(gt)) / size
        if columns.gold is not None or columns.place.hides or has_absent:
            # Without a position that counts it is absent.
            n, m = (np.bincount(owner[outcome != side], minlength=len(gt)) for side in (FA, FN))
            gt, pred = np.where(n == 0, NOTHING, gt), np.where(m == 0, NOTHING, pred)
        return self.score_lists(whole, gt, pred, mean, mean_score)
