"""The formats `stickler-lint/1` and `stickler-tuning/1`: what lint and tune write as JSON.

`advice/` makes these records; `schemas/` has their JSON Schemas.
"""

from typing import Literal

from typing_extensions import TypedDict  # that of Python 3.11 is none that pydantic takes

from stickler_cli.core.rules import Count, Flag, Fraction, FractionOrNone, NumberOrNone, Some


class FoundRecord(TypedDict):
    """One place of a finding."""

    file: str
    """The file that it is in, or the schema."""
    line: int | None
    """The line; null where that is not known."""
    pointer: str | None
    """The place in the document, as a JSON Pointer; null where it is no single one."""
    found: str
    """What is there."""
    expected: str
    """What was expected; empty where the advice says all."""


class FindingRecord(TypedDict):
    """What one rule found at one field."""

    rule: str
    """The name of the rule, by which `--ignore` leaves it out."""
    severity: Literal["error", "warning", "note"]
    """How bad it is."""
    field_path: str
    """The field, without list indexes; empty of whole documents."""
    means: str
    """What is wrong."""
    advice: str
    """What to do."""
    count: Some
    """How often it was found."""
    places: list[FoundRecord]
    """Where, at most a hundred."""


class LintRecord(TypedDict):
    """What is odd about a schema and its ground truth, as `stickler lint` writes it in JSON."""

    format: Literal["stickler-lint/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that wrote it."""
    schema: str
    """The file of the schema."""
    gt: str
    """The ground truth, as the user named it."""
    documents: Count
    """How many there are."""
    findings: list[FindingRecord]
    """The worst first."""
    notes: list[str]
    """What was left out, and what is odd about the source as a whole."""


class CutRecord(TypedDict):
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


class TunedFieldRecord(TypedDict):
    """What is known of the threshold of one field."""

    field_path: str
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


class TuningRecord(TypedDict):
    """What thresholds the evidence suggests, as `stickler tune` writes it in JSON."""

    format: Literal["stickler-tuning/1"]
    """This format; the number goes up when a key changes its meaning or goes away."""
    version: str
    """Version of the program that wrote it."""
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
