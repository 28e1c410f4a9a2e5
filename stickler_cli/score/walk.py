"""The one walk through an account that all folds read: its pairs, place by place."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from stickler_cli.compare.account import (
    Account,
    BlockAccount,
    EntryAccount,
    ListAccount,
    MismatchAccount,
    ObjectAccount,
    Part,
    SplitAccount,
    Units,
    UnlabelledAccount,
    children,
    local_positions,
)
from stickler_cli.compare.columns import Indexes, Mask, distinct
from stickler_cli.compare.result import TN
from .visit import FieldRows, Visit, singles, worth_at


def visits(account: Account, at: Indexes) -> list[Visit]:
    """Return all that documents, which are pairs of an account, were compared by, field by field.

    Parents come first: a field, then what is gone into of its objects, then their fields; a list,
    then the elements of all lists of its place, then what is in these.
    """
    return [*singles(walked(account, at)[0])]


def walked(account: Account, at: Indexes) -> tuple[list[Visit], list[Visit]]:
    """Return the same, leaves of objects that were compared together as one visit.

    Beside them, those that are passed over, as nobody has labelled their ground truths.
    """
    documents = np.arange(len(at))
    walk = _Walk(len(at))
    walk.units(Visit(FieldRows((), 0, documents), account, at, documents, None, None))
    return walk.found, walk.unlabelled


class _Walk:
    def __init__(self, documents: int) -> None:
        self.rows = documents
        """How many rows all fields have so far."""
        self.found: list[Visit] = []
        self.unlabelled: list[Visit] = []
        self.declared_of: dict[tuple[int, str, bool], FieldRows] = {}
        """Declared fields, by the first row of the field around, name, and whether it is counted:
        fields that knew those inside would be cycles, with all their arrays."""

    def units(self, visit: Visit) -> None:
        """Visit the pairs of a field or of elements, and what is inside them."""
        account = visit.account
        if isinstance(account, SplitAccount):
            self.parts(visit, account)
            return
        if isinstance(account, UnlabelledAccount):
            self.unlabelled.append(visit)
            return
        if not visit.is_document:  # which is no unit
            self.found.append(visit)
        if isinstance(account, ObjectAccount | ListAccount):
            go = self.go_into if visit.is_document else self.inside
            go(visit, account)
        elif isinstance(account, MismatchAccount):
            shut = np.zeros(len(visit.at), np.bool_)
            for side in (account.missed, account.invented):
                of_it = visit.at, visit.rows, shut, ~shut, visit
                self.units(Visit(visit.field, side, *of_it, None, 0))

    def parts(self, visit: Visit, account: SplitAccount) -> None:
        """Visit pairs that different nodes compared, or documents of several schemas."""
        if any(part.step for part in account.parts):
            self.found.append(visit)
        for part, which, inner in account.parts_at(visit.at):
            if part.step:
                self.units(self.of_schema(visit, part, which, inner))
            else:
                self.units(visit.some(which, part.account, inner))

    def of_schema(self, visit: Visit, part: Part, which: Indexes, inner: Indexes) -> Visit:
        """Return documents of one of several schemas, which are below its name."""
        field = self.below(visit, part.step, which, counted=True)
        rows = field.start + np.arange(len(which))
        name = Visit(field, visit.account, visit.at[which], rows, None, None, None, which, 0)
        return Visit(field, part.account, inner, rows, None, None, name)

    def inside(self, visit: Visit, account: ObjectAccount | ListAccount) -> None:
        """Go into objects and lists, as far as a side has them."""
        (which,) = (visit.outcome != TN).nonzero()
        if not len(which):
            return
        is_open = ~visit.closed
        judged = (is_open if visit.live is None else is_open & visit.live)[which]
        live = None if judged.all() else judged
        alone = None if live is None else visit.alone_inside[which]
        part = visit.rows[which], live, alone, visit, which, None, worth_at(visit.weight, which)
        inner = Visit(visit.field, account, visit.at[which], *part)
        self.go_into(inner, account)

    def go_into(self, visit: Visit, account: ObjectAccount | ListAccount) -> None:
        if isinstance(account, ObjectAccount):
            self.fields(visit, account)
        else:
            self.elements(visit, account.units)

    def elements(self, lists: Visit, units: Units) -> None:
        self.found.append(lists)
        element, of = children(units.owner, lists.at, len(lists.account))
        if len(element):
            live = None if lists.live is None else lists.live[of]
            alone = None if lists.alone is None else lists.alone[of]
            weight = worth_at(lists.weight, of)
            part = lists.rows[of], live, alone, lists, of, element, weight, units
            self.units(Visit(lists.field, units.account, element, *part))

    def fields(self, objects: Visit, account: ObjectAccount) -> None:
        self.found.append(objects)
        at = objects.at
        if account.compared is not None:
            at = local_positions(account.compared, len(account))[at]
            if (at < 0).any():  # documents that nobody has labelled
                (there,) = (at >= 0).nonzero()
                objects, at = objects.some(there, account, objects.at[there]), at[there]
        if len(at):
            self.each_field(objects, account, at)

    def each_field(self, objects: Visit, account: ObjectAccount, at: Indexes) -> None:
        """Visit the fields of objects that were compared by fields."""
        whole = objects.is_document
        for name, included in zip(account.names, account.included, strict=True):
            # In schema order, whoever is compared first.
            for say, _ in _by_say(included, at) if included is not True else _IN:
                self.declared(objects.field, name, counted=say, whole=whole)
        for part in account.parts:
            if not isinstance(part, BlockAccount):
                self.field(objects, account, *part, at)
            elif any(isinstance(account.included[of], np.ndarray) for of in part.block.positions):
                for row, of in enumerate(part.block.positions):
                    self.field(objects, account, of, part.field(row), at)
            else:
                self.block(objects, account, part, at)
        for entry in account.entries:
            self.entries(objects, account, entry)

    def field(
        self, objects: Visit, account: ObjectAccount, order: int, one: Account, at: Indexes
    ) -> None:
        """Visit one field of objects."""
        for counted, which in _by_say(account.included[order], at):
            below = self.declared_of[objects.field.start, account.names[order], counted]
            rows = objects.rows + (below.start - objects.field.start)
            weight = worth_at(one.worth, at)
            part = rows, objects.live, objects.alone, objects, None, order, weight
            visit = Visit(below, one, at, *part)
            self.units(visit if which is None else visit.some(which, one, at[which]))

    def block(
        self, objects: Visit, account: ObjectAccount, part: BlockAccount, at: Indexes
    ) -> None:
        """Visit leaves that were compared together."""
        positions, pairs, start = part.block.positions, len(at), objects.field.start
        keys = [(start, account.names[of], account.included[of] is True) for of in positions]
        fields = (*map(self.declared_of.__getitem__, keys),)
        size, first = len(part) // len(fields), np.arange(len(fields))[:, None]
        at = (at + size * first).ravel()
        starts = np.array([[field.start - start] for field in fields])
        live, alone = (
            None if of is None else np.tile(of, len(fields)) for of in (objects.live, objects.alone)
        )
        of, order = np.arange(pairs * len(fields)) % pairs, np.array(positions).repeat(pairs)
        rows, weight = (objects.rows + starts).ravel(), part.block.weight.repeat(pairs)
        told = rows, live, alone, objects, of, order, weight, None, fields
        self.found.append(Visit(objects.field, part, at, *told))

    def declared(self, around: FieldRows, name: str, *, counted: bool, whole: bool) -> None:
        """Note a declared field, with the rows of the field around it."""
        key = around.start, name, counted
        if key not in self.declared_of:
            path, documents, start = (*around.path, name), around.documents, self.rows
            below = FieldRows(path, start, documents, around, None, counted, whole)
            self.declared_of[key] = below
            self.rows += len(documents)

    def below(self, objects: Visit, name: str, up: Indexes, *, counted: bool) -> FieldRows:
        around, start, whole = objects.field, self.rows, objects.is_document
        documents = around.documents[up]
        self.rows += len(documents)
        return FieldRows((*around.path, name), start, documents, around, up, counted, whole)

    def entries(self, objects: Visit, account: ObjectAccount, entry: EntryAccount) -> None:
        """Visit fields that only the documents name, each name by itself."""
        found, owners = children(entry.owner, objects.at, len(account))
        by_name: dict[int, list[int]] = {}
        for position, key in enumerate(entry.key[found].tolist()):
            by_name.setdefault(key, []).append(position)
        for key, positions in by_name.items():
            for counted, which in _by_say(entry.counted, found[positions]):
                some = positions if which is None else np.array(positions)[which]
                at, of = found[some], owners[some]
                rows = objects.rows[of] - objects.field.start
                up = distinct(rows)
                below = self.below(objects, entry.names[key], up, counted=counted)
                order = len(account.names) + entry.order[at]
                live = None if objects.live is None else objects.live[of]
                alone = None if objects.alone is None else objects.alone[of]
                own = np.searchsorted(up, rows) + below.start
                part = own, live, alone, objects, of, order, worth_at(entry.account.worth, at)
                self.units(Visit(below, entry.account, at, *part))


_IN: Final = ((True, None),)


def _by_say(counted: "bool | Mask", at: Indexes) -> Sequence[tuple[bool, Indexes | None]]:
    """Return whether fields are counted, and which of them; None for all."""
    if not isinstance(counted, np.ndarray):
        return ((counted, None),)
    each = ((say, np.flatnonzero(counted[at] == say)) for say in (True, False))
    return [(say, which) for say, which in each if len(which)]
