"""Trying again: which failures pass, how long to wait, and how to tell one without telling a key.

Clients retry in ways of their own, and some overlook Retry-After; here it is one way for all.
"""

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar

from stickler_cli.clients.backend import ModelError
from stickler_cli.clients.policy import Patience

T = TypeVar("T")

PASSING_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Of HTTP: overload, conflict, time out, and what proxies say of servers that are away."""

PASSING_ERRORS: Final = frozenset(
    {
        "APIConnectionError",  # openai, anthropic
        "ModelAPIError",  # pydantic-ai: no answer, or one that its client cannot read
        "HTTPClientError",  # botocore: no connection, none any more, or no answer in time
        "TransportError",  # httpx
        "ConnectionError",
        "TimeoutError",
        "GarbledError",
        "JSONDecodeError",
        "APIResponseValidationError",  # openai, anthropic
        "ResponseParserError",  # botocore
    }
)
"""Names of exception classes, so that telling them needs none of the libraries."""

SECRET_NAMES: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SECRETS: Final = re.compile(r"\b(?:sk|pk|rk)-[\w*-]{4,}|\b(?:AKIA|ASIA)[A-Z0-9]{8,}|Bearer\s+\S+")
SHOWN: Final = 200
"""Characters of a server's message that are shown."""


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

    def wait(self, seconds: float = 0.0) -> None:
        """Wait that long, and longer where the turnstile is closed.

        Raises:
            ModelError: nobody is let through any more.
        """
        with self._lock:
            until = max(time.monotonic() + seconds, self._opens)
        while not self._shut.wait(max(until - time.monotonic(), 0.0)):
            if time.monotonic() >= until:
                return
        raise ModelError("the run was stopped")


def patiently(
    call: Callable[[], T],
    patience: Patience,
    turnstile: Turnstile,
    jitter: Callable[[], float] = random.random,
) -> tuple[T, int]:
    """Call until it works, fails for good, or has been tried often enough.

    Args:
        call: one attempt.
        patience: how often and how long.
        turnstile: shared by all calls that a server may hold up together.
        jitter: a number in [0, 1), so that calls that failed together do not come back together.

    Returns:
        What it gave, and how many attempts that took.

    Raises:
        ModelError: it did not work; with the last cause.
    """
    attempt = 0
    turnstile.wait()
    while True:
        attempt += 1
        try:
            return call(), attempt
        except Exception as error:  # noqa: BLE001 - a question without an answer is an outcome
            asked = retry_after(error)
            too_long = asked is not None and asked > patience.longest_wait
            if attempt >= patience.attempts or too_long or not is_passing(error):
                raise _failure(error, attempt, asked if too_long else None) from None
            if asked is not None:
                turnstile.close(asked)
        backoff = min(patience.first_wait * 2 ** (attempt - 1), patience.longest_wait)
        turnstile.wait(backoff * (0.5 + jitter() / 2))


def is_passing(error: BaseException) -> bool:
    """Tell failures that may be gone at the next attempt."""
    status = status_of(error)
    if status is not None:
        return status in PASSING_STATUSES
    names = {base.__name__ for cause in _causes(error) for base in type(cause).__mro__}
    return not names.isdisjoint(PASSING_ERRORS)


def status_of(error: BaseException) -> int | None:
    """Give the HTTP status of an answer that was an error; None where there was no answer."""
    for cause in _causes(error):
        response = getattr(cause, "response", None)
        metadata = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        status = getattr(cause, "status_code", None) or metadata.get("HTTPStatusCode")
        if isinstance(status, int):
            return status
    return None


def retry_after(error: BaseException) -> float | None:
    """Give the seconds that a server asks to wait; None where it does not say."""
    for cause in _causes(error):
        response = getattr(cause, "response", None)
        headers: Any = getattr(response, "headers", None) or getattr(cause, "headers", None)
        if isinstance(response, dict):  # of botocore
            headers = response.get("ResponseMetadata", {}).get("HTTPHeaders")
        value = headers.get("retry-after") if headers else None
        if value is not None:
            return _seconds(str(value))
    return None


def _seconds(value: str) -> float | None:
    """Read a Retry-After: seconds, or a date (RFC 9110, 10.2.3)."""
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """List an error and what it came from."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        yield cause
        cause = cause.__cause__ or cause.__context__


def _failure(error: BaseException, attempts: int, asked: float | None) -> ModelError:
    if isinstance(error, ModelError):
        return error
    status = status_of(error)
    what = f"the model's server answered {status}" if status else type(error).__name__
    times = f" ({attempts} attempts)" if attempts > 1 else ""
    waiting = f", and asks to wait {asked:g} seconds" if asked is not None else ""
    message = without_secrets(" ".join(str(error).split()))
    shown = message if len(message) <= SHOWN else message[: SHOWN - 3] + "..."
    return ModelError(f"{what}{times}{waiting}: {shown}")


def without_secrets(message: str) -> str:
    """Take out what looks like a key, and what the environment holds as one.

    >>> without_secrets("Incorrect API key provided: sk-abc12345")
    'Incorrect API key provided: [key]'
    """
    for name, value in os.environ.items():
        if len(value) >= 6 and SECRET_NAMES.search(name):
            message = message.replace(value, "[key]")
    return SECRETS.sub("[key]", message)
