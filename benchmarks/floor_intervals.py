"""The intervals of the whole, as the floor makes them: docs/statistics.md, in one go."""

from collections.abc import Sequence
from hashlib import blake2b
from math import exp, factorial

import numpy as np
from numpy.typing import NDArray

REPLICATES = 1000
_AT_ONCE = 256
_TAIL = 0.025


def intervals(
    documents: Sequence[str], counts: NDArray[np.int64], scores: Sequence[float]
) -> dict[str, list[float]]:
    """Give the 95% intervals of precision, recall, F1 and the mean score.

    Args:
        documents: their ids.
        counts: TP, FD, FA, FN and TN of each, (documents, 5).
        scores: of each.
    """
    columns = np.column_stack([counts, scores, np.ones(len(scores))])
    total = np.zeros((columns.shape[1], REPLICATES))
    for start in range(0, len(documents), _AT_ONCE):
        stop = start + _AT_ONCE
        total += columns[start:stop].T @ _weights(documents[start:stop])
    tp, fd, fa, fn, _, score, number = total
    rates = {
        "cm_precision": (tp, tp + fd + fa),
        "cm_recall": (tp, tp + fn),
        "cm_f1": (2 * tp, 2 * tp + fd + fa + fn),
        "score": (score, number),
    }
    found = {}
    for name, (above, below) in rates.items():
        there = below > 0
        if there.mean() >= 0.99:
            quotients = above[there] / below[there]
            found[name] = np.quantile(quotients, [_TAIL, 1 - _TAIL]).tolist()
    return found


def _weights(documents: Sequence[str]) -> NDArray[np.float64]:
    """Draw how often each document is in each replicate, (documents, replicates)."""
    hashed = [blake2b(name.encode(), digest_size=8, key=b"0").digest() for name in documents]
    starts = np.array([int.from_bytes(one, "little") for one in hashed], dtype=np.uint64)
    steps = np.arange(1, REPLICATES // 4 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = starts[:, None] + steps
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    drawn: NDArray[np.float64] = _POISSON[mixed.astype("<u8").view("<u2")]
    return drawn


def _poisson() -> NDArray[np.float64]:
    shares = np.cumsum([exp(-1) / factorial(times) for times in range(9)])
    return np.searchsorted(np.rint(shares * 65536), np.arange(65536), side="right").astype(float)


_POISSON = _poisson()
