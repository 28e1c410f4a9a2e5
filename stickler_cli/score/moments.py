"""What documents come to beyond their sums: the squares and cross products of their counts.

With the sums they are what an interval of a rate takes, and of a fixed size however many documents
there are. They are whole numbers, which add in any order with the same result.
"""

from itertools import combinations_with_replacement
from typing import Final, TypeAlias

import numpy as np

from stickler_cli.compare.outcomes import Floats
from stickler_cli.compare.result import Outcome
from .field_counts import FieldCounts

NAMES: Final = tuple(outcome.name.lower() for outcome in Outcome)  # of the counts
PAIRS: Final = tuple(combinations_with_replacement(range(len(NAMES)), 2))
"""The outcomes whose counts in a document are multiplied."""

KEYS: Final = tuple(f"{NAMES[one]}_{NAMES[two]}" for one, two in PAIRS)
"""What each of the moments of a counting mode is called."""

Moments: TypeAlias = list[list[int]]
"""By counting mode, an entry for each of `KEYS`."""


def no_moments() -> Moments:
    """Return those of no documents."""
    return [[0] * len(KEYS) for _ in range(3)]


def moments_of(counts: FieldCounts) -> list[Moments]:
    """Return the moments of each field over the documents of a chunk."""
    sums = counts.sums
    columns = (sums[..., one] * sums[..., two] for one, two in PAIRS)
    totals = [np.add.reduceat(column, counts.starts, axis=1) for column in columns]
    by_field: list[Moments] = np.stack(totals, axis=-1).swapaxes(0, 1).tolist()
    return by_field


def products(moments: list[int]) -> Floats:
    """Return the products of a counting mode as a matrix, (5 outcomes, 5 outcomes)."""
    matrix = np.empty((len(NAMES), len(NAMES)))
    for (one, two), product in zip(PAIRS, moments, strict=True):
        matrix[one, two] = matrix[two, one] = product
    return matrix
