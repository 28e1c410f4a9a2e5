"""The `x-aws-stickler-*` keys: what each may hold, and what a schema's own keys say.

One pydantic model states name, type, range and meaning; messages, docs and the meta-schema in
`schemas/` follow it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stickler_cli.core.json_values import JsonObject, brief
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import Problem
from stickler_cli.core.spelling import did_you_mean

PREFIX: Final = "x-aws-stickler-"
MOST_WEIGHT: Final = 1e100
"""Far more than anything is worth; without a bound the sum of weights could overflow."""

OLD_PREFIX: Final = "x-stickler-"
"""A prefix that people try; never valid, always worth a hint."""

Threshold = Annotated[float, Field(ge=0, le=1)]

_FRACTION: Final = "a number in [0, 1]"
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


class Annotations(BaseModel):
    """What one schema says about comparing its values; None where it says nothing.

    The description of each key is what a message expects there.
    """

    model_config = ConfigDict(
        alias_generator=lambda name: PREFIX + name.replace("_", "-"),
        allow_inf_nan=False,
        extra="forbid",
        frozen=True,
        protected_namespaces=(),
        strict=True,
    )

    comparator: str | None = Field(None, description="the name of a comparator, a string")
    comparator_config: dict[str, Any] | None = Field(
        None, description="an object of keywords for the comparator"
    )
    threshold: Threshold | None = Field(None, description=_FRACTION)
    weight: Annotated[float, Field(gt=0, le=MOST_WEIGHT)] | None = Field(
        None, description="a number above 0, at most 1e100"
    )
    clip_under_threshold: bool | None = Field(None, description="true or false")
    aggregate: bool | None = Field(None, description="true or false")
    pairing_floor: Annotated[float, Field(ge=-1, lt=1)] | None = Field(
        None, description="a number in [-1, 1), on an array"
    )
    model_name: str | None = Field(None, description="a string")
    match_threshold: Threshold | None = Field(None, description=_FRACTION)


KEYS: Final = tuple(f"{PREFIX}{name.replace('_', '-')}" for name in Annotations.model_fields)
"""Every valid key."""

NOTHING_SAID: Final = Annotations.model_validate({})

_EXPECTED: Final = {
    f"{PREFIX}{name.replace('_', '-')}": field.description or ""
    for name, field in Annotations.model_fields.items()
}


def own_keys(schema: Mapping[str, object]) -> JsonObject:
    """Take the keys of a schema that mean to be annotations, valid or not."""
    return {
        key: value  # type: ignore[misc] # a schema is JSON all the way down
        for key, value in schema.items()
        if key.startswith((PREFIX, OLD_PREFIX))
    }


def read_annotations(schema: Mapping[str, object]) -> Annotations:
    """Read the annotations of a schema; keys that are wrong read as if they were not there."""
    keys = own_keys(schema)
    if not keys:
        return NOTHING_SAID
    try:
        return Annotations.model_validate(keys)
    except ValidationError as error:
        wrong = {str(detail["loc"][0]) for detail in error.errors(include_url=False)}
        return Annotations.model_validate(
            {key: value for key, value in keys.items() if key not in wrong}
        )


def annotation_problems(
    schema: Mapping[str, object], source: str, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    """List what is wrong with a schema's own annotations, key by key."""
    keys = own_keys(schema)
    wrong: list[str] = [key for key, value in keys.items() if value is None and key in _EXPECTED]
    try:
        Annotations.model_validate(keys)
    except ValidationError as error:
        wrong += [str(detail["loc"][0]) for detail in error.errors(include_url=False)]
    for key in dict.fromkeys(wrong):
        pointer, value = json_pointer((*path, key)), keys[key]
        if key in _EXPECTED:
            found = f"{key.removeprefix(PREFIX)} is {brief(value)}"
            yield Problem(source, found, _EXPECTED[key], _repair(key, value), pointer)
        else:
            expected = "one of the annotations in docs/schema.md"
            yield Problem(source, f"{key} is no annotation", expected, _nearest(key), pointer)


def _repair(key: str, value: object) -> str:
    """Guess what a wrong value was meant to be."""
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


def _nearest(key: str) -> str:
    name = key.removeprefix(PREFIX).removeprefix(OLD_PREFIX).replace("_", "-")
    names = [valid.removeprefix(PREFIX) for valid in KEYS]
    hint = did_you_mean(name, names, shown=lambda valid: PREFIX + valid)
    return hint or f"valid keys: {', '.join(KEYS)}"
