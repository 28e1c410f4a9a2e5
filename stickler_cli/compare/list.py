"""Lists: elements are paired by optimal assignment."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent, json_key
from stickler_cli.core.locations import Step
from .arranged import pair_arranged, pair_by_position
from .columns import (
    ARRAY,
    NOTHING,
    Columns,
    Elements,
    Floats,
    Indexes,
    Mask,
    Outcomes,
    distinct,
    spread,
)
from .gold import first_absent_alternatives
from .pair_scores import PairScores, classify, classify_present, fill_rows, has_both_sides
from .pairing import Pairs, joined, pair
from .plan import Mode, Node, Options, Recording, Task
from .result import FA, FN, NOT_EVALUATED, TN, TP, ListPairing, ThresholdSource
from .units import LIST, OBJECT, Placement, UnitBatch, UnitTable, notes_by_row, some_of

HELD: Final = 300
"""Bytes that a pair of lists takes while their elements are paired: measured, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode(Node, ABC):
    """The part that lists and tuples share: a value that is not a list counts as a list of one."""

    nested = True
    takes_lists = True

    def below(self, step: Step) -> Node | None:
        """Return the node of an element."""
        return self.at(step) if isinstance(step, int) else None

    @abstractmethod
    def at(self, position: int) -> Node:
        """Return the node of a position."""

    @abstractmethod
    def first_of(self, value: JsonValue) -> Node:
        """Return the node of the only element of a list of one."""

    @abstractmethod
    def left_of(self, values: list[JsonValue]) -> list[JsonValue]:
        """Return the elements of a list, None for those that count as nothing here."""

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether all elements are nothing here; any other value is a list of one."""
        return is_absent(self.left_of(value if isinstance(value, list) else [value]))

    def read(self, columns: Columns) -> Columns:
        """Return the columns of lists without the elements that are nothing here."""
        if not columns.place.hides:
            return columns

        def left(value: JsonValue) -> JsonValue:
            return self.left_of(value) if isinstance(value, list) else value

        return columns.read((id(self), "read"), left)

    def compare_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, task: Task) -> PairScores:
        """Do a task with pairs of lists; those that are documents are lists like any."""
        return Node.compare_pairs(self, columns, gt, pred, task.by_value())

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Take any value, but one that would be wrapped for ever."""
        if columns.types <= {list, type(None)}:
            return None

        def find() -> tuple[Mask, Mask]:
            masks = []
            for kinds, values in zip(columns.kinds, (columns.gt, columns.pred), strict=True):
                taken = kinds == ARRAY
                for slot in np.flatnonzero(~taken[:-1] & (kinds[:-1] > 0)).tolist():
                    taken[slot] = not self._wraps_for_ever(values[slot])
                masks.append(taken)
            return masks[0], masks[1]

        # Once a column: lists in lists come back to it for each of their levels.
        return columns.derived((id(self), "declares"), find)

    def _wraps_for_ever(self, value: JsonValue) -> bool:
        """Return whether a list of one of the value would hold a list of one of it, and so on."""
        seen: list[Node] = []
        node: Node = self
        while isinstance(node, SequenceNode):
            if any(node is other for other in seen):
                return True
            seen.append(node)
            node = node.first_of(value)
        return False

    def score_lists(
        self, columns: Columns, gt: Indexes, pred: Indexes, similarity: Floats, score: Floats
    ) -> PairScores:
        """Return scores of pairs of lists, given those of their items; none is clipped."""
        similarity, score, outcome = classify(similarity, score, self.threshold, gt, pred)
        return PairScores(self, columns, gt, pred, outcome, similarity, score)

    def score_full_match(self, columns: Columns, gt: Indexes, pred: Indexes) -> PairScores:
        """Return scores of pairs of lists as if all of their items were the same."""
        ones = np.ones(len(gt))
        return self.score_lists(columns, gt, pred, ones, ones)


class PairedLists(NamedTuple):
    """Results of pairs of lists inside elements that are being paired, each of them once."""

    keys: Indexes
    """The two slots of each as one number; in order."""
    similarity: Floats
    """The sum of the similarities of its pairs."""
    starts: Indexes
    """Where its pairs are, and below how many."""
    lengths: Indexes
    pairs: Pairs
    """Of all lists."""

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return sum(part.nbytes for part in (*self[:-1], *self.pairs))

    def positions(self, keys: Indexes) -> Indexes:
        """Return where pairs of lists are, `NOTHING` for those that were not met."""
        at = self.keys.searchsorted(keys)
        known = np.append(self.keys, NOTHING)[at] == keys
        return np.where(known, at, NOTHING)

    def with_more(self, more: "PairedLists") -> "PairedLists":
        """Return the same with others."""
        order = np.argsort(np.concatenate([self.keys, more.keys]))
        later = more._replace(starts=more.starts + len(self.pairs.owner))
        each: list[Any] = [
            np.concatenate(both)[order] for both in zip(self[:-1], later[:-1], strict=True)
        ]
        return PairedLists._make([*each, joined([self.pairs, more.pairs])])


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
    exhaustive: bool = True
    """Whether the ground truth lists all that there is."""
    pairing: ListPairing = "best"
    key: tuple[str, ...] = ()
    """Fields of items that say which of them go together."""
    distinct: bool = False
    """Whether an element that stood before, as JSON, is dropped."""

    @property
    def ordered(self) -> bool:
        """Whether pairs must not cross."""
        return self.pairing == "ordered"

    @property
    def by_position(self) -> bool:
        """Whether each element is paired with the one at its own position."""
        return self.pairing == "position"

    @property
    def is_open(self) -> bool:
        """Whether the ground truth need not list everything that there is."""
        return not self.exhaustive

    def left_of(self, values: list[JsonValue]) -> list[JsonValue]:
        """Return the elements of a list, None for what counts as nothing or stood before."""
        is_nothing = self.items.is_nothing
        left = [it if is_absent(it) or not is_nothing(it) else None for it in values]
        if self.distinct:
            firsts = {json_key(it): at for at, it in reversed([*enumerate(left)])}
            left = [it if firsts[json_key(it)] == at else None for at, it in enumerate(left)]
        return left

    def first_of(self, value: JsonValue) -> Node:
        """Return the node of the only element of a list of one."""
        return self.items.chosen(value)

    def at(self, position: int) -> Node:
        """Return the node of the elements."""
        return self.items

    def parts(self) -> Sequence[Node]:
        """Return the node of the elements."""
        return (self.items,)

    def element_thresholds(self, columns: Columns, gt: Indexes) -> float | Floats:
        """Return the thresholds of lists as elements of another: those of their own elements."""
        if self.threshold_stated:
            return self.threshold
        columns = self.read(columns)

        def find() -> Floats:
            starts, lengths, _ = columns.elements[0]
            thresholds = np.full(len(columns.gt) + 1, self.threshold)
            at = np.flatnonzero((columns.kinds[0] == ARRAY) & (lengths > 0))
            thresholds[at] = self.items.element_thresholds(columns.elements[2], starts[at])
            return thresholds

        # Once a column, as lists in lists would ask again at each of their levels.
        return columns.derived((id(self), "thresholds"), find)[gt]

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return who said the threshold for a list as an element of another."""
        if self.threshold_stated or not isinstance(element, list):
            return self.threshold_source
        first = next((part for part in element if not is_absent(part)), None)
        return (
            self.threshold_source if first is None else self.items.chosen(first).source_for(first)
        )

    def floor(self, options: Options) -> float:
        """Return the similarity at or below which two elements are no pair."""
        return options.pairing_floor if self.pairing_floor is None else self.pairing_floor

    def score_declared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options, mode: Mode
    ) -> PairScores:
        """Score pairs of lists by the mean similarity of their paired items."""
        whole, columns = columns, self.read(columns)
        if mode >= Mode.LISTS_MATCH:
            return self.score_full_match(columns, gt, pred)
        if mode is Mode.FINAL:
            return self._score_final(whole, columns, gt, pred, options)
        paired_lists, rows = self._pair_inner_lists(columns, gt, pred, options)
        n_pairs, pairs = paired_lists.lengths[rows], None
        if columns.elements[2].gold is not None:
            selected, owner = spread(paired_lists.starts[rows], n_pairs)
            pairs = owner, paired_lists.pairs.gt[selected]
        gt, pred, longest = self._lengths(columns, gt, pred, n_pairs, pairs)
        similarity = paired_lists.similarity[rows] / longest
        return self.score_lists(whole, gt, pred, similarity, similarity)

    def _score_final(
        self, whole: Columns, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> PairScores:
        """Score pairs of lists as `record` does, without their unpaired items."""
        pairs = self._final_pairs(columns, gt, pred, options)
        n_pairs = np.bincount(pairs.owner, minlength=len(gt))
        elements = columns.elements[2]
        elements.listed = np.bool_(True)
        gt, pred, longest = self._lengths(columns, gt, pred, n_pairs, (pairs.owner, pairs.gt))
        similarity = np.zeros(len(gt))
        if len(pairs.owner):
            items = self.items.similarity(elements, pairs.gt, pairs.pred, options, Mode.FINAL)
            is_pair = has_both_sides(items.outcome)
            similarity = _means(pairs.owner, np.where(is_pair, items.similarity, 0.0), longest)
        return self.score_lists(whole, gt, pred, similarity, similarity)

    def record_declared(  # noqa: PLR0913, PLR0917 - as `record` takes them
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        options: Options,
        table: UnitTable,
        place: Placement,
    ) -> PairScores:
        """Record pairs of lists: pair their items, then record pairs and unpaired items."""
        whole, columns = columns, self.read(columns)
        batch = table.add(LIST, self, whole, place)
        pairs = self._final_pairs(columns, gt, pred, options)
        n_pairs = np.bincount(pairs.owner, minlength=len(gt))
        list_gt, list_pred, longest = self._lengths(
            columns, gt, pred, n_pairs, (pairs.owner, pairs.gt)
        )
        items, n_open = self._find_items(columns, gt, pred, pairs)
        is_absent = np.maximum(list_gt, list_pred) < 0
        if is_absent.any():
            items = items.some(~is_absent[items.owner])
        columns.elements[2].listed = np.bool_(True)
        similarity = score = np.zeros(len(gt))
        if len(items.owner):
            similarity, score = self._record_items(columns, items, longest, options, table, batch)
        scores = self.score_lists(whole, list_gt, list_pred, similarity, score)
        fill_rows(table, batch, scores, place)
        if place.is_document:
            batch.outcome = np.where(scores.outcome == TN, TN, NOT_EVALUATED)
        table.n_open_items.update(notes_by_row(n_open, batch))
        if columns.gold is not None:
            table.n_unlabelled_items.update(notes_by_row(columns.gold.dropped(gt), batch))
        return scores

    def _final_pairs(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Pairs:
        """Return the paired items of lists; known ones where items with such lists were paired."""
        if columns.pairings is None:
            return self._pairs(columns, gt, pred, options)
        paired_lists, rows = self._pair_inner_lists(columns, gt, pred, options)
        selected, owner = spread(paired_lists.starts[rows], paired_lists.lengths[rows])
        return paired_lists.pairs.some(selected)._replace(owner=owner)

    def _pairs(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Pairs:
        if self.by_position:
            return pair_by_position(self.items, columns, gt, pred, options)
        floor = self.floor(options)
        if self.key or self.ordered:
            lists = self.items, columns, gt, pred, floor, options
            return pair_arranged(*lists, self.key, ordered=self.ordered)
        return pair(self.items, columns, gt, pred, floor, options)

    def compare_labelled(
        self, columns: Columns, gt: Indexes, pred: Indexes, task: Task
    ) -> PairScores:
        """Do a task with pairs of lists; nothing is evaluated against an empty open list."""
        if self.exhaustive and columns.gold is None:
            return Node.compare_labelled(self, columns, gt, pred, task)
        gt_lists, pred_lists, _ = self.read(columns).elements
        is_empty = self._open(columns, gt) & (gt_lists.lengths[gt] == 0) & ~columns.listed
        scores = Node.compare_labelled(self, columns, gt, np.where(is_empty, NOTHING, pred), task)
        if isinstance(task, Recording) and not scores.groups:
            n_dropped = np.where(is_empty, pred_lists.lengths[pred], 0)
            notes = notes_by_row(_positive(n_dropped), scores.batch)
            task.table.n_open_items.update(notes)
        return scores

    def _open(self, columns: Columns, gt: Indexes) -> Mask:
        """Return which ground truths need not list all."""
        if not self.exhaustive or columns.gold is None:
            return np.full(len(gt), not self.exhaustive)
        return columns.gold.open[gt]

    def _lengths(
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        paired: Indexes,
        pairs: tuple[Indexes, Indexes] | None,
    ) -> tuple[Indexes, Indexes, Indexes]:
        """Return pairs of lists, `NOTHING` for one without elements that count, and the longest.

        Elements that need not be there count where they are paired, those of a prediction beyond a
        list that need not have all elements not at all.
        """
        gt_lists, pred_lists, elements = columns.elements
        n, m = gt_lists.lengths[gt], pred_lists.lengths[pred]
        if elements.gold is not None and pairs is not None:
            may_lack = first_absent_alternatives(self.items, elements) >= 0
            before = np.concatenate([[0], may_lack.cumsum()])
            starts, (owner, paired_gts) = gt_lists.starts[gt], pairs
            found = np.bincount(owner[may_lack[paired_gts]], minlength=len(gt))
            n = n - (before[starts + n] - before[starts] - found)
        if not self.exhaustive or columns.gold is not None:
            m = np.where(self._open(columns, gt), paired, m)
            there = (gt < 0) & columns.listed  # an element is there, though there is nothing in it
            gt, pred = np.where(n == 0, NOTHING, gt), np.where((m > 0) | there, pred, NOTHING)
        longest = n + m - paired if self.by_position else np.maximum(n, m)
        return gt, pred, np.maximum(longest, 1)

    def _pair_inner_lists(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> tuple[PairedLists, Indexes]:
        """Return results of pairs of lists inside elements, and the row of each pair in them.

        It is kept, for the same two lists come again: by other ways, to be paired by another step,
        as elements that were chosen, and at the end for the account.
        """
        width = len(columns.pred) + 1
        keys = (gt + 1) * width + pred + 1
        known: PairedLists | None = columns.pairings
        new = distinct(keys if known is None else keys[known.positions(keys) < 0])
        if known is None or len(new):
            gt, pred = new // width - 1, new % width - 1
            place, held = columns.place, HELD * len(new)
            place.keep(held)
            pairs = self._pairs(columns, gt, pred, options)
            similarity = np.bincount(pairs.owner, pairs.similarity, len(new)).astype(np.float64)
            edges = pairs.owner.searchsorted(np.arange(len(new) + 1))
            found = PairedLists(new, similarity, edges[:-1], np.diff(edges), pairs)
            if self.by_position:  # which is soon done again, and much to keep
                place.keep(-held)
                return found, found.positions(keys)
            copied = 0 if known is None else 2 * (known.size + found.size)  # to be put in order
            place.keep(found.size + copied - held)
            columns.pairings = known = found if known is None else known.with_more(found)
            place.keep(-copied)
        return known, known.positions(keys)

    def _find_items(
        self, columns: Columns, gt: Indexes, pred: Indexes, pairs: Pairs
    ) -> "tuple[Items, dict[int, int]]":
        """Return the items of lists, and by position how many predicted ones an open list drops."""
        gt_lists, pred_lists, elements = columns.elements
        gt_slots, gt_owner, _ = gt_lists.of(gt)
        pred_slots, pred_owner, _ = pred_lists.of(pred)
        partner = np.full(len(gt_slots), NOTHING)
        partner[_positions(gt_lists, gt, pairs.owner, pairs.gt)] = pairs.pred
        is_unpaired = np.ones(len(pred_slots), np.bool_)
        is_unpaired[_positions(pred_lists, pred, pairs.owner, pairs.pred)] = False
        n_open: dict[int, int] = {}
        if not self.exhaustive or columns.gold is not None:
            is_open = self._open(columns, gt)
            n_open = _positive(np.bincount(pred_owner[is_unpaired], minlength=len(gt)) * is_open)
            is_unpaired &= ~is_open[pred_owner]
            may_be_absent = first_absent_alternatives(self.items, elements)[gt_slots] >= 0
            is_kept = (partner >= 0) | ~may_be_absent
            gt_slots, gt_owner, partner = gt_slots[is_kept], gt_owner[is_kept], partner[is_kept]
        (invented,) = is_unpaired.nonzero()
        owner = np.concatenate([gt_owner, pred_owner[invented]])
        # By list; ground-truth items stand before those that only the prediction has.
        order = owner.argsort(kind="stable")
        items = Items(
            owner=owner[order],
            gt=np.concatenate([gt_slots, np.full(len(invented), NOTHING)])[order],
            pred=np.concatenate([partner, pred_slots[invented]])[order],
        )
        return items, n_open

    def _record_items(  # noqa: PLR0913, PLR0917 - items of lists, and their rows
        self,
        columns: Columns,
        items: "Items",
        longest: Indexes,
        options: Options,
        table: UnitTable,
        lists: UnitBatch,
    ) -> tuple[Floats, Floats]:
        """Record the items of lists; returns the mean similarity and score of each list."""
        elements, owner = columns.elements[2], items.owner
        place = place_items(lists, owner)
        scores = self.items.record(elements, items.gt, items.pred, options, table, place)
        outcome = scores.outcome.copy()
        for positions, group in scores.by_node():
            # An item without a partner must reach its own threshold.
            gt, pred = scores.gt[positions], scores.pred[positions]
            is_pair = (gt >= 0) & (pred >= 0)
            as_item = group.node.element_thresholds(group.columns, group.gt)
            threshold = np.where(is_pair, as_item, group.node.threshold)
            outcome[positions] = _record_as_items(group, threshold)
            set_indexes(group.batch, columns, gt, pred)
        if self.ordered:
            self._record_out_of_order(elements, owner, scores, outcome, options, table)

        is_pair = has_both_sides(outcome)
        similarity = _means(owner, np.where(is_pair, scores.similarity, 0.0), longest)
        if scores.item_score is scores.similarity:
            return similarity, similarity
        return similarity, _means(owner, np.where(is_pair, scores.item_score, 0.0), longest)

    def _record_out_of_order(  # noqa: PLR0913, PLR0917 - items of lists, and their scores
        self,
        elements: Columns,
        owner: Indexes,
        scores: PairScores,
        outcome: Outcomes,
        options: Options,
        table: UnitTable,
    ) -> None:
        """Record which unpaired items match an unpaired item of the other side, one each."""
        is_moved = np.zeros(len(owner), np.bool_)
        (missed,), (invented,) = (outcome == FN).nonzero(), (outcome == FA).nonzero()
        low = owner[invented].searchsorted(owner[missed], "left")
        high = owner[invented].searchsorted(owner[missed], "right")
        positions, of_missed = spread(low, high - low)
        gt_items, pred_items = missed[of_missed], invented[positions]
        gt, pred = scores.gt[gt_items], scores.pred[pred_items]
        candidates = self.items.similarity(elements, gt, pred, options, Mode.PAIRING)
        is_match = classify_present(candidates.similarity, _thresholds_as_items(candidates)) == TP
        matches = zip(gt_items[is_match].tolist(), pred_items[is_match].tolist(), strict=True)
        for gt_item, pred_item in matches:
            if not is_moved[gt_item] and not is_moved[pred_item]:
                is_moved[[gt_item, pred_item]] = True
        for group_positions, group in scores.by_node():
            (moved,) = is_moved[group_positions].nonzero()
            table.out_of_order.update((group.batch.start + moved).tolist())


class Items(NamedTuple):
    """The items of lists: pairs, missed and invented ones, by list."""

    owner: Indexes
    """The position of the list of each item."""
    gt: Indexes
    pred: Indexes
    """The slots of both sides among the elements; `NOTHING` where a list has no such item."""

    def some(self, selected: Mask) -> "Items":
        """Return some of the items."""
        return Items(self.owner[selected], self.gt[selected], self.pred[selected])


def place_items(lists: UnitBatch, owner: Indexes) -> Placement:
    """Return where items stand, given the positions of their lists in a batch."""
    return Placement(
        container=lists,
        positions=owner,
        document=lists.document[owner],
        field=some_of(lists.field, owner),
        order=np.arange(len(owner)),
        is_item=True,
        weight=some_of(lists.weight, owner),
    )


def set_indexes(batch: UnitBatch, columns: Columns, gt: Indexes, pred: Indexes) -> None:
    """Record the indexes of items in both lists, given their slots among the elements."""
    gt_lists, pred_lists, _ = columns.elements
    batch.gt_index = _indexes_of(gt_lists.places, gt)
    batch.pred_index = _indexes_of(pred_lists.places, pred)


def _record_as_items(scores: PairScores, threshold: Floats) -> Outcomes:
    """Record the outcomes of items by their thresholds: objects and lists have one for items."""
    batch, outcome = scores.batch, scores.outcome
    batch.threshold = threshold
    if batch.kind in {OBJECT, LIST}:
        as_item = classify_present(scores.similarity, threshold)
        outcome = batch.outcome = np.where(has_both_sides(outcome), as_item, outcome)
    return outcome


def _positive(numbers: Indexes) -> dict[int, int]:
    """Return the numbers above 0 by their positions."""
    (at,) = numbers.nonzero()
    return dict(zip(at.tolist(), numbers[at].tolist(), strict=True))


def _positions(lists: Elements, chosen: Indexes, owner: Indexes, slots: Indexes) -> Indexes:
    """Return where elements are among those of some lists, one list after the other."""
    lengths = lists.lengths[chosen]
    return slots + (lengths.cumsum() - lengths - lists.starts[chosen])[owner]


def _means(owner: Indexes, figures: Floats, longest: Indexes) -> Floats:
    """Return the mean figure of the items of each list."""
    means: Floats = np.bincount(owner, figures, len(longest)) / longest
    return means


def _thresholds_as_items(scores: PairScores) -> float | Floats:
    """Return the similarity at which each pair is a match as an element of a list."""
    thresholds: float | Floats = scores.of_each(
        lambda group: group.node.element_thresholds(group.columns, group.gt), np.float64
    )
    return thresholds


def _indexes_of(places: Indexes, slots: Indexes) -> Indexes:
    """Return the index of each slot in its list; `NOTHING` for no slot."""
    if not len(places):
        return np.full(len(slots), NOTHING)
    return np.where(slots == NOTHING, NOTHING, places[slots])
