"""Lists whose elements go together by keys, in order, or by position: docs/schema.md."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN
from stickler_cli.comparators.exact import EnumComparator
from .assignment import ALIGNED, ALIGNED_IN_BYTE, ASSIGNED, KEPT_OF_CELL, align, assign_all, blocks
from .columns import Columns, Elements, Floats, Indexes, Mask, aligned, distinct, spread
from .leaf import LeafNode
from .object import ObjectNode
from .one_of import ChoiceNode, OneOfNode, followed
from .pairing import AT_ONCE, Pairs, Search, joined
from .plan import Mode, Node, Options
from .result import FD, TP

BY_KEY: Final = 3.0
"""What a pair by key counts more, so that no other pairs are worth to give it up."""

MOST_ALIKE: Final = 1 << 20
"""Pairs of unequal values of one key that are looked at."""

SAME: Final = EnumComparator()
"""Compares keys of which nobody says how they are compared."""


Key = Sequence[tuple[Columns, Node]]
"""The fields of a key: their values in all elements, and what compares them."""


def arms_of(item: Node) -> Iterator[ObjectNode]:
    """List the objects that a list element may be."""
    item = followed(item)
    if isinstance(item, OneOfNode):
        for arm in item.arms:
            yield from arms_of(arm.node)
    elif isinstance(item, ObjectNode):
        yield item


def may_be_object(item: Node) -> bool:
    """Return whether list elements may be objects, as far as is known while a plan is made."""
    if isinstance(item, OneOfNode):
        return any(may_be_object(arm.node) for arm in item.arms)
    return isinstance(item, ChoiceNode | ObjectNode)


def pair_arranged(  # noqa: PLR0913, PLR0917 - as `pair` takes them
    item: Node,
    lists: Columns,
    gt: Indexes,
    pred: Indexes,
    floor: float,
    options: Options,
    names: tuple[str, ...] = (),
    *,
    ordered: bool = False,
) -> Pairs:
    """Choose pairs as `pair` does, of those whose fields of some names are the same.

    Pairs of which such a field differs are none. Those of ordered lists do not cross.

    Elements of one key, as many on either side, are paired with each other, whatever else is in
    their lists: to give up a pair by key costs more than two others bring. So are all elements of
    one key where no element of a list lacks its key. What is left is compared all with all.
    """
    elements = lists.elements[2]
    sides = (_side(lists.elements[0], gt), _side(lists.elements[1], pred))
    key = [(elements.fields((name,)), key_node(item, name)) for name in names]
    codes = None if ordered or not key else _codes(key, len(elements.gt))
    longest = np.maximum(*(np.bincount(side.owner, minlength=len(gt)) for side in sides))
    found = []
    if codes is not None:
        odd = np.zeros(len(gt), np.bool_)
        odd[sides[0].owner[_odd(elements, key)[sides[0].slots]]] = True
        parts, owner, sides = _apart(sides, codes, odd)
        pairs = _Parts(item, elements, parts, longest[owner], -1.0, options).pairs()
        found.append(pairs._replace(owner=owner[pairs.owner]))
    parts = _laid_out(*sides, sides[0].owner, sides[1].owner, len(gt))
    rest = _Parts(item, elements, parts, longest, floor, options, turns=not ordered)
    found.append(rest.arranged(key, ordered=ordered))
    pairs = joined(found)
    return pairs.some(np.lexsort((pairs.gt, pairs.owner)))


def pair_by_position(
    item: Node, lists: Columns, gt: Indexes, pred: Indexes, options: Options
) -> Pairs:
    """Pair each element with the one at the same position, whatever their similarity.

    Lists are given by their slots, `gt` and `pred`, both (k,), and `item` compares their elements.
    Absent elements keep their positions. The cost is linear in the number of elements.
    """
    gt_lists, pred_lists, elements = lists.elements
    if gt_lists.have_gaps(gt) or pred_lists.have_gaps(pred):
        gt_side, pred_side = gt_lists.of(gt), pred_lists.of(pred)
        n_positions = 1 + max(int(places.max(initial=0)) for *_, places in (gt_side, pred_side))
        gt_slots, pred_slots, owner, _ = aligned(gt_side, pred_side, n_positions)
        is_pair = (gt_slots >= 0) & (pred_slots >= 0)
        gt_slots, pred_slots, owner = gt_slots[is_pair], pred_slots[is_pair], owner[is_pair]
    else:
        n_pairs = np.minimum(gt_lists.lengths[gt], pred_lists.lengths[pred])
        gt_slots, owner = spread(gt_lists.starts[gt], n_pairs)
        pred_slots = gt_slots + (pred_lists.starts[pred] - gt_lists.starts[gt])[owner]

    scores = item.similarity(elements, gt_slots, pred_slots, options, Mode.PAIRING)
    pairs = Pairs(owner, gt_slots, pred_slots, scores.similarity)
    return pairs if elements.gold is None else pairs.some((~scores.is_empty).nonzero()[0])


def key_node(item: Node, name: str) -> Node:
    """Return the node that says whether a field of a key is the same."""
    fields = (field for arm in arms_of(item) for field in (*arm.fields, *arm.ignored))
    node = followed(next(field.node for field in fields if field.name == name))
    if isinstance(node, LeafNode) and node.unsaid:
        return replace(node, comparator=SAME, threshold=1.0)
    return node


class _Side(NamedTuple):
    """Elements of lists of one side."""

    slots: Indexes
    owner: Indexes
    """Which of the lists each is in."""
    at: Indexes
    """Its position there."""

    def some(self, which: Mask | Indexes) -> "_Side":
        return _Side(self.slots[which], self.owner[which], self.at[which])


def _side(lists: Elements, chosen: Indexes) -> _Side:
    slots, owner, _ = lists.of(chosen)
    return _Side(slots, owner, slots - lists.starts[chosen][owner])


class _Laid(NamedTuple):
    """Elements by the parts of lists that are searched together."""

    gt: _Side
    n: Indexes
    """How many each part has."""
    pred: _Side
    m: Indexes


def _laid_out(gt: _Side, pred: _Side, of_gt: Indexes, of_pred: Indexes, size: int) -> _Laid:
    """Lay elements out by the part that each is in; those below 0 are in none."""
    found: list[_Side | Indexes] = []
    for side, of in ((gt, of_gt), (pred, of_pred)):
        order = of.argsort(kind="stable")[np.count_nonzero(of < 0) :]
        found += [side.some(order), np.bincount(of[order], minlength=size)]
    return _Laid._make(found)


def _odd(elements: Columns, key: Key) -> Mask:
    """Return which ground truths may have several keys, or one that nobody has labelled."""
    odd = np.zeros(len(elements.gt), np.bool_)
    if elements.gold is not None:
        odd |= elements.gold.lengths[:-1] > 0
    for columns, _ in key:
        if columns.gold is not None:
            odd |= columns.gold.said[: len(odd)]
    return odd


def _apart(
    sides: tuple[_Side, _Side], codes: tuple[Indexes, Indexes], odd: Mask
) -> tuple[_Laid, Indexes, tuple[_Side, _Side]]:
    """Return elements by keys, the list of each part, and the elements that are left.

    These are all elements of lists that are `odd`.
    """
    each = [
        np.where(odd[side.owner], -1, code[side.slots])
        for side, code in zip(sides, codes, strict=True)
    ]
    lacks = np.zeros(len(odd), np.bool_)
    for side, code in zip(sides, each, strict=True):
        lacks[side.owner[code < 0]] = True
    part, owner = _together([side.owner for side in sides], each)
    n, m = (np.bincount(of[of >= 0], minlength=len(owner)) for of in part)
    apart = (n > 0) & (m > 0) & ((n == m) | ~lacks[owner])
    new = np.where(apart, apart.cumsum() - 1, -1)
    of_gt, of_pred = (np.where(of < 0, -1, np.append(new, -1)[of]) for of in part)
    left = [
        side.some((of < 0) & lacks[side.owner])
        for side, of in zip(sides, (of_gt, of_pred), strict=True)
    ]
    laid = _laid_out(*sides, of_gt, of_pred, int(np.count_nonzero(apart)))
    return laid, owner[apart], (left[0], left[1])


def _codes(key: Key, truths: int) -> tuple[Indexes, Indexes] | None:
    """Return a number for the key of each element, below 0 where a field of it is absent.

    Elements have the same key exactly where they have the same number. None where no numbers tell.
    """
    sides: list[Indexes] = []
    for columns, node in key:
        found = _field_codes(columns, node)
        if found is None:
            return None
        both = [found[0][:truths], found[1]]  # without the alternatives of a field
        sides = _together(sides, both)[0] if sides else both
    return sides[0], sides[1]


def _together(ones: list[Indexes], others: list[Indexes]) -> tuple[list[Indexes], Indexes]:
    """Return a number for each pair of numbers, of two sides, and what the first of each is.

    Where one of both is below 0, so is their number.
    """
    many = 1 + max(int(of.max(initial=0)) for of in others)
    both = [
        np.where(np.minimum(one, other) < 0, -1, one * many + other)
        for one, other in zip(ones, others, strict=True)
    ]
    known = distinct(np.concatenate([of[of >= 0] for of in both]))
    return [np.where(of < 0, -1, known.searchsorted(of)) for of in both], known // many


def _field_codes(columns: Columns, node: Node) -> tuple[Indexes, Indexes] | None:
    if not isinstance(node, LeafNode) or not columns.plain or node.threshold <= EQUAL_WITHIN:
        return None
    read = columns.read_by(node.reading)
    prepared = read.prepared(node.comparator.pairing or node.comparator)
    keys = prepared.keys
    if keys is None:
        return None
    # Values of one key are alike at best: so it is looked whether all of them are.
    values = keys[:-1]
    order = values.argsort(kind="stable")
    low = values[order].searchsorted(values, "left")
    count = values[order].searchsorted(values, "right") - low
    if int(count.sum()) - len(values) > MOST_ALIKE:
        return None
    at, owner = spread(low, count)
    one, other = owner, order[at]
    (unequal,) = (one != other).nonzero()
    if len(unequal):
        one, other = one[unequal], other[unequal]
        similarity = prepared.similarities(one, other, np.arange(len(one)), len(one))
        if similarity.min() < node.threshold - EQUAL_WITHIN:
            return None
    return keys[read.codes.gt[:-1]], keys[read.codes.pred[:-1]]


class _Parts(Search):
    """The search in parts of lists, each by itself."""

    def __init__(  # noqa: PLR0913, PLR0917 - elements of lists, and what pairs them
        self,
        item: Node,
        elements: Columns,
        laid: _Laid,
        longest: Indexes,
        floor: float,
        options: Options,
        *,
        turns: bool = True,
    ) -> None:
        gt, n, pred, m = laid
        self._longest, self._turns = longest, turns
        starts = n.cumsum() - n, len(gt.slots) + m.cumsum() - m
        self._lay_out(item, elements, starts, (n, m), floor, options)
        slots = np.concatenate([gt.slots, pred.slots + self._gts])
        at = np.concatenate([gt.at, pred.at])
        self._near_at, self._far_at = at[self._near], at[self._far]
        self._near, self._far = slots[self._near], slots[self._far]

    def _distance(self, near: Indexes, far: Indexes) -> Floats:
        owner = self._near_owner[near]
        apart: Floats = np.abs(self._near_at[near] - self._far_at[far]) / self._longest[owner]
        return apart

    def arranged(self, key: Key, *, ordered: bool) -> Pairs:
        """Return the pairs of the greatest total of each part, all compared with all."""
        place, rows = self._elements.place, self._rows(key)
        found = [np.empty((2, 0), np.intp)]
        for part in reversed((self._n * self._m).nonzero()[0].tolist()):
            n, m = int(self._n[part]), int(self._m[part])
            size = n * m // ALIGNED_IN_BYTE if ordered else KEPT_OF_CELL * n * m
            place.keep(size)
            place.charge(ALIGNED * n * m if ordered else int(ASSIGNED * n * n * m))
            each = islice(rows, n)
            far = np.array(align(each, n, m) if ordered else assign_all(np.array([*each])[::-1]))
            place.keep(-size)
            (near,) = (far >= 0).nonzero()
            found.append(
                np.stack([near + self._near_start[part], far[near] + self._far_start[part]])
            )
        near, far = np.concatenate(found, axis=1)
        return self._pairs(near, far, self._similarity(near, far))

    def _rows(self, key: Key) -> Iterator[Floats]:
        """Yield the gains of each element with all others of its part, the last element first."""
        sizes = self._m[self._near_owner]

        def rows(near: Indexes) -> Iterator[Floats]:
            gains = self._keyed_gains(near, key)
            edges = reversed([0, *sizes[near].cumsum().tolist()])
            return (gains[low:high] for high, low in pairwise(edges))

        return chain.from_iterable(map(rows, reversed([*blocks(sizes, AT_ONCE)])))

    def _keyed_gains(self, near: Indexes, key: Key) -> Floats:
        """Return the gains of elements with all others of their part; those of a pair by key."""
        near, far = self._all(near)
        options, same = self._options, np.full(len(near), bool(key))
        differs, (gt, pred) = ~same & False, self._sides(near, far)
        if key:  # the key of a truth with alternatives is that of the one that is most alike
            gt = self._item.choose_alternatives(self._elements, gt, pred, options, Mode.PAIRING)
        for columns, node in key:
            outcome = node.similarity(columns, gt, pred, options, Mode.PAIRING).outcome
            same &= outcome == TP
            differs |= outcome == FD
        gain, (at,) = np.zeros(len(near)), (~differs).nonzero()
        near, far, same = near[at], far[at], same[at]
        similarity = self._similarity(near, far)
        gain[at] = self._gain(near, far, similarity)
        if key:
            by_key = BY_KEY + similarity + EQUAL_WITHIN * (1 - self._distance(near, far))
            gain[at] = np.where(same, by_key, gain[at])
        return gain
