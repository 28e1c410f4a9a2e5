"""Report formats by name and by the suffix of a file; a new one is a module and a line here."""

from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from stickler_cli.core.problems import require_pyarrow
from stickler_cli.core.sections import Report, Section
from stickler_cli.records import row_files
from stickler_cli.score.record import Run
from .layout import TableStyle, draw
from .markdown import COMMENT_LIMIT, page_text, truncate_lines

if TYPE_CHECKING:
    from stickler_cli.studies.diff.record import Difference, RunsBeside
    from .error_list import ErrorList
    from .pair import ComparedPair

    Subject: TypeAlias = Run | Difference | RunsBeside | ComparedPair | ErrorList | Report

FORMATS: Final = (
    *("table", "json", "csv", "tsv", "jsonl", "parquet", "arrow"),
    *("markdown", "junit", "github", "openmetrics", "otel", "html"),
)
ROW_FORMATS: Final = frozenset(row_files.SUFFIXES.values())
_SECTIONS: Final = {
    "Run": "run_sections",
    "Difference": "difference_sections",
    "ComparedPair": "pair",
    "ErrorList": "error_list",
}
"""Class of a subject -> the module whose `sections_of` makes its sections; those of a study are
made. Modules are imported when they are used."""

_PAGES: Final = {
    "Run": "html.page",
    "Difference": "html.difference_page",
    "RunsBeside": "html.difference_page",
    "Report": "html.report_page",
}
"""Class of a subject -> the module that renders its HTML. """

_MODULES: Final = {"json": "json_report"}
"""Format -> the module that renders it, if not named after it."""

PAIR_FORMATS: Final = frozenset({"table", "json", "markdown"})
ERROR_FORMATS: Final = ROW_FORMATS | {"table"}

SAY_PARTIAL: Final = frozenset({"table", "json", "markdown", "html"})
"""Formats that show the notes of a run: where it was interrupted, they say so."""

SUFFIXES: Final[dict[str, str]] = {
    ".metrics.txt": "openmetrics",
    ".otel.jsonl": "otel",
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

WITH_ACCOUNTS: Final = frozenset({"json", "html", "otel"})  # formats that tell of each document
WITH_DETAIL: Final = frozenset({"html"})  # formats that show single values


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


def render_pieces(format_name: str, subject: "Subject", style: TableStyle) -> Iterator[str]:
    """Yield the report of a subject as text that ends with a line break.

    It comes piece by piece where the whole grows with the documents. The style is nothing to
    `json`, `github`, `openmetrics` and `otel`. Parquet and Arrow are no text: `written` has them.
    """
    if format_name in ROW_FORMATS:
        yield from (text_piece.decode() for text_piece in written(format_name, subject, style))
    elif format_name == "table":
        yield draw(_sections(subject, style, page=False), style)
    elif format_name == "markdown":
        page = markdown_page(subject, style)
        is_pair = type(subject).__name__ == "ComparedPair"  # the one that nobody posts as a comment
        yield page if is_pair else truncate_lines(page, COMMENT_LIMIT)
    else:
        kind = type(subject).__name__
        name = _PAGES[kind] if format_name == "html" else _MODULES.get(format_name, format_name)
        text = _module(name).render(subject, style)
        yield from [text] if isinstance(text, str) else text


def markdown_page(subject: "Subject", style: TableStyle) -> str:
    """Return a report as Markdown, however long."""
    sections = _sections(subject, style, page=True)
    return page_text(sections, is_markdown=not isinstance(subject, Report))


def _sections(subject: "Subject", style: TableStyle, *, page: bool) -> Iterable[Section]:
    if isinstance(subject, Report):
        return subject.sections
    sections: Iterable[Section] = _module(_SECTIONS[type(subject).__name__]).sections_of(
        subject, style, page=page
    )
    return sections


def _module(name: str) -> Any:
    return import_module(f"{__package__}.{name}")


def written(format_name: str, subject: "Subject", style: TableStyle) -> Iterator[bytes]:
    """Yield a report as bytes for files; lone surrogates are escaped."""
    if format_name in ROW_FORMATS:
        yield from _module("row_reports").rows_written(format_name, subject, style)
    else:
        for text_piece in render_pieces(format_name, subject, style):
            yield text_piece.encode("utf-8", "backslashreplace")


def render(format_name: str, subject: "Subject", style: TableStyle) -> str:
    """Return a report as one text."""
    return "".join(render_pieces(format_name, subject, style))
