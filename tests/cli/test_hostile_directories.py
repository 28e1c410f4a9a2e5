"""A run directory that somebody else wrote opens nothing but its own files, and stalls nothing."""

import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest

from stickler_cli.cli.viewing import served
from stickler_cli.runs import page_index
from stickler_cli.runs.page_index import ErrorIndex
from stickler_cli.runs.saved import page_of
from stickler_cli.runs.whole_files import JOURNAL, PARTIAL, RESULTS

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")

EVAL = ("eval", "schema.json", "gt/", "pred/", "--run-dir", "night", "-q")
READERS = {
    "errors": ("errors", "night"),
    "view": ("view", "night"),
    "compare": ("compare", "night", "--document", "two"),
    "report": ("report", "night", "--show-documents", "1"),
    "regroup": ("report", "night", "--by", "total"),
    "merge": ("merge", "night"),
    "diff": ("diff", "night", "night"),
    "plan": ("plan", "night", "--half-width", "0.1"),
    "eval": EVAL,
}


@pytest.fixture
def alarm():
    """End a test that waits for a pipe."""

    def fail(*_):
        pytest.fail("it waits for ever")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def night(stickler, data):
    stickler(*EVAL)
    return data / "night"


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    elsewhere = path.parent.parent / "secret.json"
    elsewhere.write_text('{"password": "hunter2"}')
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("make", [make_pipe, make_link])
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("errors", "run.json"),
        ("errors", "non-matches.jsonl"),
        ("compare", "run.json"),
        ("compare", "journal"),
        ("report", "run.json"),
        ("report", "journal"),
        ("report", "non-matches.jsonl"),
        ("regroup", "journal"),
        ("merge", "run.json"),
        ("diff", "run.json"),
        ("plan", "run.json"),
        *(("eval", name) for name in (JOURNAL, *RESULTS, *(it + PARTIAL for it in RESULTS))),
    ],
)
def test_what_is_no_file_of_the_directory_is_not_opened(
    stickler, night, alarm, make, command, name
):
    (night / name).unlink(missing_ok=True)
    make(night / name)

    result = stickler(*READERS[command])

    assert result.code == 2
    assert f"night/{name}" in result.err
    assert "not a regular file" in result.err or "a link" in result.err or "opened" in result.err
    assert "hunter2" not in result.out + result.err


@pytest.mark.parametrize("make", [make_pipe, make_link])
@pytest.mark.parametrize("name", ["run.json", "non-matches.jsonl", "documents.jsonl"])
def test_no_such_file_is_served(stickler, data, alarm, make, name):
    stickler(*EVAL, "--rows", "none")
    night = data / "night"
    (night / name).unlink()
    make(night / name)

    result = stickler(*READERS["view"])

    assert result.code == 2
    assert f"night/{name}" in result.err


def test_a_page_that_is_a_link_is_not_linked_to(night, data):
    make_link(night / "report.html")

    assert page_of("night") == ""


def errors_served(night: Path) -> list[str]:
    server, _ = served(night.name, 0)
    server.server_close()
    lines = ErrorIndex(lambda: pytest.fail("it is made anew"), night.name).page({}, 0, 100)
    return [json.loads(line)[2] for line in lines]


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
ENDLESS_LINES = f"CREATE VIEW line AS {ENDLESS} i AS n, i AS line FROM n"
ENDLESS_KEYS = f"CREATE VIEW made AS {ENDLESS} i AS key FROM n"


def forge(file: Path, *statements: str) -> None:
    """Change the database of a run, and keep the key of the run in it."""
    with sqlite3.connect(file) as base:
        for statement in statements:
            base.execute(statement)
    base.close()


@pytest.mark.parametrize(
    "statements",
    [
        ("DROP TABLE line", ENDLESS_LINES),
        ("ALTER TABLE made RENAME TO was", ENDLESS_KEYS),
        ("ALTER TABLE line ADD COLUMN more AS (abs(-9223372036854775807 - 1))",),
        ("CREATE TABLE more (a)",),
        ("UPDATE made SET key = 'of another run'",),
        ("INSERT INTO made SELECT key FROM made",),
    ],
)
def test_a_database_that_is_not_made_here_is_made_anew(night, alarm, statements):
    before = errors_served(night)
    forge(night / "view-errors.sqlite", *statements)

    assert errors_served(night) == before == ["total", "lines[1]", "lines[1].sku", "lines[1].qty"]


@pytest.mark.parametrize("make", [make_pipe, make_link, Path.mkdir])
@pytest.mark.parametrize("name", ["view-errors.sqlite-journal", "view-errors.sqlite-wal"])
def test_no_journal_of_a_database_is_opened(night, alarm, make, name):
    before = errors_served(night)
    make(night / name)

    assert errors_served(night) == before


@pytest.mark.parametrize("make", [make_pipe, make_link])
def test_a_database_that_is_no_file_is_made_anew(night, alarm, make):
    before = errors_served(night)
    (night / "view-errors.sqlite").unlink()
    make(night / "view-errors.sqlite")

    assert errors_served(night) == before
    assert (night / "view-errors.sqlite").is_file()
    assert not (night / "view-errors.sqlite").is_symlink()


def test_an_answer_that_does_not_end_is_given_up(night, alarm, monkeypatch):
    monkeypatch.setattr(page_index, "ANSWER_SECONDS", 0.05)
    index = ErrorIndex(lambda: (), "")

    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        index.ask(f"{ENDLESS} count(*) FROM n")
    assert index.ask("SELECT 1") == [(1,)]
