"""The single values of a document with their places, whatever a schema says of them."""

from collections.abc import Iterator
from typing import NamedTuple

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path


class Value(NamedTuple):
    """A value that has no parts: a scalar, null, or an empty list or object."""

    field: tuple[str, ...]
    """Its names, without list indexes."""
    path: Path
    value: JsonValue


def values_of(document: JsonValue) -> Iterator[Value]:
    """Yield the values of a document in its order, at any depth."""
    waiting = [Value((), (), document)]
    while waiting:
        here = waiting.pop()
        field, path, value = here
        if isinstance(value, dict) and value:
            inside = [Value((*field, name), (*path, name), part) for name, part in value.items()]
        elif isinstance(value, list) and value:
            inside = [Value(field, (*path, index), part) for index, part in enumerate(value)]
        else:
            yield here
            continue
        waiting += reversed(inside)


def value_at(document: JsonValue, pointer: str) -> JsonValue:
    """Return what a JSON Pointer leads to in a document; the nearest value around, if nothing."""
    value = document
    for step in pointer.split("/")[1:]:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and (name := _key(step)) in value:
            value = value[name]
        else:
            break  # the engine that judges documents leaves empty keys out of pointers
    return value


def _key(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")  # RFC 6901, section 4
