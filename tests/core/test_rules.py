"""Typed values: what they may be in files, and how they become JSON."""

from dataclasses import dataclass, field
from typing import Annotated, Any, get_args

import pytest
from pydantic import TypeAdapter

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import (
    KEPT,
    Count,
    ExactSum,
    FieldPath,
    Flag,
    Fraction,
    FractionOrNone,
    NumberOrNone,
    Rule,
    Some,
    encoded,
    is_share,
)
from stickler_cli.records.codec import decode


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (Count, [0, 7, 10**30], [-1, 1.0, True, "1", None]),
        (Some, [1], [0]),
        (Fraction, [0, 1, 0.5], [-0.1, 1.1, True, None, float("nan"), float("inf"), 10**400]),
        (FractionOrNone, [None, 0.5, 1], [2, "0.5", False]),
        (NumberOrNone, [None, -5, 1e308], [10**400, float("nan"), True]),
        (Flag, [True, False], [0, 1, None]),
        (ExactSum, ["0", "1" * 100], ["1" * 101, "-1", "", 1]),
    ],
)
def test_values_are_what_their_keywords_say(kind, right, wrong):
    assert [decode(kind, value) for value in right] == right
    (rule,) = get_args(kind)[1:]
    for value in wrong:
        with pytest.raises(UsageError) as caught:
            decode(kind, value)
        assert caught.value.problems[0].expected == rule.expected


def test_a_share_is_a_number_between_0_and_1():
    assert is_share(0.25)
    assert not is_share(1.5)
    assert not is_share(True)


def test_a_rule_that_says_nothing_leaves_it_to_the_type():
    unruled = Rule("what its type says")
    assert decode(Annotated[list[int], unruled], [1, 2]) == [1, 2]
    with pytest.raises(UsageError, match=r"#/0: the value is \[\], expected a whole number"):
        decode(Annotated[list[int], unruled], [[]])


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (Count, {"type": "integer", "minimum": 0}),
        (FractionOrNone, {"type": ["number", "null"], "minimum": 0, "maximum": 1}),
        (Annotated[list[str], Rule("texts")], {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_the_schema_of_a_type_is_its_keywords_or_that_of_the_type(kind, schema):
    assert TypeAdapter(kind).json_schema() == schema


def halves(text: str) -> list[str]:
    left, dash, right = text.partition("-")
    if not dash:
        raise ValueError("two words")
    return [left, right]


@dataclass(frozen=True)
class Part:
    path: FieldPath
    words: Annotated[list[str], Rule("a string", {"type": "string"}, None, halves, "-".join)]
    any: Any = None
    size: Some = 1
    bounds: tuple[float, float] = (0.0, 1.0)
    left_out: str = field(default="", metadata={KEPT: False})


def test_a_value_is_read_from_what_is_written_of_it():
    part_of_data = Part(("a", "b.c"), ["x", "y"], any={"z": [1]}, size=3, bounds=(0.5, 2.0))

    assert encoded(part_of_data) == {
        "path": 'a["b.c"]',
        "words": "x-y",
        "any": {"z": [1]},
        "size": 3,
        "bounds": [0.5, 2.0],
    }
    assert decode(Part, encoded(part_of_data)) == part_of_data


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"words": "x"}, "two words"),
        ({"words": 1}, "a string"),
        ({"path": "a[0]"}, "a field path without list indexes"),
        ({"path": "a..b"}, "a field path"),
    ],
)
def test_what_a_text_should_be_is_told_with_its_place(change, expected):
    with pytest.raises(UsageError, match=f"/{next(iter(change))}: .* expected {expected}"):
        decode(Part, {"path": "a", "words": "x-y", **change}, "file")


def test_what_is_wrong_inside_a_text_is_told_with_its_place_in_it():
    def refused(text: str) -> str:
        inner_problem = Problem("", f"{text} has an end", "none", "go on", "/inner")
        raise UsageError([inner_problem, Problem("", "and more")])

    kind = Annotated[str, Rule("a string", {"type": "string"}, parsed=refused)]
    with pytest.raises(UsageError) as caught:
        decode(dict[str, kind], {"outer": "x"}, "file")

    assert str(caught.value) == "file#/outer/inner: x has an end, expected none; go on"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"bytes", "bytes"),
        ((1, (2,)), [1, [2]]),
        ({(1, 2): b"x"}, [[(1, 2), "x"]]),
        ({"a": (1,)}, {"a": (1,)}),
    ],
)
def test_what_json_lacks_becomes_what_it_has(value: object, expected: object):
    assert encoded(value) == expected
