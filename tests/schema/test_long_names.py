"""Names of documents may have any length."""

import pytest

from stickler_cli.schema.inference.name_rules import LONGEST_NAME, rule_for


@pytest.mark.parametrize("name", ["of_" * 1_000_000, "a" * 3_000_000, "a\u0300\u0323" * 1_000_000])
def test_a_name_longer_than_any_rule_speaks_of_has_none(name):
    assert rule_for(name, "string") is None


def test_a_long_name_still_has_a_rule():
    name = "x_" * (LONGEST_NAME // 2 - 5) + "due_date"

    assert rule_for(name, "string") is not None
