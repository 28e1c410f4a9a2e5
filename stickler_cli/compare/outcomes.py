"""From similarities to the classes and scores of pairs, column by column."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import EQUAL_WITHIN
from .columns import Indexes, Mask
from .result import FA, FD, FN, TN

Floats: TypeAlias = NDArray[np.float64]
Outcomes: TypeAlias = NDArray[np.int8]


def classified(
    similarity: Floats, threshold: float | Floats, gt: Indexes, pred: Indexes
) -> Outcomes:
    """Return the class of each pair; a similarity within `EQUAL_WITHIN` of a threshold meets it."""
    outcome = met(similarity, threshold)
    if absent_somewhere(gt, pred):
        no_gt, no_pred = gt < 0, pred < 0
        outcome[no_gt], outcome[no_pred], outcome[no_gt & no_pred] = FA, FN, TN
    return outcome


def absent_somewhere(gt: Indexes, pred: Indexes) -> bool:
    """Return whether a side of a pair is absent."""
    return bool(np.minimum.reduce(gt | pred, initial=0) < 0)


def met(similarity: Floats, threshold: float | Floats) -> Outcomes:
    """Return the class of each pair that both sides have."""
    outcome: Outcomes = (similarity < threshold - EQUAL_WITHIN).view(np.int8)
    return outcome  # TP is 0, and FD 1


def clipped(similarity: Floats, outcome: Outcomes, *, clip: bool) -> Floats:
    """Return the scores of similarities: 0.0 where one is clipped below its threshold."""
    return np.where(outcome == FD, 0.0, similarity) if clip else similarity


def scored(similarity: Floats, gt: Indexes, pred: Indexes) -> Floats:
    """Return similarities, 0.0 where one side is absent and 1.0 where both are."""
    if not absent_somewhere(gt, pred):
        return similarity
    no_gt, no_pred = gt < 0, pred < 0
    return np.where(no_gt & no_pred, 1.0, np.where(no_gt | no_pred, 0.0, similarity))


def both_sides(outcome: Outcomes) -> Mask:
    """Return which outcomes are of pairs that both sides have."""
    both: Mask = outcome <= FD  # TP is 0, and FD 1
    return both
