"""Every unit that was compared, with both of its places: the fold behind non-matches and views."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from stickler_cli.compare.account import (
    Account,
    ListAccount,
    ObjectAccount,
    SplitAccount,
    Units,
    children,
)
from stickler_cli.compare.columns import NOTHING, Indexes, Mask
from stickler_cli.compare.comparison import owned
from stickler_cli.compare.outcomes import Floats, both_sides
from stickler_cli.compare.result import BOTH_SIDES, ERRORS, TN, TP, Outcome
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """One compared unit, right or wrong: a leaf, a nested object, or a list element."""

    gt_path: Path | None
    """Where the ground truth is, or would be; None for an invented list element."""
    pred_path: Path | None
    """Where the prediction is, or would be; None for a missed list element."""
    outcome: Outcome
    gt: JsonValue
    """None where it is absent."""
    pred: JsonValue
    """None where it is absent."""
    similarity: float
    """As its threshold judges it, in [0, 1]."""
    score: float
    """After clipping, in [0, 1]."""
    threshold: float
    weight: float
    """What its field is worth in its object."""
    broken_down: bool
    """Whether the units inside it follow; so it is with nested objects, not with atomic ones."""
    differing: tuple[str, ...] = ()
    """Of a pair of list items below its threshold, the fields that differ."""
    judge: str = ""
    """What a judge says of the pair; empty without one."""


Order: TypeAlias = tuple[int, ...]
"""Where a unit comes among those of its document: in schema order, parents first."""

Weight: TypeAlias = "float | Floats"
"""What a field is worth: one number, or one for each pair of an account."""

_IS_ERROR: Final = np.array([outcome in ERRORS for outcome in Outcome])
"""By outcome."""

_LAST: Final = 1 << 40
"""After all fields."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the pairs of an account are in those of the account around it."""

    around: "_Frame | None" = None
    """None for documents."""
    owner: Indexes | None = None
    """The pair around each pair; None where they are the same."""
    order: "int | Indexes | None" = None
    """The position among the parts of the pair around it; None where it is at the same place."""
    name: str = ""
    """Of a field."""
    names: Sequence[str] = ()
    keys: Indexes | None = None
    """Of fields that only the documents name, which of the names each has."""
    places: tuple[Indexes, Indexes] | None = None
    """Of elements of lists, their index in the ground truth and in the prediction."""

    def place(self, pair: int) -> tuple[int, Order, Path | None, Path | None]:
        """Return document, order and both paths of a pair."""
        if self.around is None:
            return pair, (), (), ()
        owner = pair if self.owner is None else int(self.owner[pair])
        document, order, gt, pred = self.around.place(owner)
        if self.order is None:
            return document, order, gt, pred
        order = (*order, self.order if isinstance(self.order, int) else int(self.order[pair]))
        gt, pred = gt or (), pred or ()
        if self.places is not None:
            at, other = int(self.places[0][pair]), int(self.places[1][pair])
            return (
                document,
                order,
                None if at == NOTHING else (*gt, at),
                None if other == NOTHING else (*pred, other),
            )
        name = self.name if self.keys is None else self.names[int(self.keys[pair])]
        return document, order, (*gt, name), (*pred, name)


@dataclass(slots=True)
class _Walk:
    """A walk through an account: the units it finds, by document and order."""

    wrong_only: bool
    found: list[tuple[int, Order, Unit]]

    def fields(self, account: Account, at: Indexes, frame: _Frame) -> None:
        """Find the units in objects."""
        if isinstance(account, SplitAccount):
            for part, _, inner in account.parts_at(at):
                self.fields(part.account, inner, _Frame(frame, part.at))
        if not isinstance(account, ObjectAccount) or not len(at):
            return
        for position, field in enumerate(account.fields):
            inner = field.positions(at)
            below = _Frame(frame, field.at, position, field.name)
            self.units(field.account, inner, below, field.account.worth)
        for entry in account.entries:
            inner, _ = children(entry.owner, at, len(account))
            order = len(account.fields) + entry.order
            below = _Frame(frame, entry.owner, order, names=entry.names, keys=entry.key)
            self.units(entry.account, inner, below, entry.account.worth)
        self.extras(account, at, frame)

    def extras(self, account: ObjectAccount, at: Indexes, frame: _Frame) -> None:
        """Find the keys that only predictions have and the schema does not declare."""
        if not account.extras:
            return
        shown = set(at.tolist())
        for pair, names in account.extras.items():
            if pair not in shown:
                continue
            document, order, gt, pred = frame.place(pair)
            value: Any = account.columns.pred[int(account.pred[pair])]
            for position, name in enumerate(names):
                places = (*(gt or ()), name), (*(pred or ()), name)
                figures = 0.0, 0.0, 0.0, 1.0
                unit = Unit(*places, Outcome.FA, None, value[name], *figures, broken_down=False)
                self.found.append((document, (*order, _LAST + position), unit))

    def units(self, account: Account, at: Indexes, frame: _Frame, weight: Weight) -> None:
        """Find the units of a field."""
        if isinstance(account, SplitAccount):
            for part, _, inner in account.parts_at(at):
                worth = _weight_at(weight, part.at)
                self.units(part.account, inner, _Frame(frame, part.at), worth)
            return
        outcome = account.outcome[at]
        if isinstance(account, ListAccount) and account.units is not None:
            self.elements(account.units, at[outcome != TN], len(account), frame, weight)
            at, outcome = at[outcome == TN], outcome[outcome == TN]
        for pair in at[self.chosen(outcome)].tolist():
            is_object = isinstance(account, ObjectAccount) and account.outcome[pair] in BOTH_SIDES
            similarity, threshold = account.similarity[pair], account.node.threshold
            figures = account.outcome[pair], similarity, threshold, _weight_at(weight, pair)
            self.add(account, pair, frame.place(pair), figures, broken_down=is_object)
        if isinstance(account, ObjectAccount):
            self.fields(account, at[both_sides(outcome)], frame)

    def add(  # noqa: PLR0913 - what a unit says
        self,
        account: Account,
        pair: int,
        place: tuple[int, Order, Path | None, Path | None],
        figures: tuple[Any, Any, Any, Any],
        *,
        broken_down: bool = False,
        names: tuple[str, ...] = (),
    ) -> None:
        """Add a unit; the figures are outcome, similarity, threshold and weight."""
        document, order, gt_path, pred_path = place
        outcome, similarity, threshold, weight = figures
        gt, pred = account.columns.values(int(account.gt[pair]), int(account.pred[pair]))
        unit = Unit(
            gt_path,
            pred_path,
            Outcome(int(outcome)),
            gt,
            pred,
            float(similarity),
            float(account.score[pair]),
            float(threshold),
            float(weight),
            broken_down,
            names,
            account.reasons.get(pair, ""),
        )
        self.found.append((document, order, unit))

    def chosen(self, outcome: Any) -> Mask:
        """Return which units are to be shown."""
        if not self.wrong_only:
            return np.ones(len(outcome), np.bool_)
        wrong: Mask = _IS_ERROR[outcome]
        return wrong

    def elements(
        self, units: Units, at: Indexes, lists: int, frame: _Frame, weight: Weight
    ) -> None:
        """Find the units of lists; only pairs that pass their gate are gone into."""
        if not len(at):
            return
        chosen, _ = children(units.owner, at, lists)
        order = np.arange(len(units.owner)) - np.searchsorted(units.owner, units.owner)
        below = _Frame(frame, units.owner, order, places=(units.gt_place, units.pred_place))
        weight = _weight_at(weight, units.owner)
        passed = units.outcome[chosen] == TP
        whole = self.inside(units.account, chosen[passed], below, weight)
        shown = np.concatenate([whole, chosen[~passed]])
        for pair in shown[self.chosen(units.outcome[shown])].tolist():
            account, inner = units.account.innermost(pair)
            figures = (
                units.outcome[pair],
                account.reported[inner],
                units.threshold[pair],
                _weight_at(weight, pair),
            )
            names = differing(account, inner)
            self.add(account, inner, below.place(pair), figures, names=names)

    def inside(self, account: Account, at: Indexes, frame: _Frame, weight: Weight) -> Indexes:
        """Find the units in elements that are objects or lists; return those that are neither."""
        if isinstance(account, SplitAccount):
            left = [np.empty(0, np.intp)]
            for part, _, inner in account.parts_at(at):
                worth = _weight_at(weight, part.at)
                rest = self.inside(part.account, inner, _Frame(frame, part.at), worth)
                left.append(part.at[rest])
            return np.concatenate(left)
        if isinstance(account, ObjectAccount):
            self.fields(account, at, frame)
        elif isinstance(account, ListAccount):
            self.units(account, at, frame, weight)
        else:
            return at
        return at[:0]


def documents_units(account: Account, at: Indexes, *, wrong_only: bool) -> list[list[Unit]]:
    """Return the units of each document, in schema order, parents first.

    An item or object that one side lacks is one unit and carries the whole value; so is a pair of
    list items below its threshold.

    Args:
        account: of the documents, and maybe of others.
        at: which of its pairs are the documents.
        wrong_only: whether to leave out what is right.
    """
    walk = _Walk(wrong_only, [])
    walk.fields(account, at, _Frame())
    walk.found.sort(key=lambda entry: entry[:2])
    by_pair: dict[int, list[Unit]] = {pair: [] for pair in at.tolist()}
    for pair, _, unit in walk.found:
        by_pair[pair].append(unit)
    return list(by_pair.values())


def differing(account: Account, pair: int) -> tuple[str, ...]:
    """Name the fields in which two objects differ, in schema order."""
    if not isinstance(account, ObjectAccount) or account.outcome[pair] not in BOTH_SIDES:
        return ()
    names = []
    for part in account.fields:
        at = pair if part.at is None else int(np.searchsorted(part.at, pair))
        if not _is_right(part.account, at):
            names.append(part.name)
    more = [
        (int(entry.order[at]), entry.names[int(entry.key[at])])
        for entry in account.entries
        for at in owned(entry.owner, pair)
        if not _is_right(entry.account, at)
    ]
    return (*names, *(name for _, name in sorted(more)), *account.extras.get(pair, ()))


def _is_right(account: Account, pair: int) -> bool:
    account, pair = account.innermost(pair)
    if isinstance(account, ListAccount) and account.units is not None:
        elements = owned(account.units.owner, pair)
        if elements:
            return all(account.units.outcome[at] == TP for at in elements)
    return int(account.outcome[pair]) not in ERRORS


def _weight_at(weight: Weight, at: Any) -> Any:
    return weight if isinstance(weight, float | int) else weight[at]
