"""Lists: elements are paired by optimal assignment."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent, json_key
from stickler_cli.core.locations import Step
from stickler_cli.core.values import dataclass
from .account import (
    Account,
    Floats,
    ListAccount,
    Units,
    both_sides,
    classify,
    met,
    of_each,
)
from .arranged import pair_arranged, pair_by_position
from .columns import (
    ARRAY,
    NOTHING,
    Columns,
    Elements,
    Indexes,
    Mask,
    distinct,
    spread,
)
from .pairing import Pairs, joined, pair
from .plan import Node, Options, Purpose
from .result import FA, FN, TP, ListPairing, ThresholdSource

HELD: Final = 300
"""Bytes that a pair of lists takes while their elements are paired: measured, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode(Node, ABC):
    """The part that lists and tuples share: a value that is not a list counts as a list of one."""

    nested = True

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

    def compare(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of lists; those that are documents are lists like any."""
        inside = options.to(max(options.purpose, Purpose.ACCOUNT))
        return Node.compare(self, columns, gt, pred, inside)

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

    def _told(
        self, columns: Columns, gt: Indexes, pred: Indexes, raw: Floats, score: Floats
    ) -> ListAccount:
        """Account for pairs of lists by their similarities and their scores; none is clipped."""
        similarity, score, outcome = classify(raw, score, self.threshold, gt, pred)
        return ListAccount(self, columns, gt, pred, outcome, similarity, score)

    def _full_match(self, columns: Columns, gt: Indexes, pred: Indexes) -> ListAccount:
        """Account for pairs of lists as if all of their elements were the same."""
        ones = np.ones(len(gt))
        return self._told(columns, gt, pred, ones, ones)


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

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of lists: put elements together, then account for those pairs."""
        whole, columns = columns, self.read(columns)
        if options.purpose >= Purpose.BOUND:
            return self._full_match(columns, gt, pred)
        if options.pairing:
            known, at = self._met(columns, gt, pred, options)
            paired, of_pairs = known.lengths[at], None
            if columns.elements[2].gold is not None:
                some, owner = spread(known.starts[at], paired)
                of_pairs = owner, known.pairs.gt[some]
            gt, pred, longest = self._lengths(columns, gt, pred, paired, of_pairs)
            similarity = known.similarity[at] / longest
            return self._told(whole, gt, pred, similarity, similarity)
        if columns.pairings is None:
            pairs = self._pairs(columns, gt, pred, options)
        else:  # some were found when elements were paired
            known, at = self._met(columns, gt, pred, options)
            some, owner = spread(known.starts[at], known.lengths[at])
            pairs = known.pairs.some(some)._replace(owner=owner)
        units, left_out = self._units(columns, gt, pred, pairs, options)
        paired = np.bincount(pairs.owner, minlength=len(gt))
        dropped = columns.gold.dropped(gt) if columns.gold else {}
        gt, pred, longest = self._lengths(columns, gt, pred, paired, (pairs.owner, pairs.gt))
        found = self._told(whole, gt, pred, *_means(units, longest))
        found.units, found.left_out, found.dropped = units, left_out, dropped
        return found

    def _pairs(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Pairs:
        if self.by_position:
            return pair_by_position(self.items, columns, gt, pred, options)
        floor = self.floor(options)
        if self.key or self.ordered:
            lists = self.items, columns, gt, pred, floor, options
            return pair_arranged(*lists, self.key, ordered=self.ordered)
        return pair(self.items, columns, gt, pred, floor, options)

    def compared(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of lists; of nothing that need not be all, nothing is evaluated."""
        if self.exhaustive and columns.gold is None:
            return Node.compared(self, columns, gt, pred, options)
        gt_lists, pred_lists, _ = self.read(columns).elements
        nothing = self._open(columns, gt) & (gt_lists.lengths[gt] == 0) & ~columns.listed
        nobody = np.where(nothing, NOTHING, pred)
        found = Node.compared(self, columns, gt, nobody, options)
        if not options.pairing:
            beyond = np.where(nothing, pred_lists.lengths[pred], 0)
            found.left_out = {**found.left_out, **_positive(beyond)}
        return found

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
            may_lack = self.items.optional(elements) >= 0
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

    def _met(
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

    def _units(
        self, columns: Columns, gt: Indexes, pred: Indexes, pairs: Pairs, options: Options
    ) -> tuple[Units, dict[int, int]]:
        """Return the units of lists, and by position how many elements of a prediction are none."""
        gt_lists, pred_lists, elements = columns.elements
        rows, row_owner, _ = gt_lists.of(gt)
        others, owners, _ = pred_lists.of(pred)
        partner = np.full(len(rows), NOTHING)
        partner[_positions(gt_lists, gt, pairs.owner, pairs.gt)] = pairs.pred
        alone = np.ones(len(others), np.bool_)
        alone[_positions(pred_lists, pred, pairs.owner, pairs.pred)] = False
        left_out: dict[int, int] = {}
        if not self.exhaustive or columns.gold is not None:
            is_open = self._open(columns, gt)
            left_out = _positive(np.bincount(owners[alone], minlength=len(gt)) * is_open)
            alone &= ~is_open[owners]
            kept = (partner >= 0) | (self.items.optional(elements)[rows] < 0)
            rows, row_owner, partner = rows[kept], row_owner[kept], partner[kept]
        (invented,) = alone.nonzero()
        owner = np.concatenate([row_owner, owners[invented]])
        # By list; ground-truth elements stand before those that only the prediction has.
        order = owner.argsort(kind="stable")
        gt = np.concatenate([rows, np.full(len(invented), NOTHING)])[order]
        pred = np.concatenate([partner, others[invented]])[order]
        elements.listed = np.bool_(True)
        account = self.items.compare(elements, gt, pred, options)
        # What has no pair must reach its own threshold.
        paired = (account.gt >= 0) & (account.pred >= 0)
        threshold = np.where(paired, _passing(account), own_thresholds(account))
        places = _places(gt_lists.places, account.gt), _places(pred_lists.places, account.pred)
        units = element_units(owner[order], places, account, threshold)
        if self.ordered:
            units.moved = self._moved(units, elements, options)
        return units, left_out

    def _moved(self, units: Units, elements: Columns, options: Options) -> Mask:
        """Return which elements without a pair match another one, each of them with one."""
        moved = np.zeros(len(units.owner), np.bool_)
        (missed,), (invented,) = (units.outcome == FN).nonzero(), (units.outcome == FA).nonzero()
        low = units.owner[invented].searchsorted(units.owner[missed], "left")
        high = units.owner[invented].searchsorted(units.owner[missed], "right")
        at, of = spread(low, high - low)
        one, other = missed[of], invented[at]
        sides = units.account.gt[one], units.account.pred[other]
        found = self.items.compare(elements, *sides, options.to(Purpose.PAIRING))
        (match,) = (met(found.similarity, _passing(found)) == TP).nonzero()
        for gt, pred in zip(one[match].tolist(), other[match].tolist(), strict=True):
            if not moved[gt] and not moved[pred]:
                moved[[gt, pred]] = True
        return moved


def _positive(numbers: Indexes) -> dict[int, int]:
    """Return the numbers above 0 by their positions."""
    (at,) = numbers.nonzero()
    return dict(zip(at.tolist(), numbers[at].tolist(), strict=True))


def _positions(lists: Elements, chosen: Indexes, owner: Indexes, slots: Indexes) -> Indexes:
    """Return where elements are among those of some lists, one list after the other."""
    lengths = lists.lengths[chosen]
    return slots + (lengths.cumsum() - lengths - lists.starts[chosen])[owner]


def _means(units: Units, longest: Indexes) -> tuple[Floats, Floats]:
    """Return the mean similarity and the mean score of the items of each list."""
    account, is_pair = units.account, both_sides(units.outcome)

    def mean(figures: Floats) -> Floats:
        of_pairs = np.where(is_pair, figures, 0.0)
        means: Floats = np.bincount(units.owner, of_pairs, len(longest)) / longest
        return means

    similarity = mean(account.similarity)
    is_clipped = account.item_score is not account.similarity
    return similarity, mean(account.item_score) if is_clipped else similarity


def _passing(account: Account) -> float | Floats:
    """Return the similarity at which each pair is a match as an element of a list."""
    return of_each(account, lambda of: of.node.element_thresholds(of.columns, of.gt), np.float64)


def own_thresholds(account: Account) -> float | Floats:
    """Return the similarity at which each pair is a match as a value of its own."""
    return of_each(account, lambda of: of.node.threshold, np.float64)


def element_units(
    owner: Indexes, places: tuple[Indexes, Indexes], account: Account, threshold: Floats
) -> Units:
    """Classify the units of lists: objects and lists pass on the threshold for elements."""
    graded = of_each(account, lambda one: one.graded, np.bool_) & both_sides(account.outcome)
    outcome = np.where(graded, met(account.similarity, threshold), account.outcome)
    return Units(owner, *places, outcome, threshold, account)


def _places(places: Indexes, slots: Indexes) -> Indexes:
    """Return the index of each slot in its list; `NOTHING` for nothing."""
    if not len(places):
        return np.full(len(slots), NOTHING)
    return np.where(slots == NOTHING, NOTHING, places[slots])
