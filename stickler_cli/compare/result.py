"""The class of a compared unit, what it must reach, who said so, and what is said of its field."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Final, Literal, TypeAlias

from stickler_cli.core.rules import FieldPath, FractionOrNone, Rule, Weight

ThresholdSource: TypeAlias = Literal["annotation", "match-threshold", "inferred", "default"]
"""Who said it: an annotation of the place or its list, a model's match-threshold, inference by kind
and name, or nobody."""

ListPairing: TypeAlias = Literal["best", "ordered", "position"]
"""How list items are paired: with the greatest total similarity, without crossing pairs, or each
with the item at the same position."""

SEMANTICS: Final = 1
"""The version of what is counted and how; figures of two versions are not alike. Source:
docs/semantics.md."""

DEFAULT_MATCH_THRESHOLD: Final = 0.7
"""The similarity at which two objects are the same one. Source: docs/semantics.md, Schema."""


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


TP, FD, FA, FN, TN = (outcome.value for outcome in Outcome)
# Plain numbers: numpy asks the class of each operand for attributes, which takes an enum long.
NOT_EVALUATED: Final = len(Outcome)
"""In the place of an outcome: nobody has labelled the ground truth, so that nothing is said."""

ERRORS: Final = frozenset({Outcome.FD, Outcome.FA, Outcome.FN})

BOTH_SIDES: Final = (TP, FD)
"""The outcomes of what both sides have."""

KINDS: Final = ("schema", "leaf", "object", "list", "tuple", "one of", "any", "recursive")
"""What a place may be declared as; of `schema` are documents of one of several schemas."""


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """What the schema says of one field."""

    field: FieldPath
    """Where the field is, without list indexes; empty of documents that are arrays."""
    kind: Annotated[str, Rule("a string", {"type": "string", "enum": [*KINDS]})]
    """What the schema declares there."""
    comparator: str
    """What compares its values, several joined by ` | `; empty where fields of its own are
    compared."""
    threshold: FractionOrNone
    """Similarity at which a unit of it matches; null where that depends on the values."""
    weight: Weight
    """What the field is worth in its object."""
