"""Many questions to one model: in batches, several calls at once, each tried again if it pays.

Libraries retry in ways of their own, and some overlook Retry-After; here it is one way for all.
"""

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from stickler_cli.core.values import dataclass
from .allowance import Policy, Retry
from .connections import Connections
from .model import A, Model, ModelError, Q, RefusedError, Reply

T = TypeVar("T")
R = TypeVar("R")

# Of HTTP: overload, conflict, time out, and what proxies say of servers that are away.
PASSING_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
UNREADABLE_STATUSES: Final = frozenset({400, 413, 422})  # a request holds what is not taken

# Names of exception classes, so that telling them needs none of the libraries.
PASSING_ERRORS: Final = frozenset(
    {"APIConnectionError", "APIResponseValidationError"}  # openai, anthropic
    | {"HTTPClientError", "ResponseParserError"}  # botocore: no connection, or no answer in time
    | {"ModelAPIError"}  # pydantic-ai: no answer, or one that its client cannot read
    | {"TransportError"}  # httpx
    | {"ConnectionError", "TimeoutError", "GarbledError", "JSONDecodeError"}
)

SECRET_NAMES: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SECRETS: Final = re.compile(r"\b(?:sk|pk|rk)-[\w*-]{4,}|\b(?:AKIA|ASIA)[A-Z0-9]{8,}|Bearer\s+\S+")
SHOWN: Final = 200  # characters of a server's message


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Q, A]):
    """What became of some questions that were asked in one call."""

    questions: Sequence[Q]
    """None of a call that was refused, and whose questions were asked again in two parts."""
    result: Reply[A] | ModelError
    attempts: int


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
        result, attempts = retried(lambda: model.call(batch, connections), retry, turnstile)
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


class Turnstile:
    """Where all calls to one model pass: a server that asks to wait holds up all of them."""

    def __init__(self) -> None:
        self._opens = 0.0
        self._lock = threading.Lock()
        self._shut = threading.Event()

    def close(self, seconds: float) -> None:
        """Let nobody through for a while."""
        with self._lock:
            self._opens = max(self._opens, time.monotonic() + seconds)

    def shut(self) -> None:
        """Let nobody through any more, nor wait."""
        self._shut.set()

    def wait(self, seconds: float = 0.0) -> bool:
        """Wait that long, and longer where the turnstile is closed; False once it is shut."""
        with self._lock:
            until = max(time.monotonic() + seconds, self._opens)
        return not self._shut.wait(max(until - time.monotonic(), 0.0))


def retried(
    call: Callable[[], T],
    retry: Retry,
    turnstile: Turnstile,
    jitter: Callable[[], float] = random.random,
) -> tuple[T | ModelError, int]:
    """Call until it works, fails for good, or has been tried often enough.

    Returns what came of it, and how many attempts that took. `jitter` is in [0, 1), so that calls
    that failed together do not come back together.
    """
    attempt, wait = 0, 0.0
    while turnstile.wait(wait):
        attempt += 1
        try:
            return call(), attempt
        except Exception as error:  # noqa: BLE001 - a question without an answer is an outcome
            asked = retry_after(error)
            too_long = asked is not None and asked > retry.longest_wait
            if attempt >= retry.attempts or too_long or not is_passing(error):
                return _failure(error, attempt, asked if too_long else None), attempt
            if asked is not None:
                turnstile.close(asked)
        backoff = min(retry.first_wait * 2 ** (attempt - 1), retry.longest_wait)
        wait = backoff * (0.5 + jitter() / 2)
    return ModelError("the run was stopped"), attempt


def is_passing(error: BaseException) -> bool:
    """Whether a failure may be gone at the next attempt."""
    status = _status(error)
    if status is not None:
        return status in PASSING_STATUSES
    names = {base.__name__ for cause in _causes(error) for base in type(cause).__mro__}
    return not names.isdisjoint(PASSING_ERRORS)


def retry_after(error: BaseException) -> float | None:
    """Return the seconds that a server asks to wait (RFC 9110, 10.2.3); None if it does not."""
    asked = (headers.get("retry-after") for _, headers in _responses(error))
    value = next((str(value) for value in asked if value is not None), "")
    with suppress(ValueError):
        return max(float(value), 0.0)
    with suppress(ValueError):
        when = parsedate_to_datetime(value)
        wait = when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)
        return max(wait.total_seconds(), 0.0)
    return None


def _status(error: BaseException) -> int | None:
    return next((status for status, _ in _responses(error) if isinstance(status, int)), None)


def _responses(error: BaseException) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Yield status and headers of an error and all that it came from, as far as they have any."""
    for cause in _causes(error):
        response = getattr(cause, "response", None)
        if isinstance(response, dict):  # of botocore
            metadata = response.get("ResponseMetadata", {})
            yield metadata.get("HTTPStatusCode"), metadata.get("HTTPHeaders", {})
        else:
            headers = getattr(response, "headers", None) or getattr(cause, "headers", None)
            yield getattr(cause, "status_code", None), headers or {}


def _causes(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes


def _failure(error: BaseException, attempts: int, asked: float | None) -> ModelError:
    """Return a failure in words, without keys."""
    status = _status(error)
    what = f"the model's server answered {status}" if status else type(error).__name__
    times = f" ({attempts} attempts)" if attempts > 1 else ""
    waiting = f", and asks to wait {asked:g} seconds" if asked is not None else ""
    message = without_secrets(" ".join(str(error).split()))
    shown = message if len(message) <= SHOWN else message[: SHOWN - 3] + "..."
    kind = RefusedError if status in UNREADABLE_STATUSES else ModelError
    return kind(f"{what}{times}{waiting}: {shown}")


def without_secrets(message: str) -> str:
    """Return a message without what looks like a key, or what the environment holds as one.

    >>> without_secrets("Incorrect API key provided: sk-abc12345")
    'Incorrect API key provided: [key]'
    """
    for name, value in os.environ.items():
        if len(value) >= 6 and SECRET_NAMES.search(name):
            message = message.replace(value, "[key]")
    return SECRETS.sub("[key]", message)
