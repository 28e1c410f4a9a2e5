"""A row for each figure in both runs, for spreadsheets and data frames."""

import csv
import io
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Change, Difference
from stickler_cli.reports.csv_report import cell
from stickler_cli.reports.style import TableStyle

HEADERS: Final = (
    *("field", "reading", "metric", "before", "after", "change", "change_lower", "change_upper"),
    *("p", "corrected_p", "verdict", "decided_by", "documents", "differing", "broken", "fixed"),
)
"""The columns; docs/diff.md describes each."""


def render(difference: Difference, style: TableStyle) -> str:
    """Write the rows of whole documents, then one for each field; lines end with a line feed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADERS)
    for change in (*difference.whole, *difference.fields):
        writer.writerow([cell(value) for value in _row(change)])
    return text.getvalue()


def _row(change: Change) -> tuple[object, ...]:
    interval = change.interval
    return (
        *(field_path(change.path), change.reading, change.metric),
        *(change.before, change.after, change.change),
        *((interval.lower, interval.upper) if interval else (None, None)),
        *(change.p, change.corrected_p, change.verdict.value, change.decided_by.value),
        *(change.documents, change.differing, change.broken, change.fixed),
    )
