"""Which failures are retried, how long the waits are, and what messages must not contain."""

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest

from stickler_cli.clients.batching import (
    MOST_GARBLED,
    AskingMode,
    Turnstile,
    call_until_answered,
    describe_failure,
    is_garbled,
    is_passing,
    refuses_model,
    retry_after,
    without_secrets,
)
from stickler_cli.clients.connections import Connections
from stickler_cli.clients.model import (
    GarbledError,
    Model,
    Purse,
    Reply,
    TooLargeError,
    Usage,
)
from stickler_cli.clients.model_policy import Retry
from stickler_cli.core.problems import ModelError, UnavailableError


class Waits(Turnstile):
    """A turnstile that records waits instead of waiting."""

    def __init__(self):
        super().__init__("a model")
        self.waits = []
        self.asked = []

    def enter(self, wait, stopped):
        self.waits.append(wait)
        return super().enter(0.0, stopped)

    def failed(self, passage, why, requested_wait, *, waits):
        self.asked.append((requested_wait, waits))
        super().failed(passage, why, None, waits=False)


class StatusError(Exception):
    def __init__(self, status, headers=None, text=""):
        super().__init__(text or f"status {status}")
        self.response = SimpleNamespace(headers=headers or {})
        self.status_code = status


class Failing(Model):
    """A model that raises the given errors, one for each call, before it works."""

    kind = "embedding"
    comparator = "SemanticComparator"
    title = "failing"
    identity = None

    def __init__(self, *errors):
        self.left = list(errors)

    def require(self):
        """Require no package."""

    def call(self, questions, connections):
        if not self.left:
            return Reply(["done"])
        error = self.left.pop(0)
        if isinstance(error, Reply):
            return error
        raise error


def ask_question(model, turnstile=None, *, attempts=5, jitter=1.0, purse=None, **retry):
    """Ask a model one question; return the answer and the usage."""
    purse = purse or Purse()
    mode = AskingMode(
        Connections(60), turnstile or Waits(), purse, Retry(attempts=attempts, **retry), at_once=1
    )
    answers = call_until_answered(model, ["a question"], mode, threading.Event(), lambda: jitter)
    return answers, purse.usage


@pytest.mark.parametrize(
    ("settings", "waits"),
    [
        ({}, [0.0, 1.0, 2.0, 4.0, 8.0]),
        ({"longest_wait": 2.0}, [0.0, 1.0, 2.0, 2.0]),
        ({"jitter": 0.0}, [0.0, 0.5]),  # the random number that takes off most: half of the wait
    ],
)
def test_waits_double_up_to_the_longest_and_vary_by_up_to_half(settings, waits):
    turnstile, n_failures = Waits(), len(waits) - 1
    model = Failing(*[TimeoutError()] * n_failures)
    result, usage = ask_question(model, turnstile, first_wait=1.0, **settings)

    assert result == ["done"]
    assert (usage.calls, usage.failed, usage.repeated) == (len(waits), n_failures, n_failures)
    assert turnstile.waits == waits


@pytest.mark.parametrize(
    ("error", "n_tokens"),
    [
        (TimeoutError(), 3),
        (GarbledError("no"), 3),
        (StatusError(500), 0),
        (ConnectionRefusedError(), 0),
    ],
)
def test_a_question_without_an_answer_in_time_is_charged_by_its_length(error, n_tokens):
    _, usage = ask_question(Failing(error))

    # "a question" has 12 characters with its quotes, and a token has four.
    assert usage == Usage(calls=2, failed=1, repeated=1, input_tokens=n_tokens)


@pytest.mark.parametrize(("seconds", "waits"), [(7.0, True), (3600.0, False)])
def test_a_server_says_how_long_all_wait_unless_that_is_too_long(seconds, waits):
    turnstile = Waits()
    result, _ = ask_question(Failing(StatusError(429, {"retry-after": str(seconds)})), turnstile)

    assert turnstile.asked == [(seconds, waits)]
    assert isinstance(result, ModelError) is not waits


@pytest.mark.parametrize(
    ("status", "kind"), [(400, ModelError), (413, TooLargeError), (418, ModelError)]
)
def test_what_a_server_cannot_take_is_told_from_other_failures(status, kind):
    failure, usage = ask_question(Failing(StatusError(status)))

    assert type(failure) is kind
    assert usage == Usage(calls=1, failed=1)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_ends_the_run_at_the_first_call(status):
    with pytest.raises(
        UnavailableError, match=f"with the model failing cannot be used: .* answered {status}"
    ):
        ask_question(Failing(StatusError(status)))


@pytest.mark.parametrize("status", [401, 403, 404])
def test_once_a_model_has_answered_a_refusal_is_one_of_a_question(status):
    turnstile = Waits()
    ask_question(Failing(), turnstile)
    failure, _ = ask_question(Failing(StatusError(status)), turnstile)

    assert str(failure) == f"the model's server answered {status}: status {status}"


def test_bedrock_says_that_there_is_no_such_model_with_the_status_of_a_bad_request():
    error = StatusError(400, text="The provided model identifier is invalid.")

    assert refuses_model(error)
    assert type(describe_failure(error)) is ModelError
    assert not refuses_model(StatusError(400, text="too long"))


def test_an_answer_that_cannot_be_read_is_asked_for_once_more():
    result, usage = ask_question(Failing(GarbledError("no"), GarbledError("no")))

    assert str(result) == "GarbledError (2 attempts): no"
    # An answer arrived each time, so each question of 12 characters is charged.
    assert usage == Usage(calls=2, failed=2, repeated=1, input_tokens=2 * 3)
    assert ask_question(Failing(GarbledError("no")))[0] == ["done"]


def test_what_a_library_asked_again_itself_is_not_asked_once_more():
    took = Usage(calls=MOST_GARBLED, failed=1, repeated=1, input_tokens=100)
    result, usage = ask_question(Failing(Reply((), took, GarbledError("no"), is_charged=True)))

    assert isinstance(result, ModelError)
    assert usage == Usage(calls=2, failed=2, repeated=1, input_tokens=100)


def test_nothing_is_asked_once_the_purse_is_empty():
    purse = Purse(max_tokens=100)
    purse.count(Usage(input_tokens=60, output_tokens=40))
    result, usage = ask_question(Failing(), purse=purse)

    assert str(result) == "the limit of 100 tokens (--max-tokens) has been reached"
    assert usage.calls == 0


def test_a_budget_of_dollars_is_spent_to_the_nearest_call():
    purse = Purse(max_cost=0.01)
    purse.count(Usage(nano_dollars=9_999_999))
    assert not purse.spent
    purse.count(Usage(nano_dollars=1))

    assert purse.spent == "the limit of --max-cost, $0.01, has been reached"


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (GarbledError("x"), True),
        (StatusError(200), False),
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

    text_shown = without_secrets(text)

    assert "[key]" in text_shown
    for secret in ("12345678", "IOSFODNN", "abc.def", "hunter2"):
        assert secret not in text_shown


def test_a_long_message_is_cut():
    failure = describe_failure(ValueError("x" * 1000))

    assert len(str(failure)) < 230
    assert str(failure).endswith("...")


def test_an_error_with_a_status_is_no_answer_that_cannot_be_read():
    error = StatusError(502)
    error.__cause__ = ValueError("not JSON")
    garbled = type("APIResponseValidationError", (StatusError,), {})(200)

    assert not is_garbled(error)
    assert is_garbled(garbled)
    assert is_passing(garbled)
