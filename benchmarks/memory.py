"""How much more memory many documents take than few, and what one run takes at most."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks import programs, targets
from benchmarks.processes import run
from benchmarks.report import Report, ratio
from benchmarks.sets import NOTE, Written, pairs

_PEAK: Final = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A process starts with the peak of the one that starts it, so a small one must."""

_UNIT: Final = 1 if sys.platform == "darwin" else 1024
"""What `ru_maxrss` counts in, in bytes: getrusage(2) of macOS and of Linux."""

FEW: Final = 1_000
MANY: Final = 100_000


def write_lines(directory: Path, count: int, seed: int) -> Written:
    """Write small documents as two JSON Lines files."""
    written = Written(
        directory / "schema.json", directory / "gt.jsonl", directory / "pred.jsonl", count
    )
    directory.mkdir(exist_ok=True)
    written.schema.write_text(json.dumps(NOTE.schema), "utf-8")
    with (
        written.gt.open("w", encoding="utf-8") as gts,
        written.pred.open("w", encoding="utf-8") as preds,
    ):
        for gt, pred in pairs(NOTE, count, seed):
            print(json.dumps(gt), file=gts)
            print(json.dumps(pred), file=preds)
    return written


def peak(command: Sequence[str]) -> int:
    """Give the most memory that a program, or a worker of it, held; in bytes."""
    return _UNIT * int(run([sys.executable, "-c", _PEAK, *command], timeout=1800).output)


def megabytes(value: float) -> str:
    """Write a number of bytes."""
    return f"{value / 1e6:,.0f} MB"


def measure(seed: int, few: int = FEW, many: int = MANY) -> Report:
    """Compare the peaks of resident memory, for each kind of results."""
    peaks: dict[str, list[int]] = {}
    for count in (few, many):
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            written = write_lines(place, count, seed)
            for kind, options in {
                "table": [],
                "json": ["--output", str(place / "run.json")],
                "html": ["--output", str(place / "report.html")],
                "run directory": ["--run-dir", str(place / "run")],
            }.items():
                command = programs.evaluation(written, *options)
                peaks.setdefault(kind, []).append(peak(command))
    times = {kind: values[-1] / values[0] for kind, values in peaks.items()}
    return Report(
        "Memory",
        ("results as", f"{few:,} documents", f"{many:,} documents", "ratio"),
        [[kind, *map(megabytes, peaks[kind]), ratio(times[kind])] for kind in peaks],
        [
            {"results": kind, "few": values[0], "many": values[-1], "ratio": times[kind]}
            for kind, values in peaks.items()
        ],
        notes=("Memory is the peak of resident memory, for small documents in JSON Lines.",),
        figures={targets.memory_target(kind): value for kind, value in times.items()},
    )
