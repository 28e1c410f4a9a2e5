"""Keys that an object has twice: JSON allows it, and readers that are fast do not tell."""

import re
from typing import Final

import orjson

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass

_ESCAPED_COLON: Final = re.compile(rb"\\u003[aA]")
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]')


@dataclass(frozen=True, slots=True)
class DuplicateKey:
    """A key that its object already has."""

    name: str
    offset: int
    """Of its opening quote in the text, in bytes."""


def duplicate_keys(data: bytes, value: JsonValue) -> list[DuplicateKey]:
    """Return the keys that occur again in valid JSON, in its order; `value` is what it says."""
    if nothing_dropped(data, value):
        return []
    found: list[DuplicateKey] = []
    names: list[set[str] | None] = []  # for each open bracket; None for a list
    at_key = False
    for match in _TOKEN.finditer(data):
        token = match[0]
        if token in b"{[":
            names.append(set() if token == b"{" else None)
            at_key = token == b"{"
        elif token in b"]}":
            names.pop()
        elif token == b",":
            at_key = bool(names) and names[-1] is not None
        elif at_key and (known := names[-1]) is not None:
            name = orjson.loads(token)
            if name in known:
                found.append(DuplicateKey(name, match.start()))
            known.add(name)
            at_key = False
    return found


def nothing_dropped(data: bytes, value: JsonValue) -> bool:
    """Return whether a text is known to have no duplicate keys, at a fraction of a parser's cost.

    Each key has a colon after it, and colons in strings are written as they are: so a value
    written anew has as many as its text, unless a key, and what is under it, was dropped.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, or more than 254 levels
        return False
    if written == data:
        return True
    # A search for one byte costs a third of one for the escaped colon.
    if b"\\" in data and _ESCAPED_COLON.search(data):
        return False
    return data.count(b":") == written.count(b":")
