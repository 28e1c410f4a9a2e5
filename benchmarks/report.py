"""What was measured, as a table for a terminal and for a page."""

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
    """One measurement, done."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    record: Any
    """The same for programs."""
    notes: Sequence[str] = ()
    failures: Sequence[str] = field(default=())
    """What makes the measurement worthless; exit code 1."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What targets are set for, by their names in targets.py."""


def as_text(report: Report) -> str:
    """Draw a table with aligned columns."""
    lines = [report.columns, *report.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([report.title, "", *drawn, *_said(report)])


def as_markdown(report: Report) -> str:
    """Draw a section with a table."""
    lines = [
        report.columns,
        ["---", *["---:"] * (len(report.columns) - 1)],
        *report.rows,
    ]
    drawn = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([f"## {report.title}", "", *drawn, *_said(report)])


def _said(report: Report) -> list[str]:
    return [line for text in (*report.notes, *report.failures) for line in ("", text)]


def ratio(value: float) -> str:
    """Write a ratio with two or three digits that mean something."""
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 10 else f"{value:.2f}x"


def machine() -> dict[str, str]:
    """Describe what matters of this machine: processor, cores, Python and libraries."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", listed.read_text("utf-8"), re.MULTILINE)
        if found:
            return found[1]
    return platform.processor() or sys.platform


def results_page(reports: Sequence[Report], described: dict[str, str], command: str) -> str:
    """Write the page of kept results."""
    listed = [f"- {name}: {value}" for name, value in described.items()]
    sections = [part for report in reports for part in (as_markdown(report), "")]
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
            *listed,
            "",
            *sections,
        ]
    )
