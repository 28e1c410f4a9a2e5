"""The formats of a single comparison, by name and by the suffix of a file."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Final, TypeAlias, cast

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.reports.comparison import ComparedPair
from stickler_cli.reports.registry import SUFFIXES, format_of
from stickler_cli.reports.style import TableStyle

Renderer: TypeAlias = Callable[[ComparedPair, TableStyle], str]

_HERE: Final = "stickler_cli.reports"

FORMATS: Final[dict[str, str]] = {
    "table": f"{_HERE}.comparison_table:render",
    "json": f"{_HERE}.comparison_json:render",
    "markdown": f"{_HERE}.comparison_markdown:render",
}
"""Name -> where the renderer is; imported when it is used."""


def formats_of(outputs: Iterable[str]) -> dict[str, str]:
    """Give the format of each output file by its suffix.

    Raises:
        UsageError: with every file whose suffix is that of no format.
    """
    formats = {output: format_of(output) or "" for output in outputs}
    suffixes = [suffix for suffix, name in SUFFIXES.items() if name in FORMATS]
    expected = f"one that ends in {', '.join(suffixes)}"
    problems = [
        Problem("--output", f"the file is {output}", expected)
        for output, name in formats.items()
        if name not in FORMATS
    ]
    if problems:
        raise UsageError(problems)
    return formats


def render(format_name: str, pair: ComparedPair, style: TableStyle) -> str:
    """Give a comparison as text that ends with a line break."""
    module, _, function = FORMATS[format_name].partition(":")
    renderer = cast("Renderer", getattr(import_module(module), function))
    return renderer(pair, style)
