"""What documents come to beyond their sums: the squares and cross products of their counts.

With the sums they are what an interval of a rate takes, and of a fixed size however many documents
there are. They are whole numbers, which add in any order with the same result.
"""

from itertools import combinations_with_replacement
from typing import Final, TypeAlias

import numpy as np

from stickler_cli.compare.outcomes import Floats
from stickler_cli.compare.result import FA, FD, FN, TP, Outcome
from .counts import RATES
from .field_counts import FieldCounts

NAMES: Final = tuple(outcome.name.lower() for outcome in Outcome)  # of the counts
PAIRS: Final = tuple(combinations_with_replacement(range(len(NAMES)), 2))
"""The outcomes whose counts in a document are multiplied."""

PRESENT: Final = {
    "predicted": (TP, FD, FA),
    "relevant": (TP, FN),
    "relevant_with_fd": (TP, FD, FN),
    "values": (TP, FD, FA, FN),
    "units": tuple(range(len(NAMES))),
}
"""Outcomes of which documents have any, for the number of documents that a rate is about."""

KEYS: Final = (*(f"{NAMES[one]}_{other}" for one, two in PAIRS for other in [NAMES[two]]), *PRESENT)
"""What each of the moments of a counting mode is called."""

Moments: TypeAlias = list[list[int]]
"""By counting mode, an entry for each of `KEYS`."""


def no_moments() -> Moments:
    """Return those of no documents."""
    return [[0] * len(KEYS) for _ in range(3)]


def moments_of(counts: FieldCounts) -> list[Moments]:
    """Return the moments of each field over the documents of a chunk."""
    sums = counts.sums
    columns = (
        *(sums[..., one] * sums[..., two] for one, two in PAIRS),
        *((sums[..., list(some)] > 0).any(axis=-1).astype(np.int64) for some in PRESENT.values()),
    )
    totals = [np.add.reduceat(column, counts.starts, axis=1) for column in columns]
    by_field: list[Moments] = np.stack(totals, axis=-1).swapaxes(0, 1).tolist()
    return by_field


def products(moments: list[int]) -> Floats:
    """Return the products of a counting mode as a matrix, (5 outcomes, 5 outcomes)."""
    matrix = np.empty((len(NAMES), len(NAMES)))
    for (one, two), product in zip(PAIRS, moments, strict=False):
        matrix[one, two] = matrix[two, one] = product
    return matrix


def documents_with(moments: list[int], *, recall_with_fd: bool) -> list[int]:
    """Return how many documents each of `RATES` is about."""
    relevant = "relevant_with_fd" if recall_with_fd else "relevant"
    about = ("predicted", relevant, "values", "units")
    return [moments[KEYS.index(name)] for name, _ in zip(about, RATES, strict=True)]
