"""One row per field for spreadsheets and data frames; no cell is taken for a formula."""

import csv
import io
import re
from typing import Final

from stickler_cli.locations import field_path
from stickler_cli.metrics.counts import RATES
from stickler_cli.metrics.record import Run
from stickler_cli.metrics.tally import READINGS, Tally
from stickler_cli.reports.rows import named_rows
from stickler_cli.reports.style import TableStyle

COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn")

HEADERS: Final = (
    *("field", "kind", "comparator", "threshold", "weight"),
    *(f"{reading}_{name}" for reading in READINGS for name in (*COUNTS, *RATES)),
    *("raw_similarity_score", "threshold_applied_score"),
)
"""The columns; docs/results.md describes each."""

DOCUMENT: Final = "document"
"""The kind of the first row, which is about whole documents and has no field."""

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - the fullwidth forms too
"""What a spreadsheet may take for a formula. Source: OWASP, CSV Injection."""


def render(run: Run, style: TableStyle) -> str:
    """Write a row for the whole, then one for each field; lines end with a line feed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADERS)
    with_fd = run.options.recall_with_fd
    tally, score = run.evaluation.tally, run.evaluation.overall_score
    counts = _counts(tally, recall_with_fd=with_fd)
    writer.writerow(["", DOCUMENT, "", "", "", *counts, score, score])
    for row in named_rows(run):
        info = row.info
        about = (info.kind, info.comparator, info.threshold) if info else ("", "", None)
        counts = _counts(row.tally, recall_with_fd=with_fd)
        scores = (row.tally.mean_raw, row.tally.mean_score)
        cells = (field_path(row.path), *about, row.weight, *counts, *scores)
        writer.writerow([_cell(cell) for cell in cells])
    return text.getvalue()


def _counts(tally: Tally, *, recall_with_fd: bool) -> list[object]:
    """Give the counts and rates of the three readings."""
    cells: list[object] = []
    for reading in READINGS:
        counts = tally.counts(reading)
        cells += [getattr(counts, name) for name in COUNTS]
        cells += [counts.derived(recall_with_fd=recall_with_fd)[name] for name in RATES]
    return cells


def _cell(value: object) -> object:
    """Put an apostrophe before text that looks like a formula, and spell out lone surrogates."""
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()
    return f"'{text}" if _FORMULA.match(text) else text
