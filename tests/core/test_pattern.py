"""Tests of patterns that are compiled when they are first used."""

import re

import pytest

from stickler_cli.core.pattern import pattern


def test_pattern_finds_what_a_compiled_one_finds():
    text, flags = r"(\d+) (kg|g)", re.IGNORECASE
    mine, compiled = pattern(text, flags), re.compile(text, flags)
    for given in ("12 KG and 3 g", "kg", ""):
        assert mine.findall(given) == compiled.findall(given)
        assert mine.sub("-", given) == compiled.sub("-", given)
    assert mine.pattern == text
    assert pattern(rb"\d").search(b"a1")[0] == b"1"


def test_pattern_is_compiled_when_it_is_first_used():
    wrong = pattern("(")
    with pytest.raises(re.error):
        wrong.match("a")
