"""The intervals of the whole, as the floor makes them: docs/statistics.md, in one go."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

REPLICATES = 1000
_AT_ONCE = 256
_TAIL = 0.025
_NAMES = ("cm_precision", "cm_recall", "cm_f1", "score")


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
        total += columns[start:stop].T @ _weights(documents[start:stop], b"0")
    (added,) = _weights([""], b"0 added")
    rates = zip(_rates(columns.T), _rates(total), strict=True)
    found = {}
    for name, ((_, sizes), (above, below)) in zip(_NAMES, rates, strict=True):
        if sizes.any():
            one = added * np.sqrt((sizes**2).sum() / np.count_nonzero(sizes))
            lower = np.quantile(above / (below + one), _TAIL)
            upper = np.quantile((above + one) / (below + one), 1 - _TAIL)
            found[name] = [float(lower), float(upper)]
    return found


def _rates(sums: NDArray[np.float64]) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    tp, fd, fa, fn, _, score, number = sums
    return [
        (tp, tp + fd + fa),
        (tp, tp + fn),
        (2 * tp, 2 * tp + fd + fa + fn),
        (score, number),
    ]


def _weights(documents: Sequence[str], key: bytes) -> NDArray[np.float64]:
    """Draw the weight of each document in each replicate, (documents, replicates)."""
    hashed = [blake2b(name.encode(), digest_size=8, key=key).digest() for name in documents]
    starts = np.array([int.from_bytes(one, "little") for one in hashed], dtype=np.uint64)
    steps = np.arange(1, REPLICATES // 4 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = starts[:, None] + steps
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    drawn: NDArray[np.float64] = _EXPONENTIAL[mixed.astype("<u8").view("<u2")]
    return drawn


_EXPONENTIAL = np.maximum(1, np.rint(-256 * np.log1p(-(np.arange(65536) + 0.5) / 65536)))
