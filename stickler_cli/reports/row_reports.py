"""The figures of fields as rows, for spreadsheets and data frames: tidy, or all that there are."""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from stickler_cli.compare.result import FieldInfo
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.core.sections import Figures, Report
from stickler_cli.records.line_columns import columns_of_errors
from stickler_cli.records.row_files import Columns, Row, harmless, lines_as_rows, row_bytes
from stickler_cli.score.confidence.confidences import Units
from stickler_cli.score.counts import BOUNDS, RATES, RateRule
from stickler_cli.score.errors.error_classes import ErrorClass
from stickler_cli.score.evaluation import Evaluation
from stickler_cli.score.record import Run
from stickler_cli.score.results import Results
from stickler_cli.score.tally import COUNTING_MODES, Tally
from stickler_cli.studies.diff.record import Change, Difference
from .difference_view import DifferenceView
from .error_list import ErrorList
from .layout import TableStyle
from .view import FieldRow, named_rows

COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn")

_ABOUT: Final[Columns] = {
    **dict.fromkeys(("field", "kind", "comparator"), str),
    **dict.fromkeys(("threshold", "weight"), float),
}

TIDY: Final[Columns] = {
    **_ABOUT,
    **dict.fromkeys(("documents", "tp", "fd", "fa", "fn", "tn"), int),
    **dict.fromkeys(("precision", "recall", "f1", "f1_lower", "f1_upper"), float),
    **dict.fromkeys(("whole", "items"), int),
    **dict.fromkeys(("score", "score_lower", "score_upper"), float),
    **dict.fromkeys(("auroc", "ece", "brier"), float),
    **dict.fromkeys(("by", "group"), str),
}
"""The columns of a run, a figure that a person would chart in each; docs/results.md has them."""

WIDE: Final[Columns] = {
    **_ABOUT,
    **{
        f"{mode}_{name}": int if name in COUNTS else float
        for mode in COUNTING_MODES
        for name in (*COUNTS, *RATES)
    },
    **dict.fromkeys(("raw_similarity_score", "threshold_applied_score"), float),
    **{f"class_{each.value}": int for each in ErrorClass},
    **dict.fromkeys(("by", "group"), str),
    **{
        f"{mode}_{name}_{end}": float for mode in COUNTING_MODES for name in RATES for end in BOUNDS
    },
    **{f"threshold_applied_score_{end}": float for end in BOUNDS},
}
"""All columns of a run, with `--csv wide`."""

PIECE: Final = 1 << 20
"""Bytes of errors that are in memory at once as a file has them."""

DOCUMENT: Final = "document"
"""The kind of the first row, which is about whole documents and has no field."""

DIFFERENCE: Final[Columns] = {
    **dict.fromkeys(("field", "mode", "metric"), str),
    **dict.fromkeys(("before", "after", "change", "change_lower", "change_upper"), float),
    **dict.fromkeys(("p", "corrected_p"), float),
    **dict.fromkeys(("trend", "decided_by"), str),
    **dict.fromkeys(("documents", "differing", "broken", "fixed"), int),
}
"""The columns of a difference; docs/diff.md describes each."""


def written(
    format_name: str, subject: Run | Difference | ErrorList | Report, style: TableStyle
) -> Iterator[bytes]:
    """Yield the rows of a subject as a file of a format has them; of few studies there are any."""
    match subject:
        case ErrorList():
            yield from _errors_written(format_name, subject)
        case Run():
            rows = run_rows(subject.evaluation, subject.fields, subject.rule, wide=style.wide)
            yield row_bytes(format_name, WIDE if style.wide else TIDY, rows)
        case Report():
            if subject.rows is not None:
                yield row_bytes(format_name, *_rows_of(subject.rows))
        case _:
            changes = (*DifferenceView(subject).whole, *subject.fields)
            yield row_bytes(format_name, DIFFERENCE, [_of_change(change) for change in changes])


def _of_change(change: Change) -> Row:
    return [field_path(change.path), *(_attribute(change, name) for name in [*DIFFERENCE][1:])]


def _rows_of(figures: Figures) -> tuple[Columns, list[Row]]:
    """Return the columns and cells of a table as files of rows have them."""
    columns: dict[str, type] = {}
    for each in figures.figures:
        if each.kind is list:
            name = each.name.removesuffix("_interval").removesuffix("interval")
            columns |= {f"{name}_{end}".removeprefix("_"): float for end in BOUNDS}
        else:
            columns[each.name] = each.kind
    return columns, [[*_report_cells(figures, row)] for row in figures.rows]


def _report_cells(figures: Figures, row: object) -> Iterator[Any]:
    for each in figures.figures:
        cell: Any = each.of(row)
        if each.kind is list:
            yield from [None, None] if cell is None else cell
        else:
            yield cell


def _attribute(change: Change, name: str) -> JsonValue:
    if name.startswith("change_"):
        return getattr(change.interval, name.removeprefix("change_"), None)
    value: JsonValue = getattr(change, name)
    return value


def run_rows(
    evaluation: Evaluation, fields: Sequence[FieldInfo], rule: RateRule, *, wide: bool
) -> list[Row]:
    """Return the rows of all documents, then those of each group, with a cell for each column.

    A figure that has nothing to divide by, or that there is none of, is None.
    """
    groups: list[tuple[str, str, Results]] = [("", "", evaluation)]
    for key, found in evaluation.by.items():
        groups += ((key, name, group) for name, group in sorted(found.items()))
    return [
        (*_about(row), *cells)
        for key, name, results in groups
        for row, cells in _cells(results, fields, rule, (key, harmless(name)), wide=wide)
    ]


def _cells(
    results: Results,
    fields: Sequence[FieldInfo],
    rule: RateRule,
    group: tuple[str, str],
    *,
    wide: bool,
) -> Iterator[tuple[FieldRow, Row]]:
    """Yield the rows of all documents or of a group, and their cells."""
    by_field = {} if wide else results.confidences.by_field()
    for row in _field_rows(results, fields, rule):
        if wide:
            yield row, _wide(results, row, rule, group)
        else:
            yield row, _tidy(results, row, rule, group, by_field.get(field_path(row.path)))


def _field_rows(
    results: Results, fields: Sequence[FieldInfo], rule: RateRule
) -> Iterator[FieldRow]:
    """Yield a row for whole documents, then those of the fields, each key of a map by its name."""
    tally = results.tally
    yield FieldRow((), DOCUMENT, "", None, None, tally, rule)
    yield from named_rows(tally, fields, rule)


def _about(row: FieldRow) -> Row:
    numbers = (None if it is None else float(it) for it in (row.threshold, row.weight))
    return (harmless(field_path(row.path)), row.kind, row.comparator, *numbers)


def _tidy(
    results: Results,
    row: FieldRow,
    rule: RateRule,
    group: tuple[str, str],
    units: Units | None,
) -> Row:
    found = results.intervals(rule, field_path(row.path))
    f1, score = (found.rates[rule.counting]["f1"], found.score) if found else (None, None)
    return (
        results.evaluated,
        *row.counts,
        *row.rates,
        *_ends(f1),
        *_items(results, row),
        row.score if row.path else results.overall_score,
        *_ends(score),
        *_trust(units),
        *group,
    )


def _items(results: Results, row: FieldRow) -> Row:
    """Return how many items, or documents, are right as a whole, and how many there are."""
    if not row.path:
        return (results.wholly_right.right, results.evaluated)
    return (row.tally.whole, row.tally.items) if row.tally.items else (None, None)


def _trust(units: Units | None) -> Row:
    """Return how far confidences can be trusted, as far as it is defined."""
    if units is None or not len(units.right):
        return (None, None, None)
    known = units.reliability()
    found = (float(value[0]) for value in (known.auroc, known.ece, known.brier))
    return tuple(None if math.isnan(value) else value for value in found)


def _wide(results: Results, row: FieldRow, rule: RateRule, group: tuple[str, str]) -> Row:
    path, scores = field_path(row.path), (row.tally.mean_raw, row.score)
    classes: Mapping[ErrorClass, int] = results.errors.at(row.path)
    if not row.path:
        scores, classes = (results.overall_score,) * 2, results.errors.overall()
    found = results.intervals(rule, path)
    rates = [found and found.rates[mode][name] for mode in COUNTING_MODES for name in RATES]
    return (
        *_counted(row.tally, rule),
        *scores,
        *(classes.get(each, 0) for each in ErrorClass),
        *group,
        *(end for interval in (*rates, found and found.score) for end in _ends(interval)),
    )


def _counted(tally: Tally, rule: RateRule) -> Iterator[JsonValue]:
    for mode in COUNTING_MODES:
        counts = tally.counts(mode)
        yield from (getattr(counts, name) for name in COUNTS)
        parts = rule.fractions(counts).values()
        yield from (above / below if below else None for above, below in parts)


def _ends(interval: object) -> list[float | None]:
    """Return both ends of an interval; None where there is none."""
    return [getattr(interval, end, None) for end in BOUNDS]


def _errors_written(format_name: str, errors: ErrorList) -> Iterator[bytes]:
    """Yield errors as a file of them, as `--non-matches` writes it; whole rows at a time."""
    stream = io.BytesIO()
    with lines_as_rows(stream, format_name, columns_of_errors) as rows:
        for line in errors.lines:
            rows.write(line + b"\n")
            # What a Parquet file says at its end counts bytes from its beginning.
            if stream.tell() > PIECE and format_name != "parquet":
                yield stream.getvalue()
                stream.seek(0)
                stream.truncate()
    yield stream.getvalue()
