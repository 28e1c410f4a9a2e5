"""Render measurements as tables for a terminal and for a Markdown page."""

import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

_LIBRARIES: Final = ("stickler-cli", "numpy", "scipy", "rapidfuzz", "orjson", "python-dateutil")


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one measurement."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    record: Any
    """The results as JSON values."""
    notes: Sequence[str] = ()
    failures: Sequence[str] = field(default=())
    """Reasons why the measurement does not count; the exit code is then 1."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Figures that are compared with targets: a dict from the name of a figure, as in targets.py,
    to its value."""


def render_text(report: Report) -> str:
    """Return a report as text: its title, a table with aligned columns, and its notes."""
    lines = [report.columns, *report.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table_lines = [
        "  ".join(
            cell.ljust(width) if column_index == 0 else cell.rjust(width)
            for column_index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([report.title, "", *table_lines, *_list_remarks(report)])


def render_markdown(report: Report) -> str:
    """Return a report as a Markdown section with a table."""
    lines = [
        report.columns,
        ["---", *["---:"] * (len(report.columns) - 1)],
        *report.rows,
    ]
    table_lines = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([f"## {report.title}", "", *table_lines, *_list_remarks(report)])


def _list_remarks(report: Report) -> list[str]:
    return [line for text in (*report.notes, *report.failures) for line in ("", text)]


def format_ratio(value: float) -> str:
    """Return a ratio as text, with two or three significant digits."""
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 10 else f"{value:.2f}x"


def describe_machine() -> dict[str, str]:
    """Return a description of the machine as a dict from a property to its value.

    The properties are the processor, the cores, the system, Python and the libraries.
    """
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def _processor() -> str:
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        match = re.search(r"^model name\s*:\s*(.+)$", cpu_info.read_text("utf-8"), re.MULTILINE)
        if match:
            return match[1]
    return platform.processor() or sys.platform


def render_results_page(
    reports: Sequence[Report], description: dict[str, str], command: str
) -> str:
    """Return the text of the page RESULTS.md."""
    description_lines = [f"- {name}: {value}" for name, value in description.items()]
    sections = [section for report in reports for section in (render_markdown(report), "")]
    return "\n".join(
        [
            "# Results",
            "",
            "These are the results of one run of the benchmarks. [README.md](README.md) says what",
            "is measured and how. To repeat the run:",
            "",
            "```console",
            f"$ {command}",
            "```",
            "",
            *description_lines,
            "",
            *sections,
        ]
    )
