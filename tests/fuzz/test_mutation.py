"""Changes of JSON are JSON, are the same for one seed, and reach every part of a value."""

import json
from random import Random

import pytest

from fuzz.mutation import mutated

VALUE = {"a": [1, {"b": "x"}], "c": {"d": None}}
WORDS = ["type", "items"]


def changes(value, count=300):
    return [mutated(value, WORDS, Random(seed)) for seed in range(count)]  # noqa: S311


def test_a_changed_value_is_json_and_the_value_stays_as_it_was():
    before = json.dumps(VALUE)

    assert all(json.loads(json.dumps(found)) == found for found in changes(VALUE))
    assert json.dumps(VALUE) == before


def test_one_seed_makes_one_change():
    assert changes(VALUE) == changes(VALUE)


@pytest.mark.parametrize("value", [None, "x", 1, [], {}, [[]]])
def test_what_holds_nothing_is_changed_too(value):
    assert any(found != value for found in changes(value, 20))


def test_keys_and_values_are_dropped_renamed_added_and_replaced():
    found = changes({"a": "x"})

    assert {} in found
    assert {"type": "x"} in found
    assert {"a": "x", "items": "x"} in found
    assert {"a": "type"} in found
    assert {"a": ["x"]} in found
