"""The client: which questions are sent together, what is cached, and what a policy forbids."""

import json
import os
import pickle
import sqlite3
import stat
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest

from stickler_cli.clients.client import AnswerCache, Client, Memory, cache_directory
from stickler_cli.clients.model import Model, Reply, Usage
from stickler_cli.clients.model_policy import Policy, Retry
from stickler_cli.comparators.exact import ExactComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.plan import Plan
from stickler_cli.core.problems import ModelError, UsageError


class Capitals(Model):
    """A model that answers each text in capital letters, and records the batches of questions."""

    kind = "embedding"
    batch_size = 2

    def __init__(self, title="capitals", *, is_judge=False, is_kept=True):
        self.is_judge = is_judge
        self.is_kept = is_kept
        self.name = title
        self.batches = []

    @property
    def title(self):
        return self.name

    @property
    def identity(self):
        return {"model": self.name} if self.is_kept else None

    def require(self):
        """Require no package."""

    def call(self, questions, connections):
        self.batches.append(sorted(questions))
        if "bad" in questions:
            raise StatusError(413)
        return Reply(
            [text.upper() for text in questions], Usage(calls=1, input_tokens=len(questions))
        )

    @property
    def ask_capitals(self):
        return Counter(text for batch in self.batches for text in batch)


class StatusError(Exception):
    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status_code = status


@pytest.fixture
def client():
    with_short_waits = Client(Policy(retry=Retry(attempts=3, first_wait=0.001)))
    yield with_short_waits
    with_short_waits.close()


def client_of(**policy):
    return Client(Policy(**policy))


def test_questions_of_a_call_are_asked_together_and_once(client):
    model = Capitals()

    assert client.answers(model, ["a", "b", "a", "c"]) == {"a": "A", "b": "B", "c": "C"}
    assert sorted(model.batches) == [["a", "b"], ["c"]]
    assert client.usage == Usage(calls=2, input_tokens=3)


def test_no_question_needs_no_answer(client):
    assert client.answers(Capitals(), []) == {}
    assert client.usage == Usage()


@pytest.mark.parametrize("is_kept", [True, False])
def test_an_answer_is_remembered(client, is_kept):
    model = Capitals(is_kept=is_kept)
    client.answers(model, ["a", "b"])

    assert client.answers(model, ["b", "c"]) == {"b": "B", "c": "C"}
    assert model.batches == [["a", "b"], ["c"]]
    assert client.usage.cached == 0


def test_a_failure_is_remembered_so_that_a_run_can_look_for_whose_it_is(client):
    model = Capitals()
    for questions in (["a", "bad", "b"], ["a", "bad"], ["bad"]):
        failure = client.answers(model, questions)["bad"]
        assert isinstance(failure, ModelError)
        assert str(failure) == "the model's server answered 413: status 413"

    assert client.answers(model, ["a", "b"]) == {"a": "A", "b": "B"}
    assert model.ask_capitals == {
        "a": 2,
        "bad": 2,
        "b": 1,
    }  # both again when the server refused the two
    assert client.usage.calls == 4


def test_a_failure_that_is_not_remembered_is_asked_again():
    of_plan = Plan(LeafNode(threshold=0.5, comparator=ExactComparator()), "Doc").client
    for client in (Client(remembers_failures=False), of_plan):
        model = Capitals()
        for _ in range(2):
            assert isinstance(client.answers(model, ["bad"])["bad"], ModelError)

        assert model.ask_capitals == {"bad": 2}


def test_every_attempt_counts_as_a_call(client):
    class Away(Capitals):
        def call(self, questions, connections):
            raise TimeoutError

    failures = client.answers(Away(), ["a", "b"])
    assert {str(failure) for failure in failures.values()} == {"TimeoutError (3 attempts): "}
    assert client.usage.calls == 3


def test_a_model_in_this_process_is_neither_given_up_nor_held_up(own_cache):
    class Local(Capitals):
        is_local = True
        batch_size = 1

        def call(self, questions, connections):
            if questions[0].startswith("bad"):
                raise ValueError(*questions)
            return super().call(questions, connections)

    client = client_of(per_minute=1, max_tokens=1)
    texts = [*(f"bad {number}" for number in range(20)), "a", "b", "c"]
    answers = client.answers(Local(), texts)

    assert [answers[text] for text in "abc"] == ["A", "B", "C"]
    assert client.usage == Usage(calls=23, failed=20, input_tokens=3)
    client.close()


def test_what_the_cache_has_is_not_asked(client):
    client.answers(Capitals(), ["a", "b"])
    model, other = Capitals(), client_of()

    assert other.answers(model, ["a", "b", "c"]) == {"a": "A", "b": "B", "c": "C"}
    assert model.ask_capitals == {"c": 1}
    assert other.usage == Usage(calls=1, cached=2, input_tokens=1)
    other.close()


def test_an_answer_is_kept_under_all_that_shapes_it(own_cache):
    key = json.dumps([{"model": "capitals"}, '"a"'], sort_keys=True)
    cache = AnswerCache(own_cache)
    cache.write("embedding", "capitals", {blake2b(key.encode(), digest_size=20).digest(): b'"A"'})
    cache.close()
    client = client_of(offline=True)

    assert client.answers(Capitals(), ["a"]) == {"a": "A"}
    assert isinstance(client.answers(Capitals("others"), ["a"])["a"], ModelError)
    client.close()


def test_without_a_cache_nothing_is_written(own_cache):
    client_of(cache=False).answers(Capitals(), ["a"])

    assert not own_cache.exists()


def test_what_nobody_can_know_by_its_identity_is_not_written(client, own_cache):
    client.answers(Capitals(is_kept=False), ["a"])

    assert not own_cache.exists()


def test_offline_a_question_that_the_cache_cannot_answer_has_no_answer(client):
    model = Capitals()
    client.answers(model, ["a"])
    offline = client_of(offline=True)

    answers = offline.answers(model, ["a", "b"])
    assert answers["a"] == "A"
    assert (
        str(answers["b"])
        == "the cache has no answer to this question, and --offline forbids asking the model"
    )
    assert model.ask_capitals == {"a": 1}
    offline.close()


def test_a_dry_run_counts_each_question_once_and_asks_nothing(client):
    model = Capitals()
    client.answers(model, ["a"])
    counting = client_of(dry_run=True)

    assert counting.answers(model, ["a", "b", "c"]) == {"a": "A"}
    assert counting.answers(model, ["a", "c", "d"]) == {"a": "A"}
    (need,) = counting.needs
    assert (need.questions, need.calls, need.cached, need.tokens) == (3, 2, 1, 3)
    assert model.ask_capitals == {"a": 1}
    counting.close()


def test_no_more_pairs_are_judged_than_the_policy_allows(client):
    judge = Capitals(is_judge=True)
    client.answers(judge, ["a"])
    limited = client_of(max_pairs=2)

    assert limited.answers(judge, ["a", "b"]) == {"a": "A", "b": "B"}
    answers = limited.answers(judge, ["b", "c", "d"])
    assert answers["c"] == "C"
    assert str(answers["d"]) == "the limit of 2 pairs (--max-pairs) has been reached"
    assert judge.ask_capitals == {"a": 1, "b": 1, "c": 1}
    assert str(limited.usage).startswith("2 calls, 1 questions not asked, 1 answers from the cache")
    limited.close()


def test_a_rehearsal_asks_nothing_and_tells_what_is_in_the_cache(client):
    judge = Capitals(is_judge=True)
    client.answers(judge, ["a"])
    other = client_of()
    with other.rehearsing() as counting:
        counting.answers(judge, ["a", "b"])
        (need,) = counting.needs
        assert (need.questions, need.cached) == (1, 1)

    assert other.answers(judge, ["a", "b"]) == {"a": "A", "b": "B"}
    assert other.usage == Usage(calls=1, cached=1, input_tokens=1)
    other.close()


def test_in_another_process_a_client_is_a_new_one_with_the_same_policy():
    client = client_of(cache=False, max_pairs=7)
    client.answers(Capitals(), ["a"])
    sent = pickle.loads(pickle.dumps(client))  # noqa: S301 - our own

    assert sent.policy == client.policy
    assert sent.usage == Usage()


def test_a_closed_client_opens_again_what_it_needs(client):
    client.answers(Capitals(), ["a"])
    client.close()

    assert client.answers(Capitals(), ["a", "b"]) == {"a": "A", "b": "B"}


def test_the_latest_results_are_remembered_as_far_as_there_is_room():
    memory = Memory(limit=1000)
    memory.keep(dict.fromkeys(range(10), b"x" * 100))  # some 330 bytes each

    assert memory.find(range(10)) == dict.fromkeys((7, 8, 9), b"x" * 100)


def test_a_result_that_is_remembered_stays():
    memory = Memory()
    memory.keep({"key": 1})
    memory.keep({"key": 2})

    assert memory.find(["key", "other"]) == {"key": 1}


def test_usages_add_and_say_what_they_are():
    priced = Usage(calls=1, cached=2, input_tokens=3, output_tokens=4, nano_dollars=2_000_000)
    unpriced = Usage(calls=1, unpriced=1)

    assert (priced + unpriced).calls == 2
    assert str(priced) == "1 calls, 2 answers from the cache, 7 tokens, $0.0020"
    assert str(priced + unpriced) == (
        "2 calls, 2 answers from the cache, 7 tokens, at least $0.0020"
    )
    assert str(unpriced) == "1 calls, 0 answers from the cache, cost unknown"


def test_a_policy_that_may_not_ask_needs_no_model():
    assert Policy().may_ask
    assert not replace(Policy(), offline=True).may_ask
    assert not replace(Policy(), dry_run=True).may_ask


@pytest.fixture
def cache(own_cache):
    answers = AnswerCache(own_cache)
    yield answers
    answers.close()


def test_what_is_written_is_found_by_every_reader(cache, own_cache):
    cache.write("verdict", "m", {b"one": b"1", b"two": b"2"})
    other = AnswerCache(own_cache)

    assert other.read([b"one", b"three"]) == {b"one": b"1"}
    other.close()


def test_an_answer_that_is_there_stays(cache):
    cache.write("verdict", "m", {b"one": b"1"})
    cache.write("verdict", "m", {b"one": b"another"})

    assert cache.read([b"one"]) == {b"one": b"1"}


def test_any_number_of_answers_is_looked_up(cache):
    written = {f"{number}".encode(): b"x" for number in range(1200)}
    cache.write("embedding", "m", written)

    assert cache.read([*written, b"none"]) == written


def test_clearing_forgets_all_and_counts_them(cache):
    assert cache.clear() == 0
    assert not cache.path.exists()
    cache.write("verdict", "m", {b"one": b"1", b"two": b"2"})

    assert cache.clear() == 2
    assert cache.read([b"one", b"two"]) == {}
    assert cache.clear() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
def test_the_cache_is_for_its_user_alone(cache, own_cache):
    cache.write("verdict", "m", {b"one": b"1"})

    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in own_cache.iterdir()} == {0o600}


def test_many_may_write_and_read_at_once(own_cache):
    def work(worker):
        cache = AnswerCache(own_cache)
        for number in range(50):
            cache.write("verdict", "m", {f"{number}".encode(): f"{number}".encode()})
            assert cache.read([f"{number}".encode()])
        cache.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    cache = AnswerCache(own_cache)
    assert cache.clear() == 50
    cache.close()


def test_a_new_cache_waits_for_another_that_writes_its_file(cache, own_cache):
    own_cache.mkdir()
    other = sqlite3.connect(
        own_cache / "answers.sqlite3", isolation_level=None, check_same_thread=False
    )
    other.execute("begin immediate")
    leaving = threading.Timer(0.2, other.close)
    leaving.start()

    cache.write("verdict", "m", {b"one": b"1"})

    assert cache.read([b"one"]) == {b"one": b"1"}
    leaving.join()


def test_a_file_that_is_no_cache_is_an_error_that_says_what_to_do(own_cache):
    own_cache.mkdir()
    (own_cache / "answers.sqlite3").write_text("This is no database. " * 100)

    with pytest.raises(UsageError, match="cannot be used") as caught:
        AnswerCache(own_cache).read([b"one"])
    assert "set STICKLER_CACHE_DIR to another directory, or give --no-cache" in str(caught.value)


def test_a_place_where_no_file_can_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be used"):
        AnswerCache(tmp_path / "file" / "below").write("verdict", "m", {b"one": b"1"})


def test_a_cache_of_other_columns_is_an_error(cache, own_cache):
    own_cache.mkdir()
    connection = sqlite3.connect(cache.path)
    connection.execute("create table answers (something)")
    connection.commit()
    connection.close()

    with pytest.raises(UsageError, match="cannot be used"):
        cache.read([b"one"])
    with pytest.raises(UsageError, match="cannot be used"):
        cache.write("verdict", "m", {b"one": b"1"})


def test_a_cache_that_somebody_is_writing_cannot_be_cleared_at_once(cache, own_cache, monkeypatch):
    cache.write("verdict", "m", {b"one": b"1"})
    cache.close()
    monkeypatch.setattr("stickler_cli.clients.client.BUSY_SECONDS", 0.01)
    connection = sqlite3.connect(cache.path, isolation_level=None)
    connection.execute("begin immediate")

    with pytest.raises(UsageError, match="locked"):
        cache.clear()
    connection.close()


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"STICKLER_CACHE_DIR": "/a/place"}, "/a/place"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/stickler"),
        ("linux", {}, "~/.cache/stickler"),
        ("darwin", {}, "~/Library/Caches/stickler"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/stickler"),
        ("win32", {}, "~/AppData/Local/stickler"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(monkeypatch, platform, variables, expected):
    for name in ("STICKLER_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("stickler_cli.clients.client.sys.platform", platform)

    assert cache_directory() == Path(os.path.expanduser(expected))  # noqa: PTH111 - of a text
