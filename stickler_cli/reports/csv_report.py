"""One row per figure for spreadsheets and data frames; no cell is taken for a formula."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from stickler_cli.core.locations import field_path
from stickler_cli.diff.changes import Change, Difference
from stickler_cli.score.conditions import FieldInfo
from stickler_cli.score.counts import BOUNDS, RATES, RateRule
from stickler_cli.score.error_classes import ErrorClass
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.record import Run
from stickler_cli.score.results import Results
from stickler_cli.score.tally import COUNTING_MODES
from .layout import TableStyle
from .rows import FieldRow, Figures, figures_of, named_rows

COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn")

HEADERS: Final = (
    *("field", "kind", "comparator", "threshold", "weight"),
    *(f"{mode}_{name}" for mode in COUNTING_MODES for name in (*COUNTS, *RATES)),
    *("raw_similarity_score", "threshold_applied_score"),
    *(f"class_{each.value}" for each in ErrorClass),
    *("by", "group"),
    *(f"{mode}_{name}_{end}" for mode in COUNTING_MODES for name in RATES for end in BOUNDS),
    *(f"threshold_applied_score_{end}" for end in BOUNDS),
)
"""The columns of a run; docs/results.md describes each."""

DOCUMENT: Final = "document"
"""The kind of the first row, which is about whole documents and has no field."""

DIFFERENCE_HEADERS: Final = (
    *("field", "mode", "metric", "before", "after", "change", "change_lower", "change_upper"),
    *("p", "corrected_p", "trend", "decided_by", "documents", "differing", "broken", "fixed"),
)
"""The columns of a difference; docs/diff.md describes each."""

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - the fullwidth forms too
"""What a spreadsheet may take for a formula. Source: OWASP, CSV Injection."""

Cell = str | int | float | None
Row = tuple[Cell, ...]


def render_run(run: Run, style: TableStyle) -> str:
    """Return a row for the whole, then one for each field; lines end with a line feed."""
    return _text(HEADERS, run_rows(run.evaluation, run.fields, run.rule))


def render_difference(difference: Difference, style: TableStyle) -> str:
    """Return the rows of whole documents, then one for each field."""
    rows = [
        [field_path(change.path), *(_attribute(change, name) for name in DIFFERENCE_HEADERS[1:])]
        for change in (*difference.whole, *difference.fields)
    ]
    return _text(DIFFERENCE_HEADERS, rows)


def _attribute(change: Change, name: str) -> object:
    if name.startswith("change_"):
        return getattr(change.interval, name.removeprefix("change_"), None)
    return getattr(change, name)


def run_rows(evaluation: Evaluation, fields: Sequence[FieldInfo], rule: RateRule) -> list[Row]:
    """Return the rows of all documents, then those of each group, with a cell for each header."""
    rows = _rows(evaluation, fields, rule, ("", ""))
    for key, groups in evaluation.by.items():
        for name, group in sorted(groups.items()):
            rows += _rows(group, fields, rule, (key, name))
    return rows


def _rows(
    results: Results, described: Sequence[FieldInfo], rule: RateRule, group: tuple[str, str]
) -> list[Row]:
    tally, errors, rows = results.tally, results.errors, []
    whole = FieldRow((), DOCUMENT, "", None, None, tally, figures_of(tally, rule))
    for row in (whole, *named_rows(tally, described, rule)):
        path, scores = field_path(row.path), (row.tally.mean_raw, row.score)
        numbers = (None if it is None else float(it) for it in (row.threshold, row.weight))
        classes: Mapping[ErrorClass, int] = errors.fields.get(row.path) or {}
        if row is whole:
            scores, classes = (results.overall_score,) * 2, errors.overall()
        about = (_harmless(path), row.kind, row.comparator, *numbers, *_counts(row.figures, rule))
        told = (classes.get(each, 0) for each in ErrorClass)
        rows.append((*about, *scores, *told, *group, *_bounds(results, path, rule)))
    return rows


def _counts(figures: Mapping[str, Figures], rule: RateRule) -> list[Cell]:
    cells: list[Cell] = []
    for mode in COUNTING_MODES:
        counts = figures[mode].counts
        cells += [getattr(counts, name) for name in COUNTS]
        parts = rule.fractions(counts)
        cells += [above / below if below else 0.0 for above, below in parts.values()]
    return cells


def _bounds(results: Results, path: str, rule: RateRule) -> list[Cell]:
    """Return both ends of every interval; None where there is none."""
    found = results.intervals(rule, path)
    rates = [found and found.rates[mode][name] for mode in COUNTING_MODES for name in RATES]
    intervals = (*rates, found and found.score)
    return [getattr(interval, end, None) for interval in intervals for end in BOUNDS]


def _text(headers: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in (headers, *rows))
    return text.getvalue()


def _cell(value: object) -> object:
    """Return text that looks like a formula behind an apostrophe, and lone surrogates spelt out."""
    if not isinstance(value, str):
        return value
    text = _harmless(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _harmless(text: str) -> str:
    """Return text without lone surrogates, which no data frame and no file holds."""
    return text.encode("utf-8", "backslashreplace").decode()
