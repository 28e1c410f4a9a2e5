"""The assignment of the greatest total, of one matrix of gains."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .columns import Floats, Indexes

Bits: TypeAlias = NDArray[np.uint8]

LOOK: Final = 20_000
"""Steps of a search for a path at each row that it looks at,"""
LOOK_AT_EACH: Final = 20
"""and for each column of this row."""
ASSIGNED: Final = 0.1
"""Steps of scipy's assignment for n * n * m of a matrix: some 0.03, and 0.8 of the worst."""


def blocks(cells: Indexes, most: int) -> Iterator[Indexes]:
    """Return where there are cells, about `most` of them at a time, as memory may hold."""
    (some,) = cells.nonzero()
    if len(some):
        block = (cells[some].cumsum() - 1) // most
        yield from np.split(some, np.diff(block).nonzero()[0] + 1)


def assign(gain: Callable[[int], Floats], best: Floats, wanted: Indexes, width: int) -> list[int]:
    """Choose a column for each row, no column twice, of the greatest total gain.

    Rows begin with the column that they gain most of, the first of them that wants it. Each other
    row is given one by a shortest augmenting path. So the work is in proportion to the rows that
    want the same as another, and only the rows on these paths are looked at.

    Args:
        gain: returns the (m,) gains of a row, none below 0.
        best: (n,), n <= m: the greatest gain of each row.
        wanted: (n,): the column of that gain; below 0, as in the answer, for a row without gain.
        width: m.

    Source:
        Crouse (2016), doi:10.1109/TAES.2016.140952.

    >>> gains = np.array([[0.9, 0.8], [0.9, 0.1]])
    >>> assign(gains.__getitem__, gains.max(axis=1), gains.argmax(axis=1), 2)
    [1, 0]
    """
    best, price = best.copy(), np.zeros(width)
    row_of = np.full(width, -1)
    column_of = [-1] * len(best)
    for row, column in enumerate(wanted.tolist()):
        if column >= 0 and row_of[column] < 0:
            row_of[column], column_of[row] = row, column
    for row in np.flatnonzero(wanted >= 0).tolist():
        if column_of[row] < 0:
            _augment(gain, row, best, price, row_of, column_of)
    return column_of


def _augment(  # noqa: PLR0913, PLR0917 - the state of the search
    gain: Callable[[int], Floats],
    start: int,
    best: Floats,
    price: Floats,
    row_of: Indexes,
    column_of: list[int],
) -> None:
    """Give one row a column, along the path that costs the others least."""
    cost = np.full(len(price), np.inf)
    before = np.full(len(price), start)
    done = np.zeros(len(price), np.bool_)
    row, length, scanned = start, 0.0, [start]
    while True:
        through = length + best[row] + price - gain(row)
        nearer = ~done & (through < cost)
        cost[nearer], before[nearer] = through[nearer], row
        column = int(np.where(done, np.inf, cost).argmin())
        length = float(cost[column])
        done[column] = True
        row = int(row_of[column])
        if row < 0:
            break
        scanned.append(row)
    for row in scanned:
        taken = column_of[row]
        best[row] -= length - (cost[taken] if taken >= 0 else 0.0)
    price[done] += length - cost[done]
    while True:
        row = int(before[column])
        row_of[column] = row
        column, column_of[row] = column_of[row], column
        if row == start:
            return


def assign_product(size: int) -> None:
    """Multiply and assign a matrix, so that all that this takes of the system is taken."""
    square = np.ones((size, size))
    assign_all(square @ square)


def assign_all(gains: Floats) -> list[int]:
    """Choose a column for each row of a matrix, (n, m) with n <= m, of the greatest total gain.

    It is below 0, as of `assign`, for a row without gain.
    """
    from scipy.optimize import linear_sum_assignment  # 0.4 s that most runs never pay

    rows, columns = linear_sum_assignment(gains, maximize=True)
    return [*map(int, np.where(gains[rows, columns] > 0, columns, -1))]


KEPT_OF_CELL: Final = 18
"""Bytes of a cell of an assignment."""
ALIGNED: Final = 6
"""Steps of a cell of an alignment."""
ALIGNED_IN_BYTE: Final = 4
"""Cells of an alignment that a byte keeps."""


def align(rows: Iterable[Floats], n: int, m: int) -> list[int]:
    """Choose a column for each row, to the right of that of any row above, of the greatest total.

    Of equal totals it is the one whose first pair comes first, by row and then by column, and so
    on. Rows, the last of n first, are (m,) gains, 0 for what is no pair; totals are of whole
    numbers, so that what is equal does not depend on the order of a sum.

    >>> align([np.array([0.8, 0.0, 0.7]), np.array([0.0, 0.9, 0.9])], 2, 3)
    [1, 2]
    """
    least = max(min(n, m), 1)
    unit = 2.0 ** -min(50, 60 - (4 * least).bit_length())
    equal = int(min(least, 0.25e-9 / max(n, m, 1) / unit))
    kept: list[tuple[Bits, Bits]] = []
    below = np.zeros(m + 1, np.int64)
    for gains in rows:
        whole = np.rint(gains / unit).astype(np.int64)
        total = np.where(whole > 0, whole + below[1:], -1)
        best = below.copy()
        np.maximum(below[:-1], total, out=best[:-1])
        best = np.maximum.accumulate(best[::-1])[::-1]
        taken = (whole > 0) & (total >= best[:-1] - equal)
        kept.append((np.packbits(taken), np.packbits(best[:-1] <= best[1:] + equal)))
        below = best
    return [*_followed(reversed(kept), m)]


def _followed(kept: Iterable[tuple[Bits, Bits]], m: int) -> Iterator[int]:
    """Follow an alignment from the first row on; -1 for a row without a column.

    Of each row it is kept which cells a best alignment of all rows and columns from there on begins
    with, and where nothing is lost by going on to the next column.
    """
    first = 0
    for row in kept:
        taken, level = (np.unpackbits(bits, count=m)[first:] for bits in row)
        at = int(taken.argmax()) if len(taken) else 0
        if len(taken) and taken[at] and level[:at].all():
            first += at + 1
            yield first - 1
        else:
            yield -1
