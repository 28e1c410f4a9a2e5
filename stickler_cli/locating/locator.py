"""The values of documents with the boxes of both sides, and what they come to, field by field."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.result import Outcome
from stickler_cli.compare.wrappers import Unwrapped
from stickler_cli.core.locations import field_path
from stickler_cli.core.values import dataclass
from stickler_cli.score.units import Unit, documents_units
from stickler_cli.score.value_lines import are_there, confidence_of, outcome_of
from stickler_cli.score.walk import visits
from stickler_cli.settings.allowed import BoxFormat
from .average_precision import Detections, by_page
from .boxes import Spot, overlap
from .placed_fields import Located
from .spots import spots_of

DOCUMENTS_AT_ONCE: Final = 64


class Boxed(NamedTuple):
    """A document with both sides out of their wrappers."""

    id: str
    gt: Unwrapped
    pred: Unwrapped


@dataclass(frozen=True, slots=True)
class Placing:
    """How places are held against each other."""

    form: BoxFormat
    min_overlap: float
    """From which on a place is right."""
    page_size: tuple[float, float] | None
    """Pixels of a page, where one side has fractions; None where nobody says it."""


@dataclass(slots=True)
class Locator:
    """Counts the places of values, document by document."""

    plan: Plan
    options: Options
    placing: Placing
    located: Located
    unlike: int = 0
    """Pairs of boxes of which one is in pixels and one in fractions, of a page of unknown size."""

    def add_all(self, documents: Iterable[Boxed]) -> None:
        """Compare documents and count.

        Raises:
            ComparisonError: a comparator failed.
        """
        source = iter(documents)
        while chunk := list(islice(source, DOCUMENTS_AT_ONCE)):
            gts: list[Any] = [it.gt.value for it in chunk]
            preds: list[Any] = [it.pred.value for it in chunk]
            confidences = [it.pred.confidences for it in chunk]
            account = compare(self.plan, gts, preds, self.options, confidences)
            found = visits(account, np.arange(len(chunk)))
            for document, units in zip(
                chunk, documents_units(found, len(chunk), are_there), strict=True
            ):
                self._add(document, units)

    def _add(self, document: Boxed, units: Sequence[Unit]) -> None:
        by_field: dict[str, list[_Place]] = {}
        for unit in units:
            place = self._place(document, unit)
            if place.gt is not None or place.pred is not None:
                by_field.setdefault(field_path(unit.names), []).append(place)
        self.located.names.append(document.id)
        self.located.counts.append(
            {name: self._counts(places) for name, places in by_field.items()}
        )
        for name, places in by_field.items():
            detections = self.located.detections.setdefault(name, Detections())
            true = [(it.gt.page, it.gt.box) for it in places if it.gt is not None]
            boxes = [
                (it.pred.page, it.confidence, it.pred.box) for it in places if it.pred is not None
            ]
            for page in by_page(true, boxes):
                detections.add(document.id, *page)

    def _place(self, document: Boxed, unit: Unit) -> "_Place":
        outcome = outcome_of(unit)
        sides = document.gt.metadata, document.pred.metadata
        gt, pred = spots_of(unit, *sides, self.placing.form)
        if gt is not None and pred is not None:
            gt, pred = self._in_one_unit(gt, pred)
        confidence = confidence_of(unit)
        return _Place(outcome, gt, pred, 1.0 if confidence is None else confidence)

    def _in_one_unit(self, gt: Spot, pred: Spot) -> tuple[Spot, Spot]:
        """Return both in fractions of the page, where one of them is."""
        if gt.box.is_fraction is pred.box.is_fraction:
            return gt, pred
        scaled = []
        for spot, other in ((gt, pred), (pred, gt)):
            size = spot.size or other.size or self.placing.page_size
            if spot.box.is_fraction:
                scaled.append(spot)
            elif size is None:
                self.unlike += 1
                return gt, pred
            else:
                scaled.append(Spot(spot.box.scaled(*size), spot.page))
        return scaled[0], scaled[1]

    def _counts(self, places: Iterable["_Place"]) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for place in places:
            counts["gt_boxes"] += place.gt is not None
            counts["pred_boxes"] += place.pred is not None
            if place.gt is None or place.pred is None:
                continue
            on_page = None in (place.gt.page, place.pred.page) or place.gt.page == place.pred.page
            shared = overlap(place.gt.box, place.pred.box) if on_page else 0.0
            is_right, is_there = place.outcome is Outcome.TP, shared >= self.placing.min_overlap
            cells = {
                (True, True): "both_right",
                (True, False): "place_wrong",
                (False, True): "value_wrong",
                (False, False): "both_wrong",
            }
            counts[cells[is_right, is_there]] += 1
            inside = on_page and place.gt.box.holds_centre_of(place.pred.box)
            counts["centred"] += is_right and inside
        return dict(counts)


class _Place(NamedTuple):
    """A value, and where both sides have it."""

    outcome: Outcome
    gt: Spot | None
    pred: Spot | None
    confidence: float
    """Of the prediction, in [0, 1]; 1 without any."""
