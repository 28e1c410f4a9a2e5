"""A run from its documents to its results, whoever does the work: one process or several.

The results come in the order of the documents and are the same, to the byte, for any number of
processes and any size of chunks. Memory does not grow with the number of documents.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import BinaryIO, Final

from stickler_cli.runs.chunk import (
    TOO_LITTLE_MEMORY,
    ChunkResult,
    Item,
    Job,
    Wants,
    evaluate_chunk,
    failed_chunk,
)
from stickler_cli.runs.interruption import Interruption, until_interrupted
from stickler_cli.runs.jobs import Crew, usable_cores
from stickler_cli.runs.memory import memory_limited
from stickler_cli.runs.progress import Advance, silence

CHUNK_SECONDS: Final = 0.1
"""The work of a chunk in this process, after which progress is shown."""

MEASURED_SECONDS: Final = 0.25
"""The work after which it is judged how much more there is."""

WORTH_SECONDS: Final = 2.0
"""The work that must be left for other processes to be worth their start, which takes some 0.4 s
on a machine of 2026."""

WARM_UP_SECONDS: Final = 0.4
"""How long this process works on while what workers need is loaded beside it."""


def chunk_results(
    job: Job,
    items: Iterable[Item],
    crew: Crew,
    *,
    total: int | None = None,
    interruption: Interruption | None = None,
) -> Generator[ChunkResult]:
    """Evaluate documents and give the results, chunk by chunk, in the order of the documents.

    Args:
        job: everything that decides a result.
        items: what is to be compared; read only as far as there is work to hand out.
        crew: who does the work.
        total: how many items there are; None where nobody knows.
        interruption: whether to end early; what is finished by then is given.

    Raises:
        UsageError: the plan cannot be sent to another process.
        WorkerDiedError: a worker could not start.
    """
    interruption = interruption or Interruption()
    rest = until_interrupted(items, interruption)
    # Who waits for a model needs no more cores; and each process would load a local one.
    workers = crew.jobs or (1 if job.plan.asks_models else usable_cores())
    if crew.jobs is None and workers > 1:
        done, finished = yield from _first_chunks(job, rest, total, crew.memory_limit)
        if finished:
            return
        total = None if total is None else total - done
    if workers == 1:
        yield from _chunks_here(job, rest, crew.memory_limit)
        return
    # A run in one process does not pay for loading multiprocessing.
    from stickler_cli.runs.pool import Pool

    needed = workers if total is None else max(1, min(workers, total))
    pool = Pool(job, replace(crew, jobs=needed), total, interruption)
    yield from pool.results(rest)


def gather(
    results: Generator[ChunkResult],
    wants: Wants,
    *,
    document_lines: BinaryIO | None = None,
    non_match_lines: BinaryIO | None = None,
    advance: Advance = silence,
) -> ChunkResult:
    """Add up the results of a run; lines are written as they come, and not kept.

    Args:
        results: in the order of the documents.
        wants: what the run was asked for.
        document_lines: where the lines of documents go.
        non_match_lines: where those of errors go.
        advance: told of each chunk that is finished.

    Raises:
        OSError: lines cannot be written.
    """
    total = ChunkResult(evaluation=wants.evaluation(), detail=wants.no_detail())
    with closing(results):  # workers end, also where a line cannot be written
        for chunk in results:
            if document_lines is not None:
                document_lines.write(chunk.document_lines)
            if non_match_lines is not None:
                non_match_lines.write(chunk.non_match_lines)
            total.evaluation.merge(chunk.evaluation)
            room = wants.first_non_matches - len(total.first_non_matches)
            total.first_non_matches += chunk.first_non_matches[:room]
            total.document = chunk.document
            if total.detail is not None and chunk.detail is not None:
                total.detail.merge(chunk.detail)
            advance(len(chunk.ids))
    return total


def _first_chunks(
    job: Job, rest: Iterator[Item], total: int | None, limit: int | None
) -> Generator[ChunkResult, None, tuple[int, bool]]:
    """Work here until other processes are worth their start, and then until they can start.

    Returns:
        How many documents are done, and whether these are all.
    """
    start = monotonic()
    done, enough = 0, float("inf")
    for chunk in _chunks_here(job, rest, limit):
        yield chunk
        done += len(chunk.ids)
        elapsed = monotonic() - start
        # Where nobody knows how much is left, it is taken to be as much as there was.
        left = elapsed if total is None else elapsed / done * (total - done)
        if elapsed > enough:
            return done, False
        if elapsed > MEASURED_SECONDS and left > WORTH_SECONDS and enough == float("inf"):
            from stickler_cli.runs.starting import warm_up  # as above

            warm_up()
            enough = elapsed + WARM_UP_SECONDS
    return done, True


def _chunks_here(job: Job, rest: Iterator[Item], limit: int | None) -> Iterator[ChunkResult]:
    """Evaluate documents in this process, and under the limit of its memory."""
    while True:
        items: list[Item] = []
        try:
            with memory_limited(limit):
                chunk = evaluate_chunk(job, _timed(rest, items))
        except MemoryError:
            yield from _one_by_one(job, items, limit)
            continue
        if not chunk.ids:
            return
        yield chunk


def _one_by_one(job: Job, items: list[Item], limit: int | None) -> Iterator[ChunkResult]:
    """Evaluate documents whose results together take too much memory."""
    for item in items:
        try:
            with memory_limited(limit):
                chunk = evaluate_chunk(job, [item])
        except MemoryError:
            chunk = failed_chunk(job, item, TOO_LITTLE_MEMORY)
        yield chunk


def _timed(rest: Iterator[Item], taken: list[Item]) -> Iterator[Item]:
    """Give items for as long as a chunk is to take, one at least; and note them."""
    end = monotonic() + CHUNK_SECONDS
    for item in rest:
        taken.append(item)
        yield item
        if monotonic() > end:
            return
