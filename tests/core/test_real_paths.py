"""Texts that can be paths, and paths with all links resolved."""

import sys

import pytest

from stickler_cli.core.real_paths import can_be_path, real_path


@pytest.mark.skipif(sys.platform == "win32", reason="Windows restricts links")
def test_links_are_followed_and_those_in_a_circle_stay(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "first").symlink_to(tmp_path / "second")
    (tmp_path / "second").symlink_to(tmp_path / "first")

    assert real_path(tmp_path / "link") == real_path(str(file)) == file.resolve()
    assert real_path(tmp_path / "missing" / ".." / "file") == file.resolve()
    assert real_path(tmp_path / "first").is_symlink()


def test_what_the_system_refuses_is_no_path():
    assert [*map(can_be_path, ("", "a b", "é\udc80", "a\0", "\ud800"))] == [True] * 3 + [False] * 2
