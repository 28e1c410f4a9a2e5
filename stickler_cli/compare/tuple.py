"""Tuples: lists whose elements are compared by their positions."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent
from stickler_cli.core.values import dataclass
from .account import Account, Part, split
from .columns import NOTHING, Aligned, Columns, Indexes, aligned, groups
from .list import SequenceNode, element_units, own_thresholds
from .plan import Node, Options, Purpose
from .result import FA, FN, TN

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

    def _evaluated(self, elements: Columns, found: Aligned, options: Options) -> Aligned:
        """Return the positions that are labelled, and that a side has after alternatives."""
        gt, pred, owner, place = found
        if elements.gold is not None:
            passed = elements.gold.unlabelled[gt]
            for position, at in groups(np.minimum(place, len(self.positions))):
                gt[at] = self.at(position).resolved(elements, gt[at], pred[at], options)
            gt, pred = elements.present(gt, pred)
            gt = np.where(elements.gold.lacks[gt] & (pred < 0), NOTHING, gt)
            there = ~passed & (np.maximum(gt, pred) >= 0)
            gt, pred, owner, place = gt[there], pred[there], owner[there], place[there]
        return gt, pred, owner, place

    def _compared(self, elements: Columns, found: Aligned, options: Options) -> Account:
        """Account for positions, those of each declared one, and all others together."""
        gt, pred, _, place = found
        parts = [
            Part(at, self.at(position).compare(elements, gt[at], pred[at], options))
            for position, at in groups(np.minimum(place, len(self.positions)))
        ]
        return split(self.rest, elements, gt, pred, parts)

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of lists, position by position, where either has a value."""
        if options.purpose >= Purpose.BOUND:
            return self._full_match(columns, gt, pred)
        whole, columns = columns, self.read(columns)
        gt_elements, pred_elements, elements = columns.elements
        sides = gt_elements.of(gt), pred_elements.of(pred)
        longest = max(int(place.max(initial=0)) for _, _, place in sides) + 1
        found = self._evaluated(elements, aligned(*sides, longest), options)
        account = self._compared(elements, found, options)
        there = account.outcome < TN
        if not there.all():  # values may count as nothing, and open lists come to nothing
            gt_slots, pred_slots, owner, place = found
            found = gt_slots[there], pred_slots[there], owner[there], place[there]
            account = self._compared(elements, found, options)
        gt_slots, pred_slots, owner, place = found
        size = np.maximum(np.bincount(owner, minlength=len(gt)), 1)
        raw = np.bincount(owner, account.similarity, len(gt)) / size
        score = raw
        if account.score is not account.similarity:
            score = np.bincount(owner, account.score, len(gt)) / size
        dropped = columns.gold.dropped(gt) if columns.gold is not None else {}
        if columns.gold is not None or columns.place.hides or not there.all():
            # Without a position that counts it is absent.
            n, m = (np.bincount(owner[account.outcome != of], minlength=len(gt)) for of in (FA, FN))
            gt, pred = np.where(n == 0, NOTHING, gt), np.where(m == 0, NOTHING, pred)
        told = self._told(whole, gt, pred, raw, score)
        told.dropped = dropped
        if not options.pairing:
            thresholds = np.broadcast_to(own_thresholds(account), len(owner))
            places = (
                np.where(gt_slots == NOTHING, NOTHING, place),
                np.where(pred_slots == NOTHING, NOTHING, place),
            )
            told.units = element_units(owner, places, account, thresholds)
        return told
