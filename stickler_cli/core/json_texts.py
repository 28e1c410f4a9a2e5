"""Read JSON that is inside a text, such as the arguments of a tool call."""

import json
import re
from contextlib import suppress
from typing import Any, Final

import orjson

from .json_values import JsonValue

MAX_LETTERS: Final = 10_000_000
"""Maximum length of a text that is read as JSON."""

MAX_LEVELS: Final = 100
"""Maximum number of levels of objects and lists in a text that is read as JSON. A text with more
levels is not read, and stays a text."""

_LONG_NUMBER: Final = re.compile(r"\d{19}")
_FENCE: Final = re.compile(r"\s*```[\w+-]*[^\S\n]*\n")
_OPENING: Final = ("{", "[")


def read_json_text(value: JsonValue) -> JsonValue:
    r"""Return the object or list that a text contains as JSON; return other values unchanged.

    A code fence around the JSON is ignored.

    >>> read_json_text('```json\n{"a": 1}\n```'), read_json_text("3"), read_json_text([1])
    ({'a': 1}, '3', [1])
    """
    if not isinstance(value, str) or len(value) > MAX_LETTERS:
        return value
    text = value.strip()
    if text.startswith("```") and text.endswith("```") and (fence := _FENCE.match(text)):
        text = text[fence.end() : -3].strip()
    if not text.startswith(_OPENING):
        return value
    try:
        content = _parse(text)
    except (ValueError, RecursionError):
        return value
    return value if _is_deep(content) else content


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _parse(text: str) -> JsonValue:
    if _LONG_NUMBER.search(text) is None:
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(text)  # type: ignore[no-any-return] # JSON
    # orjson turns integers beyond 64 bits into floats, and refuses lone surrogates.
    return json.loads(text, parse_constant=_refuse)  # type: ignore[no-any-return] # JSON


def _is_deep(value: JsonValue) -> bool:
    """Return whether a value has more than `MAX_LEVELS` levels."""
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return False
    return True
