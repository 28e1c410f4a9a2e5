"""Numbers of lost values by the position of their item in its list."""

from itertools import pairwise

import pytest

from stickler_cli.schema.compiler import compile_schema
from stickler_cli.score.item_places import BIN_STARTS, ItemPlaceCounts, bin_names, count_item_places
from .batches import batch

TEXTS = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {
        "tags": TEXTS,
        "tables": {"type": "array", "items": {"type": "object", "properties": {"cells": TEXTS}}},
        "title": {"type": "string"},
    },
}
PLAN = compile_schema(SCHEMA)
LETTERS = [*"abcdefghijkl"]


def places_of(*pairs) -> ItemPlaceCounts:
    documents = {str(number): pair for number, pair in enumerate(pairs)}
    return count_item_places(batch(PLAN, documents).table)


def test_values_count_at_the_place_of_their_item_in_the_ground_truth():
    counts = places_of(
        ({"tags": LETTERS, "title": "x"}, {"tags": LETTERS[:6], "title": "y"}),
        ({"tags": [*"abc"]}, {"tags": [*"ab"]}),
    )

    assert [(rate.name, rate.lost, rate.values) for rate in counts.rates()] == [
        *(("0", 0, 2), ("1", 0, 2), ("2", 1, 2), ("3", 0, 1), ("4", 0, 1)),
        *(("5-9", 4, 5), ("10-19", 2, 2)),
    ]


def test_an_invented_item_counts_at_its_place_in_the_prediction():
    (first, second) = places_of(({"tags": ["a"]}, {"tags": ["a", "z"]})).rates()

    assert (first.lost, first.values) == (0, 1)
    assert (second.lost, second.values, second.share) == (1, 1, 1.0)


def test_an_inner_list_counts_at_the_place_of_the_outermost_item():
    tables = {"tables": [{"cells": ["a", "b"]}, {"cells": ["c", "d"]}]}
    cut = {"tables": [{"cells": ["a", "b"]}]}

    rates = places_of((tables, tables), (tables, cut)).rates()

    assert [(rate.name, rate.lost, rate.values) for rate in rates] == [("0", 0, 4), ("1", 2, 4)]


def test_without_lists_there_are_no_places():
    assert places_of(({"title": "x"}, {"title": "y"})).rates(level=0.95) == []


def test_counts_add_up_however_documents_are_divided():
    pairs = [({"tags": LETTERS[:size]}, {"tags": LETTERS[: size // 2]}) for size in range(1, 12)]
    total = ItemPlaceCounts()
    for pair in pairs:
        total.merge(places_of(pair))

    assert total == places_of(*pairs)


def test_the_interval_of_one_value_a_document_is_the_exact_binomial_one():
    right, lost = ({"tags": ["a"]}, {"tags": ["a"]}), ({"tags": ["a"]}, {})
    (rate,) = places_of(right, right, right, lost).rates(level=0.95)

    # Clopper and Pearson: 1 - 0.975 ** (1 / 4), and the root of p ** 4 + 4 p ** 3 (1 - p) = 0.975
    # with p = 1 - upper.
    upper = rate.interval.upper
    assert rate.interval.lower == pytest.approx(1 - 0.975**0.25, abs=1e-4)
    assert (1 - upper) ** 4 + 4 * upper * (1 - upper) ** 3 == pytest.approx(0.025, abs=1e-4)


def test_bins_follow_each_other():
    assert all(start < following for start, following in pairwise(BIN_STARTS))
    assert len(bin_names()) == len(BIN_STARTS)
