"""The HTML page of a study: its sections, whatever they are of."""

from stickler_cli.core.sections import (
    Block,
    Curve,
    Curves,
    Figures,
    Report,
    Section,
    Table,
    Text,
)
from stickler_cli.reports.layout import TableStyle
from .filling import POLICY, filled
from .trust_charts import CoverageChart, coverage_chart


def render_report(report: Report, style: TableStyle) -> str:
    """Return a report as an HTML page; ends with a line break."""
    head, *others = report.sections
    context: dict[str, object] = {
        "policy": POLICY,
        "title": head.title or _first(head),
        "head": [_part(block) for block in head.blocks if head.title or block != head.blocks[0]],
        "sections": [
            (section.title, [_part(block) for block in section.blocks])
            for section in others
            if section.title or section.blocks
        ],
    }
    return filled("report_page.html.j2", context)


def _first(section: Section) -> str:
    """Return the first sentence, which is the title where there is no other."""
    first = section.blocks[0]
    return first.text if isinstance(first, Text) else ""


def _part(block: Block | Figures | Curves) -> dict[str, object]:
    """Return a block as the template has it."""
    match block:
        case Figures():
            return {"table": block.table()}
        case Curves():
            return {
                "title": block.title,
                "curves": [_curve(it, block.level) for it in block.curves],
            }
        case Table():
            return {"table": block}
        case Text():
            return {"text": block.text, "tone": block.tone, "level": len(block.margin) // 2}
    return {"text": "".join(span.text for span in block), "tone": "", "level": 0}


def _curve(it: Curve, level: float) -> tuple[str, str, CoverageChart]:
    chosen = None if it.end is None else (it.passing, *it.end)
    points = [(passing, value) for passing, value in it.points]
    return it.name, it.said, coverage_chart(points, chosen, level)
