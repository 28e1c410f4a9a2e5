"""A difference as JUnit XML: a test case for each gate, for the documents, and for each field.

Red in the report is red in the exit code, and nothing else is: a field that regressed fails where
a gate on it fails.
"""

from collections.abc import Mapping
from typing import Final

from stickler_cli import __version__
from stickler_cli.core.locations import Path, field_path
from stickler_cli.diff.changes import Change, Difference, Verdict
from stickler_cli.reports.difference.summary import (
    differences,
    document_text,
    fields_with,
    headline,
    told,
    verdict_line,
    worse_documents,
)
from stickler_cli.reports.junit_xml import Case, Suite, junit_text
from stickler_cli.reports.style import TableStyle
from stickler_cli.score.gates import METRICS, GateResult

GATES: Final = "stickler.diff.gates"
FIELDS: Final = "stickler.diff.fields"
DOCUMENTS: Final = "stickler.diff.documents"
"""The classes of the cases, by which CI servers group them."""


def render(difference: Difference, style: TableStyle) -> str:
    """Write a difference as JUnit XML; there is always at least one case."""
    cases = [
        *(
            Case(GATES, result.gate.text, "passed" if result.passed else "failure", result.reason)
            for result in difference.gates
        ),
        Case(DOCUMENTS, "documents", message=headline(difference), detail=_detail(difference)),
    ]
    if style.junit_fields:
        gates: dict[Path, list[GateResult]] = {}
        for result in difference.gates:
            if result.gate.metric in METRICS:  # and not a count of documents
                gates.setdefault(result.gate.path, []).append(result)
        cases += [
            _field(difference, change, gates.get(change.path, [])) for change in difference.fields
        ]
    return junit_text(Suite("stickler diff", cases, _properties(difference)))


def _detail(difference: Difference) -> list[str]:
    """Give what a person wants to know besides the headline, a line each."""
    return [
        *(text for _, text in differences(difference)),
        verdict_line(difference),
        *fields_with(difference, Verdict.REGRESSED),
        *(
            f"worse: {document.id}: {document_text(document)}"
            for document in worse_documents(difference)[0]
        ),
    ]


def _field(difference: Difference, change: Change, gates: list[GateResult]) -> Case:
    name, text = field_path(change.path), told(difference, change)
    failed = [result.reason for result in gates if not result.passed]
    if failed:
        return Case(FIELDS, name, "failure", failed[0], [*failed[1:], text])
    if not change.documents:
        return Case(FIELDS, name, "skipped", "it had no value on either side", [text])
    return Case(FIELDS, name, message=text)


def _properties(difference: Difference) -> Mapping[str, str]:
    whole = difference.whole[0]
    figures: dict[str, object] = {
        "version": __version__,
        "base": difference.base.source,
        "new": difference.new.source,
        **{f"documents.{name}": count for name, count in difference.documents.items()},
        "f1.before": whole.before,
        "f1.after": whole.after,
        "f1.change": whole.change,
        "f1.p": whole.p,
        "f1.verdict": whole.verdict.value,
    }
    return {name: str(value) for name, value in figures.items() if value is not None}
