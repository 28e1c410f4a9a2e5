"""A run as JUnit XML: a test case for each gate, for the documents, and, if asked for, each field.

Red in the report is red in the exit code, and nothing else is: a field fails where a gate on it
fails.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from stickler_cli import __version__
from stickler_cli.core.locations import Path, field_path
from stickler_cli.reports.figures import number_of, rates_of, setting
from stickler_cli.reports.junit_xml import Case, Suite, junit_text
from stickler_cli.reports.rows import FieldRow, field_rows
from stickler_cli.reports.style import TableStyle
from stickler_cli.reports.summary import gate_limits, headline, readings, worst_fields
from stickler_cli.score.gates import METRICS, GateResult
from stickler_cli.score.rate_text import rate
from stickler_cli.score.record import Run
from stickler_cli.score.terms import pattern_of
from stickler_cli.score.verdict import unfit_problems, verdict_of

GATES: Final = "stickler.gates"
FIELDS: Final = "stickler.fields"
DOCUMENTS: Final = "stickler.documents"
"""The classes of the cases, by which CI servers group them."""

MOST_DOCUMENTS: Final = 100
"""Cases of documents that could not be evaluated; servers show every case, and refuse files of
more than some megabytes."""


def render(run: Run, style: TableStyle) -> str:
    """Write a run as JUnit XML; there is always at least one case."""
    rows = field_rows(run)
    cases = [*_gates(run), *_documents(run, rows)]
    if style.junit_fields:
        cases += _fields(run, rows)
    return junit_text(Suite("stickler", cases, _properties(run)))


def _gates(run: Run) -> list[Case]:
    return [
        Case(GATES, result.gate.text, "passed" if result.passed else "failure", result.reason)
        for result in run.gates
    ]


def _documents(run: Run, rows: Iterable[FieldRow]) -> list[Case]:
    """Give an error for each document that could not be evaluated, or one case that passes."""
    by_document: dict[str, list[str]] = {}
    for entry in unfit_problems(run.evaluation, strict=run.options.strict):
        by_document.setdefault(entry.id, []).append(f"{entry.status.value}: {entry.problem}")
    cases = [
        Case(DOCUMENTS, document, "error", problems[0], problems[1:])
        for document, problems in by_document.items()
    ]
    more = len(cases) - MOST_DOCUMENTS
    if more > 0:
        told = f"{number_of(more, 'more document')}, all of them are in the JSON report"
        cases[MOST_DOCUMENTS:] = [Case(DOCUMENTS, "and more", "error", told)]
    if not cases and not run.evaluation.evaluated:
        return [Case(DOCUMENTS, "documents", "error", "no document was evaluated")]
    worst = worst_fields(run, list(rows))
    passed = Case(DOCUMENTS, "documents", message=headline(run), detail=[worst] if worst else [])
    return cases or [passed]


def _fields(run: Run, rows: Iterable[FieldRow]) -> list[Case]:
    known = {info.path: info for info in run.fields}
    gates: dict[Path, list[GateResult]] = {}
    for result in run.gates:
        if result.gate.metric in METRICS:  # and not a count of documents
            gates.setdefault(pattern_of(result.gate.path, known), []).append(result)
    return [_field(run, row, gates.get(row.path, [])) for row in rows]


def _field(run: Run, row: FieldRow, gates: list[GateResult]) -> Case:
    limits = gate_limits(run)
    with_fd = run.options.recall_with_fd
    counts = row.tally.counts("overall")
    rates = rates_of(counts, recall_with_fd=with_fd)
    leaves = rates_of(row.tally.counts("leaves"), recall_with_fd=with_fd).f1
    threshold = setting(row.info.threshold if row.info else None)
    shown = {
        "precision": rates.precision,
        "recall": rates.recall,
        "F1": rates.f1,
        "F1 of leaves": leaves,
        "mean score": row.tally.mean_score,
    }
    figures = [
        ", ".join(f"{title} {rate(value, limits)}" for title, value in shown.items()),
        f"TP {counts.tp}, FD {counts.fd}, FA {counts.fa}, FN {counts.fn}, TN {counts.tn}",
        f"{row.compared_by}, threshold {threshold}, weight {setting(row.weight)}",
    ]
    name = field_path(row.path)
    failed = [result.reason for result in gates if not result.passed]
    if failed:
        return Case(FIELDS, name, "failure", failed[0], [*failed[1:], *figures])
    if leaves is None and rates.f1 is None:
        return Case(FIELDS, name, "skipped", "it had no value on either side", figures)
    return Case(FIELDS, name, message=figures[0], detail=figures[1:])


def _properties(run: Run) -> Mapping[str, str]:
    """Give what the run was, and the figures of the whole, all digits of them."""
    evaluation = run.evaluation
    figures: dict[str, object] = {
        "version": __version__,
        "verdict": verdict_of(evaluation, run.gates, strict=run.options.strict).value,
        "schema": run.schema.path,
        "schema.digest": run.schema.digest,
        **{f"documents.{name}": count for name, count in evaluation.documents.items()},
        "score": evaluation.overall_score,
    }
    for reading, (counts, rates) in readings(run).items():
        by_name = {"precision": rates.precision, "recall": rates.recall, "f1": rates.f1}
        by_name |= {name: getattr(counts, name) for name in ("tp", "fd", "fa", "fn", "tn")}
        figures |= {f"{reading}.{name}": value for name, value in by_name.items()}
    return {name: str(value) for name, value in figures.items() if value is not None}
