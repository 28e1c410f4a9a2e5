"""A run in several processes: chunks of documents go out, their results come back in order.

What cannot be sent to a worker, or back, is evaluated in this process. Where a worker dies, its
documents are tried again in smaller chunks, until those are known that no worker survives.
"""

import pickle
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Final

from stickler_cli.core.problems import Problem, UsageError, WorkerDiedError
from stickler_cli.core.values import dataclass
from stickler_cli.runs.chunk import ChunkResult, evaluate_chunk, failed_chunk
from stickler_cli.runs.interruption import Interrupted, Interruption
from stickler_cli.runs.job import Job, Workers
from stickler_cli.runs.read_documents import Item
from .chunking import Chunks, size_of
from .executor import MOST_IN_VAIN, Elsewhere, Handed
from .worker import (
    ASKS,
    NO_MEMORY,
    NOT_HERE,
    PICKLING_ERRORS,
    READY,
    Worker,
    packed_job,
)

MOST_DEATHS: Final = 2  # of workers by one document; one may have been killed from outside

if TYPE_CHECKING:
    from stickler_cli.clients.relay import Asking


@dataclass(slots=True, eq=False)
class _Chunk(Handed):
    items: Sequence[Item]
    result: ChunkResult | None = None
    sent_at: float = 0.0
    deaths: int = 0
    """Workers that died of it when it was one document."""


class Pool(Elsewhere[_Chunk]):
    """Workers, and the chunks that they are at."""

    def __init__(
        self,
        job: Job,
        workers: Workers,
        number: int,
        left: int | None,
        interruption: Interruption,
    ) -> None:
        """Prepare a number of workers; the rest is as every executor has it."""
        super().__init__(job, left, interruption)
        self.workers = workers
        self.number = number
        self.source = workers.source
        self.packed = b""
        self.at: dict[Worker, _Chunk | None] = {}
        """Every worker, and the chunk that it is at."""
        self.asking: Asking | None = None
        """The questions of workers to models; None before any asks."""

    def results(self, chunks: Chunks) -> Iterator[ChunkResult]:
        """Yield the results of all chunks, in their order; they are cut as workers ask for more."""
        self.packed = packed_job(self.job, self.workers.source)
        try:
            for _ in range(self.number):
                self._start_worker()
            yield from self._in_order(chunks)
        except Interrupted:
            return
        finally:
            if self.asking is not None:
                self.asking.put(None)
            for worker, at in self.at.items():
                if at is not None or not worker.ready:
                    worker.stop()  # where it is
            for worker in self.at:
                worker.end()

    def _part(self, items: Sequence[Item]) -> _Chunk:
        return _Chunk(items)

    def _hand_out(self, chunks: Chunks) -> None:
        """Send a chunk to every worker that waits for one."""
        for worker in [worker for worker, at in self.at.items() if at is None and worker.ready]:
            while self.at[worker] is None and (chunk := self._next(chunks)) is not None:
                try:
                    packed = pickle.dumps(chunk.items)
                except PICKLING_ERRORS:
                    chunk.result = self.interruption.wait(evaluate_chunk, self.job, chunk.items)
                    continue
                self.at[worker] = chunk
                chunk.sent_at = monotonic()
                with suppress(OSError):  # it is dead; reading from it will tell
                    worker.connection.send_bytes(packed)

    def _next(self, chunks: Chunks) -> _Chunk | None:
        """Return a chunk to be sent; None where there is none, or enough is held."""
        under_way = self.at.values()
        for chunk in self.order:
            if chunk.result is None and chunk not in under_way:
                return chunk  # it is to be tried again
        return self._new(chunks, len(self.at))

    def _receive(self, chunks: Chunks) -> None:
        """Take the answers of workers; wait for one unless a result is ready."""
        block = not self.order or self.order[0].result is None
        waited = [worker.connection for worker in self.at]
        ready = self.interruption.wait(wait, waited, self._patience() if block else 0)
        for worker in [worker for worker in self.at if worker.connection in ready]:
            try:
                answer = worker.connection.recv_bytes()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            chunk = self.at[worker]
            if answer.startswith(ASKS):
                self._ask(worker.connection, answer.removeprefix(ASKS))
            elif chunk is not None:
                self.at[worker] = None
                chunks.took(size_of(chunk.items), monotonic() - chunk.sent_at)
                if answer == NO_MEMORY:
                    self._try_again(chunk, answer.decode())
                elif answer == NOT_HERE:
                    chunk.result = self.interruption.wait(evaluate_chunk, self.job, chunk.items)
                else:
                    chunk.result = pickle.loads(answer)  # noqa: S301 - by a worker of ours
                    self.in_vain = 0
            elif answer == READY:
                worker.ready = True
            else:
                found = f"a worker cannot read the schema ({answer.decode()})"
                expected = "comparators of classes in a module that can be imported"
                problem = Problem(self.workers.source, found, expected, "use one process")
                raise UsageError([problem])
        self._stop_late(chunks)
        self._hand_out(chunks)  # so that no worker waits while the result is added

    def _ask(self, worker: Connection, questions: bytes) -> None:
        """Have questions of a worker answered, in a thread that waits for models."""
        from stickler_cli.clients.relay import answer_workers  # few runs ask models

        if self.asking is None:
            self.asking = SimpleQueue()
            arguments = self.job.options.client, self.asking
            threading.Thread(target=answer_workers, args=arguments, daemon=True).start()
        self.asking.put((worker, questions))

    def _patience(self) -> float | None:
        """Return the seconds until a worker is late; None if none ever is."""
        limit = self.workers.document_timeout
        begun = [chunk.sent_at for chunk in self.at.values() if chunk is not None]
        return max(0.0, min(begun) + limit - monotonic()) if begun and limit is not None else None

    def _stop_late(self, chunks: Chunks) -> None:
        """End workers that take too long; documents that came together are tried one by one."""
        limit, now = self.workers.document_timeout, monotonic()
        late = [
            (worker, chunk)
            for worker, chunk in self.at.items()
            if chunk is not None and limit is not None and now - chunk.sent_at > limit
        ]
        for worker, chunk in late:
            del self.at[worker]
            worker.stop()
            worker.end()
            self._start_worker()
            chunks.took(size_of(chunk.items), now - chunk.sent_at)
            if len(chunk.items) > 1:
                self._replace(chunk, *([item] for item in chunk.items))
            else:
                found = f"it takes longer to compare than --document-timeout {limit:g} lets it"
                chunk.result = failed_chunk(self.job, chunk.items[0], found)

    def _bury(self, worker: Worker) -> None:
        """Put a new worker in the place of a dead one, and have its documents tried again."""
        chunk = self.at.pop(worker)
        how = worker.end()
        if not worker.ready:
            raise self._broken(f"a worker process ended before its work did ({how})")
        self._note_death(f"{MOST_IN_VAIN} worker processes died one after the other ({how})")
        self._start_worker()
        if chunk is not None:
            self._try_again(chunk, f"the worker process that compared it died ({how})")

    def _try_again(self, chunk: _Chunk, found: str) -> None:
        """Send a chunk again in halves; a document by itself once more, then it is failed."""
        chunk.deaths += 1
        if len(chunk.items) > 1:
            self._halve(chunk, chunk.items)
        elif chunk.deaths == MOST_DEATHS:
            chunk.result = failed_chunk(self.job, chunk.items[0], found)

    def _start_worker(self) -> None:
        try:
            limit = self.workers.memory_limit
            self.at[Worker(self.job, self.packed, limit, self.at)] = None
        except OSError as error:
            raise self._broken(f"a worker process cannot be started ({error})") from None

    def _broken(self, found: str) -> WorkerDiedError:
        in_script = 'in a script, call this below `if __name__ == "__main__":`'
        hint = f"{in_script}; was there memory enough? one process needs no other"
        return WorkerDiedError([Problem(self.workers.source, found, "", hint)])
