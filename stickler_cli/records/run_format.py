"""The run format `stickler-run/2`: what a run is in a file, key by key.

`schemas/stickler-run.json` is made of these types, and their docstrings are its descriptions.
"""

from typing import Annotated, Any, Final, Literal, NotRequired

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.compare.result import FieldInfo
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
    NumberOrNone,
    Rule,
    Some,
    is_share,
)
from stickler_cli.score.document_result import DocumentProblem, Side, Status
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.errors.marks import MarkedOutcome
from stickler_cli.score.folds import MOST_LOST, Violated
from stickler_cli.score.gates import GateResult
from stickler_cli.score.intervals import Ends
from stickler_cli.score.policy import PolicyOutcome
from stickler_cli.score.record import Provenance, Repeats, SchemaSignature
from .account_format import AccountRecord
from .count_format import (
    ConfidenceCountsRecord,
    ConfidenceRecord,
    DocumentsRecord,
    NodeRecord,
)

_LEVEL: Final = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}

Level = Annotated[
    float, Rule("a number between 0 and 1", _LEVEL, fits=lambda it: is_share(it) and 0 < it < 1)
]


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


class OriginRecord(TypedDict):
    """Wrong values that are those of other fields."""

    field: FieldPath
    """The field that is wrong, without list indexes."""
    of: list[FieldPath]
    """One field: its ground truth was predicted here, or that of another item. Two: the product of
    both, as they are predicted."""
    errors: Some
    """How many errors."""


class CauseRecord(_Class):
    """Errors that are alike, and how many values were lost by them."""

    number: NotRequired[Some]
    """The number by which reports and --cause call it; causes that are told together share one."""
    text: NotRequired[str]
    """What reports for people say of that number."""
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
    origins: NotRequired[list[OriginRecord]]
    """Which other fields these wrong values are of, where that is known."""
    document_ids: NotRequired[list[str]]
    """The documents, where the run keeps any of them."""


class IntervalsRecord(TypedDict):
    """How confidence intervals were made."""

    level: Level
    """The share of such intervals that are to hold the true value."""
    method: str
    """How they were made; see docs/statistics.md."""
    seed: Count
    """Which weights of documents were drawn, where they were resampled."""


class ScoreIntervalsRecord(IntervalsRecord):
    """How the confidence intervals of this run were made, and that of overall_score."""

    overall_score: NotRequired[Annotated[Ends | None, DERIVED]]
    """The interval of overall_score; null where no document has a score."""


def _is_lost(value: object) -> bool:
    counts = value if isinstance(value, list) else []
    return len(counts) == MOST_LOST + 1 and all(type(it) is int and it >= 0 for it in counts)


Lost = Annotated[
    list[int],
    Rule(
        f"{MOST_LOST + 1} whole numbers of at least 0",
        {"type": "array", "items": {"type": "integer", "minimum": 0}},
        fits=_is_lost,
    ),
]


class WhollyRightRecord(TypedDict):
    """Documents without a wrong, invented or missed value, of those that were compared."""

    documents: Count
    """Documents that were compared."""
    lost: Lost
    """How many of them lost none of their values, how many one, and so on up to ten."""
    right: NotRequired[Annotated[Count, DERIVED]]
    """Those that lost none."""
    share: NotRequired[Annotated[FractionOrNone, DERIVED]]
    """right / documents; null of no documents."""
    lost_at_most: NotRequired[Annotated[list[Count], DERIVED]]
    """How many lost none, at most one, and so on up to ten."""
    interval: NotRequired[Annotated[Ends, UNREAD]]
    """The confidence interval of the share, if intervals were requested."""


class ResultsRecord(TypedDict):
    """The results of a group of documents, or of all."""

    documents: DocumentsRecord
    overall_score: NotRequired[Annotated[FractionOrNone, DERIVED]]
    """The mean score of the documents evaluated; null without any."""
    score_sum: ExactSum
    """The sum of those scores in units of 2^-60, from which runs are merged exactly; text, since
    it may have more digits than a JSON number keeps."""
    score_squares: ExactSum
    """The sum of their squares, likewise."""
    confusion_matrix: Annotated[NodeRecord, LATER]
    """Counts and rates of whole documents, and of each field below."""
    never_labelled: NotRequired[dict[FieldPath, Some]]
    """Fields that nobody labelled in any document, and in how many; only if there are any."""
    error_classes: ErrorClassesRecord
    wholly_right: NotRequired[Annotated[WhollyRightRecord, ADDED_LATER]]
    intervals: NotRequired[ScoreIntervalsRecord]
    """Only if they were requested; those of rates stand beside them."""
    unwrapped: NotRequired[dict[str, Count]]
    """How many values were taken out of wrappers, by the key of the wrapper, and as `inherited` how
    many have the confidence of what is around them; only if there were any."""
    confidence: NotRequired[Annotated[ConfidenceRecord, UNREAD]]
    """Only if predictions have confidences."""
    confidence_counts: NotRequired[dict[str, ConfidenceCountsRecord]]
    """By field, and empty of whole documents: values by their confidence in three digits; only
    where no rows are kept."""


class ValidityRecord(TypedDict):
    """The verdicts about the documents of one side."""

    checked: Count
    """All documents that there were."""
    valid: Count
    """Documents that are valid under the schema."""
    invalid: NotRequired[Annotated[Count, DERIVED]]
    """Documents that could be read and are not valid."""
    unreadable: Count
    """Documents that could not be read, or are of another JSON type, and so not valid either."""
    share: NotRequired[Annotated[FractionOrNone, DERIVED]]
    """valid / checked; null of no documents."""
    keywords: NotRequired[Annotated[dict[str, Count], DERIVED]]
    """How often each keyword of the schema was violated, the most frequent first."""
    violations: list[Violated]
    """How often each keyword was violated at each field, the most frequent first."""


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
    """What it comes to, by name; null where there is nothing to divide by."""
    state: dict[str, AnyJson]
    """What it keeps, from which runs are merged."""
    problem: NotRequired[str]
    """Why there are no figures: what its code failed with."""


class EvaluationRecord(ResultsRecord):
    """What both formats of evaluations have."""

    validity: NotRequired[dict[Side, ValidityRecord]]
    """The verdicts about each side that was held against the schema."""
    semantics: Count
    """The version of what is counted, and how; runs of two versions are not compared."""
    fields: list[FieldInfo]
    """What the schema says of each field, in its order, parents first."""
    causes: NotRequired[Annotated[list[CauseRecord], ADDED_LATER]]
    """Errors that are alike, put together, those that lost most values first; all values lost are
    in one of them."""
    undeclared_keys: list[KeyRecord]
    """Keys of ground truths that the schema does not declare; they are not evaluated."""
    extra_keys: list[KeyRecord]
    """Keys that the schema does not declare and only predictions have; each is a false alarm."""
    not_labelled: NotRequired[list[KeyRecord]]
    """Fields that ground truths say nobody labelled, and in how many documents; only if any do."""
    labelled: NotRequired[Annotated[dict[FieldPath, FractionOrNone], UNREAD]]
    """In which share of documents these are labelled, as are all around them, as gates ask; of the
    empty path, the mean of all fields."""
    left_out: NotRequired[list[KeyRecord]]
    """Lists that need not have all elements, and how many elements of predictions had no pair."""
    never_present: NotRequired[Annotated[list[FieldPath], DERIVED]]
    """Fields without a value on either side in any document; those inside them are not listed."""
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

    format: Literal["stickler-run/2"]
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
    verdicts: NotRequired[MarkedOutcome]
    """What it would come to by the verdicts on its errors (`--verdicts`), if some were given."""
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
    non_matches: NotRequired[Annotated[list[dict[str, Any]], UNREAD]]
    """Every error of the one document, by the names of stickler-eval, as `compare_with` has it."""
    errors: NotRequired[Annotated[list[Error], UNREAD]]
    """The same, as lines of files of errors."""
