"""How judges agree with people, as a table."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.figures import number_of, rate
from stickler_cli.core.sections import INDENT, Block, Column, Span, Table, Text, notes
from stickler_cli.records.judge_format import Disagreement, JudgeAccount, JudgeReport
from .layout import TableStyle, draw

SHOWN: Final = 10
"""Disagreements that are shown; JSON has more."""

_COLUMNS: Final = (
    Column("field", left=True),
    Column("model", 4, left=True),
    Column("pairs", 1),
    Column("agreement", 2),
    Column("interval", 3),
    Column("kappa"),
    Column("false accepts"),
    Column("interval", 3),
    Column("false rejects", 2),
    Column("failed", 1),
)
_SAID: Final = {
    "false_accept": "match, but are different",
    "false_reject": "do not match, but are the same",
    "failed": "have no verdict",
}


def render_judges(report: JudgeReport, style: TableStyle) -> str:
    """Return how judges agree with people; ends with a line break."""
    head = f"{report.model_name} ({report.schema}), {number_of(report.total.pairs, 'judged pair')}"
    rows = [*report.fields, *([report.total] if len(report.fields) > 1 else [])]
    sections: list[list[Block]] = [
        [Text(head, "title"), Text(_verdict(report))],
        [Table(_COLUMNS, [_row(row) for row in rows])],
        [*_disagreements(report.disagreements)],
        [Text(f"models: {report.usage}", indent=INDENT)] if report.usage else [],
        notes(report.notes),
    ]
    return draw([section for section in sections if section], style)


def _verdict(report: JudgeReport) -> str:
    total = report.total
    different = total.pairs - total.same
    return (
        f"agrees with people on {rate(total.agreement)} of pairs, kappa {rate(total.kappa)}; "
        f"accepts {total.false_accepts} of {different} that differ, "
        f"rejects {total.false_rejects} of {total.same} that are the same"
    )


def _row(it: JudgeAccount) -> list[Span]:
    cells = (
        it.field_path or "all",
        it.model if it.field_path else "",
        str(it.pairs),
        rate(it.agreement),
        _interval(it.agreement_interval),
        rate(it.kappa),
        f"{it.false_accepts}/{it.pairs - it.same}",
        _interval(it.false_accept_interval),
        f"{it.false_rejects}/{it.same}",
        str(it.failed),
    )
    return [Span.of(cell) for cell in cells]


def _interval(ends: list[float] | None) -> str:
    return "-" if ends is None else f"[{ends[0]:.4f}, {ends[1]:.4f}]"


def _disagreements(found: list[Disagreement]) -> Iterator[Block]:
    if found:
        yield Text("disagreements", "title")
    for it in found[:SHOWN]:
        told = f"{it.field_path}: {it.gt} and {it.pred} {_SAID[it.kind]}"
        yield Text(told, indent=INDENT, margin=INDENT)
        if it.reason:
            yield Text(it.reason, "dim", margin=2 * INDENT)
    if len(found) > SHOWN:
        yield Text(f"and {len(found) - SHOWN} more, which JSON has", "dim")
