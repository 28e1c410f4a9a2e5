"""The journal of a run: complete records are kept, whatever the end of the file is."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.runs.directory import run_directory as journal_module
from stickler_cli.runs.directory.run_directory import FIRST_LINE, Journal

RECORDS = [{"a": 1}, {"b": "é\n"}, {"c": [10**30, None]}]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a journal with three records."""
    path = tmp_path / "journal"
    journal = Journal(str(path), "--run-dir x")
    assert list(journal.records()) == []
    for record in RECORDS:
        journal.append(record)
    journal.close()
    return path


def records(path: Path) -> tuple[list[object], int]:
    """Return the records of a journal, and the number of bytes that were cut off."""
    journal = Journal(str(path), "--run-dir x")
    records_read = [json.loads(record) for record in journal.records()]
    journal.close()
    return records_read, journal.cut


def test_a_journal_that_ends_at_any_byte_keeps_its_whole_records(path):
    journal_bytes = path.read_bytes()
    lines = journal_bytes.splitlines(keepends=True)
    ends = [sum(map(len, lines[: count + 1])) for count in range(len(lines))]
    for length in range(len(journal_bytes) + 1):
        path.write_bytes(journal_bytes[:length])
        kept = sum(end <= length for end in ends[1:])
        cut = length - ends[kept] if length >= ends[0] else 0
        assert records(path) == (RECORDS[:kept], cut), length
        assert path.read_bytes() == b"".join(lines[: kept + 1]), length


def test_a_damaged_byte_costs_its_record_and_those_after_it(path):
    journal_bytes = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(journal_bytes) if byte == ord("\n")]
    for place in range(len(FIRST_LINE), len(journal_bytes)):
        path.write_bytes(
            journal_bytes[:place] + bytes([journal_bytes[place] ^ 1]) + journal_bytes[place + 1 :]
        )
        kept = sum(end <= place for end in ends) - 1
        assert records(path) == (RECORDS[:kept], len(journal_bytes) - ends[kept]), place


def test_a_record_that_is_missing_in_the_middle_costs_those_after_it(path):
    first, second, _, three = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second + three)
    assert records(path) == (RECORDS[:1], len(three))


def test_records_can_be_added_after_the_end_was_cut_off(path):
    path.write_bytes(path.read_bytes()[:-1])
    journal = Journal(str(path), "--run-dir x")
    assert len(list(journal.records())) == 2
    journal.append({"d": 4})
    journal.close()
    assert records(path) == ([*RECORDS[:2], {"d": 4}], 0)


def test_a_cleared_journal_begins_again(path):
    journal = Journal(str(path), "--run-dir x")
    journal.clear()
    assert list(journal.records()) == []
    journal.append({"d": 4})
    journal.close()
    assert records(path) == ([{"d": 4}], 0)


def test_another_file_is_not_taken_for_a_journal(path):
    path.write_text("my diary\n")
    with pytest.raises(UsageError, match="was not written by stickler"):
        Journal(str(path), "--run-dir x")
    assert path.read_text() == "my diary\n"


@pytest.mark.parametrize("version", [b"2", b"12"])
def test_a_journal_of_another_version_is_refused_unless_it_begins_again(path, version):
    path.write_bytes(b"stickler-journal/%b\n0 {}\n" % version)
    with pytest.raises(UsageError, match=r"written by another version of stickler.*use --restart"):
        Journal(str(path), "--run-dir x")
    Journal(str(path), "--run-dir x", restart=True).close()
    assert records(path) == ([], 0)


@pytest.mark.skipif(sys.platform == "win32", reason="opening a directory is not allowed there")
def test_a_directory_in_the_place_of_the_journal_is_an_error(path):
    path.unlink()
    path.mkdir()

    with pytest.raises(UsageError) as caught:
        Journal(str(path), "--run-dir x")

    assert str(caught.value) == (
        f"--run-dir x: the run directory must contain a file journal, but {path} is a directory; "
        f"delete {path}, or give another --run-dir"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
def test_a_pipe_in_the_place_of_the_journal_is_an_error(path):
    path.unlink()
    os.mkfifo(path)

    with pytest.raises(UsageError) as caught:
        Journal(str(path), "--run-dir x")

    assert str(caught.value) == (
        "--run-dir x: the run directory must contain a file journal, "
        f"but {path} is not a regular file; delete {path}, or give another --run-dir"
    )


def test_a_place_that_cannot_be_opened_is_an_error(path):
    with pytest.raises(UsageError, match=r"--run-dir x: .* cannot be opened \("):
        Journal(str(path / "journal"), "--run-dir x")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such lock")
def test_two_runs_cannot_have_one_journal(path):
    journal = Journal(str(path), "--run-dir x")
    with pytest.raises(UsageError, match="another run is using this directory"):
        Journal(str(path), "--run-dir x")
    journal.close()
    assert records(path) == (RECORDS, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such lock")
def test_the_lock_is_gone_with_its_process(path):
    code = (
        "import os, sys; from stickler_cli.runs.directory.run_directory import Journal; "
        "journal = Journal(sys.argv[1], 'x'); os._exit(7)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 7
    assert records(path) == (RECORDS, 0)


def test_records_are_brought_to_the_disk_when_it_is_time(path, monkeypatch):
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    journal = Journal(str(path), "--run-dir x")
    list(journal.records())
    journal.append({"d": 4})
    assert not synced
    monkeypatch.setattr(journal_module, "SYNC_SECONDS", -1.0)
    journal.append({"e": 5})
    assert len(synced) == 1
    journal.close()


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_is_an_error_that_names_the_journal(path, monkeypatch, call):
    journal = Journal(str(path), "--run-dir x")
    list(journal.records())

    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    if call == "fsync":
        monkeypatch.setattr(journal_module, "SYNC_SECONDS", -1.0)
    with pytest.raises(OSError, match="No space left") as caught:
        journal.append({"d": 4})
    assert caught.value.filename == str(path)
    journal.close()


def test_a_record_is_written_to_its_end_however_little_fits_at_once(path, monkeypatch):
    journal = Journal(str(path), "--run-dir x")
    list(journal.records())
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, bytes(data[:3])))
    journal.append({"d": 4})
    journal.close()
    assert records(path) == ([*RECORDS, {"d": 4}], 0)
