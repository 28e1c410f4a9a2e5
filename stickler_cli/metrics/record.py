"""The run format `stickler-run/1`: an Evaluation as JSON, signed with what it came from.

Every report is a view of this record, and `Evaluation.from_dict` reads it back. Its JSON Schema is
`schemas/stickler-run.json`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from stickler_cli import __version__
from stickler_cli.compare.result import ObjectComparison
from stickler_cli.metrics.comparison_view import document_view
from stickler_cli.metrics.evaluation import RUN_FORMAT, Evaluation
from stickler_cli.metrics.gates import GateResult
from stickler_cli.metrics.terms import ANY_KEY, FieldInfo, in_schema_order

__all__ = [
    "ANY_KEY",
    "FORMAT",
    "FieldInfo",
    "Run",
    "RunOptions",
    "SchemaSignature",
    "in_schema_order",
    "run_record",
]

FORMAT: Final = RUN_FORMAT


@dataclass(frozen=True, slots=True)
class SchemaSignature:
    """Which schema a run was made with."""

    path: str
    """As the user named it."""
    digest: str
    """`sha256:` of the file's bytes."""
    model_name: str


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that decide a result."""

    pairing_floor: float
    recall_with_fd: bool
    extra_fields: str
    """`fa` or `ignore`."""
    missing: str
    """`fn`, `skip` or `error`."""
    strict: bool


@dataclass(frozen=True, slots=True)
class Run:
    """An evaluation and everything that a report says about how it came about."""

    evaluation: Evaluation
    schema: SchemaSignature
    options: RunOptions
    fields: Sequence[FieldInfo]
    """In schema order, parents first."""
    gates: Sequence[GateResult] = ()
    notes: Sequence[str] = ()
    """What the run noticed of its sources as a whole, one line each."""
    document: ObjectComparison | None = None
    """The comparison, where the run was asked for one pair of files."""


def run_record(run: Run) -> dict[str, object]:
    """Give a run in the run format; equal runs give equal records, whatever their order."""
    record: dict[str, object] = {
        "format": FORMAT,
        "version": __version__,
        "schema": asdict(run.schema),
        "options": asdict(run.options),
        **run.evaluation.view(run.fields, recall_with_fd=run.options.recall_with_fd),
        "gates": [result.view() for result in run.gates],
        "notes": sorted(run.notes),
    }
    if run.document is not None:
        record |= document_view(run.document)
    return record
