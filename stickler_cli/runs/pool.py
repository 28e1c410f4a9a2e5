"""A run in several processes: chunks of pairs go out, evaluations come back.

Evaluations add in any order with the same result, so the result is that of one process, to the
byte. What cannot be sent to another process, or back, is evaluated in this one.
"""

import pickle
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Final

from stickler_cli.compare.outline import comparators
from stickler_cli.documents import DocumentPair
from stickler_cli.errors import Problem, SticklerError, UsageError
from stickler_cli.metrics.evaluation import Evaluation
from stickler_cli.runs.chunk import Job, evaluate_pair
from stickler_cli.runs.depth import RECURSION_LIMIT
from stickler_cli.runs.local import run_local

CHUNK_SIZE: Final = 32
"""Pairs that are sent at once: so many that sending costs little, so few that all have work."""

CHUNKS_AHEAD: Final = 2
"""Chunks that wait or are worked on, for each worker; no more pairs than that are held."""

PICKLING_ERRORS: Final = (
    pickle.PickleError,
    AttributeError,
    ImportError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What pickle raises for what it cannot write or read: a local class, too deep a value."""


class WorkerDiedError(SticklerError):
    """A worker process that ended before its work did."""


def run_pool(
    job: Job, pairs: Iterable[DocumentPair], workers: int, chunk_size: int = CHUNK_SIZE
) -> Evaluation:
    """Evaluate pairs in other processes; memory does not grow with their number.

    The plan is sent to each worker once. Workers ignore Ctrl-C; where this process is interrupted,
    or the pairs raise, they stop after the document they are at.

    Args:
        job: everything that decides a result.
        pairs: read as workers ask for more.
        workers: how many processes, at least 1.
        chunk_size: how many pairs are sent at once, at least 1.

    Raises:
        UsageError: the plan cannot be sent to another process.
        WorkerDiedError: a worker was killed, or could not start.
    """
    context = get_context("spawn")  # the only way that is the same, and safe, on every system
    stop = context.Event()
    total = job.evaluation()
    waiting: deque[_Sent] = deque()
    with ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=start,
        initargs=(_packed(job, workers), stop, RECURSION_LIMIT),
    ) as pool:
        try:
            for chunk in _chunks(pairs, chunk_size):
                if len(waiting) == workers * CHUNKS_AHEAD:
                    total.merge(waiting.popleft().evaluation(job))
                waiting.append(_send(pool, chunk))
            while waiting:
                total.merge(waiting.popleft().evaluation(job))
        except BrokenProcessPool:
            hint = (
                'in a script, call this below `if __name__ == "__main__":`; was there memory '
                "enough? workers=1 needs no other process"
            )
            found = "a worker process ended before its work did"
            raise WorkerDiedError([Problem(_named(workers), found, "", hint)]) from None
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return total


def _named(workers: int) -> str:
    return f"workers={workers}"


def _packed(job: Job, workers: int) -> bytes:
    """Make a job ready to be sent."""
    try:
        return pickle.dumps(job)
    except PICKLING_ERRORS as error:
        raise _unsendable(job, _named(workers), error) from None


def _unsendable(job: Job, source: str, error: Exception) -> UsageError:
    """Say what of a plan cannot be sent to another process."""
    expected = "comparators of classes at the top level of a module that can be imported"
    problems = []
    for comparator in comparators(job.plan):
        try:
            pickle.dumps(comparator)
        except PICKLING_ERRORS as cause:
            found = f"{comparator.name} cannot be sent to another process ({cause})"
            problems.append(Problem(source, found, expected, "use workers=1"))
    found = f"the schema cannot be sent to another process ({error})"
    return UsageError(
        dict.fromkeys(problems) or [Problem(source, found, expected, "use workers=1")]
    )


def _chunks(pairs: Iterable[DocumentPair], size: int) -> Iterator[list[DocumentPair]]:
    rest = iter(pairs)
    while chunk := list(islice(rest, size)):
        yield chunk


@dataclass(frozen=True, slots=True)
class _Sent:
    """A chunk whose evaluation is on its way."""

    pairs: list[DocumentPair]
    answer: "Future[bytes | None] | None"
    """None where the pairs could not be sent."""

    def evaluation(self, job: Job) -> Evaluation:
        """Wait for the evaluation; make it here if it cannot be sent."""
        packed = self.answer.result() if self.answer else None
        if packed is None:
            return run_local(job, self.pairs)
        evaluation: Evaluation = pickle.loads(packed)  # noqa: S301 - by a worker of ours
        return evaluation


def _send(pool: ProcessPoolExecutor, pairs: list[DocumentPair]) -> _Sent:
    try:
        packed = pickle.dumps(pairs)
    except PICKLING_ERRORS:
        return _Sent(pairs, None)
    return _Sent(pairs, pool.submit(work, packed))


@dataclass(frozen=True, slots=True)
class _Worker:
    """What a worker process knows from its start."""

    job: Job
    stop: Event
    """Whether nobody waits for its work any more."""


_worker: _Worker | UsageError = UsageError([Problem("", "this process is no worker")])


def start(packed: bytes, stop: Event, recursion_limit: int) -> None:
    """Make this process a worker; it takes documents as deep as the process above does."""
    global _worker  # noqa: PLW0603 - a pool has no other place for what its workers share
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.setrecursionlimit(recursion_limit)
    try:
        _worker = _Worker(pickle.loads(packed), stop)  # noqa: S301 - from the process above
    except PICKLING_ERRORS as error:
        # A class that was typed into an interpreter is in no module that could be imported.
        found = f"a worker cannot read the schema ({error})"
        expected = "comparators of classes in a module that can be imported"
        _worker = UsageError([Problem("workers", found, expected, "use workers=1")])


def work(packed: bytes) -> bytes | None:
    """Evaluate a chunk in a worker.

    Returns:
        An evaluation, pickled; None where the pairs cannot be read here, or it cannot be sent, or
        nobody waits for it any more.

    Raises:
        UsageError: the plan could not be read here.
    """
    if not isinstance(_worker, _Worker):
        raise _worker
    try:
        pairs: list[DocumentPair] = pickle.loads(packed)  # noqa: S301 - from the process above
    except PICKLING_ERRORS:
        return None
    evaluation = _worker.job.evaluation()
    for pair in pairs:
        if _worker.stop.is_set():
            return None
        evaluation.update(evaluate_pair(_worker.job, pair))
    try:
        return pickle.dumps(evaluation)
    except PICKLING_ERRORS:
        return None
