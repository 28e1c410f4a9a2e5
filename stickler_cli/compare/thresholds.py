"""When a similarity passes, and what a score is worth when it does not."""

from typing import Final

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN, Matrix

DEFAULT_MATCH_THRESHOLD: Final = 0.7
"""The similarity at which two objects are the same one. Source: docs/semantics.md, Schema."""


def meets(similarity: float, threshold: float) -> bool:
    """Say whether a similarity is at or above a threshold, within `EQUAL_WITHIN`.

    >>> meets(0.7999999999999999, 0.8), meets(0.79, 0.8)
    (True, False)
    """
    return similarity >= threshold - EQUAL_WITHIN


def clipped(similarity: float, threshold: float, *, clip: bool) -> float:
    """Give the score of a similarity: 0.0 where it is clipped below its threshold."""
    return 0.0 if clip and not meets(similarity, threshold) else similarity


def clipped_matrix(similarity: Matrix, threshold: float, *, clip: bool) -> Matrix:
    """Give the scores of many similarities at once; the same as `clipped` for each."""
    if not clip:
        return similarity
    return np.where(similarity >= threshold - EQUAL_WITHIN, similarity, 0.0)
