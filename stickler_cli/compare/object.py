"""An object: named fields, each with a node of its own, scored by their weighted mean."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final

import numpy as np

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.problems import ComparisonError
from stickler_cli.core.values import dataclass
from .absence import is_absent
from .account import Account, EntryAccount, FieldAccount, ObjectAccount
from .columns import NOTHING, OBJECT, Columns, Indexes, Mask
from .one_of import SAYS, OneOfNode
from .outcomes import Floats, Outcomes, classified, clipped, scored
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsNode(Node):
    """What objects and maps share: they are compared field by field."""

    fields: tuple[Field, ...] = ()
    """Those that the schema names."""
    match_threshold: float = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two list items are the same one."""
    model_name: str = ""
    match_source: ThresholdSource = field(default="default", repr=False, compare=False)
    names: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(entry.name for entry in self.fields))

    @property
    def item_threshold(self) -> float:
        """The similarity at which two list items of this model are a match."""
        return self.match_threshold

    def named(self) -> Iterator[tuple[str, Node]]:
        """Return the fields; `ANY_KEY` stands for those that only documents name."""
        return ((entry.name, entry.node) for entry in self.fields)

    def declares(self, columns: Columns) -> tuple[Mask, Mask] | None:
        """Return which slots hold objects; None if all values do."""
        if columns.types <= _OBJECTS:
            return None
        gt_kinds, pred_kinds = columns.kinds
        return gt_kinds == OBJECT, pred_kinds == OBJECT

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
        (live,) = (np.maximum(gt, pred) >= 0).nonzero()
        at = None if len(live) == len(gt) else live
        some = (gt, pred) if at is None else (gt[at], pred[at])
        fields: list[FieldAccount] = []
        entries: tuple[EntryAccount, ...] = ()
        if len(live):
            fields = list(self._compared(columns, *some, at, inside))
            entries = self.of_entries(columns, *some, inside)
        similarity = _mean(fields, entries, len(live))
        if at is not None:
            for entry in entries:
                entry.owner = at[entry.owner]
            similarity, some_of = np.ones(len(gt)), similarity
            similarity[at] = some_of
        similarity = scored(similarity, gt, pred)
        outcome = classified(similarity, self.threshold, gt, pred)
        score = clipped(similarity, outcome, clip=self.clip)
        account = ObjectAccount(self, columns, gt, pred, outcome, similarity, score)
        if not options.pairing:
            counted(self, fields, entries, len(gt))
            account.fields, account.entries = tuple(fields), entries
            account.undeclared = _undeclared(self, columns, gt, "gt")
            if options.extra_fields == "fa":
                account.extras = _extras(self, columns, gt, pred)
        return account

    def _compared(
        self, columns: Columns, gt: Indexes, pred: Indexes, at: Indexes | None, options: Options
    ) -> Iterator[FieldAccount]:
        for entry in self.fields:
            try:
                account = entry.node.compare(columns.field(entry.name), gt, pred, options)
            except ComparisonError as error:
                raise error.below(entry.name) from error.__cause__
            yield FieldAccount(entry.name, at, account)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNode(FieldsNode):
    """An object with declared fields."""

    @property
    def columnar(self) -> bool:
        """Whether to compare all pairs costs little beside a call for each."""
        return all(entry.node.columnar for entry in self.fields)

    @property
    def nested(self) -> bool:
        """Whether to compare two values may mean to pair what is in them."""
        return any(entry.node.nested for entry in self.fields)


def _mean(fields: Sequence[FieldAccount], entries: Sequence[EntryAccount], size: int) -> Floats:
    """Return the weighted means of the fields that either side has; 1.0 where there are none."""
    total, worth = np.zeros((2, size))
    for part in fields:
        account, weight = part.account, part.account.worth
        absent = account.outcome == TN
        if np.count_nonzero(absent):
            weight = np.where(absent, 0.0, weight)
        total += weight * account.score
        worth += weight
    for entry in entries:
        weights = np.broadcast_to(entry.account.worth, len(entry.owner))
        total += np.bincount(entry.owner, weights * entry.account.score, size)
        worth += np.bincount(entry.owner, weights, size)
    if np.count_nonzero(worth) == size:
        return total / worth
    return np.divide(total, worth, out=np.ones(size), where=worth > 0)


def counted(
    node: FieldsNode, fields: Sequence[FieldAccount], entries: Sequence[EntryAccount], size: int
) -> None:
    """Say of each field whether the aggregate of its object includes it.

    One `true` among the fields makes them opt in; without one, `false` opts out. A field that is a
    union says what the arm in use says, and a key of a map has a say where it is present.
    """
    parts: list[FieldAccount | EntryAccount] = [*fields, *entries]
    says = [
        *(
            said(of.node, of.aggregate, it.account)
            for of, it in zip(node.fields, fields, strict=False)
        ),
        *(entry.aggregate for entry in entries),
    ]
    if all(entry.aggregate is not True for entry in entries) and not any(
        isinstance(say, np.ndarray) for say in says
    ):
        opt_in = any(say is True for say in says)
        for part, say in zip(parts, says, strict=True):
            part.counted = say is True if opt_in else say is not False
        return
    every = np.arange(size) if not fields or fields[0].at is None else fields[0].at
    owners = [*(every for _ in fields), *(entry.owner for entry in entries)]
    stated = [
        np.broadcast_to(say if isinstance(say, np.ndarray) else SAYS[say], len(owner))
        for say, owner in zip(says, owners, strict=True)
    ]
    opts_in = np.zeros(size, np.bool_)
    for say, owner in zip(stated, owners, strict=True):
        opts_in[owner[say == SAYS[True]]] = True
    for part, say, owner in zip(parts, stated, owners, strict=True):
        part.counted = np.where(opts_in[owner], say == SAYS[True], say != SAYS[False])


def said(node: Node, aggregate: bool | None, account: Account) -> bool | Outcomes | None:
    """Return what a field says of the aggregate; of a union, what the arm in use says."""
    return node.says(account) if isinstance(node, OneOfNode) else aggregate


def _undeclared(
    node: FieldsNode, columns: Columns, slots: Indexes, side: str
) -> dict[int, tuple[str, ...]]:
    """Return by position the keys of objects that have a value and no field."""
    declared = node.names

    def find() -> dict[int, tuple[str, ...]]:
        found = {}
        for slot, value in enumerate(getattr(columns, side)):
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
    extras = {}
    for position, names in _undeclared(node, columns, pred, "pred").items():
        value, _ = columns.values(int(gt[position]), NOTHING)
        there = value if isinstance(value, dict) else {}
        extras[position] = tuple(name for name in names if is_absent(there.get(name)))
    return {position: names for position, names in extras.items() if names}
