"""How judges agree with people, as `stickler judge-check --format json` writes it.

The format is `stickler-judge-check/1`.
"""

from typing import Literal

from stickler_cli.core.rules import Count, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.values import dataclass
from stickler_cli.studies.study import StudyRecord

Kind = Literal["false_accept", "false_reject", "failed"]


@dataclass(frozen=True, slots=True)
class JudgeAccount:
    """How a judge and people agree on the pairs of one field, or of all."""

    field: str
    """Empty of all fields together."""
    model: str
    """Whom the field asks."""
    pairs: Count
    """Pairs on which both said something."""
    failed: Count
    """Pairs on which the judge said nothing; they count nowhere else."""
    same: Count
    """Those of which people say that they are the same."""
    false_accepts: Count
    """Pairs that differ to people, and match to the judge."""
    false_rejects: Count
    """Pairs that are the same to people, and do not match to the judge."""
    agreement: FractionOrNone
    """The share of pairs on which both say the same."""
    agreement_interval: list[float] | None
    """Where that may lie by chance; null of fewer than two units."""
    kappa: NumberOrNone
    """Agreement beyond chance; null where chance alone would agree on all."""
    false_accept_rate: FractionOrNone
    """The share of pairs that differ to people which match to the judge."""
    false_accept_interval: list[float] | None
    """Where that may lie by chance; null of fewer than two units."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair on which judge and people disagree, or of which the judge said nothing."""

    field: str
    """The field, without list indexes."""
    kind: Kind
    """Who says what: the judge accepts what differs, or rejects what is the same, or failed."""
    gt: str
    """As JSON, cut where it is long."""
    pred: str
    """As JSON, cut where it is long."""
    similarity: FractionOrNone
    """What the judge gave them; null where it said nothing."""
    reason: str
    """What the judge said, or what went wrong."""


@dataclass(frozen=True, slots=True)
class JudgeReport(StudyRecord):
    """How far judges agree with people, as `stickler judge-check` writes it in JSON."""

    format: Literal["stickler-judge-check/1"]
    schema: str
    """The file of the schema."""
    model_name: str
    """What the schema calls its documents."""
    level: Fraction
    """The level of the intervals."""
    total: JudgeAccount
    """All fields together."""
    fields: list[JudgeAccount]
    """Each field that has pairs and asks a model, in the order of the pairs."""
    disagreements: list[Disagreement]
    """Matches that are none to people first, as they do most harm; at most a thousand."""
    usage: str
    """What asking took."""
    notes: list[str]
    """What was left out."""
