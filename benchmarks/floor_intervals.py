"""Compute confidence intervals for floor.py, as docs/statistics.md defines them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

_TAIL = 0.025
_NAMES = ("cm_precision", "cm_recall", "cm_f1", "score")


def intervals(counts: NDArray[np.int64], scores: Sequence[float]) -> dict[str, list[float]]:
    """Return the 95% intervals of precision, recall, F1 and the mean score.

    The keys are `cm_precision`, `cm_recall`, `cm_f1` and `score`. A rate whose denominator is 0 is
    left out.

    Args:
        counts: TP, FD, FA, FN and TN of each document, (n_documents, 5).
        scores: the score of each document.
    """
    tp, fd, fa, fn, _ = counts.T
    score, wanted = np.asarray(scores), tp + fd + fn
    sums = [
        (tp, fd + fa, 0 * tp),
        (tp, fn, wanted),
        (2 * tp, fd + fa + fn, 2 * wanted),
        (score, 1 - score, 0 * score),
    ]
    bounds_by_name = {}
    for name, (right, wrong, if_right) in zip(_NAMES, sums, strict=True):
        sizes = right + wrong
        if sizes.any():
            size = _mean(sizes, sizes)
            wrong_document = max(size, _mean(sizes, wrong))
            right_document = max(size, _mean(sizes, right), _mean(if_right, if_right))
            lower = _end(np.append(right, 0), np.append(wrong, wrong_document), _TAIL)
            upper = _end(np.append(right, right_document), np.append(wrong, 0), 1 - _TAIL)
            share = right.sum() / sizes.sum()
            bounds_by_name[name] = [min(lower, share), max(upper, share)]
    return bounds_by_name


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(values @ weights / weights.sum()) if weights.any() else 0.0


def _end(right: NDArray[np.float64], wrong: NDArray[np.float64], tail: float) -> float:
    sizes = right + wrong
    total, mean = sizes.sum(), right.sum() / sizes.sum()
    if mean in (0, 1):
        return float(mean)
    squares = ((right - mean * sizes) ** 2).sum()
    as_many = mean * (1 - mean) * (total**2 + (sizes**2).sum()) / squares - 1
    return float(betaincinv(mean * as_many, (1 - mean) * as_many, tail))
