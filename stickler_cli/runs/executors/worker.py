"""One worker: the process that compares chunks, and the end of it that the run holds.

It is sent a chunk only when it waits for one: so no pipe can fill up on both sides, and where a
worker dies it is known which documents it had.
"""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from ctypes import CDLL
from dataclasses import replace
from multiprocessing import current_process, get_context, parent_process
from multiprocessing.connection import Connection
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from stickler_cli.clients.allowance import DEFAULT_POLICY
from stickler_cli.compare.field_listing import comparators
from stickler_cli.compare.plan import Options
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.runs.chunk import evaluate_chunk
from stickler_cli.runs.interruption import SIGNALS
from stickler_cli.runs.job import Job
from stickler_cli.runs.limits import can_fork, memory_limited, rarely_collected, room_for_depth
from stickler_cli.runs.read_documents import TOO_LITTLE_MEMORY, Item

if TYPE_CHECKING:  # Windows has only some
    from multiprocessing.context import ForkContext, ForkServerContext, SpawnContext
    from multiprocessing.process import BaseProcess

PICKLING_ERRORS: Final = (
    pickle.PickleError,
    AttributeError,
    ImportError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Of what cannot be written or read: a local class, too deep a value."""

READY: Final = b"ready"  # what a worker says first, or why it is not
NOT_HERE: Final = b"not here"  # of a chunk that cannot be read, or whose result cannot be sent
ASKS: Final = b"asks "  # what a message with questions to a model begins with
NO_MEMORY: Final = TOO_LITTLE_MEMORY.encode()  # of a chunk that there is no memory for
PR_SET_PDEATHSIG: Final = 1  # source: man 2 prctl, and linux/prctl.h
SECONDS_TO_END: Final = 5.0  # how long a worker that is told to end may take before it is killed


def packed_job(job: Job, source: str) -> bytes:
    """Return a job as it is sent to workers, whom the option `source` asks for.

    Raises:
        UsageError: it cannot be sent; with each comparator that is the reason.
    """
    try:
        return pickle.dumps(job)
    except PICKLING_ERRORS as error:
        reasons = [
            (comparator.name, reason)
            for comparator in comparators(job.plan)
            if (reason := _pickling_error(comparator)) is not None
        ] or [("the schema", error)]
    expected = "comparators of classes at the top level of a module that can be imported"
    found = dict.fromkeys(f"{name} cannot be sent to another process ({r})" for name, r in reasons)
    raise UsageError(Problem(source, each, expected, "use one process") for each in found)


def _pickling_error(value: object) -> Exception | None:
    try:
        pickle.dumps(value)
    except PICKLING_ERRORS as error:
        return error
    return None


class Worker:
    """A worker as the run sees it."""

    def __init__(
        self, job: Job, packed: bytes, memory_limit: int | None, others: "Iterable[Worker]" = ()
    ) -> None:
        """Start a process: a fork has the job as it is, one that begins anew is sent it packed.

        Raises:
            OSError: it cannot be started.
        """
        self.ready = False
        context = _context(job)
        self.connection, theirs = context.Pipe()
        # A pipe ends when nobody holds its end: what a fork has of this process is closed there.
        forked = context.get_start_method() == "fork"
        ours = [self.connection, *(other.connection for other in others)] if forked else []
        # What is forked from a server has the environment of when that began.
        environment = {} if forked else dict(os.environ)
        given = (theirs, job if forked else packed, memory_limit, ours, environment)
        self._process = context.Process(target=work, args=given, daemon=True)
        # Signals wait until a fork has forgotten what this process does of them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS) if forked else ()
        try:
            self._process.start()
        finally:
            if forked:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()  # what is read from it ends when the worker does

    def end(self) -> str:
        """Make sure that the process is gone; return how it went, such as `exit code 1`."""
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
        """Tell the process to end, whatever it is at."""
        self._process.terminate()


def _context(job: Job) -> "ForkContext | ForkServerContext | SpawnContext":
    """Return the way to start processes.

    A fork of this process can work after some milliseconds, since all is loaded. Where that would
    not be safe, the fork of a server is, which has loaded the engine; elsewhere they begin anew.
    """
    # Clients of models may hold connections, which two processes cannot share. And a process that
    # was started by Python may be running a script that starts itself again, which Python notices
    # only where processes begin anew.
    if current_process().name == "MainProcess" and can_fork() and not job.plan.asks_models:
        return get_context("fork")
    if sys.platform != "linux":
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def work(
    connection: Connection,
    job: Job | bytes,
    memory_limit: int | None = None,
    inherited: Iterable[Connection] = (),
    environment: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Be a worker: take chunks and send results, until the run is over or its process gone."""
    os.environ.update(environment)
    for other in inherited:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process above to answer
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    _end_by_signal()
    if (parent := parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    # Documents are read as deep as above. An OSError: nobody listens any more.
    with room_for_depth(), rarely_collected(), suppress(EOFError, OSError):
        if isinstance(job, bytes):
            try:
                job = cast("Job", pickle.loads(job))  # noqa: S301 - from the process above
            except PICKLING_ERRORS as error:
                # A class that was typed into an interpreter is in no module to be imported.
                connection.send_bytes(str(error).encode("utf-8", "backslashreplace"))
                return
        if job.options.client is not None:
            job = replace(job, options=_relaying(job.options, connection))
        connection.send_bytes(READY)
        while True:
            connection.send_bytes(answer(job, connection.recv_bytes(), memory_limit))


def _relaying(options: Options, connection: Connection) -> Options:
    """Return options whose client has the process above ask models, for all workers."""
    from stickler_cli.clients.relay import RelayedClient  # few runs ask models

    def relay(questions: bytes) -> bytes:
        connection.send_bytes(ASKS + questions)
        return connection.recv_bytes()

    policy = options.client.policy if options.client else DEFAULT_POLICY
    return replace(options, client=RelayedClient(policy, relay))


def _end_by_signal() -> None:
    """Have the system kill this process when the one that started it ends: in any library call."""
    if sys.platform == "linux":
        CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_with(parent: "BaseProcess") -> None:
    """End this process when the one above ends, also in the middle of a document."""
    parent.join()
    os._exit(1)


def answer(job: Job, packed: bytes, memory_limit: int | None) -> bytes:
    """Evaluate a chunk and return the result, packed, or why there is none."""
    try:
        items: list[Item] = pickle.loads(packed)  # noqa: S301 - from the process above
        with memory_limited(memory_limit):
            return pickle.dumps(evaluate_chunk(job, items))
    except MemoryError:
        return NO_MEMORY
    except Exception:  # noqa: BLE001 - the process above evaluates it again, and raises it there
        return NOT_HERE
