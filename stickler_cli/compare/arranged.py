"""Pair list items by keys, in order or by position, as docs/schema.md says."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN
from stickler_cli.comparators.exact import EnumComparator
from .assignment import (
    ALIGNED_CELLS_PER_BYTE,
    ALIGNMENT_STEPS,
    ASSIGNMENT_BYTES,
    ASSIGNMENT_STEPS,
    align,
    assign_all,
    split_by_size,
)
from .columns import (
    Columns,
    Floats,
    Indexes,
    Items,
    ListLayout,
    Mask,
    align_items,
    distinct,
    expand_ranges,
)
from .leaf import LeafNode
from .object import ObjectNode
from .one_of import ChoiceNode, OneOfNode, follow_references
from .pairing import MAX_COMPARED_PAIRS, ListPairs, ListRanges, PairSearch, concatenate_pairs
from .plan import Mode, Node, Options
from .result import FD, TP

KEY_GAIN: Final = 3.0
"""Added to the gain of a pair of items with equal keys. A pair without equal keys gains about 1 at
most. One pair with equal keys is therefore always preferred to two pairs without equal keys."""

MAX_KEY_PAIRS: Final = 1 << 20
"""Maximum number of pairs of values that are compared to number a key field: all pairs of values
with the same code. If there would be more pairs, the keys are not numbered."""

DEFAULT_KEY_COMPARATOR: Final = EnumComparator()
"""Compares the texts of key fields for which the schema states no comparator."""


KeyColumns = Sequence[tuple[Columns, Node]]
"""For each field of a key: the column with its values in all items, and the node that compares
these values."""


def list_object_nodes(item: Node) -> Iterator[ObjectNode]:
    """Yield the node of each type of object that a list item may have; a union may have several."""
    item = follow_references(item)
    if isinstance(item, OneOfNode):
        for arm in item.arms:
            yield from list_object_nodes(arm.node)
    elif isinstance(item, ObjectNode):
        yield item


def may_be_object(item: Node) -> bool:
    """Return whether list items may be objects; True if a reference is not resolved yet."""
    if isinstance(item, OneOfNode):
        return any(may_be_object(arm.node) for arm in item.arms)
    return isinstance(item, ChoiceNode | ObjectNode)


def pair_arranged(  # noqa: PLR0913, PLR0917 - as `pair_items` takes them
    item: Node,
    lists: Columns,
    gt: Indexes,
    pred: Indexes,
    floor: float,
    options: Options,
    key_names: tuple[str, ...] = (),
    *,
    ordered: bool = False,
) -> ListPairs:
    """Pair the items of lists that have key fields, or whose order matters, or both.

    The pairs have the greatest total similarity that two rules allow. Items with different keys are
    never paired. With `ordered`, paired items are in the same order on both sides.

    A key may be absent in some items, and several items of a list may have the same key. An item
    can then have several possible partners. Without `ordered`, there are two cases for each pair of
    lists:

    - If no item of the two lists lacks a key, items are paired only with items of the same key.
    - If some items lack a key, items with the same key are first paired with each other, but only
      if the key occurs equally often in both lists. All items that are not paired in this way are
      then compared with each other, including those without a key.

    `key_names` are the fields of the key. See `pair_items` for the other arguments.
    """
    gt_lists, pred_lists, elements = lists.elements
    gt_items, pred_items = _select_items(gt_lists, gt), _select_items(pred_lists, pred)
    key = [(elements.fields((name,)), find_key_node(item, name)) for name in key_names]
    codes = None if ordered or not key else _number_keys(key, len(elements.gt))
    longest = np.maximum(
        np.bincount(gt_items.owner, minlength=len(gt)),
        np.bincount(pred_items.owner, minlength=len(gt)),
    )
    pairs_by_search = []
    if codes is not None:
        is_ambiguous = np.zeros(len(gt), np.bool_)
        has_ambiguous_key = _find_ambiguous_keys(elements, key)[gt_items.slots]
        is_ambiguous[gt_items.owner[has_ambiguous_key]] = True
        keyed_parts, list_of_part, (gt_items, pred_items) = _split_by_key(
            (gt_items, pred_items), codes, is_ambiguous
        )
        keyed_search = _PartSearch(
            item, elements, keyed_parts, longest[list_of_part], floor=-1.0, options=options
        )
        pairs = keyed_search.find_pairs()
        pairs_by_search.append(pairs._replace(owner=list_of_part[pairs.owner]))
    remaining_search = _PartSearch(
        item,
        elements,
        _lay_out_parts(gt_items, pred_items, gt_items.owner, pred_items.owner, n_parts=len(gt)),
        longest,
        floor=floor,
        options=options,
        may_swap=not ordered,
    )
    pairs_by_search.append(remaining_search.find_arranged_pairs(key, ordered=ordered))
    pairs = concatenate_pairs(pairs_by_search)
    return pairs.select(np.lexsort((pairs.gt, pairs.owner)))


def pair_by_position(
    item: Node, lists: Columns, gt: Indexes, pred: Indexes, options: Options
) -> ListPairs:
    """Pair each item with the item at the same position, even if the two are not similar.

    The columns `lists` contain lists. `gt[i]` is the position of a ground-truth list in them, and
    `pred[i]` is the position of the predicted list with which it is paired. The node `item`
    compares the items of the two lists. An absent item still takes up a position in its list. The
    cost is linear in the number of items.
    """
    gt_lists, pred_lists, elements = lists.elements
    if gt_lists.have_gaps(gt) or pred_lists.have_gaps(pred):
        gt_items, pred_items = gt_lists.select(gt), pred_lists.select(pred)
        n_positions = 1 + max(int(side.indexes.max(initial=0)) for side in (gt_items, pred_items))
        aligned = align_items(gt_items, pred_items, n_positions)
        aligned = aligned.select((aligned.gt >= 0) & (aligned.pred >= 0))
        gt_slots, pred_slots, owner = aligned.gt, aligned.pred, aligned.owner
    else:
        n_pairs = np.minimum(gt_lists.lengths[gt], pred_lists.lengths[pred])
        gt_slots, owner = expand_ranges(gt_lists.starts[gt], n_pairs)
        pred_slots = gt_slots + (pred_lists.starts[pred] - gt_lists.starts[gt])[owner]

    scores = item.similarity(elements, gt_slots, pred_slots, options, Mode.PAIRING)
    # With gold, both items may turn out to be absent; then they are not a pair.
    pairs = ListPairs(owner=owner, gt=gt_slots, pred=pred_slots, similarity=scores.similarity)
    return pairs if elements.gold is None else pairs.select((~scores.is_empty).nonzero()[0])


def find_key_node(item: Node, name: str) -> Node:
    """Return the node that compares a key field of list items."""
    objects = list_object_nodes(item)
    fields = (field for node in objects for field in (*node.fields, *node.ignored))
    node = follow_references(next(field.node for field in fields if field.name == name))
    if isinstance(node, LeafNode) and node.is_unspecified_text:
        return replace(node, comparator=DEFAULT_KEY_COMPARATOR, threshold=1.0)
    return node


def _select_items(lists: ListLayout, chosen: Indexes) -> Items:
    """Return the present items of the chosen lists.

    The first present item of a list has the index 0 in the result.
    """
    items = lists.select(chosen)
    return items._replace(indexes=items.slots - lists.starts[chosen][items.owner])


class _Parts(NamedTuple):
    """Items of both sides, grouped into parts. Only items of the same part can be paired."""

    gt: Items
    n_gt: Indexes
    """The number of ground-truth items in each part."""
    pred: Items
    n_pred: Indexes


def _lay_out_parts(
    gt: Items, pred: Items, part_of_gt: Indexes, part_of_pred: Indexes, *, n_parts: int
) -> _Parts:
    """Sort items by their part, and drop items whose part is below 0.

    `part_of_gt` and `part_of_pred` have the part of each item.
    """

    def sort_side(items: Items, part_of_item: Indexes) -> tuple[Items, Indexes]:
        n_without_part = np.count_nonzero(part_of_item < 0)
        order = part_of_item.argsort(kind="stable")[n_without_part:]
        return items.select(order), np.bincount(part_of_item[order], minlength=n_parts)

    gt, n_gt = sort_side(gt, part_of_gt)
    pred, n_pred = sort_side(pred, part_of_pred)
    return _Parts(gt=gt, n_gt=n_gt, pred=pred, n_pred=n_pred)


def _find_ambiguous_keys(elements: Columns, key: KeyColumns) -> Mask:
    """Return a mask of ground-truth items with several possible keys or an unlabelled key."""
    is_ambiguous = np.zeros(len(elements.gt), np.bool_)
    if elements.gold is not None:
        is_ambiguous |= elements.gold.n_alternatives[:-1] > 0
    for columns, _ in key:
        if columns.gold is not None:
            is_ambiguous |= columns.gold.has_gold[: len(is_ambiguous)]
    return is_ambiguous


def _split_by_key(
    sides: tuple[Items, Items], codes: tuple[Indexes, Indexes], is_ambiguous: Mask
) -> tuple[_Parts, Indexes, tuple[Items, Items]]:
    """Divide the items of each pair of lists into parts, so that a part has the items of one key.

    Items of a part are later paired only inside this part. `pair_arranged` explains which keys get
    a part. `is_ambiguous` has an entry for each pair of lists. If the entry is true, this pair of
    lists gets no parts.

    Returns:
        (parts, lists, remaining items). `lists[i]` is the number of the pair of lists to which part
        `i` belongs. The remaining items are in no part, but can later be paired with each other. If
        all items of a pair of lists have keys, none of them is a remaining item.
    """
    key_of_item = [
        np.where(is_ambiguous[items.owner], -1, side_codes[items.slots])
        for items, side_codes in zip(sides, codes, strict=True)
    ]
    has_keyless_items = np.zeros(len(is_ambiguous), np.bool_)
    for items, keys in zip(sides, key_of_item, strict=True):
        has_keyless_items[items.owner[keys < 0]] = True
    # A group has the items of one list that have one key.
    group_of_item, list_of_group = _number_pairs([items.owner for items in sides], key_of_item)
    n_gt, n_pred = (
        np.bincount(groups[groups >= 0], minlength=len(list_of_group)) for groups in group_of_item
    )
    has_both_sides = (n_gt > 0) & (n_pred > 0)
    is_part = has_both_sides & ((n_gt == n_pred) | ~has_keyless_items[list_of_group])
    part_of_group = np.append(np.where(is_part, is_part.cumsum() - 1, -1), -1)  # -1: no key
    part_of_gt, part_of_pred = (
        np.where(groups < 0, -1, part_of_group[groups]) for groups in group_of_item
    )
    # If all items of a list have keys, an item without a part has no possible partner.
    gt_left, pred_left = (
        items.select((part_of_item < 0) & has_keyless_items[items.owner])
        for items, part_of_item in zip(sides, (part_of_gt, part_of_pred), strict=True)
    )
    n_parts = int(np.count_nonzero(is_part))
    parts = _lay_out_parts(*sides, part_of_gt, part_of_pred, n_parts=n_parts)
    return parts, list_of_group[is_part], (gt_left, pred_left)


def _number_keys(key: KeyColumns, n_gt: int) -> tuple[Indexes, Indexes] | None:
    """Number the keys of the items on both sides, so that equal keys have equal numbers.

    Return (numbers of the ground-truth items, numbers of the predicted items). An item gets a
    number below 0 if one of its key fields is absent.

    Return None if keys can match without being equal, for example because the comparator of a key
    field has a tolerance (see `_number_field`).
    """
    sides: list[Indexes] = []
    for columns, node in key:
        field_numbers = _number_field(columns, node)
        if field_numbers is None:
            return None
        gt, pred = field_numbers
        numbers = [gt[:n_gt], pred]  # drop alternatives, which follow
        sides = _number_pairs(sides, numbers)[0] if sides else numbers
    return sides[0], sides[1]


def _number_pairs(
    first_sides: list[Indexes], second_sides: list[Indexes]
) -> tuple[list[Indexes], Indexes]:
    """Number the combinations of two codes, such as the codes of two key fields.

    Each item has a first code, in `first_sides`, and a second code, in `second_sides`. Two items
    get the same number if both of their codes are equal, even if they are on different sides. An
    item gets a number below 0 if one of its two codes is below 0.

    Returns:
        (numbers, first codes). `numbers` has one array for each side, with the number of each item.
        All items with the number `n` have the first code `first_codes[n]`.
    """
    n_second = 1 + max(int(second.max(initial=0)) for second in second_sides)
    combined_sides = [
        np.where(np.minimum(first, second) < 0, -1, first * n_second + second)
        for first, second in zip(first_sides, second_sides, strict=True)
    ]
    present_sides = [combined[combined >= 0] for combined in combined_sides]
    combinations = distinct(np.concatenate(present_sides))
    numbers = [
        np.where(combined < 0, -1, combinations.searchsorted(combined))
        for combined in combined_sides
    ]
    return numbers, combinations // n_second


def _number_field(columns: Columns, node: Node) -> tuple[Indexes, Indexes] | None:
    """Number the values of a key field in all items, so that values that match have equal numbers.

    Return None if no numbers can express which values match. One example is a comparator with a
    tolerance. Another is a value that matches two values which do not match each other.
    """
    if not isinstance(node, LeafNode) or not columns.has_only_scalars:
        return None
    if node.threshold <= EQUAL_WITHIN:
        return None
    columns = columns.apply_reading(node.reading)
    prepared = columns.prepare_for(node.comparator.pairing or node.comparator)
    keys = prepared.keys
    if keys is None:
        return None
    # Compare all values with the same key, to see whether they all match each other.
    key_of_value = keys[:-1]
    order = key_of_value.argsort(kind="stable")
    low = key_of_value[order].searchsorted(key_of_value, "left")
    n_same_key = key_of_value[order].searchsorted(key_of_value, "right") - low
    if int(n_same_key.sum()) - len(key_of_value) > MAX_KEY_PAIRS:
        return None
    positions, first = expand_ranges(low, n_same_key)
    second = order[positions]
    (unequal,) = (first != second).nonzero()
    if len(unequal):
        first, second = first[unequal], second[unequal]
        similarity = prepared.similarities(first, second, np.arange(len(first)), len(first))
        if similarity.min() < node.threshold - EQUAL_WITHIN:
            return None
    return keys[columns.codes.gt[:-1]], keys[columns.codes.pred[:-1]]


class _PartSearch(PairSearch):
    """Searches pairs of items inside parts of lists.

    A part may be, for example, the items with equal keys.
    """

    def __init__(  # noqa: PLR0913 - the items, and the rule that pairs them
        self,
        item: Node,
        elements: Columns,
        parts: _Parts,
        longest: Indexes,
        *,
        floor: float,
        options: Options,
        may_swap: bool = True,
    ) -> None:
        """Lay out the items of all parts; `longest` is the length of each part's longer list."""
        gt, n_gt, pred, n_pred = parts
        self._longest = longest
        ranges = ListRanges(
            gt_starts=n_gt.cumsum() - n_gt,
            gt_lengths=n_gt,
            pred_starts=len(gt.slots) + n_pred.cumsum() - n_pred,
            pred_lengths=n_pred,
        )
        super().__init__(item, elements, ranges, floor=floor, options=options, may_swap=may_swap)
        # The ranges number the items of parts: replace these numbers by slots of the columns.
        slots = np.concatenate([gt.slots, pred.slots + self._n_gt])
        positions = np.concatenate([gt.indexes, pred.indexes])
        self._seeker_positions = positions[self._seeker_slots]
        self._partner_positions = positions[self._partner_slots]
        self._seeker_slots, self._partner_slots = (
            slots[self._seeker_slots],
            slots[self._partner_slots],
        )

    def _distance(self, seekers: Indexes, partners: Indexes) -> Floats:
        """Return how far apart the two items of each pair are in their lists, in [0, 1).

        This is the difference of their positions, divided by the length of the longer list.
        """
        distance: Floats = np.abs(
            self._seeker_positions[seekers] - self._partner_positions[partners]
        )
        share: Floats = distance / self._longest[self._seeker_owner[seekers]]
        return share

    def find_arranged_pairs(self, key: KeyColumns, *, ordered: bool) -> ListPairs:
        """Return the pairs of items that give each part the greatest total gain.

        If `ordered`, paired items are in the same order on both sides.
        """
        work, rows = self._elements.work, self._gain_rows(key)
        pairs_by_part = [np.empty((2, 0), np.intp)]
        for part in reversed((self._n_seekers * self._n_partners).nonzero()[0].tolist()):
            n_seekers, n_partners = int(self._n_seekers[part]), int(self._n_partners[part])
            n_cells = n_seekers * n_partners
            n_bytes = n_cells // ALIGNED_CELLS_PER_BYTE if ordered else ASSIGNMENT_BYTES * n_cells
            work.reserve(n_bytes, of_nested_lists=False)
            assignment_steps = int(ASSIGNMENT_STEPS * n_seekers * n_seekers * n_partners)
            work.charge(ALIGNMENT_STEPS * n_cells if ordered else assignment_steps)
            part_rows = islice(rows, n_seekers)
            if ordered:
                partner_of_seeker = np.array(align(part_rows, n_seekers, n_partners))
            else:
                partner_of_seeker = np.array(assign_all(np.array([*part_rows])[::-1]))
            work.reserve(-n_bytes)
            (seekers,) = (partner_of_seeker >= 0).nonzero()
            partners = partner_of_seeker[seekers]
            pairs_by_part.append(
                np.stack([seekers + self._seeker_start[part], partners + self._partner_start[part]])
            )
        seekers, partners = np.concatenate(pairs_by_part, axis=1)
        return self._make_pairs(seekers, partners, self._similarity(seekers, partners))

    def _gain_rows(self, key: KeyColumns) -> Iterator[Floats]:
        """Yield a row for each seeker: its gains with all partners in its part.

        Seekers are the items of a part's shorter side, and partners those of its longer side. The
        last seeker comes first, because `align` takes rows in this order. `align` never needs all
        rows of a part at once.
        """
        row_lengths = self._n_partners[self._seeker_owner]

        def split_rows(seekers: Indexes) -> Iterator[Floats]:
            """Compute the rows of all given seekers in one call; yield the last row first."""
            gains = self._gains_by_key(seekers, key)
            edges = reversed([0, *row_lengths[seekers].cumsum().tolist()])
            return (gains[low:high] for high, low in pairwise(edges))

        blocks = [*split_by_size(row_lengths, MAX_COMPARED_PAIRS)]
        return chain.from_iterable(map(split_rows, reversed(blocks)))

    def _gains_by_key(self, seekers: Indexes, key: KeyColumns) -> Floats:
        """Return the gains of pairs: each of `seekers` with each partner in the same part.

        Seekers are the items of a part's shorter side, and partners those of its longer side. If
        the two items of a pair have different keys, the gain is 0. If they have equal keys, the
        gain is `KEY_GAIN` plus the similarity, even if the similarity is below the floor. If one of
        them lacks a key field, or if there is no key, the gain is computed without keys (see
        `_gain`).
        """
        seekers, partners = self._pair_with_all(seekers)
        options = self._options
        has_same_key, has_other_key = (
            np.full(len(seekers), bool(key)),
            np.zeros(len(seekers), np.bool_),
        )
        gt, pred = self._slots_of_sides(seekers, partners)
        if key:  # use the keys of the most similar alternatives
            gt = self._item.choose_alternatives(self._elements, gt, pred, options, Mode.PAIRING)
        for columns, node in key:
            outcome = node.similarity(columns, gt, pred, options, Mode.PAIRING).outcome
            has_same_key &= outcome == TP
            has_other_key |= outcome == FD
        gain, (compared,) = np.zeros(len(seekers)), (~has_other_key).nonzero()
        seekers, partners, has_same_key = (
            seekers[compared],
            partners[compared],
            has_same_key[compared],
        )
        similarity = self._similarity(seekers, partners)
        gain[compared] = self._gain(seekers, partners, similarity)
        if key:
            nearness = EQUAL_WITHIN * (1 - self._distance(seekers, partners))
            gain_by_key = KEY_GAIN + similarity + nearness
            gain[compared] = np.where(has_same_key, gain_by_key, gain[compared])
        return gain
