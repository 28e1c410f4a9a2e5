"""What several processes gain: on a run that is worth sharing, and how soon a worker is of use."""

import os
import statistics
import sys
import tempfile
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, Final

from benchmarks import programs, targets, worker_probe
from benchmarks.processes import in_turns, median_seconds, run
from benchmarks.report import Report, ratio
from benchmarks.sets import SETS, Written, write

SECONDS: Final = 10.5
"""What one process is to take at least; the target is set for 10."""

_PROBED: Final = 1000
"""Documents of the run whose workers are watched, so many that sharing them is sensible."""


def measure(repeat: int, seed: int, share: float = 1.0, seconds: float = SECONDS) -> Report:
    """Time invoices of ten items in one process and in two, and the first word of a worker."""
    invoices = SETS["invoices-10"]
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        base = write(invoices, place / "base", max(1, round(invoices.documents * share)), seed)
        start_up = run(programs.evaluation(write(invoices, place / "one", 1, seed))).seconds
        each = max(run(programs.evaluation(base)).seconds - start_up, 0.01)
        many = _linked(base, place / "many", ceil((seconds - start_up) / each))
        commands = {jobs: programs.evaluation(many, jobs=jobs) for jobs in ("1", "2", "auto")}
        finished = in_turns(commands, repeat, warm_up=False)
        first = _first_comparisons(place / "probed", repeat, seed)
    took = {jobs: median_seconds(runs) for jobs, runs in finished.items()}
    gain = took["1"] / took["2"]
    figures = {targets.TWO: gain} if took["1"] >= min(seconds, 10) else {}
    milliseconds = None
    if first:
        milliseconds = 1000 * statistics.median(first)
        figures[targets.FIRST_RESULT] = milliseconds
    return Report(
        "Two processes",
        ("documents", "one process", "two", "auto", "one / two", "first comparison"),
        [
            [
                f"{many.documents:,}",
                *(f"{took[jobs]:.2f} s" for jobs in commands),
                ratio(gain),
                "-" if milliseconds is None else f"{milliseconds:.0f} ms",
            ]
        ],
        {"documents": many.documents, "seconds": took, "gain": gain, "first": first},
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


def _linked(base: Written, place: Path, times: int) -> Written:
    """Give a set that has each document of another one under several names."""
    many = Written(base.schema, place / "gt", place / "pred", base.documents * times)
    for source, target in ((base.gt, many.gt), (base.pred, many.pred)):
        target.mkdir(parents=True)
        for file in source.iterdir():
            for copy in range(times):
                os.link(file, target / f"{copy:03}-{file.name}")
    return many


def _first_comparisons(place: Path, repeat: int, seed: int) -> list[float]:
    """Give the seconds from the start of each worker until it compares its first value."""
    if not sys.platform.startswith("linux"):  # others do not say when a process started
        return []
    invoices = SETS["invoices-10"]
    probed = replace(invoices, schema=_with_probe(invoices.schema))
    written = write(probed, place, _PROBED, seed)
    log = place / "log"
    command = programs.evaluation(written, "--allow-plugins", jobs="2")
    for _ in range(repeat):
        run(["env", f"{worker_probe.LOG}={log}", *command])
    return [float(line) for line in log.read_text("utf-8").split()] if log.exists() else []


def _with_probe(schema: dict[str, Any]) -> dict[str, Any]:
    """Let one field be compared by the probe."""
    properties = schema["properties"]
    name = "document_type"
    probe = {"x-aws-stickler-comparator": f"{worker_probe.__name__}:{worker_probe.Probe.__name__}"}
    return {**schema, "properties": {**properties, name: {**properties[name], **probe}}}
