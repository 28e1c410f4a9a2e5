"""Findings of lint as sections."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

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


def _figure(name: str, side: int) -> Figure:
    return Figure(name, lambda row: getattr(row[side], name), int if name == "line" else str)


# A row of files is a finding and one of its places.
_ROWS: Final = (
    *(_figure(name, 0) for name in ("rule", "severity", "field")),
    *(_figure(name, 1) for name in ("file", "line", "pointer", "found", "expected")),
)


def report_of(record: LintRecord, most: int) -> Report:
    """Return findings as a report: what, where (so many places of each), and advice."""
    found = Counter(finding.severity for finding in record.findings)
    counts = [number_of(found[severity], severity) for severity in SEVERITIES if found[severity]]
    of = ", schema" if record.schema.startswith("inferred from ") else " of"
    head = f"{record.gt}: {number_of(record.documents, 'document')}{of} {record.schema}"
    sections = [
        Section(head, [Text(", ".join(counts) or "nothing found")]),
        *(Section("", [*_blocks(finding, most)]) for finding in record.findings),
        Section("", notes(record.notes)),
    ]
    rows = [(finding, place) for finding in record.findings for place in finding.places]
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
    """Return a finding as a sentence, with how often it was found."""
    field = f"{finding.field}: " if finding.field else ""
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    return f"{field}{finding.means}{times}"


def found_text(place: FoundRecord) -> str:
    """Return the value at one place, and the one expected."""
    expected = f", expected {place.expected}" if place.expected else ""
    return f"{place.found}{expected}"


def _where(place: FoundRecord) -> str:
    line = f":{place.line}" if place.line else ""
    return " ".join(filter(None, (f"{place.file}{line}", place.pointer or "")))
