"""Batches of questions: simultaneous calls, and the end of calls that nobody waits for."""

import threading

import pytest

from stickler_cli.clients.batching import AskingMode, Turnstile, ask_in_batches
from stickler_cli.clients.connections import Connections
from stickler_cli.clients.model import Model, Purse, Reply
from stickler_cli.clients.model_policy import Retry


class Served(Model):
    """A model whose answers a function gives."""

    kind = "embedding"
    title = "served"
    identity = None

    def __init__(self, answer):
        self.answer = answer

    def require(self):
        """Require no package."""

    def call(self, questions, connections):
        return Reply([self.answer(question) for question in questions])


def outcomes(answer, questions, at_once=8):
    turnstile = Turnstile("served")
    turnstile.succeeded(turnstile.enter(0.0, threading.Event()))  # the first goes alone
    mode = AskingMode(Connections(60), turnstile, Purse(), Retry(), at_once)
    return ask_in_batches(Served(answer), questions, mode)


def test_answers_come_as_they_are_known():
    first_is_known = threading.Event()

    def answer(question):
        if question == "slow":
            assert first_is_known.wait(30)
        return question

    answers = outcomes(answer, ["slow", "quick"])

    assert next(answers).questions == ["quick"]
    first_is_known.set()
    assert next(answers).questions == ["slow"]


def test_calls_go_on_while_nobody_asks_for_the_next_answer():
    last_is_asked = threading.Event()

    def answer(question):
        if question == "last":
            last_is_asked.set()
        return question

    answers = outcomes(answer, [*"abcde", "last"], at_once=2)
    kept = [next(answers)]

    assert last_is_asked.wait(30)
    assert len([*kept, *answers]) == 6


def test_answers_that_were_there_before_an_error_are_kept():
    threads, all_asked, first_is_known = {}, threading.Barrier(10), threading.Event()

    def answer(question):
        threads[question] = threading.current_thread()
        all_asked.wait(30)
        if question == "first":
            return question
        assert first_is_known.wait(30)
        if question == "bad":
            for good in goods:
                threads[good].join(30)
            raise SystemExit(question)
        return question

    goods = [f"good {number}" for number in range(8)]
    answers = outcomes(answer, ["first", "bad", *goods], at_once=10)
    assert next(answers).questions == ["first"]
    first_is_known.set()
    threads["bad"].join(30)

    assert sorted(next(answers).questions[0] for _ in goods) == goods
    with pytest.raises(SystemExit, match="bad"):
        next(answers)


def test_who_stops_listening_waits_for_no_call_and_no_more_are_made():
    release, asked_of = threading.Event(), []

    def answer(question):
        asked_of.append(question)
        if question != "quick":
            release.wait(30)
        return question

    answers = outcomes(answer, ["quick", "slow", "slower", "never"], at_once=2)
    next(answers)
    answers.close()

    assert not release.is_set()  # a call is under way, and yet we are here
    release.set()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and "serve" in thread.name:
            thread.join(30)
    assert "never" not in asked_of


def test_a_mistake_of_the_program_is_not_an_outcome():
    def answer(question):
        raise SystemExit(question)

    with pytest.raises(SystemExit, match="a question"):
        list(outcomes(answer, ["a question"]))
