"""Fields as columns: what the CSV report and data frames show of each."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final

from stickler_cli.errors import Problem, UnavailableError, UsageError
from stickler_cli.locations import field_path
from stickler_cli.metrics.counts import RATES
from stickler_cli.metrics.error_classes import ErrorClass
from stickler_cli.metrics.error_counts import ByClass, ErrorCounts
from stickler_cli.metrics.tally import READINGS, Tally
from stickler_cli.metrics.terms import NamedField
from stickler_cli.spelling import did_you_mean

COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn")

HEADERS: Final = (
    *("field", "kind", "comparator", "threshold", "weight"),
    *(f"{reading}_{name}" for reading in READINGS for name in (*COUNTS, *RATES)),
    *("raw_similarity_score", "threshold_applied_score"),
    *(f"class_{each.value}" for each in ErrorClass),
)
"""The columns; docs/results.md describes each."""

DOCUMENT: Final = "document"
"""The kind of the first row, which is about whole documents and has no field."""

LIBRARIES: Final = ("pandas", "polars")
"""What makes data frames, the most common first; neither is a dependency."""

Cell = str | int | float | None


def table(
    total: Tally,
    score: float | None,
    fields: Iterable[NamedField],
    errors: ErrorCounts,
    *,
    recall_with_fd: bool,
) -> list[tuple[Cell, ...]]:
    """Give a row for whole documents, then one for each field, with a cell for each header."""
    counts = _counts(total, recall_with_fd=recall_with_fd)
    rows: list[tuple[Cell, ...]] = [
        ("", DOCUMENT, "", None, None, *counts, score, score, *_classes(errors.overall()))
    ]
    for field in fields:
        info = field.info
        about = (info.kind, info.comparator, _float(info.threshold)) if info else ("", "", None)
        counts = _counts(field.tally, recall_with_fd=recall_with_fd)
        scores = (field.tally.mean_raw, field.tally.mean_score)
        classes = _classes(errors.fields.get(field.path, {}))
        # No data frame holds a lone surrogate.
        name = field_path(field.path).encode("utf-8", "backslashreplace").decode()
        rows.append((name, *about, _float(field.weight), *counts, *scores, *classes))
    return rows


def _classes(counts: ByClass) -> list[int]:
    return [counts.get(each, 0) for each in ErrorClass]


def _float(value: float | None) -> float | None:
    """Give a number the type of its column."""
    return None if value is None else float(value)


def _counts(tally: Tally, *, recall_with_fd: bool) -> list[Cell]:
    """Give the counts and rates of the three readings."""
    cells: list[Cell] = []
    for reading in READINGS:
        counts = tally.counts(reading)
        cells += [getattr(counts, name) for name in COUNTS]
        cells += [counts.derived(recall_with_fd=recall_with_fd)[name] for name in RATES]
    return cells


def data_frame(rows: Iterable[tuple[Cell, ...]], library: str | None = None) -> Any:
    """Give rows as a data frame; a cell without anything is missing in it.

    Args:
        rows: with a cell for each of `HEADERS`.
        library: one of `LIBRARIES`; None takes the first of them that is installed.

    Raises:
        UnavailableError: the library is not installed.
        UsageError: there is no such library.
    """
    if library not in (None, *LIBRARIES):
        expected, hint = f"one of {', '.join(LIBRARIES)}", did_you_mean(str(library), LIBRARIES)
        raise UsageError([Problem("library", f"it is {library!r}", expected, hint)])
    for name in LIBRARIES if library is None else (library,):
        try:
            # Whoever makes no data frame must not pay for loading this.
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # it is there, and broken
                raise
            continue
        columns = map(list, zip(*rows, strict=True))
        return module.DataFrame(dict(zip(HEADERS, columns, strict=True)))
    wanted = " or ".join(LIBRARIES) if library is None else library
    found = f"a data frame needs {wanted}, which is not installed"
    raise UnavailableError([Problem("", found, "", f"pip install {library or LIBRARIES[0]}")])
