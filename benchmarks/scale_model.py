"""What a thousand million documents would take: a model of few numbers, held against runs.

A run takes its start, and for each document the work of a worker divided by the workers, or the
work of the process of the run (it finds lines, and adds up), whichever is more; on one machine, no
less than all work divided by its cores. Work is processor time, which other work on the machine
hardly changes.
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
    """One run."""

    workers: int
    """0 without a cluster."""
    documents: int
    seconds: float
    central: float
    """Seconds of processor time of the process of the run, which finds lines and adds up; where it
    started the cluster, its scheduler is in there too."""
    processor: float
    """Likewise, of all processes."""


@dataclass(frozen=True, slots=True)
class Model:
    """What a run on a cluster takes."""

    start: float
    """Seconds."""
    start_work: float
    """Seconds of processor time, of all processes."""
    each: float
    """Seconds of a worker, for a document."""
    central: float
    """Seconds of the process of the run, for a document."""

    def seconds(self, documents: int, workers: int, cores: float = inf) -> float:
        """Give the seconds of a run; with infinite cores each process has one of its own."""
        bounds = self.each / workers, self.central, (self.each + self.central) / cores
        return self.start + documents * max(bounds)

    def work(self, documents: int) -> float:
        """Give the seconds of processor time of all processes."""
        return self.start_work + documents * (self.each + self.central)

    def enough(self) -> int:
        """Give the workers with which the process of the run has no time left."""
        return int(self.each / self.central) if self.central else 0


def fitted(points: Sequence[Measured]) -> Model:
    """Fit all to the runs of one worker: few documents, and many."""
    one = sorted((it for it in points if it.workers == 1), key=lambda it: it.documents)
    few, many = one[0], one[-1]
    more = many.documents - few.documents
    if not more:
        each = (many.processor - many.central) / many.documents
        return Model(0.0, 0.0, each, many.central / many.documents)
    central = (many.central - few.central) / more
    each = (many.processor - few.processor) / more - central
    start = few.seconds - few.documents * max(each, central)
    return Model(start, few.processor - few.documents * (each + central), each, central)


def projected(points: Sequence[Measured], cores: int) -> tuple[str, ...]:
    """Say how well the model tells runs that it was not fitted to, and what it tells of many.

    `cores` are those of the machine that the runs were on.
    """
    model = fitted(points)
    return (*_checked(model, points, cores), *_told(model))


def _checked(model: Model, points: Sequence[Measured], cores: int) -> Iterator[str]:
    for point in points:
        if point.workers > 1:
            told = model.seconds(point.documents, point.workers, cores)
            yield (
                f"The model, fitted to one worker, tells {told:.1f} s of"
                f" {point.documents:,} documents on {point.workers}, and"
                f" {model.work(point.documents):.1f} s of processor time;"
                f" {point.seconds:.1f} s and {point.processor:.1f} s were measured."
            )


def _told(model: Model) -> Iterator[str]:
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
