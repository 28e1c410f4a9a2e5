"""From a matrix of similarities to pairs: the one place that knows about assignment."""

from dataclasses import dataclass

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN, Matrix


@dataclass(frozen=True, slots=True)
class Pair:
    """Two elements put together."""

    gt: int
    """Row of the matrix."""
    pred: int
    """Column of the matrix."""
    similarity: float
    """In [0, 1]."""


def pair(similarity: Matrix, floor: float) -> list[Pair]:
    """Choose the pairs with the greatest total similarity.

    Ties go to equal positions: a pair (i, j) above the floor is raised by
    1e-9 * (1 - |i-j| / max(n, m)) while the assignment is sought. Pairs at or below the floor
    count as 0, so a hopeless pair never displaces a good one, and are left out of the answer.

    Args:
        similarity: (n, m), ground truth by prediction, finite, each value in [0, 1].
        floor: in [-1, 1), met within 1e-9; -1 keeps every pair.

    Returns:
        At most min(n, m) pairs, in ground-truth order; an index occurs at most once.

    Source:
        docs/semantics.md, Lists. Crouse (2016), doi:10.1109/TAES.2016.140952, by scipy.

    >>> pair(np.array([[0.9, 0.1], [0.8, 0.7]]), 0.2)
    [Pair(gt=0, pred=0, similarity=0.9), Pair(gt=1, pred=1, similarity=0.7)]
    """
    rows, columns = similarity.shape
    if not rows or not columns:
        return []
    above = similarity > floor + EQUAL_WITHIN
    distance = np.abs(np.arange(rows)[:, None] - np.arange(columns)) / max(rows, columns)
    gain = np.where(above, similarity + EQUAL_WITHIN * (1 - distance), 0.0)
    return [
        Pair(row, column, float(similarity[row, column]))
        for row, column in _assign(gain)
        if above[row, column]
    ]


def _assign(gain: Matrix) -> list[tuple[int, int]]:
    """Choose cells of the greatest sum, at most one a row and column, in row order."""
    rows, columns = gain.shape
    if rows == 1:
        return [(0, int(gain.argmax()))]
    if columns == 1:
        return [(int(gain.argmax()), 0)]
    if rows == columns == 2:
        straight = gain[0, 0] + gain[1, 1] >= gain[0, 1] + gain[1, 0]
        return [(0, 0), (1, 1)] if straight else [(0, 1), (1, 0)]
    from scipy.optimize import linear_sum_assignment  # 0.4 s that runs without lists never pay

    chosen = linear_sum_assignment(gain, maximize=True)
    return [(int(row), int(column)) for row, column in zip(*chosen, strict=True)]
