"""Measure the start-up time of commands."""

import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import programs, targets
from benchmarks.processes import median_processor_seconds, run_in_turns
from benchmarks.report import Report, format_ratio
from benchmarks.sets import NOTE, SETS, write

_BASE: Final = "python -c pass"


def measure(repeat: int, seed: int) -> Report:
    """Measure the time of short commands, and of a Python that runs an empty program."""
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
        finished = run_in_turns(commands, repeat)
    seconds = {name: median_processor_seconds(runs) for name, runs in finished.items()}
    ratios = {name: command_seconds / seconds[_BASE] for name, command_seconds in seconds.items()}
    return Report(
        title="Start-up",
        columns=("command", "time", f"against {_BASE}"),
        rows=[
            [name, f"{seconds[name] * 1000:.0f} ms", format_ratio(ratios[name])]
            for name in commands
        ],
        record=[
            {"command": name, "seconds": seconds[name], "ratio": ratios[name]} for name in commands
        ],
        notes=(
            (
                "`eval` has two documents. Times are medians of the processor time of"
                f" {repeat} alternating runs, with bytecode on disk."
            ),
        ),
        figures={
            targets.START_UP: ratios["eval, flat"],
            targets.VERSION: ratios["--version"],
            targets.HELP: ratios["--help"],
        },
    )
