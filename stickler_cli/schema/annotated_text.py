"""Keys put into the text of a JSON file, which otherwise stays as it is written."""

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import Path, json_pointer

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


class _Span(NamedTuple):
    """Where an object is in its text, and how it is written."""

    after: int
    """Behind its last member; behind its brace where it has none."""
    separator: str
    """What stands before its first member."""
    colon: str
    """What stands between a key and its value."""
    members: dict[str, tuple[int, int]]
    """Where the value of each key begins and ends."""


def with_keys(text: str, added: Mapping[str, JsonObject]) -> str:
    """Return a JSON text with keys added to objects in it, by their JSON Pointers.

    New keys come last, written as the members before them. A key that is there already gets its
    new value, and what was to be added inside the old one is gone with it.
    """
    spans = _spans(text)
    edits: list[tuple[int, int, str]] = []
    for pointer, keys in added.items():
        span = spans[pointer]
        new = []
        for key, value in keys.items():
            written = json.dumps(value, ensure_ascii=False)
            if key in span.members:
                edits.append((*span.members[key], written))
            else:
                new.append(f"{json.dumps(key)}{span.colon}{written}")
        if new:
            # A brace has no blank after it where a comma has one.
            blank = span.separator or " " * (span.colon != ":")
            before = f",{blank}" if span.members else ""
            edits.append((span.after, span.after, before + f",{blank}".join(new)))
    replaced = [(start, end) for start, end, _ in edits if start < end]
    for start, end, written in sorted(edits, reverse=True):
        if not any(before < start < after for before, after in replaced):
            text = text[:start] + written + text[end:]
    return text


def _spans(text: str) -> dict[str, _Span]:
    """Find all objects of a valid JSON text; of two in one place the last counts, as in JSON."""
    spans: dict[str, _Span] = {}
    tokens = _TOKEN.finditer(text)

    def end_of(first: re.Match[str], path: Path) -> int:
        """Return where the value ends that begins with a token, and note the objects in it."""
        if first[0] not in "{[":
            return first.end()
        members: dict[str, tuple[int, int]] = {}
        after, separator, colon, count = first.end(), "", ": ", 0
        while (token := next(tokens))[0] not in "}]":
            if token[0] == ",":
                token = next(tokens)
            if first[0] == "[":
                end_of(token, (*path, count))
                count += 1
                continue
            key = json.loads(token[0])
            next(tokens)  # the colon
            value = next(tokens)
            if not members:
                separator = text[first.end() : token.start()]
                colon = text[token.end() : value.start()]
            after = end_of(value, (*path, key))
            members[key] = value.start(), after
        if first[0] == "{":
            spans[json_pointer(path)] = _Span(after, separator, colon, members)
        return token.end()

    end_of(next(tokens), ())
    return spans
