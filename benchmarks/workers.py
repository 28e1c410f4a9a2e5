"""Measure how much a second process gains, and how soon a worker compares its first value."""

import os
import statistics
import sys
import tempfile
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, Final

from benchmarks import programs, targets, worker_probe
from benchmarks.processes import median_seconds, run, run_in_turns
from benchmarks.report import Report, format_ratio
from benchmarks.sets import SETS, Written, write

SECONDS: Final = 10.5
"""Minimum number of seconds that the run in one process takes. The target applies to runs of at
least 10 seconds."""

_PROBED: Final = 1000
"""Number of documents in the run with the probe (worker_probe.py). There are enough of them for
several processes."""


def measure(repeat: int, seed: int, share: float = 1.0, seconds: float = SECONDS) -> Report:
    """Time invoices with ten items in one process and in two, and measure the first comparison.

    The run takes at least `seconds` in one process; `share` is the share of the documents that are
    written.
    """
    invoices = SETS["invoices-10"]
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        base = write(invoices, folder / "base", max(1, round(invoices.documents * share)), seed)
        start_up = run(programs.evaluation(write(invoices, folder / "one", 1, seed))).seconds
        seconds_each = max(run(programs.evaluation(base)).seconds - start_up, 0.01)
        copies = _linked(base, folder / "many", ceil((seconds - start_up) / seconds_each))
        commands = {jobs: programs.evaluation(copies, jobs=jobs) for jobs in ("1", "2", "auto")}
        finished = run_in_turns(commands, repeat, warm_up=False)
        first = _first_comparisons(folder / "probed", repeat, seed)
    seconds_by_jobs = {jobs: median_seconds(runs) for jobs, runs in finished.items()}
    gain = seconds_by_jobs["1"] / seconds_by_jobs["2"]
    figures = {targets.TWO: gain} if seconds_by_jobs["1"] >= min(seconds, 10) else {}
    milliseconds = None
    if first:
        milliseconds = 1000 * statistics.median(first)
        figures[targets.FIRST_RESULT] = milliseconds
    return Report(
        title="Two processes",
        columns=("documents", "one process", "two", "auto", "one / two", "first comparison"),
        rows=[
            [
                f"{copies.documents:,}",
                *(f"{seconds_by_jobs[jobs]:.2f} s" for jobs in commands),
                format_ratio(gain),
                "-" if milliseconds is None else f"{milliseconds:.0f} ms",
            ]
        ],
        record={
            "documents": copies.documents,
            "seconds": seconds_by_jobs,
            "gain": gain,
            "first": first,
        },
        notes=(
            (
                f"The documents are {base.documents:,} of invoices-10, each under several names."
                ' Times are those of whole processes. "First comparison" is the time from the'
                " start of a worker until it compares a value, measured in hundredths of a second;"
                f" median of {len(first)} workers."
            ),
        ),
        figures=figures,
    )


def _linked(base: Written, folder: Path, times: int) -> Written:
    """Return a set that has each document of another set `times` times, under different names."""
    copies = Written(
        schema=base.schema, gt=folder / "gt", pred=folder / "pred", documents=base.documents * times
    )
    for source, target in ((base.gt, copies.gt), (base.pred, copies.pred)):
        target.mkdir(parents=True)
        for file in source.iterdir():
            for copy in range(times):
                os.link(file, target / f"{copy:03}-{file.name}")
    return copies


def _first_comparisons(folder: Path, repeat: int, seed: int) -> list[float]:
    """Return the seconds from the start of each worker until it compares its first value."""
    if not sys.platform.startswith("linux"):  # others do not say when a process started
        return []
    invoices = SETS["invoices-10"]
    probed = replace(invoices, schema=_with_probe(invoices.schema))
    written = write(probed, folder, _PROBED, seed)
    log = folder / "log"
    command = programs.evaluation(written, "--allow-plugins", jobs="2")
    for _ in range(repeat):
        run(["env", f"{worker_probe.LOG}={log}", *command])
    return [float(line) for line in log.read_text("utf-8").split()] if log.exists() else []


def _with_probe(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a schema in which the probe compares one of the fields."""
    properties = schema["properties"]
    name = "document_type"
    probe = {"x-aws-stickler-comparator": f"{worker_probe.__name__}:{worker_probe.Probe.__name__}"}
    return {**schema, "properties": {**properties, name: {**properties[name], **probe}}}
