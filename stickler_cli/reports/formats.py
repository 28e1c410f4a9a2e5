"""Report formats by name and by the suffix of a file; a new one is a module and a line here."""

from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, TypeAlias

from stickler_cli.core.problems import require_pyarrow
from stickler_cli.core.sections import Report
from stickler_cli.records import row_files
from stickler_cli.score.record import Run
from .layout import TableStyle

if TYPE_CHECKING:
    from stickler_cli.studies.diff.changes import Difference
    from .error_list import ErrorList
    from .pair import ComparedPair

    Subject: TypeAlias = Run | Difference | ComparedPair | ErrorList | Report

FORMATS: Final = (
    *("table", "json", "csv", "tsv", "jsonl", "parquet", "arrow"),
    *("markdown", "junit", "github", "openmetrics", "html"),
)
ROW_FORMATS: Final = frozenset(row_files.SUFFIXES.values())
_MODULES: Final = {"json": "json_report", "html": "html.page"}
"""Those that are not named after their format. They are imported when they are used."""

_RENDERERS: Final = {
    "Run": "run",
    "Difference": "difference",
    "ComparedPair": "pair",
    "ErrorList": "errors",
    "Report": "report",
}
"""Class of what is reported -> what the name of the function that renders it ends in."""

_PAGES: Final = {"difference": "html.difference_page"}
"""Those whose HTML is not made where that of runs is."""

_OF_REPORTS: Final = {
    **dict.fromkeys(("table", "markdown"), "report_text"),
    "json": "json_report",
    "html": "html.report_page",
    "github": "github",
}
"""Where the reports of studies are drawn."""

_TABLES: Final = {
    "difference": "difference_table",
    "pair": "pair_table",
    "errors": "error_list",
}
"""Where the tables of other things than runs are: few commands load them."""

PAIR_FORMATS: Final = frozenset({"table", "json", "markdown"})
ERROR_FORMATS: Final = ROW_FORMATS | {"table"}

SAY_PARTIAL: Final = frozenset({"table", "json", "markdown", "html"})
"""Formats that show the notes of a run: where it was interrupted, they say so."""

SUFFIXES: Final[dict[str, str]] = {
    ".metrics.txt": "openmetrics",
    ".txt": "table",
    ".json": "json",
    **row_files.SUFFIXES,
    ".md": "markdown",
    ".junit.xml": "junit",
    ".xml": "junit",
    ".prom": "openmetrics",
    ".html": "html",
}
"""Suffix of a file -> the format it is written in; the first that it ends in."""

WITH_ACCOUNTS: Final = frozenset({"json", "html"})
"""Formats that tell of each document."""

WITH_DETAIL: Final = frozenset({"html"})
"""Formats that show single values."""


def format_of(file_name: str) -> str | None:
    """Return the format that the name of a file tells; None where its suffix says nothing.

    Of a suffix of two parts, the first may be the name: GitLab expects a file `metrics.txt`.

    >>> format_of("out/run.JSON"), format_of("metrics.txt"), format_of("run")
    ('json', 'openmetrics', None)
    """
    name = PurePath(file_name).name.lower()
    for suffix, format_name in SUFFIXES.items():
        is_suffix = f".{name}" == suffix and "." in name
        if is_suffix or (name.endswith(suffix) and name != suffix):
            return format_name
    return None


def require(format_names: Collection[str]) -> None:
    """Raise UnavailableError if a format needs something that is not installed."""
    for name in row_files.TYPED:
        if name in format_names:
            require_pyarrow(name.title())


def pieces(format_name: str, subject: "Subject", style: TableStyle) -> Iterator[str]:
    """Yield the report of a subject as text that ends with a line break.

    It comes piece by piece where the whole grows with the documents. The style is nothing to
    `json`, `github` and `openmetrics`. Parquet and Arrow are no text: `written` has them.
    """
    if format_name in ROW_FORMATS:
        yield from (piece.decode() for piece in written(format_name, subject, style))
        return
    kind = _RENDERERS[type(subject).__name__]
    name = _MODULES.get(format_name, format_name)
    if kind == "report":
        name = _OF_REPORTS[format_name]
    elif format_name == "table":
        name = _TABLES.get(kind, name)
    elif format_name == "html":
        name = _PAGES.get(kind, name)
    module = import_module(f"{__package__}.{name}")
    draws = {"report_text": f"render_{format_name.replace('table', 'text')}"}
    text = getattr(module, draws.get(name, f"render_{kind}"))(subject, style)
    yield from [text] if isinstance(text, str) else text


def written(format_name: str, subject: "Subject", style: TableStyle) -> Iterator[bytes]:
    """Yield a report as it is in files: what is no Unicode is escaped."""
    if format_name not in ROW_FORMATS:
        for piece in pieces(format_name, subject, style):
            yield piece.encode("utf-8", "backslashreplace")
        return
    module = import_module(f"{__package__}.row_reports")
    if type(subject).__name__ == "ErrorList":
        yield from module.errors_written(format_name, subject)
        return
    if isinstance(subject, Report):
        if subject.rows is not None:
            rows = import_module(f"{__package__}.report_text").rows_of(subject.rows)
            yield row_files.row_bytes(format_name, *rows)
        return
    rows = getattr(module, f"rows_of_{_RENDERERS[type(subject).__name__]}")
    yield row_files.row_bytes(format_name, *rows(subject, style))


def render(format_name: str, subject: "Subject", style: TableStyle) -> str:
    """Return what `pieces` yields as one text."""
    return "".join(pieces(format_name, subject, style))
