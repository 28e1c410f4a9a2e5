"""Random changes of JSON values: results are JSON, depend on the seed, and reach all values."""

import json
from random import Random

import pytest

from fuzz.mutation import mutate_value

VALUE = {"a": [1, {"b": "x"}], "c": {"d": None}}
WORDS = ["type", "items"]


def changes(value, count=300):
    return [mutate_value(value, WORDS, Random(seed)) for seed in range(count)]  # noqa: S311


def test_changed_values_are_json_and_the_original_stays_the_same():
    before = json.dumps(VALUE)

    assert all(json.loads(json.dumps(changed)) == changed for changed in changes(VALUE))
    assert json.dumps(VALUE) == before


def test_the_same_seed_makes_the_same_change():
    assert changes(VALUE) == changes(VALUE)


@pytest.mark.parametrize("value", [None, "x", 1, [], {}, [[]]])
def test_values_without_other_values_inside_are_changed_too(value):
    assert any(changed != value for changed in changes(value, 20))


def test_keys_and_values_are_dropped_renamed_added_and_replaced():
    changed = changes({"a": "x"})

    assert {} in changed
    assert {"type": "x"} in changed
    assert {"a": "x", "items": "x"} in changed
    assert {"a": "type"} in changed
    assert {"a": ["x"]} in changed
