"""Counts, rates, their intervals and the trust in confidences, as files of runs have them."""

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.core.rules import (
    ADDED_LATER,
    DERIVED,
    LATER,
    UNREAD,
    Count,
    ExactSum,
    Fraction,
    FractionOrNone,
    Number,
    Rule,
    Some,
    Weight,
)
from stickler_cli.score.confidence.calibration import Bin, Selective
from stickler_cli.score.document_result import Side
from stickler_cli.score.intervals import Ends
from stickler_cli.score.sums import COUNTING_MODES


class LenientRecord(TypedDict):
    """Predictions whose JSON was found in other text; a document may count in several ways."""

    documents: Count
    """All of them, each once."""
    fence: Count
    """In a Markdown code fence."""
    prose: Count
    """In other text."""
    string: Count
    """In a JSON string."""
    list: Count
    """The one element of a list."""


class DocumentsRecord(TypedDict):
    """How many documents there were, by what became of them."""

    total: Count
    """All documents, one-sided ones included."""
    evaluated: Count
    """Documents that counts and scores are about, also those compared with an empty prediction."""
    missing: Count
    """Ground truths without a prediction."""
    invalid: Count
    """Documents whose prediction is no JSON object, or array; compared with an empty one."""
    failed: Count
    """Documents that could not be evaluated."""
    unmatched: Count
    """Predictions without ground truth; not evaluated."""
    duplicate_keys: NotRequired[Annotated[Count, ADDED_LATER]]
    """Documents with an object that has a key twice, on either side; the last one counts."""
    byte_order_mark: NotRequired[Annotated[Count, ADDED_LATER]]
    """Documents that begin with a byte order mark, on either side; it is left out."""
    lenient: NotRequired[Annotated[LenientRecord, ADDED_LATER]]
    schema_invalid: NotRequired[Annotated[dict[Side, Count], UNREAD]]
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
    """How many units fell into each class, and the rates."""

    tp: Count
    """True positives: both sides have a value, and they match."""
    fd: Count
    """False discoveries: both sides have a value, and they do not match."""
    fa: Count
    """False alarms: only the prediction has a value."""
    fn: Count
    """False negatives: only the ground truth has a value."""
    fp: NotRequired[Annotated[Count, DERIVED]]
    """False positives: fa + fd."""
    tn: Count
    """True negatives: neither side has a value."""
    derived: NotRequired[Annotated[RatesRecord, DERIVED]]


class SumsRecord(TypedDict):
    """Sums of scores in units of 2^-60, from which runs are merged exactly."""

    raw_similarity_score: ExactSum
    """Of the similarities before clipping."""
    threshold_applied_score: ExactSum
    """Of the scores after clipping."""
    threshold_applied_squares: ExactSum
    """Of the squares of those."""


def _are_moments(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    by_mode = value.keys() <= {*COUNTING_MODES}
    parts = value.values() if by_mode else [value]
    return all(
        isinstance(part, dict) and all(type(it) is int and it > 0 for it in part.values())
        for part in parts
    )


MomentsRecord = Annotated[
    dict[str, Any],
    Rule(
        "squares and products of counts in the run format",
        {"type": "object", "additionalProperties": {"type": ["integer", "object"]}},
        fits=_are_moments,
    ),
]
"""Sums over documents of squares and products of their counts (`tp_tp`, `tp_fd`), by counting mode
where the three differ. Intervals of any number of documents are made of these."""


FigureIntervalRecord = Annotated[
    list[Number],
    Rule(
        "two numbers", {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}
    ),
]
"""Both ends of the confidence interval of a figure that may be above 1."""


RateIntervals = dict[Literal["cm_precision", "cm_recall", "cm_f1", "cm_accuracy"], Ends]
"""Confidence intervals of rates, as far as documents say anything of them."""


class NodeIntervalsRecord(TypedDict, total=False):
    """The confidence intervals of a node, as far as documents say anything of them."""

    overall: RateIntervals
    """Of rates, as overall counts."""
    aggregate: RateIntervals
    """As aggregate counts."""
    leaves: RateIntervals
    """As leaves counts."""
    threshold_applied_score: Ends
    """Of the mean score after clipping."""


class NodeRecord(TypedDict):
    """Counts of one field, or of whole documents, in three readings."""

    overall: CountsRecord
    """Units: a value, an object and each element of a list count one."""
    aggregate: CountsRecord
    """Values, as far as the objects and items they are in match."""
    leaves: CountsRecord
    """All values, whatever they are in."""
    raw_similarity_score: NotRequired[Annotated[Fraction, UNREAD]]
    """Mean similarity before clipping; not for fields of list items."""
    similarity_score: NotRequired[Annotated[Fraction, UNREAD]]
    """The same as raw_similarity_score."""
    threshold_applied_score: NotRequired[Annotated[Fraction, UNREAD]]
    """Mean score after clipping."""
    weight: NotRequired[Weight]
    """What the field is worth in its object."""
    documents: NotRequired[Count]
    """How many documents the scores are means over."""
    score_sums: NotRequired[SumsRecord]
    not_evaluated: NotRequired[Some]
    """Values that were not evaluated."""
    whole: NotRequired[Some]
    """Of a list or an object, items that are right as a whole: paired, and without an error."""
    items: NotRequired[Some]
    """All items that are in the ground truth or invented."""
    moments: NotRequired[MomentsRecord]
    """Where anything was counted."""
    intervals: NotRequired[Annotated[NodeIntervalsRecord, UNREAD]]
    """Confidence intervals, if they were requested, as far as documents say anything."""
    fields: NotRequired[Annotated[dict[str, "NodeRecord"], LATER]]
    """The fields inside, by name, in schema order; those of a list are the fields of its items."""


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


class ConfidenceCountsRecord(TypedDict):
    """Values by confidence, whichever documents they are in."""

    documents: Count
    """In how many documents there are any."""
    right: NotRequired[dict[str, Some]]
    """How many are right, by their confidence."""
    wrong: NotRequired[dict[str, Some]]
    """How many are wrong."""


class ConfidenceRecord(TrustRecord):
    """How far confidences can be trusted, as a whole and by field."""

    fields: dict[str, TrustRecord]
    """By the path of the field, without list indexes."""
