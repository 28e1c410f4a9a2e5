"""Embeddings from servers: every kind of server, all kinds of failures, and the cache."""

import tracemalloc

import pytest

from stickler_cli.clients.batching import MOST_FAILURES
from stickler_cli.comparators import SemanticComparator
from stickler_cli.core.problems import ModelError, UnavailableError

pytestmark = pytest.mark.slow

KEY = "sk-a-secret-of-this-test"

MODELS = [
    "amazon.titan-embed-text-v2:0",
    "bedrock:amazon.titan-embed-text-v1",
    "eu.cohere.embed-multilingual-v3",
    "openai:text-embedding-3-small",
]


@pytest.mark.parametrize("model_id", MODELS)
def test_every_server_gives_the_same_similarities(server, asking, model_id):
    with asking():
        comparator = SemanticComparator(model_id)
        comparator.require()

        assert comparator.compare("car", "automobile") == 0.8
        assert comparator.compare("car", "banana") == 0.0
        assert comparator.compare("car", "car") == 1.0


def test_a_bedrock_model_is_asked_by_its_whole_id(server, asking):
    with asking():
        SemanticComparator().compare("car", "banana")

    assert server.paths == ["/model/amazon.titan-embed-text-v2:0/invoke"] * 2
    assert sorted(body["inputText"] for _, _, body in server.requests) == ["banana", "car"]


def test_a_model_of_cohere_is_asked_in_its_own_form(server, asking):
    with asking():
        SemanticComparator("eu.cohere.embed-multilingual-v3").compare("car", "banana")

    assert sorted(body["texts"] for _, _, body in server.requests) == [["banana"], ["car"]]
    assert [body["input_type"] for _, _, body in server.requests] == ["clustering"] * 2


def test_each_distinct_text_of_a_column_is_sent_once_in_one_request(server, asking, all_pairs):
    with asking() as client:
        comparator = SemanticComparator("openai:small")
        matrix = all_pairs(comparator, ["car", "banana", "car"], ["automobile", "car"])

    assert matrix == [[0.8, 1.0], [0.0, 0.0], [0.8, 1.0]]
    ((_, _, body),) = server.requests
    assert sorted(body["input"]) == ["automobile", "banana", "car"]
    assert (client.usage.calls, client.usage.input_tokens, client.usage.cached) == (1, 9, 0)


def test_more_texts_than_a_request_takes_go_in_several(server, asking):
    texts = [f"text {number}" for number in range(300)]  # 128 a request

    with asking() as client:
        SemanticComparator("openai:small").ask(None, texts[:1] * 300, texts)

    assert sorted(len(body["input"]) for _, _, body in server.requests) == [44, 128, 128]
    assert client.usage.calls == 3


def test_blank_texts_are_alike_and_never_sent(server, asking):
    with asking():
        comparator = SemanticComparator("openai:small")

        assert comparator.compare("", " \n") == 1.0
        assert comparator.compare("", "   ") == 1.0
        assert server.requests == []
        assert comparator.compare("", "car") == 0.0


@pytest.mark.parametrize("other", ["openai:large", "bedrock:small"])
def test_the_cache_keeps_models_apart(server, asking, other):
    with asking() as client:
        SemanticComparator("openai:small").compare("car", "car ")
        SemanticComparator(other).compare("car", "car ")

        assert client.usage.cached == 0


def test_the_cache_keeps_servers_apart(server, asking, monkeypatch):
    with asking() as client:
        SemanticComparator("openai:small").compare("car", "banana")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/other/v1")
        SemanticComparator("openai:small").compare("car", "banana")

        assert client.usage.cached == 0
    assert server.paths == ["/v1/embeddings", "/other/v1/embeddings"]


@pytest.mark.parametrize("model_id", ["openai:small", "amazon.titan-embed-text-v2:0"])
@pytest.mark.parametrize(
    ("fault", "times"),
    [
        (500, 2),
        (503, 2),
        (429, 2),
        ((429, {"Retry-After": "0"}), 2),
        ("drop", 2),
        ("garbage", 1),
        ("nonsense", 1),
    ],
    ids=str,
)
def test_a_failure_that_passes_is_tried_again(server, asking, model_id, fault, times):
    server.faults += [fault] * times
    with asking(attempts=3, concurrency=1) as client:
        assert SemanticComparator(model_id).compare("car", "automobile") == 0.8

    texts = 1 if model_id == "openai:small" else 2
    assert len(server.requests) == texts + times
    assert str(client.usage).startswith(
        f"{texts + times} calls ({times} failed, {times} asked again), "
    )


@pytest.mark.parametrize("model_id", ["openai:small", "amazon.titan-embed-text-v2:0"])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (500, r"answered 500 \(3 attempts\)"),
        (429, r"answered 429 \(3 attempts\)"),
        ((429, {"Retry-After": "0"}), r"answered 429 \(3 attempts\)"),
        ("garbage", r"\(2 attempts\)"),
        ("drop", r"\(3 attempts\)"),
        ("silence", r"\(3 attempts\)"),
    ],
    ids=str,
)
def test_a_failure_that_stays_ends_after_so_many_attempts(server, asking, model_id, fault, message):
    server.faults += [fault] * 3
    with (
        asking(
            attempts=3,
            concurrency=1,
            timeout=0.2 if fault == "silence" else 30.0,
            cache=False,
        ),
        pytest.raises(ModelError, match=message) as caught,
    ):
        SemanticComparator(model_id).compare("car", "car ")

    assert len(server.requests) >= 2 or fault == "silence"  # which may not even arrive
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("model_id", ["openai:small", "amazon.titan-embed-text-v2:0"])
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_ends_the_run_and_tells_no_key(server, asking, model_id, status):
    server.faults += [status] * 9
    with asking(), pytest.raises(UnavailableError, match=f"answered {status}") as caught:
        SemanticComparator(model_id).compare("car", "car")

    assert len(server.requests) == 1
    assert KEY not in str(caught.value)
    assert "no luck with status" in str(caught.value)


def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(server, asking):
    server.faults += [(429, {"Retry-After": "3600"})]
    with (
        asking(longest_wait=60),
        pytest.raises(ModelError, match="answered 429, and asks to wait 3600 seconds"),
    ):
        SemanticComparator("openai:small").compare("car", "banana")

    assert len(server.requests) == 1


def test_one_text_that_a_server_refuses_does_not_spoil_its_batch(server, asking, monkeypatch):
    respond = server.respond

    def refuse_long(path, headers, body):
        if any(len(text) > 100 for text in body["input"]):
            server.requests.append((path, headers, body))
            return 400, {}, b'{"error": {"message": "the input is too long"}}'
        return respond(path, headers, body)

    monkeypatch.setattr(server, "respond", refuse_long)
    comparator = SemanticComparator("openai:small")
    with asking():
        with pytest.raises(ModelError, match=r"answered 400: .*the input is too long"):
            comparator.ask(None, ["car", "x" * 200], ["automobile", "banana"])
        n_requests = len(server.requests)

        assert comparator.compare("car", "automobile") == 0.8
        assert len(server.requests) == n_requests


def test_errors_are_not_kept_for_the_next_run(server, asking):
    comparator = SemanticComparator("openai:small")
    server.faults += [500] * 3
    with asking(), pytest.raises(ModelError):
        comparator.compare("car", "automobile")
    with asking():
        assert comparator.compare("car", "automobile") == 0.8


def test_prices_are_known_where_a_list_has_them(server, asking, monkeypatch):
    with asking() as client:
        SemanticComparator("amazon.titan-embed-text-v2:0").compare("car", "banana")

        # 2 texts of 3 tokens at $0.02 a million
        assert (client.usage.nano_dollars, client.usage.unpriced) == (120, 0)
        SemanticComparator("openai:text-embedding-3-small").compare("car", "banana")

        assert client.usage.unpriced == 1  # of a server of one's own


def test_a_run_is_refused_without_a_key(backends, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    with pytest.raises(UnavailableError, match="needs a key in OPENAI_API_KEY; set it, or set"):
        SemanticComparator("openai:small").require()


def test_a_server_of_ones_own_needs_no_key(server, asking, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with asking():
        comparator = SemanticComparator("openai:small")
        comparator.require()

        assert comparator.compare("car", "automobile") == 0.8


def test_a_run_is_refused_without_a_region_or_credentials(backends, monkeypatch, tmp_path):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))

    with pytest.raises(UnavailableError, match="finds no region for Amazon Bedrock"):
        SemanticComparator().require()
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    with pytest.raises(UnavailableError, match="finds no credentials for Amazon Bedrock"):
        SemanticComparator().require()
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(UnavailableError, match=r"finds no readable configuration \(.*nobody"):
        SemanticComparator().require()


def test_fewer_embeddings_than_texts_are_no_answer(server, asking, monkeypatch):
    answer = server.answer

    def short(path, body):
        answered = answer(path, body)
        return {**answered, "data": answered["data"][:-1]}

    monkeypatch.setattr(server, "answer", short)
    with (
        asking(attempts=2),
        pytest.raises(ModelError, match="1 embeddings for 2 texts"),
    ):
        SemanticComparator("openai:small").compare("car", "banana")


def test_embeddings_of_different_sizes_in_one_answer_are_no_answer(server, asking, monkeypatch):
    monkeypatch.setattr(server, "embedding", lambda text: [1.0] * len(text))
    with asking(attempts=1), pytest.raises(ModelError, match="of different lengths, 3 and 6"):
        SemanticComparator("openai:small").compare("car", "banana")


def test_without_the_list_of_prices_no_price_is_known(server, asking, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with asking() as client:
        SemanticComparator().compare("car", "banana")

        assert (client.usage.nano_dollars, client.usage.unpriced) == (0, 2)


def test_a_model_that_no_list_of_prices_knows_costs_nobody_knows_what(server, asking):
    with asking() as client:
        SemanticComparator("bedrock:amazon.titan-embed-of-tomorrow").compare("car", "banana")

        assert client.usage.unpriced == 2


@pytest.mark.parametrize("model_id", ["openai:small", "amazon.titan-embed-text-v2:0"])
def test_an_answer_has_a_deadline_however_often_a_byte_comes(server, asking, model_id):
    server.faults += ["drip"] * 9
    with asking(timeout=0.6), pytest.raises(ModelError, match="TimeoutError"):
        SemanticComparator(model_id).compare("car", "car ")
    server.over.set()


@pytest.mark.parametrize(
    ("model_id", "fault"),
    [
        ("openai:small", "endless"),
        ("openai:small", "bomb"),
        ("amazon.titan-embed-text-v2:0", "endless"),
    ],
)
def test_an_answer_has_a_size(server, asking, monkeypatch, model_id, fault):
    monkeypatch.setattr("stickler_cli.clients.servers.LONGEST_ANSWER", 5_000_000)
    monkeypatch.setattr("stickler_cli.clients.embeddings.LONGEST_ANSWER", 5_000_000)
    server.faults += [fault] * 9
    comparator = SemanticComparator(model_id)
    tracemalloc.start()
    with asking(), pytest.raises(ModelError):
        comparator.compare("car", "car ")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 250_000_000


def test_a_server_that_refuses_all_is_asked_no_further(server, asking):
    server.faults += [400] * 999
    texts = [f"text {index}" for index in range(2000)]
    with asking(concurrency=1), pytest.raises(ModelError, match="answered 400"):
        SemanticComparator("openai:small").ask(None, texts, texts[::-1])

    assert len(server.requests) == MOST_FAILURES


def test_a_server_for_which_all_is_too_large_is_asked_no_further(server, asking):
    server.faults += [413] * 9999
    texts = [f"text {index}" for index in range(2000)]
    with asking(concurrency=1), pytest.raises(ModelError, match="answered 413"):
        SemanticComparator("openai:small").ask(None, texts, texts[::-1])

    assert len(server.requests) < 3 * MOST_FAILURES


@pytest.mark.parametrize("model_id", ["openai:small", "amazon.titan-embed-text-v2:0"])
def test_an_embedding_beyond_what_the_cache_holds_is_kept_to_scale(
    server, asking, monkeypatch, model_id
):
    comparator = SemanticComparator(model_id)
    monkeypatch.setattr(server, "embedding", lambda text: [1e300, 1e300 * (len(text) > 3)])
    with asking():
        first = comparator.compare("car", "automobile")
    with asking() as client:
        assert SemanticComparator(model_id).compare("car", "automobile") == first
        assert client.usage.cached == 2

    assert first == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("stated", [-(10**18), 10**18, "many", None])
def test_nonsense_for_usage_counts_as_the_estimate(server, asking, monkeypatch, stated):
    answer = server.answer

    def lying(path, body):
        answered = answer(path, body)
        return {**answered, "usage": {"prompt_tokens": stated, "total_tokens": stated}}

    monkeypatch.setattr(server, "answer", lying)
    with asking() as client:
        SemanticComparator("openai:small").compare("car", "automobile")

        assert client.usage.tokens == 1 + 3  # four characters each, upwards
