"""Single values that were right in one run and wrong in the other, or wrong in another way.

A module of its own because no figure depends on it: it is made of the errors of two runs, where
both know theirs.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from stickler_cli.core.values import dataclass
from stickler_cli.score.comparison_lines import Text
from stickler_cli.score.detail import Detail
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.ledger import Ledger
from stickler_cli.score.record import Run


class Move(StrEnum):
    """What became of a value."""

    BROKEN = "broken"
    """It was right and is wrong."""
    OTHERWISE = "still wrong"
    """It is wrong in another way than it was."""
    FIXED = "fixed"
    """It was wrong and is right."""


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A value that changed, in words of JSON."""

    document: str
    path: str
    """With the list indexes of the ground truth; of the prediction where only that has it."""
    move: Move
    gt: Text
    """None where only predictions have it."""
    before: Text
    """What was wrong in the first run; None where it was right, or there was none."""
    after: Text
    """Likewise in the second run."""


class _Place(NamedTuple):
    """Where a value is; what only a prediction has is at its place there, and no other value."""

    document: str
    path: str
    invented: bool


_Wrong: TypeAlias = dict[_Place, Error]


def changed_values(base: Run, new: Run) -> list[ChangedValue] | None:
    """Return the values that changed in documents that both runs compared, broken ones first.

    None where one of the runs does not know all of its errors.
    """
    if not (_knows(base.detail) and _knows(new.detail)):
        return None
    compared = _compared(base) & _compared(new)
    before, after = (_wrong(run, compared) for run in (base, new))
    found = []
    for place in dict.fromkeys([*before, *after]):
        old, now = before.get(place), after.get(place)
        known = old or now
        if known is None or (old and now and old.pred == now.pred):
            continue
        move = Move.FIXED if now is None else Move.BROKEN if old is None else Move.OTHERWISE
        sides = (side and side.pred for side in (old, now))
        found.append(ChangedValue(place.document, place.path, move, known.gt, *sides))
    order = list(Move)
    return sorted(found, key=lambda it: (order.index(it.move), it.document))


def _knows(detail: Detail | None) -> bool:
    return detail is not None and detail.knows_errors and detail.errors.complete


def _compared(run: Run) -> set[str]:
    ledger = run.evaluation.ledger or Ledger()
    return {it.id for it in ledger.documents() if it.score is not None}


def _wrong(run: Run, documents: Collection[str]) -> _Wrong:
    return {
        _Place(row.document, row.path, row.outcome == "FA"): row
        for row in (run.detail.errors.rows() if run.detail else ())
        if row.values is None and row.document in documents
    }
