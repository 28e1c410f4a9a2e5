"""Choose report formats by name and by file suffix. A new format is a module and a line here."""

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
"""Modules that report objects, keyed by the name of the object's class. The function `sections_of`
of the module returns the sections of the report. Reports of studies are not listed here, because
they are sections already."""

_PAGES: Final = {
    "Run": "html.page",
    "Difference": "html.difference_page",
    "RunsBeside": "html.difference_page",
    "Report": "html.report_page",
}
"""Modules that render objects as HTML pages, keyed by the name of the object's class."""

_MODULES: Final = {"json": "json_report"}
"""Maps a format to the name of the module that renders it, if the module does not have the name of
the format."""

PAIR_FORMATS: Final = frozenset({"table", "json", "markdown"})
ERROR_FORMATS: Final = ROW_FORMATS | {"table"}

FORMATS_WITH_NOTES: Final = frozenset({"table", "json", "markdown", "html"})
"""Formats with a note if a run was interrupted. With other formats, the command prints the note."""

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
"""The format for each file suffix. The first suffix that matches decides."""

# Formats with results of single documents.
WITH_ACCOUNTS: Final = frozenset({"json", "html", "otel"})
WITH_DETAIL: Final = frozenset({"html"})  # formats with single values


def format_of(file_name: str) -> str | None:
    """Return the report format for a file name; None if its suffix is unknown.

    A name that is only a suffix, such as `.json`, has no format. A name can also be a suffix
    without its first dot, if another dot remains: `metrics.txt` has the format of the suffix
    `.metrics.txt`. GitLab expects a file of this name.

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
    """Raise UnavailableError if a format needs a package that is not installed."""
    for name in row_files.TYPED:
        if name in format_names:
            require_pyarrow(name.title())


def render_pieces(format_name: str, subject: "Subject", style: TableStyle) -> Iterator[str]:
    """Yield a report in pieces of text. The last piece ends with a line break.

    `subject` is what the report is about, such as a run or a difference. `json`, `github`,
    `openmetrics` and `otel` ignore the style. Use `written` for Parquet and Arrow, which are not
    text.
    """
    if format_name in ROW_FORMATS:
        yield from (text_piece.decode() for text_piece in written(format_name, subject, style))
    elif format_name == "table":
        yield draw(_sections(subject, style, page=False), style)
    elif format_name == "markdown":
        page = markdown_page(subject, style)
        # Not posted as a comment, which would have a size limit.
        is_pair = type(subject).__name__ == "ComparedPair"
        yield page if is_pair else truncate_lines(page, COMMENT_LIMIT)
    else:
        kind = type(subject).__name__
        name = _PAGES[kind] if format_name == "html" else _MODULES.get(format_name, format_name)
        text = _module(name).render(subject, style)
        yield from [text] if isinstance(text, str) else text


def markdown_page(subject: "Subject", style: TableStyle) -> str:
    """Return a whole report as Markdown. It is not cut to the size limit of comments."""
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
    """Yield a report as bytes for a file. Characters that UTF-8 cannot encode are escaped."""
    if format_name in ROW_FORMATS:
        yield from _module("row_reports").rows_written(format_name, subject, style)
    else:
        for text_piece in render_pieces(format_name, subject, style):
            yield text_piece.encode("utf-8", "backslashreplace")


def render(format_name: str, subject: "Subject", style: TableStyle) -> str:
    """Return a report as one string."""
    return "".join(render_pieces(format_name, subject, style))
