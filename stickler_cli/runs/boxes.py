"""Parse boxes in the forms that extractors write, and find the box of each value of a document.

A box is written as two corners, as a corner and a size, or as a polygon. The numbers are pixels or
fractions of the page.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from stickler_cli.comparators.base import is_number
from stickler_cli.comparators.bbox import BBoxIoUComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.documents.document_pair import Metadata
from stickler_cli.score.batch import Batch
from stickler_cli.score.detail import PlacedBox
from stickler_cli.score.errors.located_units import LocatedUnit, located_units
from stickler_cli.score.errors.wrong_units import is_present_value
from stickler_cli.settings.deciding import BoxFormat

_BOXES: Final = (
    *("_bbox", "bbox", "_bounding_box", "bounding_box", "boundingBox", "BoundingBox"),
    *("polygon", "Polygon", "boundingPoly", "boundingRegions", "geometry", "Geometry"),
)
_PAGES: Final = ("_page", "page", "pageNumber", "page_number", "Page")
_SIZES: Final = ("_page_size", "page_size")
_CORNERS: Final = (("x1", "y1", "x2", "y2"), ("left", "top", "right", "bottom"))
_SIDES: Final = (("left", "top", "width", "height"), ("x", "y", "width", "height"))
_DEPTH: Final = 4  # depth of objects that may contain the coordinates, such as geometry.boundingBox

_OVERLAP: Final = BBoxIoUComparator()


MOST: Final = 1e9  # maximum size in pixels; beyond it areas lose precision


class Rectangle(NamedTuple):
    """A rectangle; its first corner is at the upper left."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def is_fraction(self) -> bool:
        """Whether all coordinates are in [0, 1], as fractions of a page are."""
        return min(self) >= 0 and max(self) <= 1

    def scaled(self, width: float, height: float) -> "Rectangle":
        """Return the rectangle in fractions of a page.

        `width` and `height` are the size of the page, in the unit of the rectangle.
        """
        across, down = (self.left / width, self.right / width), (self.top, self.bottom)
        return Rectangle(
            left=across[0], top=down[0] / height, right=across[1], bottom=down[1] / height
        )


@dataclass(frozen=True, slots=True)
class PageBox:
    """A box on a page of a document."""

    box: Rectangle
    page: str | None = None
    """Name or number of the page; None if unknown."""
    size: tuple[float, float] | None = None
    """Width and height of the page, in the unit of the box; None if unknown."""

    def in_fractions(self, size: tuple[float, float] | None) -> "PageBox":
        """Return the box in fractions of its page.

        If the box has no page size of its own, `size` is used. The box is returned unchanged if it
        is in fractions already, or if neither size is known.
        """
        page_size = self.size or size
        if page_size is None or self.box.is_fraction:
            return self
        return PageBox(self.box.scaled(*page_size), self.page)

    def overlap(self, other: "PageBox") -> float:
        """Return the intersection over union with another box, in [0, 1].

        It is 0.0 if the boxes are on different pages.
        """
        return _OVERLAP.compare([*self.box], [*other.box]) if self._may_meet(other) else 0.0

    def holds_centre_of(self, other: "PageBox") -> bool:
        """Return whether the centre of another box is in this box or on its edge.

        The result is False if the boxes are on different pages.
        """
        box = other.box
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        is_inside = self.box.left <= x <= self.box.right and self.box.top <= y <= self.box.bottom
        return is_inside and self._may_meet(other)

    def _may_meet(self, other: "PageBox") -> bool:
        return None in (self.page, other.page) or self.page == other.page


def spot_of(metadata: Mapping[str, JsonValue], form: BoxFormat) -> PageBox | None:
    """Return the box in the metadata of a value; None if there is no box."""
    box_value = next((metadata[key] for key in _BOXES if key in metadata), None)
    page = next((metadata[key] for key in _PAGES if key in metadata), None)
    if isinstance(box_value, list) and len(box_value) == 1 and isinstance(box_value[0], dict):
        box_value = box_value[0]  # the form of boundingRegions of Azure
    if isinstance(box_value, dict) and page is None:
        page = next((box_value[key] for key in _PAGES if key in box_value), None)
    box = box_of(box_value, form)
    size = _flatten_numbers(next((metadata[key] for key in _SIZES if key in metadata), None))
    page_size = (size[0], size[1]) if len(size) == 2 and min(size) > 0 else None
    return None if box is None else PageBox(box, None if page is None else str(page), page_size)


def box_of(value: JsonValue, form: BoxFormat, depth: int = _DEPTH) -> Rectangle | None:
    """Return a value as a box, or None if it is no box or its box has no area.

    A polygon becomes its bounding box.

    Args:
        value: four numbers; two corners; a polygon as a list of points or of coordinates; or an
            object that has corners, or a corner and a size.
        form: what four numbers mean: `corners` for two corners, `xywh` for corner, width, height.
        depth: if the box is inside an object, the number of levels of objects to search for it.
    """
    if isinstance(value, dict):
        return _of_object({key.lower(): child for key, child in value.items()}, form, depth)
    numbers = _flatten_numbers(value)
    if len(numbers) == 4 and form == "xywh" and not isinstance(value[0], list | dict):  # type: ignore[index]
        x, y, width, height = numbers
        return _bounding_rectangle([x, y, x + width, y + height])
    return _bounding_rectangle(numbers)


def _of_object(value: Mapping[str, JsonValue], form: BoxFormat, depth: int) -> Rectangle | None:
    for names in _CORNERS:
        if all(is_number(value.get(name)) for name in names):
            return _bounding_rectangle(_flatten_numbers([value[name] for name in names]))
    for names in _SIDES:
        if all(is_number(value.get(name)) for name in names):
            x, y, width, height = _flatten_numbers([value[name] for name in names])
            return _bounding_rectangle([x, y, x + width, y + height])
    for child in value.values() if depth else ():
        if isinstance(child, dict | list) and (box := box_of(child, form, depth - 1)):
            return box
    return None


def _flatten_numbers(value: object) -> list[float]:
    """Flatten coordinates into a list of numbers. It is empty if one of them is not a number."""
    coordinates: list[float] = []
    for element in value if isinstance(value, list) else ():
        numbers: list[float] = []
        if isinstance(element, list):
            numbers = _flatten_numbers(element)
        elif isinstance(element, dict):
            point = {key.lower(): number for key, number in element.items()}
            numbers = _flatten_numbers([point.get("x"), point.get("y")])
        elif is_number(element) and abs(element) < MOST:
            numbers = [float(element)]
        if not numbers:
            return []
        coordinates += numbers
    return coordinates


def _bounding_rectangle(numbers: Sequence[float]) -> Rectangle | None:
    if len(numbers) < 4 or len(numbers) % 2:
        return None
    across, down = numbers[::2], numbers[1::2]
    box = Rectangle(left=min(across), top=min(down), right=max(across), bottom=max(down))
    return box if box.left < box.right and box.top < box.bottom else None


def spots_of(
    unit: LocatedUnit, gt: Metadata, pred: Metadata, form: BoxFormat
) -> tuple[PageBox | None, PageBox | None]:
    """Return the true and the predicted box of a compared value; None for a missing box."""
    node = unit.node
    is_box = isinstance(node, LeafNode) and isinstance(node.comparator, BBoxIoUComparator)
    outcome = unit.outcome
    gt_spot = pred_spot = None
    if outcome is not Outcome.FA:
        path = unit.gt_path or ()
        alternative_metadata = (
            alternative.metadata.get(path[start:], {}) for start, alternative in unit.alternatives()
        )
        gt_spot = _find_spot(
            (*alternative_metadata, gt.get(path, {})), unit.gt if is_box else None, form
        )
    if outcome is not Outcome.FN:
        pred_metadata = (pred.get(unit.pred_path or (), {}),)
        pred_spot = _find_spot(pred_metadata, unit.pred if is_box else None, form)
    return gt_spot, pred_spot


def _find_spot(
    metadata_in_order: Iterable[JsonObject], value: JsonValue, form: BoxFormat
) -> PageBox | None:
    """Return the first box in the metadata, or else the value itself as a box.

    Return None if the metadata has no box, and the value is not a box.
    """
    spot = next(filter(None, (spot_of(metadata, form) for metadata in metadata_in_order)), None)
    if spot is None and value is not None:
        box = box_of(value, form)
        return None if box is None else PageBox(box)
    return spot


def boxes_of_documents(
    batch: Batch, metadata: Sequence[tuple[Metadata, Metadata]], form: BoxFormat
) -> list[list[PlacedBox]]:
    """Return the boxes of each compared document of a batch, in schema order."""
    boxes_by_document = []
    by_document = located_units(batch.table, is_present_value, extra_keys="all")
    for units, (gt, pred) in zip(by_document, metadata, strict=True):
        boxes = []
        for unit in units:
            spots = dict(zip(("gt", "pred"), spots_of(unit, gt, pred, form), strict=True))
            outcome = unit.outcome.name
            for side, spot in spots.items():
                if spot is not None:
                    box = spot.in_fractions(None).box
                    place: tuple[Any, ...] = *box, spot.size is None and not box.is_fraction
                    boxes.append(PlacedBox(field_path(unit.path), outcome, side, spot.page, *place))
        boxes_by_document.append(boxes)
    return boxes_by_document
