"""Keys and records that the program writes to files but does not read back.

They are declared for the JSON Schemas only; docstrings become descriptions there. If a class has
the same name as a class in `stickler_cli`, such as `NodeRecord`, the schema has the keys of both
classes. A class without such a namesake describes a whole record.
"""

from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic needs it on Python 3.11

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
    """For each validated side, `gt` or `pred`, the number of documents that could be read but are
    not valid under the schema. Missing if no side was validated."""


class RatesRecord(TypedDict):
    """Rates that are computed from the counts beside them; 0.0 if the denominator is 0."""

    cm_precision: Fraction
    """Precision: tp / (tp + fp)."""
    cm_recall: Fraction
    """Recall: tp / (tp + fn). With the option `recall_with_fd`: tp / (tp + fn + fd)."""
    cm_f1: Fraction
    """F1: the harmonic mean of precision and recall."""
    cm_accuracy: Fraction
    """Accuracy: (tp + tn) / (tp + tn + fp + fn)."""


class CountsRecord(TypedDict):
    fp: Count
    """False positives: the sum of `fa` and `fd`."""
    derived: RatesRecord


RateIntervals = dict[Literal["cm_precision", "cm_recall", "cm_f1", "cm_accuracy"], BoundsRecord]
"""For each rate, the two bounds of its confidence interval, each in [0, 1]. A rate with a
denominator of 0 is missing."""


class NodeIntervalsRecord(TypedDict, total=False):
    """Confidence intervals of a field, or of whole documents.

    An interval is [lower bound, upper bound], each in [0, 1]. The interval of a rate is missing if
    the rate's denominator is 0. The key of a counting mode is missing if all four rates are.
    """

    overall: RateIntervals
    """Intervals of the four rates that are computed from the `overall` counts."""
    aggregate: RateIntervals
    """Intervals of the four rates that are computed from the `aggregate` counts."""
    leaves: RateIntervals
    """Intervals of the four rates that are computed from the `leaves` counts."""
    threshold_applied_score: BoundsRecord
    """Interval of the mean score after clipping. Missing for whole documents, whose interval is
    `intervals.overall_score` of the results."""


class ExactRecord(TypedDict):
    """Rates of exact items.

    A list item or object is exact if both sides have it and everything in it is right.
    """

    precision: FractionOrNone
    """The share of predicted items that are exact; null if there are no predicted items."""
    recall: FractionOrNone
    """The share of ground-truth items that are exact; null if there are no ground-truth items."""
    f1: FractionOrNone
    """The harmonic mean of precision and recall; null if neither side has items."""


class NodeRecord(TypedDict):
    exact: NotRequired[ExactRecord]
    """Rates of exact items: items that both sides have and in which everything is right. Missing if
    there are no `items`."""
    raw_similarity_score: NotRequired[Fraction]
    """Mean similarity before clipping, over the documents in which the field has a score. Missing
    for whole documents, for fields of list items, and if the field has a score in no document."""
    similarity_score: NotRequired[Fraction]
    """Same number as `raw_similarity_score`."""
    threshold_applied_score: NotRequired[Fraction]
    """Mean score after clipping, over the documents in which the field has a score. Missing in the
    same cases as `raw_similarity_score`."""
    intervals: NotRequired[NodeIntervalsRecord]
    """Confidence intervals of rates and of the mean score. Missing if intervals were not requested
    or if none can be computed. In a group, only whole documents have intervals."""


class SparseCountsRecord(TypedDict, total=False):
    """Numbers of units by outcome; a count of 0 is left out."""

    tp: Some
    """True positives: both sides have a value, and they match."""
    fd: Some
    """False discoveries: both sides have a value, and they do not match."""
    fa: Some
    """False alarms: only the prediction has a value."""
    fn: Some
    """False negatives: only the ground truth has a value."""
    tn: Some
    """True negatives: neither side has a value."""


class FieldAccountRecord(SparseCountsRecord, total=False):
    """Counts and score of one field in one document.

    If the three counting modes have the same counts, the counts are written once: `tp`, `fd`, `fa`,
    `fn` and `tn` then hold for every mode. Otherwise, each mode has its own object of counts. A
    count of 0 is left out everywhere.
    """

    score: Fraction
    """Score of the field after clipping. Missing for the whole document, for fields of list items,
    and for fields without a score."""
    overall: SparseCountsRecord
    """Counts in the mode `overall`, if the modes differ."""
    aggregate: SparseCountsRecord
    """Counts in the mode `aggregate`, if the modes differ."""
    leaves: SparseCountsRecord
    """Counts in the mode `leaves`, if the modes differ."""
    not_evaluated: Some
    """1 if the field was not evaluated in this document, because it is not labelled. Otherwise
    missing."""
    whole: Some
    """Number of items or objects that both sides have and that contain no error."""
    items: Some
    """Number of items in the ground truth, plus items that only the prediction has."""
    missed_items: Some
    """Number of items that only the ground truth has."""
    invented_items: Some
    """Number of items that only the prediction has."""


class AccountRecord(TypedDict):
    fields: dict[str, FieldAccountRecord]
    """The counts and the score of each field, keyed by the path of the field. Parents come first.
    The path of the whole document is empty. Fields without counts are missing."""


class ClassesRecord(TypedDict):
    total: Count
    """Number of errors in all classes together."""
    overall: dict[ErrorClass, Some]
    """For each error class that occurs, the number of its errors in all fields together."""


class ErrorClassesRecord(ClassesRecord):
    pass


FigureIntervalRecord = Annotated[
    list[Number],
    Rule(
        "two numbers", {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}
    ),
]
"""The two bounds of a confidence interval. They may be above 1, for example those of `log_loss`."""


class BrierPartsRecord(TypedDict):
    """The three terms of the Brier score, computed over ten bins of equal width.

    reliability - resolution + uncertainty is nearly the Brier score.
    """

    reliability: FractionOrNone
    """Mean squared difference between a bin's mean confidence and its share of right values; 0 is
    best. Null if no value has a confidence."""
    resolution: FractionOrNone
    """Mean squared difference between a bin's share of right values and the share of all right
    values; the higher the better. Null if no value has a confidence."""
    uncertainty: FractionOrNone
    """p (1 - p), where p is the share of all values that is right. It does not depend on the
    confidences. Null if no value has a confidence."""


class TrustRecord(TypedDict):
    """How well confidences predict which values are right.

    All figures are about predicted values that have a confidence, except `coverage`. Most figures
    are defined in docs/confidence.md.
    """

    units: Count
    """Number of predicted values that have a confidence."""
    right: Count
    """Number of predicted values that have a confidence and are right."""
    documents: Count
    """Number of documents that contain at least one predicted value with a confidence."""
    coverage: FractionOrNone
    """The share of all predicted values that has a confidence; null if there are no predicted
    values."""
    auroc: FractionOrNone
    """The probability that a right value has a higher confidence than a wrong one; equal
    confidences count half. Null unless there are both right and wrong values."""
    auprc_error: FractionOrNone
    """Average precision of a search for wrong values that begins with the lowest confidence. Null
    if no value is wrong."""
    brier: FractionOrNone
    """Brier score: the mean of (confidence - right)^2, where right is 1 or 0; 0 is best. Null if no
    value has a confidence."""
    brier_parts: BrierPartsRecord
    ece: FractionOrNone
    """Expected calibration error: the mean difference between the confidence and the share of right
    values, over ten bins of equal width; 0 is best. Null if no value has a confidence."""
    ece_mass: FractionOrNone
    """Expected calibration error over ten bins with about equal numbers of values; 0 is best. Null
    if no value has a confidence."""
    mce: FractionOrNone
    """Maximum calibration error: the greatest difference between a bin's mean confidence and its
    share of right values, over ten bins of equal width; 0 is best. Null if no value has a
    confidence."""
    log_loss: Number | None
    """Mean of -ln(p), where p is the confidence of a right value, and 1 - confidence of a wrong
    value; 0 is best, and there is no upper limit. Null if no value has a confidence."""
    aurc: FractionOrNone
    """Area under the risk-coverage curve: the mean, over all k, of the share of wrong values among
    the k most confident values; 0 is best. Null if no value has a confidence."""
    error_capture: dict[str, FractionOrNone]
    """The share of all wrong values that a review of the least confident values finds. The keys are
    the shares of values that are reviewed: `0.1`, `0.3` and `0.5`. Null if no value is wrong."""
    selective: dict[str, Selective | None]
    """The lowest confidence at which values can be accepted, for three required shares of right
    values among the accepted values. The keys are the required shares: `0.95`, `0.99` and `0.999`.
    Null if no confidence reaches the required share."""
    bins: list[Bin]
    """Values by confidence, in ten bins of equal width, from low to high confidence."""
    intervals: NotRequired[dict[str, FigureIntervalRecord]]
    """For each figure, the two bounds of its confidence interval. The keys are the names of the
    figures, such as `auroc`, `brier_parts.reliability` or `error_capture.0.1`. A figure whose
    interval cannot be computed is missing. The whole object is missing if intervals were not
    requested, if fewer than five documents have confidences, or if the run file was written without
    `per_document`."""


class ConfidenceRecord(TrustRecord):
    """How well confidences predict which values are right, in total and for each field."""

    fields: dict[str, TrustRecord]
    """The same figures for each field that has confidences. The keys are paths of fields, without
    list indexes."""


class IntervalSettings(TypedDict):
    method: str
    """Name of the method that computes the intervals; docs/statistics.md explains it."""
    overall_score: BoundsRecord | None
    """The two bounds of the confidence interval of `overall_score`; null if no document has a
    score."""


class WhollyRight(TypedDict):
    right: Count
    """Number of documents without a wrong, invented or missed value."""
    share: FractionOrNone
    """Share of documents without a wrong, invented or missed value: `right` / `documents`. Null if
    no document was compared."""
    lost_at_most: list[Count]
    """Number of documents that lost at most 0, 1, ... 10 values, as 11 numbers. A lost value is
    wrong, invented or missed."""
    interval: NotRequired[BoundsRecord]
    """The two bounds of the confidence interval of `share`. Missing if intervals were not requested
    or if no document was compared."""


class Validity(TypedDict):
    invalid: Count
    """Number of documents that could be read but are not valid under the schema."""
    share: FractionOrNone
    """Share of valid documents: `valid` / `checked`; null if there are no documents."""
    keywords: dict[str, Count]
    """For each keyword of the schema that was violated, such as `required`, the number of its
    violations; the most frequent keyword comes first."""


class CauseRecord(TypedDict):
    number: NotRequired[Some]
    """Number of the cause in reports, as `--cause` takes it; 1 is the cause that lost most values.
    Causes that reports join in one line have the same number. Missing for a cause that reports do
    not list."""
    text: NotRequired[str]
    """The line of reports about this cause, in English. Causes with the same number have the same
    text. Missing if there is no such line."""


class ResultsRecord(TypedDict):
    overall_score: FractionOrNone
    """Mean score of the evaluated documents; null if no document was evaluated."""
    confidence: NotRequired[ConfidenceRecord]
    """How well the confidences of predicted values predict which values are right. Missing if no
    predicted value has a confidence."""


class EvaluationRecord(ResultsRecord):
    labelled: NotRequired[dict[FieldPath, FractionOrNone]]
    """For each field that is not labelled in some document, the share of compared documents in
    which the field and all its parents are labelled. The empty path has the mean share of all
    fields. Null if no document was compared. Missing if all fields are labelled in all documents.
    """
    never_present: list[FieldPath]
    """Fields that have no value on either side in any document. The fields inside such a field are
    not listed."""


class RunRecord(EvaluationRecord):
    field_scores: NotRequired[dict[str, Fraction]]
    """Score of each top-level field of the document, after clipping; the keys are names of fields.
    Only if the run compared a single pair of files."""
    all_fields_matched: NotRequired[Flag]
    """Whether the document has no errors. Only if the run compared a single pair of files."""
    non_matches: NotRequired[list[dict[str, Any]]]
    """All errors of the document, with the keys that stickler-eval's `compare_with` uses, such as
    `field_path` and `non_match_type`. Only if the run compared a single pair of files."""
    errors: NotRequired[list[Error]]
    """All errors of the document, with the keys that the files of `--non-matches` use. Only if the
    run compared a single pair of files."""


class ResampledRecord(TypedDict):
    """Settings of the confidence intervals of changes."""

    level: Level
    """Confidence level: the share of confidence intervals that contain the true change."""
    method: str
    """Name of the method that computes the intervals; docs/statistics.md explains it."""
    seed: Count
    """Seed of the random weights of documents in resampling."""
    replicates: Count
    """Number of times that random weights of documents are drawn."""


class TrendSettings(TypedDict):
    alpha: Fraction
    """Significance level: a change is significant if its p value, corrected for the number of
    tests, is at most this number."""
    swaps: Count
    """Number of random swaps in a permutation test. If few documents differ between the runs, the
    test tries all swaps instead."""
    intervals: ResampledRecord


_FLOOR: Final = {"type": "number", "minimum": -1, "exclusiveMaximum": 1}

Floor = Annotated[float, Rule("a number in [-1, 1)", _FLOOR)]


class ComparedSchemaRecord(TypedDict):
    """The schema by which the documents were compared."""

    path: str
    """The file of the schema, as the user named it."""
    model_name: str
    """The name that the schema gives to its documents."""


class PieceRecord(TypedDict):
    """A segment of two values that are compared as JSON text."""

    text: str
    """The characters of the segment. In a long segment, `…` stands for omitted characters."""
    in_: Literal["both", "gt", "pred"]
    """The values that contain the segment: both, only the ground truth (`gt`), or only the
    prediction (`pred`)."""


class PlaceRecord(TypedDict):
    """A compared value, list item, list or object of two documents, with its outcome and score."""

    path: str
    """Path in the ground truth, with list indexes; empty for the whole document. If only the
    prediction has a list item, its index is that of the prediction."""
    prediction_path: NotRequired[str]
    """Path in the prediction, with list indexes. Missing if it is the same as `path`."""
    kind: Literal["leaf", "object", "list", "tuple"]
    """How the two values are compared: as one value (`leaf`), field by field (`object`), item by
    item (`list`), or position by position (`tuple`)."""
    outcome: Literal["TP", "FD", "FA", "FN", "TN"]
    """Outcome: true positive, false discovery, false alarm, false negative or true negative."""
    class_: NotRequired[str]
    """Error class: the kind of mistake, as described in docs/error-classes.md. Missing if this is
    not an error of its own."""
    swapped_with: NotRequired[str]
    """For a value that was predicted in the wrong field: path of the field in the ground truth to
    which the predicted value belongs."""
    difference: NotRequired[list[PieceRecord]]
    """Two different values as JSON text, cut into segments that both values contain and segments
    that only one of them contains."""
    comparator: NotRequired[str]
    """Name of the comparator; only if `kind` is `leaf`."""
    reason: NotRequired[str]
    """The reason that a language model gave for its judgement; only if a model was asked."""
    alternatives: NotRequired[list[AnyJson]]
    """Further values that the ground truth accepts here. The prediction was compared with the
    accepted value that is most similar to it; that value is not repeated in this list."""
    similarity: Fraction
    """Similarity of the two values, before clipping. It is compared with `threshold`."""
    score: Fraction
    """Score: the similarity after clipping. It counts in the score of the object or list."""
    threshold: NotRequired[Fraction]
    """Similarity at or above which the values match. Missing for an undeclared key
    that only the prediction has."""
    threshold_source: NotRequired[ThresholdSource]
    """Source of the threshold: an annotation of the field or its list, the match-threshold of the
    objects, inference from the schema (`inferred`), or the default."""
    weight: NotRequired[Weight]
    """Weight of the field in the score of its object. Missing for documents and list items."""
    adds: NotRequired[Amount]
    """Number that this place adds to `sum.total` of the object or list that contains it. It is
    weight x score for a field, and the score for a list item. Missing if nothing is added."""
    pairing_floor: NotRequired[Floor]
    """For a list whose items are paired by similarity: two items can only be a pair if their
    similarity is above this number."""
    pairing_floor_source: NotRequired[Literal["annotation", "run"]]
    """Source of the pairing floor: an annotation of the list, or the options of the run."""
    pairing: NotRequired[Pairing]
    """For an item of a list whose items are paired by similarity: the item and its partner."""
    sum: NotRequired[Sum]
    """For an object, list or tuple that both sides have: its score before clipping, as a quotient
    total / divisor."""
    undeclared_keys: NotRequired[list[str]]
    """Keys of this object in the ground truth that the schema does not declare. They are not
    evaluated."""
    parts: NotRequired[list["PlaceRecord"]]
    """For an object, its fields; for a list or tuple, its items."""
    ground_truth_value: NotRequired[AnyJson]
    """The ground-truth value; null if it is absent. Missing for an object, list or tuple that both
    sides have, as `parts` has its values."""
    prediction_value: NotRequired[AnyJson]
    """The predicted value; null if it is absent. Missing for an object, list or tuple that both
    sides have, as `parts` has its values."""


class ComparisonRecord(TypedDict):
    """The comparison of one pair of documents, as `stickler compare --format json` writes it.

    Described in docs/compare.md.
    """

    format: Literal["stickler-comparison/1"]
    """Name of this format. The number goes up when a key changes its meaning or is removed."""
    version: str
    """Version of the program that compared the documents."""
    document: str
    """Id of the document; empty if it has none."""
    schema: ComparedSchemaRecord
    options: dict[str, Any]
    """The options that decide the result."""
    overall_score: Fraction
    """Score of the document."""
    places: list[PlaceRecord]
    """The whole document as one entry, or an entry for each place that `--field` selects; there is
    at least one. The entries for the contents of a place are in its `parts`."""
