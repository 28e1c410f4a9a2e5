"""The HTML page of a difference: what regressed first, and values before and after."""

from collections import Counter
from typing import Final

from stickler_cli.core.figures import visible
from stickler_cli.reports.difference_view import MARKS, SHORT, DifferenceView, signed
from stickler_cli.reports.layout import TableStyle
from stickler_cli.reports.tables import metric_text
from stickler_cli.studies.diff.changed_values import Move
from stickler_cli.studies.diff.changes import Difference
from .change_charts import change_axis, ranked, slope_chart
from .filling import POLICY, filled

MOST_DOCUMENTS: Final = 200
"""Documents of each kind that the page of a difference names; the JSON report has all."""

MOST_VALUES: Final = 500
"""Values that changed that the page of a difference shows."""


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return a difference as an HTML page; ends with a line break."""
    view, values = DifferenceView(difference, visible), difference.values
    tone, verdict = view.verdict
    tones = {trend: tone if tone in {"good", "bad"} else "" for trend, (_, tone) in MARKS.items()}
    context: dict[str, object] = {
        "view": view,
        "policy": POLICY,
        "verdict": verdict,
        "tone": tone if tone in {"good", "bad"} else "open",
        "identity": [
            (
                what,
                f"{', '.join(map(visible, [run.source, *run.further]))} (stickler {run.version})",
            )
            for what, run in (("before", difference.base), ("after", difference.new))
        ]
        + [("schema", visible(difference.new.schema))],
        "told": [text for _, text in view.findings],
        "whole_axis": change_axis(view.whole),
        "field_axis": change_axis(difference.fields),
        "fields": ranked(difference.fields),
        "chart": slope_chart(view, tones),
        "values": values,
        "moves": Counter(it.move.value for it in values or ()).items(),
        "most_values": MOST_VALUES,
        "tones": {Move.BROKEN.value: "bad", Move.FIXED.value: "good", Move.OTHERWISE.value: ""},
        "documents": {
            f"Documents that got {what}": (found[:MOST_DOCUMENTS], len(found[MOST_DOCUMENTS:]))
            for what, found in (("worse", difference.worse), ("better", difference.better))
        },
        "signed": signed,
        "metric_text": metric_text,
        "short": SHORT,
        "marks": MARKS,
    }
    return filled("difference_page.html.j2", context)
