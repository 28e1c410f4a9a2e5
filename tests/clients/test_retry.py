"""Which failures pass, how long is waited, and what a message must not tell."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from stickler_cli.clients.batching import (
    Retry,
    Turnstile,
    is_passing,
    retried,
    retry_after,
    without_secrets,
)
from stickler_cli.clients.model import GarbledError, ModelError, RefusedError


class Waits(Turnstile):
    """Notes waits instead of waiting."""

    def __init__(self):
        super().__init__()
        self.waits = []
        self.closed = []

    def wait(self, seconds=0.0):
        self.waits.append(seconds)
        return True

    def close(self, seconds):
        self.closed.append(seconds)


class StatusError(Exception):
    def __init__(self, status, headers=None):
        super().__init__(f"status {status}")
        self.response = SimpleNamespace(headers=headers or {})
        self.status_code = status


def failing(*errors):
    """Make a call that fails in these ways before it works."""
    left = list(errors)

    def call():
        if left:
            raise left.pop(0)
        return "done"

    return call


def test_waits_double_from_attempt_to_attempt():
    turnstile = Waits()
    call = failing(*[TimeoutError()] * 4)

    result = retried(call, Retry(5, 1.0, 60.0), turnstile, jitter=lambda: 1.0)

    assert result == ("done", 5)
    assert turnstile.waits == [0.0, 1.0, 2.0, 4.0, 8.0]


def test_jitter_takes_off_up_to_half_of_a_wait():
    turnstile = Waits()

    retried(failing(TimeoutError()), Retry(2, 1.0), turnstile, jitter=lambda: 0.0)

    assert turnstile.waits == [0.0, 0.5]


def test_no_wait_is_longer_than_the_longest():
    turnstile = Waits()
    retried(failing(*[TimeoutError()] * 3), Retry(4, 1.0, 2.0), turnstile, lambda: 1.0)

    assert turnstile.waits == [0.0, 1.0, 2.0, 2.0]


def test_a_server_that_asks_to_wait_holds_up_all():
    turnstile = Waits()
    retried(failing(StatusError(429, {"retry-after": "7"})), Retry(), turnstile)

    assert turnstile.closed == [7.0]


def test_a_turnstile_lets_nobody_through_before_its_time_and_nobody_once_it_is_shut():
    turnstile = Turnstile()
    turnstile.close(0.02)
    before = datetime.now(UTC)
    assert turnstile.wait()

    assert datetime.now(UTC) - before >= timedelta(seconds=0.015)
    turnstile.shut()
    assert not turnstile.wait()
    failure, attempts = retried(failing(), Retry(), turnstile)
    assert str(failure) == "the run was stopped"
    assert attempts == 0


@pytest.mark.parametrize(("status", "kind"), [(400, RefusedError), (401, ModelError)])
def test_what_a_server_cannot_take_is_told_from_other_failures(status, kind):
    failure, attempts = retried(failing(StatusError(status)), Retry(), Waits())

    assert type(failure) is kind
    assert attempts == 1


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (GarbledError("x"), True),
        (StatusError(503), True),
        (StatusError(404), False),
        (ValueError("x"), False),
    ],
    ids=repr,
)
def test_some_failures_pass(error, passes):
    assert is_passing(error) is passes


def test_what_a_failure_came_from_counts_too():
    outer = RuntimeError("wrapped")
    outer.__cause__ = StatusError(503, {"retry-after": "3"})
    outer.__cause__.__cause__ = outer  # a circle, which must not be followed for ever

    assert is_passing(outer)
    assert retry_after(outer) == 3.0
    circle = RuntimeError("a")
    circle.__cause__ = RuntimeError("b")
    circle.__cause__.__cause__ = circle
    assert not is_passing(circle)


def test_botocores_answers_are_read():
    error = Exception("throttled")
    error.response = {
        "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "2"}}
    }

    assert is_passing(error)
    assert retry_after(error) == 2.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("2.5", 2.5), ("-3", 0.0), ("soon", None), ("Fri, 31 Dec 1999 23:59:59 GMT", 0.0)],
)
def test_a_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after(StatusError(429, {"retry-after": value})) == seconds


def test_a_date_to_come_is_waited_for():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90))

    assert 80 < retry_after(StatusError(429, {"retry-after": later})) <= 90


@pytest.mark.parametrize(
    "text",
    [
        "provided: sk-proj-12345678",
        "AKIAIOSFODNN7EXAMPLE is not valid",
        "header was Bearer abc.def",
        "token hunter2hunter2 refused",
    ],
)
def test_no_message_tells_a_key(monkeypatch, text):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "hunter2hunter2")

    told = without_secrets(text)

    assert "[key]" in told
    for secret in ("12345678", "IOSFODNN", "abc.def", "hunter2"):
        assert secret not in told


def test_a_long_message_is_cut():
    failure, _ = retried(failing(ValueError("x" * 1000)), Retry(), Waits())

    assert len(str(failure)) < 230
    assert str(failure).endswith("...")
