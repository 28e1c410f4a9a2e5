"""One pass over the ground truth, chunk by chunk, and what there is to find in it."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from stickler_cli import __version__
from stickler_cli.compare.wrappers import Unwrapper
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.core.values import dataclass
from stickler_cli.documents.document import LineReference, Reference
from stickler_cli.documents.lines import ONE
from stickler_cli.documents.reading import of_kinds
from stickler_cli.documents.shapes import Shape, root_steps
from stickler_cli.documents.single import open_documents
from stickler_cli.documents.sources import ONE_FILE
from stickler_cli.records.advice_format import FindingRecord, LintRecord
from stickler_cli.runs.limits import room_for_depth
from stickler_cli.runs.unwrapping import unwrapper_of
from stickler_cli.schema.loading import LoadedSchema
from stickler_cli.settings.of_schemas import LintSettings
from .copies import Copies
from .document_rules import DocumentRules
from .document_values import values_of
from .field_values import FieldValues
from .findings import RULES, Document, Finding, Findings
from .schema_rules import judge_schema

DOCUMENTS_AT_ONCE: Final = 256
BYTES_AT_ONCE: Final = 4_000_000  # of text; parsed it takes some ten times as much


@dataclass(frozen=True, slots=True)
class LintReport:
    """What there is to say of a schema and a ground truth."""

    schema: str
    gt: str
    documents: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    """What was left out, and what is odd about the source as a whole."""

    def record(self) -> LintRecord:
        """Return what was found as JSON values."""
        return {
            "format": "stickler-lint/1",
            "version": __version__,
            "schema": self.schema,
            "gt": self.gt,
            "documents": self.documents,
            "findings": [_finding_record(finding) for finding in self.findings],
            "notes": [*self.notes],
        }


def _finding_record(finding: Finding) -> FindingRecord:
    rule = RULES[finding.rule]
    return {
        "rule": finding.rule,
        "severity": rule.severity,
        "field_path": finding.field,
        "means": rule.means,
        "advice": rule.advice,
        "count": finding.count,
        "places": [
            {
                "file": problem.source,
                "line": problem.line,
                "pointer": problem.pointer,
                "found": problem.found,
                "expected": problem.expected,
            }
            for problem in finding.problems
        ],
    }


def lint(loaded: LoadedSchema, gt: str, settings: LintSettings) -> LintReport:
    """Look for what is wrong in a schema and the ground truth that it describes.

    Raises:
        UsageError: the source of documents cannot be used, or an option.
    """
    source, findings = open_documents(gt, settings), Findings(loaded)
    unwrapper = unwrapper_of(loaded.plan.root, settings)
    shape = Shape(gt_root=root_steps(settings.gt_root), kinds=(loaded.plan.kind,))
    reader = _Reader(findings, unwrapper, shape)
    judge_schema(loaded, findings)
    rules, fields, copies = DocumentRules(loaded, findings), FieldValues(loaded, findings), Copies()
    count = 0
    references = (reference for _, reference in source.refs)
    with room_for_depth():
        while chunk := list(reader.chunk(references)):
            count += len(chunk)
            documents = [document for document in chunk if document is not None]
            for document in documents:
                values = [*values_of(document.value)]
                rules.look_at(document, values)
                copies.add(document, values, findings)
            fields.look_at(documents)
    notes = (*map(str, source.problems), *rules.conclude(), *fields.conclude())
    notes += copies.conclude(findings)
    return LintReport(loaded.path, gt, count, findings.result(), notes)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads documents as a run does, and tells what is wrong with them as a whole."""

    findings: Findings
    unwrapper: Unwrapper | None
    shape: Shape

    def chunk(self, references: Iterator[Reference]) -> Iterator[Document | None]:
        """Yield the documents of the next chunk; None for one that cannot be used."""
        size = 0
        for reference in islice(references, DOCUMENTS_AT_ONCE):
            yield self._read(reference)
            size += getattr(reference, "size", 0)
            if size >= BYTES_AT_ONCE:
                return

    def _read(self, reference: Reference) -> Document | None:
        reading = self.shape.read(reference, "gt")
        if isinstance(reference, LineReference):
            reference = reference._replace(data=None)  # places are kept, lines are not
        value = reading.value
        if isinstance(value, dict | list) and self.unwrapper is not None:
            value = of_kinds(
                self.unwrapper(value).value, self.shape.kinds, reference.source, reference.line
            )
        spot = Document(reference, {}).spot()
        for warning in reading.warnings:
            self.findings.take("duplicate-key", spot, warning)
        if isinstance(value, dict | list):
            return Document(reference, value, json_pointer(self.shape.gt_root))
        if isinstance(value, Problem):
            twice = value.expected in {*ONE.values(), ONE_FILE}
            self.findings.take("duplicate-id" if twice else "unusable-document", spot, value)
        return None
