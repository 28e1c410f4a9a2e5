"""Overlap of two boxes on a page."""

import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import BaseComparator, Similarities


class Box(NamedTuple):
    """A box with its corners in order, and its area, above 0."""

    left: float
    top: float
    right: float
    bottom: float
    area: float


class BBoxIoUComparator(BaseComparator):
    """Compare two boxes on a page: area of the intersection over area of the union."""

    takes: ClassVar[frozenset[str]] = frozenset({"array"})
    same_value = True
    columnar: ClassVar[bool] = True

    def __init__(self, threshold: float = 0.5) -> None:
        """Set the threshold in [0, 1] that `binary_compare` uses."""
        super().__init__(threshold)

    def prepare(self, value: Any) -> Box | None:
        """Read `[x1, y1, x2, y2]` or `[[x1, y1], [x2, y2]]`, corners in any order.

        None where that is not what stands there, and for a box without a finite area above 0.
        """
        items = _items(value)
        if len(items) == 2 and all(len(_items(item)) == 2 for item in items):
            items = [*_items(items[0]), *_items(items[1])]
        # A limit, not math.isfinite, which fails on integers beyond the floats.
        numbers = all(isinstance(item, int | float) for item in items)  # true is 1, false is 0
        finite = numbers and all(abs(item) <= sys.float_info.max for item in items)
        if len(items) != 4 or not finite:
            return None
        x1, y1, x2, y2 = map(float, items)
        left, right = sorted((x1, x2))
        top, bottom = sorted((y1, y2))
        area = (right - left) * (bottom - top)
        fits = 0 < area <= sys.float_info.max / 2  # so that two areas can be added
        return Box(left, top, right, bottom, area) if fits else None

    def similarity(self, gt: Box | None, pred: Box | None) -> float:
        """Compare two boxes: intersection over union; 0.0 where either is not one."""
        return float(BBoxIoUComparator.similarities(self, [gt], [pred])[0])  # not a subclass's

    def similarities(self, gts: Sequence[Box | None], preds: Sequence[Box | None]) -> Similarities:
        """Compare two columns of boxes."""
        left, top, right, bottom, area = _columns(gts)
        pred_left, pred_top, pred_right, pred_bottom, pred_area = _columns(preds)
        with np.errstate(over="ignore"):  # boxes at either end of the floats share nothing
            width = np.minimum(right, pred_right) - np.maximum(left, pred_left)
            height = np.minimum(bottom, pred_bottom) - np.maximum(top, pred_top)
        shared = np.maximum(width, 0.0) * np.maximum(height, 0.0)
        overlap: Similarities = shared / (area + pred_area - shared)
        return overlap


_NO_BOX: Final = Box(0.0, 0.0, 0.0, 0.0, 1.0)
"""Stands for a missing box in a column: it shares nothing, and its area keeps the union above 0."""


def _columns(boxes: Sequence[Box | None]) -> NDArray[np.float64]:
    """Lay boxes out as (5, n): left, top, right, bottom, area."""
    numbers = chain.from_iterable(box or _NO_BOX for box in boxes)
    return np.fromiter(numbers, np.float64, 5 * len(boxes)).reshape(-1, 5).T


def _items(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
