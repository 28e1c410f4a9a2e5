"""Objects and maps: fields, each with a node of its own, scored by their weighted mean."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import chain, repeat
from typing import Final

import numpy as np

from stickler_cli.core.gold import part_of
from stickler_cli.core.json_values import JsonValue, is_absent
from stickler_cli.core.locations import Step
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
    clipped,
    judged,
)
from .columns import ABSENT, NOTHING, OBJECT, Columns, Indexes, Mask
from .known import Known
from .leaf import LeafBlock, LeafNode, blocks_of
from .one_of import SAYS, OneOfNode
from .plan import Node, Options, Purpose
from .result import DEFAULT_MATCH_THRESHOLD, TN, ThresholdSource
from .work import UNDECLARED

_OBJECTS: Final = frozenset((dict, type(None)))


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object and the node for its values."""

    name: str
    node: Node
    aggregate: bool | None = None
    """The property's own say on the object's aggregate; None where it says nothing."""
    ignored: bool = False
    """Whether nobody looks at its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsNode(Node):
    """The part that objects and maps share: they are compared field by field."""

    fields: tuple[Field, ...] = ()
    """Those that the schema names."""
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two list items are the same one."""
    model_name: str = ""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    ignored: tuple[Field, ...] = ()
    """Those that nobody looks at."""
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    in_order: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """The names of the fields that are compared."""
    included: tuple[bool, ...] | None = field(init=False, compare=False, repr=False)
    """Whether the aggregate includes each of them, where that depends on no value."""
    together: tuple[LeafBlock | int, ...] = field(init=False, compare=False, repr=False)
    """All fields by what compares them: leaves in blocks, others by their positions."""

    def __post_init__(self) -> None:
        names = (entry.name for entry in (*self.fields, *self.ignored))
        object.__setattr__(self, "names", frozenset(names))
        object.__setattr__(self, "in_order", tuple(entry.name for entry in self.fields))
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

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        return ((entry.name, entry.node) for entry in self.fields)

    def ignores(self, name: str) -> bool:
        """Return whether nobody looks at the values of a key."""
        return any(entry.name == name for entry in self.ignored)

    def is_nothing(self, value: JsonValue) -> bool:
        """Return whether nobody looks at any of the values in an object."""
        return isinstance(value, dict) and all(
            is_absent(part) or self.ignores(name) or self._hides(name, part)
            for name, part in value.items()
        )

    def _hides(self, step: Step, value: JsonValue) -> bool:
        node = self.below(step)
        return node is not None and _is_unseen(node, value)

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
        """Return the node of a field; None where it has none."""
        return next((entry.node for entry in self.fields if entry.name == step), None)

    def source_for(self, element: JsonValue) -> ThresholdSource:
        """Return who said the threshold for list items of this model."""
        return self.match_source

    def of_entries(
        self, columns: Columns, gt: Indexes, pred: Indexes, options: Options
    ) -> tuple[EntryAccount, ...]:
        """Account for the fields that only the documents name."""
        return ()

    def has_field(self, name: str) -> bool:
        """Return whether a key is a field."""
        return name in self.names

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
        similarity, said = _mean(self, parts, entries, len(live)), gt
        if columns.gold is not None and options.purpose is not Purpose.DOCUMENTS:
            gt = np.where(self.nothing(columns)[0][gt], NOTHING, gt)
        if at is not None:
            for entry in entries:
                entry.owner = at[entry.owner]
            similarity, some_of = np.ones(len(gt)), similarity
            similarity[at] = some_of
        similarity, outcome = judged(similarity, self.threshold, gt, pred)
        score = clipped(similarity, outcome, clip=self.clip)
        account = ObjectAccount(self, columns, gt, pred, outcome, similarity, score)
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


def _is_unseen(node: Node, value: JsonValue) -> bool:
    """Return whether nobody looks at anything in a value; values for nothing do not reach up."""
    node = node.chosen(value)
    if isinstance(value, list):
        inside = ((node.below(at), it) for at, it in enumerate(value))
        return all(is_absent(it) or (of is not None and _is_unseen(of, it)) for of, it in inside)
    return isinstance(value, dict) and isinstance(node, FieldsNode) and node.is_nothing(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNode(FieldsNode):
    """An object with declared fields."""

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs costs little beside a call for each."""
        return all(entry.node.columnar for entry in self.fields)

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair their elements."""
        return any(entry.node.nested for entry in self.fields)


def _mean(
    node: FieldsNode, parts: Sequence[FieldsPart], entries: Sequence[EntryAccount], size: int
) -> Floats:
    """Return the weighted means of the fields that either side has; 1.0 where there are none."""
    scores, weights = both = np.zeros((2, len(node.fields) if parts else 1, size))
    for part in parts:
        at, of = (part.block.span, part) if isinstance(part, BlockAccount) else part
        scores[at] = of.score.reshape(-1, size)
        weights[at] = (of.outcome < TN).reshape(-1, size) * of.worth
    scores *= weights
    # One after the other: `sum` adds rows of one pair in another order than those of several.
    total: Floats
    worth: Floats
    total, worth = np.add.accumulate(both, axis=1)[:, -1]
    for entry in entries:
        there = entry.account.outcome < TN
        weights = np.broadcast_to(entry.account.worth, len(there)) * there
        total += np.bincount(entry.owner, weights * entry.account.score, size)
        worth += np.bincount(entry.owner, weights, size)
    if np.count_nonzero(worth) == size:
        return np.divide(total, worth)
    return np.divide(total, worth, out=np.ones(size), where=worth > 0)


def counted(node: FieldsNode, account: ObjectAccount) -> Sequence[bool | Mask]:
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
    node: FieldsNode, columns: Columns, slots: Indexes, side: str
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
                    if name not in declared and not node.has_field(name) and not is_absent(part)
                )
        columns.place.charge(UNDECLARED * sum(map(len, found.values())))
        return {slot: names for slot, names in found.items() if names}

    known = columns.derived((id(node), side), find)  # once a column
    if not known:
        return {}
    return {position: known[slot] for position, slot in enumerate(slots.tolist()) if slot in known}


def _extras(
    node: FieldsNode, columns: Columns, gt: Indexes, pred: Indexes
) -> dict[int, tuple[str, ...]]:
    """Return by position the undeclared keys that only the prediction has."""
    extras: dict[int, tuple[str, ...]] = {}
    for position, names in _undeclared(node, columns, pred, "pred").items():
        value, _ = columns.values(int(gt[position]), NOTHING)
        there = value if isinstance(value, dict) else {}
        gold = columns.gold.of if columns.gold is not None and gt[position] >= 0 else None
        known = None if gold is None else gold[gt[position]]
        extras[position] = tuple(
            name
            for name in names
            if is_absent(there.get(name))
            and ((said := part_of(known, name)) is None or not said.counts())
        )
    return {position: names for position, names in extras.items() if names}
