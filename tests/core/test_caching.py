"""Caches that long texts of documents cannot fill."""

from stickler_cli.core.caching import LONGEST_KEPT, lru_cache_of_short_texts


def test_short_texts_are_kept_and_long_ones_are_not():
    calls = []

    @lru_cache_of_short_texts(maxsize=8)
    def length(text, unit=1):
        calls.append(len(text) * unit)
        return len(text) * unit

    short, long = "x" * LONGEST_KEPT, "x" * (LONGEST_KEPT + 1)
    results = [length(text, 2) for text in (short, short, long, long)]

    assert results == [2 * len(short)] * 2 + [2 * len(long)] * 2
    assert calls == [2 * len(short)] + [2 * len(long)] * 2
    assert length.__name__ == "length"
