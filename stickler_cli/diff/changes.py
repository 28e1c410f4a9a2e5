"""The values that a difference between two runs is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Final

from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from stickler_cli.score.gates import GateResult
from stickler_cli.score.intervals import Interval, IntervalSettings
from stickler_cli.settings import MARGIN

HARD: Final = 0.5
"""A document whose score falls by this much breaks hard: half of it is lost."""

DIFFERENT: Final = 1e-9
"""Scores that are less apart are equal: they are sums of rounded numbers."""


F1: Final = "f1"


class Trend(StrEnum):
    """What became of a figure."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    UNCHANGED = "unchanged"
    """Any change is smaller than the margin, at the confidence level."""
    UNCLEAR = "not enough data"
    """It may have changed by more than the margin or not at all."""


class Decision(StrEnum):
    """What a trend rests on."""

    EXACT = "exact permutation test"
    """All ways to swap the runs of documents were tried."""
    SAMPLED = "sampled permutation test"
    INTERVAL = "confidence interval"
    DOCUMENTS = "number of documents"
    """There are too few for any test to find anything."""


@dataclass(frozen=True, slots=True)
class DiffSettings:
    """What decides the trends of a difference."""

    intervals: IntervalSettings = field(default_factory=IntervalSettings)
    """A change is significant if its p is at most 1 - level; the seed also draws the swaps."""
    margin: float = MARGIN
    """Above 0; changes smaller than this count as none, when the interval of a change shows that
    it is."""

    @property
    def alpha(self) -> float:
        """The chance of finding a change where there is none."""
        return round(1 - self.intervals.level, 12)  # 0.1 of 0.9, so that a p of 0.1 is at most it


@dataclass(frozen=True, slots=True)
class Contrast:
    """Something in which two runs differ besides their figures."""

    what: str
    """Such as `schema digest`."""
    base: str
    new: str
    decides: bool
    """Whether figures of runs that differ in it cannot be compared."""

    def __str__(self) -> str:
        return f"{self.what}: {self.base} in BASE, {self.new} in NEW"


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that a run is measured by."""

    path: Path
    """Of the field; empty for whole documents."""
    mode: str
    """The counting mode: `overall`, `aggregate` or `leaves`; empty for scores."""
    metric: str
    """`f1` or `score`."""


@dataclass(frozen=True, slots=True)
class Change(Figure):
    """One figure in both runs, over the documents of the first one."""

    before: float | None
    """In [0, 1]; None where there was nothing to divide by."""
    after: float | None
    change: float | None
    """`after` - `before`; None if one of them is."""
    interval: Interval | None
    """Of the change; None with too few documents."""
    p: float | None
    """How often a change as large would come of swapping the runs of documents; None without
    documents."""
    corrected_p: float | None
    """Corrected for all fields, by Holm; of whole documents, `p`."""
    trend: Trend
    decided_by: Decision
    documents: int
    """Those that say anything about it, in one run or both."""
    differing: int
    """Those of them in which the runs counted different things."""
    broken: int
    """Documents in which it was right in the first run and is wrong in the second."""
    fixed: int
    """The reverse."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One document in which the runs counted different things."""

    id: str
    status_before: str
    status_after: str
    """Empty where the second run knows nothing of it."""
    lost: bool
    """Whether the second run did not compare it: it counts as missed."""
    score_before: float
    score_after: float
    """0 where it is lost."""
    errors_before: int
    errors_after: int
    """FD, FA and FN of `overall`."""
    broken: Sequence[str]
    """Paths of fields that were right and are wrong, parents first."""
    fixed: Sequence[str]
    """Paths of fields that were wrong and are right."""

    @property
    def change(self) -> float:
        """By how much its score changed."""
        return self.score_after - self.score_before

    @property
    def is_worse(self) -> bool:
        """Whether it lost in score, or with the same score has more errors."""
        if abs(self.change) > DIFFERENT:
            return self.change < 0
        return self.errors_after > self.errors_before

    @property
    def is_better(self) -> bool:
        """Whether it gained in score, or with the same score has fewer errors."""
        if abs(self.change) > DIFFERENT:
            return self.change > 0
        return self.errors_after < self.errors_before

    @property
    def is_hard(self) -> bool:
        """Whether it broke hard, or was lost."""
        return self.lost or self.change <= -HARD + DIFFERENT


@dataclass(frozen=True, slots=True)
class RunName:
    """Which run it was."""

    source: str
    """As the user named it."""
    version: str
    """Of the program that made it."""
    schema: str
    """The file of its schema, as it was named then."""
    model_name: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that changed from one run to the next."""

    base: RunName
    new: RunName
    contrasts: Sequence[Contrast]
    settings: DiffSettings
    documents: Mapping[str, int]
    """How many: `compared`, and of those `better`, `worse`, `same`, and `lost` in the second run;
    `only_new` are left out."""
    lost: Sequence[str]
    """Documents that only the first run compared; they count as missed."""
    only_new: Sequence[str]
    """Documents that only the second run compared; they count nowhere."""
    whole: Sequence[Change]
    fields: Sequence[Change]
    """In schema order, parents first."""
    changed: Sequence[DocumentChange]
    """Documents in which anything changed, the greatest loss first."""
    gates: Sequence[GateResult] = ()

    @property
    def worse(self) -> list[DocumentChange]:
        """The documents that got worse, the greatest loss first."""
        return [document for document in self.changed if document.is_worse]

    @property
    def better(self) -> list[DocumentChange]:
        """The documents that got better, the greatest gain first."""
        return [document for document in reversed(self.changed) if document.is_better]

    def with_trend(self, trend: Trend) -> list[Change]:
        """Return the fields of one trend, the greatest change first."""
        found = [change for change in self.fields if change.trend is trend]
        return sorted(found, key=lambda change: -abs(change.change or 0.0))
