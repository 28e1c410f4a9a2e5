"""Objects: fields, each with a node of its own, scored by their weighted mean.

Some fields may be named only by the documents.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, repeat
from typing import Final, Protocol

import numpy as np

from stickler_cli.core.json_values import JsonValue, is_absent, part_of
from stickler_cli.core.locations import ANY_KEY, Step
from stickler_cli.core.problems import ComparisonError
from stickler_cli.core.values import dataclass
from .account import (
    Account,
    BlockAccount,
    EntryAccount,
    FieldsPart,
    Floats,
    ObjectAccount,
    Outcomes,
    both_sides,
    classify,
    clipped,
    met,
)
from .columns import ABSENT, NOTHING, OBJECT, Columns, Indexes, Known, Mask, aligned, groups
from .leaf import LeafBlock, LeafNode, blocks_of
from .one_of import SAYS, OneOfNode
from .plan import Node, Options, Purpose
from .result import DEFAULT_MATCH_THRESHOLD, TN, ThresholdSource
from .work import UNDECLARED

_OBJECTS: Final = frozenset((dict, type(None)))


class Searcher(Protocol):
    """Says whether a key belongs to a family."""

    def search(self, string: str, /) -> object:
        """Return something true if it does."""


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object, or a family of those that only documents name, and its node."""

    name: str
    """Empty of a family."""
    node: Node
    aggregate: bool | None = None
    """The property's own say on the object's aggregate; None where it says nothing."""
    ignored: bool = False
    """Whether nobody looks at its values."""
    keys: Searcher | None = None
    """Of a family, which keys are of it; None for all."""
    pairs_items: bool = True
    """Whether it has a say in which list items are pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNode(Node):
    """An object; with families of fields it is a map."""

    fields: tuple[Field, ...] = ()
    """Those that the schema names."""
    families: tuple[Field, ...] = ()
    """Of every other key that has a value on either side; the first that it belongs to counts."""
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two list items are the same one."""
    model_name: str = ""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    ignored: tuple[Field, ...] = ()
    """Those that nobody looks at."""
    own: Mapping[str, Field] = field(init=False, compare=False, repr=False)
    """The fields by their names, those too that nobody looks at."""
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    in_order: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """The names of the fields that are compared."""
    included: tuple[bool, ...] | None = field(init=False, compare=False, repr=False)
    """Whether the aggregate includes each of them, where that depends on no value."""
    not_pairing: tuple[int, ...] = field(init=False, compare=False, repr=False)
    """Positions of the fields that have no say in which list items are pairs."""
    together: tuple[LeafBlock | int, ...] = field(init=False, compare=False, repr=False)
    """All fields by what compares them: leaves in blocks, others by their positions."""

    def __post_init__(self) -> None:
        own = {entry.name: entry for entry in reversed((*self.fields, *self.ignored))}
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "names", frozenset(own))
        object.__setattr__(self, "in_order", tuple(entry.name for entry in self.fields))
        not_pairing = [at for at, entry in enumerate(self.fields) if not entry.pairs_items]
        object.__setattr__(self, "not_pairing", (*not_pairing,))
        says = [entry.aggregate for entry in self.fields]
        unions = any(isinstance(entry.node, OneOfNode) for entry in self.fields)
        object.__setattr__(self, "included", None if unions else (*_included(says),))
        parts = [(at, entry.name, entry.node) for at, entry in enumerate(self.fields)]
        leaves = [(at, name, node) for at, name, node in parts if isinstance(node, LeafNode)]
        others = {at for at, _, _ in parts}.difference(at for at, _, _ in leaves)
        together: list[LeafBlock | int] = [*others, *blocks_of(leaves)]
        object.__setattr__(self, "together", (*sorted(together, key=_first),))

    @property
    def item_threshold(self) -> float:
        """The similarity at which two list items of this model are a match."""
        return self.match_threshold

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs costs little beside a call for each."""
        return not self.families and all(entry.node.columnar for entry in self.fields)

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair their elements."""
        return bool(self.families) or any(entry.node.nested for entry in self.fields)

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        yield from ((entry.name, entry.node) for entry in self.fields)
        yield from ((ANY_KEY, it.node) for it in self.families if not it.ignored)

    def _family(self, name: str) -> int:
        """Return the position of the family of a key; `NOTHING` where it has none."""
        each = (at for at, it in enumerate(self.families) if not it.keys or it.keys.search(name))
        return NOTHING if name in self.names else next(each, NOTHING)

    def _seen(self, name: str) -> int:
        """Return the same of a key that is looked at."""
        at = self._family(name)
        return NOTHING if at == NOTHING or self.families[at].ignored else at

    def field_of(self, name: str) -> Field | None:
        """Return the property that a key is, or its family."""
        at = self._family(name)
        return self.own.get(name) if at == NOTHING else self.families[at]

    def ignores(self, name: str) -> bool:
        """Return whether nobody looks at the values of a key."""
        found = self.field_of(name)
        return found is not None and found.ignored

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether nobody looks at any of the values in an object."""
        return isinstance(value, dict) and all(
            is_absent(part) or self.ignores(name) or self._hides(name, part)
            for name, part in value.items()
        )

    def _hides(self, step: Step, value: JsonValue) -> bool:
        return is_unseen(self.below(step), value)

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return which slots hold objects; None if all values do."""
        if columns.types <= _OBJECTS:
            return None
        gt_kinds, pred_kinds = columns.kinds
        return (gt_kinds == OBJECT) | (gt_kinds == ABSENT), pred_kinds == OBJECT

    def keeps(self, columns: Columns, known: Known, gt: Indexes, pred: Indexes) -> Mask | bool:
        """Return the objects in which something is not labelled, where objects are predicted."""
        found: Mask = known.hiding[gt] & (columns.kinds[1][pred] == OBJECT)
        return found

    def below(self, step: Step) -> Node | None:
        """Return the node of a field; None where it has none. No position is a field's name."""
        name = str(step)
        found = self.field_of(name) if step == name or name not in self.names else None
        return None if found is None or found.ignored else found.node

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return who said the threshold for list items of this model."""
        return self.match_source

    def of_entries(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> tuple[EntryAccount, ...]:
        """Account for the fields that only the documents name, one call for each family."""
        if not self.families:
            return ()
        gt_entries, pred_entries, values, names = columns.entries
        family = columns.derived(
            (id(self), "family"),
            lambda: np.array([*map(self._seen, names)], np.intp),
        )
        sides: list[tuple[Indexes, Indexes, Indexes]] = []
        for entries, slots in ((gt_entries, gt), (pred_entries, pred)):
            chosen, owner, place = entries.of(slots)
            (at,) = (family[place] != NOTHING).nonzero()
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

    def account(self, columns: Columns, gt: Indexes, pred: Indexes, options: Options) -> Account:
        """Account for pairs of objects field by field; whole documents even where one is empty."""
        inside = options.to(max(options.purpose, Purpose.ACCOUNT))
        (live,) = ((gt & pred) >= 0).nonzero()  # of those where a side is there
        at = None if len(live) == len(gt) else live
        some = (gt, pred) if at is None else (gt[at], pred[at])
        parts: list[FieldsPart] = []
        entries: tuple[EntryAccount, ...] = ()
        if len(live):
            parts = self._compared(columns, *some, inside)
            entries = self.of_entries(columns, *some, inside)
        not_pairing = self.not_pairing if options.pairing else ()
        similarity, score = _means(self, parts, entries, len(live), not_pairing)
        said = gt
        is_unfounded = options.pairing and _find_unfounded(columns, gt, live, parts, entries)
        if columns.gold is not None and options.purpose is not Purpose.DOCUMENTS:
            gt = np.where(self.nothing(columns)[0][gt], NOTHING, gt)
        if at is not None:
            for entry in entries:
                entry.owner = at[entry.owner]
            similarity, score = _spread(similarity, score, at, len(gt))
        similarity, score, outcome = classify(similarity, score, self.threshold, gt, pred)
        account = ObjectAccount(self, columns, gt, pred, outcome, similarity, score)
        account.is_unfounded = is_unfounded
        if self.clip and options.purpose is Purpose.ACCOUNT:  # a document is not clipped
            _clip(account, self.match_threshold)
        if not options.pairing:
            account.parts, account.compared, account.entries = parts, at, entries
            if parts:
                account.names = self.in_order
            if parts or entries:
                account.included = counted(self, account)
            account.undeclared = _undeclared(self, columns, gt, "gt")
            if options.extra_fields == "fa":
                account.extras = _extras(self, columns, said, pred)
        return account

    def _compared(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> list[FieldsPart]:
        """Account for all fields; of several that fail, the first is told."""
        found: list[FieldsPart] = []
        failed: dict[int, ComparisonError] = {}
        for part, of_part in self._parts(columns):
            if failed and _first(part) >= min(failed):
                continue
            try:
                if isinstance(part, LeafBlock):
                    found.append(part.compare(of_part, gt, pred, options))
                else:
                    account = self.fields[part].node.compare(of_part, gt, pred, options)
                    found.append((part, account))
            except ComparisonError as error:
                # A block says of which leaf it tells.
                told = error if isinstance(part, LeafBlock) else error.below(self.in_order[part])
                told.__cause__ = error.__cause__
                failed[self.in_order.index(str(told.path[0]))] = told
        if failed:
            raise failed[min(failed)]
        return found

    def _parts(self, columns: Columns) -> Iterator[tuple[LeafBlock | int, Columns]]:
        """Yield what compares fields, with their columns."""
        for part in self.together:
            block = part if isinstance(part, LeafBlock) else None
            if block is not None and (whole := columns.fields(block.names)).scalar:
                yield block, whole
                continue
            # Else some are of other kinds than the declared one.
            for at in [part] if isinstance(part, int) else part.positions:
                yield at, columns.fields((self.in_order[at],))


def _first(part: LeafBlock | int) -> int:
    return part if isinstance(part, int) else part.positions[0]


def is_unseen(node: Node | None, value: JsonValue) -> bool:
    """Return whether everything in a value is ignored; a value for nothing is not."""
    if node is None:
        return False
    node = node.chosen(value)
    if isinstance(value, list):
        return all(is_absent(it) or is_unseen(node.below(at), it) for at, it in enumerate(value))
    return isinstance(value, dict) and isinstance(node, ObjectNode) and node.is_nothing(value)


def _means(
    node: ObjectNode,
    parts: Sequence[FieldsPart],
    entries: Sequence[EntryAccount],
    size: int,
    not_pairing: Sequence[int] = (),
) -> tuple[Floats, Floats]:
    """Return the weighted mean similarities of the fields that either side has, and mean scores.

    Both are 1.0 where neither side has a field. Fields at the positions `not_pairing` have no
    weight.
    """
    accounts = [part if isinstance(part, BlockAccount) else part[1] for part in parts]
    accounts += (entry.account for entry in entries)
    is_clipped = any(account.score is not account.similarity for account in accounts)
    rows = len(node.fields) if parts else 1
    sums = np.zeros((2 + is_clipped, rows, size))  # of weights, similarities, and scores
    for part in parts:
        index, account = (part.block.span, part) if isinstance(part, BlockAccount) else part
        sums[0, index] = (account.outcome < TN).reshape(-1, size) * account.worth
        sums[1, index] = account.similarity.reshape(-1, size)
        if is_clipped:
            sums[2, index] = account.score.reshape(-1, size)
    if not_pairing:
        sums[0, list(not_pairing)] = 0.0
    sums[1:] *= sums[0]
    # One after the other: `sum` adds rows of one pair in another order than those of several.
    weight: Floats
    weight, *totals = np.add.accumulate(sums, axis=1)[:, -1]
    for entry in entries:
        account = entry.account
        weights = np.broadcast_to(account.worth, len(account)) * (account.outcome < TN)
        weight += np.bincount(entry.owner, weights, size)
        totals[0] += np.bincount(entry.owner, weights * account.similarity, size)
        if is_clipped:
            totals[1] += np.bincount(entry.owner, weights * account.score, size)
    is_judged = weight > 0
    similarity, *scores = (
        np.divide(total, weight, out=np.ones(size), where=is_judged) for total in totals
    )
    return similarity, scores[0] if scores else similarity


def _clip(account: ObjectAccount, match_threshold: float) -> None:
    """Clip the scores of objects by their threshold, and as list items by their match-threshold."""
    similarity, score, outcome = account.similarity, account.score, account.outcome
    item_outcome = np.where(both_sides(outcome), met(similarity, match_threshold), outcome)
    account.score = clipped(score, outcome, clip=True)
    account.item_score = clipped(score, item_outcome, clip=True)


def _find_unfounded(
    columns: Columns,
    gt: Indexes,
    compared: Indexes,
    field_groups: Sequence[FieldsPart],
    entries: Sequence[EntryAccount],
) -> Mask | bool:
    """Find pairs of objects without a present field, of which the ground truth may be left out.

    `compared` are the positions of the pairs that were compared by fields.
    """
    if columns.gold is None:
        return False
    size = len(compared)
    has_fields = np.zeros(size, np.bool_)
    for group in field_groups:
        account = group if isinstance(group, BlockAccount) else group[1]
        has_fields |= (account.outcome < TN).reshape(-1, size).any(axis=0)
    for entry in entries:
        has_fields[entry.owner[entry.account.outcome < TN]] = True
    unfounded: Mask = columns.gold.lacks[gt]
    unfounded[compared] &= ~has_fields
    return unfounded


def _spread(
    similarity: Floats, score: Floats, positions: Indexes, size: int
) -> tuple[Floats, Floats]:
    """Return figures of some pairs as figures of all, 1.0 for pairs that were not compared."""
    similarities = np.ones(size)
    similarities[positions] = similarity
    if score is similarity:
        return similarities, similarities
    scores = np.ones(size)
    scores[positions] = score
    return similarities, scores


def counted(node: ObjectNode, account: ObjectAccount) -> Sequence[bool | Mask]:
    """Return whether the aggregate of its object includes each field, and say it of entries.

    One `true` among the fields makes them opt in; without one, `false` opts out. A field that is a
    union says what the arm in use says, and a key of a map has a say where it is present.
    """
    if node.included is not None and account.parts and not account.entries:
        return node.included
    says: list[bool | Outcomes | None] = []
    if account.parts:
        says += [entry.aggregate for entry in node.fields]
    for part in account.parts:
        if not isinstance(part, BlockAccount):
            entry = node.fields[part[0]]
            says[part[0]] = said(entry.node, entry.aggregate, part[1])
    says += [each.aggregate for each in account.entries]
    fields = len(says) - len(account.entries)
    found: list[bool | Mask]
    if all(entry.aggregate is not True for entry in account.entries) and not any(
        isinstance(say, np.ndarray) for say in says
    ):
        found = [*_included(says)]
    else:
        every = np.arange(len(account)) if account.compared is None else account.compared
        owners = [*repeat(every, fields), *(entry.owner for entry in account.entries)]
        stated = [
            np.broadcast_to(say if isinstance(say, np.ndarray) else SAYS[say], len(owner))
            for say, owner in zip(says, owners, strict=True)
        ]
        opts_in = np.zeros(len(account), np.bool_)
        for say, owner in zip(stated, owners, strict=True):
            opts_in[owner[say == SAYS[True]]] = True
        found = [
            np.where(opts_in[owner], say == SAYS[True], say != SAYS[False])
            for say, owner in zip(stated, owners, strict=True)
        ]
    for of, included in zip(account.entries, found[fields:], strict=True):
        of.counted = included
    return found[:fields]


def _included(says: Sequence[object]) -> Iterator[bool]:
    """Return whether each is included, of which all say True, False or nothing."""
    opt_in = any(say is True for say in says)
    return (say is True if opt_in else say is not False for say in says)


def said(node: Node, aggregate: bool | None, account: Account) -> bool | Outcomes | None:
    """Return a field's annotation of the aggregate; of a union, that of the arm in use."""
    return node.says(account) if isinstance(node, OneOfNode) else aggregate


def _undeclared(
    node: ObjectNode, columns: Columns, slots: Indexes, side: str
) -> dict[int, tuple[str, ...]]:
    """Return by position the keys of objects that have a value and no field."""
    declared = node.names

    def find() -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        values = getattr(columns, side)
        objects = (value for value in values if isinstance(value, dict))
        if declared.issuperset(chain.from_iterable(objects)):
            return found
        for slot, value in enumerate(values):
            if isinstance(value, dict) and not value.keys() <= declared:
                found[slot] = tuple(
                    name
                    for name, part in value.items()
                    if name not in declared and node.field_of(name) is None and not is_absent(part)
                )
        columns.place.charge(UNDECLARED * sum(map(len, found.values())))
        return {slot: names for slot, names in found.items() if names}

    known = columns.derived((id(node), side), find)  # once a column
    if not known:
        return {}
    return {position: known[slot] for position, slot in enumerate(slots.tolist()) if slot in known}


def _extras(
    node: ObjectNode, columns: Columns, gt: Indexes, pred: Indexes
) -> dict[int, tuple[str, ...]]:
    """Return by position the undeclared keys that only the prediction has."""
    extras: dict[int, tuple[str, ...]] = {}
    for position, names in _undeclared(node, columns, pred, "pred").items():
        slot = int(gt[position])
        value = columns.gt[slot] if slot >= 0 else None
        there = value if isinstance(value, dict) else {}
        known = columns.gold.of[slot] if columns.gold is not None and slot >= 0 else None
        extras[position] = tuple(
            name
            for name in names
            if is_absent(there.get(name))
            and ((said := part_of(known, name)) is None or not said.counts())
        )
    return {position: names for position, names in extras.items() if names}
