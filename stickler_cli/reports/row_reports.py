"""The figures of fields as rows for spreadsheets and data frames.

There is a row for whole documents, and a row for each field. A tidy row has the counts and rates of
one counting mode. A wide row has the counts and rates of every counting mode, and the number of
errors in each error class.
"""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import FigureColumn, Figures, Report
from stickler_cli.records.account_format import table_of_errors
from stickler_cli.records.row_files import (
    CellValues,
    ColumnTypes,
    harmless,
    lines_as_rows,
    row_bytes,
)
from stickler_cli.score.confidence.confidences import ConfidenceUnits
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.evaluation import Evaluation, Results
from stickler_cli.score.intervals import FieldIntervals, IntervalSettings
from stickler_cli.score.record import Run
from stickler_cli.score.sums import BOUNDS, COUNTING_MODES, EXACT_METRICS, RATES, RateRule
from stickler_cli.studies.diff.record import Difference
from .difference_sections import DifferenceView
from .error_list import ErrorList
from .layout import TableStyle
from .view import FieldRow, named_rows

COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn")

_ABOUT: Final[ColumnTypes] = {
    **dict.fromkeys(("field", "kind", "comparator"), str),
    **dict.fromkeys(("threshold", "weight"), float),
}

TIDY: Final[ColumnTypes] = {
    **_ABOUT,
    **dict.fromkeys(("documents", "tp", "fd", "fa", "fn", "tn"), int),
    **dict.fromkeys(("precision", "recall", "f1", "f1_lower", "f1_upper"), float),
    **dict.fromkeys(("whole", "items"), int),
    **dict.fromkeys(EXACT_METRICS, float),
    **dict.fromkeys(("score", "score_lower", "score_upper"), float),
    **dict.fromkeys(("auroc", "ece", "brier"), float),
    **dict.fromkeys(("by", "group"), str),
}
"""Columns of tidy rows, with figures in the counting mode of the run. docs/results.md describes
them."""

WIDE: Final[ColumnTypes] = {
    **_ABOUT,
    **{
        f"{mode}_{name}": int if name in COUNTS else float
        for mode in COUNTING_MODES
        for name in (*COUNTS, *RATES)
    },
    **dict.fromkeys(("raw_similarity_score", "threshold_applied_score", *EXACT_METRICS), float),
    **{f"class_{each.value}": int for each in ErrorClass},
    **dict.fromkeys(("by", "group"), str),
    **{
        f"{mode}_{name}_{end}": float for mode in COUNTING_MODES for name in RATES for end in BOUNDS
    },
    **{f"threshold_applied_score_{end}": float for end in BOUNDS},
}
"""Columns of wide rows (`--csv wide`), with figures in every counting mode. docs/results.md
describes them."""

PIECE: Final = 1 << 20  # bytes of encoded errors that are collected in memory

DOCUMENT: Final = "document"
"""Text in the column `kind` of the first row, which is about whole documents."""

CHANGES: Final = (
    FigureColumn("field", lambda change: field_path(change.field), str),
    *(FigureColumn(name, name, str) for name in ("mode", "metric")),
    *(FigureColumn(name, name) for name in ("before", "after", "change")),
    FigureColumn("change interval", lambda change: change.interval, list),
    *(FigureColumn(name, name) for name in ("p", "corrected_p")),
    *(FigureColumn(name, name, str) for name in ("trend", "decided_by")),
    *(FigureColumn(name, name, int) for name in ("documents", "differing", "broken", "fixed")),
)
"""Columns of the rows that report the difference between two runs. docs/diff.md describes them."""


def rows_written(
    format_name: str, subject: Run | Difference | ErrorList | Report, style: TableStyle
) -> Iterator[bytes]:
    """Yield the bytes of a report that consists of rows, in a format such as CSV.

    A study without rows yields nothing.
    """
    match subject:
        case ErrorList():
            yield from _errors_written(format_name, subject, in_log=style.in_log)
        case Run():
            rows = run_rows(subject.evaluation, subject.fields, subject.rule, wide=style.wide)
            yield row_bytes(format_name, WIDE if style.wide else TIDY, rows, in_log=style.in_log)
        case Report():
            if subject.rows is not None:
                yield row_bytes(format_name, *rows_of(subject.rows), in_log=style.in_log)
        case _:
            changes = (*DifferenceView(subject).whole, *subject.fields, *subject.exact_items)
            yield row_bytes(format_name, *rows_of(Figures(CHANGES, changes)), in_log=style.in_log)


def rows_of(figures: Figures) -> tuple[ColumnTypes, list[CellValues]]:
    """Return the columns of a table of figures, and its rows with typed values."""
    columns: dict[str, type] = {}
    for figure in figures.figures:
        if figure.kind is list:
            name = figure.name.removesuffix("_interval").removesuffix("interval")
            columns |= {f"{name}_{end}".removeprefix("_"): float for end in BOUNDS}
        else:
            columns[figure.name] = figure.kind
    rows: list[CellValues] = []
    for row in figures.rows:
        cells: list[Any] = []
        for figure in figures.figures:
            cell: Any = figure.cell(row)
            cells += ([None, None] if cell is None else cell) if figure.kind is list else [cell]
        rows.append(cells)
    return columns, rows


def run_rows(
    evaluation: Evaluation,
    fields: Sequence[FieldInfo],
    rule: RateRule,
    *,
    wide: bool,
    settings: IntervalSettings | None = None,
) -> list[CellValues]:
    """Return the rows of all documents together, then those of each group of documents.

    Each row has a cell for every column. Undefined figures are None. `settings` are the settings of
    the confidence intervals. If `settings` is None, the settings of the run are used.
    """
    groups: list[tuple[str, str, Results]] = [("", "", evaluation)]
    for key, groups_of_key in evaluation.by.items():
        groups += ((key, name, group) for name, group in sorted(groups_of_key.items()))
    return [
        row
        for key, name, results in groups
        for row in _figure_rows(
            results, fields, rule, (key, harmless(name)), wide=wide, settings=settings
        )
    ]


def _figure_rows(  # noqa: PLR0913 - all of them are needed
    results: Results,
    fields: Sequence[FieldInfo],
    rule: RateRule,
    group: tuple[str, str],
    *,
    wide: bool,
    settings: IntervalSettings | None,
) -> Iterator[CellValues]:
    """Yield the rows of one group of documents, or of all documents.

    The first row is about whole documents.
    """
    total_row = FieldRow(
        path=(),
        kind=DOCUMENT,
        comparator="",
        threshold=None,
        weight=None,
        tally=results.tally,
        rule=rule,
    )
    by_field = {} if wide else results.confidences.by_field()
    for row in (total_row, *named_rows(results.sums, fields, rule)):
        path = field_path(row.path)
        numbers = (
            None if number is None else float(number) for number in (row.threshold, row.weight)
        )
        description = harmless(path), row.kind, row.comparator, *numbers
        intervals = results.intervals(rule, path, settings)
        cells = (
            _wide(results, row, group, intervals)
            if wide
            else _make_tidy_rows(results, row, by_field.get(path), intervals)
        )
        yield (*description, *cells) if wide else (*description, *cells, *group)


def _make_tidy_rows(
    results: Results, row: FieldRow, units: ConfidenceUnits | None, intervals: FieldIntervals | None
) -> CellValues:
    f1 = intervals.rates[row.rule.counting]["f1"] if intervals else None
    score = intervals.score if intervals else None
    items: CellValues = (
        (row.tally.n_exact_items, row.tally.n_items) if row.tally.n_items else (None, None)
    )
    mean_score = row.score
    if not row.path:
        items, mean_score = (results.wholly_right.right, results.evaluated), results.overall_score
    counts_and_rates = *row.counts, *row.rates, *_split_bounds(f1)
    exact = row.tally.exact_rates
    return (
        results.evaluated,
        *counts_and_rates,
        *items,
        *exact,
        mean_score,
        *_split_bounds(score),
        *_trust_cells(units),
    )


def _trust_cells(units: ConfidenceUnits | None) -> CellValues:
    """Return three cells on the confidences: AUROC, ECE and Brier score.

    A cell is None if its figure is undefined.
    """
    if units is None or not len(units.is_right):
        return (None, None, None)
    reliability = units.reliability()
    figures = (float(value[0]) for value in (reliability.auroc, reliability.ece, reliability.brier))
    return tuple(None if math.isnan(value) else value for value in figures)


def _wide(
    results: Results,
    row: FieldRow,
    group: tuple[str, str],
    intervals: FieldIntervals | None,
) -> CellValues:
    scores = row.tally.mean_similarity, row.score
    classes: Mapping[ErrorClass, int] = results.errors.of_field(row.path)
    if not row.path:
        scores, classes = (results.overall_score,) * 2, results.errors.overall()
    rates = [intervals and intervals.rates[mode][name] for mode in COUNTING_MODES for name in RATES]
    count_cells: list[JsonValue] = []
    for mode in COUNTING_MODES:
        counts = row.tally.counts(mode)
        fractions = row.rule.rate_fractions(counts).values()
        count_cells += (getattr(counts, name) for name in COUNTS)
        count_cells += (dividend / divisor if divisor else None for dividend, divisor in fractions)
    return (
        *count_cells,
        *scores,
        *row.tally.exact_rates,
        *(classes.get(error_class, 0) for error_class in ErrorClass),
        *group,
        *(
            end
            for interval in (*rates, intervals and intervals.score)
            for end in _split_bounds(interval)
        ),
    )


def _split_bounds(interval: object) -> list[float | None]:
    """Return the lower and upper bound of an interval; both are None if there is no interval."""
    return [getattr(interval, end, None) for end in BOUNDS]


def _errors_written(format_name: str, errors: ErrorList, *, in_log: bool) -> Iterator[bytes]:
    """Yield a table of errors in a row format such as CSV, as pieces of bytes.

    The table has the same columns as the files of `--non-matches`.
    """
    stream = io.BytesIO()
    with lines_as_rows(stream, format_name, table_of_errors, in_log=in_log) as rows:
        for line in errors.lines:
            rows.write(line + b"\n")
            # The end of a Parquet file has byte offsets from its beginning.
            if stream.tell() > PIECE and format_name != "parquet":
                yield stream.getvalue()
                stream.seek(0)
                stream.truncate()
    yield stream.getvalue()
