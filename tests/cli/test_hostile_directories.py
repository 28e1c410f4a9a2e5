"""A run directory made by somebody else opens only its own files, and stalls no command."""

import json
import os
import shutil
import signal
import sqlite3
import sys
from contextlib import chdir, closing
from hashlib import blake2b
from pathlib import Path

import pytest

from stickler_cli.cli import main
from stickler_cli.cli.viewing import make_server
from stickler_cli.core import remote
from stickler_cli.core.json_values import json_line
from stickler_cli.runs import page_index
from stickler_cli.runs.directory.run_directory import CHECKSUM_BYTES
from stickler_cli.runs.page_index import ErrorIndex
from stickler_cli.runs.saved import page_of
from stickler_cli.runs.whole_files import JOURNAL, PARTIAL, RESULTS
from .conftest import write_data

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
    """Make the test fail after a minute, for example if it waits for a pipe."""

    def fail(*_):
        pytest.fail("it waits for ever")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The run directory of a finished run of the data set."""
    folder = tmp_path_factory.mktemp("finished")
    write_data(folder)
    with chdir(folder):
        assert main(EVAL) == 0
    return folder / "night"


@pytest.fixture
def night(data, finished):
    return shutil.copytree(finished, data / "night")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link(path: Path) -> None:
    elsewhere = path.parent.parent / "secret.json"
    elsewhere.write_text('{"password": "hunter2"}')
    path.symlink_to(elsewhere)


@pytest.mark.slow
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
        *(("eval", name) for name in (JOURNAL, *RESULTS, *(name + PARTIAL for name in RESULTS))),
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
    server, _ = make_server(night.name, 0)
    server.server_close()
    lines = ErrorIndex(lambda: pytest.fail("it is made anew"), night.name).page({}, 0, 100)
    return [json.loads(line)[2] for line in lines]


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
ENDLESS_LINES = f"CREATE VIEW line AS {ENDLESS} i AS n, i AS line FROM n"
ENDLESS_KEYS = f"CREATE VIEW made AS {ENDLESS} i AS key FROM n"


def forge(file: Path, *statements: str) -> None:
    """Execute SQL statements in the database of a run, but keep its key of the run."""
    with sqlite3.connect(file) as base:
        for statement in statements:
            base.execute(statement)
    base.close()


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    ["line = 'nope'", "line = x'ff'", "line = NULL", "line = '[1,2]'", "line = 3", "n = -n"],
)
def test_changed_rows_of_a_kept_database_do_not_end_view(night, alarm, change):
    make_server("night", 0)[0].server_close()
    for name in ("view-errors.sqlite", "view-documents.sqlite"):
        with closing(sqlite3.connect(night / name)) as base:
            base.execute(f"UPDATE line SET {change}")  # noqa: S608 - of this table
            base.commit()

    server, _ = make_server("night", 0)
    server.server_close()


@pytest.mark.slow
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


# --- what a run names


def rename_in_journal(journal: Path, **settings: object) -> None:
    """Write other settings into the journal of a run, and compute its checksums again."""
    lines = journal.read_bytes().splitlines(keepends=True)
    chain, forged = b"", [lines[0]]
    for number, line in enumerate(lines[1:]):
        record = line.partition(b" ")[2]
        if number == 0:
            values = json.loads(record)
            values["settings"] |= settings
            record = json_line(values)
        chain = blake2b(chain + record, digest_size=CHECKSUM_BYTES).digest()
        forged.append(chain.hex().encode() + b" " + record)
    journal.write_bytes(b"".join(forged))


REREADERS = [READERS["compare"], READERS["regroup"]]


@pytest.mark.slow
@pytest.mark.parametrize("command", REREADERS)
@pytest.mark.parametrize("key", ["GT", "PRED", "pairs", "confidences"])
@pytest.mark.parametrize(
    "source",
    [
        "http://127.0.0.1:9/secret.json",
        "s3://bucket/secret.json",
        "file:///etc/passwd",
        "/etc/passwd",
        "../secret.json",
        "gt/../../secret.json",
        "linked.json",
        "night/own.json",
    ],
)
def test_what_a_run_names_elsewhere_is_not_read_on_its_word(
    stickler, data, night, monkeypatch, command, key, source
):
    secret = data.parent / "secret.json"
    secret.write_text('{"password": "hunter2"}')
    (data / "linked.json").symlink_to(secret)
    (night / "own.json").write_text(secret.read_text())
    rename_in_journal(night / "journal", **{key: source})
    monkeypatch.setattr(remote, "_files_of", lambda *_: pytest.fail("a URL is asked for"))

    result = stickler(*command)

    assert result.code == 2
    assert f"night: the run refers to {source}" in result.err
    assert f"--read {source}" in result.err
    assert "hunter2" not in result.out + result.err


@pytest.mark.slow
@pytest.mark.parametrize("command", REREADERS)
@pytest.mark.parametrize("key", ["GT", "PRED", "pairs", "confidences", "schema"])
def test_standard_input_is_never_read_on_the_word_of_a_run(
    stickler, data, night, monkeypatch, command, key
):
    if key == "schema":
        record = json.loads((night / "run.json").read_text())
        record["schema"]["path"] = "-"
        (night / "run.json").write_text(json.dumps(record))
    else:
        rename_in_journal(night / "journal", **{key: "-"})
    monkeypatch.setattr(sys, "stdin", None)

    for words in (command, (*command, "--read", "-")):
        result = stickler(*words)
        assert result.code == 2
        assert "night: the run refers to standard input, expected a run" in result.err


@pytest.mark.slow
@pytest.mark.parametrize("command", REREADERS)
@pytest.mark.parametrize("schema", ["http://127.0.0.1:9/s.json", "/etc/passwd", "models:Order"])
def test_no_schema_elsewhere_is_read_or_run_on_the_word_of_a_run(
    stickler, data, night, monkeypatch, command, schema
):
    record = json.loads((night / "run.json").read_text())
    record["schema"]["path"] = schema
    (night / "run.json").write_text(json.dumps(record))
    monkeypatch.setattr(remote, "_files_of", lambda *_: pytest.fail("a URL is asked for"))

    result = stickler(*command, "--allow-plugins")

    assert result.code == 2
    assert f"night: the run refers to {schema}" in result.err


@pytest.mark.parametrize("command", REREADERS)
def test_what_the_caller_names_too_is_read(stickler, data, night, command):
    expected = stickler(*command)
    assert expected.code == 0
    outside = data.parent / f"{data.name}-outside"
    (data / "gt").rename(outside)
    rename_in_journal(night / "journal", GT=str(outside))

    assert stickler(*command).code == 2
    assert stickler(*command, "--read", "pred").code == 2
    result = stickler(*command, "--read", str(outside))
    assert (result.code, result.out) == (0, expected.out)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["GT", "PRED"])
@pytest.mark.parametrize("value", [None, 3, ["gt"], "a\0b", "circle", "circle/gt", "\ud800"])
def test_a_source_that_is_no_text_or_path_is_refused(stickler, data, night, key, value):
    (data / "circle").symlink_to("circle")
    rename_in_journal(night / "journal", **{key: value})

    for command in REREADERS:
        assert stickler(*command).code == 2


@pytest.mark.slow
@pytest.mark.parametrize("command", REREADERS)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("GT", 3),
        ("pair_by", []),
        ("pair_by", ""),
        ("max_document_size", None),
        ("ignore", {}),
        ("validate", 3),
        ("validate", [1]),
    ],
)
def test_a_forged_setting_is_told_with_the_journal_and_the_record(
    stickler, night, command, key, value
):
    rename_in_journal(night / "journal", **{key: value})

    result = stickler(*command)

    assert result.code == 2
    assert "journal record 1" in result.err
    assert key.lower() in result.err


def forge_records(journal: Path, change) -> None:
    """Change the records of a journal, and compute its checksums again.

    `change` takes a list of records as JSON lines, and returns the new ones.
    """
    first, *lines = journal.read_bytes().splitlines(keepends=True)
    chain, forged = b"", [first]
    for record in change([line.partition(b" ")[2] for line in lines]):
        chain = blake2b(chain + record, digest_size=CHECKSUM_BYTES).digest()
        forged.append(chain.hex().encode() + b" " + record)
    journal.write_bytes(b"".join(forged))


def replace_values(record: bytes, **values: object) -> bytes:
    return json_line({**json.loads(record), **values})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [lines[0], b"[" * 100_000 + b"\n"], "record 2 is not JSON"),
        (lambda lines: [lines[0], b"{oops\n"], "record 2 is not JSON"),
        (lambda lines: [lines[0], b"null\n"], "the value is null, expected an object"),
        (lambda lines: [lines[0], b"[1]\n"], "the value is [1], expected an object"),
        (lambda lines: lines[1:], "#/settings: the value is null"),
        (
            lambda lines: [lines[0], *lines[1:], *lines[1:]],
            "documents have changed since the run was started",
        ),
        (
            lambda lines: [lines[0], b'{"finished":0}\n'],
            "documents have changed since the run was started",
        ),
        (
            lambda lines: [lines[0], replace_values(lines[1], fingerprints=[]), *lines[2:]],
            "record 2: the record has 0 fingerprints for 2 documents",
        ),
        (
            lambda lines: [lines[0], replace_values(lines[1], ids=["one"]), *lines[2:]],
            "record 2: the record has 2 fingerprints for 1 documents",
        ),
        (
            lambda lines: [lines[0], replace_values(lines[1], evaluation={}), *lines[2:]],
            '#/evaluation: the key "format" is missing',
        ),
    ],
)
def test_forged_records_with_right_checksums_are_told(stickler, night, change, message):
    forge_records(night / "journal", change)

    result = stickler(*EVAL)

    assert result.code == 2, result.err
    assert message in result.err


@pytest.mark.parametrize("command", REREADERS)
@pytest.mark.parametrize("output", ["gt/one.json", "pred/new.json", "schema.json"])
def test_no_output_takes_the_place_of_what_a_run_names(stickler, data, night, command, output):
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}

    result = stickler(*command, "-o", output)

    assert result.code == 2
    assert "would overwrite " in result.err
    assert before == {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
