"""Tuples: lists whose elements are compared by their positions."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass
from .account import Account, Part, split
from .columns import NOTHING, Aligned, Columns, Indexes, aligned, groups
from .list import SequenceNode, element_units, own_thresholds
from .plan import Node, Options, Purpose

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
        """Return the elements of a list, None for those that are nothing here."""
        unseen = self.ignored, len(self.positions)
        return [
            None if min(at, unseen[1]) in unseen[0] or self.at(at).is_nothing(it) else it
            for at, it in enumerate(values)
        ]

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
            there = ~passed & (np.maximum(gt, pred) >= 0)
            gt, pred, owner, place = gt[there], pred[there], owner[there], place[there]
        return gt, pred, owner, place

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of lists, position by position, where either has a value."""
        if options.purpose >= Purpose.BOUND:
            return self._told(columns, gt, pred, np.ones(len(gt)), np.ones(len(gt)))
        whole, columns = columns, self.read(columns)
        gt_elements, pred_elements, elements = columns.elements
        sides = gt_elements.of(gt), pred_elements.of(pred)
        longest = max(int(place.max(initial=0)) for _, _, place in sides) + 1
        found = self._evaluated(elements, aligned(*sides, longest), options)
        gt_slots, pred_slots, owner, place = found
        # Those of each declared position, and those of all others together.
        parts = [
            Part(at, self.at(position).compare(elements, gt_slots[at], pred_slots[at], options))
            for position, at in groups(np.minimum(place, len(self.positions)))
        ]
        account = split(self.rest, elements, gt_slots, pred_slots, parts)
        size = np.maximum(np.bincount(owner, minlength=len(gt)), 1)
        raw = np.bincount(owner, account.similarity, len(gt)) / size
        score = np.bincount(owner, account.score, len(gt)) / size
        dropped: Mapping[int, int] = {}
        if columns.gold is not None:  # a list without a position that counts is absent
            dropped, lists = columns.gold.dropped(gt), len(gt)
            n, m = (np.bincount(owner[of >= 0], minlength=lists) for of in (gt_slots, pred_slots))
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
