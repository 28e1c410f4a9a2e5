"""Which values were found for which, in fields that have only a few: what a page draws of them."""

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Final

import numpy as np

from stickler_cli.compare.account import ListAccount, MismatchAccount, ObjectAccount
from stickler_cli.compare.columns import Indexes
from stickler_cli.compare.result import TN, TP
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from .comparison_lines import shown_value
from .visit import Visit, singles

MOST_VALUES: Final = 30
"""Values of one field, on both sides together: the columns that a screen has room for."""

LONGEST: Final = 40
"""Characters of a value as JSON; what is longer is no name of a kind."""

ABSENT: Final = ""
"""Stands for no value; every value has a text as JSON."""


@dataclass(slots=True)
class ValuePairs:
    """How often each value was found for each, all values of a field; they add in any order."""

    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """By ground truth and prediction as JSON, how many pairs are right and how many wrong."""
    too_many: bool = False
    """Whether there are more values than are kept; then none are."""

    @property
    def values(self) -> list[str]:
        """All values, the most frequent first."""
        times: dict[str, int] = {}
        for gt, row in self.counts.items():
            for pred, pairs in row.items():
                for value in {gt, pred} - {ABSENT}:
                    times[value] = times.get(value, 0) + sum(pairs)
        return sorted(times, key=lambda value: (-times[value], value))

    @property
    def confused(self) -> int:
        """How many values were found for another one."""
        return sum(
            wrong
            for gt, row in self.counts.items()
            for pred, (_, wrong) in row.items()
            if ABSENT not in {gt, pred}
        )

    def add(self, gt: str, pred: str, right: int, wrong: int) -> None:
        """Add pairs of two values."""
        if self.too_many:
            return
        pairs = self.counts.setdefault(gt, {}).setdefault(pred, [0, 0])
        pairs[0] += right
        pairs[1] += wrong

    def merge(self, other: "ValuePairs") -> None:
        """Add the pairs of other documents."""
        for gt, row in other.counts.items():
            for pred, pairs in row.items():
                self.add(gt, pred, *pairs)
        self.too_many = self.too_many or other.too_many
        self.bound()

    def bound(self) -> None:
        """Keep nothing of a field that has too many values."""
        self.too_many = self.too_many or len(self.values) > MOST_VALUES
        if self.too_many:
            self.counts = {}


def value_pairs(visits: Iterable[Visit]) -> Iterator[tuple[Path, ValuePairs]]:
    """Yield what values of each field were found for which; a field may come up more than once."""
    for visit in singles(visits):
        account = visit.account
        is_value = not isinstance(account, ObjectAccount | ListAccount | MismatchAccount)
        if is_value and visit.order is not None:
            (some,) = (visit.outcome != TN).nonzero()
            if len(some):
                yield visit.field.path, _pairs(visit, some)


def _pairs(visit: Visit, chosen: Indexes) -> ValuePairs:
    found, account = ValuePairs(), visit.account
    at, codes = visit.at[chosen], account.columns.codes
    columns = codes.gt[account.gt[at]], codes.pred[account.pred[at]], visit.outcome[chosen] == TP
    distinct, counts = np.unique(np.stack(columns), axis=1, return_counts=True)
    if len(set(distinct[:2].ravel().tolist())) > MOST_VALUES + 1:
        found.too_many = True
        return found
    for (gt, pred, right), count in zip(distinct.T.tolist(), counts.tolist(), strict=True):
        one, other = (ABSENT if code < 0 else _name(codes.values[code]) for code in (gt, pred))
        if one is None or other is None:
            found.too_many = True
            break
        found.add(one, other, count if right else 0, 0 if right else count)
    found.bound()
    return found


def _name(value: object) -> str | None:
    """Return a value as JSON; None of what is long or has parts."""
    text = None if isinstance(value, dict | list) else shown_value(value)
    return text if isinstance(text, str) and len(text) <= LONGEST else None
