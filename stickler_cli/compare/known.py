"""The gold of a column: alternatives, and values that nobody labelled."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.json_values import Alternative, Gold, JsonValue

Indexes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]


class Known:
    """The gold of a column, whose alternatives are further slots of it."""

    def __init__(self, values: list[JsonValue], gold: list[Gold | None]) -> None:
        """Take the values and the gold of each."""
        self.values, self.of, base = [*values], [*gold], [*range(len(values))]
        starts, lengths = np.zeros((2, len(values) + 1), np.intp)
        for slot, known in enumerate(gold):
            if known is not None and known.alternatives:
                starts[slot], lengths[slot] = len(base), len(known.alternatives)
                self.values += (it.value for it in known.alternatives)
                self.of += (it.gold for it in known.alternatives)
                base += [slot] * len(known.alternatives)
        self.base = np.array(base, np.intp)
        """Of each slot, the one that its alternative is of."""
        more = np.zeros(len(base) - len(values), np.intp)
        self.starts = np.concatenate([starts[:-1], more, [0]])
        """Where the alternatives of each slot are, as `Elements` has it; then of nothing."""
        self.lengths = np.concatenate([lengths[:-1], more, [0]])
        self.said = np.array([it is not None for it in (*self.of, None)])
        """Of which slots anything is said."""
        self.unlabelled = np.array([bool(it and not it.labelled) for it in (*self.of, None)])
        """Of which slots nobody has said what is there."""
        self.hiding = np.array([bool(it and it.hides) for it in (*self.of, None)])
        """Which slots have something inside of which nobody has."""
        self.there = np.array([bool(it and (it.there or it.optional)) for it in (*self.of, None)])
        """Which slots hold something in some alternative, their own or inside."""
        self.optional = np.array([bool(it and it.optional) for it in (*self.of, None)])
        """Which slots may hold nothing or a value, by alternatives of their own or inside."""
        self.lacks = np.array([bool(it and it.lacks) for it in (*self.of, None)])
        """Which slots hold a value in which all may be missing."""
        self.open = np.array([bool(it and not it.exhaustive) for it in (*self.of, None)])
        """Which slots are lists that need not have all elements."""

    def lacking(self, slots: Indexes, among: Mask) -> Mask:
        """Return what is absent where nothing is predicted, maybe among other things."""
        found: Mask = self.optional[slots] & (among | ~self.lacks[slots])
        return found

    def dropped(self, slots: Indexes) -> dict[int, int]:
        """Return by position how many elements of lists are not labelled, where any are."""
        each = ((at, self.of[slot]) for at, slot in enumerate(slots.tolist()) if slot >= 0)
        return {at: known.dropped for at, known in each if known is not None and known.dropped}

    def first_of(self, some: Mask) -> Indexes:
        """Return for each slot its first alternative among some slots, or nothing."""
        found = np.full(len(some), -1)
        further = np.flatnonzero(self.base != np.arange(len(self.base)))
        chosen = further[some[further]][::-1]
        found[self.base[chosen]] = chosen  # the first is the last that is put there
        return found

    def alternatives(self, slot: int) -> tuple[Sequence[Alternative], int]:
        """Return the alternatives of the place of a slot that is one, and which of them it is."""
        base = int(self.base[slot])
        known = None if base == slot else self.of[base]
        return known.alternatives if known else (), slot - int(self.starts[base])

    def owners(self, slots: Indexes, owner: Indexes, size: int) -> Mask:
        """Return which of some owners have slots of which something is said, of all slots."""
        said = self.said[np.minimum(slots, len(self.of))]
        return np.bincount(owner[said], minlength=size) > 0
