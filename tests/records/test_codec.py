"""Values in files are decoded by their types; values of other types are refused."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import pytest
from typing_extensions import TypedDict

from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import Fraction, Rule
from stickler_cli.records.codec import decode
from stickler_cli.score.intervals import IntervalSettings
from stickler_cli.score.policy import AcceptancePolicy, FieldPolicy, Promise


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Number(IntEnum):
    ONE = 1


class Pair(NamedTuple):
    name: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    side: Fraction
    open: bool = False
    inside: "Box | None" = None


class Keys(TypedDict):
    boxes: list[Box]
    colours: NotRequired[dict[str, Colour]]


def refused(value: Any) -> Any:
    raise UsageError([Problem("", "it is no date", "a date", pointer="/day")])


Date = Annotated[Any, Rule("a string", {"type": "string"}, parsed=refused)]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (bool, True, True),
        (float, 1, 1.0),
        (bytes, "é", "é".encode()),
        (Colour, "red", Colour.RED),
        (Number, 1, Number.ONE),
        (Literal["a", 1], 1, 1),
        (tuple[str | int, ...], ["a", 0], ("a", 0)),
        (tuple[str, int], ["a", 0], ("a", 0)),
        (Pair, ["a", 1], Pair("a", 1)),
        (Pair, {"name": "a"}, Pair("a")),
        (Counter[Colour], {"red": 2}, Counter({Colour.RED: 2})),
        (dict[tuple[str, ...], int], [[["a", "b"], 1]], {("a", "b"): 1}),
        (Mapping[str, object], {"a": [1]}, {"a": [1]}),
        (Box, {"side": 1, "inside": {"side": 0.5}}, Box(1, inside=Box(0.5))),
        (Keys, {"boxes": [], "other": 1}, {"boxes": [], "other": 1}),
        (
            Keys,
            {"boxes": [], "colours": {"x": "blue"}},
            {"boxes": [], "colours": {"x": Colour.BLUE}},
        ),
    ],
)
def test_values_are_read_by_their_types(kind, value, expected):
    decoded = decode(kind, value)
    assert decoded == expected
    assert type(decoded) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        *((bool, value, "expected true or false") for value in ("no", "off", 0, 1, None)),
        *((int, value, "expected a whole number") for value in (True, 1.5, "1")),
        *((float, value, "expected a number") for value in (True, "1", float("inf"))),
        (str, b"a", "expected a string"),
        (Colour, "green", "expected one of red, blue"),
        (Literal["a"], [], 'expected "a"$'),  # a list cannot be a key
        (Literal["run/1"], "run/2", 'the value is "run/2", expected "run/1"$'),
        (list[int], {"a": 1}, "expected an array"),
        (Sequence[Sequence[float]], ["ab"], "/0: the value is .*expected an array"),
        (tuple[str, int], ["a"], "expected an array of 2"),
        (dict[str, int], [], "expected an object"),
        (dict[str, int], {"a": "b"}, "/a: the value is"),
        (dict[tuple[str, ...], int], [["a"]], "expected an object"),
        (Box, {"side": 2}, "/side: .*expected a number in"),
        (
            IntervalSettings,
            {"level": 1.0, "seed": 0},
            "#/level: the value is 1.0, expected a number above 0 and below 1$",
        ),
        (Box, {}, 'the key "side" is missing'),
        (Box, {"side": 1, "inside": {"side": 1, "open": "no"}}, "/inside/open: .*true or false"),
        (Keys, {"boxes": [{"side": 1}, {}]}, '/boxes/1: the key "side" is missing'),
        (Keys, 7, "expected an object"),
        (list[Date], ["x"], "/0/day: it is no date, expected a date"),
    ],
)
def test_what_is_something_else_is_told_with_its_place(kind, value, message):
    with pytest.raises(UsageError, match=message):
        decode(kind, value, "file.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": {}}, "places: the value is {}, expected an array"),
        ({"asked": {"max_error": 0.1, "assurance": 0.9, "together": "no"}}, "true or false"),
    ],
)
def test_policies_are_told_what_they_should_hold(changes, message):
    record = {
        "format": "stickler-policy/1",
        "version": "1",
        "semantics": 1,
        "schema": "sha256:0",
        "inferred": None,
        "places": [],
        "options": {},
        "asked": {"max_error": 0.1, "assurance": 0.9},
        "by": None,
        "fields": [],
        "documents": [],
        "digest": "",
    }
    assert decode(AcceptancePolicy, record).asked == Promise(0.1, 0.9)
    with pytest.raises(UsageError, match=message):
        decode(AcceptancePolicy, {**record, **changes}, "policy.json")


def test_the_curve_of_a_policy_is_arrays_of_shares():
    field = {
        "field": "a",
        "group": None,
        "values": 1,
        "documents": 1,
        "threshold": None,
        "accepted": 0,
        "error": None,
        "bound": None,
        "needed": 1,
        "curve": "ab",
    }
    with pytest.raises(UsageError, match='curve: the value is "ab", expected an array'):
        decode(FieldPolicy, field, "policy.json")
