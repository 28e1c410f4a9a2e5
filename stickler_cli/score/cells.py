"""A cell of the ledger: what was counted of a field in a document, as numbers and in files."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from .moments import NAMES
from .tally import COUNTING_MODES

OF_MODES: Final = len(COUNTING_MODES) * len(NAMES)  # counts by mode and outcome come first
BESIDE: Final = ("not_evaluated", "whole", "items")
"""What follows them: values that were not evaluated, items and objects that are right as a whole,
and all of those that are in the ground truth or invented."""
CELL: Final = OF_MODES + len(BESIDE)
LEAVES: Final = slice(OF_MODES - len(NAMES), OF_MODES)  # the counts of values


def cell_view(cell: Sequence[int]) -> dict[str, Any]:
    """Return a cell as files have it: what is not 0, once if the counting modes are alike."""
    beside = {name: n for name, n in zip(BESIDE, cell[OF_MODES:], strict=True) if n}
    return sparse([cell[at : at + len(NAMES)] for at in range(0, OF_MODES, len(NAMES))]) | beside


def sparse(by_mode: Sequence[Sequence[int]], names: Sequence[str] = NAMES) -> dict[str, Any]:
    """Return what was counted by mode as files have it: what is not 0, once if modes are alike."""
    overall, aggregate, leaves = by_mode
    if overall == aggregate == leaves:
        return {name: n for name, n in zip(names, overall, strict=True) if n}
    return {
        mode: {name: n for name, n in zip(names, counts, strict=True) if n}
        for mode, counts in zip(COUNTING_MODES, by_mode, strict=True)
        if any(counts)
    }


def cell_of(entry: Mapping[str, Any]) -> list[int]:
    """Return the cell that stands in a file."""
    by_mode = ([mode.get(name, 0) for name in NAMES] for mode in counts_by_mode(entry))
    return [*chain(*by_mode), *(entry.get(name, 0) for name in BESIDE)]


def counts_by_mode(entry: Mapping[str, Any]) -> tuple[Mapping[str, int], ...]:
    """Return the counts of a field by name, mode by mode; they are written once if equal."""
    found = tuple(entry.get(mode, {}) for mode in COUNTING_MODES)
    return found if any(found) else (entry, entry, entry)
