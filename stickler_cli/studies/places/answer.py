"""Values and the boxes that they came with, compared document by document and counted by field.

The format is `stickler-places/1`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickler_cli import __version__
from stickler_cli.comparators.bbox import BBoxIoUComparator
from stickler_cli.compare.result import Outcome
from stickler_cli.core.figures import join_some, number_of
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.rules import Count, Fraction, FractionOrNone
from stickler_cli.core.sections import FigureColumn, Figures, Report, Text
from stickler_cli.documents.document_pair import DocumentPair
from stickler_cli.runs.assembly import client_of, comparing, policy_of
from stickler_cli.runs.boxes import PageBox, Rectangle, spots_of
from stickler_cli.runs.process import ended_by_signals
from stickler_cli.score.errors.error_rows import confidence_of
from stickler_cli.score.errors.located_units import LocatedUnit, located_units
from stickler_cli.score.errors.wrong_units import is_present_value
from stickler_cli.score.intervals import IntervalSettings, document_shares, intervals_of
from stickler_cli.score.record import RunVerdict
from stickler_cli.studies.answering import Desk, StudyAnswer, compare_sources, rates_of
from stickler_cli.studies.study import StudyRecord
from .question import PlacesSettings


@dataclass(frozen=True, slots=True)
class PlacedField:
    """The places of one field, or of all."""

    field: str
    """Its path without list indexes; empty of all."""
    both_right: Count
    """Values that are right, and in the right place."""
    place_wrong: Count
    """Right values in the wrong place."""
    value_wrong: Count
    """Wrong values in the right place."""
    both_wrong: Count
    """Wrong values in the wrong place."""
    missed: Count
    """Boxes of the ground truth whose value is missed, or has no box in the prediction."""
    invented: Count
    """Boxes of predictions whose value is invented, or has no box in the ground truth."""
    located: FractionOrNone
    """Of right values with both boxes, those in the right place; boxes that are fields themselves
    have no other place."""
    centred: FractionOrNone
    """Of right values with both boxes, those whose centre is inside the true box, likewise."""
    precision: FractionOrNone
    """Of all boxes of predictions, those of right values in the right place."""
    recall: FractionOrNone
    """Of all boxes of the ground truth, likewise."""
    f1: FractionOrNone
    """Both in one figure."""
    located_interval: list[Fraction] | None
    """Where `located` may lie by chance, over documents; null of fewer than two, or without."""
    f1_interval: list[Fraction] | None
    """Where `f1` may lie, likewise."""
    average_precision: FractionOrNone
    """Of boxes alone, whatever their values, at an overlap of 0.5; 101 points, as COCO."""
    average_precision_all: FractionOrNone
    """The mean of that at overlaps of 0.5, 0.55 to 0.95. Of all fields, the mean over fields."""


@dataclass(frozen=True, slots=True)
class PlacesReport(StudyRecord):
    """Whether right values are in the right place, as `stickler places --format json` writes it.

    Described in docs/places.md.
    """

    format: Literal["stickler-places/1"]
    schema: str
    """The schema, as named."""
    gt: str
    """The ground truth, as named."""
    pred: str
    """The predictions, as named."""
    min_overlap: Fraction
    """From which overlap on a place is right."""
    level: FractionOrNone
    """That of the intervals; null without."""
    documents: Count
    """Documents that were compared."""
    whole: PlacedField
    """All fields together."""
    fields: list[PlacedField]
    """By field, in the order in which they are met."""
    notes: list[str]
    """What was left out, and what is odd about the sources."""


_FIGURES: Final = (
    FigureColumn("field", "field", str, shown=lambda it: it.field or "all"),
    FigureColumn("both right", "both_right", int, 1, "right"),
    FigureColumn("place wrong", "place_wrong", int, 2, "place!"),
    FigureColumn("value wrong", "value_wrong", int, 3, "value!"),
    FigureColumn("both wrong", "both_wrong", int, 4, "both!"),
    FigureColumn("missed", "missed", int, 5),
    FigureColumn("invented", "invented", int, 5),
    FigureColumn("located", "located", rank=1),
    FigureColumn("interval", "located_interval", list, 7),
    FigureColumn("F1", "f1", rank=2),
    FigureColumn("AP50", "average_precision", rank=6),
    FigureColumn("AP", "average_precision_all", rank=6),
)
_LEGEND: Final = (
    ("place wrong", "place wrong: right values whose box is elsewhere"),
    ("missed", "missed, invented: boxes that the other side has not for that value"),
    ("located", "located: of right values with both boxes, those in the right place"),
    ("F1", "F1: of all boxes, those of right values in the right place"),
    ("AP50", "AP50, AP: average precision of boxes alone, as COCO; docs/places.md"),
)


def report_of(record: PlacesReport) -> Report:
    """Return where values are as a report."""
    head = f"{record.gt} and {record.pred}: {number_of(record.documents, 'document')}"
    table = Figures(_FIGURES, [record.whole, *record.fields], _LEGEND)
    return Report.of_study(record, head, [Text(_sentence(record))], [table], rows=table)


def _sentence(record: PlacesReport) -> str:
    whole = record.whole
    if whole.located is None:
        but_boxes = ", but for boxes that are fields" if whole.both_right else ""
        return f"no right value has a box on both sides{but_boxes}"
    pairs = sum(it.both_right + it.place_wrong for it in record.fields if it.located is not None)
    centred = "" if whole.centred is None else f", {whole.centred:.1%} by their centre"
    said = f"of {number_of(pairs, 'right value')} with a box on both sides {whole.located:.1%} are"
    return f"{said} in the right place (overlap {record.min_overlap:g}{centred})"


NO_BOXES: Final = (
    "error: no right value has a box on both sides; docs/places.md says how they are read"
)


def answer(settings: PlacesSettings, desk: Desk) -> StudyAnswer:
    """Compare values and the boxes that they came with."""
    located = Located(settings, settings.pixels())
    loaded = desk.schema()
    plan = loaded.plan
    options = comparing(plan, settings, client_of(plan, policy_of(settings)))
    notes: list[str] = []
    with ended_by_signals():
        for chunk, table in compare_sources(settings, plan, options, notes):
            by_document = located_units(table, is_present_value, extra_keys="all")
            for document, units in zip(chunk, by_document, strict=True):
                located.add(document, units)
    if located.unlike:
        which = "of pixels on one side and fractions of the page on the other"
        notes.append(f"{located.unlike} pairs of boxes are {which}: give --page-size")
    if located.note:
        notes.append(located.note)
    intervals = intervals_of(settings)
    fields = located.fields(intervals)
    record = PlacesReport(
        "stickler-places/1",
        __version__,
        loaded.path,
        settings.gt,
        settings.pred,
        settings.min_overlap,
        None if intervals is None else intervals.level,
        len(located.counts),
        fields[0],
        fields[1:],
        notes,
    )
    report = report_of(record)
    if record.whole.located is None and not located.box_fields:
        return StudyAnswer(report, RunVerdict.INCOMPLETE, [NO_BOXES])
    return StudyAnswer(report)


NAMED: Final = 3  # fields that a note names
_BESIDE_VALUES: Final = frozenset({"page", "pageNumber", "page_number", "confidence", "score"})
"""Names of what stands beside a value and its box."""

_COUNTED: Final = (
    *("both_right", "place_wrong", "value_wrong", "both_wrong"),
    *("centred", "gt_boxes", "pred_boxes"),
)
"""The counts of a field: the four cells of value and place, right values whose centre is
inside the true box, and values with a box on either side."""


# Source: Lin et al. (2014), arXiv:1405.0312, and its evaluation code, pycocotools.
THRESHOLDS: Final = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
_RECALLS: Final = np.linspace(0, 1, 101)
_LIMIT: Final = 1 - 1e-10  # an overlap of 1 may be a little less


class Detections:
    """Boxes of one kind that were found, against those that there are, as COCO has it."""

    def __init__(self) -> None:
        """Begin with none."""
        self.there = 0
        self.scores: list[float] = []
        self.documents: list[str] = []
        self.right: list[list[bool]] = []
        """Of each that was found, whether it matches, at each of the thresholds."""

    def add(
        self, document: str, true: Sequence[PageBox], found: Sequence[tuple[float, PageBox]]
    ) -> None:
        """Add the boxes of a document, of those found with their confidences, in any order."""
        # Of one confidence, those further up first, so that the order of lists is no matter.
        true = sorted(true, key=_place)
        found = sorted(found, key=lambda entry: (-entry[0], _place(entry[1])))
        overlaps = [[there.overlap(box) for there in true] for _, box in found]
        by_threshold = [_matched(overlaps, threshold) for threshold in THRESHOLDS]
        self.there += len(true)
        self.scores += (score for score, _ in found)
        self.documents += [document] * len(found)
        self.right += ([*row] for row in zip(*by_threshold, strict=True))

    def precision(self, threshold: float) -> float:
        """Return the average precision at a threshold of overlap, where a box is there."""
        rows = zip(self.scores, self.documents, self.right, strict=True)
        # Of one confidence, those of documents in the order of their ids, however they came.
        ordered = sorted(rows, key=lambda row: (-row[0], row[1]))
        at = THRESHOLDS.index(threshold)
        right = np.array([row[at] for _, _, row in ordered], float)
        hits = np.cumsum(right)
        recall = hits / self.there
        precision = hits / np.arange(1, len(right) + 1)
        envelope = np.maximum.accumulate(precision[::-1])[::-1]
        places = np.searchsorted(recall, _RECALLS, side="left")
        found = np.where(places < len(envelope), np.append(envelope, 0.0)[places], 0.0)
        return float(found.mean())


def _place(spot: PageBox) -> tuple[str, float, float, Rectangle]:
    return spot.page or "", spot.box.top, spot.box.left, spot.box


def _matched(overlaps: Sequence[Sequence[float]], threshold: float) -> list[bool]:
    """Return whether each box has one of its own, those named first choosing first."""
    taken: set[int] = set()
    found = []
    for row in overlaps:
        best, chosen = min(threshold, _LIMIT), -1
        for at, similar in enumerate(row):
            if at not in taken and similar >= best:
                best, chosen = similar, at
        if chosen >= 0:
            taken.add(chosen)
        found.append(chosen >= 0)
    return found


def mean_precision(
    kinds: Mapping[str, Detections], thresholds: Iterable[float] = THRESHOLDS
) -> float | None:
    """Return the mean over kinds of boxes and thresholds; None where no box is there."""
    there = [each for each in kinds.values() if each.there]
    found = [each.precision(threshold) for threshold in thresholds for each in there]
    return sum(found) / len(found) if found else None


class PlacedValue(NamedTuple):
    """A value, and where both sides have it."""

    field: str
    is_right: bool
    gt: PageBox | None
    pred: PageBox | None
    confidence: float
    """Of the prediction, in [0, 1]; 1 without any."""


@dataclass(slots=True)
class Located:
    """The places of values, counted document by document."""

    settings: PlacesSettings
    page_size: tuple[float, float] | None
    """Pixels of a page, where one side has fractions; None where nobody says it."""
    counts: list[dict[str, NDArray[np.int64]]] = field(default_factory=list)
    """In each document, by field, how many of each of `_COUNTED`."""
    detections: dict[str, Detections] = field(default_factory=dict)
    box_fields: dict[str, str] = field(default_factory=dict)
    """Fields that are boxes, and the name of the one other value in their object; empty if there
    are several, or none."""
    unlike: int = 0
    """Pairs of boxes of which one is in pixels and one in fractions, of a page of unknown size."""

    def add(self, document: DocumentPair, units: Iterable[LocatedUnit]) -> None:
        """Add the values of a document."""
        units = [*units]
        places = [self._place(document, unit) for unit in units]
        self._note_box_fields(units)
        sizes = (spot.size for it in places for spot in (it.gt, it.pred) if spot)
        size = self.page_size or next(filter(None, sizes), None)
        by_field: dict[str, list[PlacedValue]] = {}
        for it in places:
            # In fractions of the page, of the size given where they say none.
            gt, pred = (spot and spot.in_fractions(size) for spot in (it.gt, it.pred))
            if gt and pred and size is None:
                self.unlike += gt.box.is_fraction is not pred.box.is_fraction
            if gt or pred:
                by_field.setdefault(it.field, []).append(it._replace(gt=gt, pred=pred))
        self.counts.append({name: self._counts(some) for name, some in by_field.items()})
        for name, some in by_field.items():
            true = [it.gt for it in some if it.gt]
            boxes = [(it.confidence, it.pred) for it in some if it.pred]
            self.detections.setdefault(name, Detections()).add(document.id, true, boxes)

    def _place(self, document: DocumentPair, unit: LocatedUnit) -> PlacedValue:
        spots = spots_of(unit, *document.metadata, self.settings.boxes)
        confidence, is_right = confidence_of(unit), unit.outcome is Outcome.TP
        known = 1.0 if confidence is None else confidence
        return PlacedValue(field_path(unit.field_path), is_right, *spots, known)

    def _note_box_fields(self, units: Sequence[LocatedUnit]) -> None:
        """Note which fields are boxes, and which other value stands beside each."""
        boxes = [
            unit.field_path for unit in units if isinstance(unit.comparator, BBoxIoUComparator)
        ]
        if not any(field_path(path) not in self.box_fields for path in boxes):
            return
        names_by_parent: dict[Path, set[str]] = {}
        for unit in units:
            if unit.field_path and unit.field_path not in boxes:
                names_by_parent.setdefault(unit.field_path[:-1], set()).add(unit.field_path[-1])
        for path in boxes:
            names = names_by_parent.get(path[:-1], set()) - _BESIDE_VALUES if path[:-1] else set()
            self.box_fields[field_path(path)] = names.pop() if len(names) == 1 else ""

    @property
    def note(self) -> str:
        """What boxes that are fields say nothing of, and the option that would help; or nothing."""
        if not self.box_fields:
            return ""
        text = (
            f"boxes that are fields ({join_some(self.box_fields, NAMED)}) are compared as values: "
            "they are right where they overlap, so that none of them is located"
        )
        names = {*self.box_fields.values()}
        value = names.pop() if len(names) == 1 else ""
        if value:
            text += f"; --wrapped {value} would take values out of their objects, with their boxes"
        return text

    def _counts(self, places: Iterable[PlacedValue]) -> NDArray[np.int64]:
        counts = np.zeros(len(_COUNTED), np.int64)
        for _, is_right, gt, pred, _ in places:
            counts[5:] += gt is not None, pred is not None
            if gt is not None and pred is not None:
                is_elsewhere = gt.overlap(pred) < self.settings.min_overlap
                counts[2 * (not is_right) + is_elsewhere] += 1
                counts[4] += is_right and gt.holds_centre_of(pred)
        return counts

    def fields(self, settings: IntervalSettings | None) -> list[PlacedField]:
        """Return all fields together, then each."""
        nothing = np.zeros(len(_COUNTED), np.int64)
        paths = dict.fromkeys(path for counts in self.counts for path in counts)
        columns = {path: [it.get(path, nothing) for it in self.counts] for path in paths}
        tables = {path: np.array(rows) for path, rows in columns.items()}
        nowhere = np.zeros((len(self.counts), len(_COUNTED)), np.int64)
        whole = sum(tables.values(), nowhere)
        located = sum((it for path, it in tables.items() if path not in self.box_fields), nowhere)
        fields = [_field("", whole, located, self.detections, settings)]
        for path, table in tables.items():
            located = nowhere if path in self.box_fields else table
            kinds = {path: self.detections[path]}
            fields.append(_field(path, table, located, kinds, settings))
        return fields


def _field(
    name: str,
    counts: NDArray[np.int64],
    located: NDArray[np.int64],
    kinds: Mapping[str, Detections],
    settings: IntervalSettings | None,
) -> PlacedField:
    """Return the places of a field; `located` are counts of those that are no boxes themselves."""
    column = dict(zip(_COUNTED, counts.T, strict=True))
    located_column = dict(zip(_COUNTED, located.T, strict=True))
    pairs = located_column["both_right"] + located_column["place_wrong"]
    right = column["both_right"]
    total = {key: int(values.sum()) for key, values in column.items()}
    shares = document_shares(
        {
            "located": (located_column["both_right"], pairs),
            "centred": (located_column["centred"], pairs),
            **rates_of(right, column["gt_boxes"], column["pred_boxes"]),
        },
        settings,
    )
    cells = {key: total[key] for key in _COUNTED[:4]}
    both = sum(cells.values())
    rates: dict[str, Any] = {key: share.value for key, share in shares.items()}
    return PlacedField(
        name,
        **cells,
        missed=total["gt_boxes"] - both,
        invented=total["pred_boxes"] - both,
        **rates,
        located_interval=shares["located"].interval,
        f1_interval=shares["f1"].interval,
        average_precision=mean_precision(kinds, (0.5,)),
        average_precision_all=mean_precision(kinds),
    )
