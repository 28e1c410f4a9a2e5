"""What files have beside what is read of them: keys that follow from others, and whole records.

A class with the name of a type of the package has its further keys; others are nowhere read back.
Docstrings are the descriptions in the JSON Schemas.
"""

from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.compare.result import ThresholdSource
from stickler_cli.compare.tree import Amount, Pairing, Sum
from stickler_cli.core.rules import (
    AnyJson,
    Count,
    FieldPath,
    Flag,
    Fraction,
    FractionOrNone,
    Number,
    Rule,
    Some,
    Weight,
)
from stickler_cli.score.confidence.calibration import Bin, Selective
from stickler_cli.score.document_result import Side
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.intervals import BoundsRecord, Level


class DocumentsRecord(TypedDict):
    schema_invalid: NotRequired[dict[Side, Count]]
    """Documents that could be read and are not valid under the schema."""


class RatesRecord(TypedDict):
    """The rates of some counts; 0.0 where there is nothing to divide by."""

    cm_precision: Fraction
    """tp / (tp + fp)."""
    cm_recall: Fraction
    """tp / (tp + fn), or tp / (tp + fn + fd) with recall_with_fd."""
    cm_f1: Fraction
    """Harmonic mean of precision and recall."""
    cm_accuracy: Fraction
    """(tp + tn) / (tp + tn + fp + fn)."""


class CountsRecord(TypedDict):
    fp: Count
    """False positives: fa + fd."""
    derived: RatesRecord


RateIntervals = dict[Literal["cm_precision", "cm_recall", "cm_f1", "cm_accuracy"], BoundsRecord]
"""Confidence intervals of rates, as far as documents say anything of them."""


class NodeIntervalsRecord(TypedDict, total=False):
    """The confidence intervals of a node, as far as documents say anything of them."""

    overall: RateIntervals
    """Of rates, as overall counts."""
    aggregate: RateIntervals
    """As aggregate counts."""
    leaves: RateIntervals
    """As leaves counts."""
    threshold_applied_score: BoundsRecord
    """Of the mean score after clipping."""


class ExactRecord(TypedDict):
    """Rates of the items, or objects, that are right as a whole: entity-level figures."""

    precision: FractionOrNone
    """Of the items of predictions; null where there are none."""
    recall: FractionOrNone
    """Of the items of ground truths; null where there are none."""
    f1: FractionOrNone
    """The harmonic mean of both; null where neither side has items."""


class NodeRecord(TypedDict):
    exact: NotRequired[ExactRecord]
    """Of a list or an object that has `items`."""
    raw_similarity_score: NotRequired[Fraction]
    """Mean similarity before clipping; not for fields of list items."""
    similarity_score: NotRequired[Fraction]
    """The same as raw_similarity_score."""
    threshold_applied_score: NotRequired[Fraction]
    """Mean score after clipping."""
    intervals: NotRequired[NodeIntervalsRecord]
    """Confidence intervals, if they were requested, as far as documents say anything."""


class SparseCountsRecord(TypedDict, total=False):
    """The counts above 0."""

    tp: Some
    """True positives."""
    fd: Some
    """False discoveries."""
    fa: Some
    """False alarms."""
    fn: Some
    """False negatives."""
    tn: Some
    """True negatives."""


class FieldAccountRecord(SparseCountsRecord, total=False):
    """One field of one document: its counts, by mode where the three differ."""

    score: Fraction
    """Its score after clipping; not for fields of list items."""
    overall: SparseCountsRecord
    """What overall counts."""
    aggregate: SparseCountsRecord
    """What aggregate counts."""
    leaves: SparseCountsRecord
    """What leaves counts."""
    not_evaluated: Some
    """Values that were not evaluated."""
    whole: Some
    """Of a list or an object, items that are right as a whole: paired, and without an error."""
    items: Some
    """All items that are in the ground truth or invented."""
    missed_items: Some
    """Items that only the ground truth has."""
    invented_items: Some
    """Items that only the prediction has."""


class AccountRecord(TypedDict):
    fields: dict[str, FieldAccountRecord]
    """The counts and the score of each field. The keys are paths of fields, parents first; the path
    of the whole document is empty. Fields without counts are missing."""


class ClassesRecord(TypedDict):
    total: Count
    """How many errors there are."""
    overall: dict[ErrorClass, Some]
    """How many of each class, those that do not occur left out."""


class ErrorClassesRecord(ClassesRecord):
    pass


FigureIntervalRecord = Annotated[
    list[Number],
    Rule(
        "two numbers", {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}
    ),
]
"""Both ends of the confidence interval of a figure that may be above 1."""


class BrierPartsRecord(TypedDict):
    """What the Brier score is made of, over the bins."""

    reliability: FractionOrNone
    """How far confidences are from what was right; 0 is best."""
    resolution: FractionOrNone
    """How far bins differ from each other."""
    uncertainty: FractionOrNone
    """How mixed right and wrong are."""


class TrustRecord(TypedDict):
    """How far confidences can be trusted; docs/confidence.md defines each figure."""

    units: Count
    """Values of predictions that have a confidence."""
    right: Count
    """How many of them are right."""
    documents: Count
    """How many documents they are in."""
    coverage: FractionOrNone
    """The share of all values of predictions that has one; null where it is not known."""
    auroc: FractionOrNone
    """The chance that a right value has a higher confidence than a wrong one, ties half; this and
    what follows is null where it is not defined."""
    auprc_error: FractionOrNone
    """Average precision of finding wrong values from the least confident up."""
    brier: FractionOrNone
    """Mean squared distance of confidence and what was right."""
    brier_parts: BrierPartsRecord
    ece: FractionOrNone
    """Expected calibration error over ten bins of equal width."""
    ece_mass: FractionOrNone
    """The same over ten bins of about equal size."""
    mce: FractionOrNone
    """The greatest gap of a bin of equal width."""
    log_loss: Number | None
    """Mean negative logarithm of the probability given to what was the case."""
    aurc: FractionOrNone
    """Mean share wrong among the k most confident values, over all k."""
    error_capture: dict[str, FractionOrNone]
    """The share of errors among the least confident values, by the share that is reviewed."""
    selective: dict[str, Selective | None]
    """By the share that is to be right; null where there is no such line."""
    bins: list[Bin]
    """Ten of equal width, the least confident first."""
    intervals: NotRequired[dict[str, FigureIntervalRecord]]
    """Of the figures, where documents say enough; `name.part` for a part of one."""


class ConfidenceRecord(TrustRecord):
    """How far confidences can be trusted, as a whole and by field."""

    fields: dict[str, TrustRecord]
    """By the path of the field, without list indexes."""


class IntervalSettings(TypedDict):
    method: str
    """How they were made; see docs/statistics.md."""
    overall_score: BoundsRecord | None
    """The interval of overall_score; null where no document has a score."""


class WhollyRight(TypedDict):
    right: Count
    """Those that lost none."""
    share: FractionOrNone
    """right / documents; null of no documents."""
    lost_at_most: list[Count]
    """How many lost none, at most one, and so on up to ten."""
    interval: NotRequired[BoundsRecord]
    """The confidence interval of the share, if intervals were requested."""


class Validity(TypedDict):
    invalid: Count
    """Documents that could be read and are not valid."""
    share: FractionOrNone
    """valid / checked; null of no documents."""
    keywords: dict[str, Count]
    """How often each keyword of the schema was violated, the most frequent first."""


class CauseRecord(TypedDict):
    number: NotRequired[Some]
    """The number by which reports and --cause call it; causes that are told together share one."""
    text: NotRequired[str]
    """What reports for people say of that number."""


class ResultsRecord(TypedDict):
    overall_score: FractionOrNone
    """The mean score of the documents evaluated; null without any."""
    confidence: NotRequired[ConfidenceRecord]
    """Only if predictions have confidences."""


class EvaluationRecord(ResultsRecord):
    labelled: NotRequired[dict[FieldPath, FractionOrNone]]
    """In which share of documents these are labelled, as are all around them, as gates ask; of the
    empty path, the mean of all fields."""
    never_present: list[FieldPath]
    """Fields without a value on either side in any document; those inside them are not listed."""


class RunRecord(EvaluationRecord):
    field_scores: NotRequired[dict[str, Fraction]]
    """Score of each field, after clipping; this and what follows where two files were compared."""
    all_fields_matched: NotRequired[Flag]
    """Whether the one document has no errors."""
    non_matches: NotRequired[list[dict[str, Any]]]
    """Every error of the one document, by the names of stickler-eval, as `compare_with` has it."""
    errors: NotRequired[list[Error]]
    """The same, as lines of files of errors."""


class ResampledRecord(TypedDict):
    """How confidence intervals of changes were made."""

    level: Level
    """The share of such intervals that are to hold the true value."""
    method: str
    """How they were made; see docs/statistics.md."""
    seed: Count
    """Which weights of documents were drawn, where they were resampled."""
    replicates: Count
    """How often random weights of documents were drawn."""


class TrendSettings(TypedDict):
    alpha: Fraction
    """A change is significant if its corrected p is at most this."""
    swaps: Count
    """How many swaps are drawn where not all are tried."""
    intervals: ResampledRecord


_FLOOR: Final = {"type": "number", "minimum": -1, "exclusiveMaximum": 1}

Floor = Annotated[float, Rule("a number in [-1, 1)", _FLOOR)]


class ComparedSchemaRecord(TypedDict):
    """The schema the documents were compared under."""

    path: str
    """The file, as the user named it."""
    model_name: str
    """What the schema calls its documents."""


class PieceRecord(TypedDict):
    """A run of characters."""

    text: str
    """The characters."""
    in_: Literal["both", "gt", "pred"]
    """Who has them."""


class PlaceRecord(TypedDict):
    """One place of two documents, and how it was judged."""

    path: str
    """With the ground truth's list indexes; empty for the document."""
    prediction_path: NotRequired[str]
    """With the prediction's list indexes, where they differ."""
    kind: Literal["leaf", "object", "list", "tuple"]
    """What is compared as what."""
    outcome: Literal["TP", "FD", "FA", "FN", "TN"]
    """What the place counts as."""
    class_: NotRequired[str]
    """Of an error, what kind of mistake it is: docs/error-classes.md."""
    swapped_with: NotRequired[str]
    """Of a swapped value, the path of the place in the ground truth whose value it is."""
    difference: NotRequired[list[PieceRecord]]
    """Two different values, as JSON, cut into runs; long ones are shortened."""
    comparator: NotRequired[str]
    """Of a leaf, what compared it."""
    reason: NotRequired[str]
    """What a judge said of the values."""
    alternatives: NotRequired[list[AnyJson]]
    """Values that are as right as this ground truth, which was taken as the likest."""
    similarity: Fraction
    """As computed; of a list, before its items were clipped."""
    score: Fraction
    """After clipping."""
    threshold: NotRequired[Fraction]
    """What it must reach."""
    threshold_source: NotRequired[ThresholdSource]
    """Who said the threshold."""
    weight: NotRequired[Weight]
    """What a field is worth in its object."""
    adds: NotRequired[Amount]
    """What it adds to the sum of the place that it is in."""
    pairing_floor: NotRequired[Floor]
    """Of a list, what its pairs are above."""
    pairing_floor_source: NotRequired[Literal["annotation", "run"]]
    """Who said the floor."""
    pairing: NotRequired[Pairing]
    sum: NotRequired[Sum]
    undeclared_keys: NotRequired[list[str]]
    """Keys of the ground truth that the schema does not declare."""
    parts: NotRequired[list["PlaceRecord"]]
    """The fields of an object, the elements of a list."""
    ground_truth_value: NotRequired[AnyJson]
    """Of a leaf, or of what one side lacks; null where it is absent."""
    prediction_value: NotRequired[AnyJson]
    """Likewise."""


class ComparisonRecord(TypedDict):
    """One pair of documents explained, as `stickler compare --format json` writes it.

    Described in docs/compare.md.
    """

    format: Literal["stickler-comparison/1"]
    """Name and version of this format."""
    version: str
    """Version of the program."""
    document: str
    """Id of the document."""
    schema: ComparedSchemaRecord
    options: dict[str, Any]
    """The options that decide a result."""
    overall_score: Fraction
    """The score of the document."""
    places: list[PlaceRecord]
    """The document, or the places that were asked for; at least one."""
