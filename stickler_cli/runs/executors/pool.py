"""Run in several processes: chunks are sent to workers, and their results arrive in order.

A worker is sent a chunk only when it waits for one. Pipes can therefore not fill up in both
directions, and if a worker dies, it is known which documents it had. These documents are tried
again in smaller chunks, until those that kill workers are found. Chunks that cannot be pickled are
evaluated in this process.
"""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from ctypes import CDLL
from dataclasses import dataclass, replace
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.forkserver import ensure_running
from queue import SimpleQueue
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from stickler_cli.clients.client import Asking, RelayedClient, answer_workers
from stickler_cli.clients.model_policy import DEFAULT_POLICY
from stickler_cli.compare.plan import Options
from stickler_cli.core.problems import Problem, UsageError, WorkerDiedError
from stickler_cli.runs.chunk import (
    TOO_LITTLE_MEMORY,
    ChunkResult,
    WorkItem,
    evaluate_chunk,
    failed_chunk,
)
from stickler_cli.runs.job import Job, Workers
from stickler_cli.runs.process import (
    SIGNALS,
    Interrupted,
    Interruption,
    can_fork,
    memory_limited,
    rarely_collected,
    room_for_depth,
)
from .executor import (
    MOST_IN_VAIN,
    PICKLING_ERRORS,
    Chunks,
    Elsewhere,
    Handed,
    packed_job,
    size_of,
)

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, ForkServerContext, SpawnContext
    from multiprocessing.process import BaseProcess


# First message of a worker; anything else is the reason why it cannot start.
READY: Final = b"ready"
# Answer for a chunk that cannot be unpickled, or whose result cannot be pickled.
NOT_HERE: Final = b"not here"
ASKS: Final = b"asks "  # prefix of a message with questions to a model
NO_MEMORY: Final = TOO_LITTLE_MEMORY.encode()  # answer for a chunk that exceeds the memory limit
SAFE_PATH: Final = "PYTHONSAFEPATH"  # source: docs.python.org/3/using/cmdline.html
PR_SET_PDEATHSIG: Final = 1  # source: man 2 prctl, and linux/prctl.h
SECONDS_TO_END: Final = 5.0  # seconds after which a worker that was told to end is killed


# Deaths by one document before it is failed; the first may have been caused from outside.
MOST_DEATHS: Final = 2


class Worker:
    """A worker process, as seen from the main process."""

    def __init__(
        self,
        job: Job,
        packed: bytes,
        memory_limit: int | None,
        other_workers: "Iterable[Worker]" = (),
    ) -> None:
        """Start a worker process.

        A forked process inherits `job`; any other process is sent `packed`.

        Raises:
            OSError: the process cannot be started.
        """
        self.ready = False
        context = _choose_context(job)
        self.connection, worker_connection = context.Pipe()
        # A pipe reports its end once all copies are closed, so a fork closes those that it
        # inherits.
        forked = context.get_start_method() == "fork"
        own_connections = (
            [self.connection, *(worker.connection for worker in other_workers)] if forked else []
        )
        # A process from the fork server has the environment of the server's start.
        environment = {} if forked else dict(os.environ)
        arguments = (
            worker_connection,
            job if forked else packed,
            memory_limit,
            own_connections,
            environment,
        )
        self._process = context.Process(target=work, args=arguments, daemon=True)
        # Block signals until the fork has reset the handlers that it inherits.
        earlier_mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS) if forked else ()
        try:
            self._process.start()
        finally:
            if forked:
                signal.pthread_sigmask(signal.SIG_SETMASK, earlier_mask)
        worker_connection.close()  # so that reading reports the end of the worker

    def end(self) -> str:
        """Wait for the process to end, or kill it. Return how it ended, such as `exit code 1`."""
        self.connection.close()
        self._process.join(SECONDS_TO_END)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        code = self._process.exitcode or 0
        if code >= 0:
            return f"exit code {code}"
        return f"signal {-code}" + ("; out of memory?" if code == -signal.SIGKILL else "")

    def stop(self) -> None:
        """Terminate the process."""
        self._process.terminate()


def _choose_context(job: Job) -> "ForkContext | ForkServerContext | SpawnContext":
    """Return the way to start worker processes: fork, fork server or spawn.

    A forked process can work within milliseconds, because everything is loaded already. If forking
    this process is not safe, Linux uses a fork server that has loaded the engine, and other systems
    spawn processes.
    """
    # Clients of models may have open connections, which two processes cannot share. A process that
    # Python itself started may be running a script that starts itself again; Python notices this
    # only for new processes.
    if current_process().name == "MainProcess" and can_fork() and not job.plan.asks_models:
        return get_context("fork")
    if sys.platform != "linux":
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    _start_fork_server()
    return context


def _start_fork_server() -> None:
    """Start the fork server in such a way that it does not import from the working directory.

    Otherwise, a module in the working directory could replace an installed one of the same name.
    """
    previous = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        ensure_running()
    finally:
        if previous is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = previous


def work(
    connection: Connection,
    job: Job | bytes,
    memory_limit: int | None = None,
    inherited: Iterable[Connection] = (),
    environment: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Do the work of a worker process: evaluate the chunks that the main process sends.

    The function returns when the run ends, or when the main process is gone.
    """
    if environment:
        os.environ.pop(SAFE_PATH, None)  # set for the fork server only
        os.environ.update(environment)
    for other in inherited:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    if sys.platform == "linux":  # kill this process when the main process dies
        CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if (parent := parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    # Read documents as deep as the main process does. OSError: the main process is gone.
    with room_for_depth(), rarely_collected(), suppress(EOFError, OSError):
        if isinstance(job, bytes):
            try:
                job = cast("Job", pickle.loads(job))  # noqa: S301 - from the process above
            except PICKLING_ERRORS as error:
                # A class that was typed into an interpreter cannot be imported.
                connection.send_bytes(str(error).encode("utf-8", "backslashreplace"))
                return
        if job.options.client is not None:
            job = replace(job, options=_relay_questions(job.options, connection))
        connection.send_bytes(READY)
        while True:
            connection.send_bytes(packed_result(job, connection.recv_bytes(), memory_limit))


def _relay_questions(options: Options, connection: Connection) -> Options:
    """Return options for a worker process. Its client passes all questions to the main process.

    Only the main process asks models.
    """

    def relay(questions: bytes) -> bytes:
        connection.send_bytes(ASKS + questions)
        return connection.recv_bytes()

    policy = options.client.policy if options.client else DEFAULT_POLICY
    return replace(options, client=RelayedClient(policy, relay))


def _end_with(parent: "BaseProcess") -> None:
    """End this process when the main process ends, even in the middle of a document."""
    parent.join()
    os._exit(1)


def packed_result(job: Job, packed: bytes, memory_limit: int | None) -> bytes:
    """Evaluate a packed chunk. Return the pickled result, or a code that says what went wrong."""
    try:
        items: list[WorkItem] = pickle.loads(packed)  # noqa: S301 - from the process above
        with memory_limited(memory_limit):
            return pickle.dumps(evaluate_chunk(job, items))
    except MemoryError:
        return NO_MEMORY
    except Exception:  # noqa: BLE001 - the process above evaluates it again, and raises it there
        return NOT_HERE


@dataclass(slots=True, eq=False)
class _Chunk(Handed):
    items: Sequence[WorkItem]
    result: ChunkResult | None = None
    sent_at: float = 0.0
    deaths: int = 0
    """How often a worker died or had too little memory while it worked on this chunk."""


class Pool(Elsewhere[_Chunk]):
    """Runs the chunks of a run in worker processes."""

    def __init__(
        self,
        job: Job,
        workers: Workers,
        number: int,
        left: int | None,
        interruption: Interruption,
    ) -> None:
        """Create a pool of `number` workers.

        `left` is the number of documents to evaluate; None if unknown.
        """
        super().__init__(job, left, interruption)
        self.workers = workers
        self.number = number
        self.source = workers.source
        self.packed = b""
        self.at: dict[Worker, _Chunk | None] = {}
        """The chunk that each worker is evaluating; None for a worker that has nothing to do."""
        self.asking: Asking | None = None
        """Questions from workers to models, waiting to be asked; None before the first question."""

    def results(self, chunks: Chunks) -> Iterator[ChunkResult]:
        """Yield the results of all chunks in order.

        A chunk is cut only when a worker is free for it.
        """
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
            for worker, chunk in self.at.items():
                if chunk is not None or not worker.ready:
                    worker.stop()  # even in the middle of a chunk
            for worker in self.at:
                worker.end()

    def _make_part(self, items: Sequence[WorkItem]) -> _Chunk:
        return _Chunk(items)

    def _hand_out(self, chunks: Chunks) -> None:
        """Send a chunk to every idle worker."""
        for worker in [
            worker for worker, busy_with in self.at.items() if busy_with is None and worker.ready
        ]:
            while self.at[worker] is None and (chunk := self._next(chunks)) is not None:
                try:
                    packed = pickle.dumps(chunk.items)
                except PICKLING_ERRORS:
                    chunk.result = self.interruption.wait(evaluate_chunk, self.job, chunk.items)
                    continue
                self.at[worker] = chunk
                chunk.sent_at = monotonic()
                with suppress(OSError):  # the worker is dead; reading from it reports that
                    worker.connection.send_bytes(packed)

    def _next(self, chunks: Chunks) -> _Chunk | None:
        """Return the next chunk to send, or None if no chunk can be sent now.

        No chunk can be sent if no documents are left. If the result of an early chunk is missing,
        the results of later chunks have to wait. No chunk is sent while too many results wait.
        """
        under_way = self.at.values()
        for chunk in self.order:
            if chunk.result is None and chunk not in under_way:
                return chunk  # it has to be tried again
        return self._take_part(chunks, len(self.at))

    def _receive(self, chunks: Chunks) -> None:
        """Take the messages of workers. If the next result is not there yet, wait for a message."""
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
                finding = f"a worker cannot read the schema ({answer.decode()})"
                expected = "comparator classes in a module that can be imported"
                problem = Problem(
                    source=self.workers.source,
                    found=finding,
                    expected=expected,
                    hint="or use --jobs 1",
                )
                raise UsageError([problem])
        self._stop_late(chunks)
        self._hand_out(chunks)  # before results are added, so that no worker is idle

    def _ask(self, worker: Connection, questions: bytes) -> None:
        """Pass questions of a worker to the thread that asks models."""
        if self.asking is None:
            self.asking = SimpleQueue()
            arguments = self.job.options.client, self.asking
            threading.Thread(target=answer_workers, args=arguments, daemon=True).start()
        self.asking.put((worker, questions))

    def _patience(self) -> float | None:
        """Return the seconds until the first worker exceeds the time limit.

        Returns None if there is no limit, or all workers are idle.
        """
        limit = self.workers.document_timeout
        begun = [chunk.sent_at for chunk in self.at.values() if chunk is not None]
        return max(0.0, min(begun) + limit - monotonic()) if begun and limit is not None else None

    def _stop_late(self, chunks: Chunks) -> None:
        """Replace workers that exceed the time limit. Try their documents again, one by one.

        A document that exceeds the limit on its own gets a failed result.
        """
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
                finding = (
                    f"comparing this document takes longer than --document-timeout {limit:g} allows"
                )
                chunk.result = failed_chunk(self.job, chunk.items[0], finding)

    def _bury(self, worker: Worker) -> None:
        """Replace a dead worker, and try its documents again."""
        chunk = self.at.pop(worker)
        cause_of_death = worker.end()
        if not worker.ready:
            finding = f"a worker process ended before it was ready ({cause_of_death})"
            raise self._broken(finding) from None
        self._note_death(f"{MOST_IN_VAIN} worker processes died in a row ({cause_of_death})")
        self._start_worker()
        if chunk is not None:
            self._try_again(
                chunk, f"the worker process that compared this document died ({cause_of_death})"
            )

    def _try_again(self, chunk: _Chunk, found: str) -> None:
        """Split a chunk that killed its worker or needs too much memory into halves, and try both.

        A chunk with a single document is tried again as it is. If its document has failed in this
        way `MOST_DEATHS` times, it gets a failed result, and `found` is the reason.
        """
        chunk.deaths += 1
        if len(chunk.items) > 1:
            self._halve(chunk, chunk.items)
        elif chunk.deaths == MOST_DEATHS:
            chunk.result = failed_chunk(self.job, chunk.items[0], found)

    def _start_worker(self) -> None:
        if getattr(current_process(), "_inheriting", False):
            # This is a new worker that is importing the user's script, which calls this again.
            # End it without a traceback; the main process raises an error that says what to do.
            raise SystemExit(1)
        try:
            limit = self.workers.memory_limit
            self.at[
                Worker(job=self.job, packed=self.packed, memory_limit=limit, other_workers=self.at)
            ] = None
        except OSError as error:
            raise self._broken(f"a worker process cannot be started ({error})") from None

    def _broken(self, found: str) -> WorkerDiedError:
        hint = (
            'in a script, call stickler only under `if __name__ == "__main__":`; if there is '
            "too little memory, --jobs 1 avoids worker processes"
        )
        return WorkerDiedError(
            [Problem(source=self.workers.source, found=found, expected="", hint=hint)]
        )
