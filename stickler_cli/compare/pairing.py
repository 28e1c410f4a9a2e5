"""Pair the items of two lists for the greatest total similarity, without comparing all pairs.

There are three steps: find likely candidates, certify that no other pair is better, and solve an
assignment if two items want the same partner. See docs/architecture.md, "Lists".
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
"""If two lists have at most this many possible pairs of items, all pairs are compared, because it
would take longer to find likely pairs."""

MAX_JOINED_PAIRS_PER_ITEM: Final = 2
"""Two lists that have n items together may have at most n times this many pairs of items with equal
keys in a field. If there are more such pairs, the values of the field hardly distinguish items. The
field is then not used to pair the items of these lists."""

MAX_SEARCHED_PAIRS: Final = 1 << 18
"""Maximum number of possible pairs of items in one search. A search handles several pairs of lists
at once. It compares only few of the possible pairs."""

MAX_COMPARED_PAIRS: Final = 1 << 16
"""Maximum number of pairs of items that one call compares. They take about 10 MB of memory. More
pairs in a call would not be faster."""

MAX_MATRIX_CELLS: Final = 1 << 14
"""If two items want the same partner, the two lists are paired by solving an assignment. If the
lists have at most this many possible pairs of items, all of these pairs are compared to solve
it."""

MAX_AUGMENTED_ROWS: Final = 32
"""If another item gets the best partner of an item, an augmenting path finds a partner for the
item. If a list has more than this many items without their best partner, scipy solves the
assignment, because it is faster."""


class ListPairs(NamedTuple):
    """Pairs of items of several lists, sorted by list and then by ground-truth item.

    Every array has one entry per pair.
    """

    owner: Indexes
    """The index of the pair of lists that each pair of items belongs to."""
    gt: Indexes
    """The position of each ground-truth item in the column of all items."""
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

    Ties go to equal positions: while pairs are chosen, the similarity of a pair (i, j) above the
    floor is raised by 1e-9 * (1 - |i-j| / max(n, m)). A pair at or below the floor is not returned.
    It counts as 0, so that it never displaces another pair.

    `gt[i]` and `pred[i]` are the positions of two lists in the columns `lists`. The items of these
    two lists are paired with each other, and the node `item` compares them. The floor is in [-1,
    1); -1 keeps every pair. A similarity that exceeds the floor by at most 1e-9 counts as equal to
    the floor.

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
    """Where the items of each pair of lists begin, and how many items there are on each side.

    Predicted items are numbered after all ground-truth items.
    """

    gt_starts: Indexes
    gt_lengths: Indexes
    pred_starts: Indexes
    pred_lengths: Indexes


class PairSearch:
    """Searches the best pairs of items, in several pairs of lists at once.

    Of two lists that are paired, the items of the shorter list are *seekers*: each of them seeks a
    partner in the longer list. Seekers of all lists are numbered together, and so are partners. The
    arguments `seekers` and `partners` hold these numbers, with one entry for each pair of items.
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
        """Decide which side of each pair of lists seeks partners, and number its items.

        The items of the shorter list seek partners in the longer list. If both lists have the same
        length, or if `may_swap` is false, the ground-truth items seek partners.
        """
        self._item, self._elements, self._floor, self._options = item, elements, floor, options
        self._selective_fields: list[SelectiveField] = []
        self._max_compared_pairs = MAX_COMPARED_PAIRS // max_block_width(item)
        self._n_gt = len(elements.gt)
        gt_starts, n_gt, pred_starts, n_pred = ranges
        is_swapped = may_swap & (n_gt > n_pred)
        self._n_seekers = np.where(is_swapped, n_pred, n_gt)
        self._n_partners = np.where(is_swapped, n_gt, n_pred)
        seeker_starts = np.where(is_swapped, pred_starts, gt_starts)
        partner_starts = np.where(is_swapped, gt_starts, pred_starts)
        self._seeker_slots, self._seeker_owner = expand_ranges(seeker_starts, self._n_seekers)
        self._partner_slots, self._partner_owner = expand_ranges(partner_starts, self._n_partners)
        # The number of each list's first seeker, and of its first partner.
        self._seeker_start = self._n_seekers.cumsum() - self._n_seekers
        self._partner_start = self._n_partners.cumsum() - self._n_partners

    @cached_property
    def _has_gold_items(self) -> Mask:
        """Mask of the lists with an item that has annotations, such as alternative right values.

        In these lists, two items may be similar although they have different keys in a selective
        field. For example, an alternative value of one item may be equal to the other item's value.
        """
        gold, n_lists = self._elements.gold, len(self._n_seekers)
        if gold is None:
            return np.zeros(n_lists, np.bool_)
        among_seekers = gold.lists_with_gold(self._seeker_slots, self._seeker_owner, n_lists)
        return among_seekers | gold.lists_with_gold(
            self._partner_slots, self._partner_owner, n_lists
        )

    def find_pairs(self) -> ListPairs:
        """Pair the items of all lists, so that the total gain in each list is as great as possible.

        Pairs that gain nothing are not returned.
        """
        seekers, partners, max_other_gain = self._find_candidates()
        similarity = self._similarity(seekers, partners)
        gain, best = self._gains_and_best(seekers, partners, similarity)
        # A seeker is certified if no pair besides the candidates can gain as much as its best pair.
        (uncertified,) = ((best <= max_other_gain) & (max_other_gain > 0)).nonzero()
        if len(uncertified):
            seekers, partners, similarity = self._search_further(
                uncertified, seekers, partners, similarity, best
            )
            gain, best = self._gains_and_best(seekers, partners, similarity)
        chosen = _first_best_pairs(seekers, partners, gain, best)
        n_suitors = np.bincount(partners[chosen], minlength=len(self._partner_slots))
        if not np.count_nonzero(n_suitors > 1):
            return self._make_pairs(seekers[chosen], partners[chosen], similarity[chosen])

        # Two seekers want the same partner: solve an assignment in their lists.
        disputed_lists = distinct(self._partner_owner[n_suitors > 1])
        wanted = np.full(len(self._seeker_slots), -1)
        wanted[seekers[chosen]] = partners[chosen]
        chosen = chosen[~np.isin(self._seeker_owner[seekers[chosen]], disputed_lists)]
        undisputed = self._make_pairs(seekers[chosen], partners[chosen], similarity[chosen])
        assigned = self._make_pairs(*self._assign_lists(disputed_lists, best, wanted))
        return concatenate_pairs([undisputed, assigned])

    def _search_further(
        self,
        uncertified: Indexes,
        seekers: Indexes,
        partners: Indexes,
        similarity: Floats,
        best: Floats,
    ) -> tuple[Indexes, Indexes, Floats]:
        """Compare each uncertified seeker with all partners that may be its best partner.

        A seeker is uncertified if a pair that was not compared may be better than the best of its
        compared pairs. `seekers`, `partners` and `similarity` are the pairs compared so far. `best`
        is the greatest gain of each seeker in these pairs. Returns (seekers, partners,
        similarities) of all seekers. The earlier pairs of an uncertified seeker are replaced by its
        one best pair.
        """
        self._check_text_work(uncertified)
        n_cells = self._n_partners[self._seeker_owner[uncertified]]
        best_pairs = [
            self._best_of_all(uncertified[block], best)
            for block in split_by_size(n_cells, MAX_COMPARED_PAIRS)
        ]
        new_seekers, new_partners, new_similarity = map(
            np.concatenate, zip(*best_pairs, strict=True)
        )
        is_certain = ~np.isin(seekers, uncertified)
        return (
            np.concatenate([seekers[is_certain], new_seekers]),
            np.concatenate([partners[is_certain], new_partners]),
            np.concatenate([similarity[is_certain], new_similarity]),
        )

    def _make_pairs(self, seekers: Indexes, partners: Indexes, similarity: Floats) -> ListPairs:
        gt, pred = self._slots_of_sides(seekers, partners)
        return ListPairs(owner=self._seeker_owner[seekers], gt=gt, pred=pred, similarity=similarity)

    def _slots_of_sides(self, seekers: Indexes, partners: Indexes) -> tuple[Indexes, Indexes]:
        """Return the column positions of the ground-truth items, and those of the predicted items.

        Each array has one entry for each pair of items.
        """
        seeker_slots, partner_slots = self._seeker_slots[seekers], self._partner_slots[partners]
        # Predictions are numbered after all ground truths: the lesser slot is the ground truth.
        gt = np.minimum(seeker_slots, partner_slots)
        shifted_pred = np.maximum(seeker_slots, partner_slots)
        return gt, shifted_pred - self._n_gt

    def _similarity(self, seekers: Indexes, partners: Indexes) -> Floats:
        """Return the similarity of each pair; `EXCLUDED` for a pair that has nothing to compare."""
        similarities = [np.empty(0)]
        for gt, pred in self._split_pairs(seekers, partners):
            scores = self._item.similarity(self._elements, gt, pred, self._options, Mode.PAIRING)
            similarity = scores.similarity
            if self._elements.gold is not None:
                similarity = np.where(scores.is_empty, EXCLUDED, similarity)
            similarities.append(similarity)
        return np.concatenate(similarities)

    def _upper_bound(self, seekers: Indexes, partners: Indexes) -> Floats | None:
        """Return an upper bound of the similarity of each pair; None if bounds cost too much."""
        node = follow_references(self._item)
        bounds = [np.empty(0)]
        for gt, pred in self._split_pairs(seekers, partners):
            bound = node.upper_bound(self._elements, gt, pred, self._options)
            if bound is None:
                return None
            bounds.append(bound)
        return np.concatenate(bounds)

    def _split_pairs(
        self, seekers: Indexes, partners: Indexes
    ) -> Iterator[tuple[Indexes, Indexes]]:
        """Split pairs into blocks, and yield the column positions of the items in each block.

        A block is (positions of ground-truth items, positions of predicted items).
        """
        for start in range(0, len(seekers), self._max_compared_pairs):
            block = slice(start, start + self._max_compared_pairs)
            yield self._slots_of_sides(seekers[block], partners[block])

    def _gains_and_best(
        self, seekers: Indexes, partners: Indexes, similarity: Floats
    ) -> tuple[Floats, Floats]:
        """Return (gain of each pair, greatest gain of each seeker); 0 if a seeker gains nothing."""
        gain, best = self._gain(seekers, partners, similarity), np.zeros(len(self._seeker_slots))
        np.maximum.at(best, seekers, gain)
        return gain, best

    def _gain(self, seekers: Indexes, partners: Indexes, similarity: Floats) -> Floats:
        """Return the gain of each pair: how much it adds to the total similarity of two lists.

        The gain is the similarity of the pair, raised by at most 1e-9 if the two items have close
        positions in their lists. If the similarity is not above the pairing floor, the gain is 0.
        """
        nearness = EQUAL_WITHIN * (1 - self._distance(seekers, partners))
        return np.where(similarity > self._floor + EQUAL_WITHIN, similarity + nearness, 0.0)

    def _distance(self, seekers: Indexes, partners: Indexes) -> Floats:
        """Return how far apart the two items of each pair are in their lists, in [0, 1).

        This is the difference of their positions, divided by the length of the longer list.
        """
        owner = self._seeker_owner[seekers]
        seeker_position = seekers - self._seeker_start[owner]
        partner_position = partners - self._partner_start[owner]
        distance: Floats = np.abs(seeker_position - partner_position) / self._n_partners[owner]
        return distance

    def _pair_with_all(self, seekers: Indexes) -> tuple[Indexes, Indexes]:
        """Pair each seeker with all partners in the same list.

        Return the pairs as (seekers, partners). The work of the pairs counts towards the work
        limit.
        """
        owner = self._seeker_owner[seekers]
        self._elements.work.charge(PAIR_STEPS * int(self._n_partners[owner].sum()))
        partners, position = expand_ranges(self._partner_start[owner], self._n_partners[owner])
        return seekers[position], partners

    def _find_candidates(self) -> tuple[Indexes, Indexes, Floats]:
        """Return likely pairs, and an upper bound of the gain of all other pairs.

        The result is (seekers, partners, maximum gain of each seeker from a pair that is not
        returned). In short lists, all pairs are returned. In other lists, pairs of items that have
        equal keys in a selective field are returned. A field is selective if it has so many
        different values that few items share one. In a pair that is not returned, the two items
        have different keys in all selective fields. The pair therefore loses the weights of these
        fields, which limits its gain.
        """
        max_pairs = 1 if self._item.nested else MAX_EXHAUSTIVE_PAIRS
        is_complete = (self._n_seekers * self._n_partners <= max_pairs)[self._seeker_owner]
        candidates = [self._pair_with_all(is_complete.nonzero()[0])]
        if np.count_nonzero(is_complete) == len(is_complete):
            return *candidates[0], np.zeros(len(is_complete))

        max_similarity = np.where(is_complete, -1.0, 1.0)
        lost_weight = np.zeros(len(is_complete))
        is_joined = ~(is_complete | self._has_gold_items[self._seeker_owner])
        seeker_side = np.where(is_joined, self._seeker_slots, NOTHING), self._seeker_owner
        partner_side = self._partner_slots, self._partner_owner
        max_joined_pairs = MAX_JOINED_PAIRS_PER_ITEM * (self._n_seekers + self._n_partners)
        fields = self._selective_fields = selective_fields(self._item, self._elements)
        for field in fields:
            seekers, partners, is_decided = field.join(seeker_side, partner_side, max_joined_pairs)
            candidates.append((seekers, partners))
            # All other pairs of these items have different keys, and lose the field's weight.
            lost_weight += is_decided * field.weight * field.loss
        if fields:
            other_weight = fields[0].object_weight - lost_weight
            share = np.divide(other_weight, other_weight + lost_weight)
            max_similarity = np.where(is_complete, -1.0, share)

        seekers, partners = (np.concatenate(side) for side in zip(*candidates, strict=True))
        n_partners = len(self._partner_slots)
        # A pair may agree in several fields: list it once.
        pair_numbers = distinct(seekers * n_partners + partners)
        max_other_gain = np.where(
            max_similarity > self._floor + EQUAL_WITHIN, max_similarity + 2 * EQUAL_WITHIN, 0.0
        )
        return pair_numbers // n_partners, pair_numbers % n_partners, max_other_gain

    def _check_text_work(self, seekers: Indexes) -> None:
        """Raise an error if comparing the texts of seekers with all partners takes too much work.

        Raises:
            WorkLimitError: the texts of a list exceed the work limit.
        """
        for leaf, columns, gt_codes, pred_codes in expensive_leaves(self._item, self._elements):
            codes = np.concatenate([gt_codes, pred_codes])
            seeker_codes = codes[self._seeker_slots[seekers]]
            partner_codes = codes[self._partner_slots]
            is_large = self._n_seekers * self._n_partners > MAX_MATRIX_CELLS
            for owner in np.flatnonzero(is_large).tolist():
                seekers_of_list = seeker_codes[self._seeker_owner[seekers] == owner]
                partners_of_list = partner_codes[self._partner_owner == owner]
                columns.work.check(leaf.min_steps(columns, seekers_of_list, partners_of_list))

    def _best_of_all(self, seekers: Indexes, best: Floats) -> tuple[Indexes, Indexes, Floats]:
        """Return the best pair of each seeker as (seekers, partners, similarities).

        `best` is a lower bound of the gain that each seeker has in its best pair. If the upper
        bound of the gain of a pair is below `best`, the pair is not compared.
        """
        seekers, partners = self._pair_with_all(seekers)
        may_be_best = self._max_gain(seekers, partners) + 2 * EQUAL_WITHIN >= best[seekers]
        seekers, partners = seekers[may_be_best], partners[may_be_best]
        if self._item.by_position:
            rows = PairedRows(self._item, self._elements, self._options)
            gt, pred = self._slots_of_sides(seekers, partners)
            may_be_best = rows.may_be_best(gt, pred, seekers, best)
            seekers, partners = seekers[may_be_best], partners[may_be_best]
        bound = self._upper_bound(seekers, partners)
        if bound is None:
            return self._select_best(seekers, partners, self._similarity(seekers, partners))

        # Compare the pair with the highest bound first: its gain rules out most other pairs.
        max_gain, best_bound = self._gains_and_best(seekers, partners, bound)
        likely = _first_best_pairs(seekers, partners, max_gain, best_bound)
        similarity_of_likely = self._similarity(seekers[likely], partners[likely])
        best = best.copy()
        gain_of_likely = self._gain(seekers[likely], partners[likely], similarity_of_likely)
        np.maximum.at(best, seekers[likely], gain_of_likely)
        may_be_best = (max_gain > 0) & (max_gain + 2 * EQUAL_WITHIN >= best[seekers])
        may_be_best[likely] = False
        (others,) = may_be_best.nonzero()
        similarity_of_others = self._similarity(seekers[others], partners[others])
        compared = np.concatenate([likely, others])
        similarity = np.concatenate([similarity_of_likely, similarity_of_others])
        return self._select_best(seekers[compared], partners[compared], similarity)

    def _max_gain(self, seekers: Indexes, partners: Indexes) -> Floats:
        """Return an upper bound of the gain of each pair.

        A selective field gives each item a key (see `SelectiveField`). The bound is lower for each
        selective field in which the two items of the pair have different keys.
        """
        max_gain = np.full(len(seekers), 1 + EQUAL_WITHIN)
        has_keys = ~self._has_gold_items[self._seeker_owner[seekers]]
        for field in self._selective_fields:
            seeker_keys = field.keys[self._seeker_slots[seekers]]
            partner_keys = field.keys[self._partner_slots[partners]]
            differs = (seeker_keys >= 0) & (seeker_keys != partner_keys) & has_keys
            max_gain -= differs * (field.weight * field.loss / field.object_weight)
        return max_gain

    def _select_best(
        self, seekers: Indexes, partners: Indexes, similarity: Floats
    ) -> tuple[Indexes, Indexes, Floats]:
        """Return the best pair of each seeker as (seekers, partners, similarities)."""
        gain, best = self._gains_and_best(seekers, partners, similarity)
        chosen = _first_best_pairs(seekers, partners, gain, best)
        return seekers[chosen], partners[chosen], similarity[chosen]

    def _assign_lists(
        self, lists: Indexes, best: Floats, wanted: Indexes
    ) -> tuple[Indexes, Indexes, Floats]:
        """Solve an assignment in each list in which several seekers want the same partner.

        `wanted` is the partner from which each seeker gains most; -1 if no partner gives it a gain.
        Returns the pairs as (seekers, partners, similarities).
        """
        n_cells = self._n_seekers[lists] * self._n_partners[lists]
        is_small = n_cells <= MAX_MATRIX_CELLS
        small, large = lists[is_small], lists[~is_small]
        # Compare all items of all small lists at once, then split the gains into matrices.
        gains = self._gains_with_all(np.flatnonzero(np.isin(self._seeker_owner, small)))
        gains_by_list = np.split(gains, np.cumsum(n_cells[is_small])[:-1])
        assigned = []
        for owner, gains_of_list in zip(small.tolist(), gains_by_list, strict=False):
            matrix = gains_of_list.reshape(-1, self._n_partners[owner])
            assigned.append(self._assign_list(owner, matrix.__getitem__, best, wanted))
        # Compare a row of a large list only when an augmenting path reaches it.
        for owner, first in zip(large.tolist(), self._seeker_start[large].tolist(), strict=True):

            @cache
            def gains_of_row(row: int, first: int = first) -> Floats:
                return self._gains_with_all(np.array([first + row]))

            assigned.append(self._assign_list(owner, gains_of_row, best, wanted))
        seekers, partners = (np.concatenate(side) for side in zip(*assigned, strict=True))
        similarity = self._similarity(seekers, partners)
        is_gain = self._gain(seekers, partners, similarity) > 0
        return seekers[is_gain], partners[is_gain], similarity[is_gain]

    def _gains_with_all(self, seekers: Indexes) -> Floats:
        """Pair each seeker with all partners in the same list, and return the gains of the pairs.

        The result has all gains of the first seeker, then all gains of the second seeker, and so
        on.
        """
        seekers, partners = self._pair_with_all(seekers)
        return self._gain(seekers, partners, self._similarity(seekers, partners))

    def _assign_list(
        self, owner: int, gain_of_row: Callable[[int], Floats], best: Floats, wanted: Indexes
    ) -> tuple[Indexes, Indexes]:
        """Return the (seekers, partners) of an optimal assignment in one list.

        Some of these pairs may gain nothing.
        """
        first_seeker, first_partner = (
            int(self._seeker_start[owner]),
            int(self._partner_start[owner]),
        )
        seekers_of_list = slice(first_seeker, first_seeker + int(self._n_seekers[owner]))
        wanted_partner = wanted[seekers_of_list]
        wanted_columns = np.where(wanted_partner < 0, -1, wanted_partner - first_partner)
        n_seekers, n_partners = len(wanted_columns), int(self._n_partners[owner])
        work = self._elements.work

        def charge_and_read_row(row: int) -> Floats:
            work.charge(PATH_ROW_STEPS + PATH_CELL_STEPS * n_partners)
            return gain_of_row(row)

        claims = wanted_columns[wanted_columns >= 0]
        n_unserved = len(claims) - len(distinct(claims))
        if n_unserved <= MAX_AUGMENTED_ROWS:
            columns = assign(charge_and_read_row, best[seekers_of_list], wanted_columns, n_partners)
        else:
            work.charge(int(ASSIGNMENT_STEPS * n_seekers * n_seekers * n_partners))
            columns = assign_all(np.array([gain_of_row(row) for row in range(n_seekers)]))
        column_of_row = np.array(columns)
        (rows,) = (column_of_row >= 0).nonzero()
        return first_seeker + rows, first_partner + column_of_row[rows]


def _first_best_pairs(seekers: Indexes, partners: Indexes, gain: Floats, best: Floats) -> Indexes:
    """Find the best pair of each seeker, and return the indexes of the best pairs in `seekers`.

    If several pairs of a seeker are equally good, the pair with the first partner is the best. A
    seeker that gains nothing has no best pair.
    """
    best_pairs = np.flatnonzero((gain > 0) & (gain == best[seekers]))
    best_pairs = best_pairs[np.lexsort((partners[best_pairs], seekers[best_pairs]))]
    is_first = np.ones(len(best_pairs), np.bool_)
    np.not_equal(seekers[best_pairs][1:], seekers[best_pairs][:-1], out=is_first[1:])
    return best_pairs[is_first]


def expensive_leaves(
    item: Node, elements: Columns
) -> list[tuple[LeafNode, Columns, Indexes, Indexes]]:
    """Return the leaves of list items if all of them are expensive to compare, else an empty list.

    Each leaf is (node, columns, codes of the ground truths, codes of the predictions). Equal values
    of a leaf have equal codes. The list items must be single values, or objects of single values.
    For all other items, the result is an empty list, too.
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
    """Return the number of leaves in the largest block of a list item, at least 1.

    One call compares all leaves of a block.
    """
    item = follow_references(item)
    blocks = item.segments if isinstance(item, ObjectNode) else ()
    return max([1, *(len(block.names) for block in blocks if isinstance(block, LeafBlock))])
