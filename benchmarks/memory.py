"""Compare the peak memory of many documents with that of few."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks import programs, targets
from benchmarks.processes import run
from benchmarks.report import Report, format_ratio
from benchmarks.sets import NOTE, Written, pairs

_PEAK: Final = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A small program that starts the measured program. It is needed because a process inherits the
peak of its parent, and this parent is small."""

_UNIT: Final = 1 if sys.platform == "darwin" else 1024
"""Number of bytes in a unit of `ru_maxrss`. Source: getrusage(2) of macOS and of Linux."""

FEW: Final = 1_000
MANY: Final = 100_000


def write_lines(directory: Path, count: int, seed: int) -> Written:
    """Write `count` small documents as two JSON Lines files, ground truths and predictions."""
    written = Written(
        schema=directory / "schema.json",
        gt=directory / "gt.jsonl",
        pred=directory / "pred.jsonl",
        documents=count,
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


def measure_peak(command: Sequence[str]) -> int:
    """Run a program, and return its peak memory in bytes: that of the largest of its processes."""
    return _UNIT * int(run([sys.executable, "-c", _PEAK, *command], timeout=1800).output)


def format_megabytes(value: float) -> str:
    """Return a number of bytes as text in megabytes, such as `103 MB`."""
    return f"{value / 1e6:,.0f} MB"


def measure(seed: int, n_few: int = FEW, n_many: int = MANY) -> Report:
    """Compare the peak memory for many documents with that for few, for each kind of output."""
    peaks: dict[str, list[int]] = {}
    for count in (n_few, n_many):
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
                peaks.setdefault(kind, []).append(measure_peak(command))
    ratios = {kind: values[-1] / values[0] for kind, values in peaks.items()}
    return Report(
        title="Memory",
        columns=("results as", f"{n_few:,} documents", f"{n_many:,} documents", "ratio"),
        rows=[
            [kind, *map(format_megabytes, peaks[kind]), format_ratio(ratios[kind])]
            for kind in peaks
        ],
        record=[
            {"results": kind, "few": values[0], "many": values[-1], "ratio": ratios[kind]}
            for kind, values in peaks.items()
        ],
        notes=("Memory is the peak of resident memory, for small documents in JSON Lines.",),
        figures={targets.memory_target(kind): value for kind, value in ratios.items()},
    )
