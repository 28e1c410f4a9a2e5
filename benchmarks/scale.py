"""Evaluate many documents in one process and on a Dask cluster, and estimate larger runs.

`python -m benchmarks.scale DOCUMENTS` writes documents, evaluates them, compares the counts with
those of the generator, and measures peak memory and the speed of each tenth of the run.
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
from benchmarks.memory import format_megabytes
from benchmarks.processes import ProcessError, build_environment
from benchmarks.report import Report, render_markdown, render_text
from benchmarks.scale_model import Measured, describe_projection
from benchmarks.sets import Written

FEW: Final = 100_000
"""Number of documents in the small run. The memory of the large run is compared with that of this
run."""

MOST_MEMORY: Final = 1.2
WAYS: Final = {
    0: ("one process", ("--jobs", "1")),
    1: ("Dask, 1 worker", ("--engine", "dask", "--jobs", "1")),
    2: ("Dask, 2 workers", ("--engine", "dask", "--jobs", "2")),
}
"""Maps the number of workers in a Dask cluster (0 without a cluster) to the name and the options of
the run."""

PARTS: Final = 10
SAMPLED: Final = 0.2  # seconds between two looks at a run


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Figures of a run, measured from another process."""

    documents: int
    seconds: float
    first: float
    """Seconds from the start until the run began to read the ground truth."""
    central: float
    """Seconds of processor time of the main process."""
    processor: float
    """Seconds of processor time of all processes."""
    run_peak: int
    """Peak of resident memory in bytes: of the main process, or of a child that used more."""
    worker_peak: int
    """Peak of resident memory in bytes of the worker that used most; 0 if there are no workers."""
    speeds: tuple[float, ...]
    """Documents per second in each tenth of the ground truth. A tenth in which the run was seen
    less than twice is left out."""
    work_speeds: tuple[float, ...]
    """Documents per second of processor time in each tenth of the ground truth. Other load on the
    machine changes these numbers least."""
    counts: Mapping[str, Mapping[str, int]]


def watch(written: Written, *method_options: str) -> RunFigures:
    """Evaluate documents in another process, and measure the run from this process.

    The run's position in the ground-truth file shows its progress, since a run reads only a little
    ahead.

    Raises:
        ProcessError: the run failed.
    """
    size = written.gt.stat().st_size
    places: list[tuple[float, int]] = []
    work: list[tuple[float, int]] = []
    peaks: dict[int, int] = {}
    processor_seconds: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "run.json"
        inputs = (str(written.schema), str(written.gt), str(written.pred))
        options = ("--rows", "none", "--no-config", "-q", "-o", str(file))
        start = time.perf_counter()
        process = subprocess.Popen(
            (sys.executable, "-m", "stickler_cli", "eval", *inputs, *options, *method_options),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=build_environment(),
            start_new_session=True,
        )
        while not (status := os.wait4(process.pid, os.WNOHANG))[0]:
            time.sleep(SAMPLED)
            for process_id in _group(process.pid):
                peaks[process_id] = max(peaks.get(process_id, 0), _peak(process_id))
                processor_seconds[process_id] = max(
                    processor_seconds.get(process_id, 0.0), _processor_seconds(process_id)
                )
            if (place := _place(process.pid, written.gt)) is not None:
                places.append((time.perf_counter() - start, place))
                work.append((sum(processor_seconds.values()), place))
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status[1])
        if process.returncode:
            message = process.stderr.read().decode("utf-8", "replace") if process.stderr else ""
            raise ProcessError(
                f"{' '.join(method_options)} exited with {process.returncode}: {message}"
            )
        run = json.loads(file.read_bytes())
    peaks.pop(process.pid, None)
    return RunFigures(
        documents=written.documents,
        seconds=seconds,
        first=places[0][0] if places else seconds,
        central=processor_seconds.get(process.pid, 0.0),
        processor=sum(processor_seconds.values()),
        run_peak=1024 * status[2].ru_maxrss,
        worker_peak=max(peaks.values(), default=0),
        speeds=tuple(_speeds(places, size, written.documents)),
        work_speeds=tuple(_speeds(work, size, written.documents)),
        counts=dict(_leaves(run["confusion_matrix"]["fields"])),
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
    peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return 1024 * int(peaks[0]) if peaks else 0


def _processor_seconds(process: int) -> float:
    try:
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _place(process: int, file: Path) -> int | None:
    """Return the position in bytes up to which a process has read a file.

    None if the process does not have the file open.
    """
    folder = Path(f"/proc/{process}/fd")
    try:
        for link in folder.iterdir():
            if os.readlink(link) == str(file.resolve()):  # noqa: PTH115 - of a link in /proc
                lines = Path(f"/proc/{process}/fdinfo/{link.name}").read_text().split()
                return int(lines[1])
    except OSError:
        return None
    return None


def _speeds(readings: list[tuple[float, int]], size: int, documents: int) -> Iterator[float]:
    """Yield the documents per second in each tenth of a file that has at least two readings.

    A reading is (seconds, position in the file of `size` bytes).
    """
    for tenth in range(PARTS):
        begin, end = size * tenth / PARTS, size * (tenth + 1) / PARTS
        positions = [entry for entry in readings if begin <= entry[1] <= end]
        if len(positions) > 1:
            (since, first), (until, last) = positions[0], positions[-1]
            if until > since and last > first:
                yield documents * (last - first) / size / (until - since)


def _leaves(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, int]]]:
    for name, field in fields.items():
        if children := field.get("fields"):
            yield from _leaves(children, f"{prefix}{name}[].")
        else:
            leaves = field["leaves"]
            yield f"{prefix}{name}", {key: leaves[key] for key in ("tp", "fd", "fa", "fn")}


def measure(documents: int, place: Path, workers_of: Sequence[int] = tuple(WAYS)) -> Report:
    """Run each method with few and with `documents` documents.

    The report has a failure for each wrong count, and for each method whose memory grows too much.
    Documents are written below `place`. `workers_of` selects methods by their number of workers.
    """
    n_few = min(FEW, documents)
    methods = {workers: WAYS[workers] for workers in workers_of}
    runs: dict[tuple[int, int], RunFigures] = {}
    for count in sorted({n_few, documents}):
        written = scale_documents.write(place / str(count), count)
        for workers, (name, method_options) in methods.items():
            runs[workers, count] = run = watch(written, *method_options)
            print(f"{name}, {count:,} documents: {run.seconds:.1f} s", flush=True)
    large_runs = [(name, runs[workers, documents]) for workers, (name, _) in methods.items()]
    memory = {
        name: max(
            runs[workers, documents].run_peak / runs[workers, n_few].run_peak,
            runs[workers, documents].worker_peak / max(runs[workers, n_few].worker_peak, 1),
        )
        for workers, (name, _) in methods.items()
    }
    failures = [
        f"{name}: {path} counted {run.counts.get(path)}, expected {counts}"
        for name, run in large_runs
        for path, counts in scale_documents.count_expected(documents).items()
        if run.counts.get(path) != counts
    ]
    failures += [
        f"{name}: {times:.2f} times the memory of {n_few:,} documents, expected {MOST_MEMORY}"
        for name, times in memory.items()
        if times > MOST_MEMORY
    ]
    points = [
        Measured(
            workers=workers,
            documents=count,
            seconds=run.seconds,
            central=run.central,
            processor=run.processor,
        )
        for (workers, count), run in runs.items()
    ]
    return Report(
        title=f"{documents:,} documents",
        columns=(
            "way",
            "seconds",
            "documents/s",
            "run",
            "worker",
            "against few",
            "tenths",
            "of work",
        ),
        rows=[
            [
                name,
                f"{run.seconds:.1f}",
                f"{run.documents / run.seconds:,.0f}",
                format_megabytes(run.run_peak),
                format_megabytes(run.worker_peak),
                f"{memory[name]:.2f}",
                _evenness(run.speeds),
                _evenness(run.work_speeds),
            ]
            for name, run in large_runs
        ],
        record=[{"workers": workers, **asdict(run)} for (workers, _), run in runs.items()],
        notes=describe_projection(points, os.cpu_count() or 1)
        if any(point.workers == 1 for point in points)
        else (),
        failures=failures,
    )


def _evenness(speeds: Sequence[float]) -> str:
    """Return the speed of the slowest tenth divided by that of the fastest tenth, as text."""
    return f"{min(speeds) / max(speeds):.2f}" if speeds else "-"


def main() -> int:
    """Measure, print, and return 1 if counts are wrong or memory grows too much."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("documents", type=int)
    parser.add_argument("--place", type=Path, help="write documents here, and leave them there")
    parser.add_argument("--workers", type=int, nargs="*", choices=WAYS, default=[*WAYS])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--markdown", type=Path, help="also write a page here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        report = measure(options.documents, options.place or Path(directory), options.workers)
    print(render_text(report))
    if options.json:
        options.json.write_text(json.dumps(report.record, indent=1), "utf-8")
    if options.markdown:
        options.markdown.write_text(render_markdown(report) + "\n", "utf-8")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
