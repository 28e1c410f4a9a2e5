"""Classes of fields and patterns behave as those of the standard library."""

import dataclasses
import pickle
import re
from dataclasses import FrozenInstanceError, field, fields, replace
from inspect import signature

import pytest

from stickler_cli.core import values
from stickler_cli.core.values import pattern


def made_by(dataclass):
    """The same classes, made by one of the two decorators."""

    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 0
        tags: list[str] = field(default_factory=list, compare=False)
        note: str = field(default="", repr=False, kw_only=True)

    @dataclass(slots=True)
    class Sum:
        parts: list[int]
        total: int = field(init=False, compare=False)

        def __post_init__(self):
            self.total = sum(self.parts)

    @dataclass(frozen=True)
    class Named:
        name: str

        def __repr__(self):
            return self.name

        def __eq__(self, other):
            return True

    return Point, Sum, Named


THEIRS = made_by(dataclasses.dataclass)


@values.dataclass(frozen=True, slots=True)
class Kept:
    """A value that goes to a file."""

    name: str
    size: int = 0


@values.dataclass(frozen=True, slots=True)
class Below(Kept):
    """A value with one field more."""

    of: Kept | None = None


@pytest.mark.parametrize(
    "use",
    [
        lambda point, *_: repr(point(1)),
        lambda point, *_: repr(point(1, 2, ["a"], note="b")),
        lambda point, *_: [entry.name for entry in fields(point)],
        lambda point, *_: point.__match_args__,
        lambda point, *_: list(signature(point).parameters),
        lambda point, *_: signature(point).parameters["y"],
        lambda point, *_: point(1, 2) == point(y=2, x=1, tags=["a"]),
        lambda point, *_: point(1, note="a") == point(1),
        lambda point, *_: point(1) == (1, 0, ""),
        lambda point, *_: hash(point(1, 2)) == hash(point(1, 2, ["a"])),
        lambda point, *_: len({point(1), point(1, 0), point(2)}),
        lambda point, *_: point(1).tags is point(1).tags,
        lambda point, *_: repr(replace(point(1, 2, ["a"]), y=3)),
        lambda point, *_: hasattr(point(1), "__dict__"),
        lambda _, total, __: total([1, 2]).total,
        lambda _, total, __: repr(total([1, 2])),
        lambda _, total, __: total.__hash__,
        lambda _, total, __: total([1]) == total([1]),
        lambda _, __, named: repr(named("a")),
        lambda _, __, named: named("a") == 1,
        lambda _, __, named: hash(named("a")) == hash(named("a")),
    ],
)
def test_both_agree(use, classes):
    assert use(*classes) == use(*THEIRS)


@pytest.fixture(params=["few", "many"])
def classes(request):
    """Our classes, also after their constructors were made from text."""
    found = made_by(values.dataclass)
    if request.param == "many":
        for kind, given in zip(found, (1, [], ""), strict=True):
            slow = kind.__init__
            for _ in range(values.MANY):
                kind(given)
            assert kind.__init__ is not slow
    return found


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda point: point(), TypeError),
        (lambda point: point(1, 2, [], ""), TypeError),
        (lambda point: point(1, x=2), TypeError),
        (lambda point: point(1, z=2), TypeError),
        (lambda point: setattr(point(1), "x", 2), FrozenInstanceError),
        (lambda point: delattr(point(1), "x"), FrozenInstanceError),
    ],
)
def test_both_refuse(use, error, classes):
    messages = []
    for point in (classes[0], THEIRS[0]):
        with pytest.raises(error) as raised:
            use(point)
        messages.append(str(raised.value))
    assert error is FrozenInstanceError or messages[0] == messages[1]


def test_a_constructor_of_a_subclass_stays():
    class Longer(made_by(values.dataclass)[0]):
        def __init__(self, text):
            super().__init__(len(text), note=text)

    made = [Longer("abc") for _ in range(values.MANY + 1)]

    assert made[0] == made[-1] == Longer("abc")
    assert (made[-1].x, made[-1].note) == (3, "abc")


def test_a_value_survives_pickling():
    value = Below("a", 1, Kept("b"))
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - its own


def test_a_value_of_another_class_is_another():
    assert Kept("a", 1) != Below("a", 1)


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
