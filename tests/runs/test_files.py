"""Files that are there whole or not at all."""

import stat

import pytest

from stickler_cli.errors import UsageError
from stickler_cli.runs.files import whole_file


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
