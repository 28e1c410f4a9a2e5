"""Where all questions to models pass: what is known already, what may be asked, what it takes."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from stickler_cli.clients.backend import A, Backend, ModelError, Q, Reply, Usage
from stickler_cli.clients.cache import AnswerCache, cache_directory
from stickler_cli.clients.clients import close_clients
from stickler_cli.clients.estimate import Estimate
from stickler_cli.clients.patience import Turnstile, patiently, status_of
from stickler_cli.clients.policy import Patience, Policy
from stickler_cli.core.problems import Problem, UsageError

UNREADABLE_STATUSES: Final = frozenset({400, 413, 422})
"""What servers say of a request that holds something they do not take."""


class Desk:
    """The state of asking in one process: the cache, the pairs left, what it took so far."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.usage = Usage()
        self.estimate = Estimate()
        """What a dry run found that it would ask."""
        self._cache = AnswerCache(cache_directory()) if policy.cache else None
        self._judged = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the cache, and of all connections."""
        close_clients()
        if self._cache is not None:
            self._cache.close()

    def resolve(self, backend: Backend[Q, A], questions: Sequence[Q]) -> dict[Q, A | ModelError]:
        """Find answers: in the cache, else from the model, unless the policy forbids that.

        Args:
            backend: the model.
            questions: distinct.

        Returns:
            An answer, or why there is none, by question. In a dry run, those in the cache only.

        Raises:
            UsageError: the cache cannot be used, or judges would be asked about too many pairs.
        """
        cached = self._from_cache(backend, questions)
        known: dict[Q, A | ModelError] = {}
        known.update(cached)
        self.count(Usage(cached=len(known)))
        missing = [question for question in questions if question not in known]
        if self.policy.dry_run:
            self.estimate.add(backend, missing, cached=len(known))
            return known
        if self.policy.offline:
            error = ModelError("the answer is not in the cache, and no model may be asked offline")
            return {**known, **dict.fromkeys(missing, error)}
        self._count_pairs(backend, len(missing))
        for batch, outcome in _asked(backend, missing, self.policy):
            if isinstance(outcome, ModelError):
                known.update(dict.fromkeys(batch, outcome))
                self.count(Usage(calls=1))
                continue
            reply, attempts = outcome
            self.count(replace(reply.usage, calls=attempts))
            kept = self._kept(backend, batch, reply.answers)
            known.update(kept)
        return known

    def count(self, usage: Usage) -> None:
        """Add what was asked here, or in a worker."""
        with self._lock:
            self.usage += usage

    def _from_cache(self, backend: Backend[Q, A], questions: Sequence[Q]) -> dict[Q, A]:
        identity = backend.identity
        if self._cache is None or identity is None:
            return {}
        keys = {question: backend.key(identity, question) for question in questions}
        packed = self._cache.read(list(keys.values()))
        return {
            question: backend.unpack(packed[key]) for question, key in keys.items() if key in packed
        }

    def _kept(self, backend: Backend[Q, A], batch: Sequence[Q], answers: Sequence[A]) -> dict[Q, A]:
        """Put answers into the cache, and give them as they will come out of it."""
        identity = backend.identity
        if identity is None:
            return dict(zip(batch, answers, strict=True))
        packed = {
            question: backend.pack(answer) for question, answer in zip(batch, answers, strict=True)
        }
        if self._cache is not None:
            keyed = {backend.key(identity, question): packed[question] for question in batch}
            self._cache.write(backend.kind, backend.model, keyed)
        return {question: backend.unpack(packed[question]) for question in batch}

    def _count_pairs(self, backend: Backend[Any, Any], count: int) -> None:
        if not backend.is_judge:
            return
        with self._lock:
            self._judged += count
        if self._judged > self.policy.max_pairs:
            found = f"judges would be asked about {self._judged} pairs so far"
            expected = f"at most {self.policy.max_pairs}"
            hint = "--dry-run tells how many there are in all; allow more if they are worth it"
            raise UsageError([Problem("--max-pairs", found, expected, hint)])


_desk: Desk | None = None


def desk() -> Desk:
    """Give the desk of this process."""
    return _desk or open_desk(Policy())


def open_desk(policy: Policy) -> Desk:
    """Set a new desk up for this process, in place of the one before."""
    global _desk  # noqa: PLW0603 - limits and connections are the process's, whoever asks
    close_desk()
    _desk = Desk(policy)
    return _desk


def close_desk() -> None:
    """Let go of the cache and of all connections; whoever asks next opens them again."""
    global _desk  # noqa: PLW0603 - as above
    if _desk is not None:
        _desk.close()
    _desk = None


@contextmanager
def at_desk(policy: Policy) -> Iterator[Desk]:
    """Ask under a policy while the block runs, and as before after it."""
    before = desk().policy
    try:
        yield open_desk(policy)
    finally:
        open_desk(before)


_Outcome = tuple[Sequence[Q], tuple[Reply[A], int] | ModelError]


def _asked(
    backend: Backend[Q, A], questions: Sequence[Q], policy: Policy
) -> Iterator[_Outcome[Q, A]]:
    """Ask in batches; each with its reply and the attempts that took, as they come."""
    size = backend.batch_size
    batches = [questions[start : start + size] for start in range(0, len(questions), size)]
    turnstile = Turnstile()
    if backend.is_local:
        patience = replace(policy.patience, attempts=1)
        for batch in batches:
            yield from _tried(backend, batch, patience, turnstile)
        return
    with ThreadPoolExecutor(min(policy.concurrency, len(batches)) or 1) as pool:
        futures: list[Future[list[_Outcome[Q, A]]]] = [
            pool.submit(_tried, backend, batch, policy.patience, turnstile) for batch in batches
        ]
        try:
            for future in as_completed(futures):
                yield from future.result()
        finally:  # on Ctrl-C: what waits is not asked any more
            turnstile.shut()
            pool.shutdown(wait=False, cancel_futures=True)


def _tried(
    backend: Backend[Q, A], batch: Sequence[Q], patience: Patience, turnstile: Turnstile
) -> list[_Outcome[Q, A]]:
    """Ask one batch; where the model takes it only in part, ask its halves."""
    refused = False

    def call() -> Reply[A]:
        nonlocal refused
        try:
            return backend.call(batch, patience.timeout)
        except Exception as error:
            refused = status_of(error) in UNREADABLE_STATUSES
            raise

    try:
        return [(batch, patiently(call, patience, turnstile))]
    except ModelError as error:
        if refused and len(batch) > 1:
            half = len(batch) // 2
            return [
                *_tried(backend, batch[:half], patience, turnstile),
                *_tried(backend, batch[half:], patience, turnstile),
            ]
        return [(batch, error)]
