"""Tuples: lists whose elements have places of their own, and go together by position."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass
from .account import Account, Part, split
from .columns import NOTHING, Columns, Indexes, aligned, groups
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

    def first_of(self, value: JsonValue) -> Node:
        """Return the node of the only element of a list of one."""
        return self.at(0).chosen(value)

    def parts(self) -> Sequence[Node]:
        """Return the nodes of all positions."""
        return (*self.positions, self.rest)

    def at(self, position: int) -> Node:
        """Return the node of a position."""
        return self.positions[position] if position < len(self.positions) else self.rest

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of lists, position by position, where either has a value."""
        if options.purpose >= Purpose.BOUND:
            return self._told(columns, gt, pred, np.ones(len(gt)), np.ones(len(gt)))
        gt_elements, pred_elements, elements = columns.elements
        sides = gt_elements.of(gt), pred_elements.of(pred)
        longest = max(int(place.max(initial=0)) for _, _, place in sides) + 1
        gt_slots, pred_slots, owner, place = aligned(*sides, longest)
        # Those of each declared position, and those of all others together.
        parts = [
            Part(at, self.at(position).compare(elements, gt_slots[at], pred_slots[at], options))
            for position, at in groups(np.minimum(place, len(self.positions)))
        ]
        account = split(self.rest, elements, gt_slots, pred_slots, parts)
        size = np.maximum(np.bincount(owner, minlength=len(gt)), 1)
        raw = np.bincount(owner, account.similarity, len(gt)) / size
        score = np.bincount(owner, account.score, len(gt)) / size
        found = self._told(columns, gt, pred, raw, score)
        if not options.pairing:
            thresholds = np.broadcast_to(own_thresholds(account), len(owner))
            places = (
                np.where(gt_slots == NOTHING, NOTHING, place),
                np.where(pred_slots == NOTHING, NOTHING, place),
            )
            found.units = element_units(owner, places, account, thresholds)
        return found
