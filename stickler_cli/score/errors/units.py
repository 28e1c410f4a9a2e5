"""Units that were judged, with both of their places, and the class of each that is wrong."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from stickler_cli.compare.account import BlockAccount, ListAccount, MismatchAccount, ObjectAccount
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.result import BOTH_SIDES, ERRORS, FA, FN, TN, TP, Outcome
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.score.visit import Inside, Order, Visit
from .error_classes import ErrorClass, Places, classify, origins


class Unit(NamedTuple):
    """One compared unit, right or wrong: a leaf, a nested object, or a list element."""

    document: int
    order: Order
    gt_path: Path | None
    """Where the ground truth is, or would be; None in an invented list element."""
    pred_path: Path | None
    """Where the prediction is, or would be; None in a missed list element."""
    inside: Inside | None
    """What failed as a whole around it; None where it is judged."""
    outcome: Outcome
    gt: JsonValue
    """None where it is absent, as the prediction."""
    pred: JsonValue
    similarity: float
    """As its threshold judges it, in [0, 1]."""
    score: float
    """After clipping, in [0, 1]."""
    threshold: float
    weight: float
    met: Visit
    """The visit that it was met in, perhaps of a block of leaves."""
    at: int
    """Its position there."""

    @property
    def visit(self) -> Visit:
        """The visit of its field."""
        return self.met.single(self._leaf)

    @property
    def pair(self) -> int:
        """Its position in the visit of its field."""
        return self.at % (len(self.met.at) // self.met.width)

    @property
    def _leaf(self) -> int:
        return self.at // (len(self.met.at) // self.met.width)

    @property
    def path(self) -> Path:
        """Where it is: in the prediction for a false alarm, else in the ground truth."""
        path = self.pred_path if self.outcome is Outcome.FA else self.gt_path
        return path or ()

    @property
    def names(self) -> tuple[str, ...]:
        """The path of its field, or of an undeclared key, without list indexes."""
        names, account = self.met.field.path, self.met.account
        if isinstance(account, BlockAccount):
            return (*names, account.block.names[self._leaf])
        return names if self.met.order is not None else (*names, str(self.path[-1]))

    @property
    def is_value(self) -> bool:
        """Whether it is a value: no object or list item of which several values are judged."""
        return are_values(self.met)

    @property
    def is_plain(self) -> bool:
        """Whether it is a wrong value that is simply missed or invented, as `plain` says."""
        if not self.is_value or self.outcome in BOTH_SIDES or self.met.order is None:
            return False
        if self.met.units is not None:
            return not self.is_moved
        alone = self.met.alone is not None and bool(self.met.alone[self.at])
        return alone or self.outcome is Outcome.FN

    @property
    def is_moved(self) -> bool:
        """Whether it is a list element that has a pair at another place of an ordered list."""
        units, order = self.met.units, self.met.order
        if units is None or units.moved is None or not isinstance(order, np.ndarray):
            return False
        return bool(units.moved[order[self.at]])

    @property
    def broken_down(self) -> bool:
        """Whether the units inside it follow: it is a nested object that both sides have."""
        is_field = self.met.units is None and self.met.order is not None
        is_object = isinstance(self.met.account, ObjectAccount)
        return is_field and is_object and self.outcome in BOTH_SIDES

    @property
    def compared_fields(self) -> tuple[tuple[str, ...], int]:
        """The fields in which two list items differ, in schema order, and how many are right."""
        if self.met.units is None or not isinstance(self.met.account, ObjectAccount):
            return (), 0
        items = Comparison(self.met.account, int(self.met.at[self.at]))
        if items.outcome not in BOTH_SIDES:
            return (), 0
        differing, right = [], 0
        for name, outcomes in items.field_outcomes:
            if outcomes & ERRORS:
                differing.append(name)
            elif TP in outcomes:
                right += 1
        return (*differing, *items.extras), right

    @property
    def comparator(self) -> Any:
        """The comparator of a value; None of an object or a list."""
        node = self.met.account.node
        return node.comparator if isinstance(node, LeafNode) else None

    @property
    def judge(self) -> str:
        """The reason that a judge gave; empty without one."""
        return self.met.account.reasons.get(int(self.met.at[self.at]), "")


_WITH_VALUES: Final = (ObjectAccount, ListAccount, MismatchAccount)
_OUTCOMES: Final = tuple(Outcome)
_IS_ERROR: Final = np.array([outcome in ERRORS for outcome in Outcome])
_LAST: Final = 1 << 40  # after all fields


def are_values(visit: Visit) -> bool:
    """Return whether pairs are values, or undeclared keys, and not what several values are in."""
    return visit.order is None or not isinstance(visit.account, _WITH_VALUES)


def are_judged(visit: Visit) -> Mask:
    """Return which pairs are units, right or wrong, and not inside of what failed as a whole."""
    shown = np.ones(len(visit.at), np.bool_) if visit.live is None else visit.live.copy()
    outcome = visit.outcome
    if isinstance(visit.account, ListAccount) and visit.units is None:
        shown &= outcome == TN  # else its elements are the units
    elif isinstance(visit.account, ObjectAccount | ListAccount) and visit.units is not None:
        shown &= outcome != TP  # else what is inside
    return shown


def wrong(visit: Visit) -> Mask:
    """Return which pairs are units that are wrong.

    What failed as a whole is one unit and carries the whole value; the values in it, which `leaves`
    counts, are units inside it. What one side lacks has no other units inside than values.
    """
    if visit.order is None:
        return np.ones(len(visit.at), np.bool_)
    if isinstance(visit.account, ListAccount) and visit.units is None:
        return np.zeros(len(visit.at), np.bool_)
    shown = _IS_ERROR[visit.outcome]
    if visit.alone is not None and isinstance(visit.account, _WITH_VALUES):
        shown &= ~visit.alone
    return shown


def has_errors(visit: Visit) -> bool:
    """Return whether some of the pairs are wrong, or have undeclared keys that are."""
    if visit.order is None:
        extras = visit.account.extras
        return bool(extras) and any(at in extras for at in visit.at.tolist())
    return bool(np.count_nonzero(wrong(visit)))


def plain(visit: Visit) -> Mask:
    """Return which pairs are wrong values that are simply missed or invented.

    A field that is invented in an object that both sides have may be the value of another one.
    """
    outcome = visit.outcome
    if isinstance(visit.account, _WITH_VALUES):
        return np.zeros(len(outcome), np.bool_)
    if visit.units is not None:
        unpaired: Mask = (outcome == FN) | (outcome == FA)
        return unpaired if visit.units.moved is None else unpaired & ~visit.units.moved[visit.order]
    missed: Mask = outcome == FN
    return missed if visit.alone is None else missed | ((outcome == FA) & visit.alone)


def values_inside(visits: Sequence[Visit]) -> dict[int, Indexes]:
    """Return how many wrong values are inside of each pair that failed as a whole, by its visit.

    What is inside of a nearer one is not counted. The keys are the `id`s of the visits.
    """
    found = {id(visit): np.zeros(len(visit.at), np.intp) for visit in visits}
    for visit in reversed(visits):  # parents come first
        inside = passed_on = found[id(visit)]
        if visit.order is None:
            if extras := visit.account.extras:
                inside += [len(extras.get(at, ())) for at in visit.at.tolist()]
        elif isinstance(visit.account, _WITH_VALUES):
            shut = visit.closed
            if visit.alone is not None:
                shut &= ~visit.alone
            passed_on = np.where(shut, 0, inside)
            inside[~shut] = 0
        else:
            passed_on = wrong(visit).astype(np.intp)
        if visit.around is None or visit.is_document:
            continue
        if visit.of is None:
            found[id(visit.around)] += passed_on
        else:
            np.add.at(found[id(visit.around)], visit.of, passed_on)
    return found


def chosen_of(
    visits: Iterable[Visit], chosen: Callable[[Visit], Mask]
) -> Iterator[tuple[Visit, Mask]]:
    """Return the visits in which pairs are chosen, with these."""
    for visit in visits:
        if visit.order is None and not visit.account.extras:
            continue  # nothing to tell of what is gone into
        some = chosen(visit)
        if np.count_nonzero(some):
            yield visit, some


def documents_units(
    visits: Iterable[Visit], documents: int, chosen: Callable[[Visit], Mask]
) -> list[list[Unit]]:
    """Return the units of each document that are chosen, in schema order, parents first.

    Undeclared keys are chosen where the objects that they are in are.
    """
    found: list[list[Unit]] = [[] for _ in range(documents)]
    for visit, some in chosen_of(visits, chosen):
        for unit in (_extras if visit.order is None else _units)(visit, some):
            found[unit.document].append(unit)
    for units in found:
        units.sort(key=attrgetter("order"))
    return found


def _units(visit: Visit, chosen: Mask) -> Iterator[Unit]:
    (pairs,) = chosen.nonzero()
    account, at, weight = visit.account, visit.at[pairs], visit.weight
    threshold: Iterable[float] = account.thresholds(at.tolist())
    if visit.units is not None:
        threshold = visit.units.threshold[visit.order[pairs]].tolist()
    columns_of_units: tuple[Iterable[Any], ...] = (
        map(_OUTCOMES.__getitem__, visit.outcome[pairs].tolist()),
        *account.values_at(at.tolist()),
        account.similarity[at].tolist(),
        account.score[at].tolist(),
        threshold,
        weight[pairs].tolist() if isinstance(weight, np.ndarray) else repeat(float(weight)),
        repeat(visit),
        pairs.tolist(),
    )
    rows = zip(*columns_of_units, strict=False)
    for place, others in zip(visit.places(pairs), rows, strict=True):
        yield Unit(*place, *others)


def _extras(visit: Visit, chosen: Mask) -> Iterator[Unit]:
    """Return the keys that only predictions have and the schema does not declare."""
    account = visit.account
    pairs = {int(visit.at[pair]): pair for pair in chosen.nonzero()[0].tolist()}
    for position in account.extras.keys() & pairs.keys():
        pair = pairs[position]
        value: Any = account.columns.pred[int(account.pred[position])]
        document, order, gt, pred, inside = visit.place(pair)
        for after, name in enumerate(account.extras[position]):
            gt_path = None if gt is None else (*gt, name)
            place = (*order, _LAST + after), gt_path, (*(pred or ()), name), inside
            figures = 0.0, 0.0, 0.0, 1.0
            yield Unit(document, *place, Outcome.FA, None, value[name], *figures, visit, pair)


class Origin(NamedTuple):
    """The fields that wrong values of a field hold instead of its own."""

    field: tuple[str, ...]
    of: tuple[tuple[str, ...], ...]
    """One: the ground truth of another field, or of the same one of another item. Two: the product
    of both, as they are predicted."""


class WrongUnit(NamedTuple):
    """A unit that is wrong, and its error class."""

    unit: Unit
    error_class: ErrorClass
    differing: tuple[str, ...]
    """Of a pair of list items, the fields that differ."""
    values: int | None
    """How many wrong values are inside it; None of a value."""
    elsewhere: Path | None = None
    """Of a swapped value, the place whose ground truth it is."""

    @property
    def origins(self) -> Iterator[Origin]:
        """Yield the fields that it holds instead of its own."""
        names, gt, pred = self.unit.names, self.unit.gt, self.unit.pred
        if self.elsewhere is not None:
            yield Origin(names, (tuple(it for it in self.elsewhere if isinstance(it, str)),))
        elif self.differing and isinstance(gt, dict) and isinstance(pred, dict):
            for name, of in origins(gt, pred, self.differing):
                yield Origin((*names, name), tuple((*names, other) for other in of))

    @property
    def is_cause(self) -> bool:
        """Whether values were lost by itself, and not by a unit around or inside it."""
        if self.values is None:
            return self.unit.inside is None
        return bool(self.unit.met.closed[self.unit.at])


def classified(
    visits: Sequence[Visit], truths: Sequence[JsonValue], *, outermost: bool = False
) -> list[list[WrongUnit]]:
    """Return the wrong units of documents that are not `plain`, in schema order.

    Whose ground truths are given. A nested object below its threshold is one as well. The
    `outermost` are those inside of no other, plain ones too, and nothing is said of what is inside.
    """
    found = []
    nowhere, lost = Places(None), {} if outermost else values_inside(visits)

    def chosen(visit: Visit) -> Mask:
        if not outermost:
            return wrong(visit) & ~plain(visit)
        return wrong(visit) if visit.live is None else wrong(visit) & visit.live

    for truth, units in zip(truths, documents_units(visits, len(truths), chosen), strict=True):
        places = Places(truth)
        errors = []
        for unit in units:
            if outermost and unit.is_plain:
                errors.append(_plain_error(unit))
                continue
            # What is in an invented item has no place in the ground truth.
            known = nowhere if unit.gt_path is None else places
            error_class = classify(
                unit.outcome, unit.path, unit.gt, unit.pred, known, unit.comparator
            )
            if unit.is_moved:
                error_class = ErrorClass.MOVED
            differing, right = unit.compared_fields
            if error_class is ErrorClass.WRONG_ITEM and right >= len(differing) > 0:
                error_class = ErrorClass.ITEM_WITH_ERRORS
            known_values = None if outermost or unit.is_value else lost[id(unit.met)]
            values = None if known_values is None else int(known_values[unit.at])
            swapped = error_class is ErrorClass.SWAPPED
            elsewhere = known.elsewhere(unit.pred, unit.path) if swapped else None
            errors.append(WrongUnit(unit, error_class, differing, values, elsewhere))
        found.append(errors)
    return found


class PlainErrors(NamedTuple):
    """Values of a field that are simply missed or invented; often their number is enough."""

    visit: Visit
    error_class: ErrorClass
    pairs: Indexes
    """Their positions in the visit."""


class FoundErrors(Protocol):
    """The errors of some documents that were compared: a batch."""

    @property
    def plain_errors(self) -> list[PlainErrors]:
        """The errors that are plain, of all documents."""

    @property
    def compared_ids(self) -> Sequence[str]:
        """The ids of these documents."""

    def classified(self, some: Mask | None = None) -> Iterator[WrongUnit]:
        """Yield the errors that are not plain, of all documents or of some."""


def plain_errors(visits: Iterable[Visit]) -> list[PlainErrors]:
    """Return the errors of documents that are `plain`."""
    found = []
    for whole, chosen in chosen_of(visits, plain):
        by_field = chosen.reshape(whole.width, -1)
        (fields,) = np.logical_or.reduce(by_field, axis=1).nonzero()
        for visit, some in zip(map(whole.single, fields.tolist()), by_field[fields], strict=True):
            outcome = visit.outcome
            for one, error_class in _PLAIN[visit.units is not None].items():
                (pairs,) = (some & (outcome == one)).nonzero()
                found.append(PlainErrors(visit, error_class, pairs))
    return found


_PLAIN: Final = {
    False: {FN: ErrorClass.MISSED_VALUE, FA: ErrorClass.INVENTED_VALUE},
    True: {FN: ErrorClass.MISSED_ITEM, FA: ErrorClass.INVENTED_ITEM},
}
"""The classes of plain errors by their outcome, of fields and of list elements."""


def plain_units(visits: Iterable[Visit], documents: int) -> list[list[WrongUnit]]:
    """Return the errors of documents that are `plain` as units, in schema order."""
    return [[*map(_plain_error, units)] for units in documents_units(visits, documents, plain)]


def _plain_error(unit: Unit) -> WrongUnit:
    return WrongUnit(unit, _PLAIN[unit.met.units is not None][unit.outcome], (), None)
