"""The difference between two runs, as `stickler diff --format json` writes it.

The format is `stickler-diff/1`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final, Literal

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.rules import (
    KEPT,
    Count,
    Flag,
    Fraction,
    FractionOrNone,
    Number,
    NumberOrNone,
    Rule,
)
from stickler_cli.score.errors.error_rows import ValueText
from stickler_cli.score.gates import CONFIDENCE_METRICS, DOCUMENTS, RIGHT_SHARE, SCORE, GateResult
from stickler_cli.score.intervals import N_REPLICATES, RESAMPLING_METHOD, Interval, IntervalSettings
from stickler_cli.score.record import Run
from stickler_cli.score.sums import COUNTING_MODES, EXACT_METRICS
from stickler_cli.settings.deciding import MARGIN, Counting, CountingOptions
from .significance import SWAPS

HARD: Final = 0.5  # a document whose score falls by this much breaks hard: half of it is lost
DIFFERENT: Final = 1e-9  # scores that are less apart are equal: they are sums of rounded numbers

F1: Final = "f1"
WHOLLY_RIGHT: Final = f"{DOCUMENTS}.{RIGHT_SHARE}"  # the share of documents that lost no value

_CHANGE: Final = {"minimum": -1, "maximum": 1}
_TO_TEXT: Final = Rule("a string", {"type": "string"}, written=field_path)
_BOUNDS: Final = {
    "type": ["array", "null"],
    "minItems": 2,
    "maxItems": 2,
    "items": {"type": "number", **_CHANGE},
}


def excludes_zero(interval: Interval | None) -> bool:
    """Return whether there is an interval, and no change at all lies outside of it."""
    return interval is not None and not interval.lower <= 0 <= interval.upper


class Trend(StrEnum):
    """The direction in which a figure changed."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    IDENTICAL = "identical"
    """No document differs in it."""
    UNCHANGED = "unchanged"
    """Any change is smaller than the margin, at the confidence level, also if it is no chance."""
    INCONCLUSIVE = "inconclusive"
    """It may have changed by more than the margin or not at all."""


class Decision(StrEnum):
    """The evidence on which a trend rests."""

    EXACT = "exact permutation test"
    """All ways to swap the runs of documents were tried."""
    SAMPLED = "sampled permutation test"
    RUNS = "test among runs and documents"
    """A permutation test, and how the runs of one side differ from each other."""
    INTERVAL = "confidence interval"
    WIDE_INTERVAL = "the interval holds 0"
    """It holds 0 and changes beyond the margin, and the test does not reject chance."""
    DOCUMENTS = "too few documents"
    """There are too few for any test to find anything."""
    ONE_SIDED = "nothing counted in one run"
    """There is no interval, and the test does not reject chance."""
    EQUAL = "equal counts"
    """Both sides counted the same in every document."""
    TEST_ALONE = "test, but the interval holds 0"
    """The test rejects chance; the interval does not."""
    INTERVAL_ALONE = "interval, but the test does not reject chance"
    """The interval excludes 0; the test does not reject chance."""


@dataclass(frozen=True, slots=True)
class TrendSettings:
    """The settings that decide the trends."""

    intervals: IntervalSettings = field(default_factory=IntervalSettings)
    """How confidence intervals of changes were made; the seed also draws the swaps, and a change is
    significant if its p is at most 1 - level."""
    margin: Fraction = MARGIN
    """Size of a change that does not matter, above 0: an interval within it is no change."""
    counting: Counting = CountingOptions.counting
    """Counting mode of the rates of fields, and of the first figure of whole documents."""

    @property
    def alpha(self) -> float:
        """The chance of finding a change between runs that do not differ."""
        return round(1 - self.intervals.level, 12)  # 0.1 of 0.9, so that a p of 0.1 is at most it

    def view(self) -> dict[str, object]:
        """Return it as records show it."""
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
    """Something in which the runs differ besides their figures."""

    what: str
    """Name of the difference, such as `schema digest` or `option missing`."""
    base: str
    """In the first run."""
    new: str
    """In the second run."""
    decides: Flag
    """Whether figures of runs that differ in it cannot be compared."""

    def __str__(self) -> str:
        return f"{self.what}: {self.base} in BASE, {self.new} in NEW"


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that a run is measured by."""

    field: Annotated[Path, _TO_TEXT]
    """Path of the field without list indexes; keys of maps are `*`. Empty for whole documents."""
    mode: Annotated[str, Rule("a counting mode", {"type": "string", "enum": [*COUNTING_MODES, ""]})]
    """The counting mode that the rate is of; empty for a score, and for exact items."""
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
    """F1, the mean score of documents, the share that is wholly right, a rate of exact items, or a
    figure of confidences."""


@dataclass(frozen=True, slots=True)
class Change(Figure):
    """One figure in both runs, over the documents of the first one."""

    before: FractionOrNone
    """In the first run, or all runs of that side; null where there was nothing to divide by."""
    after: FractionOrNone
    """In the second run, likewise."""
    change: Annotated[float | None, Rule("a change", {"type": ["number", "null"], **_CHANGE})]
    """By how much it changed; null where one of the two is."""
    interval: Annotated[Interval | None, Rule("two numbers", _BOUNDS)]
    """Confidence interval of the change, both ends; null where the change is, and of an identical
    figure."""
    p: FractionOrNone
    """How often a change as large would come of swapping the runs of documents; null without
    documents. Of several runs, no less than what their spread lets expect of other runs."""
    corrected_p: FractionOrNone
    """Corrected for all fields, by Holm; of whole documents, the same as p."""
    trend: Trend
    decided_by: Decision
    documents: Count
    """Documents that say anything about it, in one run or both."""
    differing: Count
    """Documents among these in which the runs counted different things."""
    broken: Count
    """Documents in which the field was right and is wrong."""
    fixed: Count
    """Documents in which the field was wrong and is right."""
    runs_before: list[Fraction]
    """It in each run of the first side; 1 where there was nothing to divide by."""
    runs_after: list[Fraction]
    """In each run of the second side, likewise."""


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A figure of a metric that both runs were asked for, over all documents of each.

    Of several runs of a side it is their mean. There is no test whether it changed by chance.
    """

    name: str
    """As in the runs."""
    before: NumberOrNone
    """In the first run; null where there was nothing to divide by."""
    after: NumberOrNone
    """In the second run, likewise."""
    change: NumberOrNone
    """By how much it changed; null where one of the two is."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One document in which the runs counted different things."""

    id: str
    """Id of the document."""
    status_before: str
    """Its status in the first run."""
    status_after: str
    """Its status in the second run; empty if that run does not have it."""
    lost: Flag
    """Whether the second run did not compare it: it counts as missed."""
    score_before: Fraction
    """Its overall score in the first run."""
    score_after: Fraction
    """In the second run; 0 where it is lost."""
    errors_before: Number
    """Values that were lost in the first run; of several runs their mean, as the score."""
    errors_after: Number
    """In the second run, likewise."""
    broken: list[str]
    """Paths of fields that were right and are wrong, parents first; of several runs, in more than
    half of them."""
    fixed: list[str]
    """Paths of fields that were wrong and are right, parents first."""
    change: Annotated[float, Rule("a change", {"type": "number", **_CHANGE})]
    """By how much its score changed."""
    hard: Flag
    """Whether its score fell by half or more of the greatest possible loss, or it is lost."""

    @property
    def gain(self) -> float:
        """By how much its score rose; with the same score, by how much its errors fell."""
        lower = self.errors_before - self.errors_after
        return self.change if abs(self.change) > DIFFERENT else lower

    @property
    def is_worse(self) -> bool:
        """Whether it lost in score, or with the same score has more errors."""
        return self.gain < 0

    @property
    def is_better(self) -> bool:
        """Whether it gained in score, or with the same score has fewer errors."""
        return self.gain > 0


class Move(StrEnum):
    """The change of a value between two runs."""

    BROKEN = "broken"
    """It was right and is wrong."""
    OTHERWISE = "wrong otherwise"
    """It is wrong in another way than it was."""
    FIXED = "fixed"
    """It was wrong and is right."""
    SAME = "wrong in the same way"
    """Both runs say the same, which is wrong."""


class FlowRecord(TypedDict):
    """Wrong values before and after, in documents that both runs compared.

    Wrong before are those fixed, wrong otherwise and wrong in the same way; wrong after are those
    broken, wrong otherwise and wrong in the same way.
    """

    wrong_before: Count
    """Wrong, missed or invented in the first run."""
    fixed: Count
    """Number of these that are right in the second run."""
    wrong_otherwise: Count
    """Wrong in both runs, in different ways."""
    wrong_same: Count
    """Wrong in both runs, which say the same."""
    broken: Count
    """Right in the first run, and wrong in the second."""
    wrong_after: Count
    """Wrong, missed or invented in the second run."""


@dataclass(frozen=True, slots=True)
class WholeChange:
    """An item or object that failed as a whole."""

    path: str
    field: str
    error_class: str
    gt: ValueText
    pred: ValueText
    is_one_sided: bool
    """Whether it is missed or invented."""


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A wrong value of runs, with the answer of each as JSON text."""

    document: str
    path: str
    """With the list indexes of the ground truth; of the prediction where only that has it."""
    field: str
    """Without list indexes."""
    error_class: str
    """Class of the error in the last run that has one."""
    move: Move | None
    """None of more than two runs."""
    gt: ValueText
    """None where only predictions have it."""
    said: Sequence[ValueText | bool]
    """By each run: True where it is right, None where it has none."""
    whole: WholeChange | None = None
    """The item or object that failed as a whole and contains it, in the last run that has one."""
    run: int = 0
    """The position of the run whose error tells class and cause."""
    cause: str = ""
    """The keys of its cause in that run."""
    n_values: int = 1
    """How many values are lost with it: more than one of a missed or invented item."""


@dataclass(frozen=True, slots=True)
class RunName:
    """The files and the version of a run."""

    source: str
    """File or directory of the run, as the user named it."""
    version: str
    """Version of the program that made it."""
    schema: str
    """File of its schema, as it was named then."""
    model_name: str
    """The name that its schema gives to its documents."""
    further: list[str]
    """Files or directories of further runs on this side."""


class ComparedRecord(TypedDict):
    """How many documents there are."""

    compared: Count
    """Documents that the first run compared; figures are about these."""
    better: Count
    """Compared documents with a higher score, or with the same score and fewer errors."""
    worse: Count
    """Compared documents with a lower score, or with the same score and more errors."""
    same: Count
    """Compared documents with the same score and as many errors."""
    fewer_errors: Count
    """Compared documents with fewer values lost, for any score."""
    more_errors: Count
    """Compared documents with more values lost, for any score."""
    same_errors: Count
    """Compared documents with as many values lost, for any score."""
    lost: Count
    """Compared documents that the second run did not compare; they count as missed."""
    only_new: Count
    """Documents that only the second run compared; they count nowhere."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two runs, as `stickler diff --format json` writes it.

    Described in docs/diff.md. Rates and scores are fractions.
    """

    format: Literal["stickler-diff/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that compared the runs."""
    base: RunName
    """The run that was."""
    new: RunName
    """The run that is."""
    contrasts: list[Contrast]
    """Differences of the runs; those that keep figures from being compared come first."""
    settings: Annotated[TrendSettings, _SHOWN]
    documents: ComparedRecord
    headline: Change
    """The figure that the first line states: the one with the most significant loss; where none
    regressed, F1 of whole documents, or an improved figure where that is inconclusive."""
    lost: list[str]
    """The documents that the second run did not compare."""
    only_new: list[str]
    """The documents that only the second run compared."""
    whole: list[Change]
    """Whole documents: F1 of overall, aggregate and leaves, and the mean score."""
    fields: list[Change]
    """Every field, in the order of the schema, parents first."""
    exact_items: list[Change]
    """F1 of the items, or objects, that are right as a whole, of each list or object that has any;
    p is corrected for their number."""
    changed_documents: list[DocumentChange]
    """Every document in which anything changed, the greatest loss first."""
    gates: list[GateResult]
    """The gates on changes, and their results."""
    metrics: list[MetricChange]
    """Metrics that both runs were asked for (`--metric`)."""
    flow: FlowRecord | None
    """Wrong values before and after; null if runs do not know all of their errors, as run files
    without a directory, or if a side has several runs."""

    runs: Sequence[Run] = field(default=(), metadata={KEPT: False})
    """The run of each side, where single values are known."""
    values: Sequence[ChangedValue] | None = field(default=None, metadata={KEPT: False})
    """The wrong values of both runs, for pages; None where they are not known."""
    pages: Sequence[str] = field(default=(), metadata={KEPT: False})
    """Addresses of the pages of both runs; empty for a run without a page."""
    began: str = field(default="", metadata={KEPT: False})
    """When the last run of the second side began; empty if unknown."""

    @property
    def worse(self) -> list[DocumentChange]:
        """The documents that got worse, the greatest loss first."""
        return [document for document in self.changed_documents if document.is_worse]

    @property
    def better(self) -> list[DocumentChange]:
        """The documents that got better, the greatest gain first."""
        return [document for document in reversed(self.changed_documents) if document.is_better]

    def with_trend(self, trend: Trend) -> list[Change]:
        """Return the fields of one trend, the greatest change first."""
        changes = [change for change in self.fields if change.trend is trend]
        return sorted(changes, key=lambda change: -abs(change.change or 0.0))


@dataclass(frozen=True, slots=True)
class RunsBeside:
    """Finished runs of the same documents, by different systems."""

    runs: Mapping[str, Run]
    values: Sequence[ChangedValue] | None
    """Values on which the runs differ; None if they do not know all of their errors."""
    pages: Sequence[str] = ()
    """Addresses of the pages of the runs; empty for a run without a page."""
