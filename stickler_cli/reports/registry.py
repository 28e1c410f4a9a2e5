"""Report formats by name and by the suffix of a file; a new report is a module and a line here."""

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePath
from typing import Final, TypeAlias, cast

from stickler_cli.core.problems import Problem, UnavailableError
from stickler_cli.reports.style import TableStyle
from stickler_cli.score.record import Run

Renderer: TypeAlias = Callable[[Run, TableStyle], str]

_HERE: Final = "stickler_cli.reports"

FORMATS: Final[dict[str, str]] = {
    "table": f"{_HERE}.table:render",
    "json": f"{_HERE}.json_report:render",
    "csv": f"{_HERE}.csv_report:render",
    "markdown": f"{_HERE}.markdown:render",
    "junit": f"{_HERE}.junit:render",
    "github": f"{_HERE}.github:render",
    "openmetrics": f"{_HERE}.openmetrics:render",
    "html": f"{_HERE}.html.page:render",
}
"""Name -> where the renderer is; imported when it is used, as each loads what others need not."""

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
"""Suffix of a file -> the format it is written in; the first that fits."""

WITH_ACCOUNTS: Final = frozenset({"json", "html"})
"""Formats that tell of each document."""

WITH_FIELD_INTERVALS: Final = frozenset({"json", "csv", "html"})
"""Formats that give confidence intervals of fields, not only of whole documents."""

WITH_DETAIL: Final = frozenset({"html"})
"""Formats that show single values."""

EXTRAS: Final = {"html": ("jinja2", "html")}
"""Format -> the module that it needs, and the extra that brings it."""


def format_of(file_name: str) -> str | None:
    """Tell the format from the name of a file; None where its suffix says nothing.

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
    """Give a report as text that ends with a line break.

    Args:
        format_name: one of `FORMATS`.
        run: what to report.
        style: how to draw it; `json`, `csv`, `github` and `openmetrics` do not look at it.
    """
    module, _, function = FORMATS[format_name].partition(":")
    renderer = cast("Renderer", getattr(import_module(module), function))
    return renderer(run, style)
