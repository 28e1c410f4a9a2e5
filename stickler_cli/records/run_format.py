"""The run format `stickler-run/1`, key by key, as far as it is read.

`schemas/stickler-run.json` is made from these types; their docstrings are its descriptions. Keys
that are only written are described in `schemas/described.py`.
"""

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.rules import (
    LATER,
    AnyJson,
    Count,
    ExactSum,
    FieldPath,
    Flag,
    NumberOrNone,
    Rule,
    Some,
    Weight,
)
from stickler_cli.score.document_result import DocumentProblem, Side, Status
from stickler_cli.score.errors.causes import LONGEST, short_json
from stickler_cli.score.errors.chance import N_BUCKETS, is_text_of_counts
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.marks import MarkedOutcome
from stickler_cli.score.folds import Validity, WhollyRight
from stickler_cli.score.gates import GateResult
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.policy import PolicyOutcome
from stickler_cli.score.record import Provenance, SchemaSignature
from stickler_cli.score.repeated_runs import Repeats
from stickler_cli.score.sums import COUNTING_MODES
from .account_format import AccountRecord


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
    relaxed: Count
    """JSON with Python literals, comments, trailing commas or single quotes."""


class DocumentsRecord(TypedDict):
    """Number of documents by status."""

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
    duplicate_keys: Count
    """Documents with an object that has a key twice, on either side; the last one counts."""
    byte_order_mark: Count
    """Documents that begin with a byte order mark, on either side; it is left out."""
    lenient: LenientRecord


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
    tn: Count
    """True negatives: neither side has a value."""


class SumsRecord(TypedDict):
    """Sums of scores in units of 2^-60, from which runs are merged exactly."""

    raw_similarity_score: ExactSum
    """Sum of the similarities before clipping."""
    threshold_applied_score: ExactSum
    """Sum of the scores after clipping."""
    threshold_applied_squares: ExactSum
    """Sum of the squares of the scores after clipping."""


def _are_moments(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    by_mode = value.keys() <= {*COUNTING_MODES}
    moments = value.values() if by_mode else [value]
    return all(
        isinstance(moment, dict)
        and all(type(number) is int and number > 0 for number in moment.values())
        for moment in moments
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


class NodeRecord(TypedDict):
    """Counts of one field, or of whole documents, in three readings."""

    overall: CountsRecord
    """Units: a value, an object and each element of a list count one."""
    aggregate: CountsRecord
    """Values, as far as the objects and items they are in match."""
    leaves: CountsRecord
    """Counts of all values, on every level."""
    weight: NotRequired[Weight]
    """Weight of the field in its object."""
    documents: NotRequired[Count]
    """How many documents the scores are means over."""
    score_sums: NotRequired[SumsRecord]
    not_evaluated: NotRequired[Some]
    """Values that were not evaluated."""
    whole: NotRequired[Some]
    """Number of items, or of objects, that are right as a whole: paired, and without an error."""
    items: NotRequired[Some]
    """All items that are in the ground truth or invented."""
    missed_items: NotRequired[Some]
    """Items that only the ground truth has."""
    invented_items: NotRequired[Some]
    """Items that only the prediction has."""
    moments: NotRequired[MomentsRecord]
    """Where anything was counted."""
    fields: NotRequired[Annotated[dict[str, "NodeRecord"], LATER]]
    """The fields inside, by name, in schema order; those of a list are the fields of its items."""


class ConfidenceCountsRecord(TypedDict):
    """Values by confidence, whichever documents they are in."""

    documents: Count
    """In how many documents there are any."""
    right: NotRequired[dict[str, Some]]
    """How many are right, by their confidence."""
    wrong: NotRequired[dict[str, Some]]
    """How many are wrong."""


class ClassesRecord(TypedDict):
    """Errors by class; each error has one class. docs/error-classes.md describes them."""

    fields: dict[FieldPath, dict[ErrorClass, Some]]
    """The same for each field that has errors, by its path without list indexes."""


class ErrorClassesRecord(ClassesRecord):
    """The classes of wrong values, which are as many as fd + fa + fn of `leaves`."""

    units: ClassesRecord
    """Errors of list items and objects that failed as a whole; their values are counted above."""


_Class = TypedDict("_Class", {"class": ErrorClass})  # no name of a key in a class statement


HashCounts = Annotated[
    str,
    Rule(
        f'hashes below {N_BUCKETS} with their counts, such as "3 17:2"',
        {"type": "string", "pattern": "^[0-9]+(:[0-9]+)?( [0-9]+(:[0-9]+)?)*$"},
        fits=is_text_of_counts,
    ),
]


class OriginRecord(TypedDict):
    """Wrong values that are those of other fields."""

    field: FieldPath
    """The field that is wrong, without list indexes."""
    of: list[FieldPath]
    """One field: its ground truth was predicted here, or that of another item. Two: the product of
    both, as they are predicted."""
    errors: Some
    """How many errors."""
    telling: NotRequired[Flag]
    """Whether they are more than chance gives: at least three, and p below 0.01 after the number of
    fields tried."""


class ValueCountsRecord(TypedDict):
    """How often values occur, by field: `3 17:2` is one of hash 3 and two of hash 17, of 0 to 255.

    They tell whether a wrong field holds the values of another one by chance.
    """

    ground_truth: dict[FieldPath, HashCounts]
    """Values of the ground truths of documents with errors."""
    wrong: dict[FieldPath, HashCounts]
    """Wrong predicted values."""


ShortValue = Annotated[
    JsonValue,
    Rule(
        f"a text, a number, true, false or null, of at most {LONGEST} characters as JSON",
        {"type": ["null", "boolean", "number", "string"]},
        fits=lambda value: short_json(value) != "",
    ),
]


class CauseRecord(_Class):
    """Errors that are alike, and how many values were lost by them."""

    field: FieldPath
    """The field, without list indexes."""
    pattern: NotRequired[FieldPath]
    """The same, with `*` for the keys of maps; only where that is another."""
    differing_fields: NotRequired[list[str]]
    """Fields that differ, for list items that both sides have."""
    ground_truth_value: NotRequired[ShortValue]
    """The true value, if these errors have both values in common."""
    prediction_value: NotRequired[ShortValue]
    """The predicted value, if these errors have both values in common."""
    errors: Some
    """How many errors they are."""
    values: Count
    """How many values were lost, which belong to no other cause."""
    documents: NotRequired[Some]
    """In how many documents; not where errors of too many kinds to tell apart are one cause."""
    origins: NotRequired[list[OriginRecord]]
    """Other fields that these wrong values belong to, as far as known."""
    document_ids: NotRequired[list[str]]
    """The documents, where the run keeps any of them."""


class ResultsRecord(TypedDict):
    """The results of a group of documents, or of all."""

    documents: DocumentsRecord
    score_sum: ExactSum
    """The sum of those scores in units of 2^-60, from which runs are merged exactly; text, since
    it may have more digits than a JSON number keeps."""
    score_squares: ExactSum
    """The sum of their squares, likewise."""
    confusion_matrix: Annotated[NodeRecord, LATER]
    """Counts and rates of whole documents, and of each field below."""
    never_labelled: NotRequired[dict[FieldPath, Some]]
    """Number of documents in which a field is not labelled, by field; only if there are any."""
    error_classes: ErrorClassesRecord
    wholly_right: WhollyRight
    intervals: NotRequired[IntervalSettings]
    """Only if they were requested; those of rates stand beside them."""
    unwrapped: NotRequired[dict[str, Count]]
    """How many values were taken out of wrappers, by the key of the wrapper (`azure` for Azure's
    form), and as `inherited` how many have the confidence of what is around them; only if there
    were any."""
    skipped_keys: NotRequired[dict[str, Count]]
    """How many values of metadata keys, such as `page`, were not evaluated; only if there were
    any."""
    confidence_counts: NotRequired[dict[str, ConfidenceCountsRecord]]
    """By field, and empty of whole documents: values by their confidence in three digits; only
    where no rows are kept."""


class KeyRecord(TypedDict):
    """One key, over all documents."""

    field: FieldPath
    """Where the key stands, without list indexes."""
    count: Count
    """How often it had a value, or what else is counted of it."""


class MetricRecord(TypedDict):
    """One metric."""

    name: str
    """As it was asked for."""
    figures: dict[str, NumberOrNone]
    """Figures of the metric by name; null where undefined."""
    state: dict[str, AnyJson]
    """State of the metric, for merging runs."""
    problem: NotRequired[str]
    """Why there are no figures: what its code failed with."""


class EvaluationRecord(ResultsRecord):
    """Keys that both formats of evaluations have."""

    validity: NotRequired[dict[Side, Validity]]
    """The verdicts about each side that was held against the schema."""
    semantics: Count
    """Version of the rules of scoring; runs of different versions are not compared."""
    fields: list[FieldInfo]
    """Description of each field, in the order of the schema, parents first."""
    causes: list[CauseRecord]
    """Errors that are alike, put together, those that lost most values first; all values lost are
    in one of them."""
    value_counts: NotRequired[ValueCountsRecord]
    """How often values occur; only where there are errors that say any."""
    undeclared_keys: list[KeyRecord]
    """Keys of ground truths that the schema does not declare; they are not evaluated."""
    extra_keys: list[KeyRecord]
    """Keys that the schema does not declare and only predictions have; each is a false alarm."""
    undeclared_keys_unnamed: NotRequired[Some]
    """Values of further undeclared keys of ground truths: of more than 1,000, some have no name."""
    extra_keys_unnamed: NotRequired[Some]
    """Values of further keys that only predictions have."""
    not_labelled: NotRequired[list[KeyRecord]]
    """Number of documents whose ground truth marks a field as not labelled, by field; if any do."""
    left_out: NotRequired[list[KeyRecord]]
    """Lists that need not have all elements, and how many elements of predictions had no pair."""
    problems_unnamed: NotRequired[dict[Status, Some]]
    """By status, how many problems there are beside `problems`, which has the first 1,000 where no
    rows are kept."""
    known_ids: NotRequired[list[str]]
    """Where there is no `per_document`, the 256 least hashes of ids: runs that have one in common
    have documents in common."""
    problems: list[DocumentProblem]
    """The documents that were not simply evaluated, and why; sorted."""
    metrics: NotRequired[list[MetricRecord]]
    """Metrics that were asked for (`--metric`), by name."""
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
    """Gates of the run, in the order given."""
    notes: list[str]
    """Notes on the sources of the run, one line each."""
    provenance: NotRequired[list[Provenance]]
    """Where the documents came from, and when; of each run that this one was put together of."""
    policy: NotRequired[PolicyOutcome]
    """Values that a policy of `stickler accept` accepts, if one was given."""
    verdicts: NotRequired[MarkedOutcome]
    """Figures of the run with people's verdicts on its errors (`--verdicts`), if any were given."""
    partial: NotRequired[Literal[True]]
    """There if the run was interrupted: it speaks of some of the documents only."""
    planned: NotRequired[Count]
    """How many documents there were to evaluate, if the run was interrupted and they are known."""
    repeats: NotRequired[Repeats]
    """How it compares with other predictions of the same documents (`--repeat`)."""
