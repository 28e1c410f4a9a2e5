"""The account of one comparison: a tree of frozen nodes, as deep as the documents.

One traversal makes it; counts, non-matches and reports are folds of it. Everything above
`compare/` sees comparisons only through this module.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from stickler_cli.json_values import JsonValue


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


ERRORS: Final = frozenset({Outcome.FD, Outcome.FA, Outcome.FN})


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """One field of an object, and what it is worth there."""

    name: str
    weight: float
    counted: bool
    """Whether the object's `aggregate` and `leaves` include this field."""
    comparison: "Comparison"


@dataclass(frozen=True, slots=True)
class ObjectComparison(LeafComparison):
    """Two objects, or one object against nothing; without fields where both are absent."""

    fields: tuple[FieldComparison, ...] = ()
    """In schema order; those of a map in order of appearance."""
    extras: tuple[str, ...] = ()
    """Undeclared keys that only the prediction has: one false alarm each."""
    undeclared: tuple[str, ...] = ()
    """Undeclared keys of the ground truth that have a value; they are not evaluated."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ListComparison(LeafComparison):
    """Two lists, or one list against nothing; without elements where both are absent."""

    elements: tuple[ElementComparison, ...] = ()
    """Ground-truth elements in their order, then the prediction's that have no pair."""


@dataclass(frozen=True, slots=True)
class MismatchComparison(LeafComparison):
    """Two values of different kinds where an object is declared: one false discovery."""

    missed: "Comparison"
    """The ground truth against nothing."""
    invented: "Comparison"
    """The prediction against nothing."""


Comparison: TypeAlias = LeafComparison | ObjectComparison | ListComparison | MismatchComparison
