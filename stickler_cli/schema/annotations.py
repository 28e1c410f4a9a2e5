"""The `x-aws-stickler-*` keys: what each may hold, and what a schema's own keys say.

One pydantic model states name, type, range and meaning; messages, docs and the meta-schema in
`schemas/` follow it.
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stickler_cli.errors import Problem
from stickler_cli.json_values import JsonObject, brief
from stickler_cli.locations import json_pointer

PREFIX: Final = "x-aws-stickler-"
OLD_PREFIX: Final = "x-stickler-"
"""A prefix that people try; never valid, always worth a hint."""

Threshold = Annotated[float, Field(ge=0, le=1)]


class Annotations(BaseModel):
    """What one schema says about comparing its values; None where it says nothing.

    The description of each key is what a message expects there.
    """

    model_config = ConfigDict(
        alias_generator=lambda name: PREFIX + name.replace("_", "-"),
        extra="forbid",
        frozen=True,
        protected_namespaces=(),
        strict=True,
    )

    comparator: str | None = Field(None, description="the name of a comparator, a string")
    comparator_config: dict[str, Any] | None = Field(
        None, description="an object of keywords for the comparator"
    )
    threshold: Threshold | None = Field(None, description="a number in [0, 1]")
    weight: Annotated[float, Field(gt=0)] | None = Field(None, description="a number above 0")
    clip_under_threshold: bool | None = Field(None, description="true or false")
    aggregate: bool | None = Field(None, description="true or false")
    pairing_floor: Annotated[float, Field(ge=-1, lt=1)] | None = Field(
        None, description="a number in [-1, 1), on an array"
    )
    model_name: str | None = Field(None, description="a string")
    match_threshold: Threshold | None = Field(None, description="a number in [0, 1]")


KEYS: Final = tuple(f"{PREFIX}{name.replace('_', '-')}" for name in Annotations.model_fields)
"""Every valid key."""

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
        pointer = json_pointer((*path, key))
        if key in _EXPECTED:
            yield Problem(source, f"it is {brief(keys[key])}", _EXPECTED[key], pointer=pointer)
        else:
            yield Problem(
                source,
                f"{key} is no annotation",
                "one of the annotations in docs/schema.md",
                _nearest(key),
                pointer,
            )


def _nearest(key: str) -> str:
    name = key.removeprefix(PREFIX).removeprefix(OLD_PREFIX).replace("_", "-").lower()
    names = [valid.removeprefix(PREFIX) for valid in KEYS]
    starts = [valid for valid in names if valid.startswith(name)]
    near = starts or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {PREFIX}{near[0]}?" if near else f"valid keys: {', '.join(KEYS)}"
