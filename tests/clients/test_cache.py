"""The file of answers: what it keeps, for whom, and what happens where it cannot be used."""

import os
import sqlite3
import stat
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stickler_cli.clients.client import AnswerCache, Holding, cache_directory
from stickler_cli.core.problems import UsageError


@pytest.fixture
def cache(own_cache):
    made = AnswerCache(own_cache)
    yield made
    made.close()


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


def test_holdings_are_told_by_kind_and_model(cache):
    assert cache.holdings() == []
    assert not cache.path.exists()
    cache.write("verdict", "b", {b"1": b"xx"})
    cache.write("verdict", "a", {b"2": b"x", b"3": b"x"})
    cache.write("embedding", "b", {b"4": b"xxxx"})

    assert cache.holdings() == [
        Holding("embedding", "b", 1, 4),
        Holding("verdict", "a", 2, 2),
        Holding("verdict", "b", 1, 2),
    ]


def test_clearing_forgets_all_and_counts_them(cache):
    assert cache.clear() == 0
    assert not cache.path.exists()
    cache.write("verdict", "m", {b"one": b"1", b"two": b"2"})

    assert cache.clear() == 2
    assert cache.read([b"one"]) == {}
    assert cache.holdings() == []


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
    assert [holding.answers for holding in cache.holdings()] == [50]
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
