"""The kinds of a JSON value, and how messages name and show them: every room speaks of them."""

import json
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import orjson

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
    )
else:
    JsonValue = Any  # what reads a file by types has nothing to look at in such a value
JsonObject: TypeAlias = dict[str, JsonValue]
JsonDocument: TypeAlias = JsonObject | list[JsonValue]
DocumentKind: TypeAlias = Literal["object", "array"]
"""The JSON type of all documents of a schema."""
OBJECTS: Final[tuple[DocumentKind, ...]] = ("object",)
OBJECTS_OR_ARRAYS: Final[tuple[DocumentKind, ...]] = ("object", "array")

BRIEF_LENGTH: Final = 80  # characters of a value that a message shows, to be recognised by

_KINDS: Final = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}


def kind_of(value: object) -> str:
    """Name the JSON type of a value as JSON Schema does; a Python type's own name for others.

    >>> [kind_of(value) for value in (None, True, 1, 1.5, "a", [], {})]
    ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']
    """
    return _KINDS.get(type(value), type(value).__name__)


_AS_TEXT: Final = json.JSONEncoder(ensure_ascii=False, default=str).encode


def brief(value: object) -> str:
    r"""Show a value on one line, as JSON, cut to `BRIEF_LENGTH` characters.

    >>> brief({"a": True})
    '{"a": true}'
    """
    try:
        text = _AS_TEXT(value)
    except (RecursionError, ValueError):
        # Too deep, or an integer of more digits than Python prints: only these can be.
        return f"(an {kind_of(value)} too large to show)"
    return text if len(text) <= BRIEF_LENGTH else text[: BRIEF_LENGTH - 3] + "..."


def same_json(one: object, other: object) -> bool:
    """Return whether two values are the same to JSON; to Python's own `==`, true is 1.

    >>> same_json([1, {"a": 0}], [1.0, {"a": 0}]), same_json(0, False)
    (True, False)
    """
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(
                same_json(one[key], other[key]) for key in one
            )
        case list(), list():
            return len(one) == len(other) and all(map(same_json, one, other))
        case _:
            return isinstance(one, bool) is isinstance(other, bool) and one == other


def json_key(value: JsonValue) -> Hashable:
    """Return a key that values share if `same_json` says that they are the same."""
    if isinstance(value, dict):
        return dict, frozenset((name, json_key(part)) for name, part in value.items())
    if isinstance(value, list):
        return list, tuple(map(json_key, value))
    return isinstance(value, bool), value


def json_line(value: object) -> bytes:
    """Write a value as one line of JSON, its newline included.

    Integers of any size and any depth that Python holds are written. The value is of JSON: who
    calls has refused NaN and infinities, of which orjson makes null.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # orjson refuses integers beyond 64 bits and values deeper than 254 levels.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace") + b"\n"
