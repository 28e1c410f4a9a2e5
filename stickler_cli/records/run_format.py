"""The run format `stickler-run/1`: what a run is in a file, key by key.

`schemas/stickler-run.json` is made of these types, and their docstrings are its descriptions.
"""

from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.core.rules import (
    ADDED_LATER,
    DERIVED,
    LATER,
    UNREAD,
    AnyJson,
    Count,
    ExactSum,
    FieldPath,
    Flag,
    Fraction,
    FractionOrNone,
    Number,
    Rule,
    Some,
    Weight,
    is_share,
)
from stickler_cli.score.accounts import NAMES, SCORE
from stickler_cli.score.conditions import FieldInfo
from stickler_cli.score.document_result import DocumentProblem, Status
from stickler_cli.score.error_classes import ErrorClass
from stickler_cli.score.gates import GateResult
from stickler_cli.score.intervals import MOST_REPLICATES
from stickler_cli.score.policy import PolicyOutcome
from stickler_cli.score.record import Provenance, SchemaSignature
from stickler_cli.score.repeats import Repeats
from stickler_cli.score.tally import COUNTING_MODES
from stickler_cli.score.validity import Violated

_MOST_UNITS: Final = 1 << 32  # more than one document has, few enough for exact sums

_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_LEVEL: Final = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}

Level = Annotated[
    float, Rule("a number between 0 and 1", _LEVEL, fits=lambda it: is_share(it) and 0 < it < 1)
]
Replicates = Annotated[
    int,
    Rule(
        f"a whole number of 1 to {MOST_REPLICATES}",
        {"type": "integer", "minimum": 1},
        fits=lambda it: type(it) is int and 0 < it <= MOST_REPLICATES,
    ),
]


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


class SidesRecord(TypedDict, total=False):
    """A count for each side that was held against the schema."""

    pred: Count
    """Predictions."""
    gt: Count
    """Ground truths."""


class DocumentsRecord(TypedDict):
    """How many documents there were, by what became of them."""

    total: Count
    """All documents, one-sided ones included."""
    evaluated: Count
    """Documents that counts and scores are about, also those compared with an empty prediction."""
    missing: Count
    """Ground truths without a prediction."""
    invalid: Count
    """Documents whose prediction is no JSON object; compared with an empty one."""
    failed: Count
    """Documents that could not be evaluated."""
    unmatched: Count
    """Predictions without ground truth; not evaluated."""
    duplicate_keys: NotRequired[Annotated[Count, ADDED_LATER]]
    """Documents with an object that has a key twice, on either side; the last one counts."""
    byte_order_mark: NotRequired[Annotated[Count, ADDED_LATER]]
    """Documents that begin with a byte order mark, on either side; it is left out."""
    lenient: NotRequired[Annotated[LenientRecord, ADDED_LATER]]
    schema_invalid: NotRequired[Annotated[SidesRecord, UNREAD]]
    """Documents that are JSON objects and not valid under the schema."""


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


IntervalRecord = Annotated[
    list[Number],
    Rule("two numbers", {"type": "array", "minItems": 2, "maxItems": 2, "items": _SHARE}),
]
"""Both ends of a confidence interval."""


FigureIntervalRecord = Annotated[
    list[Number],
    Rule(
        "two numbers", {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}
    ),
]
"""The same of a figure that may be above 1."""


class RateIntervalsRecord(TypedDict, total=False):
    """Confidence intervals of rates, as far as documents say anything of them."""

    cm_precision: IntervalRecord
    """Of cm_precision."""
    cm_recall: IntervalRecord
    """Of cm_recall."""
    cm_f1: IntervalRecord
    """Of cm_f1."""
    cm_accuracy: IntervalRecord
    """Of cm_accuracy."""


class NodeIntervalsRecord(TypedDict, total=False):
    """The confidence intervals of a node, as far as documents say anything of them."""

    overall: RateIntervalsRecord
    aggregate: RateIntervalsRecord
    leaves: RateIntervalsRecord
    threshold_applied_score: IntervalRecord
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
    intervals: NotRequired[Annotated[NodeIntervalsRecord, UNREAD]]
    """Confidence intervals, if they were requested, as far as documents say anything."""
    fields: NotRequired[Annotated[dict[str, "NodeRecord"], LATER]]
    """The fields inside, by name, in schema order; those of a list are the fields of its items."""


class ClassesRecord(TypedDict):
    """What kinds of mistakes errors are: docs/error-classes.md. Each error has one class."""

    total: NotRequired[Annotated[Count, DERIVED]]
    """How many errors there are."""
    overall: NotRequired[Annotated[dict[ErrorClass, Some], DERIVED]]
    """How many of each class, those that do not occur left out."""
    fields: dict[FieldPath, dict[ErrorClass, Some]]
    """The same for each field that has errors, by its path without list indexes."""


class ErrorClassesRecord(ClassesRecord):
    """The classes of wrong values, which are as many as fd + fa + fn of `leaves`."""

    units: NotRequired[Annotated[ClassesRecord, ADDED_LATER]]
    """Those of list items and objects that failed as a whole, whose values are counted above."""


_Class = TypedDict("_Class", {"class": ErrorClass})  # no name of a key in a class statement


class CauseRecord(_Class):
    """Errors that are alike, and how many values were lost by them."""

    field: FieldPath
    """The field, without list indexes."""
    pattern: NotRequired[FieldPath]
    """The same, with `*` for the keys of maps; only where that is another."""
    differing_fields: NotRequired[list[str]]
    """Of list items that both sides have, the fields that differ."""
    ground_truth_value: NotRequired[AnyJson]
    """What it was, where these errors have both values in common."""
    prediction_value: NotRequired[AnyJson]
    """What was read instead."""
    errors: Some
    """How many errors they are."""
    values: Count
    """How many values were lost, which belong to no other cause."""
    documents: NotRequired[Some]
    """In how many documents; not where errors of too many kinds to tell apart are one cause."""


class IntervalsRecord(TypedDict):
    """How confidence intervals were made."""

    level: Level
    """The share of such intervals that are to hold the true value."""
    method: str
    """How they were made; see docs/statistics.md."""
    replicates: Replicates
    """How often random weights of documents were drawn."""
    seed: Count
    """Which weights were drawn."""


class ScoreIntervalsRecord(IntervalsRecord):
    """How the confidence intervals of this run were made, and that of overall_score."""

    overall_score: NotRequired[Annotated[IntervalRecord | None, DERIVED]]
    """The interval of overall_score; null where no document has a score."""


class BinRecord(TypedDict):
    """Values of some confidence."""

    lower: Fraction
    """The least confidence."""
    upper: Fraction
    """What it does not reach, but for the last bin."""
    units: Count
    """How many values there are."""
    confidence: FractionOrNone
    """Their mean confidence; null of none."""
    right: FractionOrNone
    """The share that is right; null of none."""
    interval: NotRequired[IntervalRecord]
    """Where that share may lie."""


class BrierPartsRecord(TypedDict):
    """What the Brier score is made of, over the bins."""

    reliability: FractionOrNone
    """How far confidences are from what was right; 0 is best."""
    resolution: FractionOrNone
    """How far bins differ from each other."""
    uncertainty: FractionOrNone
    """How mixed right and wrong are."""


class SelectiveRecord(TypedDict):
    """Where to draw a line to have a share right above it, on these documents."""

    threshold: Fraction
    """The lowest such confidence."""
    coverage: Fraction
    """The share of values at or above it."""


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
    selective: dict[str, SelectiveRecord | None]
    """By the share that is to be right; null where there is no such line."""
    bins: list[BinRecord]
    """Ten of equal width, the least confident first."""
    intervals: NotRequired[dict[str, FigureIntervalRecord]]
    """Of the figures, where documents say enough; `name.part` for a part of one."""


class ConfidenceRecord(TrustRecord):
    """How far confidences can be trusted, as a whole and by field."""

    fields: dict[str, TrustRecord]
    """By the path of the field, without list indexes."""


class ResultsRecord(TypedDict):
    """The results of a group of documents, or of all."""

    documents: DocumentsRecord
    overall_score: NotRequired[Annotated[FractionOrNone, DERIVED]]
    """The mean score of the documents evaluated; null without any."""
    score_sum: ExactSum
    """The sum of those scores in units of 2^-60, from which runs are merged exactly; text, since
    it may have more digits than a JSON number keeps."""
    confusion_matrix: Annotated[NodeRecord, LATER]
    """Counts and rates of whole documents, and of each field below."""
    error_classes: ErrorClassesRecord
    intervals: NotRequired[ScoreIntervalsRecord]
    """Only if they were requested; those of rates stand beside them."""
    unwrapped: NotRequired[dict[str, Count]]
    """How many values were taken out of wrappers, by the key of the wrapper, and as `inherited` how
    many have the confidence of what is around them; only if there were any."""
    confidence: NotRequired[Annotated[ConfidenceRecord, UNREAD]]
    """Only if predictions have confidences."""


class ValidityRecord(TypedDict):
    """The verdicts about the documents of one side."""

    checked: Count
    """All documents that there were."""
    valid: Count
    """Documents that are valid under the schema."""
    invalid: NotRequired[Annotated[Count, DERIVED]]
    """Documents that are JSON objects and not valid."""
    unreadable: Count
    """Documents that are no JSON objects, and so not valid either."""
    share: NotRequired[Annotated[FractionOrNone, DERIVED]]
    """valid / checked; null of no documents."""
    keywords: NotRequired[Annotated[dict[str, Count], DERIVED]]
    """How often each keyword of the schema was violated, the most frequent first."""
    violations: list[Violated]
    """How often each keyword was violated at each field, the most frequent first."""


class ValiditiesRecord(TypedDict, total=False):
    """The verdicts about each side that was held against the schema."""

    pred: ValidityRecord
    """Predictions."""
    gt: ValidityRecord
    """Ground truths."""


class KeyRecord(TypedDict):
    """One key, over all documents."""

    path: FieldPath
    """Where the key stands, without list indexes."""
    count: Count
    """How often it had a value."""


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


def _fits(entry: object) -> bool:
    """Return whether a value is what is written of a field of a document."""
    if not isinstance(entry, dict):
        return False
    for name, value in entry.items():
        if name in COUNTING_MODES:
            if not isinstance(value, dict) or not all(map(_is_count, value, value.values())):
                return False
        elif not (is_share(value) if name == SCORE else _is_count(name, value)):
            return False
    return bool(entry)


def _is_count(name: object, value: object) -> bool:
    return name in NAMES and type(value) is int and 0 < value <= _MOST_UNITS


class ConfidencesRecord(TypedDict, total=False):
    """The confidences of the values of one document."""

    right: dict[str, list[Fraction]]
    """Of values that are right, by the path of their field."""
    wrong: dict[str, list[Fraction]]
    """Of values that are wrong."""
    apart: "ConfidencesRecord"
    """The same of values that the counts of the whole document leave out."""


class AccountRecord(TypedDict):
    """What became of one document."""

    id: str
    """Of the document."""
    status: Status
    score: FractionOrNone
    """Its overall score; null where it was not compared."""
    by: NotRequired[dict[str, str]]
    """The group that it is in, by each key that the run was broken down by."""
    fields: dict[
        str, Annotated[FieldAccountRecord, Rule("counts of a field in the run format", fits=_fits)]
    ]
    """Where something was counted or scored, by path, parents first; of the whole document the
    path is empty."""
    confidences: NotRequired[ConfidencesRecord]
    """Only if the prediction has any."""


class DetailsRecord(TypedDict):
    """More about an error."""

    reason: str
    """Why it is one."""
    differing_fields: NotRequired[list[str]]
    """Of a pair of list items below its threshold, the fields that differ."""
    judge: NotRequired[str]
    """Where a language model compared the values, its reason."""


class NonMatchRecord(TypedDict):
    """One unit that is wrong."""

    field_path: Annotated[str, Rule("a string", {"type": "string", "minLength": 1})]
    """With the ground truth's list indexes; with the prediction's for a false alarm."""
    non_match_type: Literal["false_discovery", "false_alarm", "false_negative"]
    """What the error counts as: FD, FA or FN."""
    class_: ErrorClass
    """What kind of mistake it is, as docs/error-classes.md describes them."""
    ground_truth_value: AnyJson
    """The ground truth, any JSON value; null where it is absent."""
    prediction_value: AnyJson
    """The prediction, any JSON value; null where it is absent."""
    similarity_score: NotRequired[Fraction]
    """How alike the values are; for a false discovery only."""
    inside: NotRequired[str]
    """The path of the error that it is in: a list item, or what one side lacks, that failed as a
    whole."""
    values: NotRequired[Count]
    """Of a list item or object that failed as a whole, how many errors are inside it; none of a
    value."""
    details: DetailsRecord


class UnitsRecord(TypedDict):
    """How many units of a document fell into each class; rates follow from them."""

    tp: Count
    fd: Count
    fa: Count
    fn: Count
    tn: Count


class DocumentLineRecord(TypedDict):
    """A line of `--documents`, as far as a table has it."""

    document: str
    status: Status
    overall_score: Fraction
    all_fields_matched: Flag
    field_scores: AnyJson
    overall: UnitsRecord
    aggregate: UnitsRecord
    leaves: UnitsRecord
    validity: AnyJson
    remarks: AnyJson
    problems: AnyJson


class EvaluationRecord(ResultsRecord):
    """What both formats of evaluations have."""

    validity: NotRequired[ValiditiesRecord]
    """Only where that was requested."""
    fields: list[FieldInfo]
    """What the schema says of each field, in its order, parents first."""
    causes: NotRequired[Annotated[list[CauseRecord], ADDED_LATER]]
    """Errors that are alike, put together, those that lost most values first; all values lost are
    in one of them."""
    undeclared_keys: list[KeyRecord]
    """Keys of ground truths that the schema does not declare; they are not evaluated."""
    extra_keys: list[KeyRecord]
    """Keys that the schema does not declare and only predictions have; each is a false alarm."""
    never_present: NotRequired[Annotated[list[FieldPath], DERIVED]]
    """Fields without a value on either side in any document; those inside them are not listed."""
    problems: list[DocumentProblem]
    """The documents that were not simply evaluated, and why; sorted."""
    by: NotRequired[dict[str, dict[str, ResultsRecord]]]
    """Groups of documents, by the key that they were broken down by and the name of the group."""
    per_document: NotRequired[
        Annotated[list[AccountRecord], Rule("an array", fits=lambda value: isinstance(value, list))]
    ]
    """Sorted by id; from these runs are joined, compared and resampled."""


class RunRecord(EvaluationRecord):
    """The result of an evaluation, as `--format json` writes it. Described in docs/results.md.

    Rates and scores are fractions; a rate whose denominator is 0 is 0.0.
    """

    format: Literal["stickler-run/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that made the run."""
    schema: SchemaSignature
    options: dict[str, Any]
    """The options that decide a result."""
    gates: list[GateResult]
    """What the run had to reach, in the order given."""
    notes: list[str]
    """What the run noticed of its sources as a whole, a line each."""
    provenance: NotRequired[list[Provenance]]
    """Where the documents came from, and when; of each run that this one was put together of."""
    policy: NotRequired[PolicyOutcome]
    """What a policy of `stickler accept` would let pass, if one was given."""
    partial: NotRequired[Literal[True]]
    """There if the run was interrupted: it speaks of some of the documents only."""
    planned: NotRequired[Count]
    """How many documents there were to evaluate, if the run was interrupted and they are known."""
    repeats: NotRequired[Repeats]
    """How it compares with other predictions of the same documents (`--repeat`)."""
    field_scores: NotRequired[Annotated[dict[str, Fraction], UNREAD]]
    """Score of each field, after clipping; this and what follows where two files were compared."""
    all_fields_matched: NotRequired[Annotated[Flag, UNREAD]]
    """Whether the one document has no errors."""
    non_matches: NotRequired[Annotated[list[NonMatchRecord], UNREAD]]
    """Every error of the one document."""
