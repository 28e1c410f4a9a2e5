"""A run from its documents to its results, whoever does the work: one process or several.

The results come in the order of the documents and are the same, to the byte, for any number of
processes and any size of chunks. Memory does not grow with the number of documents.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from stickler_cli.runs.chunk import ChunkResult, Item, empty_result
from stickler_cli.runs.job import Job, Workers
from stickler_cli.runs.process import (
    Interruption,
    can_fork,
    rarely_collected,
    until_interrupted,
    usable_cores,
)
from .chunking import TASK, Chunks, Inline

if TYPE_CHECKING:
    from stickler_cli.records.row_files import TakesLines

NO_LINES: "Final[Mapping[str, TakesLines]]" = MappingProxyType({})
Advance: TypeAlias = Callable[[int], None]  # is told how many more documents are finished
MEASURED_SECONDS: Final = 0.25  # the work after which it is judged how much more there is

WORTH_FORKING: Final = 1.0
"""The seconds of work that must be left for forks to be worth it: what they find is to be sent."""

WORTH_STARTING: Final = 3.0
"""Likewise where processes begin anew, which takes half a second and more."""


def chunk_results(
    job: Job,
    items: Iterable[Item],
    workers: Workers,
    *,
    total: int | None = None,
    interruption: Interruption | None = None,
) -> Generator[ChunkResult]:
    """Evaluate documents and yield the results, chunk by chunk, in the order of the documents.

    What an `interruption` could not end in this process is left to another one. Items are read only
    as far as there is work to hand out; `total` is None where nobody knows it.

    Raises:
        UsageError: the plan cannot be sent to another process, or there is no such cluster.
        WorkerDiedError: a worker could not start, or the cluster is gone.
    """
    asked = interruption or Interruption()
    items = until_interrupted(items, asked)
    if workers.cluster is not None:
        # An extra, which takes a while to load.
        from .dask_cluster import DaskExecutor

        tasks = Chunks(items, jobs=usable_cores(), largest=TASK)
        yield from DaskExecutor(job, workers.cluster, total, asked).results(tasks)
        return
    asks, auto = job.plan.asks_models, workers.jobs == "auto"
    # Who waits for a model needs no more cores; and each process would load a local one.
    jobs = workers.jobs if workers.jobs != "auto" else 1 if asks else usable_cores()
    waiting = 1 if auto else jobs
    here = (auto or jobs == 1) and not workers.watched
    chunks = Chunks(items, size=workers.chunk_size, timed=not asks, jobs=waiting)
    start, done = monotonic(), 0
    if here:
        for chunk in Inline(job, workers.memory_limit, interruption).results(chunks):
            yield chunk
            done += len(chunk.ids)
            elapsed = monotonic() - start
            # Where nobody knows how much is left, it is taken to be as much as there was.
            left = elapsed if total is None else elapsed / done * (total - done)
            worth = jobs > 1 and elapsed > MEASURED_SECONDS
            if worth and left > (WORTH_FORKING if can_fork() else WORTH_STARTING):
                break
        else:
            if not chunks.returned:
                return
    # A run in one process does not pay for loading multiprocessing.
    from .pool import Pool

    rest = None if total is None else total - done
    needed = jobs if rest is None else max(1, min(jobs, rest))
    yield from Pool(job, workers, needed, rest, asked).results(chunks)


def gather(
    results: Generator[ChunkResult],
    job: Job,
    lines: "Mapping[str, TakesLines]" = NO_LINES,
    advance: Advance | None = None,
) -> ChunkResult:
    """Add up the results of a run; lines are written to streams as they come, and not kept.

    Streams have the name of what they take: `document_lines`, `non_match_lines`, `value_lines`.
    """
    total = empty_result(job)
    # Workers end, also where a line cannot be written.
    with closing(results), rarely_collected():
        for chunk in results:
            for name, stream in lines.items():
                stream.write(getattr(chunk, name))
            total.add(chunk, job)
            if advance is not None:
                advance(len(chunk.ids))
    return total
