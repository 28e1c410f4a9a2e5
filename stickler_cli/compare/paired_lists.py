"""Keeps the paired items of inner lists, because the same lists are compared several times."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import NOTHING, Floats, Indexes, expand_ranges
from .pairing import ListPairs

GROWTH: Final = 1.25
"""A full array grows by this factor. Each value is then copied about four times in all."""


class _GrowingArray:
    """An array with spare capacity at its end."""

    __slots__ = ("_array", "_length")

    def __init__(self, values: NDArray[Any]) -> None:
        self._array, self._length = values, len(values)

    @property
    def values(self) -> NDArray[Any]:
        """The values, without the spare capacity."""
        return self._array[: self._length]

    @property
    def n_bytes(self) -> int:
        """The memory of the array, in bytes, with the spare capacity."""
        return self._array.nbytes

    def extend(self, values: NDArray[Any]) -> None:
        """Append values."""
        length = self._length + len(values)
        if length > len(self._array):
            capacity = max(length, int(GROWTH * len(self._array)))
            grown = np.empty(capacity, self._array.dtype)
            grown[: self._length] = self.values
            self._array = grown
        self._array[self._length : length] = values
        self._length = length


class _KeyRun(NamedTuple):
    """Keys in ascending order, and the row of each key."""

    keys: Indexes
    rows: Indexes

    @property
    def n_bytes(self) -> int:
        """The memory of both arrays, in bytes."""
        return self.keys.nbytes + self.rows.nbytes

    def merge(self, other: "_KeyRun") -> "_KeyRun":
        """Return one `_KeyRun` with the keys and rows of both objects."""
        keys = np.concatenate([self.keys, other.keys])
        order = keys.argsort(kind="stable")  # linear for two sorted runs
        return _KeyRun(keys[order], np.concatenate([self.rows, other.rows])[order])


class PairedLists:
    """A table of pairs of lists, with the paired items of each; a row is a pair of lists.

    Only lists inside list items are kept here. The same two lists are compared several times: when
    the outer items are paired, when the chosen outer items are scored, and when they are recorded.

    Each row has a key, a number that combines the positions of the two lists. New rows are
    appended. Their keys are stored in several sorted arrays (runs), from the longest to the
    shortest. Short runs are merged. A key is therefore sorted only about log2(n) times, even if
    rows are added one by one.
    """

    __slots__ = ("_ends", "_gt", "_pred", "_runs", "_similarity", "_sums")

    def __init__(self, keys: Indexes, pairs: ListPairs) -> None:
        """Store pairs of lists, and the pairs of items that were found in these lists.

        `keys` has one number for each pair of lists, which combines the positions of the two lists
        in their columns. The numbers are distinct and in ascending order. `pairs` has the pairs of
        items: `pairs.owner` is the index in `keys` of the pair of lists that the items are in.
        """
        self._runs = [_KeyRun(keys, np.arange(len(keys)))]
        self._sums = _GrowingArray(_sum_by_owner(pairs, len(keys)))
        self._ends = _GrowingArray(pairs.owner.searchsorted(np.arange(len(keys)), side="right"))
        self._gt, self._pred = _GrowingArray(pairs.gt), _GrowingArray(pairs.pred)
        self._similarity = _GrowingArray(pairs.similarity)

    @property
    def n_bytes(self) -> int:
        """The memory of all arrays, in bytes."""
        arrays = self._sums, self._ends, self._gt, self._pred, self._similarity
        return sum(array.n_bytes for array in arrays) + sum(run.n_bytes for run in self._runs)

    def sums(self, rows: Indexes) -> Floats:
        """Return the sum of the similarities of the paired items, for each row."""
        sums: Floats = self._sums.values[rows]
        return sums

    def count_pairs(self, rows: Indexes) -> Indexes:
        """Return the number of pairs of items, for each row."""
        return self._ends.values[rows] - self._starts(rows)

    def pairs_of(self, rows: Indexes) -> ListPairs:
        """Return the pairs of items that are stored for some pairs of lists.

        `rows` are the rows of these pairs of lists in the table. In the result, `owner` is an index
        in `rows`.
        """
        selected, owner = expand_ranges(self._starts(rows), self.count_pairs(rows))
        return ListPairs(
            owner=owner,
            gt=self._gt.values[selected],
            pred=self._pred.values[selected],
            similarity=self._similarity.values[selected],
        )

    def rows_of(self, keys: Indexes) -> Indexes:
        """Return the row in the table of each pair of lists, given the keys of the pairs of lists.

        The row is `NOTHING` (-1) if the table does not contain the pair of lists.
        """
        rows = np.full(len(keys), NOTHING)
        for run in self._runs:
            positions = run.keys.searchsorted(keys)
            is_kept = np.append(run.keys, NOTHING)[positions] == keys
            rows[is_kept] = run.rows[positions[is_kept]]
        return rows

    def add(self, keys: Indexes, pairs: ListPairs) -> None:
        """Append pairs of lists that are not in the table, with their pairs of items.

        The arguments have the same form as the arguments of `__init__`.
        """
        n_rows, n_pairs = len(self._ends.values), len(self._gt.values)
        ends = pairs.owner.searchsorted(np.arange(len(keys)), side="right")
        self._ends.extend(n_pairs + ends)
        self._sums.extend(_sum_by_owner(pairs, len(keys)))
        self._gt.extend(pairs.gt)
        self._pred.extend(pairs.pred)
        self._similarity.extend(pairs.similarity)
        run = _KeyRun(keys, n_rows + np.arange(len(keys)))
        while self._runs and len(self._runs[-1].keys) <= 2 * len(run.keys):
            run = self._runs.pop().merge(run)
        self._runs.append(run)

    def _starts(self, rows: Indexes) -> Indexes:
        """Return where the pairs of items of each row begin in the arrays of all pairs of items."""
        starts: Indexes = self._ends.values[rows - 1]  # of row -1, if row is 0
        return np.where(rows > 0, starts, 0)


def _sum_by_owner(pairs: ListPairs, n_owners: int) -> Floats:
    return np.bincount(pairs.owner, pairs.similarity, n_owners).astype(np.float64)
