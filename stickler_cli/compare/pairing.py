"""Pair the items of two lists for the greatest total similarity, without the whole matrix.

There are three steps: find likely candidates, certify that no other pair is better, and solve an
assignment if two items want the same partner; docs/architecture.md, "Lists".
"""

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN
from .assignment import (
    ASSIGNMENT_STEPS,
    PATH_CELL_STEPS,
    PATH_ROW_STEPS,
    assign,
    assign_all,
    split_by_size,
)
from .columns import NOTHING, Columns, Floats, Indexes, Mask, distinct, expand_ranges
from .gold import EXCLUDED
from .leaf import LeafBlock, LeafNode
from .object import ObjectNode
from .one_of import follow_references
from .plan import Mode, Node, Options
from .rows import PairedRows
from .selective import SelectiveField, read_leaves, selective_fields
from .work import PAIR_STEPS

MAX_EXHAUSTIVE_PAIRS: Final = 36
"""Number of pairs up to which all are compared: finding likely pairs would take longer."""

MAX_JOINED_PAIRS_PER_ITEM: Final = 2
"""Maximum number of pairs per item that a join may find; a join that finds more is not
selective."""

MAX_SEARCHED_PAIRS: Final = 1 << 18
"""Maximum number of possible pairs of the lists that are searched together; few of these pairs are
compared."""

MAX_COMPARED_PAIRS: Final = 1 << 16
"""Maximum number of pairs of items compared in one call: about 10 MB. Longer calls are not
faster."""

MAX_MATRIX_CELLS: Final = 1 << 14
"""Maximum number of cells of a list whose items are all compared if two want the same partner."""

MAX_AUGMENTED_ROWS: Final = 32
"""Maximum number of items without a partner for which augmenting paths are searched one by one; for
more items, scipy is faster."""


class ListPairs(NamedTuple):
    """Pairs of items of lists, sorted by list and ground truth.

    Every array has one entry per pair.
    """

    owner: Indexes
    """The pair of lists that each pair of items belongs to, as a position."""
    gt: Indexes
    """The slot of each ground-truth item in the column of all items."""
    pred: Indexes
    similarity: Floats

    def select(self, selected: Indexes | slice) -> "ListPairs":
        """Return the selected pairs."""
        return ListPairs(
            owner=self.owner[selected],
            gt=self.gt[selected],
            pred=self.pred[selected],
            similarity=self.similarity[selected],
        )


def concatenate_pairs(several: list[ListPairs]) -> ListPairs:
    """Join the pairs of several searches, one search after another."""
    no_slots = np.empty(0, np.intp)
    no_pairs = ListPairs(owner=no_slots, gt=no_slots, pred=no_slots, similarity=np.empty(0))
    return ListPairs(*map(np.concatenate, zip(no_pairs, *several, strict=True)))


def pair_items(  # noqa: PLR0913, PLR0917 - two sides of columns, and the rule that pairs them
    item: Node, lists: Columns, gt: Indexes, pred: Indexes, floor: float, options: Options
) -> ListPairs:
    """Choose the pairs of items with the greatest total similarity in every list.

    Ties go to equal positions: a pair (i, j) above the floor is raised by 1e-9 * (1 - |i-j| /
    max(n, m)) while the assignment is sought. Pairs at or below the floor count as 0, so that a
    hopeless pair never displaces a good one, and are not returned.

    Lists are given by their slots, `gt` and `pred`, both (k,), and `item` compares their items. The
    floor is in [-1, 1), with a tolerance of 1e-9; -1 keeps every pair.

    Source:
        docs/semantics.md, Lists. Crouse (2016), doi:10.1109/TAES.2016.140952, for assignments.
    """
    gt_lists, pred_lists, items = lists.elements
    pairs_by_block = []
    n_cells = gt_lists.lengths[gt] * pred_lists.lengths[pred]
    for block in split_by_size(n_cells, MAX_SEARCHED_PAIRS):
        ranges = ListRanges(
            gt_starts=gt_lists.starts[gt[block]],
            gt_lengths=gt_lists.lengths[gt[block]],
            pred_starts=pred_lists.starts[pred[block]] + len(items.gt),
            pred_lengths=pred_lists.lengths[pred[block]],
        )
        pairs = PairSearch(item, items, ranges, floor=floor, options=options).find_pairs()
        pairs_by_block.append(pairs._replace(owner=block[pairs.owner]))
    is_single = len(pairs_by_block) == 1
    pairs = pairs_by_block[0] if is_single else concatenate_pairs(pairs_by_block)
    return pairs.select(np.lexsort((pairs.gt, pairs.owner)))


class ListRanges(NamedTuple):
    """Pairs of lists as ranges of slots of their items.

    Slots of predictions follow all ground truths.
    """

    gt_starts: Indexes
    gt_lengths: Indexes
    pred_starts: Indexes
    pred_lengths: Indexes


class PairSearch:
    """The search for the pairs of items of several lists.

    The *near* side of a list is the side that is not longer; each near item seeks a partner on the
    *far* side. Methods take `near` and `far`, positions of near and far items among those of all
    lists, with one entry per pair. Slots of predictions follow those of all ground truths, so that
    the lesser of two slots is always the ground truth.
    """

    def __init__(  # noqa: PLR0913 - the items, and the rule that pairs them
        self,
        item: Node,
        elements: Columns,
        ranges: ListRanges,
        *,
        floor: float,
        options: Options,
        may_swap: bool = True,
    ) -> None:
        """Lay out the items of both sides; `may_swap` permits predictions to be the near side."""
        self._item, self._elements, self._floor, self._options = item, elements, floor, options
        self._selective_fields: list[SelectiveField] = []
        self._max_compared_pairs = MAX_COMPARED_PAIRS // max_block_width(item)
        self._n_gt = len(elements.gt)
        gt_starts, n_gt, pred_starts, n_pred = ranges
        is_swapped = may_swap & (n_gt > n_pred)
        self._n_near = np.where(is_swapped, n_pred, n_gt)
        self._n_far = np.where(is_swapped, n_gt, n_pred)
        near_starts = np.where(is_swapped, pred_starts, gt_starts)
        far_starts = np.where(is_swapped, gt_starts, pred_starts)
        self._near_slots, self._near_owner = expand_ranges(near_starts, self._n_near)
        self._far_slots, self._far_owner = expand_ranges(far_starts, self._n_far)
        # The position of each list's first item among the near and far items.
        self._near_start = self._n_near.cumsum() - self._n_near
        self._far_start = self._n_far.cumsum() - self._n_far

    @cached_property
    def _has_gold_items(self) -> Mask:
        """Which lists have an item with gold: their values do not tell which items are similar."""
        gold, n_lists = self._elements.gold, len(self._n_near)
        if gold is None:
            return np.zeros(n_lists, np.bool_)
        in_near = gold.lists_with_gold(self._near_slots, self._near_owner, n_lists)
        return in_near | gold.lists_with_gold(self._far_slots, self._far_owner, n_lists)

    def find_pairs(self) -> ListPairs:
        """Return the pairs of each list with the greatest total gain."""
        near, far, max_other_gain = self._find_candidates()
        similarity = self._similarity(near, far)
        gain, best = self._gains_and_best(near, far, similarity)
        (uncertified,) = ((best <= max_other_gain) & (max_other_gain > 0)).nonzero()
        if len(uncertified):
            near, far, similarity = self._search_further(uncertified, near, far, similarity, best)
            gain, best = self._gains_and_best(near, far, similarity)
        chosen = _first_best_pairs(near, far, gain, best)
        n_suitors = np.bincount(far[chosen], minlength=len(self._far_slots))
        if not np.count_nonzero(n_suitors > 1):
            return self._make_pairs(near[chosen], far[chosen], similarity[chosen])

        disputed_lists = distinct(self._far_owner[n_suitors > 1])
        wanted = np.full(len(self._near_slots), -1)
        wanted[near[chosen]] = far[chosen]
        chosen = chosen[~np.isin(self._near_owner[near[chosen]], disputed_lists)]
        undisputed = self._make_pairs(near[chosen], far[chosen], similarity[chosen])
        assigned = self._make_pairs(*self._assign_lists(disputed_lists, best, wanted))
        return concatenate_pairs([undisputed, assigned])

    def _search_further(
        self, uncertified: Indexes, near: Indexes, far: Indexes, similarity: Floats, best: Floats
    ) -> tuple[Indexes, Indexes, Floats]:
        """Replace the candidates of near items that might gain more from another far item.

        `best` is a gain that each near item is known to reach. Returns near, far and similarity.
        """
        self._check_text_work(uncertified)
        n_cells = self._n_far[self._near_owner[uncertified]]
        best_pairs = [
            self._best_of_all(uncertified[block], best)
            for block in split_by_size(n_cells, MAX_COMPARED_PAIRS)
        ]
        new_near, new_far, new_similarity = map(np.concatenate, zip(*best_pairs, strict=True))
        is_certain = ~np.isin(near, uncertified)
        return (
            np.concatenate([near[is_certain], new_near]),
            np.concatenate([far[is_certain], new_far]),
            np.concatenate([similarity[is_certain], new_similarity]),
        )

    def _make_pairs(self, near: Indexes, far: Indexes, similarity: Floats) -> ListPairs:
        gt, pred = self._slots_of_sides(near, far)
        return ListPairs(owner=self._near_owner[near], gt=gt, pred=pred, similarity=similarity)

    def _slots_of_sides(self, near: Indexes, far: Indexes) -> tuple[Indexes, Indexes]:
        """Return the ground-truth slot and the prediction slot of each pair."""
        near_slots, far_slots = self._near_slots[near], self._far_slots[far]
        gt, shifted_pred = np.minimum(near_slots, far_slots), np.maximum(near_slots, far_slots)
        return gt, shifted_pred - self._n_gt

    def _similarity(self, near: Indexes, far: Indexes) -> Floats:
        """Return the similarity of each pair; `EXCLUDED` for a pair without a value to compare."""
        similarities = [np.empty(0)]
        for gt, pred in self._split_pairs(near, far):
            scores = self._item.similarity(self._elements, gt, pred, self._options, Mode.PAIRING)
            similarity = scores.similarity
            if self._elements.gold is not None:
                similarity = np.where(scores.is_empty, EXCLUDED, similarity)
            similarities.append(similarity)
        return np.concatenate(similarities)

    def _upper_bound(self, near: Indexes, far: Indexes) -> Floats | None:
        """Return an upper bound of the similarity of each pair; None if bounds cost too much."""
        node = follow_references(self._item)
        bounds = [np.empty(0)]
        for gt, pred in self._split_pairs(near, far):
            bound = node.upper_bound(self._elements, gt, pred, self._options)
            if bound is None:
                return None
            bounds.append(bound)
        return np.concatenate(bounds)

    def _split_pairs(self, near: Indexes, far: Indexes) -> Iterator[tuple[Indexes, Indexes]]:
        """Yield the ground-truth and prediction slots of pairs, in blocks for one call each."""
        for start in range(0, len(near), self._max_compared_pairs):
            block = slice(start, start + self._max_compared_pairs)
            yield self._slots_of_sides(near[block], far[block])

    def _gains_and_best(
        self, near: Indexes, far: Indexes, similarity: Floats
    ) -> tuple[Floats, Floats]:
        """Return the gain of each pair, and the greatest gain of each near item, at least 0."""
        gain, best = self._gain(near, far, similarity), np.zeros(len(self._near_slots))
        np.maximum.at(best, near, gain)
        return gain, best

    def _gain(self, near: Indexes, far: Indexes, similarity: Floats) -> Floats:
        """Return what each pair adds to the total of its list.

        This is the similarity, raised if the two positions are close, or 0 at or below the floor.
        """
        nearness = EQUAL_WITHIN * (1 - self._distance(near, far))
        return np.where(similarity > self._floor + EQUAL_WITHIN, similarity + nearness, 0.0)

    def _distance(self, near: Indexes, far: Indexes) -> Floats:
        """Return the distance of the positions of each pair, as a share of the longer list."""
        owner = self._near_owner[near]
        near_position = near - self._near_start[owner]
        far_position = far - self._far_start[owner]
        distance: Floats = np.abs(near_position - far_position) / self._n_far[owner]
        return distance

    def _pair_with_all(self, near: Indexes) -> tuple[Indexes, Indexes]:
        """Return the pairs of near items with all far items of their lists; charge the work."""
        owner = self._near_owner[near]
        self._elements.work.charge(PAIR_STEPS * int(self._n_far[owner].sum()))
        far, position = expand_ranges(self._far_start[owner], self._n_far[owner])
        return near[position], far

    def _find_candidates(self) -> tuple[Indexes, Indexes, Floats]:
        """Return likely pairs, and a bound of what each near item can gain from other pairs.

        All items of short lists are compared. In other lists, candidates are pairs that agree in a
        selective field: all other pairs lose the weight of these fields.
        """
        max_pairs = 1 if self._item.nested else MAX_EXHAUSTIVE_PAIRS
        is_complete = (self._n_near * self._n_far <= max_pairs)[self._near_owner]
        candidates = [self._pair_with_all(is_complete.nonzero()[0])]
        if np.count_nonzero(is_complete) == len(is_complete):
            return *candidates[0], np.zeros(len(is_complete))

        max_similarity = np.where(is_complete, -1.0, 1.0)
        lost_weight = np.zeros(len(is_complete))
        is_joined = ~(is_complete | self._has_gold_items[self._near_owner])
        near_side = np.where(is_joined, self._near_slots, NOTHING), self._near_owner
        far_side = self._far_slots, self._far_owner
        max_joined_pairs = MAX_JOINED_PAIRS_PER_ITEM * (self._n_near + self._n_far)
        fields = self._selective_fields = selective_fields(self._item, self._elements)
        for field in fields:
            near, far, is_decided = field.join(near_side, far_side, max_joined_pairs)
            candidates.append((near, far))
            # All other pairs of these items have different keys, and lose the field's weight.
            lost_weight += is_decided * field.weight * field.loss
        if fields:
            other_weight = fields[0].object_weight - lost_weight
            share = np.divide(other_weight, other_weight + lost_weight)
            max_similarity = np.where(is_complete, -1.0, share)

        near, far = (np.concatenate(side) for side in zip(*candidates, strict=True))
        n_far = len(self._far_slots)
        pair_numbers = distinct(near * n_far + far)  # pairs may agree in several fields
        max_other_gain = np.where(
            max_similarity > self._floor + EQUAL_WITHIN, max_similarity + 2 * EQUAL_WITHIN, 0.0
        )
        return pair_numbers // n_far, pair_numbers % n_far, max_other_gain

    def _check_text_work(self, near: Indexes) -> None:
        """Raise an error now if comparing all texts of these near items would take too much work.

        Raises:
            WorkLimitError: the texts of a list exceed the work limit.
        """
        for leaf, columns, gt_codes, pred_codes in expensive_leaves(self._item, self._elements):
            codes = np.concatenate([gt_codes, pred_codes])
            near_codes, far_codes = codes[self._near_slots[near]], codes[self._far_slots]
            is_large = self._n_near * self._n_far > MAX_MATRIX_CELLS
            for owner in np.flatnonzero(is_large).tolist():
                near_of_list = near_codes[self._near_owner[near] == owner]
                far_of_list = far_codes[self._far_owner == owner]
                columns.work.check(leaf.min_steps(columns, near_of_list, far_of_list))

    def _best_of_all(self, near: Indexes, best: Floats) -> tuple[Indexes, Indexes, Floats]:
        """Compare near items with all far items that can be their best; return the best pairs.

        `best` is a gain that each near item is known to reach.
        """
        near, far = self._pair_with_all(near)
        may_be_best = self._max_gain(near, far) + 2 * EQUAL_WITHIN >= best[near]
        near, far = near[may_be_best], far[may_be_best]
        if self._item.by_position:
            rows = PairedRows(self._item, self._elements, self._options)
            gt, pred = self._slots_of_sides(near, far)
            may_be_best = rows.may_be_best(gt, pred, near, best)
            near, far = near[may_be_best], far[may_be_best]
        bound = self._upper_bound(near, far)
        if bound is None:
            return self._select_best(near, far, self._similarity(near, far))

        # Compare the pair with the highest bound first: its gain rules out most other pairs.
        max_gain, best_bound = self._gains_and_best(near, far, bound)
        likely = _first_best_pairs(near, far, max_gain, best_bound)
        similarity_of_likely = self._similarity(near[likely], far[likely])
        best = best.copy()
        gain_of_likely = self._gain(near[likely], far[likely], similarity_of_likely)
        np.maximum.at(best, near[likely], gain_of_likely)
        may_be_best = (max_gain > 0) & (max_gain + 2 * EQUAL_WITHIN >= best[near])
        may_be_best[likely] = False
        (others,) = may_be_best.nonzero()
        similarity_of_others = self._similarity(near[others], far[others])
        compared = np.concatenate([likely, others])
        similarity = np.concatenate([similarity_of_likely, similarity_of_others])
        return self._select_best(near[compared], far[compared], similarity)

    def _max_gain(self, near: Indexes, far: Indexes) -> Floats:
        """Return an upper bound of each pair's gain, from the selective fields that differ."""
        max_gain = np.full(len(near), 1 + EQUAL_WITHIN)
        has_keys = ~self._has_gold_items[self._near_owner[near]]
        for field in self._selective_fields:
            near_keys, far_keys = (
                field.keys[self._near_slots[near]],
                field.keys[self._far_slots[far]],
            )
            differs = (near_keys >= 0) & (near_keys != far_keys) & has_keys
            max_gain -= differs * (field.weight * field.loss / field.object_weight)
        return max_gain

    def _select_best(
        self, near: Indexes, far: Indexes, similarity: Floats
    ) -> tuple[Indexes, Indexes, Floats]:
        """Return the best pair of each near item: near, far and similarity."""
        gain, best = self._gains_and_best(near, far, similarity)
        chosen = _first_best_pairs(near, far, gain, best)
        return near[chosen], far[chosen], similarity[chosen]

    def _assign_lists(
        self, lists: Indexes, best: Floats, wanted: Indexes
    ) -> tuple[Indexes, Indexes, Floats]:
        """Return near, far and similarity of the pairs of lists in which partners are disputed.

        `wanted` is the far item that each near item gains most from, below 0 if there is none.
        """
        n_cells = self._n_near[lists] * self._n_far[lists]
        is_small = n_cells <= MAX_MATRIX_CELLS
        small, large = lists[is_small], lists[~is_small]
        # Compare all items of all small lists at once, then split the gains into matrices.
        gains = self._gains_with_all(np.flatnonzero(np.isin(self._near_owner, small)))
        gains_by_list = np.split(gains, np.cumsum(n_cells[is_small])[:-1])
        assigned = []
        for owner, gains_of_list in zip(small.tolist(), gains_by_list, strict=False):
            matrix = gains_of_list.reshape(-1, self._n_far[owner])
            assigned.append(self._assign_list(owner, matrix.__getitem__, best, wanted))
        # Compare a row of a large list only when an augmenting path reaches it.
        for owner, first in zip(large.tolist(), self._near_start[large].tolist(), strict=True):

            @cache
            def gains_of_row(row: int, first: int = first) -> Floats:
                return self._gains_with_all(np.array([first + row]))

            assigned.append(self._assign_list(owner, gains_of_row, best, wanted))
        near, far = (np.concatenate(side) for side in zip(*assigned, strict=True))
        similarity = self._similarity(near, far)
        is_gain = self._gain(near, far, similarity) > 0
        return near[is_gain], far[is_gain], similarity[is_gain]

    def _gains_with_all(self, near: Indexes) -> Floats:
        """Return the gains of near items with all far items of their lists, item after item."""
        near, far = self._pair_with_all(near)
        return self._gain(near, far, self._similarity(near, far))

    def _assign_list(
        self, owner: int, gain_of_row: Callable[[int], Floats], best: Floats, wanted: Indexes
    ) -> tuple[Indexes, Indexes]:
        """Return near and far of an optimal assignment in one list; some pairs may gain nothing."""
        first_near, first_far = int(self._near_start[owner]), int(self._far_start[owner])
        near_of_list = slice(first_near, first_near + int(self._n_near[owner]))
        wanted_far = wanted[near_of_list]
        wanted_columns = np.where(wanted_far < 0, -1, wanted_far - first_far)
        n_near, n_far = len(wanted_columns), int(self._n_far[owner])
        work = self._elements.work

        def charge_and_read_row(row: int) -> Floats:
            work.charge(PATH_ROW_STEPS + PATH_CELL_STEPS * n_far)
            return gain_of_row(row)

        claims = wanted_columns[wanted_columns >= 0]
        n_unserved = len(claims) - len(distinct(claims))
        if n_unserved <= MAX_AUGMENTED_ROWS:
            columns = assign(charge_and_read_row, best[near_of_list], wanted_columns, n_far)
        else:
            work.charge(int(ASSIGNMENT_STEPS * n_near * n_near * n_far))
            columns = assign_all(np.array([gain_of_row(row) for row in range(n_near)]))
        column_of_row = np.array(columns)
        (rows,) = (column_of_row >= 0).nonzero()
        return first_near + rows, first_far + column_of_row[rows]


def _first_best_pairs(near: Indexes, far: Indexes, gain: Floats, best: Floats) -> Indexes:
    """Return the position of each near item's best pair; ties go to the first far item."""
    best_pairs = np.flatnonzero((gain > 0) & (gain == best[near]))
    best_pairs = best_pairs[np.lexsort((far[best_pairs], near[best_pairs]))]
    is_first = np.ones(len(best_pairs), np.bool_)
    np.not_equal(near[best_pairs][1:], near[best_pairs][:-1], out=is_first[1:])
    return best_pairs[is_first]


def expensive_leaves(
    item: Node, elements: Columns
) -> list[tuple[LeafNode, Columns, Indexes, Indexes]]:
    """Return the leaves of list items with the codes of both sides, if all are expensive.

    Empty if a leaf is cheap to compare, or if items are neither values nor flat objects.
    """
    item = follow_references(item)
    if isinstance(item, LeafNode):
        columns = elements.apply_reading(item.reading)
        leaves = [(item, columns, columns.codes.gt[:-1], columns.codes.pred[:-1])]
    elif isinstance(item, ObjectNode) and not item.families:
        is_flat = all(isinstance(field.node, LeafNode) for field in item.fields)
        leaves = [*read_leaves(item, elements)] if is_flat else []
    else:
        leaves = []
    are_expensive = all(leaf.is_expensive and columns.is_plain for leaf, columns, _, _ in leaves)
    return leaves if are_expensive else []


def max_block_width(item: Node) -> int:
    """Return the greatest number of leaves of list items that one call compares; at least 1."""
    item = follow_references(item)
    blocks = item.segments if isinstance(item, ObjectNode) else ()
    return max([1, *(len(block.names) for block in blocks if isinstance(block, LeafBlock))])
