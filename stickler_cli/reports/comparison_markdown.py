"""A comparison as Markdown, for a comment or a ticket about one document."""

from typing import Final

from stickler_cli.reports.comparison import ComparedPair, sum_text
from stickler_cli.reports.comparison_rows import TITLES, rows
from stickler_cli.reports.markdown import code, table
from stickler_cli.reports.style import TableStyle
from stickler_cli.score.rate_text import rate

_AS_CODE: Final = frozenset(("field", "gt", "pred", "difference"))
"""What comes from documents, and what is in brackets."""


def render(pair: ComparedPair, style: TableStyle) -> str:
    """Write a comparison as GitHub-flavoured Markdown; ends with a line break."""
    body = [
        [
            code(cell) if cell and (title in _AS_CODE or (written and title == "why")) else cell
            for title, cell in zip(TITLES, row.cells, strict=True)
        ]
        for row in rows(pair)
        for written in [row.place.reason]  # by a model, of what is in documents
    ]
    lines = [
        f"### {code(pair.document)} ({code(pair.model_name)})",
        "",
        f"overall score {rate(pair.overall_score)}: {sum_text(pair.root)}",
        "",
        *table(TITLES, body, texts=len(TITLES)),
    ]
    return "\n".join(lines) + "\n"
