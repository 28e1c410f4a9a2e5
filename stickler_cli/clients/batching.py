"""Many questions to one model: in batches, several calls at once, each tried again if it pays."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from stickler_cli.clients.connections import Connections
from stickler_cli.clients.model import A, Model, ModelError, Q, RefusedError, Reply
from stickler_cli.clients.policy import Policy
from stickler_cli.clients.retry import Turnstile, retried
from stickler_cli.core.values import dataclass

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Q, A]):
    """What became of some questions that were asked in one call."""

    questions: Sequence[Q]
    """None of a call that was refused, and whose questions were asked again in two parts."""
    result: Reply[A] | ModelError
    attempts: int
    """How many calls that took."""


def asked(
    model: Model[Q, A], questions: Sequence[Q], policy: Policy, connections: Connections
) -> Iterator[Outcome[Q, A]]:
    """Ask in batches, and yield what becomes of each as soon as it is known."""
    size = model.batch_size
    batches = [questions[start : start + size] for start in range(0, len(questions), size)]
    turnstile = Turnstile()
    retry = replace(policy.retry, attempts=1) if model.is_local else policy.retry

    def ask(batch: Sequence[Q]) -> list[Outcome[Q, A]]:
        """Ask one batch; where the server takes it only in part, ask its halves."""
        result, attempts = retried(
            lambda: model.call(batch, connections, retry.timeout), retry, turnstile
        )
        if not isinstance(result, RefusedError) or len(batch) == 1:
            return [Outcome(batch, result, attempts)]
        half = len(batch) // 2
        return [Outcome((), result, attempts), *ask(batch[:half]), *ask(batch[half:])]

    if model.is_local:
        yield from chain.from_iterable(map(ask, batches))
        return
    try:
        yield from chain.from_iterable(_as_they_come(ask, batches, policy.concurrency))
    finally:  # on Ctrl-C: what waits is not asked any more
        turnstile.shut()


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
