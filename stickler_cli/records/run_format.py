"""The keys of the run format `stickler-run/1` that are read back.

`schemas/stickler-run.json` is generated from these types, with their docstrings as descriptions.
Keys that are only written are described in `schemas/described.py`.
"""

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic needs it on Python 3.11

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.match_differences import DifferenceKind
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
from stickler_cli.score.errors.causes import MAX_TRAIT_CHARACTERS, short_json
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
    """Number of predictions whose JSON was found inside other text.

    A document can count in several keys.
    """

    documents: Count
    """Number of predictions found inside other text, each counted once."""
    fence: Count
    """Documents inside a Markdown code fence."""
    prose: Count
    """Documents inside prose."""
    string: Count
    """Documents inside a JSON string."""
    list: Count
    """Documents that are the only element of a list."""
    relaxed: Count
    """Documents with Python literals, comments, trailing commas or single quotes."""


class DocumentsRecord(TypedDict):
    """Numbers of documents by status."""

    total: Count
    """All documents, including those that only one side has."""
    evaluated: Count
    """Documents in the counts and scores, including those compared with an empty prediction."""
    missing: Count
    """Ground truths without a prediction."""
    invalid: Count
    """Documents whose prediction is not a JSON object or array; it is replaced by an empty one."""
    failed: Count
    """Documents that could not be evaluated."""
    unmatched: Count
    """Predictions without ground truth; they are not evaluated."""
    duplicate_keys: Count
    """Documents in which an object has a key twice, on either side; the last value is used."""
    byte_order_mark: Count
    """Documents that begin with a byte order mark, on either side; it is ignored."""
    lenient: LenientRecord


class CountsRecord(TypedDict):
    """Numbers of units by outcome."""

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
    """Sums of scores in units of 2^-60, from which runs can be merged exactly."""

    raw_similarity_score: ExactSum
    """Sum of similarities, before clipping."""
    threshold_applied_score: ExactSum
    """Sum of scores, which are similarities after clipping."""
    threshold_applied_squares: ExactSum
    """Sum of squared scores."""


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
"""Sums over documents of the squares and products of their counts (`tp_tp`, `tp_fd`), by counting
mode if the modes differ. Intervals are computed from these sums."""


class NodeRecord(TypedDict):
    """Counts of one field, or of whole documents, in three counting modes."""

    overall: CountsRecord
    """Counts of units: a value, an object and each element of a list count as one."""
    aggregate: CountsRecord
    """Counts of values in objects and items that match as a whole."""
    leaves: CountsRecord
    """Counts of all values, at any depth."""
    weight: NotRequired[Weight]
    """Weight of the field in its object."""
    documents: NotRequired[Count]
    """Number of documents that have a score for the field."""
    score_sums: NotRequired[SumsRecord]
    not_evaluated: NotRequired[Some]
    """Number of values that were not evaluated."""
    whole: NotRequired[Some]
    """Number of exactly right items or objects: paired and without an error."""
    items: NotRequired[Some]
    """Number of items in the ground truth, plus invented ones."""
    missed_items: NotRequired[Some]
    """Number of items that only the ground truth has."""
    invented_items: NotRequired[Some]
    """Number of items that only the prediction has."""
    moments: NotRequired[MomentsRecord]
    """Sums for confidence intervals; present if anything was counted."""
    fields: NotRequired[Annotated[dict[str, "NodeRecord"], LATER]]
    """Fields inside this field, by name, in schema order; for a list, the fields of its items."""


class ConfidenceCountsRecord(TypedDict):
    """Number of values by their confidence, over all documents."""

    documents: Count
    """Number of documents that have such values."""
    right: NotRequired[dict[str, Some]]
    """Number of right values by confidence."""
    wrong: NotRequired[dict[str, Some]]
    """Number of wrong values by confidence."""


class ClassesRecord(TypedDict):
    """Numbers of errors by class; each error has one class.

    The classes are described in docs/error-classes.md.
    """

    fields: dict[FieldPath, dict[ErrorClass, Some]]
    """Numbers of errors by class for each field that has errors, by its path without list
    indexes."""


class ErrorClassesRecord(ClassesRecord):
    """Classes of wrong values; their number is fd + fa + fn of `leaves`."""

    units: ClassesRecord
    """Errors of items and objects that failed as a whole; their values are also counted in
    `fields`."""


_Class = TypedDict("_Class", {"class": ErrorClass})  # "class" cannot be a name in a class statement


HashCounts = Annotated[
    str,
    Rule(
        f'hashes below {N_BUCKETS} with their counts, such as "3 17:2"',
        {"type": "string", "pattern": "^[0-9]+(:[0-9]+)?( [0-9]+(:[0-9]+)?)*$"},
        fits=is_text_of_counts,
    ),
]


class OriginRecord(TypedDict):
    """Wrong values of a field that equal the values of other fields."""

    field: FieldPath
    """Path of the wrong field, without list indexes."""
    of: list[FieldPath]
    """Source of the values. One field: its true value, possibly of another item, was predicted
    here. Two fields: the product of their predicted values was predicted here."""
    errors: Some
    """Number of errors with these values."""
    telling: NotRequired[Flag]
    """Whether these errors are more than chance explains: at least three, and p below 0.01 after
    correction for the number of fields tried."""


class ValueCountsRecord(TypedDict):
    """Frequencies of values by field, as hashes from 0 to 255.

    `3 17:2` means one value of hash 3 and two values of hash 17. They show whether a wrong field
    has the values of another field only by chance.
    """

    ground_truth: dict[FieldPath, HashCounts]
    """True values, in documents with errors."""
    wrong: dict[FieldPath, HashCounts]
    """Wrong predicted values."""


ShortValue = Annotated[
    JsonValue,
    Rule(
        "a text, a number, true, false or null, of at most "
        f"{MAX_TRAIT_CHARACTERS} characters as JSON",
        {"type": ["null", "boolean", "number", "string"]},
        fits=lambda value: short_json(value) != "",
    ),
]


class CauseRecord(_Class):
    """A cause: a group of similar errors, and the number of values lost by it."""

    field: FieldPath
    """Path of the field, without list indexes."""
    pattern: NotRequired[FieldPath]
    """Path of the field with `*` for keys of maps; only if it differs from `field`."""
    differing_fields: NotRequired[list[str]]
    """Fields that differ, for errors of list items that both sides have."""
    ground_truth_value: NotRequired[ShortValue]
    """The true value, if all these errors have the same two values."""
    prediction_value: NotRequired[ShortValue]
    """The predicted value, if all these errors have the same two values."""
    errors: Some
    """Number of errors."""
    values: Count
    """Number of lost values that belong to this cause and to no other."""
    documents: NotRequired[Some]
    """Number of documents with these errors; missing if many kinds of errors were merged into this
    cause."""
    origins: NotRequired[list[OriginRecord]]
    """Other fields that the wrong values come from, as far as known."""
    document_ids: NotRequired[list[str]]
    """Ids of documents with these errors, if the run keeps any."""


class ResultsRecord(TypedDict):
    """Results of all documents, or of one group of documents."""

    documents: DocumentsRecord
    score_sum: ExactSum
    """Sum of the scores of documents in units of 2^-60, from which runs can be merged exactly. It
    is text, as it may have more digits than a JSON number can hold."""
    score_squares: ExactSum
    """Sum of the squared scores of documents in units of 2^-60, as text."""
    confusion_matrix: Annotated[NodeRecord, LATER]
    """Counts and rates of whole documents, and of each field."""
    never_labelled: NotRequired[dict[FieldPath, Some]]
    """Number of documents in which a field is not labelled, by field; only if there are any."""
    error_classes: ErrorClassesRecord
    wholly_right: WhollyRight
    intervals: NotRequired[IntervalSettings]
    """Settings of confidence intervals, if intervals were requested; intervals of rates are beside
    the rates."""
    unwrapped: NotRequired[dict[str, Count]]
    """Number of unwrapped values by the key of the wrapper (`azure` for the form of Azure);
    `inherited` is the number of values with the confidence of a parent. Only if there are any."""
    skipped_keys: NotRequired[dict[str, Count]]
    """Number of values of metadata keys, such as `page`, that were not evaluated; only if there are
    any."""
    confidence_counts: NotRequired[dict[str, ConfidenceCountsRecord]]
    """Values by confidence (rounded to three digits) for each field; the key of whole documents is
    empty. Only if no rows are kept."""


class KeyRecord(TypedDict):
    """A key, counted over all documents."""

    field: FieldPath
    """Path of the key, without list indexes."""
    count: Count
    """Number of values under the key, or of documents if the list counts documents."""


class CloseExampleRecord(TypedDict):
    """One value that matches although it differs."""

    document: str
    """Id of the document."""
    path: str
    """Path of the value in the ground truth."""
    gt: str
    """The text of the ground truth that differs: a word, or the value; cut to 60 letters. Empty if
    only the prediction has the word."""
    pred: str
    """The text of the prediction in place of `gt`, cut to 60 letters. Empty if only the ground
    truth has the word."""


class CloseMatchRecord(TypedDict):
    """Values of one field that match although they differ in one way."""

    field: FieldPath
    """The field, with `*` for keys of maps."""
    difference: DifferenceKind
    """How the values differ, although their comparator lets them match."""
    count: Some
    """Number of values."""
    examples: list[CloseExampleRecord]
    """The first two examples, by the id of their document."""


class MetricRecord(TypedDict):
    """A metric of the user."""

    name: str
    """Name of the metric, as requested."""
    figures: dict[str, NumberOrNone]
    """Figures of the metric by name; null where undefined."""
    state: dict[str, AnyJson]
    """State of the metric, for merging runs."""
    problem: NotRequired[str]
    """Error in the code of the metric, because of which there are no figures."""


class EvaluationRecord(ResultsRecord):
    """The keys that runs and evaluations have in common."""

    validity: NotRequired[dict[Side, Validity]]
    """Results of the validation by the schema, for each validated side."""
    semantics: Count
    """Version of the scoring rules; runs of different versions are not compared."""
    fields: list[FieldInfo]
    """Description of each field, in the order of the schema, parents first."""
    causes: list[CauseRecord]
    """Causes of errors, the greatest loss first; each lost value belongs to exactly one cause."""
    value_counts: NotRequired[ValueCountsRecord]
    """Frequencies of values; only if there are errors that need them."""
    close_matches: NotRequired[list[CloseMatchRecord]]
    """Values that count as right although they differ, by field and difference; only where the
    comparison was inferred or counts words or units, and only if there are any."""
    undeclared_keys: list[KeyRecord]
    """Keys of ground truths that the schema does not declare; these are not evaluated."""
    extra_keys: list[KeyRecord]
    """Keys that the schema does not declare and only predictions have; each is a false alarm."""
    undeclared_keys_unnamed: NotRequired[Some]
    """Number of values of further undeclared keys of ground truths, whose names are not kept: only
    1,000 names are."""
    extra_keys_unnamed: NotRequired[Some]
    """Number of values of further keys that only predictions have, whose names are not kept."""
    not_labelled: NotRequired[list[KeyRecord]]
    """Number of documents whose ground truth marks a field as not labelled, by field; only if there
    are any."""
    left_out: NotRequired[list[KeyRecord]]
    """Lists that need not be complete, with the number of predicted elements that had no pair."""
    problems_unnamed: NotRequired[dict[Status, Some]]
    """Number of further problems by status; `problems` has only the first 1,000 if no rows are
    kept."""
    known_ids: NotRequired[list[str]]
    """The 256 lowest hashes of document ids, if there is no `per_document`: runs with a common hash
    have common documents."""
    problems: list[DocumentProblem]
    """Documents that could not be evaluated normally, with the reasons; sorted."""
    metrics: NotRequired[list[MetricRecord]]
    """Metrics that the user requested (`--metric`), by name."""
    by: NotRequired[dict[str, dict[str, ResultsRecord]]]
    """Results of groups of documents, by the key of the breakdown and the name of the group."""
    per_document: NotRequired[
        Annotated[list[AccountRecord], Rule("an array", fits=lambda value: isinstance(value, list))]
    ]
    """Results of single documents, sorted by id; they are needed to merge, compare and resample
    runs."""


class RunRecord(EvaluationRecord):
    """The result of an evaluation, as `--format json` writes it. Described in docs/results.md.

    Rates and scores are in [0, 1]; a rate whose denominator is 0 is 0.0.
    """

    format: Literal["stickler-run/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that made the run."""
    schema: SchemaSignature
    options: dict[str, Any]
    """Options that decide the result."""
    gates: list[GateResult]
    """Gates of the run, in the order given."""
    notes: list[str]
    """Notes on the sources of the run, one line each."""
    provenance: NotRequired[list[Provenance]]
    """Source and time of the documents, for each of the runs that were merged into this one."""
    policy: NotRequired[PolicyOutcome]
    """Outcome of the policy of `stickler accept`, if one was given: the values that it accepts."""
    verdicts: NotRequired[MarkedOutcome]
    """Figures of the run that take people's verdicts on its errors into account, if there are any
    (`--verdicts`)."""
    partial: NotRequired[Literal[True]]
    """Present if the run was interrupted, so that it has only some of the documents."""
    planned: NotRequired[Count]
    """Number of documents to be evaluated, if the run was interrupted and the number is known."""
    repeats: NotRequired[Repeats]
    """Agreement with other predictions of the same documents (`--repeat`)."""
