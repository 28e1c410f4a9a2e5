"""What a document of the scale set costs in one process, stage by stage, in processor time.

`python -m benchmarks.scale_stages DOCUMENTS` has a run looked at each millisecond of work: the
stage that it is in has the time. Only the processor's clock is read, so that other work on the
machine makes little difference.
"""

import argparse
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from benchmarks import scale_documents
from benchmarks.report import Report, as_text
from benchmarks.sets import Written
from stickler_cli.cli import main as stickler

EVERY: Final = 0.001  # seconds of processor time between two looks

STAGES: Final = {
    ("runs/executors/executor.py", "take"): "find lines, cut chunks",
    ("runs/chunk.py", "read"): "read and parse",
    ("compare/engine.py", "compare"): "compare",
    ("score/evaluation.py", "update"): "count, tell errors apart",
    ("runs/chunk.py", "_result_of"): "write lines",
    ("runs/chunk.py", "add"): "add up chunks",
}
"""By the function that they are in: of those that are under way, the innermost."""

REST: Final = "start, end, all else"

WAYS: Final = {
    "counts only": ("--rows", "none"),
    "with --documents": ("--rows", "none", "--documents", os.devnull),
}


def costs(written: Written, options: Sequence[str] = ()) -> dict[str, float]:
    """Return the microseconds of a document, by stage; start and end are in the last one."""
    seen: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        seen[_stage_of(frame)] += 1

    paths = (str(written.schema), str(written.gt), str(written.pred))
    before = signal.signal(signal.SIGPROF, look)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        stickler(("eval", *paths, "--no-config", "-q", "--jobs", "1", *options))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    each = 1e6 * (time.process_time() - start) / written.documents
    looks = seen.total()
    return {name: each * seen[name] / looks for name in (*STAGES.values(), REST)}


def _stage_of(frame: FrameType | None) -> str:
    while frame is not None:
        code = frame.f_code
        file = "/".join(Path(code.co_filename).parts[-2:])
        if (name := STAGES.get((file, code.co_name))) is not None:
            return name
        frame = frame.f_back
    return REST


def measure(documents: int) -> Report:
    """Run each way once."""
    with tempfile.TemporaryDirectory() as directory:
        written = scale_documents.write(Path(directory), documents)
        found = {
            name: costs(written, ("-o", str(Path(directory) / "run.json"), *options))
            for name, options in WAYS.items()
        }
    return Report(
        f"Microseconds of a processor for each of {documents:,} documents",
        ("stage", *WAYS),
        [
            [stage, *(f"{each[stage]:.1f}" for each in found.values())]
            for stage in (*STAGES.values(), REST)
        ]
        + [["all", *(f"{sum(each.values()):.1f}" for each in found.values())]],
        found,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_stages", description=__doc__)
    parser.add_argument("documents", type=int)
    asked = parser.parse_args()
    print(as_text(measure(asked.documents)))


if __name__ == "__main__":
    main()
