"""Lists: their items are paired by optimal assignment, then compared pair by pair."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent, json_key
from stickler_cli.core.locations import Step
from .arranged import pair_arranged, pair_by_position
from .columns import (
    ABSENT,
    ARRAY,
    NOTHING,
    Columns,
    Floats,
    Indexes,
    ListLayout,
    Mask,
    Outcomes,
    distinct,
    expand_ranges,
)
from .gold import first_absent_alternatives
from .pair_scores import PairScores, classify, classify_present, fill_rows, has_both_sides
from .paired_lists import PairedLists
from .pairing import ListPairs, pair_items
from .plan import Mode, Node, Options, Recording, Task
from .result import FA, FN, NOT_EVALUATED, TN, TP, ListPairing, ThresholdSource
from .units import LIST, OBJECT, Placement, UnitBatch, notes_by_row, select_values

BYTES_OF_LIST_PAIR: Final = 300
"""Measured memory of a pair of lists while its items are paired, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode(Node, ABC):
    """The base of list and tuple nodes.

    A value that is not a list counts as a list of one item.
    """

    nested = True
    takes_lists = True

    def child_node(self, step: Step) -> Node | None:
        """Return the node of the item at an index; None for a key."""
        return self.node_at(step) if isinstance(step, int) else None

    @abstractmethod
    def node_at(self, position: int) -> Node:
        """Return the node of the item at a position."""

    @abstractmethod
    def node_of_single_item(self, value: JsonValue) -> Node:
        """Return the node that compares a value as the only item of a list."""

    @abstractmethod
    def mask_ignored(self, values: list[JsonValue]) -> list[JsonValue]:
        """Replace ignored items of a list by None."""

    def counts_as_absent(self, value: JsonValue) -> bool:
        """Return whether all items of a list are absent or ignored.

        A value that is not a list counts as a list of one item.
        """
        return is_absent(self.mask_ignored(value if isinstance(value, list) else [value]))

    def mask_ignored_columns(self, columns: Columns) -> Columns:
        """Return columns in which ignored list items are replaced by None."""
        if not columns.work.has_ignored_values:
            return columns

        def mask_value(value: JsonValue) -> JsonValue:
            return self.mask_ignored(value) if isinstance(value, list) else value

        return columns.map_values((id(self), "masked"), mask_value)

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Compare pairs of lists; if `task` is a `Recording`, add them to its unit table.

        A list that is a whole document is compared like any other list.
        """
        return Node.compare_pairs(self, columns, gt, pred, task.by_value())

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return masks of the values that can be read as lists, one for each side; None if all can.

        A value that is not a list is read as a list of one item. Only one kind of value cannot be
        read in this way: a value for which a recursive schema needs endless nested lists.
        """
        if columns.types <= {list, type(None)}:
            return None

        def find_accepted() -> tuple[Mask, Mask]:
            """Return the masks that `declares` returns, for ground truths and for predictions.

            Present values that are not lists are checked one by one.
            """
            masks = []
            for kinds, values in zip(columns.kinds, (columns.gt, columns.pred), strict=True):
                is_accepted = kinds == ARRAY
                is_single_value = ~is_accepted[:-1] & (kinds[:-1] != ABSENT)
                for slot in np.flatnonzero(is_single_value).tolist():
                    is_accepted[slot] = not self._wraps_endlessly(values[slot])
                masks.append(is_accepted)
            return masks[0], masks[1]

        # Cache the masks: each level of nested lists compares the same column.
        return columns.cached((id(self), "declares"), find_accepted)

    def _wraps_endlessly(self, value: JsonValue) -> bool:
        """Return whether reading a value as a list of one item would need endless nested lists.

        In a recursive schema, a list and its items can have the same node. The single item must
        then be read as a list of one item, too, and so must the item of that list, without end.
        """
        seen: list[Node] = []
        node: Node = self
        while isinstance(node, SequenceNode):
            if any(node is seen_node for seen_node in seen):
                return True
            seen.append(node)
            node = node.node_of_single_item(value)
        return False

    def score_lists(
        self, columns: Columns, gt: Indexes, pred: Indexes, similarity: Floats, score: Floats
    ) -> PairScores:
        """Return the scores of pairs of lists, given the mean similarity and score of their items.

        A pair of lists keeps its score even if its similarity is below the threshold. (For other
        values, a schema can *clip* such scores: set them to 0.0.)
        """
        similarity, score, outcome = classify(similarity, score, self.threshold, gt, pred)
        return PairScores(
            self,
            columns,
            gt=gt,
            pred=pred,
            outcome=outcome,
            similarity=similarity,
            score=score,
        )

    def score_full_match(self, columns: Columns, gt: Indexes, pred: Indexes) -> PairScores:
        """Return the scores that pairs of lists would have if all their items were equal."""
        full_match = np.ones(len(gt))
        return self.score_lists(columns, gt, pred, full_match, full_match)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNode(SequenceNode):
    """The node of a list whose items are all compared by one node.

    `threshold` is the similarity at which two lists match if they are items of an outer list. The
    items inside the two lists have thresholds of their own. The score of a list is never clipped,
    which means set to 0.0 because the similarity is below the threshold.
    """

    items: Node
    pairing_floor: float | None = None
    """Items can be a pair only if their similarity is above this, in [-1, 1). None uses the floor
    of the run."""
    threshold_stated: bool = True
    """Whether the schema states `threshold`. If not, and if the lists are items of an outer list,
    each of the inner lists has the threshold of the first item inside it."""
    exhaustive: bool = True
    """Whether ground truths list all items. If not, predicted items without a partner are not
    counted."""
    pairing: ListPairing = "best"
    key: tuple[str, ...] = ()
    """Names of the key fields. Two items are a pair only if their values in these fields match."""
    distinct: bool = False
    """Whether an item is ignored if it equals an earlier item, as JSON."""

    @property
    def ordered(self) -> bool:
        """Whether paired items must be in the same order in both lists."""
        return self.pairing == "ordered"

    @property
    def by_position(self) -> bool:
        """Whether each item is paired with the item at the same position."""
        return self.pairing == "position"

    @property
    def is_open(self) -> bool:
        """Whether predicted items without a partner are not counted.

        This is so if ground truths need not list all items.
        """
        return not self.exhaustive

    def mask_ignored(self, values: list[JsonValue]) -> list[JsonValue]:
        """Replace items by None if they count as absent or, with `distinct`, are repeated."""
        counts_as_absent = self.items.counts_as_absent
        items = [item if is_absent(item) or not counts_as_absent(item) else None for item in values]
        if self.distinct:
            keys = [*map(json_key, items)]
            first_index = {key: index for index, key in reversed([*enumerate(keys)])}
            items = [
                item if first_index[key] == index else None
                for index, (key, item) in enumerate(zip(keys, items, strict=True))
            ]
        return items

    def node_of_single_item(self, value: JsonValue) -> Node:
        """Return the node that compares a value as the only item of a list."""
        return self.items.node_for(value)

    def node_at(self, position: int) -> Node:
        """Return the node that compares the items; it is the same at every position."""
        return self.items

    def inner_nodes(self) -> Sequence[Node]:
        """Return the node that compares the items, as a tuple of one."""
        return (self.items,)

    def element_thresholds(self, columns: Columns, gt: Indexes) -> float | Floats:
        """Return the similarity at which each list matches as an item of another list.

        `gt` are the positions of the lists. If the schema does not state this threshold, each list
        has the threshold of its own first item.
        """
        if self.threshold_stated:
            return self.threshold
        columns = self.mask_ignored_columns(columns)

        def find_thresholds() -> Floats:
            """Return a threshold for each list: the threshold of its first item, if it has items.

            A list without items has the threshold of this node.
            """
            starts, lengths, _ = columns.elements.gt
            thresholds = np.full(len(columns.gt) + 1, self.threshold)
            filled = np.flatnonzero((columns.kinds[0] == ARRAY) & (lengths > 0))
            items = columns.elements.columns
            thresholds[filled] = self.items.element_thresholds(items, starts[filled])
            return thresholds

        # Cache the thresholds: each level of nested lists has the same column.
        return columns.cached((id(self), "thresholds"), find_thresholds)[gt]

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return where the threshold of a list item comes from, such as `annotation` or `default`.

        `element` is the item, which is usually a list itself. If the schema states no threshold for
        this inner list, the threshold and its source are those of the first item inside it.
        """
        if self.threshold_stated or not isinstance(element, list):
            return self.threshold_source
        first_item = next((item for item in element if not is_absent(item)), None)
        return (
            self.threshold_source
            if first_item is None
            else self.items.node_for(first_item).source_for(first_item)
        )

    def floor(self, options: Options) -> float:
        """Return the similarity that two items must exceed to be a pair."""
        return options.pairing_floor if self.pairing_floor is None else self.pairing_floor

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of lists by the mean similarity of their paired items."""
        if mode >= Mode.LISTS_MATCH:
            return self.score_full_match(columns, gt, pred)
        masked = self.mask_ignored_columns(columns)
        if mode is Mode.FINAL:
            return self._score_final(columns, masked, gt, pred, options)
        paired_lists, rows = self._pair_inner_lists(masked, gt, pred, options)
        n_pairs, owner_and_gt = paired_lists.count_pairs(rows), None
        if masked.elements.columns.gold is not None:
            pairs = paired_lists.pairs_of(rows)
            owner_and_gt = pairs.owner, pairs.gt
        gt, pred, longest = self._find_lengths(masked, gt, pred, n_pairs, owner_and_gt)
        similarity = paired_lists.sums(rows) / longest
        return self.score_lists(columns, gt, pred, similarity, similarity)

    def _score_final(
        self, columns: Columns, masked: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> PairScores:
        """Score pairs of lists with the final similarities of their items.

        The scores are those that `record_declared` records.
        """
        pairs = self._pair_final_items(masked, gt, pred, options)
        n_pairs = np.bincount(pairs.owner, minlength=len(gt))
        elements = masked.elements.columns
        elements.are_items = np.bool_(True)
        gt, pred, longest = self._find_lengths(masked, gt, pred, n_pairs, (pairs.owner, pairs.gt))
        similarity = np.zeros(len(gt))
        if len(pairs.owner):
            items = self.items.similarity(elements, pairs.gt, pairs.pred, options, Mode.FINAL)
            is_pair = has_both_sides(items.outcome)
            similarity = _means(pairs.owner, np.where(is_pair, items.similarity, 0.0), longest)
        return self.score_lists(columns, gt, pred, similarity, similarity)

    def record_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, recording: Recording
    ) -> PairScores:
        """Score and record pairs of lists, their paired items and their unpaired items."""
        table, placement = recording.table, recording.placement
        masked = self.mask_ignored_columns(columns)
        batch = table.add(LIST, self, columns, placement)
        pairs = self._pair_final_items(masked, gt, pred, recording.options)
        n_pairs = np.bincount(pairs.owner, minlength=len(gt))
        list_gt, list_pred, longest = self._find_lengths(
            masked, gt, pred, n_pairs, (pairs.owner, pairs.gt)
        )
        items, n_dropped = self._find_items(masked, gt, pred, pairs)
        # Both positions are `NOTHING` (-1) if a list is absent on both sides: it has no items.
        is_absent_list = np.maximum(list_gt, list_pred) < 0
        if is_absent_list.any():
            items = items.select(~is_absent_list[items.owner])
        masked.elements.columns.are_items = np.bool_(True)
        similarity = score = np.zeros(len(gt))
        if len(items.owner):
            similarity, score = self._record_items(masked, items, longest, recording, batch)
        scores = self.score_lists(columns, list_gt, list_pred, similarity, score)
        fill_rows(table, batch, scores, placement)
        if placement.is_document:  # only the items of such a list are counted
            batch.outcome = np.where(scores.outcome == TN, TN, NOT_EVALUATED)
        table.n_open_items.update(notes_by_row(n_dropped, batch))
        if masked.gold is not None:
            n_unlabelled = masked.gold.count_unlabelled_items(gt)
            table.n_unlabelled_items.update(notes_by_row(n_unlabelled, batch))
        return scores

    def _pair_final_items(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> ListPairs:
        """Return the paired items of lists, and reuse earlier pairs if there are any.

        A list that is inside an item of an outer list is compared several times: first to pair the
        items of the outer list, later to score these pairs. The items of the inner list are paired
        only the first time.
        """
        if columns.paired_lists is None:
            return self._pair_items(columns, gt, pred, options)
        paired_lists, rows = self._pair_inner_lists(columns, gt, pred, options)
        return paired_lists.pairs_of(rows)

    def _pair_items(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> ListPairs:
        """Pair the items of lists as the schema says: by position, key, order or similarity."""
        if self.by_position:
            return pair_by_position(self.items, columns, gt, pred, options)
        floor = self.floor(options)
        if self.key or self.ordered:
            return pair_arranged(
                self.items, columns, gt, pred, floor, options, self.key, ordered=self.ordered
            )
        return pair_items(self.items, columns, gt, pred, floor, options)

    def compare_labelled(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Compare pairs of labelled lists; if `task` is a `Recording`, add them to its unit table.

        A ground truth is an open list if it need not name all items. If an open list has no items,
        the prediction may have any items, so nothing in the prediction is evaluated. This does not
        apply to an open list that is itself a list item.
        """
        if self.exhaustive and columns.gold is None:
            return Node.compare_labelled(self, columns, gt, pred, task)
        gt_lists, pred_lists, _ = self.mask_ignored_columns(columns).elements
        is_open = self._find_open(columns, gt)
        is_empty_open = is_open & (gt_lists.lengths[gt] == 0) & ~columns.are_items
        evaluated_pred = np.where(is_empty_open, NOTHING, pred)
        scores = Node.compare_labelled(self, columns, gt, evaluated_pred, task)
        if isinstance(task, Recording) and not scores.groups:
            n_dropped = np.where(is_empty_open, pred_lists.lengths[pred], 0)
            notes = notes_by_row(_positive_by_position(n_dropped), scores.batch)
            task.table.n_open_items.update(notes)
        return scores

    def _find_open(self, columns: Columns, gt: Indexes) -> Mask:
        """Return a mask of the ground truths that are open lists, which need not name all items."""
        if not self.exhaustive or columns.gold is None:
            return np.full(len(gt), not self.exhaustive)
        return columns.gold.is_open[gt]

    def _find_lengths(
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        n_pairs: Indexes,
        owner_and_gt: tuple[Indexes, Indexes] | None,
    ) -> tuple[Indexes, Indexes, Indexes]:
        """Return (gt, pred, divisors), with an entry for each pair of lists.

        In the returned `gt` and `pred`, the position of a list is replaced by `NOTHING` (-1) if the
        list has no items that count.

        The mean score of a pair of lists is the sum of the scores of its items, divided by the
        divisor. The divisor is the number of items of the longer list. If items are paired by
        position, the divisor is the number of positions at which at least one list has an item.

        Two kinds of items do not count: optional ground-truth items without a partner, and
        predicted items without a partner if the ground truth need not name all items.

        `n_pairs` has the number of paired items for each pair of lists. `owner_and_gt` has two
        arrays with an entry for each pair of items. The first array has the index, in `gt` and
        `pred`, of the lists that contain the items. The second array has the position of the
        ground-truth item in its column.
        """
        gt_lists, pred_lists, elements = columns.elements
        n_gt, n_pred = gt_lists.lengths[gt], pred_lists.lengths[pred]
        if elements.gold is not None and owner_and_gt is not None:
            is_optional = first_absent_alternatives(self.items, elements) >= 0
            # Count the optional items of each list by a difference of cumulative sums.
            n_optional_before = np.concatenate([[0], is_optional.cumsum()])
            starts, (owner, paired_gt) = gt_lists.starts[gt], owner_and_gt
            n_optional = n_optional_before[starts + n_gt] - n_optional_before[starts]
            n_optional_pairs = np.bincount(owner[is_optional[paired_gt]], minlength=len(gt))
            n_gt = n_gt - (n_optional - n_optional_pairs)
        if not self.exhaustive or columns.gold is not None:
            n_pred = np.where(self._find_open(columns, gt), n_pairs, n_pred)
            is_empty_item = (gt < 0) & columns.are_items  # an item counts even if it is empty
            gt = np.where(n_gt == 0, NOTHING, gt)
            pred = np.where((n_pred > 0) | is_empty_item, pred, NOTHING)
        longest = n_gt + n_pred - n_pairs if self.by_position else np.maximum(n_gt, n_pred)
        return gt, pred, np.maximum(longest, 1)

    def _pair_inner_lists(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> tuple[PairedLists, Indexes]:
        """Pair the items of lists that are themselves inside list items.

        Return (table, rows). The table has the paired items of each distinct pair of lists.
        `rows[i]` is the row of the lists `gt[i]` and `pred[i]` in the table.

        The same two lists are compared several times. The table is therefore cached in
        `columns.paired_lists`, unless items are paired by position, which is cheap.
        """
        width = len(columns.pred) + 1
        keys = (gt + 1) * width + pred + 1
        kept: PairedLists | None = columns.paired_lists
        new_keys = distinct(keys if kept is None else keys[kept.rows_of(keys) < 0])
        if kept is None or len(new_keys):
            gt, pred = new_keys // width - 1, new_keys % width - 1
            work, working_bytes = columns.work, BYTES_OF_LIST_PAIR * len(new_keys)
            work.reserve(working_bytes)
            pairs = self._pair_items(columns, gt, pred, options)
            if self.by_position:  # pairing again is cheap, keeping takes memory
                work.reserve(-working_bytes)
                new = PairedLists(new_keys, pairs)
                return new, new.rows_of(keys)
            bytes_before = 0 if kept is None else kept.n_bytes
            work.reserve(bytes_before // 2)  # arrays are copied one by one when they grow
            if kept is None:
                columns.paired_lists = kept = PairedLists(new_keys, pairs)
            else:
                kept.add(new_keys, pairs)
            work.reserve(kept.n_bytes - bytes_before - bytes_before // 2 - working_bytes)
        return kept, kept.rows_of(keys)

    def _find_items(
        self, columns: Columns, gt: Indexes, pred: Indexes, pairs: ListPairs
    ) -> "tuple[ItemPairs, dict[int, int]]":
        """Return the items to record, and how many predicted items are dropped from each list.

        A ground truth is an open list if it need not name all items. Predicted items without a
        partner are then dropped. Optional ground-truth items without a partner are not recorded
        either, but they are not included in the numbers.

        The numbers are in a dict; its keys are the indexes of pairs of lists. Pairs of lists
        without dropped items are omitted.
        """
        gt_lists, pred_lists, elements = columns.elements
        gt_slots, gt_owner, _ = gt_lists.select(gt)
        pred_slots, pred_owner, _ = pred_lists.select(pred)
        partner = np.full(len(gt_slots), NOTHING)
        partner[_positions_among(gt_lists, gt, pairs.owner, pairs.gt)] = pairs.pred
        is_unpaired = np.ones(len(pred_slots), np.bool_)
        is_unpaired[_positions_among(pred_lists, pred, pairs.owner, pairs.pred)] = False
        n_dropped: dict[int, int] = {}
        if not self.exhaustive or columns.gold is not None:
            is_open = self._find_open(columns, gt)
            n_unpaired = np.bincount(pred_owner[is_unpaired], minlength=len(gt))
            n_dropped = _positive_by_position(n_unpaired * is_open)
            is_unpaired &= ~is_open[pred_owner]
            may_be_absent = first_absent_alternatives(self.items, elements)[gt_slots] >= 0
            is_kept = (partner >= 0) | ~may_be_absent
            gt_slots, gt_owner, partner = gt_slots[is_kept], gt_owner[is_kept], partner[is_kept]
        (invented,) = is_unpaired.nonzero()
        owner = np.concatenate([gt_owner, pred_owner[invented]])
        # Sort by list, ground-truth items before invented items.
        order = owner.argsort(kind="stable")
        items = ItemPairs(
            owner=owner[order],
            gt=np.concatenate([gt_slots, np.full(len(invented), NOTHING)])[order],
            pred=np.concatenate([partner, pred_slots[invented]])[order],
        )
        return items, n_dropped

    def _record_items(
        self,
        columns: Columns,
        items: "ItemPairs",
        longest: Indexes,
        recording: Recording,
        lists: UnitBatch,
    ) -> tuple[Floats, Floats]:
        """Record the items of lists.

        Return the mean similarity and the mean score of each pair of lists.
        """
        elements, owner = columns.elements.columns, items.owner
        of_items = recording.with_placement(place_items(lists, owner))
        scores = self.items.record(elements, items.gt, items.pred, of_items)
        outcome = scores.outcome.copy()
        for positions, group in scores.by_node():
            # An item without a partner has the threshold of its own node.
            gt, pred = scores.gt[positions], scores.pred[positions]
            is_pair = (gt >= 0) & (pred >= 0)
            item_thresholds = group.node.element_thresholds(group.columns, group.gt)
            threshold = np.where(is_pair, item_thresholds, group.node.threshold)
            outcome[positions] = _record_as_items(group, threshold)
            set_indexes(group.batch, columns, gt, pred)
        if self.ordered:
            self._record_out_of_order(elements, owner, scores, outcome, recording)

        is_pair = has_both_sides(outcome)
        similarity = _means(owner, np.where(is_pair, scores.similarity, 0.0), longest)
        if scores.item_score is scores.similarity:
            return similarity, similarity
        return similarity, _means(owner, np.where(is_pair, scores.item_score, 0.0), longest)

    def _record_out_of_order(
        self,
        elements: Columns,
        owner: Indexes,
        scores: PairScores,
        outcome: Outcomes,
        recording: Recording,
    ) -> None:
        """Mark unpaired items as out of order if they match an unpaired item on the other side.

        For example, the lists [a, b] and [b, a] have only one pair in order, such as b and b. The
        two items a are unpaired, but match each other. Both are marked. An item is matched with at
        most one item on the other side.
        """
        is_moved = np.zeros(len(owner), np.bool_)
        (missed,), (invented,) = (outcome == FN).nonzero(), (outcome == FA).nonzero()
        # Items are sorted by list: the invented items of each missed item's list are a range.
        low = owner[invented].searchsorted(owner[missed], "left")
        high = owner[invented].searchsorted(owner[missed], "right")
        positions, of_missed = expand_ranges(low, high - low)
        gt_items, pred_items = missed[of_missed], invented[positions]
        gt, pred = scores.gt[gt_items], scores.pred[pred_items]
        candidates = self.items.similarity(elements, gt, pred, recording.options, Mode.PAIRING)
        thresholds = _thresholds_as_items(candidates)
        is_match = classify_present(candidates.similarity, thresholds) == TP
        matches = zip(gt_items[is_match].tolist(), pred_items[is_match].tolist(), strict=True)
        for gt_item, pred_item in matches:
            if not is_moved[gt_item] and not is_moved[pred_item]:
                is_moved[[gt_item, pred_item]] = True
        for group_positions, group in scores.by_node():
            (moved,) = is_moved[group_positions].nonzero()
            recording.table.out_of_order.update((group.batch.start + moved).tolist())


class ItemPairs(NamedTuple):
    """The items of all pairs of lists that are compared. Every array has one entry per item.

    The items of the first pair of lists come first, then those of the second pair of lists, and so
    on. Within a pair of lists, the ground-truth items come first, each with its partner if it has
    one. Predicted items without a partner follow.
    """

    owner: Indexes
    """For each item, the index of the pair of lists that it belongs to."""
    gt: Indexes
    pred: Indexes
    """The position of the predicted item in its column; `NOTHING` (-1) if the prediction lacks the
    item."""

    def select(self, selected: Mask) -> "ItemPairs":
        """Return the selected items."""
        return ItemPairs(self.owner[selected], self.gt[selected], self.pred[selected])


def place_items(lists: UnitBatch, owner: Indexes) -> Placement:
    """Return where list items belong in the unit table.

    Item i is in the list at position `owner[i]` of the batch `lists`.
    """
    return Placement(
        container=lists,
        positions=owner,
        document=lists.document[owner],
        field=select_values(lists.field, owner),
        order=np.arange(len(owner)),
        is_item=True,
        weight=select_values(lists.weight, owner),
    )


def set_indexes(batch: UnitBatch, columns: Columns, gt: Indexes, pred: Indexes) -> None:
    """Record the indexes of paired items: each item's index in its own list, for both sides.

    `gt` and `pred` have the positions of the items in their columns, or `NOTHING` (-1) for an
    absent item.
    """
    gt_lists, pred_lists, _ = columns.elements
    batch.gt_index = _indexes_of(gt_lists.indexes, gt)
    batch.pred_index = _indexes_of(pred_lists.indexes, pred)


def _record_as_items(scores: PairScores, threshold: Floats) -> Outcomes:
    """Record the thresholds of pairs of list items, and return the outcomes of the pairs.

    If both items of a pair are present and are objects or lists, the outcome is computed again from
    the new threshold. All other pairs keep their previous outcome.
    """
    batch, outcome = scores.batch, scores.outcome
    batch.threshold = threshold
    if batch.kind in {OBJECT, LIST}:
        item_outcome = classify_present(scores.similarity, threshold)
        outcome = batch.outcome = np.where(has_both_sides(outcome), item_outcome, outcome)
    return outcome


def _positive_by_position(numbers: Indexes) -> dict[int, int]:
    """Return the numbers that are not 0 in a dict, keyed by their position."""
    (positions,) = numbers.nonzero()
    return dict(zip(positions.tolist(), numbers[positions].tolist(), strict=True))


def _positions_among(lists: ListLayout, chosen: Indexes, owner: Indexes, slots: Indexes) -> Indexes:
    """Return the positions that items would have if the column had only the chosen lists.

    For example, if only the third list is chosen, its first item gets position 0. `chosen` has the
    positions of the chosen lists in their column. For each item, `slots` has its position in the
    column of all items, and `owner` has the index of its list in `chosen`.
    """
    lengths = lists.lengths[chosen]
    first_positions = lengths.cumsum() - lengths
    return slots + (first_positions - lists.starts[chosen])[owner]


def _means(owner: Indexes, figures: Floats, longest: Indexes) -> Floats:
    """Return a mean for each list: the sum of the figures of its items, divided by a length.

    `owner` has the index of the list of each item. `longest` has the length for each list, by which
    the sum is divided.
    """
    means: Floats = np.bincount(owner, figures, len(longest)) / longest
    return means


def _thresholds_as_items(scores: PairScores) -> float | Floats:
    """Return the threshold of each pair of list items: the similarity at which the items match."""
    thresholds: float | Floats = scores.figure_by_node(
        lambda group: group.node.element_thresholds(group.columns, group.gt), np.float64
    )
    return thresholds


def _indexes_of(indexes: Indexes, slots: Indexes) -> Indexes:
    """Return the index that each item has in its list, or `NOTHING` (-1) for an absent item.

    `slots` has the position of each item in its column, or `NOTHING` for an absent item. `indexes`
    has, for each position in this column, the index of the item in its list.
    """
    if not len(indexes):
        return np.full(len(slots), NOTHING)
    return np.where(slots == NOTHING, NOTHING, indexes[slots])
