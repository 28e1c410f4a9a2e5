"""How long it takes before the work begins."""

import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import programs
from benchmarks.processes import in_turns, median_seconds
from benchmarks.report import Report, ratio
from benchmarks.sets import NOTE, SETS, write

_FLAT: Final = "import typer, orjson, jsonschema, rapidfuzz; from pydantic import BaseModel"
"""What an evaluation of documents without lists needs: to read arguments, documents, the schema
and its annotations, and to compare texts."""
_LISTS: Final = f"{_FLAT}; import numpy, rapidfuzz.process, scipy.optimize, dateutil.parser"
"""What lists and dates need besides."""


def measure(repeat: int, seed: int) -> Report:
    """Compare commands with nothing but the imports that they cannot do without."""
    stickler = [sys.executable, "-m", "stickler_cli"]
    bases = {
        "import typer": [sys.executable, "-c", "import typer"],
        "its libraries": [sys.executable, "-c", _FLAT],
        "its libraries, with lists": [sys.executable, "-c", _LISTS],
    }
    with tempfile.TemporaryDirectory() as directory:
        flat = write(NOTE, Path(directory, "flat"), 2, seed)
        lists = write(SETS["invoices-10"], Path(directory, "lists"), 2, seed)
        commands = {
            "--version": ("import typer", [*stickler, "--version"]),
            "--help": ("import typer", [*stickler, "--help"]),
            "eval, flat": ("its libraries", programs.ours(flat)),
            "eval, lists": ("its libraries, with lists", programs.ours(lists)),
        }
        asked = {name: command for name, (_, command) in commands.items()}
        finished = in_turns(bases | asked, repeat)
    seconds = {name: median_seconds(runs) for name, runs in finished.items()}
    rows, records = [], []
    for name, (base, _) in commands.items():
        times = seconds[name] / seconds[base]
        shown = [f"{seconds[part] * 1000:.0f} ms" for part in (name, base)]
        rows.append([name, shown[0], f"{base}, {shown[1]}", ratio(times)])
        records.append(
            {"command": name, "seconds": seconds[name], "base": seconds[base], "ratio": times}
        )
    return Report(
        "Start-up",
        ("command", "time", "against", "ratio"),
        rows,
        records,
        notes=(
            f"Two documents for eval; medians of {repeat} runs in turns, with bytecode on disk.",
            f"Its libraries: `{_FLAT}`.",
            f"With lists: `{_LISTS}`.",
        ),
    )
