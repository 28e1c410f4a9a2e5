"""How judges agree with people, as sections."""

from typing import Final

from stickler_cli.core.figures import number_of, rate
from stickler_cli.core.sections import INDENT, Figure, Figures, Report, Section, Text, notes
from .record import Disagreement, JudgeReport

SHOWN: Final = 10
"""Disagreements that are shown; JSON has more."""

_FIGURES: Final = (
    Figure("field", "field", str, shown=lambda it: it.field or "all"),
    Figure("model", "model", str, 4, shown=lambda it: it.model if it.field else ""),
    Figure("pairs", "pairs", int, 1),
    Figure("agreement", "agreement", rank=2),
    Figure("interval", "agreement_interval", list, 3),
    Figure("kappa", "kappa"),
    Figure(
        "false accepts",
        "false_accepts",
        int,
        shown=lambda it: f"{it.false_accepts}/{it.pairs - it.same}",
    ),
    Figure("interval", "false_accept_interval", list, 3),
    Figure(
        "false rejects", "false_rejects", int, 2, shown=lambda it: f"{it.false_rejects}/{it.same}"
    ),
    Figure("failed", "failed", int, 1),
)
_SAID: Final = {
    "false_accept": "match, but are different",
    "false_reject": "do not match, but are the same",
    "failed": "have no verdict",
}


def report_of(record: JudgeReport) -> Report:
    """Return how judges agree with people as a report."""
    head = f"{record.model_name} ({record.schema}), {number_of(record.total.pairs, 'judged pair')}"
    rows = [*record.fields, *([record.total] if len(record.fields) > 1 else [])]
    usage = [Text(f"models: {record.usage}", indent=INDENT)] if record.usage else []
    table = Figures(_FIGURES, rows)
    sections = [
        Section(head, [Text(_verdict(record))]),
        Section("", [table]),
        _disagreements(record.disagreements),
        Section("", usage),
        Section("", notes(record.notes)),
    ]
    return Report(record, sections, table)


def _verdict(record: JudgeReport) -> str:
    total = record.total
    different = total.pairs - total.same
    return (
        f"agrees with people on {rate(total.agreement)} of pairs, kappa {rate(total.kappa)}; "
        f"accepts {total.false_accepts} of {different} that differ, "
        f"rejects {total.false_rejects} of {total.same} that are the same"
    )


def _disagreements(found: list[Disagreement]) -> Section:
    lines = []
    for it in found[:SHOWN]:
        told = f"{it.field}: {it.gt} and {it.pred} {_SAID[it.kind]}"
        lines.append(Text(told, indent=INDENT, margin=INDENT))
        if it.reason:
            lines.append(Text(it.reason, "dim", margin=2 * INDENT))
    if len(found) > SHOWN:
        lines.append(Text(f"and {len(found) - SHOWN} more, which JSON has", "dim"))
    return Section("disagreements" if found else "", lines)
