"""One row per field for spreadsheets and data frames; no cell is taken for a formula."""

import csv
import io
import re
from typing import Final

from stickler_cli.reports.style import TableStyle
from stickler_cli.score.frame import HEADERS, table
from stickler_cli.score.record import Run

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - the fullwidth forms too
"""What a spreadsheet may take for a formula. Source: OWASP, CSV Injection."""


def render(run: Run, style: TableStyle) -> str:
    """Write a row for the whole, then one for each field; lines end with a line feed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADERS)
    evaluation, with_fd = run.evaluation, run.options.recall_with_fd
    rows = table(evaluation, evaluation.by, run.fields, recall_with_fd=with_fd)
    writer.writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def cell(value: object) -> object:
    """Put an apostrophe before text that looks like a formula, and spell out lone surrogates."""
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if _FORMULA.match(text) else text
