"""The `x-aws-stickler-*` keys: what each may hold, and what a schema's own keys say.

No pydantic model, which would take longer to load than most schemas take to compile.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from stickler_cli.core.json_values import JsonObject, brief
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.core.spelling import did_you_mean
from stickler_cli.core.values import dataclass

PREFIX: Final = "x-aws-stickler-"
MOST_WEIGHT: Final = 1e100
"""Far more than anything is worth; without a bound the sum of weights could overflow."""

OLD_PREFIX: Final = "x-stickler-"
"""A prefix that people try; never valid, always worth a hint."""

_FRACTION: Final = "a number in [0, 1]"
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """What one schema says about comparing its values; None where it says nothing."""

    comparator: str | None = None
    comparator_config: dict[str, Any] | None = None
    threshold: float | None = None
    weight: float | None = None
    clip_under_threshold: bool | None = None
    aggregate: bool | None = None
    pairing_floor: float | None = None
    model_name: str | None = None
    match_threshold: float | None = None


def _number(accepts: Callable[[float], bool]) -> Callable[[object], bool]:
    """Return a test for numbers; NaN passes none that compares."""
    return lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and accepts(value)
    )


def _of(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


_in_0_1: Final = _number(lambda value: 0 <= value <= 1)

RULES: Final[dict[str, tuple[Callable[[object], bool], str]]] = {
    "comparator": (_of(str), "the name of a comparator, a string"),
    "comparator_config": (_of(dict), "an object of keywords for the comparator"),
    "threshold": (_in_0_1, _FRACTION),
    "weight": (_number(lambda value: 0 < value <= MOST_WEIGHT), "a number above 0, at most 1e100"),
    "clip_under_threshold": (_of(bool), "true or false"),
    "aggregate": (_of(bool), "true or false"),
    "pairing_floor": (_number(lambda value: -1 <= value < 1), "a number in [-1, 1), on an array"),
    "model_name": (_of(str), "a string"),
    "match_threshold": (_in_0_1, _FRACTION),
}
"""What each annotation must be: a test, and how a message says it."""

_NAMES: Final = {f"{PREFIX}{name.replace('_', '-')}": name for name in RULES}
KEYS: Final = tuple(_NAMES)
"""Every valid key."""

_EXPECTED: Final = {key: RULES[name][1] for key, name in _NAMES.items()}
_NOTHING_SAID: Final = Annotations()


def own_keys(schema: Mapping[str, object]) -> JsonObject:
    """Return the keys of a schema that mean to be annotations, valid or not."""
    return {
        key: value  # type: ignore[misc] # a schema is JSON all the way down
        for key, value in schema.items()
        if key.startswith((PREFIX, OLD_PREFIX))
    }


def read_annotations(schema: Mapping[str, object]) -> Annotations:
    """Read the annotations of a schema; keys that are wrong read as if they were not there."""
    right: dict[str, Any] = {
        _NAMES[key]: float(value) if type(value) is int else value
        for key, value in schema.items()
        if _is_right(key, value)
    }
    return Annotations(**right) if right else _NOTHING_SAID


def _is_right(key: str, value: object) -> bool:
    return key in _NAMES and RULES[_NAMES[key]][0](value)


def annotation_problems(
    schema: Mapping[str, object], source: str, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    """List what is wrong with a schema's own annotations, key by key."""
    for key, value in own_keys(schema).items():
        if _is_right(key, value):
            continue
        pointer = json_pointer((*path, key))
        if key in _EXPECTED:
            found = f"{key.removeprefix(PREFIX)} is {brief(value)}"
            yield Problem(source, found, _EXPECTED[key], _repair(key, value), pointer)
        else:
            expected = "one of the annotations in docs/schema.md"
            name = key.removeprefix(PREFIX).removeprefix(OLD_PREFIX).replace("_", "-")
            names = [valid.removeprefix(PREFIX) for valid in KEYS]
            hint = did_you_mean(name, names, shown=lambda valid: PREFIX + valid)
            hint = hint or f"valid keys: {', '.join(KEYS)}"
            yield Problem(source, f"{key} is no annotation", expected, hint, pointer)


def _repair(key: str, value: object) -> str:
    match value:
        case None:
            return "leave the key out for the default"
        case str() if _NUMBER.fullmatch(value) and "number" in _EXPECTED[key]:
            return f"write {value} without quotes"
        case "true" | "false" if "true" in _EXPECTED[key]:
            return f"write {value} without quotes"
        case int() | float() if 1 < value <= 100 and _EXPECTED[key] == _FRACTION:
            return f"did you mean {value / 100:g}?"
        case 0 if key == f"{PREFIX}weight" and value is not False:
            return f"{PREFIX}aggregate: false leaves a field out of the counts"
        case _:
            return ""
