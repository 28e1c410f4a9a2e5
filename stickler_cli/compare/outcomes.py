"""From similarities to the classes and scores of pairs, column by column."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import EQUAL_WITHIN
from .columns import Indexes, Mask
from .result import FA, FD, FN, TN

Floats: TypeAlias = NDArray[np.float64]
Outcomes: TypeAlias = NDArray[np.int8]


def judged(
    similarity: Floats, threshold: float | Floats, gt: Indexes, pred: Indexes
) -> tuple[Floats, Outcomes]:
    """Return similarities, 0.0 where one side is absent and 1.0 where both are, and the classes.

    A similarity within `EQUAL_WITHIN` of a threshold meets it.
    """
    outcome = met(similarity, threshold)
    if np.minimum.reduce(gt | pred, initial=0) < 0:
        no_gt, no_pred = gt < 0, pred < 0
        neither = no_gt & no_pred
        outcome[no_gt], outcome[no_pred], outcome[neither] = FA, FN, TN
        similarity = np.where(neither, 1.0, np.where(no_gt | no_pred, 0.0, similarity))
    return similarity, outcome


def met(similarity: Floats, threshold: float | Floats) -> Outcomes:
    """Return the class of each pair that both sides have."""
    outcome: Outcomes = (similarity < threshold - EQUAL_WITHIN).view(np.int8)
    return outcome  # TP is 0, and FD 1


def clipped(similarity: Floats, outcome: Outcomes, *, clip: bool) -> Floats:
    """Return the scores of similarities: 0.0 where one is clipped below its threshold."""
    return np.where(outcome == FD, 0.0, similarity) if clip else similarity


def both_sides(outcome: Outcomes) -> Mask:
    """Return which outcomes are of pairs that both sides have."""
    both: Mask = outcome <= FD  # TP is 0, and FD 1
    return both
