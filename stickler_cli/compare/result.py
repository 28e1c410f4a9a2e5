"""The account of one comparison: a tree of frozen nodes, as deep as the documents.

One traversal makes it; counts, non-matches and reports are folds of it. Everything above
`compare/` sees comparisons only through this module.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Literal, TypeAlias, TypeVar, dataclass_transform

from stickler_cli.core.json_values import JsonValue

T = TypeVar("T")

ThresholdSource: TypeAlias = Literal["annotation", "match-threshold", "default"]
"""Who said a threshold: an annotation of the place or of the list that it is in, the
match-threshold of an object's model, or nobody."""


@dataclass_transform(frozen_default=True)
def _value(cls: type[T]) -> type[T]:
    """Make a dataclass that is frozen to the type checker alone.

    A run makes these by the million, and to be frozen at run time costs four times as much.
    """
    return dataclass(slots=True)(cls)


class Outcome(IntEnum):
    """The class of one compared unit; the value is its position in a list of counts."""

    TP = 0
    """Both sides have a value and the similarity meets the threshold."""
    FD = 1
    """False discovery: both sides have a value and the similarity is below the threshold."""
    FA = 2
    """False alarm: the prediction has a value where the ground truth has none."""
    FN = 3
    """False negative: the ground truth has a value where the prediction has none."""
    TN = 4
    """Neither side has a value."""


TP, FD, FA, FN, TN = Outcome

ERRORS: Final = frozenset({Outcome.FD, Outcome.FA, Outcome.FN})

IN_GT: Final = frozenset({Outcome.TP, Outcome.FD, Outcome.FN})
"""The outcomes of what the ground truth has."""

IN_PRED: Final = frozenset({Outcome.TP, Outcome.FD, Outcome.FA})
"""The outcomes of what the prediction has."""


@_value
class LeafComparison:
    """Two values compared as one; also the base of what every comparison says."""

    gt: JsonValue
    """The ground truth; None where it is absent."""
    pred: JsonValue
    """The prediction; None where it is absent."""
    outcome: Outcome
    """The class of the pair as one unit."""
    similarity: float
    """As computed, in [0, 1]; 1.0 where both sides are absent, 0.0 where one is."""
    score: float
    """The similarity after clipping, in [0, 1]."""
    threshold: float
    """The similarity at which the pair is a match."""


@_value
class JudgedComparison(LeafComparison):
    """Two values compared by a judge, who says why."""

    reason: str
    """A sentence."""


@_value
class FieldComparison:
    """One field of an object, and what it is worth there."""

    name: str
    weight: float
    counted: bool
    """Whether the object's `aggregate` and `leaves` include this field."""
    comparison: "Comparison"


@_value
class FieldTerms:
    """What a plan says of one field of an object; the same in every document, so shared by all."""

    name: str
    weight: float
    counted: bool
    """Whether the object's `aggregate` and `leaves` include this field."""
    threshold: float
    clip: bool


@_value
class ObjectComparison(LeafComparison):
    """Two objects, or one object against nothing; without fields where both are absent.

    Most fields are leaves, and of a leaf the objects hold the values and the plan all but two
    numbers. So that an object costs little, these are kept side by side, and `fields` is made
    of them on demand.
    """

    terms: tuple[FieldTerms, ...] = ()
    """In schema order; those of a map in order of appearance."""
    outcomes: bytes = b""
    """The `Outcome` of each field."""
    similarities: tuple[float, ...] = ()
    """The similarity of each field, in [0, 1]."""
    parts: Mapping[int, "Comparison"] = field(default_factory=dict)
    """The account of each field that is more than a leaf, by position."""
    extras: tuple[str, ...] = ()
    """Undeclared keys that only the prediction has: one false alarm each."""
    undeclared: tuple[str, ...] = ()
    """Undeclared keys of the ground truth that have a value; they are not evaluated."""

    @property
    def fields(self) -> tuple[FieldComparison, ...]:
        """The account of every field, in the order of `terms`."""
        return tuple(
            FieldComparison(terms.name, terms.weight, terms.counted, self.part(position))
            for position, terms in enumerate(self.terms)
        )

    def part(self, position: int) -> "Comparison":
        """Give the account of one field."""
        if position in self.parts:
            return self.parts[position]
        terms, outcome = self.terms[position], Outcome(self.outcomes[position])
        similarity = self.similarities[position]
        below = terms.clip and outcome is Outcome.FD
        return LeafComparison(
            _field_of(self.gt, terms.name) if outcome in IN_GT else None,
            _field_of(self.pred, terms.name) if outcome in IN_PRED else None,
            outcome,
            similarity,
            0.0 if below else similarity,
            terms.threshold,
        )


@_value
class ElementComparison:
    """One unit of a list: a pair, or an element that has none."""

    gt_index: int | None
    """Position in the ground truth as it is in the document; None for an invented element."""
    pred_index: int | None
    """Position in the prediction as it is in the document; None for a missed element."""
    outcome: Outcome
    """The class of the unit as an element: objects pass on their match-threshold."""
    threshold: float
    """The similarity at which this pair is a match."""
    comparison: "Comparison"

    @property
    def passed(self) -> bool:
        """Say whether the gate is open: only matching pairs are descended into."""
        return self.outcome is Outcome.TP


@_value
class ListComparison(LeafComparison):
    """Two lists, or one list against nothing; without elements where both are absent."""

    elements: tuple[ElementComparison, ...] = ()
    """Ground-truth elements in their order, then the prediction's that have no pair."""


@_value
class MismatchComparison(LeafComparison):
    """Two values of different kinds where an object is declared: one false discovery."""

    missed: "Comparison"
    """The ground truth against nothing."""
    invented: "Comparison"
    """The prediction against nothing."""


Comparison: TypeAlias = LeafComparison | ObjectComparison | ListComparison | MismatchComparison


def _field_of(value: JsonValue, name: str) -> JsonValue:
    return value.get(name) if isinstance(value, dict) else None
