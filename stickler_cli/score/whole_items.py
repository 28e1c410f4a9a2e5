"""How many list items and objects are right as a whole: paired, and without an error inside."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.account import (
    Account,
    ListAccount,
    MismatchAccount,
    ObjectAccount,
    SplitAccount,
    local_positions,
)
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.outcomes import both_sides
from stickler_cli.compare.result import TN, TP
from .field_counts import FieldCounts
from .visit import Visit

_OPENED: Final = ObjectAccount | ListAccount


def whole_items(visits: Sequence[Visit], counts: FieldCounts) -> NDArray[np.int64]:
    """Return of each row how many items are right as a whole, and how many there are, (2, rows).

    Items are the elements of a list, and an object where a side has it. In a list of lists they are
    its elements, the inner lists.
    """
    found = np.zeros((2, len(counts.documents)), np.int64)
    if not any(_items(visit).any() for visit in visits):
        return found
    spans = dict(counts.fields())
    below: dict[int, Mask] = {}
    for visit in reversed(visits):  # what is inside comes first
        wrong = _wrong(visit)
        if (inside := below.pop(id(visit), None)) is not None:
            wrong |= inside
        items = _items(visit)
        if items.any():
            outcome, span = visit.outcome, spans[visit.field.path]
            rows = np.searchsorted(counts.documents[span], visit.documents) + span.start
            there = items & (outcome != TN)
            np.add.at(found[0], rows[there & both_sides(outcome) & ~wrong], 1)
            np.add.at(found[1], rows[there], 1)
        if visit.around is not None:
            around = below.setdefault(id(visit.around), np.zeros(len(visit.around.at), np.bool_))
            around[wrong if visit.of is None else visit.of[wrong]] = True
    return found


def _items(visit: Visit) -> Mask:
    """Return which pairs of a visit are items or objects, or may have been."""
    if visit.order is None or visit.is_side:
        return np.zeros(len(visit.at), np.bool_)
    if visit.units is not None:
        around = visit.around and visit.around.around
        return np.full(len(visit.at), around is None or around.units is None)
    account = visit.account
    if isinstance(account, MismatchAccount):
        return _objects(account.missed, visit.at) | _objects(account.invented, visit.at)
    return np.full(len(visit.at), isinstance(account, ObjectAccount))


def _objects(account: Account, at: Indexes) -> Mask:
    """Return which pairs are compared as objects."""
    found = np.full(len(at), isinstance(account, ObjectAccount))
    if isinstance(account, SplitAccount):
        for part, which, inner in account.parts_at(at):
            found[which] = _objects(part.account, inner)
    return found


def _wrong(visit: Visit) -> Mask:
    """Return which pairs are wrong by themselves, whatever is inside them."""
    account = visit.account
    if visit.order is None:
        return _with_extra_keys(visit)
    if isinstance(account, MismatchAccount | SplitAccount):
        return np.full(len(visit.at), isinstance(account, MismatchAccount))
    outcome = visit.outcome
    if isinstance(account, _OPENED):
        one_sided: Mask = ~(both_sides(outcome) | (outcome == TN))
        return one_sided
    own = account.outcome[visit.at]  # of an element, as a value
    wrong: Mask = (own != TP) & (own != TN)
    return wrong


def _with_extra_keys(visit: Visit) -> Mask:
    found = np.zeros(len(visit.at), np.bool_)
    account = visit.account
    if isinstance(account, ObjectAccount) and account.extras:
        position: Indexes = local_positions(visit.at, len(account))
        at = position[[*account.extras]]
        found[at[at >= 0]] = True
    return found
