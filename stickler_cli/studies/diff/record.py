"""The difference between two runs, as `stickler diff --format json` writes it.

The format is `stickler-diff/1`.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final, Literal, NamedTuple

from typing_extensions import TypedDict  # pydantic needs it on Python 3.11

from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.rules import (
    KEPT,
    AnyJson,
    Count,
    Flag,
    Fraction,
    FractionOrNone,
    Number,
    NumberOrNone,
    Rule,
)
from stickler_cli.score.errors.causes import Cause, Causes
from stickler_cli.score.errors.error_rows import ValueText
from stickler_cli.score.gates import CONFIDENCE_METRICS, DOCUMENTS, RIGHT_SHARE, SCORE, GateResult
from stickler_cli.score.intervals import N_REPLICATES, RESAMPLING_METHOD, Interval, IntervalSettings
from stickler_cli.score.record import Run
from stickler_cli.score.sums import COUNTING_MODES, EXACT_METRICS
from stickler_cli.settings.deciding import MARGIN, Counting, CountingOptions
from .significance import SWAPS

# A document whose score falls by this much breaks hard: half of the score is lost.
HARD: Final = 0.5
# Smaller differences of scores are rounding: scores are sums of rounded numbers.
DIFFERENT: Final = 1e-9

F1: Final = "f1"
WHOLLY_RIGHT: Final = f"{DOCUMENTS}.{RIGHT_SHARE}"  # the share of documents without a lost value

_CHANGE: Final = {"minimum": -1, "maximum": 1}
_TO_TEXT: Final = Rule("a string", {"type": "string"}, written=field_path)
_BOUNDS: Final = {
    "type": ["array", "null"],
    "minItems": 2,
    "maxItems": 2,
    "items": {"type": "number", **_CHANGE},
}


def excludes_zero(interval: Interval | None) -> bool:
    """Return whether there is a confidence interval that does not contain 0."""
    return interval is not None and not interval.lower <= 0 <= interval.upper


class Trend(StrEnum):
    """The direction in which a figure changed."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    IDENTICAL = "identical"
    """In every document, both sides have the same counts for the figure."""
    UNCHANGED = "unchanged"
    """The interval of the change is within the margin. Any change is too small to matter."""
    INCONCLUSIVE = "inconclusive"
    """The figure may have changed by more than the margin, or not at all."""


class Decision(StrEnum):
    """The method that decided the trend of a figure, or the reason why no method could."""

    EXACT = "exact permutation test"
    """The test tried every possible set of documents: in each document of the set, it swapped the
    results of the two runs."""
    SAMPLED = "sampled permutation test"
    RUNS = "permutation test over runs and documents"
    """The test allows for the variation among documents and for the variation among the runs of a
    side."""
    INTERVAL = "confidence interval"
    WIDE_INTERVAL = "the interval includes 0"
    """The interval contains 0 and reaches beyond the margin, and the test is not significant."""
    DOCUMENTS = "too few documents"
    """There are too few documents for any test to be significant."""
    ONE_SIDED = "no values counted in one run"
    """The divisor of the figure is 0 in one run, so there is no interval, and the test is not
    significant."""
    EQUAL = "equal in every document"
    """In every document, both sides have equal counts for the figure, so no test is needed."""
    TEST_ALONE = "test significant, but the interval includes 0"
    """The test is significant, but the interval contains 0."""
    INTERVAL_ALONE = "interval excludes 0, but the test is not significant"
    """The interval excludes 0, but the test is not significant."""


@dataclass(frozen=True, slots=True)
class TrendSettings:
    """The settings that decide the trend of each figure."""

    intervals: IntervalSettings = field(default_factory=IntervalSettings)
    """Settings of the confidence intervals of changes. Tests use the same seed and level: a change
    is significant if its p-value is at most 1 - level."""
    margin: Fraction = MARGIN
    """A change up to this size does not matter; above 0. If the whole interval of a change is
    within the margin, the figure is called unchanged."""
    counting: Counting = CountingOptions.counting
    """Counting mode of the rates of fields. The main figure, F1 of whole documents, has the same
    mode."""

    @property
    def alpha(self) -> float:
        """The significance level: the chance that an unchanged figure is called changed."""
        # Round 1 - 0.9 to 0.1, so that a p value of 0.1 is at most alpha.
        return round(1 - self.intervals.level, 12)

    def view(self) -> dict[str, object]:
        """Return the settings as JSON, under the names that the record uses."""
        return {
            "alpha": self.alpha,
            "margin": self.margin,
            "counting": self.counting,
            "swaps": SWAPS,
            "intervals": {
                "level": self.intervals.level,
                "method": RESAMPLING_METHOD,
                "seed": self.intervals.seed,
                "replicates": N_REPLICATES,
            },
        }


_SHOWN: Final = Rule("what decides the trends", written=TrendSettings.view)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Something other than a figure in which two runs differ, for example an option."""

    what: str
    """Name of the property that is different, such as `schema digest` or `option missing`."""
    base: str
    """The value of the different property in the first run."""
    new: str
    """The value of the different property in the second run."""
    decides: Flag
    """Whether this difference makes the figures of both runs incomparable."""

    def __str__(self) -> str:
        return f"{self.what} ({self.base} in BASE, {self.new} in NEW)"


@dataclass(frozen=True, slots=True)
class Figure:
    """Identifies a figure of a run: its metric, its counting mode and its field."""

    field: Annotated[Path, _TO_TEXT]
    """Path of the field without list indexes; keys of maps are `*`. Empty for whole documents."""
    mode: Annotated[str, Rule("a counting mode", {"type": "string", "enum": [*COUNTING_MODES, ""]})]
    """Counting mode of the rate. Empty for a score, and for a rate of exact items."""
    metric: Annotated[
        str,
        Rule(
            "a metric",
            {
                "type": "string",
                "enum": [F1, SCORE, WHOLLY_RIGHT, *EXACT_METRICS, *CONFIDENCE_METRICS],
            },
        ),
    ]
    """F1, the mean score of documents, the share of wholly right documents, a rate of exact items,
    or a figure that is computed from predicted confidences."""


@dataclass(frozen=True, slots=True)
class Change(Figure):
    """The change of one figure between two runs.

    It covers the documents that the first run compared.
    """

    before: FractionOrNone
    """The figure in the first run; null if its divisor is 0. If the first side has several runs,
    the figure is computed from all of them."""
    after: FractionOrNone
    """The figure in the second run; null if its divisor is 0. If the second side has several runs,
    the figure is computed from all of them."""
    change: Annotated[float | None, Rule("a change", {"type": ["number", "null"], **_CHANGE})]
    """The second figure minus the first; null if one of them is null."""
    interval: Annotated[Interval | None, Rule("two numbers", _BOUNDS)]
    """Confidence interval of the change: lower and upper bound. Null if the change is null or the
    figure is identical."""
    p: FractionOrNone
    """Probability of a change that is at least as large as this one, if both systems are equally
    good. Null if there are no documents. If a side has several runs, the test takes the variation
    among these runs into account."""
    corrected_p: FractionOrNone
    """`p`, corrected for the number of fields (Holm). For whole documents, it is equal to `p`."""
    trend: Trend
    decided_by: Decision
    documents: Count
    """Number of documents in which at least one run has the figure."""
    differing: Count
    """Number of documents in which the runs have different counts for this figure."""
    broken: Count
    """Number of documents in which the field was right before and is wrong now. For a figure of
    whole documents: number of documents that were wholly right before and are not now."""
    fixed: Count
    """Number of documents in which the field was wrong before and is right now. For a figure of
    whole documents: number of documents that are wholly right now and were not before."""
    runs_before: list[Fraction]
    """The figure in each run of the first side; 1 if its divisor is 0."""
    runs_after: list[Fraction]
    """The figure in each run of the second side; 1 if its divisor is 0."""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """The change of a user's metric between two runs, over all documents of each run.

    If a side has several runs, their mean is used. The change is not tested for significance.
    """

    name: str
    """Name of the metric, as in the runs."""
    before: NumberOrNone
    """The metric in the first run; null if its divisor is 0."""
    after: NumberOrNone
    """The metric in the second run; null if its divisor is 0."""
    change: NumberOrNone
    """The second figure minus the first; null if one of them is null."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A document that has errors in a run, or in which the runs have different counts or scores."""

    id: str
    """Id of the document."""
    status_before: str
    """Status of the document in the first run."""
    status_after: str
    """Status of the document in the second run; empty if that run lacks the document."""
    lost: Flag
    """Whether the second run did not compare the document. If it did not, all values of the
    document count as missed."""
    score_before: Fraction
    """Overall score of the document in the first run. If there are several runs, the mean of their
    scores."""
    score_after: Fraction
    """Overall score of the document in the second run; 0 if the document is lost."""
    errors_before: Number
    """Number of values that are wrong, missed or invented in the first run. If there are several
    runs, their mean."""
    errors_after: Number
    """Number of values that are wrong, missed or invented in the second run. If there are several
    runs, their mean."""
    broken: list[str]
    """Paths of fields that were right before and are wrong now, parents first. If a side has
    several runs, right (or wrong) means: in more than half of them."""
    fixed: list[str]
    """Paths of fields that were wrong before and are right now, parents first."""
    change: Annotated[float, Rule("a change", {"type": "number", **_CHANGE})]
    """The second score minus the first."""
    hard: Flag
    """Whether the score fell by 0.5 or more, or the second run did not compare the document."""
    differs: bool = dataclasses.field(default=True, metadata={KEPT: False})
    """Whether the runs have any different counts or scores in this document."""

    @property
    def sort_key(self) -> tuple[float, float, str]:
        """A sort key: the greatest loss of score comes first, then most new errors, then the id."""
        return self.change, self.errors_before - self.errors_after, self.id

    @property
    def gain(self) -> float:
        """How much the score rose; below 0 if it fell.

        If the score did not change, this is the number of errors that went away instead; below 0 if
        errors were added.
        """
        lower = self.errors_before - self.errors_after
        return self.change if abs(self.change) > DIFFERENT else lower

    @property
    def is_worse(self) -> bool:
        """Whether the score of the document fell, or is unchanged while errors were added."""
        return self.gain < 0

    @property
    def is_better(self) -> bool:
        """Whether the score of the document rose, or is unchanged while errors went away."""
        return self.gain > 0


class Move(StrEnum):
    """How a value changed between two runs."""

    BROKEN = "broken"
    """The value was right before and is wrong after."""
    OTHERWISE = "wrong otherwise"
    """The value is wrong in both runs, in different ways."""
    FIXED = "fixed"
    """The value was wrong before and is right after."""
    SAME = "wrong in the same way"
    """Both runs give the same wrong answer."""


class FlowRecord(TypedDict):
    """Numbers of wrong values in both runs, in documents that both runs compared.

    `wrong_before` is the sum of `fixed`, `wrong_otherwise` and `wrong_same`; `wrong_after` is the
    sum of `broken`, `wrong_otherwise` and `wrong_same`.
    """

    wrong_before: Count
    """Number of values that are wrong, missed or invented in the first run."""
    missed_before: Count
    """Number of values that are missed in the first run."""
    invented_before: Count
    """Number of values that are invented in the first run."""
    fixed: Count
    """Number of values that are wrong in the first run and right in the second."""
    wrong_otherwise: Count
    """Number of values that are wrong in both runs, but not in the same way."""
    wrong_same: Count
    """Number of values with the same wrong answer in both runs."""
    broken: Count
    """Number of values that are right in the first run and wrong in the second."""
    wrong_after: Count
    """Number of values that are wrong, missed or invented in the second run."""
    missed_after: Count
    """Number of values that are missed in the second run."""
    invented_after: Count
    """Number of values that are invented in the second run."""


class CauseTrend(StrEnum):
    """How a cause of errors changed: whether the second run lost more or fewer values to it."""

    NEW = "new"
    """Only the second run lost values to the cause."""
    GROWN = "grown"
    """The second run lost more values to the cause than the first run."""
    SAME = "same size"
    """Both runs lost the same number of values to the cause."""
    SHRUNK = "shrunk"
    """The second run lost fewer values to the cause than the first run."""
    FIXED = "fixed"
    """Only the first run lost values to the cause."""


class CauseSizeRecord(TypedDict):
    """How many errors a cause has in one run, in the documents that both runs compared."""

    errors: Count
    """Number of errors; an item that failed as a whole is one error."""
    values: Count
    """Number of values lost to the cause."""
    documents: Count
    """Number of documents with an error of this cause."""


@dataclass(frozen=True, slots=True)
class CauseChange:
    """How a cause of errors changed between two runs.

    Similar causes are joined into one, as in the report of a single run. All wrong values that
    occur only once are joined if they are in the same field and have the same error class. If the
    class alone explains an error, as with swapped day and month, all errors of this class in a
    field are joined.
    """

    key: str
    """Identifier of the cause, as in run files. Joined causes have the identifier of the first
    one."""
    field: str
    """Path of the field, without list indexes."""
    error_class: str
    """Class of the errors."""
    differing_fields: list[str]
    """For pairs of list items that failed as a whole: the fields in which the predicted item
    differs from the true item. Empty for all other errors."""
    ground_truth_value: AnyJson
    """The true value, if it is the same in all errors of the cause. Otherwise null."""
    prediction_value: AnyJson
    """The predicted value, if it is the same in all errors of the cause. Otherwise null."""
    trend: CauseTrend
    """How the number of values lost to the cause changed."""
    before: CauseSizeRecord
    """Size of the cause in the first run."""
    after: CauseSizeRecord
    """Size of the cause in the second run."""
    fixed: Count | None
    """Number of values that the first run lost to the cause and the second run has right. Null if a
    run does not keep all of its errors."""
    broken: Count | None
    """Number of values that the first run has right and the second run lost to the cause. Null if a
    run does not keep all of its errors."""
    causes: tuple[Sequence[Cause], Sequence[Cause]] = dataclasses.field(metadata={KEPT: False})
    """(joined causes in the first run, joined causes in the second run)."""
    moved_causes: Mapping[Move, Sequence[Cause]] = dataclasses.field(
        default_factory=dict, metadata={KEPT: False}
    )
    """Maps each way in which values can change, such as "fixed", to the causes of the values that
    changed in this way. The size of each cause counts only these values. The cause of a fixed value
    is the cause of its error in the first run. The cause of any other value is the cause of its
    error in the second run."""


@dataclass(frozen=True, slots=True)
class WholeChange:
    """An item or object that failed as a whole."""

    path: str
    field: str
    error_class: str
    gt: ValueText
    pred: ValueText
    is_one_sided: bool
    """Whether the item or object is missed or invented."""
    wrong_inside: Sequence[Sequence[str] | None] = ()
    """Wrong values inside an item or object that some of the runs miss, with one entry for each
    run. The entry is None if this run misses the item or object. Otherwise it has the paths of the
    values inside it that are wrong in this run. If no run misses the item or object, because it is
    for example invented, there are no entries."""


class WrongInside(NamedTuple):
    """The answer of a run that predicts an item or object, but with wrong values in it.

    Such an answer is shown beside the answer of another run that misses the item or object.
    """

    paths: Sequence[str]
    """Paths of the wrong values, relative to the item."""


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A value that is wrong in at least one run. The answer of each run is kept as JSON text."""

    document: str
    path: str
    """Path of the value. List indexes are those of the ground truth, or those of the prediction if
    the value is invented."""
    field: str
    """Path of the field without list indexes."""
    error_class: str
    """Class of the error in the last run in which the value is wrong."""
    move: Move | None
    """How the value changed; None for more than two runs."""
    gt: ValueText
    """The true value; None if only predictions have a value."""
    said: Sequence[ValueText | bool | WrongInside]
    """The answer of each run: True if the value is right, None if it is absent, otherwise the wrong
    value. An item is right only if every value inside it is right."""
    whole: WholeChange | None = None
    """The item or object around the value that failed as a whole in the run at position `run`. None
    if no item or object around the value failed as a whole in this run."""
    run: int = 0
    """Position of the run whose error `error_class` and `cause` describe."""
    causes_by_run: Sequence[str] = ()
    """The cause of the error in each run, as joined keys (see `split_cause_keys`). Empty for a run
    in which the value is right."""
    reasons: Sequence[str] = ()
    """Why the value is wrong in each run. Empty for a run in which it is right."""
    n_values: int = 1
    """Number of values that this object stands for. It is above 1 only if the values of a missed or
    invented item or object were merged into one row (see `merged_by_whole`)."""

    @property
    def cause(self) -> str:
        """The cause of the error in the run at position `run`.

        It is written as joined keys (see `split_cause_keys`).
        """
        return self.causes_by_run[self.run]

    def is_missed(self, run: int) -> bool:
        """Return whether a run misses the true value."""
        return self.gt is not None and self.said[run] is None

    def is_invented(self, run: int) -> bool:
        """Return whether a run gives a value although the ground truth has none."""
        return self.gt is None and self.said[run] is not None


@dataclass(frozen=True, slots=True)
class RunName:
    """The name, version and schema of a run."""

    source: str
    """File or directory of the run, as the user named it."""
    version: str
    """Version of the program that made the run."""
    schema: str
    """File of the schema, as named when the run was made."""
    model_name: str
    """Name that the schema gives to its documents."""
    further: list[str]
    """If several runs are compared as one side, the files or directories of all of these runs
    except the first. The first one is `source`."""


class ComparedRecord(TypedDict):
    """How many documents changed, and in which way, between both runs."""

    compared: Count
    """Number of documents that the first run compared. All figures are about these documents."""
    better: Count
    """Number of compared documents in which the second run has a higher score than the first, or
    the same score and fewer errors."""
    worse: Count
    """Number of compared documents in which the second run has a lower score than the first, or
    the same score and more errors."""
    same: Count
    """Number of compared documents with the same score and the same number of errors."""
    fewer_errors: Count
    """Number of compared documents in which the second run lost fewer values than the first. Their
    scores do not matter."""
    more_errors: Count
    """Number of compared documents in which the second run lost more values than the first. Their
    scores do not matter."""
    same_errors: Count
    """Number of compared documents in which both runs lost the same number of values. Their scores
    do not matter."""
    right_before: Count
    """Number of compared documents that are wholly right in the first run. If a side has several
    runs, a document counts if it is wholly right in more than half of them."""
    right_after: Count
    """Number of compared documents that are wholly right in the second run."""
    no_longer_right: Count
    """Number of compared documents that are wholly right in the first run, but not in the
    second."""
    newly_right: Count
    """Number of compared documents that are wholly right in the second run, but not in the
    first."""
    lost: Count
    """Number of compared documents that the second run did not compare. All of their values count
    as missed."""
    only_new: Count
    """Number of documents that only the second run compared. They are in no figure."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two runs, as `stickler diff --format json` writes it.

    Described in docs/diff.md. Rates and scores are in [0, 1].
    """

    format: Literal["stickler-diff/1"]
    """Name of the format. Its number goes up when a key gets another meaning or is removed."""
    version: str
    """Version of the program that compared the runs."""
    base: RunName
    """The first run: the state before the change."""
    new: RunName
    """The second run: the state after the change."""
    contrasts: list[Contrast]
    """How the runs differ in anything but their figures, for example in their options. Differences
    that make the figures incomparable come first."""
    settings: Annotated[TrendSettings, _SHOWN]
    documents: ComparedRecord
    headline: Change
    """The change that the report names first. If any figure fell significantly, this is the most
    significant loss. Otherwise, if F1 of whole documents rose significantly, this is the rise of
    F1. Otherwise, if any figure rose significantly, this is the most significant rise. If nothing
    changed significantly, this is the change of F1 of whole documents."""
    lost: list[str]
    """Ids of the documents that the second run did not compare."""
    only_new: list[str]
    """Ids of the documents that only the second run compared."""
    whole: list[Change]
    """Changes of the figures of whole documents: F1 in each counting mode, the mean score, the
    share of wholly right documents, and figures that are computed from predicted confidences."""
    fields: list[Change]
    """The change of every field, in the order of the schema, parents first."""
    exact_items: list[Change]
    """Changes of the F1 for which an object or a list item is right only if it is exactly right.
    There is an entry for each field that has objects or list items. `corrected_p` is corrected for
    the number of these fields."""
    changed_documents: list[DocumentChange]
    """Every document with a change, the greatest loss first."""
    unchanged_documents: list[DocumentChange]
    """Documents that have errors, but the same counts and scores in both runs. Every document with
    errors is either in this list or in `changed_documents`."""
    gates: list[GateResult]
    """The gates on changes, and their results."""
    metrics: list[MetricChange]
    """Metrics that were requested in both runs (`--metric`)."""
    flow: FlowRecord | None
    """How many values are wrong before and after. Null in two cases: more than two runs are
    compared; or a run does not keep all of its errors, for example because only its run file is
    left, without the run directory."""

    causes: list[CauseChange] | None
    """Causes of wrong values in both runs. The cause that grew most is first. Null in two cases:
    more than two runs are compared; or the two runs compared different documents, and one of the
    runs does not keep all of its errors."""

    runs: Sequence[Run] = field(default=(), metadata={KEPT: False})
    """The first and the second run. Empty if more than two runs are compared."""
    values: Sequence[ChangedValue] | None = field(default=None, metadata={KEPT: False})
    """The values that are wrong in at least one run, for HTML pages. None if they are unknown."""
    causes_of_runs: Sequence[Causes] = field(default=(), metadata={KEPT: False})
    """Causes of errors in each run, counted in documents that both runs compared. Empty if they are
    unknown."""
    pages: Sequence[str] = field(default=(), metadata={KEPT: False})
    """Addresses of the runs' HTML pages. The address of a run without a page is empty."""
    page_command: str = field(default="", metadata={KEPT: False})
    """Command that writes the HTML page of this difference. Empty if there is no such command."""
    began: str = field(default="", metadata={KEPT: False})
    """Time at which the last run of the second side began. Empty if it is unknown."""

    @property
    def listed_documents(self) -> list[DocumentChange]:
        """The documents that changed or that have errors. The greatest loss is first."""
        documents = [*self.changed_documents, *self.unchanged_documents]
        return sorted(documents, key=lambda document: document.sort_key)

    @property
    def worse(self) -> list[DocumentChange]:
        """The documents that got worse, the greatest loss first."""
        return [document for document in self.changed_documents if document.is_worse]

    @property
    def better(self) -> list[DocumentChange]:
        """The documents that got better, the greatest gain first."""
        return [document for document in reversed(self.changed_documents) if document.is_better]

    def with_trend(self, trend: Trend) -> list[Change]:
        """Return the changes of fields that have the given trend. The greatest change is first."""
        changes = [change for change in self.fields if change.trend is trend]
        return sorted(changes, key=lambda change: -abs(change.change or 0.0))


@dataclass(frozen=True, slots=True)
class RunsBeside:
    """Finished runs of several systems over the same documents. They are shown side by side."""

    runs: Mapping[str, Run]
    values: Sequence[ChangedValue] | None
    """Values to which the runs give different answers. None if a run does not keep all of its
    errors."""
    pages: Sequence[str] = ()
    """Addresses of the runs' HTML pages. The address of a run without a page is empty."""
