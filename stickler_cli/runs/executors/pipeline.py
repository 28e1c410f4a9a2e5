"""A run from its documents to its results, whoever does the work: one process or several.

The results come in the order of the documents and are the same, to the byte, for any number of
processes and any size of chunks. Memory does not grow with the number of documents.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from time import monotonic
from types import MappingProxyType
from typing import Final, TypeAlias

from stickler_cli.compare.work import TooMuchAtOnceError
from stickler_cli.records.row_files import TakesLines
from stickler_cli.runs.chunk import ChunkResult, empty_result, evaluate_chunk, failed_chunk
from stickler_cli.runs.interruption import Interrupted, Interruption, until_interrupted
from stickler_cli.runs.job import Job, Workers
from stickler_cli.runs.limits import can_fork, memory_limited, rarely_collected, usable_cores
from stickler_cli.runs.read_documents import Item
from .chunking import Chunks, size_of

NO_LINES: Final[Mapping[str, TakesLines]] = MappingProxyType({})
Advance: TypeAlias = Callable[[int], None]  # is told how many more documents are finished
MEASURED_SECONDS: Final = 0.25  # the work after which it is judged how much more there is

AT_ONCE: Final = 0.3
"""The units of work that this process does without a look at signals: a fraction of a second."""

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
        UsageError: the plan cannot be sent to another process.
        WorkerDiedError: a worker could not start.
    """
    asked = interruption or Interruption()
    asks, auto = job.plan.asks_models, workers.jobs == "auto"
    # Who waits for a model needs no more cores; and each process would load a local one.
    jobs = workers.jobs if workers.jobs != "auto" else 1 if asks else usable_cores()
    items, waiting = until_interrupted(items, asked), 1 if auto else jobs
    here = (auto or jobs == 1) and not workers.watched
    chunks = Chunks(items, size=workers.chunk_size, timed=not asks, jobs=waiting)
    start, done = monotonic(), 0
    if here:
        at_once = None if interruption is None else AT_ONCE
        own = replace(job, options=replace(job.options, work_at_once=at_once))
        for chunk in _chunks_here(own, chunks, workers.memory_limit, asked):
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
    lines: Mapping[str, TakesLines] = NO_LINES,
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


def _chunks_here(
    job: Job, chunks: Chunks, limit: int | None, interruption: Interruption
) -> Generator[ChunkResult]:
    """Evaluate chunks in this process, up to one that is too much at once for it."""
    while items := chunks.take():
        start = monotonic()
        try:
            results = interruption.wait(lambda: [*_under_limit(job, items, limit)])
        except Interrupted:
            return
        except TooMuchAtOnceError:
            chunks.returned = items
            return
        chunks.took(size_of(items), monotonic() - start)
        yield from results


def _under_limit(job: Job, items: Sequence[Item], limit: int | None) -> Iterator[ChunkResult]:
    """Evaluate documents under a limit of memory: one by one if they take too much together."""
    try:
        with memory_limited(limit):
            chunk = evaluate_chunk(job, items)
    except MemoryError:
        if len(items) == 1:
            yield failed_chunk(job, items[0])
        else:
            for item in items:
                yield from _under_limit(job, [item], limit)
    else:
        yield chunk
