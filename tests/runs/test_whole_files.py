"""Files that are either complete or do not exist."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.runs.whole_files import name_of_partial, own_file, whole_file


def test_a_file_is_there_when_its_block_has_ended(tmp_path):
    target = tmp_path / "run.json"
    with whole_file(str(target), "--output") as stream:
        stream.write(b"{}")
        assert not target.exists()
    assert target.read_bytes() == b"{}"
    assert stat.S_IMODE(target.stat().st_mode) & 0o400


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "run.json"
    target.write_text("old")

    def fail() -> None:
        with whole_file(str(target), "--output") as stream:
            stream.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("name", ["", "no/run.json"])
def test_a_place_where_no_file_can_be_is_told_with_the_option(tmp_path, name):
    place = whole_file(str(tmp_path / name), "--output")
    with pytest.raises(UsageError, match="--output"):
        place.__enter__()


def test_a_link_stays_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "run.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    with whole_file(str(link), "--output") as stream:
        stream.write(b"new")
    assert target.read_text() == "new"
    assert link.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(str(pipe), "--output") as stream:
        stream.write(b"data")
    assert os.read(reader, 10) == b"data"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_is_written_to_where_it_leads(tmp_path):
    command = "from stickler_cli.runs.whole_files import whole_file as f\n"
    command += "with f('/dev/stdout', '') as s:"
    with (tmp_path / "out").open("wb") as out:
        command += " s.write(b'data')"
        subprocess.run([sys.executable, "-c", command], stdout=out, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"data"


def test_a_file_about_some_documents_only_goes_beside_the_place(tmp_path):
    target = tmp_path / "docs.jsonl"
    target.write_text("old")
    with whole_file(str(target), "--documents", partial=lambda: True) as stream:
        stream.write(b"some")
    assert target.read_text() == "old"
    assert (tmp_path / "docs.jsonl.partial").read_text() == "some"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_file_that_cannot_be_written_is_named():
    def fill() -> None:
        with whole_file("/dev/full", "--documents") as stream:
            stream.write(b"x" * 100_000)

    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        fill()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
@pytest.mark.parametrize(
    ("make", "kind"), [(os.mkdir, "a directory"), (os.mkfifo, "not a regular file")]
)
def test_what_is_no_file_is_no_file_of_a_run(tmp_path, make, kind):
    path = tmp_path / "run.json"
    make(path)

    with pytest.raises(UsageError) as caught:
        own_file(str(tmp_path), "run.json")

    assert str(caught.value) == (
        f"{path}: this is {kind}, expected a regular file of the run; "
        "move it elsewhere, or give another run directory"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_the_name_of_a_partial_file_is_that_of_the_file_that_is_written(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "store" / "run.json")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    assert name_of_partial("run.json") == "run.json.partial"
    assert name_of_partial("s3://me:secret@bucket/run.json") == "s3://bucket/run.json.partial"
    assert name_of_partial("/dev/stdout") == "/dev/stdout"
    assert name_of_partial(str(pipe)) == str(pipe)
    name = name_of_partial(str(tmp_path / "link.json"))
    assert Path(name) == (tmp_path / "store" / "run.json.partial").resolve()
    with whole_file(str(tmp_path / "link.json"), "--output", partial=lambda: True) as stream:
        stream.write(b"some")
    assert Path(name).read_bytes() == b"some"
