"""The keys of the run format `stickler-run/1` that are read back from files.

`schemas/stickler-run.json` is a JSON Schema that is generated from these types. The docstrings of
the types become its descriptions. Keys of the format that are written but never read back are
described in `schemas/described.py`.
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

    A document can be counted under several keys.
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
    """Documents that are part of counts and scores. A missing or invalid prediction may count as an
    empty one."""
    missing: Count
    """Ground truths without a prediction."""
    invalid: Count
    """Documents whose prediction is not a JSON object or array. An empty prediction is used
    instead."""
    failed: Count
    """Documents that could not be evaluated."""
    unmatched: Count
    """Predictions without ground truth; they are not evaluated."""
    duplicate_keys: Count
    """Documents in which an object of the ground truth or the prediction has a key twice. The last
    value is used."""
    byte_order_mark: Count
    """Documents whose ground truth or prediction begins with a byte order mark. It is ignored."""
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
    """Sums of scores in units of 2^-60. They are exact, so that runs can be merged exactly."""

    raw_similarity_score: ExactSum
    """Sum of similarities, before clipping. Clipping sets a score to 0 if the similarity is below
    the threshold and the field has `clip-under-threshold: true`."""
    threshold_applied_score: ExactSum
    """Sum of scores, after clipping."""
    threshold_applied_squares: ExactSum
    """Sum of the squares of scores, after clipping."""


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
"""Sums over all documents, from which intervals are computed. For each document, the counts are
squared and multiplied with each other: `tp_tp` is the sum of tp * tp, and `tp_fd` the sum of
tp * fd. If the counts differ between the counting modes, each mode has an object with its sums."""


class NodeRecord(TypedDict):
    """Counts of one field, or of whole documents, in three counting modes."""

    overall: CountsRecord
    """Counts in which a value, an object and a list item each count as one."""
    aggregate: CountsRecord
    """Counts of values. If a list item does not match, it counts as one, and the values inside it
    are not counted. The same holds for an item or object that only one side has."""
    leaves: CountsRecord
    """Counts of all values, at any depth."""
    weight: NotRequired[Weight]
    """Weight of the field in its object."""
    documents: NotRequired[Count]
    """Number of documents that have a score for the field."""
    score_sums: NotRequired[SumsRecord]
    not_evaluated: NotRequired[Some]
    """Number of documents in which the field was not evaluated, because it is not labelled."""
    whole: NotRequired[Some]
    """Number of items or objects that both sides have and that contain no error."""
    items: NotRequired[Some]
    """Number of items and objects in the ground truth, plus those that only the prediction has."""
    missed_items: NotRequired[Some]
    """Number of items and objects that only the ground truth has."""
    invented_items: NotRequired[Some]
    """Number of items and objects that only the prediction has."""
    moments: NotRequired[MomentsRecord]
    """Sums for confidence intervals. Present if anything was counted."""
    fields: NotRequired[Annotated[dict[str, "NodeRecord"], LATER]]
    """Counts of the fields inside this field, keyed by name, in the order of the schema. For a
    list, these are the fields of its items."""


class ConfidenceCountsRecord(TypedDict):
    """Numbers of right and wrong values with each confidence, over all documents."""

    documents: Count
    """Number of documents that have values with a confidence."""
    right: NotRequired[dict[str, Some]]
    """Number of right values with each confidence, keyed by the confidence."""
    wrong: NotRequired[dict[str, Some]]
    """Number of wrong values with each confidence, keyed by the confidence."""


class ClassesRecord(TypedDict):
    """Number of errors in each class. Each error has one class.

    The classes are described in docs/error-classes.md.
    """

    fields: dict[FieldPath, dict[ErrorClass, Some]]
    """For each field with errors, the number of errors in each class. The path of a field has no
    list indexes."""


class ErrorClassesRecord(ClassesRecord):
    """Number of wrong values in each class.

    The sum over all classes is `fd` + `fa` + `fn` of the counting mode `leaves`.
    """

    units: ClassesRecord
    """Number of items and objects that are errors as a whole, such as an item that does not match.
    The wrong values inside them are also counted in `fields`."""


_Class = TypedDict("_Class", {"class": ErrorClass})  # "class" cannot be a name in a class statement


HashCounts = Annotated[
    str,
    Rule(
        f"numbers below {N_BUCKETS}, each with :COUNT after it if it occurs several times, such "
        'as "3 17:2"',
        {"type": "string", "pattern": "^[0-9]+(:[0-9]+)?( [0-9]+(:[0-9]+)?)*$"},
        fits=is_text_of_counts,
    ),
]


class OriginRecord(TypedDict):
    """A group of wrong values of a field. They are equal to values of other fields."""

    field: FieldPath
    """Path of the wrong field, without list indexes."""
    of: list[FieldPath]
    """The fields from which the wrong values come. If there is one field, each wrong value is the
    true value of that field, perhaps in another list item. If there are two fields, each wrong
    value is the product of the predicted values of these fields."""
    errors: Some
    """Number of wrong values in this group."""
    telling: NotRequired[Flag]
    """Whether this group has more wrong values than chance explains. The group must have at least
    three wrong values. If `of` names one field, the p value of this number must also be below 0.01,
    after correction for the number of fields that were tried."""


class ValueCountsRecord(TypedDict):
    """How often values occur in each field. Values are stored as hashes from 0 to 255.

    `3 17:2` means one value with hash 3 and two values with hash 17. If wrong values of one field
    equal true values of another field, these numbers show whether this can be chance.
    """

    ground_truth: dict[FieldPath, HashCounts]
    """Ground-truth values, in documents that have errors."""
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


class IndexRangeRecord(TypedDict):
    """A range of indexes in a ground-truth list. The first item of the list has index 0."""

    lowest: Count
    """The lowest index."""
    highest: Count
    """The highest index."""


class CauseRecord(_Class):
    """A cause: a group of similar errors, with the number of values lost by these errors."""

    field: FieldPath
    """Path of the field, without list indexes."""
    pattern: NotRequired[FieldPath]
    """Path of the field with `*` in place of keys of maps. Missing if it is the same as `field`."""
    differing_fields: NotRequired[list[str]]
    """For errors of list items that both sides have, the fields in which the items differ."""
    end: NotRequired[Literal["field", "item", "empty", "missing", "invalid"]]
    """Present only if the predictions end early or have no values. If they end early, `end` says
    what is predicted last: a `field`, or an `item` of a list. If nothing is predicted, `end` gives
    the reason: the prediction is `empty` (it has no values), `missing` (there is no prediction) or
    `invalid` (it is not a document). If `end` is present, the path in the key `field` is empty."""
    ends_after: NotRequired[FieldPath]
    """For documents that end early, the last field that is predicted. If `end` is `item`, this is
    the list that contains the last predicted item. All values after this field or
    item are missed."""
    last_items: NotRequired[IndexRangeRecord]
    """For documents that end inside a list, the indexes of their last predicted items."""
    ground_truth_value: NotRequired[ShortValue]
    """The true value. Present only if all these errors have the same true value and the same
    predicted value."""
    prediction_value: NotRequired[ShortValue]
    """The predicted value. Present only if all these errors have the same true value and the same
    predicted value."""
    errors: Some
    """Number of errors."""
    values: Count
    """Number of values lost by these errors. A value that is lost by errors of several causes is
    counted for only one of them."""
    documents: NotRequired[Some]
    """Number of documents with these errors. Missing if many kinds of errors were merged into this
    cause."""
    origins: NotRequired[list[OriginRecord]]
    """Fields whose values were predicted instead of the right values of this field. This can be the
    same field of another list item. Missing if no such fields were found. Empty if there were too
    many of them."""
    document_ids: NotRequired[list[str]]
    """Ids of the documents with these errors. Missing if the run does not keep ids."""


class ResultsRecord(TypedDict):
    """Results of all documents, or of one group of documents."""

    documents: DocumentsRecord
    score_sum: ExactSum
    """Sum of the scores of documents in units of 2^-60. It is exact, so that runs can be merged
    exactly. It is a text, because it may have more digits than a JSON number can hold."""
    score_squares: ExactSum
    """Sum of the squared scores of documents in units of 2^-60, as text."""
    confusion_matrix: Annotated[NodeRecord, LATER]
    """Counts and rates of whole documents, and of each field."""
    never_labelled: NotRequired[dict[FieldPath, Some]]
    """Fields that no document labels. Maps the path of each such field to the number of documents
    in which the field was not evaluated because it is not labelled. Missing if there is no such
    field."""
    error_classes: ErrorClassesRecord
    wholly_right: WhollyRight
    intervals: NotRequired[IntervalSettings]
    """Settings of confidence intervals. Present only if intervals were requested. The bounds of the
    intervals are in `confusion_matrix`, under the keys named `intervals`."""
    unwrapped: NotRequired[dict[str, Count]]
    """Maps each form of wrapper object to the number of values taken out of wrappers of this form.
    The name of a form is the key that holds the value in the wrapper, or `azure`. The additional
    key `inherited` has the number of values that took their confidence from the object or list
    around them. Missing if there are no wrappers."""
    skipped_keys: NotRequired[dict[str, Count]]
    """For each metadata key that is not evaluated, such as `page`, the number of values with this
    key. Missing if there are no such keys."""
    confidence_counts: NotRequired[dict[str, ConfidenceCountsRecord]]
    """For each field, the number of right and of wrong values with each confidence. Confidences are
    rounded to three digits. The empty key stands for whole documents. Only in runs without
    `per_document`."""


class KeyRecord(TypedDict):
    """A key or field in the documents, and how often it occurs in all documents together."""

    field: FieldPath
    """Path of the key, without list indexes."""
    count: Count
    """Number of values under the key. In the list `not_labelled`, `count` is the number of
    documents in which the field is not labelled, or only in part. In the list `left_out`, `count`
    is the number of predicted list items without a partner."""


class CloseExampleRecord(TypedDict):
    """A value that matches although it differs from the ground truth."""

    document: str
    """Id of the document."""
    path: str
    """Path of the value in the ground truth."""
    gt: str
    """The text of the ground truth that differs. It is a word or the whole value, cut to 60
    letters. Empty if only the prediction has the word."""
    pred: str
    """The text that the prediction has instead of `gt`, cut to 60 letters. Empty if only the ground
    truth has the word."""


class CloseMatchRecord(TypedDict):
    """The values of one field that match although they differ in one particular way."""

    field: FieldPath
    """Path of the field, with `*` for keys of maps."""
    difference: DifferenceKind
    """The way in which the values differ."""
    count: Some
    """Number of values."""
    examples: list[CloseExampleRecord]
    """The two examples with the lowest document ids."""


class MetricRecord(TypedDict):
    """A metric of documents that the user requested."""

    name: str
    """Name of the metric, as requested."""
    figures: dict[str, NumberOrNone]
    """The figures of the metric, keyed by name. Null is an undefined figure."""
    state: dict[str, AnyJson]
    """Data from which the metrics of several runs can be merged."""
    problem: NotRequired[str]
    """An error in the code of the metric. There are no figures then."""


class EvaluationRecord(ResultsRecord):
    """The keys that runs and evaluations have in common."""

    validity: NotRequired[dict[Side, Validity]]
    """Results of the validation against the schema, for each validated side."""
    semantics: Count
    """Version of the scoring rules. Runs of different versions are not compared."""
    fields: list[FieldInfo]
    """Description of each field, in the order of the schema, parents first."""
    causes: list[CauseRecord]
    """Causes of errors, the greatest loss first. Each lost value belongs to exactly one cause."""
    value_counts: NotRequired[ValueCountsRecord]
    """How often values occur in each field. Only documents with errors are counted. Missing if
    nothing was counted."""
    close_matches: NotRequired[list[CloseMatchRecord]]
    """Values that count as right although they differ from the ground truth. There is an entry for
    each field and kind of difference. If the schema states the comparator of a field, such values
    are recorded only if this comparator compares words or units. Missing if no such values were
    recorded."""
    undeclared_keys: list[KeyRecord]
    """Keys of ground truths that the schema does not declare. They are not evaluated."""
    extra_keys: list[KeyRecord]
    """Keys that only predictions have and that the schema does not declare. Each is a false
    alarm."""
    undeclared_keys_unnamed: NotRequired[Some]
    """Number of ground-truth values under the undeclared keys that `undeclared_keys` does not list.
    It lists at most 1,000 keys, and no key whose path has more than 500 characters."""
    extra_keys_unnamed: NotRequired[Some]
    """Number of predicted values under the extra keys that `extra_keys` does not list. It lists at
    most 1,000 keys, and no key whose path has more than 500 characters."""
    not_labelled: NotRequired[list[KeyRecord]]
    """Fields that ground truths mark as not labelled, each with the number of documents in which it
    is not labelled. Missing if there are no such fields."""
    left_out: NotRequired[list[KeyRecord]]
    """Lists that need not be complete, each with the number of predicted elements that have no
    partner."""
    problems_unnamed: NotRequired[dict[Status, Some]]
    """For each status, the number of problems that are not in `problems`. Runs without
    `per_document` list only the first 1,000 problems."""
    known_ids: NotRequired[list[str]]
    """The 256 lowest hashes of document ids, in runs without `per_document`. If two runs have a
    hash in common, they have documents in common."""
    problems: list[DocumentProblem]
    """Documents that could not be evaluated normally, with the reasons, sorted by id."""
    metrics: NotRequired[list[MetricRecord]]
    """The metrics that the user requested with `--metric`, sorted by name."""
    by: NotRequired[dict[str, dict[str, ResultsRecord]]]
    """The results of each group of documents, if the user requested groups with `--by KEY`. Maps
    each KEY to an object, which maps the name of each group to the results of the group."""
    per_document: NotRequired[
        Annotated[list[AccountRecord], Rule("an array", fits=lambda value: isinstance(value, list))]
    ]
    """Results of single documents, sorted by id. Runs can be merged, compared and resampled only
    with these."""


class RunRecord(EvaluationRecord):
    """The result of an evaluation, as `--format json` writes it. Described in docs/results.md.

    Rates and scores are in [0, 1]. A rate whose denominator is 0 is 0.0.
    """

    format: Literal["stickler-run/1"]
    """Name of this format. The number goes up when a key changes its meaning or is removed."""
    version: str
    """Version of the program that made the run."""
    schema: SchemaSignature
    options: dict[str, Any]
    """The options that decide the result."""
    gates: list[GateResult]
    """The gates of the run with their results, in the order in which they were given."""
    notes: list[str]
    """Notes for the user on the sources of the run, one line each."""
    provenance: NotRequired[list[Provenance]]
    """Source and time of the documents, for each of the runs that were merged into this one."""
    policy: NotRequired[PolicyOutcome]
    """Result of the policy of `stickler accept`, which says which values are accepted. Present only
    if a policy was given."""
    verdicts: NotRequired[MarkedOutcome]
    """Figures of the run after applying people's verdicts on its errors. Only with `--verdicts`."""
    partial: NotRequired[Literal[True]]
    """Present if the run was interrupted and lacks some of the documents."""
    planned: NotRequired[Count]
    """Number of documents that should have been evaluated. Present only if the run was interrupted
    and the number is known."""
    repeats: NotRequired[Repeats]
    """Agreement with other predictions of the same documents (`--repeat`)."""
