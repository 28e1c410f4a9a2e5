"""Values and the boxes that they came with, compared document by document and counted by field."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.result import Outcome
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.documents.pairs import open_pairs
from stickler_cli.runs.assembly import client_of, comparing, policy_of
from stickler_cli.runs.boxes import Spot, spots_of
from stickler_cli.runs.chunk import complete_pairs, unwrapper_of
from stickler_cli.runs.process import ended_by_signals
from stickler_cli.score.errors.units import Unit, documents_units
from stickler_cli.score.intervals import intervals_of
from stickler_cli.score.record import Verdict
from stickler_cli.score.value_lines import are_there, confidence_of, outcome_of
from stickler_cli.score.walk import visits
from stickler_cli.settings.deciding import BoxFormat
from stickler_cli.studies.answering import Answer, Desk, notes_of
from .average_precision import Detections
from .question import PlacesSettings
from .record import Located, places_report
from .sections import report_of

DOCUMENTS_AT_ONCE: Final = 64


_SIZE: Final = re.compile(r"\s*(\d{1,6})\s*[xX]\s*(\d{1,6})\s*")

NO_BOXES: Final = (
    "error: no right value has a box on both sides; docs/places.md says how they are read"
)


def answer(settings: PlacesSettings, desk: Desk) -> Answer:
    """Compare values and the boxes that they came with."""
    placing = Placing(settings.boxes, settings.min_overlap, _page_size(settings.page_size))
    loaded = desk.schema()
    plan = loaded.plan
    options = comparing(plan, settings, client_of(plan, policy_of(settings)))
    pairs, alone = open_pairs(settings.gt, settings.pred, settings), list[str]()
    locator = Locator(plan, options, placing, Located([], [], {}))
    with ended_by_signals():
        locator.add_all(complete_pairs(pairs, unwrapper_of(plan.root, settings), alone))
    notes = notes_of(pairs, alone)
    if locator.unlike:
        found = "of pixels on one side and fractions of the page on the other"
        notes.append(f"{locator.unlike} pairs of boxes are {found}: give --page-size")
    record = places_report(
        (loaded.path, settings.gt, settings.pred),
        locator.located,
        settings.min_overlap,
        intervals_of(settings),
        notes,
    )
    report = report_of(record)
    if record.whole.located is None:
        return Answer(report, Verdict.INCOMPLETE, [NO_BOXES])
    return Answer(report)


def _page_size(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    found = _SIZE.fullmatch(text)
    if found is None or not int(found[1]) or not int(found[2]):
        raise UsageError([Problem("--page-size", f"it is {text!r}", "WIDTHxHEIGHT as 1654x2339")])
    return float(found[1]), float(found[2])


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

    def add_all(self, documents: Iterable[DocumentPair]) -> None:
        """Compare documents that have both sides, without wrappers, and count.

        Raises:
            ComparisonError: a comparator failed.
        """
        source = iter(documents)
        while chunk := list(islice(source, DOCUMENTS_AT_ONCE)):
            gts: list[Any] = [it.gt for it in chunk]
            preds: list[Any] = [it.pred for it in chunk]
            confidences = [it.confidences for it in chunk]
            account = compare(self.plan, gts, preds, self.options, confidences)
            found = visits(account, np.arange(len(chunk)))
            for document, units in zip(
                chunk, documents_units(found, len(chunk), are_there), strict=True
            ):
                self._add(document, units)

    def _add(self, document: DocumentPair, units: Sequence[Unit]) -> None:
        by_field: dict[str, list[_Place]] = {}
        found = [self._place(document, unit) for unit in units]
        sizes = (spot.size for place in found for spot in (place.gt, place.pred) if spot)
        size = self.placing.page_size or next(filter(None, sizes), None)
        for unit, place in zip(units, found, strict=True):
            if place.gt is not None or place.pred is not None:
                scaled = self._in_one_unit(place, size)
                by_field.setdefault(field_path(unit.names), []).append(scaled)
        self.located.names.append(document.id)
        self.located.counts.append(
            {name: self._counts(places) for name, places in by_field.items()}
        )
        for name, places in by_field.items():
            detections = self.located.detections.setdefault(name, Detections())
            true = [it.gt for it in places if it.gt]
            boxes = [(it.confidence, it.pred) for it in places if it.pred]
            detections.add(document.id, true, boxes)

    def _place(self, document: DocumentPair, unit: Unit) -> "_Place":
        outcome = outcome_of(unit)
        gt, pred = spots_of(unit, *document.metadata, self.placing.form)
        confidence = confidence_of(unit)
        return _Place(outcome, gt, pred, 1.0 if confidence is None else confidence)

    def _in_one_unit(self, place: "_Place", size: tuple[float, float] | None) -> "_Place":
        """Return both boxes in fractions of the page, of the size given where they say none."""
        gt, pred = (spot and spot.in_fractions(size) for spot in (place.gt, place.pred))
        if gt and pred and size is None:
            self.unlike += gt.box.is_fraction is not pred.box.is_fraction
        return place._replace(gt=gt, pred=pred)

    def _counts(self, places: Iterable["_Place"]) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for place in places:
            counts["gt_boxes"] += place.gt is not None
            counts["pred_boxes"] += place.pred is not None
            if place.gt is None or place.pred is None:
                continue
            shared = place.gt.overlap(place.pred)
            is_right, is_there = place.outcome is Outcome.TP, shared >= self.placing.min_overlap
            cells = {
                (True, True): "both_right",
                (True, False): "place_wrong",
                (False, True): "value_wrong",
                (False, False): "both_wrong",
            }
            counts[cells[is_right, is_there]] += 1
            counts["centred"] += is_right and place.gt.holds_centre_of(place.pred)
        return dict(counts)


class _Place(NamedTuple):
    """A value, and where both sides have it."""

    outcome: Outcome
    gt: Spot | None
    pred: Spot | None
    confidence: float
    """Of the prediction, in [0, 1]; 1 without any."""
