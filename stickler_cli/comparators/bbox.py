"""The overlap of two boxes on a page."""

import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.json_values import brief
from stickler_cli.core.match_differences import MatchDifference
from .base import BaseComparator, Similarities

FORMATS: Final = ("corners", "xywh")
"""Notations of a box as numbers. The first one is the default."""
MIN_CLEAR_OVERLAP: Final = 0.75
"""Two boxes with at least this overlap certainly show the same thing. Source: Lin et al. (2014),
Microsoft COCO, the strict metric."""
BOX_NUMBERS: Final = 4
QUADRILATERAL_NUMBERS: Final = 8


class Box(NamedTuple):
    """The edges of a box (left < right, top < bottom), and its area, which is above 0."""

    left: float
    top: float
    right: float
    bottom: float
    area: float
    crosses_itself: bool = False
    """Whether two opposite edges of the quadrilateral cross. It is then not a possible outline of a
    box."""


class BBoxIoUComparator(BaseComparator):
    """Compare two boxes on a page: area of their intersection divided by area of their union."""

    takes: ClassVar[frozenset[str]] = frozenset({"array"})
    same_value = True
    columnar: ClassVar[bool] = True

    def __init__(self, threshold: float = 0.5, format: str = "corners") -> None:  # noqa: A002
        """Set the notation of boxes.

        Args:
            threshold: the threshold of `binary_compare`, in [0, 1].
            format: `corners` for two opposite corners in any order, or `xywh` for a corner, width
                and height.

        Raises:
            ValueError: the format is unknown.
        """
        super().__init__(threshold)
        if format not in FORMATS:
            raise ValueError(f"format is {format!r}, expected one of {', '.join(FORMATS)}")
        self.format = format

    def prepare(self, value: Any) -> Box | None:
        """Convert a value to a box. Of a quadrilateral, return the rectangle around it.

        A box is written as four numbers or two pairs of numbers. A quadrilateral is written as its
        corners, in eight numbers or four pairs. Return None for any other value, and for a box
        whose area is 0 or not finite.
        """
        numbers = _numbers(value)
        if numbers is None or len(numbers) not in (BOX_NUMBERS, QUADRILATERAL_NUMBERS):
            return None
        if len(numbers) == BOX_NUMBERS and self.format == "xywh":
            x, y, width, height = numbers
            if width <= 0 or height <= 0:
                return None
            numbers = [x, y, x + width, y + height]
        crosses_itself = len(numbers) == QUADRILATERAL_NUMBERS and _crosses_itself(numbers)
        left, right = min(numbers[::2]), max(numbers[::2])
        top, bottom = min(numbers[1::2]), max(numbers[1::2])
        area = (right - left) * (bottom - top)
        # At most half of the largest float, so that the sum of two areas is finite.
        has_valid_area = 0 < area <= sys.float_info.max / 2
        if not has_valid_area:
            return None
        return Box(left, top, right, bottom, area, crosses_itself)

    def similarity(self, gt: Box | None, pred: Box | None) -> float:
        """Return the intersection over union of two boxes; 0.0 if one of them is None."""
        return float(BBoxIoUComparator.similarities(self, [gt], [pred])[0])  # not overridden

    def find_difference(self, gt: Any, pred: Any) -> MatchDifference | None:
        """Return how two matching boxes differ.

        None if they overlap by `MIN_CLEAR_OVERLAP` or more.
        """
        overlap = self.similarity(self.prepare(gt), self.prepare(pred))
        if overlap >= MIN_CLEAR_OVERLAP:
            return None
        return MatchDifference("small overlap", brief(gt), brief(pred))

    def similarities(self, gts: Sequence[Box | None], preds: Sequence[Box | None]) -> Similarities:
        """Return the intersection over union of each pair of boxes.

        If only one box of a pair is a quadrilateral whose edges cross, the result for this pair
        is 0.
        """
        left, top, right, bottom, area, crosses = _columns(gts)
        pred_left, pred_top, pred_right, pred_bottom, pred_area, pred_crosses = _columns(preds)
        with np.errstate(over="ignore"):  # boxes very far apart do not overlap
            width = np.minimum(right, pred_right) - np.maximum(left, pred_left)
            height = np.minimum(bottom, pred_bottom) - np.maximum(top, pred_top)
        shared = np.maximum(width, 0.0) * np.maximum(height, 0.0)
        overlap: Similarities = shared / (area + pred_area - shared)
        overlap[crosses != pred_crosses] = 0.0
        return overlap


_NO_BOX: Final = Box(0.0, 0.0, 0.0, 0.0, 1.0)
"""Stands for a missing box in arrays. It overlaps no box. Its area is 1, to avoid a division by
0."""


def _columns(boxes: Sequence[Box | None]) -> NDArray[np.float64]:
    """Return the fields of `n` boxes as an array of shape (6, n).

    The rows are the fields of `Box`, in the order of their definition.
    """
    n_columns = len(_NO_BOX)
    numbers = chain.from_iterable(box or _NO_BOX for box in boxes)
    return np.fromiter(numbers, np.float64, n_columns * len(boxes)).reshape(-1, n_columns).T


_Point: TypeAlias = tuple[float, float]


def _crosses_itself(numbers: Sequence[float]) -> bool:
    """Return whether two opposite edges of a quadrilateral cross.

    `numbers` are its four corners.
    """
    first, second, third, fourth = zip(numbers[::2], numbers[1::2], strict=True)
    return _cross(first, second, third, fourth) or _cross(second, third, fourth, first)


def _cross(start: _Point, end: _Point, other_start: _Point, other_end: _Point) -> bool:
    """Return whether two edges cross.

    They do if the ends of each edge lie on different sides of the other edge.
    """
    sides = _side(start, end, other_start) * _side(start, end, other_end)
    other_sides = _side(other_start, other_end, start) * _side(other_start, other_end, end)
    return sides < 0 and other_sides < 0


def _side(start: _Point, end: _Point, point: _Point) -> int:
    """Return 1 or -1 for the side of the line on which a point lies; 0 for a point on the line."""
    run, rise = end[0] - start[0], end[1] - start[1]
    cross = run * (point[1] - start[1]) - rise * (point[0] - start[0])
    return (cross > 0) - (cross < 0)


def _numbers(value: object) -> list[float] | None:
    """Return a list of numbers, or of pairs of numbers, as one flat list of floats.

    Return None for any other value, or if a number is not finite.
    """
    items = _items(value)
    if items and all(len(_items(item)) == 2 for item in items):
        items = [number for pair in items for number in _items(pair)]
    # Compare with a limit: math.isfinite fails on integers that are too large for floats.
    are_numbers = all(isinstance(item, int | float) for item in items)  # booleans count as 1 and 0
    if not are_numbers or any(not abs(item) <= sys.float_info.max for item in items):
        return None
    return [*map(float, items)]


def _items(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
