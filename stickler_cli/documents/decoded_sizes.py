"""Estimate how much memory the values of an Arrow column take in Python, before converting them.

If many rows have the same value, a file may store the value only once: in a dictionary, in a run of
equal values, or as a view of the same text or the same items. In Python, each row has its own copy.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.problems import import_pyarrow

BYTES_OF_OBJECT: Final = 40  # size of a Python value and of its entry in a list
VIEW_CELLS: Final = 4  # of 32 bits each; the first one is the length. Source: Arrow, "View layout"


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type stores a separate text, or separate bytes, for each row.

    False for dictionary and view types, which may store a text once for several rows.
    """
    tests = "is_string", "is_large_string", "is_binary", "is_large_binary"
    return _is_any(kind, tests)


def decoded_sizes(column: Any) -> NDArray[np.float64]:
    """Estimate for each value of a column how many bytes it takes in Python, with nested values."""
    types = import_pyarrow().types
    if isinstance(column.type, import_pyarrow().BaseExtensionType):
        column = column.storage
    kind = column.type
    sizes: NDArray[np.float64] = np.full(len(column), float(BYTES_OF_OBJECT))
    if is_text(kind):
        compute = import_pyarrow(module="pyarrow.compute")
        sizes += compute.binary_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    elif types.is_fixed_size_binary(kind):
        sizes += kind.byte_width
    elif types.is_dictionary(kind) and len(column.dictionary):  # it is empty if all are null
        sizes = _sizes_of_entries(column)
    elif _is_any(kind, ("is_run_end_encoded",)):
        rows = column.offset + np.arange(len(column))
        runs = column.run_ends.to_numpy().searchsorted(rows, side="right")
        sizes = decoded_sizes(column.values)[runs]
    elif _is_any(kind, ("is_string_view", "is_binary_view")):
        sizes += _lengths_of_views(column)
    elif types.is_struct(kind):
        for index in range(kind.num_fields):
            sizes += decoded_sizes(column.field(index))
    else:
        sizes += _sizes_of_items(column)
    return sizes


def _is_any(kind: Any, names: tuple[str, ...]) -> bool:
    """Return whether an Arrow type passes at least one of some tests in `pyarrow.types`.

    `names` are the names of the tests, such as `is_list`. Tests that an old version of pyarrow does
    not have are skipped.
    """
    types = import_pyarrow().types
    return any(getattr(types, name)(kind) for name in names if hasattr(types, name))


def _sizes_of_entries(column: Any) -> NDArray[np.float64]:
    """Return the size of the dictionary entry of each row."""
    indices = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
    positions, entries = indices, column.dictionary
    if len(indices) < len(entries):  # do not measure a large dictionary anew for each few rows
        used, positions = np.unique(indices, return_inverse=True)
        entries = entries.take(import_pyarrow().array(used))
    sizes: NDArray[np.float64] = decoded_sizes(entries)[positions]
    return sizes


def _sizes_of_items(column: Any) -> NDArray[np.float64]:
    """Return for each list in a column the total size of its items, in bytes.

    All sizes are 0 if the values of the column are not lists.
    """
    starts, lengths = _ranges_of_items(column)
    if not len(starts):
        return np.zeros(len(column))
    first = int(starts.min())
    items = column.values.slice(first, int((starts + lengths).max()) - first)
    ends = np.concatenate([[0.0], np.cumsum(decoded_sizes(items))])
    sizes: NDArray[np.float64] = ends[starts + lengths - first] - ends[starts - first]
    return sizes


def _lengths_of_views(column: Any) -> NDArray[np.int32]:
    """Return the length in bytes of each text in a column of a view type; 0 for null."""
    views = np.frombuffer(column.buffers()[1] or b"", np.int32).reshape(-1, VIEW_CELLS)
    lengths: NDArray[np.int32] = views[column.offset : column.offset + len(column), 0]
    return np.where(column.is_null().to_numpy(zero_copy_only=False), 0, lengths)


def _ranges_of_items(column: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the items of each list in a column start, and how many items each list has.

    The starts are indexes among the items of all lists. If the values of the column are not lists,
    both arrays are empty.
    """
    kind, no_items = column.type, np.zeros(0, np.int64)
    if _is_any(kind, ("is_list", "is_large_list", "is_map")):
        offsets = column.offsets.to_numpy().astype(np.int64)
        return offsets[:-1], np.diff(offsets)
    if _is_any(kind, ("is_list_view", "is_large_list_view")):
        is_null = column.is_null().to_numpy(zero_copy_only=False)
        lengths = np.where(is_null, 0, column.sizes.to_numpy()).astype(np.int64)
        return np.where(is_null, 0, column.offsets.to_numpy()).astype(np.int64), lengths
    if _is_any(kind, ("is_fixed_size_list",)):
        positions = column.offset + np.arange(len(column))
        return positions * kind.list_size, np.full(len(column), kind.list_size)
    return no_items, no_items
