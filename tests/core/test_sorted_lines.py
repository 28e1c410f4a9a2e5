"""Sorting many lines by keys gives the same order in memory and on disk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickler_cli.core import sorted_lines
from stickler_cli.core.sorted_lines import SortedLines

ENTRIES = st.lists(st.tuples(st.text(max_size=3) | st.sampled_from("ab"), st.binary(max_size=40)))


@given(ENTRIES, st.sampled_from([0, 300, 1000, 100_000]), st.sampled_from([1, 2, 7, 64]))
def test_lines_come_in_the_order_of_their_keys(entries, most_bytes, blocks):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_lines, "BLOCKS", blocks)
        lines = SortedLines(most_bytes=most_bytes)
        for entry in entries:
            lines.append(entry)
        assert len(lines) == len(entries)
        assert list(lines) == sorted(entries)
        assert list(lines) == sorted(entries), "they can be read again"


@pytest.mark.slow
@given(ENTRIES, ENTRIES)
def test_lines_that_were_sorted_elsewhere_are_added(some, others):
    lines = SortedLines(some, most_bytes=500)
    lines += SortedLines(others, most_bytes=500)
    assert list(lines) == sorted(some + others)


def test_lines_can_be_added_after_some_were_read():
    lines = SortedLines([("b", b"2"), ("d", b"4")], most_bytes=0)
    assert [key for key, _ in lines] == ["b", "d"]
    lines += [("c", b"3"), ("a", b"1")]
    assert [line for _, line in lines] == [b"1", b"2", b"3", b"4"]


def test_a_key_that_is_no_unicode_is_kept_as_it_is():
    assert list(SortedLines([("\udce9", b"x")], most_bytes=0)) == [("\udce9", b"x")]


def test_a_few_lines_need_no_file(monkeypatch):
    monkeypatch.setattr(sorted_lines.tempfile, "TemporaryFile", None)
    assert list(SortedLines([("b", b"2"), ("a", b"1")])) == [("a", b"1"), ("b", b"2")]
