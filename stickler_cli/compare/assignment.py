"""Match the rows of a matrix with its columns, so that the total gain is greatest.

An assignment may match them in any order. An alignment keeps their order.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .columns import Floats, Indexes

Bits: TypeAlias = NDArray[np.uint8]

PATH_ROW_STEPS: Final = 20_000
"""Number of steps that count for each row that the search for an augmenting path visits."""
PATH_CELL_STEPS: Final = 20
"""Number of steps that count for each cell of a visited row, in addition to `PATH_ROW_STEPS`."""
ASSIGNMENT_STEPS: Final = 0.1
"""Work of scipy's assignment. A matrix of shape (n, m) takes this number times n * n * m steps.
Measurements of this number usually gave 0.03, and never more than 0.8."""
ASSIGNMENT_BYTES: Final = 18
"""Memory that scipy's assignment needs for each cell of its matrix, in bytes."""
ALIGNMENT_STEPS: Final = 6
"""Number of steps that count for each possible pair of items, if the items of two lists are paired
in their order."""
ALIGNED_CELLS_PER_BYTE: Final = 4
"""When items are paired in their order, one byte holds the data of this many possible pairs."""


def split_by_size(sizes: Indexes, max_size: int) -> Iterator[Indexes]:
    """Yield blocks of positions whose sizes add up to about `max_size`; omit sizes of 0."""
    (positions,) = sizes.nonzero()
    if len(positions):
        block = (sizes[positions].cumsum() - 1) // max_size
        yield from np.split(positions, np.diff(block).nonzero()[0] + 1)


def assign(
    gain_of_row: Callable[[int], Floats], best: Floats, wanted: Indexes, width: int
) -> list[int]:
    """Assign each row to a different column so that the total gain is greatest.

    Return the column of each row; -1 for a row whose gains are all 0. There are n rows and m
    columns, and n is at most m.

    Each row begins with the column of its greatest gain, unless an earlier row has this column.
    Every other row gets a column by a shortest augmenting path. The work therefore grows with the
    number of rows that want the same column as an earlier row. Gains are computed only for rows on
    augmenting paths.

    Args:
        gain_of_row: a function that returns the gains of a row, in an array of shape (m,). All
            gains are at least 0.
        best: the greatest gain of each row, in an array of shape (n,).
        wanted: the column of the greatest gain of each row, in an array of shape (n,); -1 for a row
            whose gains are all 0.
        width: the number of columns, m.

    Source:
        Crouse (2016), doi:10.1109/TAES.2016.140952.

    >>> gains = np.array([[0.9, 0.8], [0.9, 0.1]])
    >>> assign(gains.__getitem__, gains.max(axis=1), gains.argmax(axis=1), 2)
    [1, 0]
    """
    best, price = best.copy(), np.zeros(width)
    row_of_column = np.full(width, -1)
    column_of_row = [-1] * len(best)
    for row, column in enumerate(wanted.tolist()):
        if column >= 0 and row_of_column[column] < 0:
            row_of_column[column], column_of_row[row] = row, column
    for row in np.flatnonzero(wanted >= 0).tolist():
        if column_of_row[row] < 0:
            _augment(gain_of_row, row, best, price, row_of_column, column_of_row)
    return column_of_row


def _augment(  # noqa: PLR0913, PLR0917 - the state of the search
    gain_of_row: Callable[[int], Floats],
    start_row: int,
    best: Floats,
    price: Floats,
    row_of_column: Indexes,
    column_of_row: list[int],
) -> None:
    """Assign one row by a shortest augmenting path (Dijkstra) and update the dual variables.

    There are two arrays of dual variables. `price` has the price of each column. `best` has a value
    for each row: the row's gain from its column, minus the price of the column. The reduced cost of
    a cell, `best[row] + price[column] - gain`, is never below 0.

    The path begins at `start_row`, alternates between columns and the rows assigned to them, and
    ends at a free column. Then each row of the path is assigned to the column that follows it on
    the path. All arguments with assignments and dual variables are changed in place.
    """
    cost = np.full(len(price), np.inf)
    previous_row = np.full(len(price), start_row)
    is_done = np.zeros(len(price), np.bool_)
    row, path_cost, visited_rows = start_row, 0.0, [start_row]
    while True:
        cost_through_row = path_cost + best[row] + price - gain_of_row(row)
        is_cheaper = ~is_done & (cost_through_row < cost)
        cost[is_cheaper], previous_row[is_cheaper] = cost_through_row[is_cheaper], row
        column = int(np.where(is_done, np.inf, cost).argmin())
        path_cost = float(cost[column])
        is_done[column] = True
        row = int(row_of_column[column])
        if row < 0:  # the column is free
            break
        visited_rows.append(row)

    for row in visited_rows:
        column_before = column_of_row[row]
        cost_before = cost[column_before] if column_before >= 0 else 0.0
        best[row] -= path_cost - cost_before
    price[is_done] += path_cost - cost[is_done]

    while True:  # go back from the free column to the first row
        row = int(previous_row[column])
        row_of_column[column] = row
        column, column_of_row[row] = column_of_row[row], column
        if row == start_row:
            return


def assign_product(size: int) -> None:
    """Multiply two matrices and solve an assignment, so that libraries allocate memory now.

    If OpenBLAS cannot allocate its memory later, it ends the process instead of raising an error.
    """
    square = np.ones((size, size))
    assign_all(square @ square)


def assign_all(gains: Floats) -> list[int]:
    """Assign each row of a matrix to a different column so that the total gain is greatest.

    Return the column of each row; -1 for a row that gains nothing from its column. `gains` is an
    array of shape (n, m), where n is at most m.
    """
    from scipy.optimize import linear_sum_assignment  # late: takes 0.4 s, and few runs need it

    rows, columns = linear_sum_assignment(gains, maximize=True)
    return [*map(int, np.where(gains[rows, columns] > 0, columns, -1))]


def align(rows: Iterable[Floats], n_rows: int, n_columns: int) -> list[int]:
    """Align rows with columns by a weighted longest common subsequence.

    Each row gets a column to the right of the columns of all earlier rows, or -1, so that the total
    gain is greatest. If several alignments have this total, their first pairs decide: the smaller
    row wins, then the smaller column. If the first pairs are equal, the second pairs decide, and so
    on.

    `rows` yields the gains of each row, from the last row to the first, as an array of shape
    (n_columns,). If a gain is 0, its row and column are not a possible pair.

    >>> align([np.array([0.8, 0.0, 0.7]), np.array([0.0, 0.9, 0.9])], 2, 3)
    [1, 2]
    """
    # Count gains in whole units, so that totals do not depend on the order of addition.
    max_pairs = max(min(n_rows, n_columns), 1)
    unit = 2.0 ** -min(50, 60 - (4 * max_pairs).bit_length())
    tolerance = int(min(max_pairs, 0.25e-9 / max(n_rows, n_columns, 1) / unit))
    kept_rows: list[tuple[Bits, Bits]] = []
    # Best total of the later rows, by the first column that they may take.
    best_below = np.zeros(n_columns + 1, np.int64)
    for gains in rows:
        units = np.rint(gains / unit).astype(np.int64)
        total_with_cell = np.where(units > 0, units + best_below[1:], -1)
        best = best_below.copy()
        np.maximum(best_below[:-1], total_with_cell, out=best[:-1])
        best = np.maximum.accumulate(best[::-1])[::-1]
        can_take_cell = (units > 0) & (total_with_cell >= best[:-1] - tolerance)
        can_skip_column = best[:-1] <= best[1:] + tolerance
        kept_rows.append((np.packbits(can_take_cell), np.packbits(can_skip_column)))
        best_below = best
    return [*_trace_alignment(reversed(kept_rows), n_columns)]


def _trace_alignment(kept_rows: Iterable[tuple[Bits, Bits]], n_columns: int) -> Iterator[int]:
    """Yield the column of each row in the best alignment, from the first row on; -1 for no column.

    `kept_rows` has a pair of bit masks for each row, with one bit for each column. Bit `c` is about
    the part of the matrix that begins at this row and at column `c`. In the first mask, the bit is
    set if a best alignment of this part pairs the row with column `c`. In the second mask, the bit
    is set if a best alignment of this part does not use column `c`.
    """
    first_column = 0
    for kept_row in kept_rows:
        can_take, can_skip = (
            np.unpackbits(bits, count=n_columns)[first_column:] for bits in kept_row
        )
        offset = int(can_take.argmax()) if len(can_take) else 0
        if len(can_take) and can_take[offset] and can_skip[:offset].all():
            first_column += offset + 1
            yield first_column - 1
        else:
            yield -1
