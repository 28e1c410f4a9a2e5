"""The class of a compared unit, what it must reach, and who said so."""

from enum import IntEnum
from typing import Final, Literal, TypeAlias

ThresholdSource: TypeAlias = Literal["annotation", "match-threshold", "inferred", "default"]
"""Who said it: an annotation of the place or its list, a model's match-threshold, inference by kind
and name, or nobody."""

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

ERRORS: Final = frozenset({Outcome.FD, Outcome.FA, Outcome.FN})

BOTH_SIDES: Final = (TP, FD)
"""The outcomes of what both sides have."""
