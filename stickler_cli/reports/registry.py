"""Report formats by name and by the suffix of a file, of runs, of pairs and of differences.

A new report is a module and a line here.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

from stickler_cli.core.problems import Problem, UnavailableError
from stickler_cli.reports.layout import TableStyle
from stickler_cli.score.record import Run

if TYPE_CHECKING:
    from stickler_cli.diff.changes import Difference
    from stickler_cli.reports.pair import ComparedPair

Subject = TypeVar("Subject")
Renderer: TypeAlias = Callable[[Subject, TableStyle], str]

FORMATS: Final[dict[str, str]] = {
    "table": "table",
    "json": "json_report",
    "csv": "csv_report",
    "markdown": "markdown",
    "junit": "junit",
    "github": "github",
    "openmetrics": "openmetrics",
    "html": "html.page",
}
"""Name -> the module that renders runs, imported when it is used, as each loads what others need
not; it renders differences and pairs too, unless they have a module of their own."""

DIFFERENCE_MODULES: Final = {"table": "difference_table"}
PAIR_MODULES: Final = {"table": "pair_table"}

PAIR_FORMATS: Final = frozenset({"table", "json", "markdown"})
"""Formats of a comparison of two documents."""

SAY_PARTIAL: Final = frozenset({"table", "json", "markdown", "html"})
"""Formats that show the notes of a run: where it was interrupted, they say so."""

SUFFIXES: Final[dict[str, str]] = {
    ".metrics.txt": "openmetrics",
    ".txt": "table",
    ".json": "json",
    ".csv": "csv",
    ".md": "markdown",
    ".junit.xml": "junit",
    ".xml": "junit",
    ".prom": "openmetrics",
    ".html": "html",
}
"""Suffix of a file -> the format it is written in; the first that it ends in."""

WITH_ACCOUNTS: Final = frozenset({"json", "html"})
"""Formats that tell of each document."""

WITH_FIELD_INTERVALS: Final = frozenset({"json", "csv", "html"})
"""Formats that give confidence intervals of fields, not only of whole documents."""

WITH_DETAIL: Final = frozenset({"html"})
"""Formats that show single values."""

IN_PIECES: Final = frozenset({"json"})
"""Formats that can be written without ever being in memory as a whole."""

EXTRAS: Final = {"html": ("jinja2", "html")}
"""Format -> the module that it needs, and the extra that brings it."""


def format_of(file_name: str) -> str | None:
    """Return the format that the name of a file tells; None where its suffix says nothing.

    Of a suffix of two parts, the first may be the name: GitLab expects a file `metrics.txt`.

    >>> format_of("out/run.JSON"), format_of("metrics.txt"), format_of("run")
    ('json', 'openmetrics', None)
    """
    name = PurePath(file_name).name.lower()
    for suffix, format_name in SUFFIXES.items():
        if name.endswith(suffix) and name != suffix:
            return format_name
        if f".{name}" == suffix and "." in name:
            return format_name
    return None


def require(format_names: Iterable[str]) -> None:
    """Make sure that formats can be written, before a run and not after it.

    Raises:
        UnavailableError: a format needs something that is not installed.
    """
    for name in sorted(EXTRAS.keys() & set(format_names)):
        module, extra = EXTRAS[name]
        if find_spec(module) is None:
            found = f"the format {name} needs {module}, which is not installed"
            hint = f"pip install 'stickler-cli[{extra}]'"
            raise UnavailableError([Problem("", found, "", hint)])


def render(format_name: str, run: Run, style: TableStyle) -> str:
    """Return the report of a run as text that ends with a line break.

    Args:
        format_name: one of `FORMATS`.
        run: what to report.
        style: how to render it; `json`, `csv`, `github` and `openmetrics` do not look at it.
    """
    renderer: Renderer[Run] = _renderer(FORMATS[format_name], "render_run")
    return renderer(run, style)


def pieces(format_name: str, run: Run, style: TableStyle) -> Iterator[str]:
    """Yield what `render` returns, piece by piece where the whole grows with the documents."""
    if format_name in IN_PIECES:
        in_pieces: Callable[[Run], Iterator[str]] = _function(FORMATS[format_name], "run_pieces")
        yield from in_pieces(run)
    else:
        yield render(format_name, run, style)


def render_difference(format_name: str, difference: "Difference", style: TableStyle) -> str:
    """Return the report of a difference, in one of `FORMATS`."""
    module = DIFFERENCE_MODULES.get(format_name, FORMATS[format_name])
    renderer: Renderer[Difference] = _renderer(module, "render_difference")
    return renderer(difference, style)


def render_pair(format_name: str, pair: "ComparedPair", style: TableStyle) -> str:
    """Return the report of a comparison, in one of `PAIR_FORMATS`."""
    module = PAIR_MODULES.get(format_name, FORMATS[format_name])
    renderer: Renderer[ComparedPair] = _renderer(module, "render_pair")
    return renderer(pair, style)


def _renderer(module: str, function: str) -> Renderer[Subject]:
    return cast("Renderer[Subject]", _function(module, function))


def _function(module: str, function: str) -> Any:
    return getattr(import_module(f"{__package__}.{module}"), function)
