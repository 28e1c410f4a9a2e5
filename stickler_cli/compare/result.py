"""Outcomes of compared units, sources of thresholds, and descriptions of fields."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Final, Literal, TypeAlias

from stickler_cli.core.rules import FieldPath, FractionOrNone, Rule, Weight

ThresholdSource: TypeAlias = Literal["annotation", "match-threshold", "inferred", "default"]
"""Where a threshold comes from: an annotation of the field or its list, the match-threshold of a
model, inference by kind and name, or the default."""

ListPairing: TypeAlias = Literal["best", "ordered", "position"]
"""How list items are paired: for the greatest total similarity, in order without crossing pairs, or
each with the item at the same position."""

SEMANTICS: Final = 1
"""The version of the counting rules. Figures of different versions cannot be compared. Source:
docs/semantics.md."""

DEFAULT_MATCH_THRESHOLD: Final = 0.7
"""The similarity at which two objects match as list items. Source: docs/semantics.md, Schema."""


class Outcome(IntEnum):
    """The outcome of one compared unit. Its number is its position in lists of counts."""

    TP = 0
    """True positive: both sides have a value, and the similarity meets the threshold."""
    FD = 1
    """False discovery: both sides have a value, and the similarity is below the threshold."""
    FA = 2
    """False alarm: only the prediction has a value."""
    FN = 3
    """False negative: only the ground truth has a value."""
    TN = 4
    """True negative: neither side has a value."""


TP, FD, FA, FN, TN = (outcome.value for outcome in Outcome)
# Plain numbers: numpy asks the class of each operand for attributes, which takes an enum long.
NOT_EVALUATED: Final = len(Outcome)
"""Stands for the missing outcome of a unit that has no outcome. Unlabelled values have no outcome.
Documents have none if their fields or items are counted instead."""

ERRORS: Final = frozenset({Outcome.FD, Outcome.FA, Outcome.FN})

BOTH_SIDES: Final = (TP, FD)
"""The outcomes of units that are present on both sides."""

KINDS: Final = ("schema", "leaf", "object", "list", "tuple", "one of", "any", "recursive")
"""The kinds of fields. `schema` is the kind of the key that names a document's schema, in runs with
several schemas."""


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field as the schema declares it."""

    field: FieldPath
    """The path of the field without list indexes; empty for a document that is an array."""
    kind: Annotated[str, Rule("a string", {"type": "string", "enum": [*KINDS]})]
    """The kind of field that the schema declares, such as `leaf` or `list`."""
    comparator: str
    """The names of the field's comparators, joined by ` | `; empty if the field has fields of its
    own."""
    threshold: FractionOrNone
    """Similarity at which the field's units match; null if it depends on the values."""
    weight: Weight
    """The weight of the field in the score of its object."""
