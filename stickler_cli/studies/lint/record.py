"""What lint found, as `stickler lint --format json` writes it: the format `stickler-lint/1`."""

from typing import Literal

from stickler_cli.core.rules import Count, Some
from stickler_cli.core.values import dataclass
from stickler_cli.studies.study import StudyRecord

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class FoundRecord:
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


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """What one rule found at one field."""

    rule: str
    """The name of the rule, by which `--ignore` leaves it out."""
    severity: Severity
    """How bad it is."""
    field: str
    """The field, without list indexes; empty of whole documents."""
    means: str
    """What is wrong."""
    advice: str
    """What to do."""
    count: Some
    """How often it was found."""
    places: list[FoundRecord]
    """Where, at most a hundred."""


@dataclass(frozen=True, slots=True)
class LintRecord(StudyRecord):
    """What is odd about a schema and its ground truth, as `stickler lint` writes it in JSON."""

    format: Literal["stickler-lint/1"]
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
