"""What lint found, in words and as JSON."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from stickler_cli.advice.findings import RULES, SEVERITIES, Finding, Severity
from stickler_cli.advice.linting import LintReport
from stickler_cli.core.figures import number_of
from stickler_cli.core.problems import Problem
from stickler_cli.core.sections import INDENT, Block, Text, Tone, notes
from .layout import TableStyle, draw

_TONES: Final[dict[Severity, Tone]] = {"error": "bad", "warning": "warn", "note": "dim"}


def render_lint(report: LintReport, style: TableStyle) -> str:
    """Return findings as text: what, where, and what to do; ends with a line break."""
    found = Counter(finding.severity for finding in report.findings)
    counts = [number_of(found[severity], severity) for severity in SEVERITIES if found[severity]]
    head = f"{report.gt}: {number_of(report.documents, 'document')} of {report.schema}"
    sections: list[list[Block]] = [
        [Text(head, "title"), Text(", ".join(counts) or "nothing found")],
        *([*_blocks(finding, style.places)] for finding in report.findings),
        notes(report.notes),
    ]
    return draw(sections, style)


def _blocks(finding: Finding, most: int) -> Iterator[Block]:
    tone = _TONES[finding.severity]
    yield Text(f"{finding.severity}[{finding.rule}] {sentence(finding)}", lead=tone, indent=INDENT)
    shown = finding.problems[:most]
    for problem in shown:
        yield Text(f"{_place(problem)} {found_text(problem)}", indent=INDENT, margin=INDENT)
    if finding.count > len(shown):
        yield Text(f"and {finding.count - len(shown)} more", "dim", margin=INDENT)
    yield Text(f"-> {RULES[finding.rule].advice}", "dim", INDENT, INDENT)


def sentence(finding: Finding) -> str:
    """Return what was found where, and how often."""
    field = f"{finding.field}: " if finding.field else ""
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    return f"{field}{RULES[finding.rule].means}{times}"


def found_text(problem: Problem) -> str:
    """Return what is at one place, and what was expected."""
    expected = f", expected {problem.expected}" if problem.expected else ""
    return f"{problem.found}{expected}"


def _place(problem: Problem) -> str:
    line = f":{problem.line}" if problem.line else ""
    return " ".join(filter(None, (f"{problem.source}{line}", problem.pointer or "")))
