"""Where the values of documents stand: both boxes of each value, by its metadata or by itself."""

from collections.abc import Sequence
from typing import Any

from stickler_cli.comparators.bbox import BBoxIoUComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, field_path
from stickler_cli.documents.document_pair import Metadata
from stickler_cli.score.batch import Batch
from stickler_cli.score.errors.units import Unit, documents_units
from stickler_cli.score.pictures import PlacedBox
from stickler_cli.score.value_lines import are_there, outcome_of
from stickler_cli.settings.allowed import BoxFormat
from .boxes import Spot, box_of, spot_of


def spots_of(
    unit: Unit, gt: Metadata, pred: Metadata, form: BoxFormat
) -> tuple[Spot | None, Spot | None]:
    """Return where the ground truth and the prediction of a value stand."""
    node = unit.visit.account.node
    is_box = isinstance(node, LeafNode) and isinstance(node.comparator, BBoxIoUComparator)
    outcome = outcome_of(unit)
    truth = found = None
    if outcome is not Outcome.FA:
        truth = _spot(gt, unit.gt_path, unit.gt if is_box else None, form)
    if outcome is not Outcome.FN:
        found = _spot(pred, unit.pred_path, unit.pred if is_box else None, form)
    return truth, found


def _spot(metadata: Metadata, path: Path | None, value: JsonValue, form: BoxFormat) -> Spot | None:
    found = spot_of(metadata.get(path or (), {}), form)
    if found is None and value is not None:
        box = box_of(value, form)
        return None if box is None else Spot(box)
    return found


def boxes_of_documents(
    batch: Batch, metadata: Sequence[tuple[Metadata, Metadata]], form: BoxFormat
) -> list[list[PlacedBox]]:
    """Return the boxes of each document of a batch that was compared, in schema order."""
    found = []
    by_document = documents_units(batch.visits, len(metadata), are_there)
    for units, (gt, pred) in zip(by_document, metadata, strict=True):
        boxes = []
        for unit in units:
            spots = dict(zip(("gt", "pred"), spots_of(unit, gt, pred, form), strict=True))
            outcome = outcome_of(unit).name
            boxes += [
                _placed(field_path(unit.path), outcome, side, spot)
                for side, spot in spots.items()
                if spot is not None
            ]
        found.append(boxes)
    return found


def _placed(path: str, outcome: str, side: str, spot: Spot) -> PlacedBox:
    box, in_pixels = spot.box, not spot.box.is_fraction
    if in_pixels and spot.size is not None:
        box, in_pixels = box.scaled(*spot.size), False
    place: tuple[Any, ...] = *box, in_pixels
    return PlacedBox(path, outcome, side, spot.page, *place)
