"""Which elements of two lists are pairs: the greatest total similarity, without the whole matrix.

Candidates, a certificate, and an assignment where two elements want the same: docs/architecture.md,
"Lists", tells the three steps.
"""

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN
from .assignment import ASSIGNED, LOOK, LOOK_AT_EACH, assign, assign_all, blocks
from .columns import NOTHING, Columns, Floats, Indexes, Mask, distinct, spread
from .gold import EXCLUDED
from .leaf import LeafBlock, LeafNode
from .object import ObjectNode
from .one_of import followed
from .plan import Mode, Node, Options
from .rows import Rows
from .selective import SelectiveField, leaves_of, selective_fields
from .work import PAIR

FEW_PAIRS: Final = 36
"""So many pairs are compared all with all: to find likely ones takes longer."""

MANY: Final = 2
"""A join that finds more than so many pairs for each element tells nothing."""

SEARCHED_TOGETHER: Final = 1 << 18
"""Pairs that the elements of lists may come to that are searched together; few are compared."""

AT_ONCE: Final = 1 << 16
"""Pairs of elements that are compared in one call: about 10 MB. More at once gain nothing."""

SMALL_MATRIX: Final = 1 << 14
"""Cells of a list whose elements are all compared where two want the same."""

MOST_FREE: Final = 32
"""Elements without a partner for which paths are searched one by one; for more, scipy is faster."""


class Pairs(NamedTuple):
    """Pairs of elements of lists, by list and by ground truth."""

    owner: Indexes
    """Which of the pairs of lists each is in."""
    gt: Indexes
    """The slot of each ground truth among the elements of all lists."""
    pred: Indexes
    similarity: Floats

    def some(self, which: Indexes | slice) -> "Pairs":
        """Return some of the pairs."""
        return Pairs(self.owner[which], self.gt[which], self.pred[which], self.similarity[which])


def joined(several: list[Pairs]) -> Pairs:
    """Return pairs that were found apart, one after the other."""
    none = np.empty(0, np.intp)
    nothing = Pairs(none, none, none, np.empty(0))
    return Pairs(*map(np.concatenate, zip(nothing, *several, strict=True)))


def pair(  # noqa: PLR0913, PLR0917 - two sides of columns, and what pairs them
    item: Node, lists: Columns, gt: Indexes, pred: Indexes, floor: float, options: Options
) -> Pairs:
    """Choose the pairs of the greatest total similarity in every list.

    Ties go to equal positions: a pair (i, j) above the floor is raised by
    1e-9 * (1 - |i-j| / max(n, m)) while the assignment is sought. Pairs at or below the floor
    count as 0, so a hopeless pair never displaces a good one, and are left out of the answer.

    Lists are given by their slots, `gt` and `pred`, both (k,), and `item` compares their elements.
    The floor is in [-1, 1), and met within 1e-9; -1 keeps every pair.

    Source:
        docs/semantics.md, Lists. Crouse (2016), doi:10.1109/TAES.2016.140952, for assignments.
    """
    found = []
    cells = lists.elements[0].lengths[gt] * lists.elements[1].lengths[pred]
    for block in blocks(cells, SEARCHED_TOGETHER):
        pairs = Search(item, lists, gt[block], pred[block], floor, options).pairs()
        found.append(pairs._replace(owner=block[pairs.owner]))
    pairs = found[0] if len(found) == 1 else joined(found)
    return pairs.some(np.lexsort((pairs.gt, pairs.owner)))


class Search:
    """The search for the pairs of some lists.

    The near side is the one that is not longer. Elements are named by their slots, those of
    predictions after all ground truths, so that the lesser of two is always a ground truth.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - as `pair` takes them
        self, item: Node, lists: Columns, gt: Indexes, pred: Indexes, floor: float, options: Options
    ) -> None:
        gt_lists, pred_lists, elements = lists.elements
        self._turns = True  # so that the near side may be that of predictions
        starts = gt_lists.starts[gt], pred_lists.starts[pred] + len(elements.gt)
        sizes = gt_lists.lengths[gt], pred_lists.lengths[pred]
        self._lay_out(item, elements, starts, sizes, floor, options)

    def _lay_out(  # noqa: PLR0913, PLR0917 - the elements of lists, and what pairs them
        self,
        item: Node,
        elements: Columns,
        starts: tuple[Indexes, Indexes],
        sizes: tuple[Indexes, Indexes],
        floor: float,
        options: Options,
    ) -> None:
        self._item, self._elements, self._floor, self._options = item, elements, floor, options
        self._fields: list[SelectiveField] = []
        self._at_once = AT_ONCE // width_of(item)
        self._gts = len(elements.gt)
        n, m = sizes
        wider = self._wider = self._turns & (n > m)
        self._n, self._m = np.where(wider, m, n), np.where(wider, n, m)
        self._near, self._near_owner = spread(np.where(wider, *starts[::-1]), self._n)
        self._far, self._far_owner = spread(np.where(wider, *starts), self._m)
        self._near_start = self._n.cumsum() - self._n
        self._far_start = self._m.cumsum() - self._m

    @cached_property
    def _keyless(self) -> Mask:
        """Lists of whose elements something is said, so that no value tells which are alike."""
        if (known := self._elements.gold) is None:
            return np.zeros(len(self._n), np.bool_)
        near = known.owners(self._near, self._near_owner, len(self._n))
        return near | known.owners(self._far, self._far_owner, len(self._n))

    def pairs(self) -> Pairs:
        """Return the pairs of the greatest total of each list."""
        near, far, unknown = self._candidates()
        similarity = self._similarity(near, far)
        gain, best = self._gains(near, far, similarity)
        (still_open,) = ((best <= unknown) & (unknown > 0)).nonzero()
        if len(still_open):
            self._check(still_open)
            some = blocks(self._m[self._near_owner[still_open]], AT_ONCE)
            found = [self._best_of_all(still_open[block], best) for block in some]
            more = map(np.concatenate, zip(*found, strict=True))
            keep = ~np.isin(near, still_open)
            near, far, similarity = (
                np.concatenate([known[keep], new])
                for known, new in zip((near, far, similarity), more, strict=True)
            )
            gain, best = self._gains(near, far, similarity)
        chosen = _first_best(near, far, gain, best)
        times = np.bincount(far[chosen], minlength=len(self._far))
        if not np.count_nonzero(times > 1):
            return self._pairs(near[chosen], far[chosen], similarity[chosen])
        disputed = distinct(self._far_owner[times > 1])
        wanted = np.full(len(self._near), -1)
        wanted[near[chosen]] = far[chosen]
        chosen = chosen[~np.isin(self._near_owner[near[chosen]], disputed)]
        plain = self._pairs(near[chosen], far[chosen], similarity[chosen])
        return joined([plain, self._pairs(*self._assigned(disputed, best, wanted))])

    def _pairs(self, near: Indexes, far: Indexes, similarity: Floats) -> Pairs:
        return Pairs(self._near_owner[near], *self._sides(near, far), similarity)

    def _sides(self, near: Indexes, far: Indexes) -> tuple[Indexes, Indexes]:
        one, other = self._near[near], self._far[far]
        return np.minimum(one, other), np.maximum(one, other) - self._gts

    def _similarity(self, near: Indexes, far: Indexes) -> Floats:
        """Return the similarities of pairs; `EXCLUDED` for pairs without a value to compare."""
        similarities = [np.empty(0)]
        for gt, pred in self._blocks(near, far):
            scores = self._item.similarity(self._elements, gt, pred, self._options, Mode.PAIRING)
            similarity = scores.similarity
            if self._elements.gold is not None:
                similarity = np.where(scores.is_empty, EXCLUDED, similarity)
            similarities.append(similarity)
        return np.concatenate(similarities)

    def _upper_bound(self, near: Indexes, far: Indexes) -> Floats | None:
        """Return what the similarities of pairs do not exceed; None if that costs too much."""
        bounds = [np.empty(0)]
        for gt, pred in self._blocks(near, far):
            bound = followed(self._item).upper_bound(self._elements, gt, pred, self._options)
            if bound is None:
                return None
            bounds.append(bound)
        return np.concatenate(bounds)

    def _blocks(self, near: Indexes, far: Indexes) -> Iterator[tuple[Indexes, Indexes]]:
        """Yield both sides of pairs, so many at a time as are compared at once."""
        for start in range(0, len(near), self._at_once):
            block = slice(start, start + self._at_once)
            yield self._sides(near[block], far[block])

    def _gains(self, near: Indexes, far: Indexes, similarity: Floats) -> tuple[Floats, Floats]:
        """Return the gain of each pair for the total, and the greatest of each element; or 0."""
        gain, best = self._gain(near, far, similarity), np.zeros(len(self._near))
        np.maximum.at(best, near, gain)
        return gain, best

    def _gain(self, near: Indexes, far: Indexes, similarity: Floats) -> Floats:
        """Return the gain of each pair for the total that is sought; above 0, or 0."""
        nearness = EQUAL_WITHIN * (1 - self._distance(near, far))
        return np.where(similarity > self._floor + EQUAL_WITHIN, similarity + nearness, 0.0)

    def _distance(self, near: Indexes, far: Indexes) -> Floats:
        """Return how far the positions of pairs are apart, as a share of the longer list."""
        owner = self._near_owner[near]
        distance = np.abs(near - self._near_start[owner] - far + self._far_start[owner])
        apart: Floats = distance / self._m[owner]
        return apart

    def _all(self, near: Indexes) -> tuple[Indexes, Indexes]:
        owner = self._near_owner[near]
        self._elements.place.charge(PAIR * int(self._m[owner].sum()))
        far, position = spread(self._far_start[owner], self._m[owner])
        return near[position], far

    def _candidates(self) -> tuple[Indexes, Indexes, Floats]:
        """Return likely pairs by element, and the most that an element gains of any other."""
        most = 1 if self._item.nested else FEW_PAIRS
        few = (self._n * self._m <= most)[self._near_owner]
        found = [self._all(few.nonzero()[0])]
        if np.count_nonzero(few) == len(few):
            return *found[0], np.zeros(len(few))
        rest, worth = np.where(few, -1.0, 1.0), np.zeros(len(few))
        open_ones = np.where(few | self._keyless[self._near_owner], NOTHING, self._near)
        near_side, far_side = (open_ones, self._near_owner), (self._far, self._far_owner)
        fields = self._fields = selective_fields(self._item, self._elements)
        for field in fields:
            near, far, useful = field.join(near_side, far_side, MANY * (self._n + self._m))
            found.append((near, far))
            worth += useful * field.weight * field.tells
        if fields:
            others = fields[0].of_object - worth
            rest = np.where(few, -1.0, np.divide(others, others + worth))
        near, far = (np.concatenate(side) for side in zip(*found, strict=True))
        either = distinct(near * len(self._far) + far)
        unknown = np.where(rest > self._floor + EQUAL_WITHIN, rest + 2 * EQUAL_WITHIN, 0.0)
        return either // len(self._far), either % len(self._far), unknown

    def _check(self, some: Indexes) -> None:
        """Refuse lists at once that take too much work if all their texts are compared."""
        for leaf, columns, gt, pred in texts_of(self._item, self._elements):
            codes = np.concatenate([gt, pred])
            near, far = codes[self._near[some]], codes[self._far]
            for owner in np.flatnonzero(self._n * self._m > SMALL_MATRIX).tolist():
                mine = self._near_owner[some] == owner
                sides = near[mine], far[self._far_owner == owner]
                columns.place.check(leaf.least_steps(columns, *sides))

    def _best_of_all(self, near: Indexes, best: Floats) -> tuple[Indexes, Indexes, Floats]:
        near, far = self._all(near)
        possible = self._bound(near, far) + 2 * EQUAL_WITHIN >= best[near]
        near, far = near[possible], far[possible]
        if self._item.by_position:
            rows = Rows(self._item, self._elements, self._options)
            may_be_best = rows.may_be_best(*self._sides(near, far), near, best)
            near, far = near[may_be_best], far[may_be_best]
        bound = self._upper_bound(near, far)
        if bound is None:
            return self._best_of(near, far, self._similarity(near, far))
        # Pairs whose bound is below what is known of an element are not its best.
        most, greatest = self._gains(near, far, bound)
        likely = _first_best(near, far, most, greatest)
        found = self._similarity(near[likely], far[likely])
        best = best.copy()
        np.maximum.at(best, near[likely], self._gain(near[likely], far[likely], found))
        wanted = (most > 0) & (most + 2 * EQUAL_WITHIN >= best[near])
        wanted[likely] = False
        (at,) = wanted.nonzero()
        similarity = np.concatenate([found, self._similarity(near[at], far[at])])
        both = np.concatenate([likely, at])
        return self._best_of(near[both], far[both], similarity)

    def _bound(self, near: Indexes, far: Indexes) -> Floats:
        """Return the greatest gain of pairs by what those of unequal keys lack."""
        most, tells = np.full(len(near), 1 + EQUAL_WITHIN), ~self._keyless[self._near_owner[near]]
        for field in self._fields:
            one, other = field.keys[self._near[near]], field.keys[self._far[far]]
            unlike = (one >= 0) & (one != other) & tells
            most -= unlike * (field.weight * field.tells / field.of_object)
        return most

    def _best_of(
        self, near: Indexes, far: Indexes, similarity: Floats
    ) -> tuple[Indexes, Indexes, Floats]:
        at = _first_best(near, far, *self._gains(near, far, similarity))
        return near[at], far[at], similarity[at]

    def _assigned(
        self, disputed: Indexes, best: Floats, wanted: Indexes
    ) -> tuple[Indexes, Indexes, Floats]:
        """Return the pairs of lists in which two elements want the same one."""
        cells = self._n[disputed] * self._m[disputed]
        small, large = disputed[cells <= SMALL_MATRIX], disputed[cells > SMALL_MATRIX]
        gain = self._gain_of_all(np.flatnonzero(np.isin(self._near_owner, small)))
        edges = np.cumsum(cells[cells <= SMALL_MATRIX])[:-1]
        solved = [
            self._solved(owner, matrix.reshape(-1, self._m[owner]).__getitem__, best, wanted)
            for owner, matrix in zip(small.tolist(), np.split(gain, edges), strict=False)
        ]
        for owner, first in zip(large.tolist(), self._near_start[large].tolist(), strict=True):

            @cache
            def gains(row: int, first: int = first) -> Floats:
                return self._gain_of_all(np.array([first + row]))

            solved.append(self._solved(owner, gains, best, wanted))
        near, far = (np.concatenate(side) for side in zip(*solved, strict=True))
        similarity = self._similarity(near, far)
        gained = self._gain(near, far, similarity) > 0
        return near[gained], far[gained], similarity[gained]

    def _gain_of_all(self, near: Indexes) -> Floats:
        pairs = self._all(near)
        return self._gain(*pairs, self._similarity(*pairs))

    def _solved(
        self, owner: int, gain: Callable[[int], Floats], best: Floats, wanted: Indexes
    ) -> tuple[Indexes, Indexes]:
        """Return the pairs of the greatest total of one list, also those that gain nothing."""
        first, far = int(self._near_start[owner]), int(self._far_start[owner])
        mine = slice(first, first + int(self._n[owner]))
        wants = np.where(wanted[mine] < 0, -1, wanted[mine] - far)
        some = wants[wants >= 0]
        n, m, place = len(wants), int(self._m[owner]), self._elements.place

        def looked_at(row: int) -> Floats:
            place.charge(LOOK + LOOK_AT_EACH * m)
            return gain(row)

        if len(some) - len(distinct(some)) <= MOST_FREE:
            columns = assign(looked_at, best[mine], wants, m)
        else:
            place.charge(int(ASSIGNED * n * n * m))
            columns = assign_all(np.array([gain(row) for row in range(n)]))
        (rows,) = (np.array(columns) >= 0).nonzero()
        return first + rows, far + np.array(columns)[rows]


def _first_best(near: Indexes, far: Indexes, gain: Floats, best: Floats) -> Indexes:
    """Return where each element has its best gain; of equal ones, the first of the far side."""
    at = np.flatnonzero((gain > 0) & (gain == best[near]))
    at = at[np.lexsort((far[at], near[at]))]
    is_first = np.ones(len(at), np.bool_)
    np.not_equal(near[at][1:], near[at][:-1], out=is_first[1:])
    return at[is_first]


def texts_of(item: Node, elements: Columns) -> list[tuple[LeafNode, Columns, Indexes, Indexes]]:
    """Return the leaves of list elements with their codes, if all are dear to compare."""
    item = followed(item)
    if isinstance(item, LeafNode):
        read = elements.read_by(item.reading)
        found = [(item, read, read.codes.gt[:-1], read.codes.pred[:-1])]
    elif isinstance(item, ObjectNode) and not item.families:
        is_flat = all(isinstance(of.node, LeafNode) for of in item.fields)
        found = [*leaves_of(item, elements)] if is_flat else []
    else:
        found = []
    return found if all(leaf.is_dear and columns.scalar for leaf, columns, _, _ in found) else []


def width_of(item: Node) -> int:
    """Return how many leaves of two list elements are compared together at most; 1 for one."""
    item = followed(item)
    blocks = item.together if isinstance(item, ObjectNode) else ()
    return max([1, *(len(of.names) for of in blocks if isinstance(of, LeafBlock))])
