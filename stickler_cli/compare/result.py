"""The class of a compared unit, and who said what it must reach."""

from enum import IntEnum
from typing import Final, Literal, TypeAlias

ThresholdSource: TypeAlias = Literal["annotation", "match-threshold", "default"]
"""Who said a threshold: an annotation of the place or of the list that it is in, the
match-threshold of an object's model, or nobody."""


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

IN_GT: Final = frozenset({Outcome.TP, Outcome.FD, Outcome.FN})
"""The outcomes of what the ground truth has."""

IN_PRED: Final = frozenset({Outcome.TP, Outcome.FD, Outcome.FA})
"""The outcomes of what the prediction has."""

BOTH_SIDES: Final = (TP, FD)
"""The outcomes of what both sides have."""
