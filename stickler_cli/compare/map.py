"""Maps: objects some of whose fields are named only by the documents."""

from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np

from stickler_cli.core.locations import ANY_KEY, Step
from stickler_cli.core.problems import ComparisonError
from stickler_cli.core.values import dataclass
from .account import Account, EntryAccount
from .columns import NOTHING, Columns, Indexes, aligned, groups
from .object import Field, FieldsNode, said
from .plan import Node, Options

_UNDECLARED: Final = -1


class Searcher(Protocol):
    """Says whether a key belongs to a family."""

    def search(self, string: str, /) -> object:
        """Return something true if it does."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A family of keys and the node for their values."""

    regex: Searcher
    node: Node
    aggregate: bool | None = None
    ignored: bool = False
    """Whether nobody looks at the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode(FieldsNode):
    """A map.

    Its fields are the declared ones and every key that has a value on either side. A declared name
    goes before a pattern, a pattern before `rest`.
    """

    patterns: tuple[Pattern, ...] = ()
    rest: Field | None = None
    """For keys that nothing else names; None makes them undeclared."""

    @property
    def families(self) -> tuple[Pattern | Field, ...]:
        """The families of the other fields: the patterns, and after them all `rest`."""
        return (*self.patterns, self.rest) if self.rest else self.patterns

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        yield from ((entry.name, entry.node) for entry in self.fields)
        yield from ((ANY_KEY, it.node) for it in self.families if not it.ignored)

    nested = True

    def has_field(self, name: str) -> bool:
        """Return whether a key is a field."""
        return name in self.names or self.family(name) != _UNDECLARED

    def ignores(self, name: str) -> bool:
        """Return whether nobody looks at the values of a key."""
        if name in self.names:
            return FieldsNode.ignores(self, name)
        at = self.family(name)
        return at != _UNDECLARED and self.families[at].ignored

    def _seen_family(self, name: str) -> int:
        """Return the family of a key that is looked at, and that nothing else names."""
        return _UNDECLARED if name in self.names or self.ignores(name) else self.family(name)

    def below(self, step: Step) -> Node | None:
        """Return the node of a field; None where it has none."""
        if step in self.names:
            return FieldsNode.below(self, step)
        at = self.family(str(step))
        return None if at == _UNDECLARED else self.families[at].node

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
        family = columns.derived(
            (id(self), "family"),
            lambda: np.array([*map(self._seen_family, names)], np.intp),
        )
        sides: list[tuple[Indexes, Indexes, Indexes]] = []
        for entries, slots in ((gt_entries, gt), (pred_entries, pred)):
            chosen, owner, place = entries.of(slots)
            (at,) = (family[place] != _UNDECLARED).nonzero()
            sides.append((chosen[at], owner[at], place[at]))
        gt_slots, pred_slots, owner, key = aligned(sides[0], sides[1], len(names) or 1)
        # As the ground truth has them, then the prediction: not by name, whose number is the
        # chunk's, so that sums of floats are the same in every chunk.
        place = np.where(gt_slots < 0, len(values.gt) + pred_slots, gt_slots)
        by_place = np.lexsort((place, owner))
        gt_slots, pred_slots = gt_slots[by_place], pred_slots[by_place]
        owner, key = owner[by_place], key[by_place]
        order = np.arange(len(owner)) - owner.searchsorted(owner)

        def compared(node: Node, at: Indexes) -> Account:
            try:
                return node.compare(values, gt_slots[at], pred_slots[at], options)
            except ComparisonError as error:
                for entry in at.tolist() if len(at) > 1 else ():  # whose fault it is
                    compared(node, np.array([entry]))
                raise error.below(names[int(key[at[0]])]) from error.__cause__

        found = []
        for position, every in groups(family[key]):
            named, at = self.families[position], every
            if columns.place.hides or values.gold is not None:
                no_gt, no_pred = named.node.nothing(values)
                at = every[~(no_gt[gt_slots[every]] & no_pred[pred_slots[every]])]
            if values.gold is not None:
                some = named.node.resolved(values, gt_slots[at], pred_slots[at], options)
                alone = (pred_slots[at] < 0) & (pred[owner[at]] >= 0)
                gt_slots[at] = np.where(values.gold.lacks[some] & alone, NOTHING, some)
            account = compared(named.node, at)
            say = said(named.node, named.aggregate, account)
            found.append(EntryAccount(names, key[at], owner[at], order[at], say, True, account))
        return tuple(found)
