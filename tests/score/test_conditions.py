"""Patterns for fields, and fields in the order of their schema."""

from stickler_cli.compare.result import FieldInfo
from stickler_cli.score.sums import (
    FieldTallies,
    Tally,
    in_schema_order,
    schema_pattern,
    schema_step,
)


def test_a_name_is_its_own_step_unless_only_any_name_is_known_there():
    for patterns, step in (
        ({("a",)}, "a"),
        ({("*",)}, "*"),
        ({("a",), ("*",)}, "a"),
        ({("b",)}, "a"),
        (set(), "a"),
    ):
        assert schema_step("a", patterns, ()) == step
    assert schema_step("a", {("o", "*")}, ("o",)) == "*"
    assert schema_pattern(("m", "k", "a"), {("m",), ("m", "*"), ("m", "*", "a")}) == ("m", "*", "a")


def test_fields_stand_as_in_the_schema_at_every_depth_and_keys_by_their_names():
    names = (("o",), ("o", "b"), ("o", "a"), ("m",), ("m", "*"), ("m", "*", "z"), ("m", "*", "y"))
    fields = [FieldInfo(path, "leaf", "", 0.5, 1.0) for path in names]
    paths = (("m", "l", "y"), ("m", "k", "y"), ("m", "k", "z"), ("o", "a"), ("o", "b"))
    sums = FieldTallies({path: Tally() for path in paths}).sort_parents_first()

    found = [path for path in in_schema_order(sums, fields) if path]

    assert found == [
        ("o",),
        ("o", "b"),
        ("o", "a"),
        ("m",),
        ("m", "k"),
        ("m", "k", "z"),
        ("m", "k", "y"),
        ("m", "l"),
        ("m", "l", "y"),
    ]
