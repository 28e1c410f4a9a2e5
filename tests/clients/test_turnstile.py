"""The turnstile: which calls to a model may start, which wait, and which are refused."""

import threading

import pytest

from stickler_cli.clients import batching as module
from stickler_cli.clients.batching import MOST_FAILURES, Passage, Turnstile
from stickler_cli.clients.model import UnaskedError

RUNNING = threading.Event()  # nobody sets it


@pytest.fixture
def clock(monkeypatch):
    """Stop the clock; a test moves it by changing `clock[0]`, in seconds."""
    time = [1000.0]
    monkeypatch.setattr(module, "monotonic", lambda: time[0])
    return time


def opened():
    """Return a turnstile whose first call was answered."""
    turnstile = Turnstile("openai:judge")
    turnstile.succeeded(turnstile.enter(0.0, RUNNING))
    return turnstile


def broken(clock, requested_wait=None):
    turnstile = opened()
    for _ in range(MOST_FAILURES):
        turnstile.failed(turnstile.enter(0.0, RUNNING), "no luck", requested_wait, waits=False)
        clock[0] += 1
    return turnstile


def waiting(turnstile, clock, monkeypatch):
    """Replace each wait of the turnstile by a step of the clock; return the list of waits."""
    waits = []

    def wait(seconds):
        waits.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(threading.Condition, "wait", lambda _, seconds: wait(seconds))
    return waits


def entering(turnstile, stopped=RUNNING):
    """Enter a turnstile in a new thread.

    Return the thread, and a list that gets the result of entering.
    """
    entries = []
    thread = threading.Thread(target=lambda: entries.append(turnstile.enter(0.0, stopped)))
    thread.start()
    return thread, entries


def test_the_first_call_goes_alone_until_it_is_back():
    turnstile = Turnstile("openai:judge")
    first = turnstile.enter(0.0, RUNNING)
    thread, entries = entering(turnstile)
    thread.join(0.05)
    assert not entries

    turnstile.failed(first, "no luck", None, waits=False)
    thread.join(30)
    assert isinstance(entries[0], Passage)


def test_after_ten_failures_in_a_row_nobody_passes(clock):
    turnstile = broken(clock)

    refusal = turnstile.enter(0.0, RUNNING)
    assert str(refusal) == (
        "the model was not asked, because 10 calls to openai:judge in a row failed; the "
        "last failure was: no luck"
    )


def test_an_answer_between_failures_ends_their_row(clock):
    turnstile = opened()
    for _ in range(3):
        for _ in range(MOST_FAILURES - 1):
            turnstile.failed(turnstile.enter(0.0, RUNNING), "no luck", None, waits=False)
        turnstile.succeeded(turnstile.enter(0.0, RUNNING))

    assert isinstance(turnstile.enter(0.0, RUNNING), Passage)


@pytest.mark.parametrize(("requested_wait", "seconds"), [(None, module.COOL_DOWN), (600.0, 600.0)])
def test_one_call_goes_ahead_when_the_server_said_or_after_a_while(clock, requested_wait, seconds):
    turnstile = broken(clock, requested_wait)
    clock[0] += seconds - 2
    assert isinstance(turnstile.enter(0.0, RUNNING), UnaskedError)

    clock[0] += 2
    ahead = turnstile.enter(0.0, RUNNING)
    assert ahead.is_awaited
    turnstile.failed(ahead, "still none", None, waits=False)
    assert str(turnstile.enter(0.0, RUNNING)).endswith("the last failure was: still none")
    clock[0] += module.COOL_DOWN
    turnstile.succeeded(turnstile.enter(0.0, RUNNING))
    assert not turnstile.enter(0.0, RUNNING).is_awaited


def test_calls_that_are_told_to_wait_together_fail_once():
    turnstile = opened()
    together = [turnstile.enter(0.0, RUNNING) for _ in range(2 * MOST_FAILURES)]
    for passage in together:
        turnstile.failed(passage, "too many", 0.001, waits=True)

    assert isinstance(turnstile.enter(0.0, RUNNING), Passage)


def test_questions_that_are_not_taken_are_no_failures_of_the_server():
    turnstile = opened()
    for _ in range(2 * MOST_FAILURES):
        turnstile.worked(turnstile.enter(0.0, RUNNING))

    assert isinstance(turnstile.enter(0.0, RUNNING), Passage)


def test_a_server_that_asks_to_wait_holds_up_all(clock, monkeypatch):
    turnstile = opened()
    waits = waiting(turnstile, clock, monkeypatch)
    turnstile.failed(turnstile.enter(0.0, RUNNING), "too many", 20.0, waits=True)
    turnstile.enter(0.0, RUNNING)
    turnstile.enter(5.0, RUNNING)

    assert waits == [20.0, 5.0]


def test_calls_are_spaced_by_how_many_may_be_made_in_a_minute(clock, monkeypatch):
    turnstile = Turnstile("openai:judge", per_minute=12)
    waits = waiting(turnstile, clock, monkeypatch)
    turnstile.succeeded(turnstile.enter(0.0, RUNNING))
    for _ in range(3):
        turnstile.enter(0.0, RUNNING)

    assert waits == [5.0, 5.0, 5.0]


def test_who_waits_is_told_when_the_run_is_stopped():
    turnstile, stopped = Turnstile("openai:judge"), threading.Event()
    turnstile.enter(0.0, RUNNING)
    thread, entries = entering(turnstile, stopped)
    stopped.set()
    turnstile.wake()
    thread.join(30)

    assert str(entries[0]) == "the run was stopped"
