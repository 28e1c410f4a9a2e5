"""What lint found, as sections."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from stickler_cli.core.figures import number_of
from stickler_cli.core.sections import (
    INDENT,
    Block,
    Figure,
    Figures,
    Report,
    Section,
    Text,
    Tone,
    notes,
)
from .findings import SEVERITIES
from .record import FindingRecord, FoundRecord, LintRecord, Severity

_TONES: Final[dict[Severity, Tone]] = {"error": "bad", "warning": "warn", "note": "dim"}


class _Place(NamedTuple):
    """A row of files: one place of a finding."""

    rule: str
    severity: str
    field_path: str
    file: str
    line: int | None
    pointer: str | None
    found: str
    expected: str


_ROWS: Final = [Figure(name, name, int if name == "line" else str) for name in _Place._fields]


def report_of(record: LintRecord, most: int) -> Report:
    """Return findings as a report: what, where (so many places of each), and what to do."""
    found = Counter(finding.severity for finding in record.findings)
    counts = [number_of(found[severity], severity) for severity in SEVERITIES if found[severity]]
    head = f"{record.gt}: {number_of(record.documents, 'document')} of {record.schema}"
    sections = [
        Section(head, [Text(", ".join(counts) or "nothing found")]),
        *(Section("", [*_blocks(finding, most)]) for finding in record.findings),
        Section("", notes(record.notes)),
    ]
    rows = [
        _Place(
            it.rule,
            it.severity,
            it.field_path,
            place.file,
            place.line,
            place.pointer,
            place.found,
            place.expected,
        )
        for it in record.findings
        for place in it.places
    ]
    return Report(record, sections, Figures(_ROWS, rows))


def _blocks(finding: FindingRecord, most: int) -> Iterator[Block]:
    tone = _TONES[finding.severity]
    yield Text(f"{finding.severity}[{finding.rule}] {sentence(finding)}", lead=tone, indent=INDENT)
    shown = finding.places[:most]
    for place in shown:
        yield Text(f"{_where(place)} {found_text(place)}", indent=INDENT, margin=INDENT)
    if finding.count > len(shown):
        yield Text(f"and {finding.count - len(shown)} more", "dim", margin=INDENT)
    yield Text(f"-> {finding.advice}", "dim", INDENT, INDENT)


def sentence(finding: FindingRecord) -> str:
    """Return what was found where, and how often."""
    field = f"{finding.field_path}: " if finding.field_path else ""
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    return f"{field}{finding.means}{times}"


def found_text(place: FoundRecord) -> str:
    """Return what is at one place, and what was expected."""
    expected = f", expected {place.expected}" if place.expected else ""
    return f"{place.found}{expected}"


def _where(place: FoundRecord) -> str:
    line = f":{place.line}" if place.line else ""
    return " ".join(filter(None, (f"{place.file}{line}", place.pointer or "")))
