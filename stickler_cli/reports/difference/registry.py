"""Formats of a difference by name, the same as those of a run; a new one is a line here."""

from collections.abc import Callable
from importlib import import_module
from typing import Final, TypeAlias, cast

from stickler_cli.diff.changes import Difference
from stickler_cli.reports.style import TableStyle

Renderer: TypeAlias = Callable[[Difference, TableStyle], str]

_HERE: Final = "stickler_cli.reports.difference"

FORMATS: Final[dict[str, str]] = {
    "table": f"{_HERE}.table:render",
    "json": f"{_HERE}.json_report:render",
    "csv": f"{_HERE}.csv_report:render",
    "markdown": f"{_HERE}.markdown:render",
    "junit": f"{_HERE}.junit:render",
    "github": f"{_HERE}.github:render",
    "openmetrics": f"{_HERE}.openmetrics:render",
    "html": f"{_HERE}.page:render",
}
"""Name -> where the renderer is; imported when it is used, as each loads what others need not."""


def render(format_name: str, difference: Difference, style: TableStyle) -> str:
    """Give a report as text that ends with a line break.

    Args:
        format_name: one of `FORMATS`.
        difference: what to report.
        style: how to draw it.
    """
    module, _, function = FORMATS[format_name].partition(":")
    renderer = cast("Renderer", getattr(import_module(module), function))
    return renderer(difference, style)
