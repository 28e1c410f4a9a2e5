"""Fields as columns: what the CSV report and data frames show of each."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UnavailableError, UsageError
from stickler_cli.core.spelling import did_you_mean
from stickler_cli.score.counts import BOUNDS, RATES
from stickler_cli.score.error_classes import ErrorClass
from stickler_cli.score.error_counts import ByClass
from stickler_cli.score.results import Results
from stickler_cli.score.tally import READINGS, Tally
from stickler_cli.score.terms import FieldInfo, named_fields

COUNTS: Final = ("tp", "fd", "fa", "fn", "fp", "tn")

HEADERS: Final = (
    *("field", "kind", "comparator", "threshold", "weight"),
    *(f"{reading}_{name}" for reading in READINGS for name in (*COUNTS, *RATES)),
    *("raw_similarity_score", "threshold_applied_score"),
    *(f"class_{each.value}" for each in ErrorClass),
    *("by", "group"),
    *(f"{reading}_{name}_{end}" for reading in READINGS for name in RATES for end in BOUNDS),
    *(f"threshold_applied_score_{end}" for end in BOUNDS),
)
"""The columns; docs/results.md describes each."""

DOCUMENT: Final = "document"
"""The kind of the first row, which is about whole documents and has no field."""

LIBRARIES: Final = ("pandas", "polars")
"""What makes data frames, the most common first; neither is a dependency."""

Cell = str | int | float | None


Row = tuple[Cell, ...]


def table(
    whole: Results,
    by: Mapping[str, Mapping[str, Results]],
    fields: Sequence[FieldInfo],
    *,
    recall_with_fd: bool,
) -> list[Row]:
    """Return the rows of all documents, then those of each group, with a cell for each header."""
    rows = _rows(whole, fields, ("", ""), recall_with_fd=recall_with_fd)
    for key, groups in by.items():
        for name, group in sorted(groups.items()):
            rows += _rows(group, fields, (key, name), recall_with_fd=recall_with_fd)
    return rows


def _rows(
    results: Results,
    described: Sequence[FieldInfo],
    group: tuple[str, str],
    *,
    recall_with_fd: bool,
) -> list[tuple[Cell, ...]]:
    """Return a row for whole documents, then one for each field."""
    score, with_fd = results.overall_score, recall_with_fd
    counts = _counts(results.tally, recall_with_fd=with_fd)
    whole = _bounds(results, "", recall_with_fd=with_fd)
    classes = _classes(results.errors.overall())
    about: Row = ("", DOCUMENT, "", None, None)
    rows: list[Row] = [(*about, *counts, score, score, *classes, *group, *whole)]
    for field in named_fields(results.tally, described):
        info, path = field.info, field_path(field.path)
        # No data frame holds a lone surrogate.
        about = (path.encode("utf-8", "backslashreplace").decode(), "", "", None)
        if info is not None:
            about = (about[0], info.kind, info.comparator, _float(info.threshold))
        counts = _counts(field.tally, recall_with_fd=with_fd)
        scores = (field.tally.mean_raw, field.tally.mean_score)
        classes = _classes(results.errors.fields.get(field.path, {}))
        bounds = _bounds(results, path, recall_with_fd=with_fd)
        rows.append((*about, _float(field.weight), *counts, *scores, *classes, *group, *bounds))
    return rows


def _bounds(results: Results, path: str, *, recall_with_fd: bool) -> Sequence[Cell]:
    """Return both ends of every interval; None where there is none."""
    if results.bootstrap is None:
        return [None] * (len(READINGS) * len(RATES) + 1) * len(BOUNDS)
    found = results.bootstrap.of(path, recall_with_fd=recall_with_fd)
    rates = [found.rates[reading][name] for reading in READINGS for name in RATES]
    return [
        None if interval is None else getattr(interval, end)
        for interval in (*rates, found.score)
        for end in BOUNDS
    ]


def _classes(counts: ByClass) -> list[int]:
    return [counts.get(each, 0) for each in ErrorClass]


def _float(value: float | None) -> float | None:
    """Return a number in the type of its column."""
    return None if value is None else float(value)


def _counts(tally: Tally, *, recall_with_fd: bool) -> list[Cell]:
    """Return the counts and rates of the three counting modes."""
    cells: list[Cell] = []
    for reading in READINGS:
        counts = tally.counts(reading)
        cells += [getattr(counts, name) for name in COUNTS]
        cells += [counts.derived(recall_with_fd=recall_with_fd)[name] for name in RATES]
    return cells


def data_frame(rows: Iterable[Row], library: str | None = None) -> Any:
    """Return rows as a data frame; a cell without anything is missing in it.

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
