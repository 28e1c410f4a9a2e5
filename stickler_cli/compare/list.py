"""A list: order never matters, elements are paired by optimal assignment."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN
from stickler_cli.compare.absence import is_absent
from stickler_cli.compare.account import (
    Account,
    Floats,
    ListAccount,
    Outcomes,
    SplitAccount,
    Units,
    both_sides,
    together,
)
from stickler_cli.compare.columns import ARRAY, NOTHING, Columns, Indexes, Mask, spread
from stickler_cli.compare.element_pairs import Lists, Pairs
from stickler_cli.compare.pairing import pair
from stickler_cli.compare.plan import Node, Options, Purpose, scored
from stickler_cli.compare.result import TP, ThresholdSource
from stickler_cli.core.json_values import JsonValue

MOST_KNOWN: Final = 1_000_000
"""Pairs of lists of one place whose pairs are kept; some 400 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode(Node, ABC):
    """What lists and tuples share: a value that is not a list counts as a list of one."""

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair what is in them."""
        return True

    @abstractmethod
    def first_of(self, value: JsonValue) -> Node:
        """Return the node of the only element of a list of one."""

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Take any value, but one that would be wrapped for ever."""
        if columns.types <= {list, type(None)}:
            return None
        gt_kinds, pred_kinds = columns.kinds()
        masks = []
        for kinds, values in ((gt_kinds, columns.gt), (pred_kinds, columns.pred)):
            taken = kinds == ARRAY
            for slot in np.flatnonzero(~taken[:-1] & (kinds[:-1] > 0)).tolist():
                taken[slot] = not self._wraps_for_ever(values[slot])
            masks.append(taken)
        return masks[0], masks[1]

    def _wraps_for_ever(self, value: JsonValue) -> bool:
        """Return whether a list of one of the value would hold a list of one of it, and so on.

        So it is in a list that contains itself, where no other arm takes the value.
        """
        seen: list[Node] = []
        node: Node = self
        while isinstance(node, SequenceNode):
            if any(node is other for other in seen):
                return True
            seen.append(node)
            node = node.first_of(value)
        return False


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

    def first_of(self, value: JsonValue) -> Node:
        """Return the node of the only element of a list of one."""
        return self.items.chosen(value)

    def element_thresholds(self, columns: Columns, gt: Indexes) -> "float | Floats":
        """Return what lists must reach as elements of another: what their own elements must."""
        if self.threshold_stated:
            return self.threshold
        starts, lengths, _ = columns.elements()[0]
        thresholds = np.full(len(gt), self.threshold)
        at = np.flatnonzero((columns.kinds()[0][gt] == ARRAY) & (lengths[gt] > 0))
        firsts = starts[gt[at]]
        thresholds[at] = self.items.element_thresholds(columns.elements()[2], firsts)
        return thresholds

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
        gt_elements, pred_elements, elements = columns.elements()
        rows, row_owner = spread(gt_elements.starts[gt], gt_elements.lengths[gt])
        others, column_owner = spread(pred_elements.starts[pred], pred_elements.lengths[pred])
        lists = Lists(gt_elements.lengths[gt], pred_elements.lengths[pred], rows, others)
        longest = np.maximum(np.maximum(lists.n, lists.m), 1)
        if options.purpose >= Purpose.BOUND:
            return self._told(columns, gt, pred, np.ones(len(gt)), np.ones(len(gt)))
        pairs = self._paired(columns, gt, pred, lists, options)
        if options.pairing:
            raw = np.bincount(pairs.owner, pairs.similarity, len(gt)) / longest
            adds = self._clipped(elements, lists, pairs, options)
            score = np.bincount(pairs.owner, adds, len(gt)) / longest
            return self._told(columns, gt, pred, raw, score)
        units = self._units(elements, lists, (row_owner, column_owner), pairs, options)
        units.gt_place = _places(gt_elements.places, units.account.gt)
        units.pred_place = _places(pred_elements.places, units.account.pred)
        reported = np.where(both_sides(units.outcome), units.account.reported, 0.0)
        raw = np.bincount(units.owner, reported, len(gt)) / longest
        added = np.where(units.account.clips() & (units.outcome != TP), 0.0, reported)
        score = np.bincount(units.owner, added, len(gt)) / longest
        return self._told(columns, gt, pred, raw, score, units)

    def _told(  # noqa: PLR0913, PLR0917 - what an account has
        self,
        columns: Columns,
        gt: Indexes,
        pred: Indexes,
        raw: Floats,
        score: Floats,
        units: Units | None = None,
    ) -> ListAccount:
        raw, score = scored(raw, gt, pred), scored(score, gt, pred)
        outcome = self.outcomes(score, gt, pred)
        return ListAccount(self, columns, gt, pred, outcome, raw, score, None, units)

    def _paired(
        self, columns: Columns, gt: Indexes, pred: Indexes, lists: Lists, options: Options
    ) -> Pairs:
        """Return which elements of each two lists are pairs.

        Lists in elements that are being paired are met again, in other calls and in the pairs that
        are chosen, so what was found of them is kept: each two lists of a place are paired once.
        """
        floor, elements = self.floor(options), columns.elements()[2]
        known = columns.pairings
        if not known and not options.pairing:
            return pair(self.items, elements, lists, floor, options)
        both = list(zip(gt.tolist(), pred.tolist(), strict=True))
        met = [known.get(two) for two in both]
        new = np.array([at for at, pairs in enumerate(met) if pairs is None], np.intp)
        if len(new):
            found = pair(self.items, elements, lists.some(new), floor, options).by_list(len(new))
            for at, pairs in zip(new.tolist(), found, strict=True):
                met[at] = pairs
                if len(known) < MOST_KNOWN:
                    known[both[at]] = pairs
        return Pairs.together([pairs for pairs in met if pairs is not None])

    def _clipped(self, elements: Columns, lists: Lists, pairs: Pairs, options: Options) -> Floats:
        """Return what each pair adds to its list: nothing, where its leaf clips it."""
        if not self.items.may_clip or not len(pairs.owner):
            return pairs.similarity
        account = self.items.compare(elements, *pairs.slots(lists), options)
        below = account.reported < account.thresholds() - EQUAL_WITHIN
        return np.where(account.clips() & below, 0.0, pairs.similarity)

    def _units(
        self,
        elements: Columns,
        lists: Lists,
        owners: tuple[Indexes, Indexes],
        pairs: Pairs,
        options: Options,
    ) -> Units:
        """Account for the pairs, and for the elements that have none."""
        rows, others = lists.rows, lists.columns
        partner = np.full(len(rows), NOTHING)
        row, column = pairs.positions(lists)
        partner[row] = others[column]
        alone = np.ones(len(others), np.bool_)
        alone[column] = False
        invented = np.flatnonzero(alone)
        owner = np.concatenate([owners[0], owners[1][invented]])
        # By list; ground-truth elements stand before those that only the prediction has.
        order = np.argsort(owner, kind="stable")
        gt = np.concatenate([rows, np.full(len(invented), NOTHING)])[order]
        pred = np.concatenate([partner, others[invented]])[order]
        account = self.items.compare(elements, gt, pred, options)
        return element_units(owner[order], account, element_thresholds(account))


def element_thresholds(account: Account) -> Floats:
    """Return what each unit of a list must reach; what has no pair, its own threshold."""
    paired = (account.gt != NOTHING) & (account.pred != NOTHING)
    return np.where(paired, account.thresholds(), own_thresholds(account))


def own_thresholds(account: Account) -> "float | Floats":
    """Return the similarity at which each pair is a match as a value of its own."""
    if isinstance(account, SplitAccount):
        whole: Floats = together(account, own_thresholds, account.similarity)
        return whole
    return account.node.threshold


def element_units(owner: Indexes, account: Account, threshold: Floats) -> Units:
    """Classify the units of lists: objects and lists pass on the threshold for elements."""
    outcome = np.where(_graded(account), _passed(account, threshold), account.outcome)
    nowhere = np.empty(0, np.intp)
    return Units(owner, nowhere, nowhere, outcome.astype(np.int8), threshold, account)


def _passed(account: Account, threshold: Floats) -> Outcomes:
    outcome: Outcomes = (account.reported < threshold - EQUAL_WITHIN).view(np.int8)
    return outcome  # TP is 0, and FD 1


def _graded(account: Account) -> "bool | Mask":
    """Return which pairs are of objects or of lists, which have a threshold as elements."""
    if isinstance(account, SplitAccount):
        whole: Mask = together(account, _graded, account.outcome == TP)
        return whole
    return both_sides(account.outcome) if account.graded else False


def _places(places: Indexes, slots: Indexes) -> Indexes:
    """Return the index of each slot in its list; `NOTHING` for nothing."""
    if not len(places):
        return np.full(len(slots), NOTHING)
    return np.where(slots == NOTHING, NOTHING, places[slots])
