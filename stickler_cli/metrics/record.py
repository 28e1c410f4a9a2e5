"""The run format `stickler-run/1`: an Evaluation as JSON, signed with what it came from.

Every report is a view of this record. Its JSON Schema is `schemas/stickler-run.json`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from stickler_cli import __version__
from stickler_cli.compare.result import ObjectComparison
from stickler_cli.locations import Path, field_path
from stickler_cli.metrics.comparison_view import document_view, tally_view
from stickler_cli.metrics.evaluation import Evaluation
from stickler_cli.metrics.gates import GateResult
from stickler_cli.metrics.tally import Tally

FORMAT: Final = "stickler-run/1"
ANY_KEY: Final = "*"
"""Stands in the path of a field for the keys that only the documents name."""


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
class FieldInfo:
    """What the schema says of one field, as far as a reader of results needs it."""

    path: Path
    kind: str
    comparator: str
    threshold: float | None
    weight: float


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
    evaluation = run.evaluation
    ordered = in_schema_order(evaluation.tally, run.fields)
    record: dict[str, object] = {
        "format": FORMAT,
        "version": __version__,
        "schema": asdict(run.schema),
        "options": asdict(run.options),
        "documents": evaluation.documents,
        "overall_score": evaluation.overall_score,
        "confusion_matrix": tally_view(ordered, recall_with_fd=run.options.recall_with_fd),
        "fields": [{**asdict(info), "path": field_path(info.path)} for info in run.fields],
        "gates": [result.view() for result in run.gates],
        "undeclared_keys": [
            {"path": field_path(path), "count": count} for path, count in evaluation.undeclared()
        ],
        "never_present": sorted(field_path(path) for path in evaluation.never_present()),
        "notes": sorted(run.notes),
        "problems": [
            {"document": entry.id, "status": entry.status.value, "problem": entry.problem}
            for entry in sorted(evaluation.problems)
        ],
    }
    if run.document is not None:
        record |= document_view(run.document)
    return record


def in_schema_order(tally: Tally, fields: Iterable[FieldInfo]) -> Tally:
    """Give a tally whose fields stand as in the schema; names that only documents have follow.

    Documents may meet fields in any order; a result must not show it.
    """
    rank: dict[Path, int] = {}
    for position, info in enumerate(fields):
        rank.setdefault(info.path, position)

    def sort(node: Tally, patterns: frozenset[Path]) -> Tally:
        def place(name: str) -> tuple[float, str]:
            ranks = (rank.get((*pattern, name), float("inf")) for pattern in patterns)
            return min(ranks, default=float("inf")), name

        result = Tally()
        result.merge(node)
        result.fields = {
            name: sort(
                node.fields[name],
                frozenset(
                    (*pattern, step)
                    for pattern in patterns
                    for step in (name, ANY_KEY)
                    if (*pattern, step) in rank
                ),
            )
            for name in sorted(node.fields, key=place)
        }
        return result

    return sort(tally, frozenset({()}))
