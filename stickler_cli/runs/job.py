"""What a run is asked for: all that decides its results, and who does the work."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from stickler_cli.compare.plan import Options, Plan
from stickler_cli.compare.wrappers import Unwrapper
from stickler_cli.core.problems import Problem
from stickler_cli.core.values import dataclass
from stickler_cli.documents.pairs import DocumentPair
from stickler_cli.metrics.run_metrics import Measure
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.document_validity import DocumentValidator
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.validity import SIDES, Side, Verdict
from stickler_cli.settings.allowed import Missing, Rows, Validate
from .grouping import Grouping


@dataclass(frozen=True, slots=True)
class OutputsRequested:
    """What a run is asked for beside its evaluation; nothing else is made."""

    document_lines: bool = False
    non_match_lines: bool = False
    value_lines: bool = False
    first_non_matches: int = 0
    """How many errors, the first of the run, are to be shown."""
    accounts: bool = False
    intervals: IntervalSettings | None = None
    intervals_of_fields: bool = False
    """Whether every field has intervals, not only whole documents."""
    document: bool = False
    """What results say of the comparison, of a run of one pair."""
    detail: bool = False
    """What a page shows of single values and documents."""
    fingerprints: bool = False
    """What tells each document from others."""
    rows: Rows = "auto"
    """Whether what is known of each document is kept beyond its lines."""
    recall_with_fd: bool = False
    """Whether the recall in document lines counts false discoveries as missed."""


@dataclass(frozen=True, slots=True)
class Validation:
    """A schema, and the sides that are held against it; they are compared whatever it says."""

    validator: DocumentValidator
    sides: tuple[Side, ...]

    def verdicts(self, pair: DocumentPair) -> dict[Side, Verdict]:
        """Return the verdict about each side that is there."""
        documents = ((side, getattr(pair, side)) for side in self.sides)
        return {
            side: None
            if isinstance(document, Problem)
            else tuple(self.validator.violations(document))
            for side, document in documents
            if document is not None
        }


def validation_of(
    chosen: Validate, schema: Schema, source: str = "", file: str | None = None
) -> Validation | None:
    """Return the validation of the chosen sides by a parsed schema; None where there are none."""
    sides = tuple(side for side in SIDES if chosen in (side, "both"))
    return Validation(DocumentValidator(schema, source, file), sides) if sides else None


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides what becomes of a pair."""

    plan: Plan
    options: Options
    missing: Missing = "fn"
    """What a ground truth without a prediction is: false negatives, left out, or a failure."""
    requested: OutputsRequested = OutputsRequested()
    validation: Validation | None = None
    by: tuple[Grouping, ...] = ()
    unwrapper: Unwrapper | None = None
    """What takes values out of wrappers; None where they stay as they are."""
    metrics: Mapping[str, Measure] = field(default_factory=dict)
    """What documents are measured by beside the engine, of no documents."""


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes that do the work of a run; its results do not depend on them."""

    jobs: int | Literal["auto"] = 1
    """At least 1, which is this one; `auto` takes as many as fit the machine and the work."""
    chunk_size: int | None = None
    """Documents that are compared at once; None goes by their size and the time that they take."""
    source: str = "--jobs"
    document_timeout: float | None = None
    """Seconds that a document may take in another process; None for any."""
    watched: bool = False
    """Whether all work is for other processes, as this one could not end it."""
    memory_limit: int | None = None
    """Bytes that documents may take in a process, beyond what the program itself takes."""
