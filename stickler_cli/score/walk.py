"""The one walk through an account that all folds read: its pairs, place by place."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

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
from .visit import Below, FieldRows, Visit, singles, worth_at


class Walked(NamedTuple):
    """All that some documents were compared by."""

    visits: Sequence[Visit] = ()
    """Parents first: a field, then what is gone into of its objects, then their fields; a list,
    then the elements of all lists of its place, then what is in these. Leaves of objects that were
    compared together are one visit."""
    unlabelled: Sequence[Visit] = ()
    """Those that are passed over, as nobody has labelled their ground truths."""
    fields: Sequence[FieldRows] = ()
    """Of all of them, parents first; their rows follow each other."""


def visits(account: Account, at: Indexes) -> list[Visit]:
    """Return the visits of documents, which are pairs of an account, field by field."""
    return [*singles(walked(account, at).visits)]


def walked(account: Account, at: Indexes) -> Walked:
    """Walk through documents, which are pairs of an account."""
    documents = np.arange(len(at))
    root = FieldRows(_ROOT, 0, documents)
    walk = _Walk(root)
    walk.units(Visit(root, account, at, documents, None, None))
    return Walked(walk.found, walk.unlabelled, walk.met)


_ROOT: Final = ((),)
_PLAIN: Final = {bool}


class _Walk:
    def __init__(self, root: FieldRows) -> None:
        self.rows = len(root.documents)
        """How many rows all fields have so far."""
        self.found: list[Visit] = []
        self.unlabelled: list[Visit] = []
        self.met = [root]
        self.known: dict[tuple[int, Sequence[str], tuple[bool | None, ...]], Below] = {}
        """Declared fields, by the first row of the field around, names, and what is counted:
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
        below = self.declared(objects, account, at)
        for part in account.parts:
            if not isinstance(part, BlockAccount):
                self.field(objects, account, below, *part, at)
            elif not below.mixed.isdisjoint(part.block.positions):
                for row, of in enumerate(part.block.positions):
                    self.field(objects, account, below, of, part.field(row), at)
            else:
                self.block(objects, below, part, at)
        for entry in account.entries:
            self.entries(objects, account, entry)

    def field(  # noqa: PLR0913, PLR0917 - objects, and one of their fields
        self,
        objects: Visit,
        account: ObjectAccount,
        below: Below,
        order: int,
        one: Account,
        at: Indexes,
    ) -> None:
        """Visit one field of objects."""
        for counted, which in _by_say(account.included[order], at):
            field = below.field(order, counted=counted)
            rows = objects.rows + (field.start - objects.field.start)
            weight = worth_at(one.worth, at)
            part = rows, objects.live, objects.alone, objects, None, order, weight
            visit = Visit(field, one, at, *part)
            self.units(visit if which is None else visit.some(which, one, at[which]))

    def block(self, objects: Visit, below: Below, part: BlockAccount, at: Indexes) -> None:
        """Visit leaves that were compared together."""
        pairs, fields = part.block.of_pairs(len(at)), len(part.block.positions)
        of, around = pairs.pair, objects.field
        if len(below.rows) == 1:
            first = below.rows[0][1].start - around.start
            start = pairs.order * len(around.documents) + first
        else:
            starts = [below.field(it).start - around.start for it in part.block.positions]
            start = np.array(starts)[pairs.leaf]
        live = None if objects.live is None else objects.live[of]
        alone = None if objects.alone is None else objects.alone[of]
        at = at[of] + (len(part) // fields) * pairs.leaf
        told = objects.rows[of] + start, live, alone, objects, of, pairs.order, pairs.weight
        inside = Below(below.rows, {}, below.mixed)
        self.found.append(Visit(around, part, at, *told, None, inside))

    def declared(self, objects: Visit, account: ObjectAccount, at: Indexes) -> Below:
        """Return the declared fields of objects, with the rows of the field around them."""
        around = objects.field
        included: tuple[Any, ...] = (*account.included,)
        if {*map(type, included)} != _PLAIN:  # all of them are masks
            included = (*(_said(it, at) for it in included),)
        key = around.start, account.names, included
        found = self.known.get(key)
        if found is None:
            mixed, runs = _runs_below(around.path, account.names, included)
            self.known[key] = found = Below([], {}, mixed)
            # In schema order, whoever is compared first.
            for first, of_run, counted in runs:
                told = around, None, counted, objects.is_document
                rows = FieldRows(of_run, self.rows, around.documents, *told)
                found.rows.append((first, rows))
                self.met.append(rows)
                self.rows += len(around.documents) * len(of_run)
        return found

    def below(self, objects: Visit, name: str, up: Indexes, *, counted: bool) -> FieldRows:
        around, start, whole = objects.field, self.rows, objects.is_document
        documents = around.documents[up]
        self.rows += len(documents)
        paths = ((*around.path, name),)
        self.met.append(FieldRows(paths, start, documents, around, up, counted, whole))
        return self.met[-1]

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


def _said(counted: "Mask", at: Indexes) -> bool | None:
    """Return whether a field is counted; None where it is of some objects only."""
    says = {*counted[at].tolist()}
    return says.pop() if len(says) == 1 else None


@lru_cache(64)  # most chunks are of one schema
def _runs_below(
    path: tuple[str, ...], names: Sequence[str], included: tuple[bool | None, ...]
) -> tuple[frozenset[int], list[tuple[int, tuple[tuple[str, ...], ...], bool]]]:
    """Return which fields some objects count and others do not, and all in runs of one say.

    Of each the position of the first, the paths, and what is said: of the former both.
    """
    found = []
    for said, run in groupby(range(len(included)), included.__getitem__):
        of_run = [*run]
        paths = tuple((*path, names[at]) for at in of_run)
        found += [(of_run[0], paths, it) for it in ((True, False) if said is None else (said,))]
    return frozenset(at for at, it in enumerate(included) if it is None), found


def _by_say(counted: "bool | Mask", at: Indexes) -> Sequence[tuple[bool, Indexes | None]]:
    """Return whether fields are counted, and which of them; None for all."""
    if not isinstance(counted, np.ndarray):
        return ((counted, None),)
    each = ((say, np.flatnonzero(counted[at] == say)) for say in (True, False))
    return [(say, which) for say, which in each if len(which)]
