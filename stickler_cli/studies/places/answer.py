"""Compare values and their boxes in each document, and count right boxes for each field.

The format of the result is `stickler-places/1`.
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
    """How many values and boxes are right, in one field or in all fields together."""

    field: str
    """Path of the field without list indexes; empty for all fields together."""
    both_right: Count
    """Number of right values in the right place."""
    place_wrong: Count
    """Number of right values in the wrong place."""
    value_wrong: Count
    """Number of wrong values in the right place."""
    both_wrong: Count
    """Number of wrong values in the wrong place."""
    missed: Count
    """Number of true boxes that have no predicted box: their value is missed, or the prediction
    gives no box for it."""
    invented: Count
    """Number of predicted boxes that have no true box: their value is invented, or the ground truth
    gives no box for it."""
    located: FractionOrNone
    """Of the right values that have a true box and a predicted box, the share whose predicted box
    is in the right place. Fields whose values are boxes are left out."""
    centred: FractionOrNone
    """Of the right values that have a true box and a predicted box, the share whose predicted box
    has its centre inside the true box. Fields whose values are boxes are left out."""
    precision: FractionOrNone
    """Share of predicted boxes whose value and place are right."""
    recall: FractionOrNone
    """Share of true boxes whose value and place are right in the prediction."""
    f1: FractionOrNone
    """Harmonic mean of precision and recall."""
    located_interval: list[Fraction] | None
    """Confidence interval of `located`. Null if no intervals are computed, or if there are fewer
    than two documents."""
    f1_interval: list[Fraction] | None
    """Confidence interval of `f1`. Null if no intervals are computed, or if there are fewer than
    two documents."""
    average_precision: FractionOrNone
    """Average precision of the boxes as COCO defines it, whether the values are right or not. Boxes
    match if their overlap is at least 0.5."""
    average_precision_all: FractionOrNone
    """Mean of the average precisions for minimum overlaps of 0.5, 0.55, ... 0.95. For all fields
    together, it is the mean over fields."""


@dataclass(frozen=True, slots=True)
class PlacesReport(StudyRecord):
    """How many values are right and in the right place.

    This is what `stickler places --format json` writes. Described in docs/places.md.
    """

    format: Literal["stickler-places/1"]
    schema: str
    """The schema, as the user named it, or `inferred from GT` if no schema was given."""
    gt: str
    """The ground truth, as the user named it."""
    pred: str
    """The predictions, as the user named them."""
    min_overlap: Fraction
    """A place is right if the true box and the predicted box overlap at least this much."""
    level: FractionOrNone
    """Confidence level of the intervals; null without intervals."""
    documents: Count
    """Number of compared documents."""
    whole: PlacedField
    """Figures of all fields together."""
    fields: list[PlacedField]
    """Figures of each field. Fields are in the order in which they first occur in the documents."""
    notes: list[str]
    """Notes on omitted documents, and problems of the sources."""


_FIGURES: Final = (
    FigureColumn("field", "field", str, shown=lambda placed: placed.field or "all"),
    FigureColumn(title="both right", value="both_right", kind=int, rank=1, short="right"),
    FigureColumn(title="place wrong", value="place_wrong", kind=int, rank=2, short="place!"),
    FigureColumn(title="value wrong", value="value_wrong", kind=int, rank=3, short="value!"),
    FigureColumn(title="both wrong", value="both_wrong", kind=int, rank=4, short="both!"),
    FigureColumn(title="missed", value="missed", kind=int, rank=5),
    FigureColumn(title="invented", value="invented", kind=int, rank=5),
    FigureColumn("located", "located", rank=1),
    FigureColumn(title="interval", value="located_interval", kind=list, rank=7),
    FigureColumn("F1", "f1", rank=2),
    FigureColumn("AP50", "average_precision", rank=6),
    FigureColumn("AP", "average_precision_all", rank=6),
)
_ON_BOTH_SIDES: Final = "in both the ground truth and the prediction"
_LEGEND: Final = (
    ("place wrong", "place wrong: right values whose predicted box is in another place"),
    (
        "missed",
        (
            "missed: boxes that only the ground truth has; invented: boxes that only the "
            "prediction has"
        ),
    ),
    (
        "located",
        (
            "located: share of right values whose predicted box is in the right place (only "
            f"values with a box {_ON_BOTH_SIDES})"
        ),
    ),
    (
        "F1",
        ("F1: F1 of all boxes; a box counts as right if its value and its place are right"),
    ),
    (
        "AP50",
        (
            "AP50, AP: average precision of boxes without their values, as in COCO; see "
            "docs/places.md"
        ),
    ),
)


def make_report(record: PlacesReport) -> Report:
    """Return the report of `stickler places`."""
    head = f"{record.gt} and {record.pred}: {number_of(record.documents, 'document')}"
    table = Figures(_FIGURES, [record.whole, *record.fields], _LEGEND)
    return Report.of_study(record, head, [Text(_summary_sentence(record))], [table], rows=table)


def _summary_sentence(record: PlacesReport) -> str:
    """Return a sentence for the report: which share of right values is in the right place."""
    total = record.whole
    if total.located is None:
        exception = ", except for boxes that are fields of their own" if total.both_right else ""
        return f"no correctly predicted value has a box {_ON_BOTH_SIDES}{exception}"
    located_fields = [placed for placed in record.fields if placed.located is not None]
    n_values = sum(placed.both_right + placed.place_wrong for placed in located_fields)
    values = number_of(n_values, "right value")
    centred = "" if total.centred is None else f", {total.centred:.1%} by their centre"
    return (
        f"of {values} with a box {_ON_BOTH_SIDES}, {total.located:.1%} are in the right place on "
        f"the page (overlap of boxes at least {record.min_overlap:g}{centred})"
    )


NO_BOXES: Final = (
    f"error: no correctly predicted value has a box {_ON_BOTH_SIDES}; docs/places.md explains how "
    "to write boxes"
)


def answer(settings: PlacesSettings, desk: Desk) -> StudyAnswer:
    """Compare the values of two sources and their boxes."""
    places = PlaceCounts(settings, settings.pixels())
    loaded = desk.schema()
    plan = loaded.plan
    options = comparing(plan, settings, client_of(plan, policy_of(settings)))
    notes: list[str] = []
    with ended_by_signals():
        for chunk, table in compare_sources(settings, plan, options, notes):
            by_document = located_units(table, is_present_value, extra_keys="all")
            for document, units in zip(chunk, by_document, strict=True):
                places.add(document, units)
    if places.n_mixed_units:
        mixed = "in pixels on one side and in fractions of the page on the other"
        notes.append(f"{places.n_mixed_units} pairs of boxes are {mixed}: give --page-size")
    if places.note:
        notes.append(places.note)
    intervals = intervals_of(settings)
    total, *fields = places.make_fields(intervals)
    record = PlacesReport(
        format="stickler-places/1",
        version=__version__,
        schema=loaded.path,
        gt=settings.gt,
        pred=settings.pred,
        min_overlap=settings.min_overlap,
        level=None if intervals is None else intervals.level,
        documents=len(places.counts),
        whole=total,
        fields=fields,
        notes=notes,
    )
    report = make_report(record)
    if record.whole.located is None and not places.box_fields:
        return StudyAnswer(report, RunVerdict.INCOMPLETE, [NO_BOXES])
    return StudyAnswer(report)


MAX_NAMED: Final = 3  # number of fields that a note lists
_NAMES_BESIDE_VALUES: Final = frozenset(
    {"page", "pageNumber", "page_number", "confidence", "score"}
)
"""Names of fields that stand beside a value and its box in the same object, such as `page`. They
are not values themselves."""

_COUNTED: Final = (
    *("both_right", "place_wrong", "value_wrong", "both_wrong"),
    *("centred", "gt_boxes", "pred_boxes"),
)
"""Names of the numbers that are counted for each field.

Four of them count values that have a box on both sides: `both_right` if value and box are right,
`place_wrong` if only the box is wrong, `value_wrong` if only the value is wrong, and `both_wrong`.
`centred` counts right values whose predicted box has its centre inside the true box. `gt_boxes`
counts all values with a true box, and `pred_boxes` all values with a predicted box."""


# Source: Lin et al. (2014), arXiv:1405.0312, and its evaluation code, pycocotools.
THRESHOLDS: Final = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
_RECALLS: Final = np.linspace(0, 1, 101)
_LIMIT: Final = 1 - 1e-10  # rounding can make an overlap slightly less than 1


class Detections:
    """The true and predicted boxes of one field, and their average precision as COCO defines it."""

    def __init__(self) -> None:
        """Create a collection without boxes."""
        self.n_true = 0
        """The number of true boxes."""
        self.scores: list[float] = []
        self.documents: list[str] = []
        self.matches: list[list[bool]] = []
        """For each predicted box, a list: does it match a true box at each overlap in
        `THRESHOLDS`?"""

    def add(
        self, document: str, true: Sequence[PageBox], predicted: Sequence[tuple[float, PageBox]]
    ) -> None:
        """Add the true boxes of a document, and its predicted boxes with their confidences."""
        # Sort boxes of equal confidence from top to bottom: the order of lists must not matter.
        true = sorted(true, key=_reading_order)
        predicted = sorted(predicted, key=lambda entry: (-entry[0], _reading_order(entry[1])))
        overlaps = [[true_box.overlap(box) for true_box in true] for _, box in predicted]
        by_threshold = [_match_greedily(overlaps, threshold) for threshold in THRESHOLDS]
        self.n_true += len(true)
        self.scores += (score for score, _ in predicted)
        self.documents += [document] * len(predicted)
        self.matches += ([*row] for row in zip(*by_threshold, strict=True))

    def precision(self, threshold: float) -> float:
        """Return the average precision of the boxes.

        Boxes match if they overlap `threshold` or more.

        There must be at least one true box. `threshold` is one of `THRESHOLDS`.
        """
        rows = zip(self.scores, self.documents, self.matches, strict=True)
        # Order documents of equal confidence by id: the order of reading must not matter.
        by_confidence = sorted(rows, key=lambda row: (-row[0], row[1]))
        column = THRESHOLDS.index(threshold)
        is_match = np.array([matches[column] for _, _, matches in by_confidence], float)
        n_matches = np.cumsum(is_match)
        recall = n_matches / self.n_true
        precision = n_matches / np.arange(1, len(is_match) + 1)
        # The precision at a recall is the best precision at this or any greater recall.
        envelope = np.maximum.accumulate(precision[::-1])[::-1]
        ranks = np.searchsorted(recall, _RECALLS, side="left")
        is_reached = ranks < len(envelope)
        precision_at_recalls = np.where(is_reached, np.append(envelope, 0.0)[ranks], 0.0)
        return float(precision_at_recalls.mean())


def _reading_order(spot: PageBox) -> tuple[str, float, float, Rectangle]:
    """Return a sort key for boxes: by page, then from top to bottom."""
    return spot.page or "", spot.box.top, spot.box.left, spot.box


def _match_greedily(overlaps: Sequence[Sequence[float]], threshold: float) -> list[bool]:
    """Match predicted boxes with true boxes. Return whether each predicted box has a match.

    Earlier predicted boxes choose first, and no true box is chosen twice. `overlaps` has a row for
    each predicted box and a column for each true box.
    """
    matched_true: set[int] = set()
    is_matched = []
    for row in overlaps:
        best_overlap, best_column = min(threshold, _LIMIT), -1
        for column, overlap in enumerate(row):
            if column not in matched_true and overlap >= best_overlap:
                best_overlap, best_column = overlap, column
        if best_column >= 0:
            matched_true.add(best_column)
        is_matched.append(best_column >= 0)
    return is_matched


def mean_precision(
    detections_by_field: Mapping[str, Detections], thresholds: Iterable[float] = THRESHOLDS
) -> float | None:
    """Return the mean average precision over fields and thresholds.

    Return None if there are no true boxes.
    """
    with_boxes = [boxes for boxes in detections_by_field.values() if boxes.n_true]
    precisions = [boxes.precision(threshold) for threshold in thresholds for boxes in with_boxes]
    return sum(precisions) / len(precisions) if precisions else None


class PlacedValue(NamedTuple):
    """A value with its true box and its predicted box. A missing box is None."""

    field: str
    is_right: bool
    gt: PageBox | None
    pred: PageBox | None
    confidence: float
    """Confidence of the prediction, in [0, 1]; 1 if it has none."""


@dataclass(slots=True)
class PlaceCounts:
    """Counts right values and right boxes, document by document."""

    settings: PlacesSettings
    page_size: tuple[float, float] | None
    """Width and height of a page in pixels, or None if they are unknown. They are needed to convert
    boxes into fractions of a page."""
    counts: list[dict[str, NDArray[np.int64]]] = field(default_factory=list)
    """The counts of each field in each document. They are in the order of `_COUNTED`."""
    detections: dict[str, Detections] = field(default_factory=dict)
    box_fields: dict[str, str] = field(default_factory=dict)
    """The fields whose values are boxes. Keys are the paths of these fields. Each value is the name
    of the field that the box describes: the only other field of the same object, apart from page
    numbers and confidences. The name is empty if there is no such field, or if there are
    several."""
    n_mixed_units: int = 0
    """Number of values whose two boxes cannot be compared: one is in pixels, the other in fractions
    of a page whose size is unknown."""

    def add(self, document: DocumentPair, units: Iterable[LocatedUnit]) -> None:
        """Count the values of a document and their boxes."""
        units = [*units]
        values = [self._place_value(document, unit) for unit in units]
        self._add_box_fields(units)
        sizes = (spot.size for value in values for spot in (value.gt, value.pred) if spot)
        page_size = self.page_size or next(filter(None, sizes), None)
        values_by_field: dict[str, list[PlacedValue]] = {}
        for value in values:
            # Convert boxes into fractions; the page size of the options is for boxes without one.
            gt = value.gt and value.gt.in_fractions(page_size)
            pred = value.pred and value.pred.in_fractions(page_size)
            if gt and pred and page_size is None:
                self.n_mixed_units += gt.box.is_fraction is not pred.box.is_fraction
            if gt or pred:
                placed = value._replace(gt=gt, pred=pred)
                values_by_field.setdefault(value.field, []).append(placed)
        self.counts.append(
            {name: self._count_values(placed) for name, placed in values_by_field.items()}
        )
        for name, placed_values in values_by_field.items():
            true = [value.gt for value in placed_values if value.gt]
            predicted = [(value.confidence, value.pred) for value in placed_values if value.pred]
            self.detections.setdefault(name, Detections()).add(document.id, true, predicted)

    def _place_value(self, document: DocumentPair, unit: LocatedUnit) -> PlacedValue:
        """Find the true box and the predicted box of a compared value."""
        gt, pred = spots_of(unit, *document.metadata, self.settings.boxes)
        confidence = confidence_of(unit)
        return PlacedValue(
            field=field_path(unit.field_path),
            is_right=unit.outcome is Outcome.TP,
            gt=gt,
            pred=pred,
            confidence=1.0 if confidence is None else confidence,
        )

    def _add_box_fields(self, units: Sequence[LocatedUnit]) -> None:
        """Remember the fields whose values are boxes, and the fields that these boxes describe."""
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
            parent = path[:-1]
            names = names_by_parent.get(parent, set()) if parent else set()
            names = names - _NAMES_BESIDE_VALUES
            self.box_fields[field_path(path)] = names.pop() if len(names) == 1 else ""

    @property
    def note(self) -> str:
        """A note on fields that are boxes themselves, and are therefore not counted.

        Empty if there are none.
        """
        if not self.box_fields:
            return ""
        text = (
            "boxes that are fields of their own "
            f"({join_some(self.box_fields, MAX_NAMED)}) are compared as values, so their "
            "place is not checked again here"
        )
        names = {*self.box_fields.values()}
        value = names.pop() if len(names) == 1 else ""
        if value:
            text += f"; --wrapped {value} would extract values from their objects, with their boxes"
        return text

    def _count_values(self, values: Iterable[PlacedValue]) -> NDArray[np.int64]:
        """Count the values of one field in one document.

        The counts are in the order of `_COUNTED`.
        """
        counts = np.zeros(len(_COUNTED), np.int64)
        for _, is_right, gt, pred, _ in values:
            counts[5:] += gt is not None, pred is not None
            if gt is not None and pred is not None:
                is_elsewhere = gt.overlap(pred) < self.settings.min_overlap
                counts[2 * (not is_right) + is_elsewhere] += 1
                counts[4] += is_right and gt.holds_centre_of(pred)
        return counts

    def make_fields(self, settings: IntervalSettings | None) -> list[PlacedField]:
        """Return the figures of all fields together, then those of each field."""
        no_counts = np.zeros(len(_COUNTED), np.int64)
        paths = dict.fromkeys(path for counts in self.counts for path in counts)
        tables = {
            path: np.array([counts.get(path, no_counts) for counts in self.counts])
            for path in paths
        }
        no_table = np.zeros((len(self.counts), len(_COUNTED)), np.int64)
        total = sum(tables.values(), no_table)
        located_tables = [table for path, table in tables.items() if path not in self.box_fields]
        fields = [_make_field("", total, sum(located_tables, no_table), self.detections, settings)]
        for path, table in tables.items():
            located = no_table if path in self.box_fields else table
            detections = {path: self.detections[path]}
            fields.append(_make_field(path, table, located, detections, settings))
        return fields


def _make_field(
    path: str,
    counts: NDArray[np.int64],
    located: NDArray[np.int64],
    detections_by_field: Mapping[str, Detections],
    settings: IntervalSettings | None,
) -> PlacedField:
    """Return the figures of a field.

    `counts` has the shape (n_documents, 7): a row for each document, and a column for each name in
    `_COUNTED`. `located` has the same counts, but without fields that are boxes themselves.
    """
    column = dict(zip(_COUNTED, counts.T, strict=True))
    located_column = dict(zip(_COUNTED, located.T, strict=True))
    n_pairs = located_column["both_right"] + located_column["place_wrong"]
    n_right = column["both_right"]
    totals = {key: int(values.sum()) for key, values in column.items()}
    shares = document_shares(
        {
            "located": (located_column["both_right"], n_pairs),
            "centred": (located_column["centred"], n_pairs),
            **rates_of(n_right, column["gt_boxes"], column["pred_boxes"]),
        },
        settings,
    )
    cells = {key: totals[key] for key in _COUNTED[:4]}
    n_with_both_boxes = sum(cells.values())
    rates: dict[str, Any] = {key: share.value for key, share in shares.items()}
    return PlacedField(
        field=path,
        **cells,
        missed=totals["gt_boxes"] - n_with_both_boxes,
        invented=totals["pred_boxes"] - n_with_both_boxes,
        **rates,
        located_interval=shares["located"].interval,
        f1_interval=shares["f1"].interval,
        average_precision=mean_precision(detections_by_field, (0.5,)),
        average_precision_all=mean_precision(detections_by_field),
    )
