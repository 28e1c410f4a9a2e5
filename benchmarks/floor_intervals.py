"""The intervals of the whole, as the floor makes them: docs/statistics.md, in one go."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

_TAIL = 0.025
_NAMES = ("cm_precision", "cm_recall", "cm_f1", "score")


def intervals(counts: NDArray[np.int64], scores: Sequence[float]) -> dict[str, list[float]]:
    """Give the 95% intervals of precision, recall, F1 and the mean score.

    Args:
        counts: TP, FD, FA, FN and TN of each document, (documents, 5).
        scores: of each.
    """
    tp, fd, fa, fn, _ = counts.T
    one = np.asarray(scores)
    parts = [(tp, fd + fa), (tp, fn), (2 * tp, fd + fa + fn), (one, 1 - one)]
    found = {}
    for name, (right, wrong) in zip(_NAMES, parts, strict=True):
        sizes = right + wrong
        if sizes.any():
            more = np.sqrt((sizes**2).sum() / np.count_nonzero(sizes))
            lower = _end(np.append(right, 0), np.append(wrong, more), _TAIL)
            upper = _end(np.append(right, more), np.append(wrong, 0), 1 - _TAIL)
            share = right.sum() / sizes.sum()
            found[name] = [min(lower, share), max(upper, share)]
    return found


def _end(right: NDArray[np.float64], wrong: NDArray[np.float64], tail: float) -> float:
    sizes = right + wrong
    total, mean = sizes.sum(), right.sum() / sizes.sum()
    if mean in (0, 1):
        return float(mean)
    squares = ((right - mean * sizes) ** 2).sum()
    as_many = mean * (1 - mean) * (total**2 + (sizes**2).sum()) / squares - 1
    return float(betaincinv(mean * as_many, (1 - mean) * as_many, tail))
