"""What it costs before the work begins."""

import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import programs, targets
from benchmarks.processes import in_turns, median_processor_seconds
from benchmarks.report import Report, ratio
from benchmarks.sets import NOTE, SETS, write

_BASE: Final = "python -c pass"


def measure(repeat: int, seed: int) -> Report:
    """Compare commands with a Python that does nothing."""
    stickler = [sys.executable, "-m", "stickler_cli"]
    with tempfile.TemporaryDirectory() as directory:
        flat = write(NOTE, Path(directory, "flat"), 2, seed)
        lists = write(SETS["invoices-10"], Path(directory, "lists"), 2, seed)
        commands = {
            _BASE: [sys.executable, "-c", "pass"],
            "--version": [*stickler, "--version"],
            "--help": [*stickler, "--help"],
            "eval, flat": programs.evaluation(flat, jobs="auto"),
            "eval, lists": programs.evaluation(lists, jobs="auto"),
        }
        finished = in_turns(commands, repeat)
    seconds = {name: median_processor_seconds(runs) for name, runs in finished.items()}
    times = {name: each / seconds[_BASE] for name, each in seconds.items()}
    return Report(
        "Start-up",
        ("command", "time", f"against {_BASE}"),
        [[name, f"{seconds[name] * 1000:.0f} ms", ratio(times[name])] for name in commands],
        [{"command": name, "seconds": seconds[name], "ratio": times[name]} for name in commands],
        notes=(
            (
                "`eval` has two documents. Times are medians of the processor time of"
                f" {repeat} alternating runs, with bytecode on disk."
            ),
        ),
        figures={
            targets.START_UP: times["eval, flat"],
            targets.VERSION: times["--version"],
            targets.HELP: times["--help"],
        },
    )
