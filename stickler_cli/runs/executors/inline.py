"""Documents compared in this process, chunk by chunk."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Final

from stickler_cli.compare.work import TooMuchAtOnceError
from stickler_cli.runs.chunk import ChunkResult, evaluate_chunk, failed_chunk
from stickler_cli.runs.interruption import Interrupted, Interruption
from stickler_cli.runs.job import Job
from stickler_cli.runs.limits import memory_limited
from stickler_cli.runs.read_documents import Item
from .chunking import Chunks, size_of
from .executor import Executor

AT_ONCE: Final = 0.3
"""The units of work that this process does without a look at signals: a fraction of a second."""


class Inline(Executor):
    """This process. A chunk that is too much at once for it is returned, to be another's."""

    def __init__(
        self, job: Job, limit: int | None = None, interruption: Interruption | None = None
    ) -> None:
        """Take a job, a limit of bytes, and a wish to end, which work at once would not hear."""
        at_once = None if interruption is None else AT_ONCE
        self._job = replace(job, options=replace(job.options, work_at_once=at_once))
        self._limit = limit
        self._interruption = interruption or Interruption()

    def results(self, chunks: Chunks) -> Generator[ChunkResult]:
        """Yield the results of chunks, up to one that is too much at once."""
        while items := chunks.take():
            start = monotonic()
            try:
                results = self._interruption.wait(lambda: [*self._under_limit(items)])
            except Interrupted:
                return
            except TooMuchAtOnceError:
                chunks.returned = items
                return
            chunks.took(size_of(items), monotonic() - start)
            yield from results

    def _under_limit(self, items: Sequence[Item]) -> Iterator[ChunkResult]:
        """Evaluate documents under a limit of memory: one by one if they take too much together."""
        try:
            with memory_limited(self._limit):
                chunk = evaluate_chunk(self._job, items)
        except MemoryError:
            if len(items) == 1:
                yield failed_chunk(self._job, items[0])
            else:
                for item in items:
                    yield from self._under_limit([item])
        else:
            yield chunk
