"""A difference as an HTML page: one file, no script, nothing to load, light and dark."""

from typing import Final

from stickler_cli.diff.changes import Difference, Trend
from stickler_cli.reports.difference_view import SHORT, DifferenceView, signed
from stickler_cli.reports.figures import visible
from stickler_cli.reports.html.page import fill
from stickler_cli.reports.layout import TableStyle

MOST_DOCUMENTS: Final = 200
"""Documents of each kind that the page names; the JSON report has all."""

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Source: Content Security Policy Level 3, https://www.w3.org/TR/CSP3/. There is no script."""


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as an HTML page; ends with a line break."""
    view = DifferenceView(difference, visible)
    context: dict[str, object] = {
        "view": view,
        "policy": POLICY,
        "told": [text for _, text in view.fields_with(Trend.REGRESSED, Trend.IMPROVED)],
        "gates": difference.gates,
        "documents": [
            (f"Documents that got {what}", found[:MOST_DOCUMENTS], len(found[MOST_DOCUMENTS:]))
            for what, found in (("worse", difference.worse), ("better", difference.better))
        ],
        "signed": signed,
        "short": SHORT,
    }
    return fill("difference_page.html.j2", context)
