"""Many questions to one model: in batches, several calls at once, each tried again if it pays.

Libraries retry in ways of their own, and some overlook Retry-After; here it is one way for all.
"""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from stickler_cli.core.problems import UnavailableError
from stickler_cli.core.values import dataclass
from .allowance import Retry
from .connections import Connections
from .failures import failure_of, is_garbled, is_passing, refuses_key, refuses_model, retry_after
from .model import A, Model, ModelError, Q, RefusedError, Reply, UnaskedError
from .turnstile import Turnstile
from .usage import ONE_CALL, Purse, Usage

T = TypeVar("T")
R = TypeVar("R")

MOST_GARBLED: Final = 2  # answers to one question that cannot be read, before it is given up


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Q, A]):
    """The outcome of the questions of one call."""

    questions: Sequence[Q]
    """None of a call that was refused, and whose questions were asked again in two parts."""
    result: Sequence[A] | ModelError


@dataclass(frozen=True, slots=True)
class Way:
    """How a client asks a model."""

    connections: Connections
    turnstile: Turnstile
    purse: Purse
    retry: Retry
    at_once: int
    """The calls that may be under way at a time."""


def asked(model: Model[Q, A], questions: Sequence[Q], way: Way) -> Iterator[Outcome[Q, A]]:
    """Ask in batches, and yield the outcome of each as soon as it is known.

    Raises:
        UnavailableError: the first thing that a server says is that it takes no such key, or has
            no such model.
    """
    size = model.batch_size
    batches = [questions[start : start + size] for start in range(0, len(questions), size)]
    stopped = threading.Event()

    def ask(batch: Sequence[Q]) -> list[Outcome[Q, A]]:
        """Ask one batch; where the server takes it only in part, ask its halves."""
        result = answered(model, batch, way, stopped)
        if not isinstance(result, RefusedError) or len(batch) == 1:
            return [Outcome(batch, result)]
        half = len(batch) // 2
        return [Outcome((), result), *ask(batch[:half]), *ask(batch[half:])]

    if model.is_local:
        yield from chain.from_iterable(map(ask, batches))
        return
    try:
        yield from chain.from_iterable(_as_they_come(ask, batches, way.at_once))
    finally:  # on Ctrl-C: what waits is not asked any more
        stopped.set()
        way.turnstile.wake()


def _as_they_come(work: Callable[[T], R], tasks: Sequence[T], at_once: int) -> Iterator[R]:
    """Yield results of tasks, in threads that nobody waits for who does not want the results.

    Those of a `ThreadPoolExecutor` would keep the program from ending while a server thinks.
    """
    todo, done = SimpleQueue[T](), SimpleQueue[R | BaseException]()
    for task in tasks:
        todo.put(task)

    def serve() -> None:
        with suppress(Empty):
            while True:
                task = todo.get_nowait()
                try:
                    done.put(work(task))
                except BaseException as error:  # noqa: BLE001 - raised where results are awaited
                    done.put(error)

    for _ in range(min(at_once, len(tasks))):
        threading.Thread(target=serve, daemon=True).start()
    for _ in tasks:
        result = done.get()
        if isinstance(result, BaseException):
            raise result
        yield result


def answered(
    model: Model[Q, A],
    questions: Sequence[Q],
    way: Way,
    stopped: threading.Event,
    jitter: Callable[[], float] = random.random,
) -> Sequence[A] | ModelError:
    """Call until it works, fails for good, or has been tried often enough.

    `jitter` is in [0, 1), so that calls that failed together do not come back together.
    """
    retry, purse = way.retry, way.purse
    most = 1 if model.is_local else retry.attempts
    attempt, garbled, wait = 0, 0, 0.0
    failure: ModelError | None = None
    while True:
        spent = "" if model.is_local else purse.spent
        passage = UnaskedError(spent) if spent else way.turnstile.enter(wait, stopped)
        if isinstance(passage, UnaskedError):
            return failure or passage
        attempt += 1
        reply = _called(model, questions, way, repeated=attempt > 1)
        error = reply.failure
        if error is None:
            way.turnstile.succeeded(passage)
            return reply.answers
        asked = retry_after(error)
        patient = asked is None or asked <= retry.longest_wait
        failure = failure_of(error, attempt, None if patient else asked)
        refusal = None if way.turnstile.answered else _refusal(model, error, failure)
        if refusal is not None:
            stopped.set()  # before those who wait for this call are let through
            way.turnstile.refused(passage)
            raise refusal
        if model.is_local or isinstance(failure, RefusedError):
            way.turnstile.worked(passage)
        else:
            way.turnstile.failed(passage, failure.cause, asked, waits=patient)
        garbled += reply.usage.calls if is_garbled(error) else 0
        pays = is_passing(error) and patient and garbled < MOST_GARBLED
        if attempt >= most or not pays:
            return failure
        backoff = min(retry.first_wait * 2 ** (attempt - 1), retry.longest_wait)
        wait = backoff * (0.5 + jitter() / 2)


def _called(model: Model[Q, A], questions: Sequence[Q], way: Way, *, repeated: bool) -> Reply[A]:
    """Call once, and count the time, tokens and cost."""
    try:
        reply = model.call(questions, way.connections)
    except Exception as error:  # noqa: BLE001 - a question without an answer is an outcome
        reply = Reply((), ONE_CALL, error)
    failed = int(reply.failure is not None)
    way.purse.count(reply.usage + Usage(failed=failed, repeated=int(repeated)))
    return reply


def _refusal(
    model: Model[Any, Any], error: Exception, failure: ModelError
) -> UnavailableError | None:
    """Return the error of a server that takes no such key, or has no such model, if that is it."""
    hint = model.server.key_hint if model.server else ""
    if refuses_model(error):
        hint = "is its name right, and is it there for this key?"
    elif not refuses_key(error):
        return None
    return model.unavailable(f"is refused: {failure}", hint)
