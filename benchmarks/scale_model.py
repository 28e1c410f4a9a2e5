"""Estimate the time of a run of a thousand million documents, by a model fitted to small runs.

The time of a run is the start-up time plus a time for each document. The latter is the larger of
two times: the work of a worker divided by the number of workers, and the work of the main process,
which finds lines and adds up results. On one machine, it is also at least all work divided by the
number of cores. Work is processor time, which other load on the machine hardly changes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

PROJECTED: Final = 1_000_000_000
DOCUMENT: Final = 404  # bytes of a pair of the set, as lines
TASK: Final = 8192  # documents in a task; as many as there are at most
SENT: Final = 0.03  # bytes for each document of a task, as it is sent: lines that follow each other
RETURNED: Final = 17  # bytes for each document of what a task comes to, as it is sent
SCHEDULING: Final = 0.002  # seconds of the scheduler for a task; 1.7 ms were measured
DOLLARS: Final = 0.05  # of a core for an hour: half of an m7i.large of Amazon, on demand, in 2026


@dataclass(frozen=True, slots=True)
class Measured:
    """Times of one run."""

    workers: int
    """Number of workers; 0 without a cluster."""
    documents: int
    seconds: float
    central: float
    """Seconds of processor time of the main process, which finds lines and adds up results. They
    include the scheduler if the process started the cluster."""
    processor: float
    """Seconds of processor time of all processes."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the time of a run on a cluster."""

    start: float
    """Seconds of start-up."""
    start_work: float
    """Seconds of processor time of all processes during start-up."""
    worker: float
    """Seconds that a worker needs for each document."""
    central: float
    """Seconds that the main process needs for each document."""

    def seconds(self, documents: int, workers: int, cores: float = inf) -> float:
        """Return the estimated seconds of a run.

        By default, `cores` is infinite: each process has a core of its own.
        """
        bounds = self.worker / workers, self.central, (self.worker + self.central) / cores
        return self.start + documents * max(bounds)

    def work(self, documents: int) -> float:
        """Return the estimated seconds of processor time of all processes."""
        return self.start_work + documents * (self.worker + self.central)

    def enough(self) -> int:
        """Return the number of workers above which only the main process limits the speed.

        0 if the main process needs no time.
        """
        return int(self.worker / self.central) if self.central else 0


def fit_model(points: Sequence[Measured]) -> Model:
    """Return the model that fits the smallest and the largest run with one worker."""
    runs = sorted(
        (point for point in points if point.workers == 1), key=lambda point: point.documents
    )
    smallest, largest = runs[0], runs[-1]
    extra_documents = largest.documents - smallest.documents
    if not extra_documents:
        worker_seconds = (largest.processor - largest.central) / largest.documents
        return Model(
            start=0.0,
            start_work=0.0,
            worker=worker_seconds,
            central=largest.central / largest.documents,
        )
    central = (largest.central - smallest.central) / extra_documents
    worker_seconds = (largest.processor - smallest.processor) / extra_documents - central
    start = smallest.seconds - smallest.documents * max(worker_seconds, central)
    return Model(
        start=start,
        start_work=smallest.processor - smallest.documents * (worker_seconds + central),
        worker=worker_seconds,
        central=central,
    )


def describe_projection(points: Sequence[Measured], cores: int) -> tuple[str, ...]:
    """Return sentences that compare the model with runs, and its estimate for very many documents.

    Args:
        points: the runs. The model is fitted to those with one worker, and compared with others.
        cores: number of cores of the machine on which the runs were made.
    """
    model = fit_model(points)
    return (*_compare_with_runs(model, points, cores), *_project(model))


def _compare_with_runs(model: Model, points: Sequence[Measured], cores: int) -> Iterator[str]:
    for point in points:
        if point.workers > 1:
            seconds = model.seconds(point.documents, point.workers, cores)
            yield (
                f"The model, fitted to one worker, tells {seconds:.1f} s of"
                f" {point.documents:,} documents on {point.workers}, and"
                f" {model.work(point.documents):.1f} s of processor time;"
                f" {point.seconds:.1f} s and {point.processor:.1f} s were measured."
            )


def _project(model: Model) -> Iterator[str]:
    hours = model.work(PROJECTED) / 3600
    workers = max(1, model.enough())
    seconds = model.seconds(PROJECTED, workers)
    tasks = PROJECTED / TASK
    yield (
        f"{PROJECTED:,} documents: {hours:,.0f} hours of a core, ${hours * DOLLARS:,.2f} at"
        f" ${DOLLARS} an hour; {PROJECTED * DOCUMENT / 1e12:.1f} TB of documents, which workers"
        f" read, and the process of the run too where they are lines."
    )
    yield (
        f"{workers:,} workers are as many as one process keeps busy: {seconds / 3600:.1f} hours,"
        f" {tasks:,.0f} tasks, {tasks * SCHEDULING / 60:.0f} minutes of the scheduler,"
        f" {PROJECTED * (SENT + RETURNED) / 1e9:,.0f} GB between the process and the workers."
    )
