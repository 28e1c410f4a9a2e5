"""Every unit that was judged, with both of its places: the fold behind non-matches and views."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.account import ListAccount, ObjectAccount
from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.result import BOTH_SIDES, ERRORS, TN, TP, Outcome
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from .walk import Order, Visit


class Unit(NamedTuple):
    """One compared unit, right or wrong: a leaf, a nested object, or a list element."""

    document: int
    order: Order
    gt_path: Path | None
    """Where the ground truth is, or would be; None for an invented list element."""
    pred_path: Path | None
    """Where the prediction is, or would be; None for a missed list element."""
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
    visit: Visit
    pair: int
    """Its position in the visit."""

    @property
    def path(self) -> Path:
        """Where it is: in the prediction for a false alarm, else in the ground truth."""
        path = self.pred_path if self.outcome is Outcome.FA else self.gt_path
        return path or ()

    @property
    def names(self) -> tuple[str, ...]:
        """The path of its field, or of an undeclared key, without list indexes."""
        names = self.visit.field.path
        return names if self.visit.order is not None else (*names, str(self.path[-1]))

    @property
    def broken_down(self) -> bool:
        """Whether the units inside it follow: it is a nested object that both sides have."""
        is_field = self.visit.units is None and self.visit.order is not None
        is_object = isinstance(self.visit.account, ObjectAccount)
        return is_field and is_object and self.outcome in BOTH_SIDES

    @property
    def differing(self) -> tuple[str, ...]:
        """The fields in which two list items differ, in schema order."""
        items = Comparison(self.visit.account, int(self.visit.at[self.pair]))
        if self.visit.units is None or items.shape != "object" or items.outcome not in BOTH_SIDES:
            return ()
        found = []
        for entry in items.fields:
            elements = entry.comparison.elements
            passed = all(element.outcome is Outcome.TP for element in elements)
            if not passed if elements else entry.comparison.outcome in ERRORS:
                found.append(entry.name)
        return (*found, *items.extras)

    @property
    def judge(self) -> str:
        """What a judge says of the pair; empty without one."""
        return self.visit.account.reasons.get(int(self.visit.at[self.pair]), "")


_IS_ERROR: Final = np.array([outcome in ERRORS for outcome in Outcome])
_LAST: Final = 1 << 40  # after all fields


def documents_units(
    visits: Iterable[Visit], documents: int, *, wrong_only: bool
) -> list[list[Unit]]:
    """Return the units of each document, in schema order, parents first.

    An item or object that one side lacks is one unit and carries the whole value; so is a pair of
    list items below its threshold.
    """
    found: list[list[Unit]] = [[] for _ in range(documents)]
    for visit in visits:
        for unit in _extras(visit) if visit.order is None else _units(visit, wrong_only=wrong_only):
            found[unit.document].append(unit)
    for units in found:
        units.sort(key=lambda unit: unit.order)
    return found


def _units(visit: Visit, *, wrong_only: bool) -> Iterator[Unit]:
    account, outcome = visit.account, visit.outcome
    shown = _IS_ERROR[outcome] if wrong_only else np.ones(len(outcome), np.bool_)
    if visit.live is not None:
        shown &= visit.live
    if isinstance(account, ListAccount) and visit.units is None:
        shown &= outcome == TN  # else its elements are the units
    elif isinstance(account, ObjectAccount | ListAccount) and visit.units is not None:
        shown &= outcome != TP  # else what is inside
    pairs = shown.nonzero()[0].tolist()
    similarity = visit.similarity if pairs else np.empty(0)
    for pair in pairs:
        position = int(visit.at[pair])
        threshold = account.node.threshold
        if visit.units is not None:
            threshold = visit.units.threshold[visit.order[pair]]
        weight = visit.weight[pair] if isinstance(visit.weight, np.ndarray) else visit.weight
        values = account.columns.values(int(account.gt[position]), int(account.pred[position]))
        judged = Outcome(int(outcome[pair])), *values
        figures = float(similarity[pair]), float(account.score[position])
        decided = float(threshold), float(weight)
        yield Unit(*visit.place(pair), *judged, *figures, *decided, visit, pair)


def _extras(visit: Visit) -> Iterator[Unit]:
    """Return the keys that only predictions have and the schema does not declare."""
    account = visit.account
    if not account.extras:
        return
    live = np.ones(len(visit.at), np.bool_) if visit.live is None else visit.live
    pairs = {int(visit.at[pair]): pair for pair in live.nonzero()[0].tolist()}
    for position in account.extras.keys() & pairs.keys():
        pair = pairs[position]
        value: Any = account.columns.pred[int(account.pred[position])]
        document, order, gt, pred = visit.place(pair)
        for after, name in enumerate(account.extras[position]):
            place = (*order, _LAST + after), (*(gt or ()), name), (*(pred or ()), name)
            figures = 0.0, 0.0, 0.0, 1.0
            yield Unit(document, *place, Outcome.FA, None, value[name], *figures, visit, pair)
