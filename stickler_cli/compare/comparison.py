"""One pair of an account as a tree: a view for whoever looks at one document, not at columns."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final, Literal, TypeAlias

import numpy as np

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass
from .account import (
    Account,
    BlockAccount,
    EntryAccount,
    ListAccount,
    MismatchAccount,
    ObjectAccount,
    UnlabelledAccount,
)
from .columns import NOTHING, Indexes, Mask
from .result import Outcome

Shape: TypeAlias = Literal["leaf", "object", "list", "mismatch"]

_SHAPES: Final[Mapping[type[Account], Shape]] = {
    ObjectAccount: "object",
    ListAccount: "list",
    MismatchAccount: "mismatch",
}

_TOLD: Final = (
    *("shape", "gt", "pred", "outcome", "similarity", "score", "threshold", "reason"),
    *("fields", "elements", "extras", "undeclared"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two values compared, either of which may be absent; its parts are made on demand."""

    account: Account
    """Of this pair and others; never a `SplitAccount`."""
    pair: int
    """The position of the pair."""

    @property
    def shape(self) -> Shape:
        """Its shape: fields, elements, values of different kinds, or one value."""
        return _SHAPES.get(type(self.account), "leaf")

    @property
    def gt(self) -> JsonValue:
        """The ground truth; None where it is absent."""
        return self._side(self.account.gt, self.account.columns.gt)

    @property
    def pred(self) -> JsonValue:
        """The prediction; None where it is absent."""
        return self._side(self.account.pred, self.account.columns.pred)

    def _side(self, slots: Indexes, values: Sequence[JsonValue]) -> JsonValue:
        return None if slots[self.pair] == NOTHING else values[slots[self.pair]]

    @property
    def others(self) -> tuple[JsonValue, ...]:
        """The values that are as right as the ground truth, where it says that there are any."""
        known, slots = self.account.columns.gold, self.account.slots
        if known is None or slots is None or slots[self.pair] == NOTHING:
            return ()
        each, taken = known.alternatives(int(slots[self.pair]))
        return tuple(it.value for at, it in enumerate(each) if at != taken)

    @property
    def outcome(self) -> Outcome:
        """The class of the pair as one unit."""
        return Outcome(int(self.account.outcome[self.pair]))

    @property
    def similarity(self) -> float:
        """As computed, in [0, 1]; 1.0 where both sides are absent, 0.0 where one is."""
        return float(self.account.similarity[self.pair])

    @property
    def score(self) -> float:
        """The similarity after clipping, in [0, 1]."""
        return float(self.account.score[self.pair])

    @property
    def item_score(self) -> float:
        """The score as a list item: an object clips by its match-threshold there."""
        return float(self.account.item_score[self.pair])

    @property
    def threshold(self) -> float:
        """The similarity at which the pair is a match."""
        return self.account.node.threshold

    @property
    def reason(self) -> str:
        """The judge's reason; empty without a judge."""
        return self.account.reasons.get(self.pair, "")

    @property
    def fields(self) -> "tuple[FieldComparison, ...]":
        """Of objects, the account of every field, those that only the documents name last."""
        each = (_field(*part) for part in self._parts())
        return tuple(it for it in each if not isinstance(it.comparison.account, UnlabelledAccount))

    def _parts(self) -> "Iterator[tuple[str, bool | Mask, Account, int]]":
        """Yield name, say in the aggregate, account and position there of every field."""
        account, pair = self.account, self.pair
        if not isinstance(account, ObjectAccount):
            return
        compared = account.compared
        at = pair if compared is None else int(compared.searchsorted(pair))
        if compared is None or pair in compared[at : at + 1]:  # else neither side has the object
            for place, name in enumerate(account.names):
                yield name, account.included[place], account.fields[place], at
        more: list[tuple[int, EntryAccount, int]] = []
        for entry in account.entries:
            more += ((int(entry.order[at]), entry, at) for at in owned(entry.owner, self.pair))
        for _, entry, at in sorted(more, key=itemgetter(0)):
            yield entry.names[int(entry.key[at])], entry.counted, entry.account, at

    @property
    def field_outcomes(self) -> "Iterator[tuple[str, set[int]]]":
        """Yield the name of each field and its class, of lists those of their elements."""
        for name, _, of_all, position in self._parts():
            account, at = of_all.innermost(position)
            found = account.outcome[at : at + 1].tolist()
            if isinstance(account, ListAccount):
                units = owned(account.units.owner, at)
                found = account.units.outcome[units.start : units.stop].tolist() or found
            if not isinstance(account, UnlabelledAccount):
                yield name, {*found}

    @property
    def field_scores(self) -> dict[str, float]:
        """The scores of the fields, by their names."""
        account, pair = self.account, self.pair
        if not isinstance(account, ObjectAccount):
            return {}
        if account.entries or account.compared is not None or account.columns.gold is not None:
            return {field.name: field.comparison.score for field in self.fields}
        scores: dict[int, float] = {}
        for part in account.parts:
            if isinstance(part, BlockAccount):
                of_fields = part.score[pair :: len(account)].tolist()
                scores.update(zip(part.block.positions, of_fields, strict=True))
            else:
                scores[part[0]] = float(part[1].score[pair])
        return {name: scores[at] for at, name in enumerate(account.names)}

    @property
    def elements(self) -> "tuple[ElementComparison, ...]":
        """Of lists, ground-truth elements in their order, then the prediction's without a pair."""
        if not isinstance(self.account, ListAccount):
            return ()
        units = self.account.units
        return tuple(
            ElementComparison(
                _index(units.gt_place, at),
                _index(units.pred_place, at),
                Outcome(int(units.outcome[at])),
                float(units.threshold[at]),
                comparison_of(units.account, at),
            )
            for at in owned(units.owner, self.pair)
        )

    @property
    def extras(self) -> tuple[str, ...]:
        """Undeclared keys that only the prediction has: one false alarm each."""
        return self.account.extras.get(self.pair, ())

    @property
    def undeclared(self) -> tuple[str, ...]:
        """Undeclared keys of the ground truth that have a value; they are not evaluated."""
        return self.account.undeclared.get(self.pair, ())

    def __eq__(self, other: object) -> bool:
        is_one = isinstance(other, Comparison)
        return is_one and all(getattr(self, name) == getattr(other, name) for name in _TOLD)

    __hash__ = None  # type: ignore[assignment] # values of documents are no keys

    def __repr__(self) -> str:
        return f"<Comparison {self.outcome.name} similarity={self.similarity!r}>"


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """One field of an object, and its worth there."""

    name: str
    weight: float
    counted: bool
    """Whether the object's `aggregate` and `leaves` include this field."""
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class ElementComparison:
    """One unit of a list: a pair, or an element that has none."""

    gt_index: int | None
    """In the ground truth as it is in the document; None for an invented element."""
    pred_index: int | None
    """None for a missed element."""
    outcome: Outcome
    """The class of the unit as an element: objects pass on their match-threshold."""
    threshold: float
    """The similarity at which this pair is a match."""
    comparison: Comparison


def comparison_of(account: Account, pair: int) -> Comparison:
    """Return one pair of an account."""
    return Comparison(*account.innermost(pair))


def owned(owner: Indexes, pair: int) -> range:
    """Return where the parts of a pair are; owners are in order."""
    first, last = owner.searchsorted([pair, pair + 1]).tolist()
    return range(first, last)


def _field(name: str, counted: object, account: Account, at: int) -> FieldComparison:
    weights = account.worth
    worth = weights if isinstance(weights, float | int) else float(weights[at])
    included = bool(counted[at]) if isinstance(counted, np.ndarray) else bool(counted)
    return FieldComparison(name, worth, included, comparison_of(account, at))


def _index(places: Indexes, at: int) -> int | None:
    place = int(places[at])
    return None if place == NOTHING else place
