"""The one walk through an account that all folds read: its pairs, place by place."""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.compare.account import (
    Account,
    EntryAccount,
    ListAccount,
    MismatchAccount,
    ObjectAccount,
    SplitAccount,
    Units,
    children,
    local_positions,
)
from stickler_cli.compare.columns import ANY_KEY, NOTHING, Indexes, Mask, distinct
from stickler_cli.compare.outcomes import Floats, Outcomes, both_sides
from stickler_cli.compare.result import BOTH_SIDES, TN, TP, Outcome
from stickler_cli.core.locations import Path

Weight: TypeAlias = "float | Floats"  # what a field is worth: one number, or one for each pair
Order: TypeAlias = tuple[int, ...]  # of the pairs of a document: in schema order, parents first


class FieldRows(NamedTuple):
    """A field as the walk meets it, with a row for each document that may have it."""

    path: tuple[str, ...]
    """Names, without list indexes."""
    start: int
    """The position of its first row among those of all fields."""
    documents: Indexes
    """The document of each row."""
    fields: "dict[tuple[str, bool], FieldRows]"
    """The declared ones, by name and whether they are counted."""
    around: "FieldRows | None" = None
    up: Indexes | None = None
    """Which row of the field around it each row is in; None where it has the same."""
    counted: bool = True
    """Whether `aggregate` and `leaves` of the field around it include it."""

    @property
    def in_document(self) -> bool:
        """Whether those of the whole document do."""
        return self.counted and (self.around is None or self.around.in_document)


class Inside(NamedTuple):
    """What failed as a whole, so that nothing in it is judged: a list item, or what one side lacks.

    Of several in each other, the innermost that both sides have, else the outermost of the others.
    """

    order: Order
    """Tells it from all others of its document."""
    path: Path
    """Where it is: in the prediction if only that has it, else in the ground truth."""
    one_sided: bool
    """Whether all values in it are missed or invented."""


class Visit(NamedTuple):
    """Pairs of one place: values of a field, elements of lists, or what is gone into of these."""

    field: FieldRows
    account: Account
    """Of the pairs, and maybe of others; never a `SplitAccount`."""
    at: Indexes
    """The positions of the pairs in the account, (n,)."""
    rows: Indexes
    """The row of the field that each counts in, among those of all fields, (n,)."""
    live: Mask | None
    """Which pairs are judged, being behind no gate that is shut, (n,); None for all."""
    alone: Mask | None
    """Which pairs are in an object or list item that one side lacks, (n,); None for none."""
    around: "Visit | None" = None
    """None for documents."""
    of: Indexes | None = None
    """Which pair around it each is in, (n,); None where they are the same."""
    order: Any = None
    """The place among the parts of the pair around it, an int or (n,); of elements, which of the
    units each is; None of what is gone into."""
    weight: Weight = 1.0
    """What its field is worth in its object."""
    units: Units | None = None
    """Of elements, the units of their lists."""

    @property
    def pattern(self) -> tuple[str, ...]:
        """The path of its field without list indexes; `*` for a key that only documents name."""
        names: list[str] = []
        visit: Visit | None = self
        while visit is not None:
            if visit.order is not None and visit.units is None and not visit.is_side:
                names.append(visit.field.path[-1] if isinstance(visit.order, int) else ANY_KEY)
            visit = visit.around
        return tuple(reversed(names))

    @property
    def is_side(self) -> bool:
        """Whether it is one side of values of different kinds, at their place."""
        return self.around is not None and isinstance(self.around.account, MismatchAccount)

    @property
    def listed(self) -> bool:
        """Whether it is in a list."""
        return self.units is not None or (self.around is not None and self.around.listed)

    @property
    def outcome(self) -> Outcomes:
        """The class of each pair as one unit."""
        of_all = self.account.outcome if self.units is None else self.units.outcome
        return of_all[self.at if self.units is None else self.order]

    @property
    def documents(self) -> Indexes:
        """The document of each pair."""
        return self.field.documents[self.rows - self.field.start]

    @property
    def closed(self) -> Mask:
        """Which pairs of objects or lists are wrong as a whole, and nothing in them judged."""
        if self.units is not None:
            wrong: Mask = self.outcome != TP
            return wrong
        if isinstance(self.account, MismatchAccount):
            return np.ones(len(self.at), np.bool_)
        is_list = isinstance(self.account, ListAccount)
        return np.zeros(len(self.at), np.bool_) if is_list else ~both_sides(self.outcome)

    @property
    def alone_inside(self) -> Mask:
        """Of each pair, whether what is in it is in an object or list item that one side lacks."""
        lacking = self.closed & ~both_sides(self.outcome)
        return lacking if self.alone is None else lacking | self.alone

    @property
    def similarity(self) -> Floats:
        """The similarity of each pair as its threshold judges it."""
        of_all = self.account.similarity if self.units is None else self.account.reported
        return of_all[self.at]

    def some(self, which: Indexes, account: Account, at: Indexes) -> "Visit":
        """Return some of the pairs, by their positions in an account of their own."""
        live = None if self.live is None else self.live[which]
        alone = None if self.alone is None else self.alone[which]
        of = which if self.of is None else self.of[which]
        order = self.order[which] if isinstance(self.order, np.ndarray) else self.order
        part = self.rows[which], live, alone, self.around, of, order
        return Visit(self.field, account, at, *part, _at(self.weight, which), self.units)

    def place(self, pair: int) -> "Place":
        """Return where a pair is."""
        visits_to = [(self, pair)]
        for visit, at in visits_to:
            owner = at if visit.of is None else int(visit.of[at])
            if visit.around is not None:
                visits_to.append((visit.around, owner))
        order: list[int] = []
        gt: Path | None = ()
        pred: Path | None = ()
        inside: Inside | None = None
        judged = self.live is None or bool(self.live[pair])
        for visit, at in reversed(visits_to):
            if visit.order is not None:
                order.append(int(visit.order if isinstance(visit.order, int) else visit.order[at]))
                gt, pred = visit.paths(at, gt, pred)
                if not judged and visit is not self and not (inside and inside.one_sided):
                    inside = visit.shut(at, tuple(order), gt, pred) or inside
        return Place(owner, tuple(order), gt, pred, inside)

    def shut(self, pair: int, order: Order, gt: Path | None, pred: Path | None) -> Inside | None:
        """Return a pair at some place as what others are inside of; None where it is judged."""
        if isinstance(self.account, MismatchAccount):
            return Inside(order, gt or (), one_sided=True)
        outcome = Outcome(int(self._outcome_of(pair)))
        if outcome in BOTH_SIDES:
            is_open = self.units is None or outcome is Outcome.TP
            return None if is_open else Inside(order, gt or (), one_sided=False)
        is_list = self.units is None and isinstance(self.account, ListAccount)
        path = pred if outcome is Outcome.FA else gt
        return None if is_list else Inside(order, path or (), one_sided=True)

    def _outcome_of(self, pair: int) -> Any:
        if self.units is None:
            return self.account.outcome[self.at[pair]]
        return self.units.outcome[self.order[pair]]

    def paths(
        self, pair: int, gt: Path | None, pred: Path | None
    ) -> tuple[Path | None, Path | None]:
        """Return the paths of a pair, of those of the pair around it."""
        if self.units is not None:
            element = self.order[pair]
            at, other = int(self.units.gt_place[element]), int(self.units.pred_place[element])
            return (
                None if gt is None or at == NOTHING else (*gt, at),
                None if pred is None or other == NOTHING else (*pred, other),
            )
        if self.is_side:
            return gt, pred
        name = self.field.path[-1]
        return None if gt is None else (*gt, name), None if pred is None else (*pred, name)


class Place(NamedTuple):
    """Where a pair is."""

    document: int
    order: Order
    gt_path: Path | None
    """Where the ground truth is, or would be; None in an invented list element."""
    pred_path: Path | None
    """Where the prediction is, or would be; None in a missed list element."""
    inside: Inside | None
    """None where the pair is judged."""


def visits(account: Account, at: Indexes) -> list[Visit]:
    """Return all that documents, which are pairs of an account, were compared by.

    Parents come first: a field, then what is gone into of its objects, then their fields; a list,
    then the elements of all lists of its place, then what is in these.
    """
    documents = np.arange(len(at))
    walk = _Walk(len(at))
    walk.units(Visit(FieldRows((), 0, documents, {}), account, at, documents, None, None))
    return walk.found


class _Walk:
    def __init__(self, documents: int) -> None:
        self.rows = documents
        """How many rows all fields have so far."""
        self.found: list[Visit] = []

    def units(self, visit: Visit) -> None:
        """Visit the pairs of a field or of elements, and what is inside them."""
        account = visit.account
        if isinstance(account, SplitAccount):
            for part, which, inner in account.parts_at(visit.at):
                self.units(visit.some(which, part.account, inner))
            return
        if visit.around is None:  # documents are no units
            if isinstance(account, ObjectAccount) and len(visit.at):
                self.fields(visit, account)
            return
        self.found.append(visit)
        if isinstance(account, ObjectAccount | ListAccount):
            self.inside(visit, account)
        elif isinstance(account, MismatchAccount):
            shut = np.zeros(len(visit.at), np.bool_)
            for side in (account.missed, account.invented):
                if side is not None:
                    of_it = visit.at, visit.rows, shut, ~shut, visit
                    self.units(Visit(visit.field, side, *of_it, None, 0))

    def inside(self, visit: Visit, account: ObjectAccount | ListAccount) -> None:
        """Go into objects and lists, as far as a side has them."""
        (which,) = (visit.outcome != TN).nonzero()
        if not len(which):
            return
        is_open = ~visit.closed
        judged = (is_open if visit.live is None else is_open & visit.live)[which]
        live = None if judged.all() else judged
        alone = None if live is None else visit.alone_inside[which]
        part = visit.rows[which], live, alone, visit, which, None, _at(visit.weight, which)
        inner = Visit(visit.field, account, visit.at[which], *part)
        if isinstance(account, ObjectAccount):
            self.fields(inner, account)
        elif account.units is not None:
            self.elements(inner, account.units)

    def elements(self, lists: Visit, units: Units) -> None:
        self.found.append(lists)
        element, of = children(units.owner, lists.at, len(lists.account))
        if len(element):
            live = None if lists.live is None else lists.live[of]
            alone = None if lists.alone is None else lists.alone[of]
            weight = _at(lists.weight, of)
            part = lists.rows[of], live, alone, lists, of, element, weight, units
            self.units(Visit(lists.field, units.account, element, *part))

    def fields(self, objects: Visit, account: ObjectAccount) -> None:
        self.found.append(objects)
        compared: Indexes | None = None
        at = objects.at
        for order, one in enumerate(account.fields):
            if one.at is not None and one.at is not compared:  # all fields have the same
                compared, at = one.at, local_positions(one.at, len(account))[objects.at]
            for counted, which in _by_say(one.counted, at):
                below = self.declared(objects.field, one.name, counted=counted)
                rows = objects.rows + (below.start - objects.field.start)
                weight = _at(one.account.worth, at)
                part = rows, objects.live, objects.alone, objects, None, order, weight
                visit = Visit(below, one.account, at, *part)
                self.units(visit if which is None else visit.some(which, one.account, at[which]))
        for entry in account.entries:
            self.entries(objects, account, entry)

    def declared(self, around: FieldRows, name: str, *, counted: bool) -> FieldRows:
        """Return a declared field, with the rows of the field around it."""
        if (name, counted) not in around.fields:
            around.fields[name, counted] = self.below(around, name, None, counted=counted)
        return around.fields[name, counted]

    def below(
        self, around: FieldRows, name: str, up: Indexes | None, *, counted: bool
    ) -> FieldRows:
        documents = around.documents if up is None else around.documents[up]
        start = self.rows
        self.rows += len(documents)
        return FieldRows((*around.path, name), start, documents, {}, around, up, counted)

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
                below = self.below(objects.field, entry.names[key], up, counted=counted)
                order = len(account.fields) + entry.order[at]
                live = None if objects.live is None else objects.live[of]
                alone = None if objects.alone is None else objects.alone[of]
                own = np.searchsorted(up, rows) + below.start
                part = own, live, alone, objects, of, order, _at(entry.account.worth, at)
                self.units(Visit(below, entry.account, at, *part))


def _by_say(counted: "bool | Mask", at: Indexes) -> Iterator[tuple[bool, Indexes | None]]:
    """Return whether fields are counted, and which of them; None for all."""
    if not isinstance(counted, np.ndarray):
        yield counted, None
        return
    for say in (True, False):
        which = np.flatnonzero(counted[at] == say)
        if len(which):
            yield say, which


def _at(weight: Weight, at: Indexes) -> Weight:
    return weight[at] if isinstance(weight, np.ndarray) else weight
