"""Answers of servers are accepted only in the requested form: one call, each key once."""

import json
import os
import sqlite3

import pytest

from stickler_cli.clients.client import cache_directory
from stickler_cli.clients.embeddings import BertScore, embedder
from stickler_cli.clients.judge import Judge, Verdict
from stickler_cli.comparators import LLMComparator
from stickler_cli.core.problems import ModelError, UsageError

CLIENTS = ["openai:gpt-test", "anthropic:claude-test", "amazon.nova-lite-v1:0"]
TWICE = '{"equivalent": false, "equivalent": true, "reason": "both"}'
RIGHT = {"equivalent": True, "reason": "the same"}


def answering(server, monkeypatch, change):
    """Make the server change the text of each answer by the function `change`."""
    respond = server.respond

    def changed(path, headers, body):
        status, extra, content = respond(path, headers, body)
        return status, extra, change(content.decode()).encode()

    monkeypatch.setattr(server, "respond", changed)


@pytest.mark.slow
@pytest.mark.parametrize("model", CLIENTS)
def test_a_verdict_with_a_key_twice_is_asked_for_again_and_then_refused(
    server, asking, monkeypatch, model
):
    server.verdict = lambda first, other: (True, "both")
    plain = json.dumps({"equivalent": True, "reason": "both"})
    quoted = {text: json.dumps(text)[1:-1] for text in (plain, TWICE)}
    answering(
        server,
        monkeypatch,
        lambda text: text.replace(plain, TWICE).replace(quoted[plain], quoted[TWICE]),
    )
    with asking(), pytest.raises(ModelError, match=r"not a valid verdict|key twice"):
        LLMComparator(model).compare("a", "A")

    assert len(server.requests) == 2


TEXT = {"role": "assistant", "content": json.dumps(RIGHT)}
CALL = {"name": "final_result", "arguments": json.dumps(RIGHT)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "message",
    [
        TEXT,
        {**TEXT, "tool_calls": []},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"call-{n}", "type": "function", "function": CALL} for n in range(2)
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call-1", "type": "function", "function": {**CALL, "arguments": text}}
                for text in ['{"equivalent": true, "reason": "x", "reason": "y"}']
            ],
        },
    ],
)
def test_what_is_no_single_call_is_no_verdict(server, asking, monkeypatch, message):
    def answer(path, body):
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }

    monkeypatch.setattr(server, "answer", answer)
    with asking(), pytest.raises(ModelError, match="the model's answer is not a valid verdict"):
        LLMComparator("openai:m").compare("a", "A")

    assert len(server.requests) == 2  # asked once more


@pytest.mark.slow
@pytest.mark.parametrize("model", CLIENTS)
def test_an_answer_too_long_to_be_checked_is_no_verdict(server, asking, monkeypatch, model):
    extra_key = f', "further": "{"x" * 1_000_000}"}}'
    answering(server, monkeypatch, lambda text: text[:-1] + extra_key)
    with asking(attempts=2), pytest.raises(ModelError, match="more than 1,000,000 bytes"):
        LLMComparator(model).compare("a", "A")

    assert len(server.requests) == 2  # asked once more


@pytest.mark.parametrize(
    ("n_choices", "message"), [(0, "not a valid verdict"), (2, "2 choices, expected one")]
)
def test_an_answer_without_exactly_one_choice_is_no_verdict(
    server, asking, monkeypatch, n_choices, message
):
    def repeat_choice(text):
        answer = json.loads(text)
        answer["choices"] *= n_choices
        return json.dumps(answer)

    answering(server, monkeypatch, repeat_choice)
    with asking() as client, pytest.raises(ModelError, match=message):
        LLMComparator("openai:m").compare("a", "A")

    assert len(server.requests) == 2  # asked once more
    assert client.usage.input_tokens > 100  # the instructions of both questions, at least


def put_error(text, place, error):
    """Add an error to an answer, or to its choice."""
    answer = json.loads(text)
    holder = answer if place == "answer" else answer["choices"][0]
    holder["error"] = error
    return json.dumps(answer)


@pytest.mark.parametrize("place", ["answer", "choice"])
@pytest.mark.parametrize("error", [{"code": 502, "message": "upstream failed"}, "upstream failed"])
def test_an_answer_with_an_error_beside_it_is_no_verdict(server, asking, monkeypatch, place, error):
    answering(server, monkeypatch, lambda text: put_error(text, place, error))
    with asking() as client, pytest.raises(ModelError, match="an error: upstream failed"):
        LLMComparator("openai:m").compare("a", "A")

    assert len(server.requests) == 2  # asked once more
    assert client.usage.input_tokens > 100


@pytest.mark.parametrize("place", ["answer", "choice"])
@pytest.mark.parametrize("error", [None, "", {}])
def test_an_answer_that_says_that_there_is_no_error_is_a_verdict(
    server, asking, monkeypatch, place, error
):
    answering(server, monkeypatch, lambda text: put_error(text, place, error))
    with asking():
        assert LLMComparator("openai:m").compare("a", "A") == 1.0

    assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("model", CLIENTS[:2])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_values_do_not_follow_a_redirect_to_another_server(server, asking, model, status):
    server.faults += [(status, {"Location": "http://127.0.0.2:9/v1/chat/completions"})]
    with asking(), pytest.raises(ModelError, match="redirect to another server") as caught:
        LLMComparator(model).compare("a", "A")

    assert f"answered {status}" in str(caught.value)
    assert len(server.requests) == 1


def test_a_redirect_on_the_same_server_is_followed(server, asking):
    server.faults += [(307, {"Location": f"{server.url}/v1/other/chat/completions"})]
    with asking():
        assert LLMComparator("openai:m").compare("a", "A") == 1.0

    assert server.paths[-1].endswith("/v1/other/chat/completions")


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        b"[" * 100_000,
        b'[2.5,"x"]',
        b'[1,"x"]',
        b'["true","x"]',
        b'[true,"x","y"]',
        b"[true]",
        b'{"equivalent":true}',
        b"true",
        b"NaN",
        b"\xff",
        b"",
        "[true",
        7,
        b'[true, "%s"]' % (b"x" * 1_000_000),
    ],
)
def test_a_row_of_the_cache_that_is_no_verdict_is_asked_for_again(server, asking, row):
    server.verdict = lambda first, other: (False, "not the same")
    comparator = LLMComparator("openai:m")
    with asking():
        assert comparator.compare("a", "b") == 0.0
    forge(row)

    with asking() as client:
        assert comparator.compare("a", "b") == 0.0
        assert (client.usage.cached, client.usage.calls) == (0, 1)
    with asking(offline=True) as client:  # and the right answer has taken its place
        assert comparator.compare("a", "b") == 0.0
        assert client.usage.cached == 1


DELETION = "delete from answers"
ENDLESS = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(n) from t"


@pytest.mark.slow
@pytest.mark.parametrize(
    "statements",
    [
        f"drop table answers; create view answers as {ENDLESS}",
        f"create trigger further before delete on answers begin {DELETION}; end",
        "create table further (x)",
        "drop table answers; create table answers (x)",
    ],
)
def test_a_cache_with_other_tables_is_not_used(server, asking, statements):
    comparator = LLMComparator("openai:m")
    with asking():
        comparator.compare("a", "b")
    with sqlite3.connect(cache_directory() / "answers.sqlite3") as connection:
        connection.executescript(statements)
    connection.close()

    with (
        asking(),
        pytest.raises(UsageError, match="is not a cache of model answers"),
    ):
        comparator.compare("a", "b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_cache_that_is_no_file_is_not_used(server, asking, make):
    cache_directory().mkdir(parents=True, exist_ok=True)
    make(cache_directory() / "answers.sqlite3")

    with asking(), pytest.raises(UsageError, match="not a regular file"):
        LLMComparator("openai:m").compare("a", "b")


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("exists", [True, False])
def test_a_cache_that_is_a_link_is_not_used(server, asking, tmp_path, exists):
    cache_directory().mkdir(parents=True, exist_ok=True)
    target = tmp_path / "target"
    if exists:
        target.touch()
    (cache_directory() / "answers.sqlite3").symlink_to(target)

    with asking(), pytest.raises(UsageError, match="not a regular file"):
        LLMComparator("openai:m").compare("a", "b")
    assert target.exists() == exists
    assert not exists or target.stat().st_size == 0


def forge(row):
    with sqlite3.connect(cache_directory() / "answers.sqlite3") as connection:
        assert connection.execute("update answers set answer = ?", [row]).rowcount == 1
    connection.close()


def test_a_grade_in_the_cache_is_a_number_from_0_to_1():
    graded = Judge("openai:m", None, graded=True)

    assert graded.unpack(b'[0.5,"x"]') == Verdict(0.5, "x")
    assert graded.unpack(b'[1,"x"]') == Verdict(1, "x")
    for row in (b'[true,"x"]', b'[-0.5,"x"]', b'[1.5,"x"]', b'[1e999,"x"]', b'[NaN,"x"]'):
        with pytest.raises(ValueError, match=r"not the verdict|not JSON"):
            graded.unpack(row)


@pytest.mark.parametrize("row", [b"", b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"abc"])
def test_an_embedding_in_the_cache_has_finite_numbers(row):
    with pytest.raises(ValueError, match=r"not an embedding|multiple"):
        embedder("openai:m").unpack(row)


def test_a_score_in_the_cache_is_a_finite_number():
    model = BertScore("any", 1, False, "en")

    assert model.unpack(b"0.25") == 0.25
    for row in (b"true", b'"0.5"', b"[0.5]", b"1e999", b"NaN", b"{}"):
        with pytest.raises(ValueError, match=r"not a score|not JSON"):
            model.unpack(row)
