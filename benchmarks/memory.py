"""How much more memory many documents take than few."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks import programs
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


def _peak(command: Sequence[str]) -> int:
    """Give the most memory that a program, or a worker of it, held; in bytes."""
    return _UNIT * int(run([sys.executable, "-c", _PEAK, *command]).output)


def measure(seed: int, few: int = FEW, many: int = MANY) -> Report:
    """Compare the peaks of resident memory, for each format of the results."""
    rows, records = [], []
    for kind in ("table", "json"):
        peaks = []
        for count in (few, many):
            with tempfile.TemporaryDirectory() as directory:
                written = write_lines(Path(directory), count, seed)
                peaks.append(_peak(programs.ours(written, "--format", kind)))
        times = peaks[1] / peaks[0]
        rows.append([kind, *(f"{peak / 2**20:.0f} MiB" for peak in peaks), ratio(times)])
        records.append({"format": kind, "few": peaks[0], "many": peaks[1], "ratio": times})
    return Report(
        "Memory",
        ("results as", f"{few:,} documents", f"{many:,} documents", "ratio"),
        rows,
        records,
        notes=("Peak of resident memory, small documents in JSON Lines.",),
    )
