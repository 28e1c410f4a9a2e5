"""What runs say beside a ground truth, as `stickler audit --format json` writes it.

The format is `stickler-audit/1`.
"""

from typing import Literal

from stickler_cli.core.rules import AnyJson, Count, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.values import dataclass
from stickler_cli.score.gates import GateResult
from stickler_cli.studies.study import StudyRecord

Ends = list[float] | None


@dataclass(frozen=True, slots=True)
class Said:
    """An answer at a place."""

    answer: AnyJson
    """Null where it is absent."""
    runs: list[Count]
    """Who says so: positions of runs, from 0."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where runs say something else than the ground truth."""

    document: str
    """Its id."""
    path: str
    """With the ground truth's list indexes; `+0` is the first item that only runs have."""
    field: str
    """Without list indexes."""
    gt: AnyJson
    """The ground truth; null where it is absent."""
    others: list[Said]
    """The other answers, that of most runs first."""
    votes: Count
    """How many runs give the first of these."""
    against: Count
    """How many agree with the ground truth."""
    rarity: Fraction
    """How often the runs that vote differ from the ground truth in this field, on average."""


@dataclass(frozen=True, slots=True)
class AuditedField:
    """The runs in one field, or in all."""

    field: str
    """Without list indexes; empty of all."""
    places: Count
    """Places where the ground truth or a run has a value."""
    suspects: Count
    """Those where two runs or more give the same other answer."""
    agreement: FractionOrNone
    """The share of places on which all runs agree."""
    agreement_interval: Ends
    """Where it may lie, over documents, as of other shares."""
    pairwise: FractionOrNone
    """The share of pairs of runs that agree on a place."""
    pairwise_interval: Ends
    """Where that may lie, likewise."""
    alpha: NumberOrNone
    """Krippendorff's alpha by the comparator's matches; null where all answers are alike."""
    alpha_interval: Ends
    """Where that may lie, likewise."""
    looked_at: Count
    """Places with a verdict."""
    wrong: FractionOrNone
    """The share of places at which the ground truth is wrong, by verdicts; null without."""
    wrong_interval: Ends
    """Where that may lie, likewise."""


@dataclass(frozen=True, slots=True)
class AuditedRun:
    """One of the runs."""

    run: str
    """As named."""
    differing: FractionOrNone
    """The share of places where it differs from the ground truth."""
    f1: FractionOrNone
    """F1 of all values as it is."""
    f1_interval: Ends
    """Where that may lie, likewise."""
    right_f1: FractionOrNone
    """F1 with a right ground truth, by verdicts; null without."""
    right_f1_interval: Ends
    """Where that may lie, likewise."""
    shares_with: list[Count]
    """Runs that share its other answers far more often than others do."""


@dataclass(frozen=True, slots=True)
class AuditReport(StudyRecord):
    """What several runs say beside a ground truth, as `stickler audit` writes it in JSON.

    Described in docs/auditing.md.
    """

    format: Literal["stickler-audit/1"]
    schema: str
    """The schema, as named."""
    gt: str
    """The ground truth, as named."""
    documents: Count
    """Documents that a run has values of."""
    level: FractionOrNone
    """That of the intervals; null without."""
    whole: AuditedField
    """All fields together."""
    fields: list[AuditedField]
    """By field, in the order in which they are met."""
    runs: list[AuditedRun]
    """In the order given."""
    suspects: list[Suspect]
    """The most suspect places, at most a thousand."""
    gates: list[GateResult]
    """What was asked for."""
    notes: list[str]
    """What the figures rest on."""
