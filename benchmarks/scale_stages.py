"""Measure the processor time of a document in one process, by stage of the evaluation.

`python -m benchmarks.scale_stages DOCUMENTS` interrupts a run after every millisecond of
processor time, and counts which stage is active. The documents are those of scale_documents.py.
Other load on the machine makes little difference.
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
from benchmarks.report import Report, render_text
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
"""Maps (module, function) to the stage of the evaluation. If several of these functions are active,
the innermost one counts."""

REST: Final = "start, end, all else"

WAYS: Final = {
    "counts only": ("--rows", "none"),
    "with --documents": ("--rows", "none", "--documents", os.devnull),
}


def measure_costs(written: Written, options: Sequence[str] = ()) -> dict[str, float]:
    """Return the microseconds of processor time for each document, as a dict from stage to time.

    Start and end of the run, and everything else, are in the last stage.
    """
    looks_by_stage: Counter[str] = Counter()

    def count_look(_: int, frame: FrameType | None) -> None:
        looks_by_stage[_stage_of(frame)] += 1

    paths = (str(written.schema), str(written.gt), str(written.pred))
    previous_handler = signal.signal(signal.SIGPROF, count_look)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        stickler(("eval", *paths, "--no-config", "-q", "--jobs", "1", *options))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous_handler)
    microseconds = 1e6 * (time.process_time() - start) / written.documents
    n_looks = looks_by_stage.total()
    return {
        name: microseconds * looks_by_stage[name] / n_looks for name in (*STAGES.values(), REST)
    }


def _stage_of(frame: FrameType | None) -> str:
    while frame is not None:
        code = frame.f_code
        file = "/".join(Path(code.co_filename).parts[-2:])
        if (name := STAGES.get((file, code.co_name))) is not None:
            return name
        frame = frame.f_back
    return REST


def measure(documents: int) -> Report:
    """Evaluate the documents once with each set of options in `WAYS`."""
    with tempfile.TemporaryDirectory() as directory:
        written = scale_documents.write(Path(directory), documents)
        costs_by_method = {
            name: measure_costs(written, ("-o", str(Path(directory) / "run.json"), *options))
            for name, options in WAYS.items()
        }
    return Report(
        title=f"Microseconds of a processor for each of {documents:,} documents",
        columns=("stage", *WAYS),
        rows=[
            [stage, *(f"{stage_costs[stage]:.1f}" for stage_costs in costs_by_method.values())]
            for stage in (*STAGES.values(), REST)
        ]
        + [
            [
                "all",
                *(f"{sum(stage_costs.values()):.1f}" for stage_costs in costs_by_method.values()),
            ]
        ],
        record=costs_by_method,
    )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_stages", description=__doc__)
    parser.add_argument("documents", type=int)
    options = parser.parse_args()
    print(render_text(measure(options.documents)))


if __name__ == "__main__":
    main()
