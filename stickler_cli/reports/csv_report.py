"""One row per figure for spreadsheets and data frames; no cell is taken for a formula."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Change, Difference
from stickler_cli.reports.layout import TableStyle
from stickler_cli.score.frame import HEADERS, table
from stickler_cli.score.record import Run

DIFFERENCE_HEADERS: Final = (
    *("field", "reading", "metric", "before", "after", "change", "change_lower", "change_upper"),
    *("p", "corrected_p", "verdict", "decided_by", "documents", "differing", "broken", "fixed"),
)
"""The columns of a difference; docs/diff.md describes each."""

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - the fullwidth forms too
"""What a spreadsheet may take for a formula. Source: OWASP, CSV Injection."""


def render_run(run: Run, style: TableStyle) -> str:
    """Return a row for the whole, then one for each field; lines end with a line feed."""
    with_fd = run.rule.recall_with_fd
    rows = table(run.evaluation, run.evaluation.by, run.fields, recall_with_fd=with_fd)
    return _text(HEADERS, rows)


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return the rows of whole documents, then one for each field."""
    return _text(DIFFERENCE_HEADERS, map(_row, (*difference.whole, *difference.fields)))


def _row(change: Change) -> tuple[object, ...]:
    interval = change.interval
    return (
        *(field_path(change.path), change.mode, change.metric),
        *(change.before, change.after, change.change),
        *((interval.lower, interval.upper) if interval else (None, None)),
        *(change.p, change.corrected_p, change.trend.value, change.decided_by.value),
        *(change.documents, change.differing, change.broken, change.fixed),
    )


def _text(headers: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headers)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """Return text that looks like a formula behind an apostrophe, and lone surrogates spelt out."""
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if _FORMULA.match(text) else text
