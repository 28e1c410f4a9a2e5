"""Run on a Dask cluster: tasks are submitted, and their results are collected in order.

A task has references to documents, which the worker reads itself. If a worker dies, Dask repeats
its tasks on another worker. A task that killed several workers may contain a document that kills
them. Its two halves are tried again, each while no other task is running, until this document is
found.
"""

import asyncio
import gc
import logging
import os
import pickle
import platform
import signal
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import IO, Any, Final, NamedTuple

from dask import config
from distributed import Client, Future, KilledWorker, LocalCluster, get_worker
from distributed.comm import connect
from distributed.security import Security

from stickler_cli import __version__
from stickler_cli.core.problems import Problem, SticklerError, UsageError, WorkerDiedError
from stickler_cli.core.remote import hide_secrets
from stickler_cli.documents.document import LineReference, Reference
from stickler_cli.documents.document_pair import PairRef
from stickler_cli.documents.pairs import LineRange, Part, in_ranges
from stickler_cli.runs.chunk import (
    ChunkResult,
    WorkItem,
    empty_result,
    evaluate_chunk,
    failed_chunk,
)
from stickler_cli.runs.job import Cluster, Job
from stickler_cli.runs.process import Interrupted, Interruption, rarely_collected, usable_cores
from .executor import (
    MOST_IN_VAIN,
    Chunks,
    ChunkSize,
    Elsewhere,
    Handed,
    Inline,
    packed_job,
    size_of,
)

DECIDING: Final = (
    "distributed",
    "jsonschema-rs",
    "numpy",
    "orjson",
    "python-dateutil",
    "rapidfuzz",
    "scipy",
)
"""Packages on which the figures depend. All workers must have the same versions of them."""

NOT_INSTALLED: Final = "not installed"


AT_A_WORKER: Final = 2  # tasks for each worker: one that it works on, and one that waits
KEPT_MESSAGES: Final = 10
CONNECTING: Final = 10.0  # seconds within which a scheduler must answer
LOOKING: Final = 2.0  # seconds between two queries for the number of workers
ALONE: Final = 60.0  # seconds that a run waits for a worker while there is none
ENGINE: Final = "--engine dask"
LOST: Final = (OSError, TimeoutError, RuntimeError)
"""Errors that Dask raises if the scheduler is gone."""


class Done(NamedTuple):
    """The pickled result of a task, and the seconds that it took."""

    seconds: float
    result: bytes


@dataclass(frozen=True, slots=True)
class Needs:
    """What every worker must have: the same package versions, and access to the documents."""

    versions: Mapping[str, str]
    directory: str
    """Working directory. Relative paths of the run start from it."""
    sources: tuple[str, ...]


def versions() -> dict[str, str]:
    """Return the versions of all packages that figures depend on."""
    python = ".".join(platform.python_version_tuple()[:2])
    packages = {package: _version(package) for package in DECIDING}
    return {"Python": python, "stickler-cli": __version__, **packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return NOT_INSTALLED


def read_job(packed: bytes) -> Job:
    """Return the unpickled job of a run.

    This is a Dask task of its own, so that a worker unpickles the job only once.
    """
    job: Job = pickle.loads(packed)  # noqa: S301 - of the run
    return job


def evaluate_task(job: Job, needs: Needs, packed: bytes) -> Done:
    """Evaluate the documents of a Dask task in chunks. Return one result for all of them.

    Raises:
        UsageError: the worker does not meet the requirements of the run.
    """
    start = monotonic()
    worker = get_worker()
    _check_worker(needs, str(worker.address), worker.state.nthreads)
    with chdir(needs.directory), rarely_collected():
        chunks = Chunks(unpacked_items(packed), timed=not job.plan.asks_models)
        results = [*Inline(job).results(chunks)]
    total = empty_result(job)
    for result in results:
        total.add(result, job)
        total.ids += result.ids
        total.fingerprints += result.fingerprints
    total.document_lines = b"".join(result.document_lines for result in results)
    total.non_match_lines = b"".join(result.non_match_lines for result in results)
    total.value_lines = b"".join(result.value_lines for result in results)
    return Done(monotonic() - start, pickle.dumps(total))


def packed_items(items: Iterable[WorkItem]) -> bytes:
    """Return the documents of a Dask task as compressed bytes.

    Tasks must be small, because the scheduler keeps thousands of them. If a worker can read a
    document from a file, the text of the document is therefore left out.
    """
    items_or_ranges = [_drop_lines(item_or_range) for item_or_range in in_ranges(items)]
    return zlib.compress(pickle.dumps(items_or_ranges), 1)


def _drop_lines(item: Part) -> Part:
    """Remove the text of lines from a reference to a pair if a worker can read it from a file.

    An item that is not a reference to a pair is returned unchanged.
    """
    if not isinstance(item, PairRef):
        return item

    def unread(side: Reference | None) -> Reference | None:
        if isinstance(side, LineReference) and side.offset is not None:
            return side._replace(data=None)
        return side

    return item._replace(gt=unread(item.gt), pred=unread(item.pred))


def unpacked_items(packed: bytes) -> Iterator[WorkItem]:
    """Yield the documents of a Dask task. Lines that were left out are read from the files."""
    items_or_ranges: list[Part] = pickle.loads(zlib.decompress(packed))  # noqa: S301 - of the run
    with ExitStack() as stack:
        files: dict[str, IO[bytes]] = {}

        def read(side: Reference | None) -> Reference | None:
            if not isinstance(side, LineReference) or side.offset is None:
                return side
            try:
                if side.file not in files:
                    files[side.file] = stack.enter_context(Path(side.file).open("rb"))
                files[side.file].seek(side.offset)
                return side._replace(data=files[side.file].read(side.size))
            except OSError:
                return side  # the next reader reports the error

        for item_or_range in items_or_ranges:
            if isinstance(item_or_range, LineRange):
                yield from item_or_range.refs()
            elif isinstance(item_or_range, PairRef):
                yield item_or_range._replace(
                    gt=read(item_or_range.gt), pred=read(item_or_range.pred)
                )
            else:
                yield item_or_range


def _check_worker(needs: Needs, worker: str, threads: int) -> None:
    """Raise UsageError if a worker would give other results, or cannot read the documents."""
    if threads != 1:
        finding = f"the worker {worker} has {threads} threads"
        hint = "start the worker with dask worker --nworkers auto --nthreads 1"
        raise UsageError(
            [
                Problem(
                    source="--engine dask",
                    found=finding,
                    expected="processes of one thread",
                    hint=hint,
                )
            ]
        )
    own_versions = versions()
    for name, wanted in needs.versions.items():
        if own_versions.get(name) != wanted:
            finding = f"the worker {worker} has {name} {own_versions.get(name)}"
            hint = f"on the worker, run pip install '{name}=={wanted}'" if name != "Python" else ""
            raise UsageError(
                [
                    Problem(
                        source="--engine dask",
                        found=finding,
                        expected=f"{wanted}, as on this machine",
                        hint=hint,
                    )
                ]
            )
    for source in needs.sources:
        path = os.path.join(needs.directory, source)  # noqa: PTH118 - it may be no text
        if not os.access(path, os.R_OK):
            finding = f"the worker {worker} cannot read this file or directory"
            hint = (
                "workers read the documents themselves, so put the documents where every "
                "worker can read them"
            )
            raise UsageError(
                [Problem(source=source, found=finding, expected="a shared directory", hint=hint)]
            )


@dataclass(slots=True, eq=False)
class _Task(Handed):
    """Documents that are sent to a Dask worker together. The worker evaluates them in chunks."""

    items: bytes
    """References to the documents, packed by `packed_items`."""
    size: ChunkSize
    result: ChunkResult | None = None
    suspected: bool = False
    """Whether the task may have killed a worker. It must then run alone."""


@contextmanager
def _connect(cluster: Cluster, interruption: Interruption) -> Iterator[Client]:
    """Connect to a Dask cluster while the block of the `with` runs.

    If `cluster` has no scheduler, a cluster is started on this machine, and ended after the block.
    """
    for name in ("distributed", "distributed.client"):  # the run itself reports what matters
        logging.getLogger(name).setLevel(logging.CRITICAL)
    jobs = usable_cores() if cluster.jobs == "auto" else cluster.jobs
    with ExitStack() as stack:
        # By default each connection keeps its last thousand messages for debugging.
        stack.enter_context(config.set({"distributed.admin.low-level-log-length": KEPT_MESSAGES}))
        address: str | LocalCluster | None = cluster.scheduler
        try:
            if address is not None:
                interruption.wait(_check_that_answers, address)
            else:
                with _ignore_interrupts():
                    started = LocalCluster(
                        n_workers=jobs,
                        threads_per_worker=1,
                        # Any free port; the dashboard cannot be turned off.
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                address = stack.enter_context(started)
            client = stack.enter_context(
                interruption.wait(Client, address, timeout=CONNECTING, set_as_default=False)
            )
        except (OSError, ValueError, RuntimeError) as error:
            reason = str(error).partition("\n")[0] or f"no answer within {CONNECTING:g} s"
            reason = hide_secrets(reason, cluster.scheduler or "")
            finding = f"the scheduler does not answer ({reason})"
            source = f"--scheduler {address}" if isinstance(address, str) else ENGINE
            expected = "the address of a running scheduler, such as tcp://10.0.0.1:8786"
            raise UsageError([Problem(source, finding, expected)]) from None
        yield client


def _check_that_answers(address: str) -> None:
    """Raise OSError if no Dask scheduler answers at an address.

    A Dask client would wait for ever.
    """

    async def greet() -> None:
        arguments = Security().get_connection_args("client")
        comm = await asyncio.wait_for(connect(address, timeout=CONNECTING, **arguments), CONNECTING)
        await comm.close()

    asyncio.run(greet())


@contextmanager
def _ignore_interrupts() -> Iterator[None]:
    """Make threads and processes that are started in the block ignore Ctrl-C, now and later.

    The main thread ignores Ctrl-C only until the block ends. It then receives a Ctrl-C that was
    pressed in the block.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # start it first, as it unblocks Ctrl-C in its thread
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class DaskExecutor(Elsewhere[_Task]):
    """Runs the tasks of a run on a Dask cluster."""

    source = ENGINE

    def __init__(
        self, job: Job, cluster: Cluster, left: int | None, interruption: Interruption
    ) -> None:
        """Create an executor for a cluster.

        `left` is the number of documents that still have to be evaluated; None if unknown.
        """
        super().__init__(job, left, interruption)
        self.cluster = cluster
        directory = os.getcwd()  # noqa: PTH109 - it may be no text
        self.needs = Needs(versions(), directory, cluster.sources)
        self.at: dict[Future, _Task] = {}
        self.finished: SimpleQueue[Future] = SimpleQueue()
        self.workers = 0
        self.looked = 0.0
        self.seen = 0.0
        """Time at which the cluster last had a worker, as given by `time.monotonic`."""

    def results(self, chunks: Chunks) -> Iterator[ChunkResult]:
        """Evaluate documents on a cluster. Yield the results in the order of the documents.

        Raises:
            UsageError: the cluster does not exist, or its workers do not meet the requirements.
            WorkerDiedError: the cluster is gone, or too many workers died without a result.
        """
        packed = packed_job(self.job, ENGINE)
        try:
            with _connect(self.cluster, self.interruption) as client:
                yield from self._results_of(client, packed, chunks)
        except Interrupted:
            return

    def _results_of(self, client: Client, packed: bytes, chunks: Chunks) -> Iterator[ChunkResult]:
        self.client = client
        self.seen = monotonic()
        try:
            self.job_there = client.submit(read_job, packed, pure=False)
            yield from self._in_order(chunks)
        except LOST as error:
            reason = hide_secrets(str(error) or type(error).__name__, self.cluster.scheduler or "")
            finding = f"the connection to the cluster was lost ({reason})"
            raise WorkerDiedError([Problem(ENGINE, finding)]) from None
        finally:
            self._cancel()

    def _make_part(self, items: Sequence[WorkItem]) -> _Task:
        return _Task(packed_items(items), size_of(items))

    def _cancel(self) -> None:
        """Cancel all tasks that have not begun."""
        try:
            self.client.cancel([*self.at])
        except LOST:
            return

    def _look(self) -> None:
        """Ask the cluster for its number of workers, unless it was asked a moment ago.

        Raises:
            WorkerDiedError: the cluster has had no workers for a while.
        """
        now = monotonic()
        if now - self.looked < LOOKING:
            return
        self.workers = len(self.interruption.wait(self.client.nthreads))
        self.looked = monotonic()
        if self.workers:
            self.seen = now
        elif now - self.seen > ALONE:
            finding, hint = (
                f"the cluster has had no workers for {ALONE:g} seconds",
                "start a worker with dask worker ADDRESS",
            )
            raise WorkerDiedError(
                [Problem(source=ENGINE, found=finding, expected="at least one worker", hint=hint)]
            )

    def _hand_out(self, chunks: Chunks) -> None:
        """Submit tasks until all workers are busy."""
        self._look()
        while len(self.at) < max(1, self.workers) * AT_A_WORKER:
            task = self._next(chunks)
            if task is None:
                return
            self._give(task)

    def _give(self, task: _Task) -> None:
        future = self.client.submit(
            evaluate_task, self.job_there, self.needs, task.items, pure=False
        )
        self.at[future] = task
        future.add_done_callback(self.finished.put)

    def _next(self, chunks: Chunks) -> _Task | None:
        """Return the next task to submit, or None if no task can be submitted now.

        There are three reasons for None:
        - A suspected task is running, or has to wait until the other tasks have ended. It may have
          killed a worker, so it runs alone.
        - Too many results wait for an earlier one.
        - No documents are left.
        """
        running_tasks = [*self.at.values()]
        if any(task.suspected for task in running_tasks):
            return None
        suspected_task = next(
            (
                waiting_task
                for waiting_task in self.order
                if waiting_task.suspected and waiting_task.result is None
            ),
            None,
        )
        if suspected_task is not None:
            return None if running_tasks else suspected_task
        return self._take_part(chunks, max(1, self.workers))

    def _receive(self, chunks: Chunks) -> None:
        """Wait for a finished task for a limited time, and take its result."""
        try:
            future = self.interruption.wait(self.finished.get, timeout=LOOKING)
        except Empty:
            return
        task = self.at.pop(future)
        match future.status:  # the status can change at any time
            case "finished":
                try:
                    done = self.interruption.wait(future.result)
                # The result was lost in transit, and repeating the task killed workers.
                except KilledWorker as error:
                    self._failed(task, error)
                    return
                chunks.took(task.size, done.seconds)
                task.result = pickle.loads(done.result)  # noqa: S301 - by a worker of ours
                self.in_vain = 0
                # Dask leaves reference cycles of each task, and a run rarely collects garbage.
                gc.collect()
            case "error":
                self._failed(task, future.exception())
            case "lost":  # the worker was lost before its result was fetched
                self._give(task)
            case _:
                raise WorkerDiedError([Problem(ENGINE, "the scheduler lost a task")])

    def _failed(self, task: _Task, error: Any) -> None:
        """Handle a task that failed.

        If it killed workers, its halves are tried again. An error of stickler is raised. If a
        worker could not import the job, UsageError is raised. After any other error, the task is
        repeated in this process.
        """
        match error:
            case KilledWorker():
                self._try_again(task)
            case SticklerError():
                raise error
            case ImportError():
                finding = f"a worker cannot load the job ({error})"
                hint = (
                    f"install stickler {__version__} with the extra dask, and the "
                    "packages of all comparators, on the workers"
                )
                raise UsageError(
                    [
                        Problem(
                            source=ENGINE,
                            found=finding,
                            expected="the same packages as on this machine",
                            hint=hint,
                        )
                    ]
                )
            # A result that cannot be sent, or an error: evaluate here, where the error is raised.
            case _:
                task.result = self.interruption.wait(
                    evaluate_chunk, self.job, [*unpacked_items(task.items)]
                )

    def _try_again(self, task: _Task) -> None:
        """Replace a task that killed workers by its two halves. Each of them must run alone.

        If a single document ran alone and still killed a worker, it gets a failed result.
        """
        self._note_death(f"{MOST_IN_VAIN} tasks in a row made their workers die")
        items = [*unpacked_items(task.items)]
        if len(items) > 1:
            for half in self._halve(task, items):
                half.suspected = True
        elif task.suspected:
            finding = "every worker that compared this document died (out of memory?)"
            task.result = failed_chunk(self.job, items[0], finding)
        else:
            task.suspected = True
