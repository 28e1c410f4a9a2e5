"""Many questions to one model: in batches, several calls at once, each tried again if it pays."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Generic

from stickler_cli.clients.connections import Connections
from stickler_cli.clients.model import A, Model, ModelError, Q, RefusedError, Reply
from stickler_cli.clients.policy import Policy, Retry
from stickler_cli.clients.retry import Turnstile, retried


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
    if model.is_local:
        once = replace(policy.retry, attempts=1)
        for batch in batches:
            yield from _batch(model, batch, once, turnstile, connections)
        return
    with ThreadPoolExecutor(min(policy.concurrency, len(batches)) or 1) as pool:
        futures: list[Future[list[Outcome[Q, A]]]] = [
            pool.submit(_batch, model, batch, policy.retry, turnstile, connections)
            for batch in batches
        ]
        try:
            for future in as_completed(futures):
                yield from future.result()
        finally:  # on Ctrl-C: what waits is not asked any more
            turnstile.shut()
            pool.shutdown(wait=False, cancel_futures=True)


def _batch(
    model: Model[Q, A],
    questions: Sequence[Q],
    retry: Retry,
    turnstile: Turnstile,
    connections: Connections,
) -> list[Outcome[Q, A]]:
    """Ask one batch; where the server takes it only in part, ask its halves."""
    result, attempts = retried(
        lambda: model.call(questions, connections, retry.timeout), retry, turnstile
    )
    if not isinstance(result, RefusedError) or len(questions) == 1:
        return [Outcome(questions, result, attempts)]
    half = len(questions) // 2
    parts = (questions[:half], questions[half:])
    again = [_batch(model, part, retry, turnstile, connections) for part in parts]
    return [Outcome((), result, attempts), *again[0], *again[1]]
