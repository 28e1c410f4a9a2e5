"""Thresholds and the evidence for them, as `stickler tune --format json` writes them.

The format is `stickler-tuning/1`.
"""

from typing import Literal

from stickler_cli.core.rules import Count, Flag, Fraction, FractionOrNone, NumberOrNone
from stickler_cli.core.values import dataclass
from stickler_cli.studies.study import StudyRecord


@dataclass(frozen=True, slots=True)
class CutRecord:
    """A threshold that there could be, and the pairs from there to the next one."""

    threshold: Fraction
    """The threshold."""
    pairs: Count
    """Pairs of this similarity, up to the next cut."""
    same: Count | None
    """How many of them are the same by verdicts; null without verdicts."""
    passing: Count
    """All pairs that would pass."""
    precision: FractionOrNone
    """The share of these that are the same; null without verdicts, or where none passes."""
    recall: FractionOrNone
    """The share of same pairs that pass; null without verdicts, or where none is the same."""


@dataclass(frozen=True, slots=True)
class TunedFieldRecord:
    """What is known of the threshold of one field."""

    field: str
    """The field, without list indexes; empty of whole values."""
    comparator: str | None
    """What compares its values; null of list items, which their fields compare."""
    pairs: Count
    """Pairs of values, or of list items, that the evidence has."""
    units: Count
    """Documents that they are in, or what else is drawn as a whole."""
    threshold: Fraction
    """As it is now."""
    proposed: FractionOrNone
    """What is proposed; null where nothing is."""
    reason: str
    """Why it is proposed, or why not."""
    now: NumberOrNone
    """What the threshold of now comes to on the half that judges; null if nobody judged."""
    then: NumberOrNone
    """What the other threshold comes to there, proposed or not."""
    gain: list[float] | None
    """The interval of the difference, lower and upper end."""
    moved: Count
    """Pairs of both halves that would be classed otherwise."""
    cuts: list[CutRecord]
    """The thresholds that there could be, the lowest first."""


@dataclass(frozen=True, slots=True)
class TuningRecord(StudyRecord):
    """What thresholds the evidence suggests, as `stickler tune` writes it in JSON."""

    format: Literal["stickler-tuning/1"]
    schema: str
    """The file of the schema."""
    model_name: str
    """What the schema calls its documents."""
    by_verdicts: Flag
    """Whether the evidence are verdicts of people, and not similarities alone."""
    units: Count
    """Documents, or what else is drawn as a whole."""
    level: Fraction
    """The level of the intervals."""
    fields: list[TunedFieldRecord]
    """Each field of which there is evidence, in the order of the schema."""
    notes: list[str]
    """What was left out of the evidence, and what was written."""

    @property
    def proposed(self) -> list[TunedFieldRecord]:
        """The fields for which another threshold is proposed."""
        return [each for each in self.fields if each.proposed is not None]
