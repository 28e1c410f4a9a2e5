"""Every answer that a server charges for is counted; unreadable usage does not reject a verdict."""

import json
import warnings

import pytest

from stickler_cli.clients.judge import Answer, Grade, Judge, Pair, contradicts
from stickler_cli.clients.servers import Server
from stickler_cli.comparators import LLMComparator
from stickler_cli.core.problems import ModelError

COUNTERS = {
    "openai:gpt-test": ("prompt_tokens", "completion_tokens", "total_tokens"),
    "anthropic:claude-test": ("input_tokens", "output_tokens"),
    "amazon.nova-lite-v1:0": ("inputTokens", "outputTokens", "totalTokens"),
}
DETAILS = {
    "prompt_tokens_details": {"cached_tokens": "many"},
    "completion_tokens_details": [1],
    "cache_creation": "a text",
    "cache_read_input_tokens": "many",
    "cacheReadInputTokens": "many",
}
MISSING = object()
UNREADABLE_USAGE = {
    "missing": MISSING,
    "null": None,
    "a text": "9",
    "a list": [1],
    "empty": {},
    **{
        f"counts are {value!r}": value
        for value in (0, 1, -1, -(10**18), 10**18, "9", "many", 1.5, True, [1], {}, {"a": "b"})
    },
    "details": DETAILS,
}
BY_COUNTER = {name for name in UNREADABLE_USAGE if name.startswith("counts")}


def usage_for(model, name):
    """Return the usage of an answer, in the form that the model's server uses."""
    value = UNREADABLE_USAGE[name]
    if name in BY_COUNTER:
        return dict.fromkeys(COUNTERS[model], value)
    return {**dict.fromkeys(COUNTERS[model], 100), **DETAILS} if value is DETAILS else value


@pytest.mark.slow
@pytest.mark.parametrize("model", COUNTERS)
def test_a_verdict_counts_whatever_its_usage_is(server, asking, monkeypatch, model):
    usual, names = server.answer, [*UNREADABLE_USAGE]

    # The first request gets the usage of the first name, and so on.
    def answer(path, body):
        answer = usual(path, body) | {"usage": usage_for(model, names[len(server.requests) - 1])}
        if answer["usage"] is MISSING:
            del answer["usage"]
        return answer

    monkeypatch.setattr(server, "answer", answer)
    used, comparator = {}, LLMComparator(model)
    with asking(attempts=1, cache=False) as client, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        # All questions have the same length, and so the same estimate.
        for number, name in enumerate(names):
            before = client.usage
            assert comparator.compare(f"Main St {number:02}", f"MAIN ST {number:02}") == 1.0
            after = client.usage
            used[name] = (
                after.calls - before.calls,
                after.failed - before.failed,
                after.input_tokens - before.input_tokens,
                after.output_tokens - before.output_tokens,
            )

    # The estimates of the question and of the shortest verdict, which may have a single token
    estimate = Judge(model, None).tokens(Pair('"MAIN ST 00"', '"Main St 00"'))
    # calls, failed calls, input tokens, output tokens
    expected = dict.fromkeys(names, (1, 0, estimate, 4))
    assert used == expected | {"counts are 1": (1, 0, estimate, 1)}
    assert not [warning for warning in warned if "usage" in str(warning.message)]


def chat(message, reason="tool_calls"):
    return {"choices": [{"index": 0, "finish_reason": reason, "message": message}]}


def call(arguments, content=None):
    function = {"name": "final_result", "arguments": json.dumps(arguments)}
    calls = [{"id": "call-1", "type": "function", "function": function}]
    return {"role": "assistant", "content": content, "tool_calls": calls}


RIGHT = {"equivalent": True, "reason": "the same"}
REFUSED = {
    "cut off": chat(call(RIGHT), "length"),
    "filtered": chat(call(RIGHT), "content_filter"),
    "text instead of a call": chat({"role": "assistant", "content": json.dumps(RIGHT)}, "stop"),
    "JSON beside the call": chat(call(RIGHT, '{"equivalent": false, "reason": "differ"}')),
    "words beside the call": chat(call(RIGHT, "The two values are not equivalent.")),
    "an invalid verdict": chat(call({"equivalent": "yes", "reason": ""})),
    "no choices": {"choices": []},
    "two choices": {"choices": 2 * chat(call(RIGHT))["choices"]},
    "another object": {"object": "something else"},
    "a key twice": '{"id": 1, "id": 2}',
    "no JSON": "<html>welcome</html>",
    "a list": "[]",
    "too long": '{"further": "' + "x" * 1_000_000 + '"}',
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_each_refused_answer_is_charged_once(server, asking, monkeypatch, name):
    usual, refused = server.respond, REFUSED[name]

    def respond(path, headers, body):
        if not isinstance(refused, str):
            answer = server_answer(path, body) | refused
        status, extra, content = usual(path, headers, body)
        content = refused.encode() if isinstance(refused, str) else json.dumps(answer).encode()
        return status, extra, content

    server_answer = server.answer
    monkeypatch.setattr(server, "respond", respond)
    with asking(attempts=2, cache=False) as client, pytest.raises(ModelError):
        LLMComparator("openai:gpt-test").compare("Main St", "MAIN ST")

    usage, estimate = (
        client.usage,
        Judge("openai:gpt-test", None).tokens(Pair('"MAIN ST"', '"Main St"')),
    )
    assert len(server.requests) == usage.calls == usage.failed == 2
    # 100 tokens where the library could read them, else the estimate
    assert 2 * min(100, estimate) <= usage.input_tokens <= 2 * max(100, estimate)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [{"max_tokens": 50}, {"max_cost": 0.000_001}])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_answers_use_the_budget_up(server, asking, monkeypatch, name, limit):
    monkeypatch.setattr(Server, "pricing", "openai")  # although the server is at another address
    usual, refused = server.respond, REFUSED[name]

    def respond(path, headers, body):
        status, extra, content = usual(path, headers, body)
        answer = json.loads(content)
        text = refused if isinstance(refused, str) else json.dumps(answer | refused)
        return status, extra, text.encode()

    monkeypatch.setattr(server, "respond", respond)
    judge = LLMComparator("openai:gpt-4o-mini")
    with asking(attempts=1, cache=False, concurrency=1, **limit):
        for number in range(3):
            with pytest.raises(ModelError):
                judge.compare("Main St", f"MAIN ST {number}")

    # Whatever the library asks again itself, the second question is not asked any more.
    assert len(server.requests) <= 2


ANTHROPIC, BEDROCK = "anthropic:claude-test", "amazon.nova-lite-v1:0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "key", "reason"),
    [
        (ANTHROPIC, "stop_reason", "max_tokens"),
        (ANTHROPIC, "stop_reason", "model_context_window_exceeded"),
        (ANTHROPIC, "stop_reason", "refusal"),
        (BEDROCK, "stopReason", "content_filtered"),
        (BEDROCK, "stopReason", "guardrail_intervened"),
        (BEDROCK, "stopReason", "max_tokens"),
        (BEDROCK, "stopReason", "model_context_window_exceeded"),
    ],
)
def test_an_answer_that_is_not_complete_is_no_verdict(
    server, asking, monkeypatch, model, key, reason
):
    usual = server.answer
    monkeypatch.setattr(server, "answer", lambda path, body: usual(path, body) | {key: reason})
    with asking(attempts=1), pytest.raises(ModelError, match="not a valid verdict"):
        LLMComparator(model).compare("a", "A")

    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"equivalent": true}', True),
        ("equivalent: yes", True),
        ("The two values are equivalent, as only case differs.", True),
        ('```json\n{"equivalent":false}', False),
        ("They are not equivalent.", False),
        ("These aren't really equivalent", False),
        ("I compare the two values.", None),
        ("The formats differ, but not the meaning.", None),
        ("I do not think that they are equivalent", None),
        ("", None),
    ],
)
def test_a_text_contradicts_a_verdict_if_it_states_the_other_one(text, says):
    assert contradicts(text, Answer(equivalent=True, reason="")) is (says is False)
    assert contradicts(text, Answer(equivalent=False, reason="")) is (says is True)


@pytest.mark.parametrize(
    ("text", "is_other"),
    [('{"score": 0.5}', False), ("score: 0.25", True), ("score=1", True), ("a score", False)],
)
def test_a_text_contradicts_a_score_if_it_states_another_one(text, is_other):
    assert contradicts(text, Grade(score=0.5, reason="")) is is_other
