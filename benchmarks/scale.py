"""Many documents through one process and through a cluster of Dask, and what more would take.

`python -m benchmarks.scale DOCUMENTS` writes them, has them evaluated, and holds counts against
those that the generator knows, the peak of memory and the speed of each tenth of the run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import scale_documents
from benchmarks.memory import megabytes
from benchmarks.processes import ProcessError, environment
from benchmarks.report import Report, as_markdown, as_text
from benchmarks.scale_model import Measured, projected
from benchmarks.sets import Written

FEW: Final = 100_000
"""Documents whose memory that of many is held against."""

MOST_MEMORY: Final = 1.2
WAYS: Final = {
    0: ("one process", ("--jobs", "1")),
    1: ("Dask, 1 worker", ("--engine", "dask", "--jobs", "1")),
    2: ("Dask, 2 workers", ("--engine", "dask", "--jobs", "2")),
}
"""By the number of workers of a cluster."""

PARTS: Final = 10
SAMPLED: Final = 0.2  # seconds between two looks at a run


@dataclass(frozen=True, slots=True)
class Watched:
    """A run that ended, and what was seen of it meanwhile."""

    documents: int
    seconds: float
    first: float
    """Seconds until it began to read ground truth."""
    central: float
    """Seconds of processor time of the process of the run."""
    processor: float
    """Likewise, of all its processes."""
    run_peak: int
    """Bytes of resident memory at most: of the process of the run, to its end, or of one that it
    started if that took more."""
    worker_peak: int
    """Likewise, of the largest of its other processes, as far as it was seen; 0 without any."""
    speeds: tuple[float, ...]
    """Documents a second, in each tenth of the ground truth."""
    work_speeds: tuple[float, ...]
    """Likewise, a second of processor time: what other work on the machine disturbs least."""
    counts: Mapping[str, Mapping[str, int]]


def watch(written: Written, *way: str) -> Watched:
    """Evaluate documents, and look at the run from outside as it goes.

    How far it is shows in how far it has read its ground truth: it reads little ahead.

    Raises:
        ProcessError: it failed.
    """
    size = written.gt.stat().st_size
    places: list[tuple[float, int]] = []
    work: list[tuple[float, int]] = []
    peaks: dict[int, int] = {}
    used: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "run.json"
        inputs = (str(written.schema), str(written.gt), str(written.pred))
        options = ("--rows", "none", "--no-config", "-q", "-o", str(file))
        start = time.perf_counter()
        process = subprocess.Popen(
            (sys.executable, "-m", "stickler_cli", "eval", *inputs, *options, *way),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
        )
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            time.sleep(SAMPLED)
            for one in _group(process.pid):
                peaks[one] = max(peaks.get(one, 0), _peak(one))
                used[one] = max(used.get(one, 0.0), _processor_seconds(one))
            if (place := _place(process.pid, written.gt)) is not None:
                places.append((time.perf_counter() - start, place))
                work.append((sum(used.values()), place))
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        if process.returncode:
            said = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
            raise ProcessError(f"{' '.join(way)} exited with {process.returncode}: {said}")
        run = json.loads(file.read_bytes())
    peaks.pop(process.pid, None)
    return Watched(
        written.documents,
        seconds,
        places[0][0] if places else seconds,
        used.get(process.pid, 0.0),
        sum(used.values()),
        1024 * ended[2].ru_maxrss,
        max(peaks.values(), default=0),
        tuple(_speeds(places, size, written.documents)),
        tuple(_speeds(work, size, written.documents)),
        dict(_leaves(run["confusion_matrix"]["fields"])),
    )


def _group(leader: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            session = (folder / "stat").read_text().rpartition(")")[2].split()[3]
        except OSError:
            continue  # it has ended
        if int(session) == leader:
            yield int(folder.name)


def _peak(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return 1024 * int(found[0]) if found else 0


def _processor_seconds(process: int) -> float:
    try:
        used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def _place(process: int, file: Path) -> int | None:
    """Give how far a process has read a file; None where it does not."""
    folder = Path(f"/proc/{process}/fd")
    try:
        for link in folder.iterdir():
            if os.readlink(link) == str(file.resolve()):  # noqa: PTH115 - of a link in /proc
                lines = Path(f"/proc/{process}/fdinfo/{link.name}").read_text().split()
                return int(lines[1])
    except OSError:
        return None
    return None


def _speeds(places: list[tuple[float, int]], size: int, documents: int) -> Iterator[float]:
    """Give the documents a second of each tenth that was seen to begin and end."""
    for part in range(PARTS):
        begin, end = size * part / PARTS, size * (part + 1) / PARTS
        inside = [entry for entry in places if begin <= entry[1] <= end]
        if len(inside) > 1:
            (since, first), (until, last) = inside[0], inside[-1]
            if until > since and last > first:
                yield documents * (last - first) / size / (until - since)


def _leaves(fields: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, dict[str, int]]]:
    for name, field in fields.items():
        if inside := field.get("fields"):
            yield from _leaves(inside, f"{above}{name}[].")
        else:
            leaves = field["leaves"]
            yield f"{above}{name}", {key: leaves[key] for key in ("tp", "fd", "fa", "fn")}


def measure(documents: int, place: Path, workers_of: Sequence[int] = tuple(WAYS)) -> Report:
    """Run ways, by their workers, few documents first, and say what does not hold."""
    few = min(FEW, documents)
    ways = {workers: WAYS[workers] for workers in workers_of}
    runs: dict[tuple[int, int], Watched] = {}
    for count in sorted({few, documents}):
        written = scale_documents.write(place / str(count), count)
        for workers, (name, way) in ways.items():
            runs[workers, count] = run = watch(written, *way)
            print(f"{name}, {count:,} documents: {run.seconds:.1f} s", flush=True)
    many = [(name, runs[workers, documents]) for workers, (name, _) in ways.items()]
    memory = {
        name: max(
            runs[workers, documents].run_peak / runs[workers, few].run_peak,
            runs[workers, documents].worker_peak / max(runs[workers, few].worker_peak, 1),
        )
        for workers, (name, _) in ways.items()
    }
    failures = [
        f"{name}: {path} counted {run.counts.get(path)}, expected {counts}"
        for name, run in many
        for path, counts in scale_documents.expected(documents).items()
        if run.counts.get(path) != counts
    ]
    failures += [
        f"{name}: {times:.2f} times the memory of {few:,} documents, expected {MOST_MEMORY}"
        for name, times in memory.items()
        if times > MOST_MEMORY
    ]
    points = [
        Measured(workers, count, run.seconds, run.central, run.processor)
        for (workers, count), run in runs.items()
    ]
    return Report(
        f"{documents:,} documents",
        ("way", "seconds", "documents/s", "run", "worker", "against few", "tenths", "of work"),
        [
            [
                name,
                f"{run.seconds:.1f}",
                f"{run.documents / run.seconds:,.0f}",
                megabytes(run.run_peak),
                megabytes(run.worker_peak),
                f"{memory[name]:.2f}",
                _evenness(run.speeds),
                _evenness(run.work_speeds),
            ]
            for name, run in many
        ],
        [{"workers": workers, **asdict(run)} for (workers, _), run in runs.items()],
        notes=projected(points, os.cpu_count() or 1)
        if any(it.workers == 1 for it in points)
        else (),
        failures=failures,
    )


def _evenness(speeds: Sequence[float]) -> str:
    """Give the slowest tenth as a share of the fastest one."""
    return f"{min(speeds) / max(speeds):.2f}" if speeds else "-"


def main() -> int:
    """Measure, print, and exit with 1 where something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("documents", type=int)
    parser.add_argument("--place", type=Path, help="write documents here, and leave them there")
    parser.add_argument("--workers", type=int, nargs="*", choices=WAYS, default=[*WAYS])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--markdown", type=Path, help="also write a page here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        report = measure(asked.documents, asked.place or Path(directory), asked.workers)
    print(as_text(report))
    if asked.json:
        asked.json.write_text(json.dumps(report.record, indent=1), "utf-8")
    if asked.markdown:
        asked.markdown.write_text(as_markdown(report) + "\n", "utf-8")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
