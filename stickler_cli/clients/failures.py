"""Failed calls as libraries report them: whether to retry, how long to wait, the message."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from .model import ModelError, RefusedError

# Of HTTP: overload, conflict, time out, and what proxies say of servers that are away.
PASSING_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
UNREADABLE_STATUSES: Final = frozenset({400, 413, 422})  # a request holds what is not taken
KEY_STATUSES: Final = frozenset({401, 403})
MODEL_STATUS: Final = 404

# Names of exception classes, so that telling them needs none of the libraries.
GARBLED_ERRORS: Final = frozenset(
    {"GarbledError", "JSONDecodeError", "APIResponseValidationError", "ResponseParserError"}
    | {"ModelAPIError"}  # pydantic-ai, of an answer; those without one are of subclasses
)
PASSING_ERRORS: Final = GARBLED_ERRORS | frozenset(
    {"APIConnectionError"}  # openai, anthropic
    | {"HTTPClientError"}  # botocore: no connection, or no answer in time
    | {"TransportError"}  # httpx
    | {"ConnectionError", "TimeoutError"}
)

# What Amazon Bedrock and some others say with another status.
NO_SUCH_MODEL: Final = re.compile(
    r"model identifier is invalid|is not a valid model|model_not_found", re.IGNORECASE
)
SECRET_NAMES: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SECRETS: Final = re.compile(r"\b(?:sk|pk|rk)-[\w*-]{4,}|\b(?:AKIA|ASIA)[A-Z0-9]{8,}|Bearer\s+\S+")
SHOWN: Final = 200  # characters of a server's message


def is_passing(error: BaseException) -> bool:
    """Whether a failure may be gone at the next attempt."""
    status = _status(error)
    if status is not None and status >= 400:
        return status in PASSING_STATUSES
    names = {base.__name__ for cause in _causes(error) for base in type(cause).__mro__}
    return not names.isdisjoint(PASSING_ERRORS)


def is_garbled(error: BaseException) -> bool:
    """Whether there was an answer, but not one that can be read."""
    if (_status(error) or 200) >= 400:
        return False
    return any(type(cause).__name__ in GARBLED_ERRORS for cause in _causes(error))


def refuses_key(error: BaseException) -> bool:
    """Whether a server does not let this key in."""
    return _status(error) in KEY_STATUSES


def refuses_model(error: BaseException) -> bool:
    """Whether a server has no such model."""
    if _status(error) == MODEL_STATUS:
        return True
    return _status(error) in UNREADABLE_STATUSES and bool(NO_SUCH_MODEL.search(str(error)))


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


def failure_of(error: BaseException, attempts: int = 1, asked: float | None = None) -> ModelError:
    """Return a failure in words, without keys; `asked` are the seconds that nobody waited."""
    status = _status(error)
    what = f"the model's server answered {status}" if status else type(error).__name__
    times = f" ({attempts} attempts)" if attempts > 1 else ""
    waiting = f", and asks to wait {asked:g} seconds" if asked is not None else ""
    message = without_secrets(" ".join(str(error).split()))
    shown = message if len(message) <= SHOWN else message[: SHOWN - 3] + "..."
    refused = status in UNREADABLE_STATUSES and not refuses_model(error)
    return (RefusedError if refused else ModelError)(f"{what}{times}{waiting}: {shown}")


def without_secrets(message: str) -> str:
    """Return a message without texts that look like keys or are keys of the environment.

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
