"""Boxes as extractors write them, and those of the values of documents, on both sides.

They are corners, sizes or polygons, in pixels or in fractions of the page.
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
_DEPTH: Final = 4  # of the objects that a box may be in: geometry, boundingBox

_OVERLAP: Final = BBoxIoUComparator()


MOST: Final = 1e9  # pixels: beyond it areas lose their digits


class Rectangle(NamedTuple):
    """A box with its corners in order."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def is_fraction(self) -> bool:
        """Whether all of it may be fractions of a page."""
        return min(self) >= 0 and max(self) <= 1

    def scaled(self, width: float, height: float) -> "Rectangle":
        """Return it in fractions of a page of some pixels."""
        across, down = (self.left / width, self.right / width), (self.top, self.bottom)
        return Rectangle(across[0], down[0] / height, across[1], down[1] / height)


@dataclass(frozen=True, slots=True)
class Spot:
    """A box on a page."""

    box: Rectangle
    page: str | None = None
    """None where nobody says which."""
    size: tuple[float, float] | None = None
    """Of the page, width and height in the unit of the box, where it says so."""

    def in_fractions(self, size: tuple[float, float] | None) -> "Spot":
        """Return it in fractions of the page, if its size is known; one is given for all pages."""
        known = self.size or size
        if known is None or self.box.is_fraction:
            return self
        return Spot(self.box.scaled(*known), self.page)

    def overlap(self, other: "Spot") -> float:
        """Return the area of the intersection divided by that of the union, in [0, 1]."""
        return _OVERLAP.compare([*self.box], [*other.box]) if self._may_meet(other) else 0.0

    def holds_centre_of(self, other: "Spot") -> bool:
        """Return whether the centre of another one is inside, or on the edge."""
        box = other.box
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        inside = self.box.left <= x <= self.box.right and self.box.top <= y <= self.box.bottom
        return inside and self._may_meet(other)

    def _may_meet(self, other: "Spot") -> bool:
        return None in (self.page, other.page) or self.page == other.page


def spot_of(metadata: Mapping[str, JsonValue], form: BoxFormat) -> Spot | None:
    """Return where a value stands, by its metadata; None where that says nothing of it."""
    found = next((metadata[key] for key in _BOXES if key in metadata), None)
    page = next((metadata[key] for key in _PAGES if key in metadata), None)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        found = found[0]  # Azure: boundingRegions
    if isinstance(found, dict) and page is None:
        page = next((found[key] for key in _PAGES if key in found), None)
    box = box_of(found, form)
    size = _numbers(next((metadata[key] for key in _SIZES if key in metadata), None))
    known = (size[0], size[1]) if len(size) == 2 and min(size) > 0 else None
    return None if box is None else Spot(box, None if page is None else str(page), known)


def box_of(value: JsonValue, form: BoxFormat, depth: int = _DEPTH) -> Rectangle | None:
    """Return a box with an area, of a polygon the one around it; else None.

    Args:
        value: four numbers, as the form says; two corners; a polygon as a list of points or of its
            coordinates; an object with corners, or with a corner and sizes.
        form: what four numbers are: `corners` two corners, `xywh` a corner, width and height.
        depth: of objects around it that are looked into.
    """
    if isinstance(value, dict):
        return _of_object({key.lower(): part for key, part in value.items()}, form, depth)
    numbers = _numbers(value)
    if len(numbers) == 4 and form == "xywh" and not isinstance(value[0], list | dict):  # type: ignore[index]
        x, y, width, height = numbers
        return _around([x, y, x + width, y + height])
    return _around(numbers)


def _of_object(value: Mapping[str, JsonValue], form: BoxFormat, depth: int) -> Rectangle | None:
    for names in _CORNERS:
        if all(is_number(value.get(name)) for name in names):
            return _around(_numbers([value[name] for name in names]))
    for names in _SIDES:
        if all(is_number(value.get(name)) for name in names):
            x, y, width, height = _numbers([value[name] for name in names])
            return _around([x, y, x + width, y + height])
    for part in value.values() if depth else ():
        if isinstance(part, dict | list) and (found := box_of(part, form, depth - 1)):
            return found
    return None


def _numbers(value: object) -> list[float]:
    """Return coordinates in a row; nothing where something is none."""
    found: list[float] = []
    for part in value if isinstance(value, list) else ():
        if isinstance(part, list):
            found += _numbers(part)
        elif isinstance(part, dict):
            point = {key.lower(): number for key, number in part.items()}
            found += _numbers([point.get("x"), point.get("y")])
        elif is_number(part) and abs(part) < MOST:
            found.append(float(part))
        else:
            return []
    return found


def _around(numbers: Sequence[float]) -> Rectangle | None:
    if len(numbers) < 4 or len(numbers) % 2:
        return None
    across, down = numbers[::2], numbers[1::2]
    box = Rectangle(min(across), min(down), max(across), max(down))
    return box if box.left < box.right and box.top < box.bottom else None


def spots_of(
    unit: LocatedUnit, gt: Metadata, pred: Metadata, form: BoxFormat
) -> tuple[Spot | None, Spot | None]:
    """Return where the ground truth and the prediction of a value stand."""
    node = unit.node
    is_box = isinstance(node, LeafNode) and isinstance(node.comparator, BBoxIoUComparator)
    outcome = unit.outcome
    truth = found = None
    if outcome is not Outcome.FA:
        path = unit.gt_path or ()
        taken = (it.metadata.get(path[at:], {}) for at, it in unit.alternatives())
        truth = _spot((*taken, gt.get(path, {})), unit.gt if is_box else None, form)
    if outcome is not Outcome.FN:
        beside = (pred.get(unit.pred_path or (), {}),)
        found = _spot(beside, unit.pred if is_box else None, form)
    return truth, found


def _spot(beside: Iterable[JsonObject], value: JsonValue, form: BoxFormat) -> Spot | None:
    """Return where a value stands, by the first metadata that say it, else by itself."""
    found = next(filter(None, (spot_of(it, form) for it in beside)), None)
    if found is None and value is not None:
        box = box_of(value, form)
        return None if box is None else Spot(box)
    return found


def boxes_of_documents(
    batch: Batch, metadata: Sequence[tuple[Metadata, Metadata]], form: BoxFormat
) -> list[list[PlacedBox]]:
    """Return the boxes of each document of a batch that was compared, in schema order."""
    found = []
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
        found.append(boxes)
    return found
