"""The HTML page of a study: its sections, whatever they are of."""

from stickler_cli.core.sections import Block, Figures, Report, Table, Text
from stickler_cli.reports.layout import TableStyle
from .filling import POLICY, filled


def render_report(report: Report, style: TableStyle) -> str:
    """Return a report as an HTML page; ends with a line break."""
    head, *others = report.sections
    context: dict[str, object] = {
        "policy": POLICY,
        "title": head.title,
        "head": [_part(block) for block in head.blocks],
        "sections": [
            (section.title, [_part(block) for block in section.blocks])
            for section in others
            if section.title or section.blocks
        ],
    }
    return filled("report_page.html.j2", context)


def _part(block: Block | Figures) -> dict[str, object]:
    """Return a block as the template has it."""
    match block:
        case Figures():
            return {"table": block.table()}
        case Table():
            return {"table": block}
        case Text():
            return {"text": block.text, "tone": block.tone, "level": len(block.margin) // 2}
    return {"text": "".join(span.text for span in block), "tone": "", "level": 0}
