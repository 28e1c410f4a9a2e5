"""Where all questions to models pass: what is asked, what is known already, and what it takes.

Work that may ask models runs inside `answered`. There a question that has no answer yet is noted,
and `Pending` is raised; when the work is through, all that was noted is resolved together, each
distinct question once, and the work is done again with the answers at hand. Work that asks nothing
is done once and pays nothing. Questions on which pairs depend are resolved first, so that a judge
is never asked about a pair that is not one.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from stickler_cli.backends.backend import A, Backend, ModelError, Q, Reply, Usage
from stickler_cli.backends.cache import AnswerCache, cache_directory
from stickler_cli.backends.clients import close_clients
from stickler_cli.backends.estimate import Estimate
from stickler_cli.backends.patience import Patience, Turnstile, patiently, status_of
from stickler_cli.errors import Problem, UsageError

T = TypeVar("T")

MAX_PAIRS: Final = 10_000
"""Pairs that a run may have judged by default: some dollars' worth, and some hours at most."""

CONCURRENCY: Final = 8
"""Calls that are under way at once by default; as the clients' pools of connections hold."""

UNREADABLE_STATUSES: Final = frozenset({400, 413, 422})
"""What servers say of a request that holds something they do not take."""


class Pending(Exception):  # noqa: N818 - no error: the answer is to come
    """A question has no answer yet; it is noted, and the work will be done again."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a run allows."""

    cache: bool = True
    """Whether answers are read from and kept on disk."""
    offline: bool = False
    """Whether only answers in the cache count."""
    dry_run: bool = False
    """Whether questions are counted instead of asked."""
    max_pairs: int = MAX_PAIRS
    """Pairs that judges may be asked about, those in the cache aside."""
    concurrency: int = CONCURRENCY
    """Calls to one model at once."""
    patience: Patience = field(default_factory=Patience)

    @property
    def may_ask(self) -> bool:
        """Whether models are needed at all."""
        return not (self.offline or self.dry_run)


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
        self._use(Usage(cached=len(known)))
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
                self._use(Usage(calls=1))
                continue
            reply, attempts = outcome
            self._use(replace(reply.usage, calls=attempts))
            kept = self._kept(backend, batch, reply.answers)
            known.update(kept)
        return known

    def _use(self, usage: Usage) -> None:
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


@dataclass(slots=True)
class _Round:
    """The questions and answers of one piece of work."""

    known: dict[Backend[Any, Any], dict[Any, Any]] = field(default_factory=dict)
    wanted: dict[Backend[Any, Any], dict[Any, None]] = field(default_factory=dict)

    def fill(self) -> bool:
        """Resolve what is wanted, as far as it is certain; say whether the work can go on."""
        first = [backend for backend in self.wanted if backend.decides_pairs]
        complete = True
        for backend in first or list(self.wanted):
            questions = list(self.wanted.pop(backend))
            answers = desk().resolve(backend, questions)
            self.known.setdefault(backend, {}).update(answers)
            complete = complete and len(answers) == len(questions)
        if complete:
            self.wanted.clear()
            return True
        for backend, rest in self.wanted.items():  # of a dry run: as far as can be told
            desk().resolve(backend, list(rest))
        return False


_round: ContextVar[_Round | None] = ContextVar("round", default=None)


def answered(work: Callable[[], T]) -> T:
    """Do work that may ask models; what it asks is asked together, before it is done for good.

    Inside other such work, it is part of that. In a dry run the result means nothing.

    Raises:
        UsageError: as `Desk.resolve` does.
    """
    if _round.get() is not None:
        return work()
    current = _Round()
    token = _round.set(current)
    try:
        while True:
            result = work()
            if not current.wanted or not current.fill():
                return result
    finally:
        _round.reset(token)


def answers(backend: Backend[Q, A], questions: Iterable[Q]) -> list[A]:
    """Give the answers to questions, in their order.

    Raises:
        Pending: inside `answered`, there is a question without an answer as yet.
        ModelError: there is a question that has none.
        UsageError: as `Desk.resolve` does.
    """
    questions = list(questions)
    distinct = list(dict.fromkeys(questions))
    current = _round.get()
    if current is None:
        known = desk().resolve(backend, distinct)
    else:
        known = current.known.get(backend, {})
        missing = [question for question in distinct if question not in known]
        if missing:
            current.wanted.setdefault(backend, {}).update(dict.fromkeys(missing))
            raise Pending
    found = []
    for question in questions:
        if question not in known:  # of a dry run
            raise Pending
        answer = known[question]
        if isinstance(answer, ModelError):
            raise ModelError(*answer.args)
        found.append(answer)
    return found


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
