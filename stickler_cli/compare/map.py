"""A map: an object whose keys are fields too, under a schema that they share."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from stickler_cli.core.problems import ComparisonError
from stickler_cli.core.values import dataclass
from .account import Account, EntryAccount
from .columns import ANY_KEY, Columns, Indexes, aligned, groups
from .object import Field, FieldsNode, said
from .plan import Node, Options

_UNDECLARED = -1


class Searcher(Protocol):
    """What says whether a key belongs to a family."""

    def search(self, string: str, /) -> object:
        """Return something true if it does."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A family of keys and the node for their values."""

    regex: Searcher
    node: Node
    aggregate: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode(FieldsNode):
    """An object some of whose fields are named only by the documents.

    Its fields are the declared ones and every key that has a value on either side. A declared name
    goes before a pattern, a pattern before `rest`.
    """

    patterns: tuple[Pattern, ...] = ()
    rest: Field | None = None
    """For keys that nothing else names; None makes them undeclared."""

    @property
    def families(self) -> tuple[Pattern | Field, ...]:
        """What names the other fields: the patterns, and after them all `rest`."""
        return (*self.patterns, self.rest) if self.rest else self.patterns

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        yield from ((entry.name, entry.node) for entry in self.fields)
        yield from ((ANY_KEY, family.node) for family in self.families)

    nested = True

    def has_field(self, name: str) -> bool:
        """Return whether a key is a field."""
        return name in self.names or self.family(name) != _UNDECLARED

    def family(self, name: str) -> int:
        """Return the position of the pattern that a key belongs to; after all, that of `rest`."""
        for position, pattern in enumerate(self.patterns):
            if pattern.regex.search(name):
                return position
        return len(self.patterns) if self.rest else _UNDECLARED

    def of_entries(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> tuple[EntryAccount, ...]:
        """Account for the fields that only the documents name, one call for each family."""
        gt_entries, pred_entries, values, names = columns.entries
        family = columns.derived((id(self), "family"), lambda: self._families(names))
        sides: list[tuple[Indexes, Indexes, Indexes]] = []
        for entries, slots in ((gt_entries, gt), (pred_entries, pred)):
            chosen, owner, place = entries.of(slots)
            (known,) = (family[place] != _UNDECLARED).nonzero()
            sides.append((chosen[known], owner[known], place[known]))
        gt_slots, pred_slots, owner, key = aligned(sides[0], sides[1], len(names) or 1)
        # As the ground truth has them, then the prediction: not by name, whose number is the
        # chunk's, so that sums of floats are the same in every chunk.
        place = np.where(gt_slots < 0, len(values.gt) + pred_slots, gt_slots)
        by_place = np.lexsort((place, owner))
        gt_slots, pred_slots = gt_slots[by_place], pred_slots[by_place]
        owner, key = owner[by_place], key[by_place]
        order = np.arange(len(owner)) - np.searchsorted(owner, owner)

        def compared(node: Node, at: Indexes) -> Account:
            try:
                return node.compare(values, gt_slots[at], pred_slots[at], options)
            except ComparisonError as error:
                for entry in at.tolist() if len(at) > 1 else ():  # whose fault it is
                    compared(node, np.array([entry]))
                raise error.below(names[int(key[at[0]])]) from error.__cause__

        found = []
        for position, at in groups(family[key]):
            named = self.families[position]
            account = compared(named.node, at)
            say = said(named.node, named.aggregate, account)
            found.append(EntryAccount(names, key[at], owner[at], order[at], say, True, account))
        return tuple(found)

    def _families(self, names: list[str]) -> Indexes:
        return np.array(
            [_UNDECLARED if name in self.names else self.family(name) for name in names], np.intp
        )
