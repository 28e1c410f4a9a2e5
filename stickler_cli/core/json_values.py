"""The kinds of a JSON value and how a message names and shows them.

A module of its own because every room speaks of JSON values and none owns them.
"""

import json
from typing import Final, TypeAlias

import orjson

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = dict[str, JsonValue]

BRIEF_LENGTH: Final = 80
"""Characters of a value that a message shows; enough to recognise it, short enough for a line."""


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


def brief(value: object) -> str:
    r"""Show a value on one line, as JSON, cut to `BRIEF_LENGTH` characters.

    >>> brief({"a": True})
    '{"a": true}'
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (
        RecursionError,
        ValueError,
    ):  # too deep, or an integer of more digits than Python prints
        return f"(an {kind_of(value)} too large to show)"  # only these can be
    return text if len(text) <= BRIEF_LENGTH else text[: BRIEF_LENGTH - 3] + "..."


def json_line(value: object) -> bytes:
    """Write a value as one line of JSON, its newline included.

    Integers of any size and any depth that Python holds are written; a NaN is refused.

    Raises:
        ValueError: the value holds a number that JSON cannot write.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # orjson refuses integers beyond 64 bits and values deeper than 254 levels.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace") + b"\n"
