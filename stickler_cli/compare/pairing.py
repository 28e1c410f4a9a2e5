"""From a matrix of similarities to pairs: the one place that knows about assignment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from stickler_cli.comparators.base import EQUAL_WITHIN, Matrix

MOST_ROUNDS: Final = 4
"""In which `pair_within` must come to an end. Two are usual: one finds the pairs, one confirms."""


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
    gain = _gain(similarity, floor)
    return [
        Pair(row, column, float(similarity[row, column]))
        for row, column in _assign(gain)
        if gain[row, column]
    ]


def pair_within(
    bound: Matrix, similarity: Callable[[int, int], float], floor: float
) -> list[Pair] | None:
    """Choose the pairs that `pair` would choose, from few of the similarities.

    The pairs of the greatest total of bounds are looked at, and again with what they are found to
    be, until none is new: then no other choice can have a greater total, for none is above its
    bounds.

    Args:
        bound: (n, m), finite; no similarity is greater than its bound.
        similarity: gives that of one pair, by row and column; in [0, 1].
        floor: as in `pair`.

    Returns:
        As `pair`; None where the bounds tell so little that all similarities had better be used.
    """
    gain = _gain(bound, floor)
    known: dict[tuple[int, int], float] = {}
    for _ in range(MOST_ROUNDS):
        cells = [(row, column) for row, column in _assign(gain) if gain[row, column]]
        new = [cell for cell in cells if cell not in known]
        if not new:
            return [Pair(*cell, known[cell]) for cell in cells]
        for row, column in new:
            known[row, column] = found = similarity(row, column)
            gain[row, column] += (
                found - bound[row, column] if found > floor + EQUAL_WITHIN else -gain[row, column]
            )
    return None


def _gain(similarity: Matrix, floor: float) -> Matrix:
    """Give what each pair adds to the total that an assignment is sought for; above 0, or 0."""
    rows, columns = similarity.shape
    distance = np.abs(np.arange(rows)[:, None] - np.arange(columns))
    nearness = EQUAL_WITHIN * (1 - distance / max(rows, columns))
    return np.where(similarity > floor + EQUAL_WITHIN, similarity + nearness, 0.0)


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
    if (nearest := _undisputed(gain)) is not None:
        return nearest
    from scipy.optimize import linear_sum_assignment  # 0.4 s that runs without lists never pay

    chosen = linear_sum_assignment(gain, maximize=True)
    return [(int(row), int(column)) for row, column in zip(*chosen, strict=True)]


def _undisputed(gain: Matrix) -> list[tuple[int, int]] | None:
    """Give each element of the shorter side its best; None where two have the same one.

    No assignment is better than each one's best.
    """
    rows, columns = gain.shape
    best = gain.argmax(axis=1) if rows <= columns else gain.argmax(axis=0)
    others = best.tolist()
    if len(set(others)) < len(others):
        return None
    if rows <= columns:
        return list(enumerate(others))
    return sorted((row, column) for column, row in enumerate(others))
