"""Count right and lost values of list items by the position of the item in its list.

This shows why values are lost. If an extraction stops early, the last items lose their values. If
values are misread, they are lost anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Indexes
from stickler_cli.compare.result import FN, TP
from stickler_cli.compare.units import VALUE, UnitBatch, UnitTable
from .errors.located_units import levels_of
from .intervals import Interval, Spread, rate_intervals

BIN_STARTS: Final = (0, 1, 2, 3, 4, 5, 10, 20, 50)
"""The first position in each bin, counted from 0. The last bin has no upper end."""

N_SUMS: Final = 5  # sums of a bin: lost, right, and the squares and product of these


class PlaceRate(NamedTuple):
    """Values in list items at certain positions: how many there are, and how many were lost."""

    name: str
    """The list positions that are counted together: `4`, `5-9` or `50+`."""
    lost: int
    values: int
    interval: Interval | None
    """Confidence interval of the lost share; None if there are no values or intervals are not
    computed."""

    @property
    def share(self) -> float:
        """The share of values that were lost; 0 if there are no values."""
        return self.lost / self.values if self.values else 0.0


@dataclass(slots=True)
class ItemPlaceCounts:
    """Counts of values by position, summed over all documents. Positions are grouped into bins."""

    sums: list[list[int]] = field(default_factory=lambda: [[0] * N_SUMS for _ in BIN_STARTS])

    def merge(self, other: "ItemPlaceCounts") -> None:
        """Add the values of other documents."""
        for sums, other_sums in zip(self.sums, other.sums, strict=True):
            sums[:] = map(sum, zip(sums, other_sums, strict=True))

    def rates(self, level: float | None = None) -> list[PlaceRate]:
        """Return the share of lost values in each bin.

        Bins after the last one with a value are left out. `level` is the confidence level of
        intervals, or None for no intervals.
        """
        intervals: Sequence[Interval | None] = [None] * len(self.sums)
        if level is not None:
            intervals = rate_intervals([Spread(*sums) for sums in self.sums], level)
        rates = [
            PlaceRate(name=name, lost=sums[0], values=sums[0] + sums[1], interval=interval)
            for name, sums, interval in zip(bin_names(), self.sums, intervals, strict=True)
        ]
        while rates and not rates[-1].values:
            rates.pop()
        return rates


def bin_names() -> list[str]:
    """Return the names of the bins.

    >>> bin_names()
    ['0', '1', '2', '3', '4', '5-9', '10-19', '20-49', '50+']
    """
    ends = [start - 1 for start in BIN_STARTS[1:]]
    names = [
        f"{start}" if start == end else f"{start}-{end}"
        for start, end in zip(BIN_STARTS[:-1], ends, strict=True)
    ]
    return [*names, f"{BIN_STARTS[-1]}+"]


def count_item_places(table: UnitTable) -> ItemPlaceCounts:
    """Count right and lost values inside list items, by the position of the item.

    If lists are nested, a value is counted at the position of the outermost item that contains it.
    The position of an item is its index in the ground truth. If the item was invented, the position
    is its index in the prediction.
    """
    n_bins = len(BIN_STARTS)
    lost, right = np.zeros((2, table.n_documents, n_bins), np.int64)
    for batch in table.batches:
        if batch.kind != VALUE or not batch.is_in_list or batch.is_unlabelled:
            continue
        (selected,) = (np.broadcast_to(batch.outcome, batch.size) <= FN).nonzero()
        bins = np.searchsorted(BIN_STARTS, places_in_list(batch, selected), side="right") - 1
        is_right = batch.outcome[selected] == TP
        cells = batch.document[selected] * n_bins + bins
        for counts, is_counted in ((lost, ~is_right), (right, is_right)):
            counts[:] += np.bincount(cells[is_counted], minlength=lost.size).reshape(lost.shape)
    sums = (lost, right, lost * lost, lost * right, right * right)
    return ItemPlaceCounts(np.stack([array.sum(axis=0) for array in sums], axis=1).tolist())


def places_in_list(batch: UnitBatch, selected: Indexes) -> Indexes:
    """Return the position of the outermost list item that contains each selected unit."""
    items, positions = next(level for level in levels_of(batch, selected) if level[0].is_item)
    gt_index = np.broadcast_to(items.gt_index, items.size)[positions]
    pred_index = np.broadcast_to(items.pred_index, items.size)[positions]
    return np.where(gt_index >= 0, gt_index, pred_index)
