"""Ask one model many questions: in batches, with several calls at a time, and with retries.

A `Turnstile` limits the calls. There is one turnstile for each model on each server.

Libraries retry in different ways, and some ignore Retry-After. Here, all calls are retried in the
same way. This module also interprets the errors of all libraries: whether to retry, how long to
wait, and what to tell the user.
"""

import os
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import chain
from queue import SimpleQueue
from time import monotonic
from typing import Any, Final, Generic, NamedTuple, TypeVar

from stickler_cli.core.json_values import cut_end
from stickler_cli.core.problems import ModelError, UnavailableError
from stickler_cli.core.threads import in_thread
from .connections import Connections
from .model import (
    ONE_CALL,
    A,
    LongAnswerError,
    Model,
    Purse,
    Q,
    Reply,
    TooLargeError,
    UnaskedError,
    Usage,
)
from .model_policy import Retry

# HTTP statuses of overload, conflict and timeout, and those of proxies whose server is away.
PASSING_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# The server does not accept the content of the request.
UNREADABLE_STATUSES: Final = frozenset({400, 413, 422})
KEY_STATUSES: Final = frozenset({401, 403})
TOO_LARGE_STATUS: Final = 413
# Statuses below it are not failures: successes, and redirects that were followed.
LEAST_FAILURE_STATUS: Final = 300
REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
MODEL_STATUS: Final = 404

# Names of exception classes, so that no library has to be imported to recognise its errors.
GARBLED_ERRORS: Final = frozenset(
    {"GarbledError", "JSONDecodeError", "APIResponseValidationError", "ResponseParserError"}
    | {"ModelAPIError"}  # of pydantic-ai, for invalid answers; connection errors are subclasses
)
LATE_ERRORS: Final = frozenset({"TimeoutError", "TimeoutException", "ReadTimeoutError"})
"""Names of the exceptions that Python, httpx and botocore raise if a call is not answered in
time."""

PASSING_ERRORS: Final = GARBLED_ERRORS | frozenset(
    {"APIConnectionError"}  # openai, anthropic
    | {"HTTPClientError"}  # botocore: no connection, or no answer in time
    | {"TransportError"}  # httpx
    | {"ConnectionError", "TimeoutError"}
)

# Messages by which Amazon Bedrock and others report an unknown model with another status.
NO_SUCH_MODEL: Final = re.compile(
    r"model identifier is invalid|is not a valid model|model_not_found", re.IGNORECASE
)
TOO_LARGE: Final = re.compile(
    r"too (?:large|long|many|big)|maximum|at most|exceed|longer than|larger than|limit",
    re.IGNORECASE,
)
"""Pattern of the messages that servers send if a request is too large."""
SECRET_NAMES: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SECRETS: Final = re.compile(r"\b(?:sk|pk|rk)-[\w*-]{4,}|\b(?:AKIA|ASIA)[A-Z0-9]{8,}|Bearer\s+\S+")
SHOWN: Final = 200  # length up to which a message of a server is shown
_NOTHING: Final = ("", "Connection error.")  # "Connection error." is that of openai and anthropic

MOST_FAILURES: Final = 10  # failed calls in a row after which no calls are made for a while
COOL_DOWN: Final = 30.0  # seconds without calls after that, if the server states none


def is_passing(error: BaseException) -> bool:
    """Return whether the error may be temporary, so that another attempt may succeed."""
    status = _status(error)
    if status is not None and status >= LEAST_FAILURE_STATUS:
        return status in PASSING_STATUSES
    names = {base.__name__ for cause in _chain_of(error) for base in type(cause).__mro__}
    return not names.isdisjoint(PASSING_ERRORS)


def is_late(error: BaseException) -> bool:
    """Return whether a call was sent but not answered in time.

    The server may still finish the call, and charge for it.
    """
    names = {base.__name__ for cause in _chain_of(error) for base in type(cause).__mro__}
    return not names.isdisjoint(LATE_ERRORS) and "ConnectTimeout" not in names


def is_garbled(error: BaseException) -> bool:
    """Return whether the server answered, but its answer could not be parsed."""
    if (_status(error) or 200) >= LEAST_FAILURE_STATUS:
        return False
    return any(type(cause).__name__ in GARBLED_ERRORS for cause in _chain_of(error))


def may_be_charged(error: BaseException) -> bool:
    """Return whether the server may charge for a call that failed.

    A server charges for an answer, even for one that cannot be used. It may also charge for an
    answer that comes too late.
    """
    is_too_long = any(isinstance(cause, LongAnswerError) for cause in _chain_of(error))
    return is_too_long or is_late(error) or is_garbled(error)


def refuses_model(error: BaseException) -> bool:
    """Return whether the server says that it does not have the model."""
    if _status(error) == MODEL_STATUS:
        return True
    return _status(error) in UNREADABLE_STATUSES and bool(NO_SUCH_MODEL.search(str(error)))


def retry_after(error: BaseException) -> float | None:
    """Return how many seconds a server asks to wait (RFC 9110, 10.2.3); None if it does not say."""
    retry_headers = (headers.get("retry-after") for _, headers in _responses(error))
    value = next((str(value) for value in retry_headers if value is not None), "")
    with suppress(ValueError):
        return max(float(value), 0.0)
    with suppress(ValueError):
        when = parsedate_to_datetime(value)
        wait = when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)
        return max(wait.total_seconds(), 0.0)
    return None


def describe_failure(
    error: BaseException, attempts: int = 1, asked_seconds: float | None = None
) -> ModelError:
    """Convert an error to a ModelError. Its message contains no secrets.

    `attempts` is the number of attempts made. `asked_seconds` is how long the server asks to wait.
    """
    status = _status(error)
    description = f"the model's server answered {status}" if status else type(error).__name__
    if status in REDIRECT_STATUSES:
        description += ", a redirect to another server; such redirects are not followed"
    times = f" ({attempts} attempts)" if attempts > 1 else ""
    waiting = f", and asks to wait {asked_seconds:g} seconds" if asked_seconds is not None else ""
    causes = (" ".join(str(cause).split()) for cause in _chain_of(error))
    telling_cause = next((cause for cause in causes if cause not in _NOTHING), "")
    message = without_secrets(telling_cause)
    shown = cut_end(message, SHOWN)
    too_large = status == TOO_LARGE_STATUS or (
        status in UNREADABLE_STATUSES and TOO_LARGE.search(message) and not refuses_model(error)
    )
    return (TooLargeError if too_large else ModelError)(f"{description}{times}{waiting}: {shown}")


def without_secrets(message: str) -> str:
    """Remove from a message all texts that look like keys, and all keys in the environment.

    >>> without_secrets("Incorrect API key provided: sk-abc12345")
    'Incorrect API key provided: [key]'
    """
    for name, value in os.environ.items():
        if len(value) >= 6 and SECRET_NAMES.search(name):
            message = message.replace(value, "[key]")
    return SECRETS.sub("[key]", message)


def _status(error: BaseException) -> int | None:
    return next((status for status, _ in _responses(error) if isinstance(status, int)), None)


def _responses(error: BaseException) -> Iterator[tuple[object, Mapping[str, Any]]]:
    """Yield (HTTP status, headers) of an error, and then of each error that caused it.

    The status is None and the headers are empty if an error has no response.
    """
    for cause in _chain_of(error):
        response = getattr(cause, "response", None)
        if isinstance(response, dict):  # errors of botocore
            metadata = response.get("ResponseMetadata", {})
            yield metadata.get("HTTPStatusCode"), metadata.get("HTTPHeaders", {})
        else:
            headers = getattr(response, "headers", None) or getattr(cause, "headers", None)
            yield getattr(cause, "status_code", None), headers or {}


def _chain_of(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes


@dataclass(frozen=True, slots=True)
class Passage:
    """The permission for one call to be made now."""

    started_at: float
    """Time of the permission, in seconds of the monotonic clock."""
    is_awaited: bool
    """Whether all other calls wait until this one has returned."""


class Turnstile:
    """Limits the calls to a model. The first call is made alone, to find out if key and model work.

    It is a circuit breaker with features that libraries lack. `pybreaker` holds a lock during a
    call, so calls wait for each other. Neither `pybreaker` nor `purgatory` supports `Retry-After`,
    and neither can stop a run. None of them keeps a distance between calls. `pyrate-limiter` lets
    calls pass in bursts.
    """

    def __init__(self, name: str, per_minute: float | None = None) -> None:
        """Create a turnstile for a model.

        `per_minute` is the maximum number of calls per minute, or None for no limit.
        """
        self._name = name
        self._spacing = 60 / per_minute if per_minute else 0.0
        self._changed = threading.Condition()
        self._opens = 0.0
        self._proven = False  # whether any call was answered without a refusal of key or model
        self._alone = False  # whether a call is running that others wait for
        self._failures = 0  # failed calls since the last answer
        self._last = ""
        self._closed_until = 0.0
        self._told_to_wait = 0.0
        self.answered = False

    def enter(self, wait: float, stopped: threading.Event) -> Passage | UnaskedError:
        """Wait at least `wait` seconds and until a call may be made.

        Return the permission to make it.

        Return an error if the run was stopped, or if too many calls in a row have failed.
        """
        with self._changed:
            earliest = monotonic() + wait
            while True:
                now = monotonic()
                if stopped.is_set():
                    return UnaskedError("the run was stopped")
                broken = self._failures >= MOST_FAILURES
                if broken and now < self._closed_until:
                    calls = f"{self._failures} calls to {self._name} in a row"
                    return UnaskedError(
                        f"the model was not asked, because {calls} failed; the last "
                        f"failure was: {self._last}"
                    )
                is_single = broken or not self._proven
                seconds_left = max(earliest, self._opens) - now
                if seconds_left <= 0 and not (is_single and self._alone):
                    self._alone = is_single or self._alone
                    self._opens = now + self._spacing
                    return Passage(now, is_single)
                self._changed.wait(seconds_left if seconds_left > 0 else None)

    def succeeded(self, passage: Passage) -> None:
        """Record a call that was answered."""
        with self._changed:
            self._failures = 0
            self.answered = True
            self.worked(passage)

    def failed(
        self, passage: Passage, reason: str, asked_seconds: float | None, *, waits: bool
    ) -> None:
        """Record that a call failed. `asked_seconds` is how long the server asks to wait.

        If `waits` is true, no further call is made for `asked_seconds`.

        If the server asks to wait, it may reject all calls that are under way. Only the first of
        these failures counts.
        """
        with self._changed:
            now = monotonic()
            if asked_seconds is None or passage.started_at >= self._told_to_wait:
                self._failures += 1
            self._last = reason
            if asked_seconds is not None:
                self._told_to_wait = now
                if waits:
                    self._opens = max(self._opens, now + asked_seconds)
            if self._failures >= MOST_FAILURES:
                self._closed_until = now + (COOL_DOWN if asked_seconds is None else asked_seconds)
            self.worked(passage)

    def worked(self, passage: Passage) -> None:
        """Record that a call returned, and that neither the key nor the model was refused.

        Waiting calls may then be made.
        """
        with self._changed:
            self._proven = True
            if passage.is_awaited:
                self._alone = False
            self._changed.notify_all()

    def refused(self, passage: Passage) -> None:
        """Record that the server refused the key or the model, and let the next call be made.

        If no call has shown so far that key and model work, the next call is made alone.
        """
        with self._changed:
            self._alone = False
            self.wake()

    def wake(self) -> None:
        """Make waiting calls check whether their run was stopped."""
        with self._changed:
            self._changed.notify_all()


T = TypeVar("T")
R = TypeVar("R")

MOST_GARBLED: Final = 2  # unreadable answers to one question before it is given up


class CallOutcome(NamedTuple, Generic[Q, A]):
    """The questions of one call, and their answers. If the call failed, its error instead."""

    questions: Sequence[Q]
    result: Sequence[A] | ModelError


@dataclass(frozen=True, slots=True)
class AskingMode:
    """What a call needs in addition to model and questions: connections, limits and retries."""

    connections: Connections
    turnstile: Turnstile
    purse: Purse
    retry: Retry
    at_once: int
    """Maximum number of calls at the same time."""


def ask_in_batches(
    model: Model[Q, A], questions: Sequence[Q], mode: AskingMode
) -> Iterator[CallOutcome[Q, A]]:
    """Ask questions in batches. Yield the outcome of each call as soon as it is known.

    Raises:
        UnavailableError: the server refuses the key or the model at the first call.
    """
    size = model.batch_size
    batches = [questions[start : start + size] for start in range(0, len(questions), size)]
    stopped = threading.Event()

    def ask(batch: Sequence[Q]) -> list[CallOutcome[Q, A]]:
        """Ask one batch. If it is too large for the server, ask each half separately."""
        answers = call_until_answered(model, batch, mode, stopped)
        if not isinstance(answers, TooLargeError) or len(batch) == 1:
            return [CallOutcome(batch, answers)]
        half = len(batch) // 2
        return [*ask(batch[:half]), *ask(batch[half:])]

    if model.is_local:
        yield from chain.from_iterable(map(ask, batches))
        return
    try:
        yield from chain.from_iterable(_run_in_threads(ask, batches, mode.at_once))
    finally:  # after Ctrl-C, waiting questions are not asked any more
        stopped.set()
        mode.turnstile.wake()


def _run_in_threads(work: Callable[[T], R], tasks: Sequence[T], at_once: int) -> Iterator[R]:
    """Run tasks in threads, at most `at_once` at a time.

    Yield each result as soon as it is known.
    """
    waiting_tasks, outcomes = iter(tasks), SimpleQueue[R | Future[None]]()

    def serve() -> None:
        for task in waiting_tasks:
            outcomes.put(work(task))

    workers = range(min(at_once, len(tasks)))
    for _ in workers:
        in_thread(serve).add_done_callback(outcomes.put)
    for _ in (*tasks, *workers):  # a worker thread puts its future when it ends
        outcome = outcomes.get()
        if isinstance(outcome, Future):
            outcome.result()  # raises the error of the thread, if any
        else:
            yield outcome


def call_until_answered(
    model: Model[Q, A],
    questions: Sequence[Q],
    mode: AskingMode,
    stopped: threading.Event,
    jitter: Callable[[], float] = random.random,
) -> Sequence[A] | ModelError:
    """Call a model until it answers, fails for good, or no attempt is left.

    Return the answers or the last error. `jitter` returns a random number in [0, 1) that changes
    the waiting time. Calls that failed together are then not repeated together.
    """
    retry, purse = mode.retry, mode.purse
    max_attempts = 1 if model.is_local else retry.attempts
    attempt, n_garbled, wait = 0, 0, 0.0
    failure: ModelError | None = None
    while True:
        spent = "" if model.is_local else purse.spent
        passage = UnaskedError(spent) if spent else mode.turnstile.enter(wait, stopped)
        if isinstance(passage, UnaskedError):
            return failure or passage
        attempt += 1
        reply = _call_once(model, questions, mode, repeated=attempt > 1)
        error = reply.failure
        if error is None:
            mode.turnstile.succeeded(passage)
            return reply.answers
        asked_seconds = retry_after(error)
        can_wait = asked_seconds is None or asked_seconds <= retry.longest_wait
        failure = describe_failure(error, attempt, None if can_wait else asked_seconds)
        refusal = None if mode.turnstile.answered else _find_refusal(model, error, failure)
        if refusal is not None:
            stopped.set()  # before waiting calls may pass
            mode.turnstile.refused(passage)
            raise refusal
        if model.is_local or (isinstance(failure, TooLargeError) and len(questions) > 1):
            mode.turnstile.worked(passage)
        else:
            mode.turnstile.failed(passage, failure.cause, asked_seconds, waits=can_wait)
        n_garbled += reply.usage.calls if is_garbled(error) else 0
        may_succeed = is_passing(error) and can_wait and n_garbled < MOST_GARBLED
        if attempt >= max_attempts or not may_succeed:
            return failure
        backoff = min(retry.first_wait * 2 ** (attempt - 1), retry.longest_wait)
        wait = backoff * (0.5 + jitter() / 2)


def _call_once(
    model: Model[Q, A], questions: Sequence[Q], mode: AskingMode, *, repeated: bool
) -> Reply[A]:
    """Make one call, and add its time, tokens and cost to the usage."""
    try:
        reply = model.call(questions, mode.connections)
    except Exception as error:  # noqa: BLE001 - a question without an answer is an outcome
        reply = Reply((), ONE_CALL, error)
    failed = int(reply.failure is not None)
    usage = reply.usage + Usage(failed=failed, repeated=int(repeated))
    if reply.failure is not None and not reply.is_charged and may_be_charged(reply.failure):
        usage += model.usage_of_sent(questions)
    mode.purse.count(usage)
    return reply


def _find_refusal(
    model: Model[Any, Any], error: Exception, failure: ModelError
) -> UnavailableError | None:
    """Return an error if the server refused the key or does not have the model; else None."""
    hint = model.key_hint
    if refuses_model(error):
        hint = "check the name of the model, and that this API key may use the model"
    elif _status(error) not in KEY_STATUSES:
        return None
    return model.unavailable(f"cannot be used: {failure}", hint)
