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


class _Open:
    """An object or a list that has not ended yet."""

    def __init__(self, path: Path, start: int, *, is_list: bool) -> None:
        self.path = path
        self.start = start
        """Behind its brace or bracket."""
        self.is_list = is_list
        self.key: str | None = None
        self.count = 0
        self.separator = ""
        self.colon = ": "
        self.key_end = self.value_end = start
        self.members: dict[str, tuple[int, int]] = {}

    @property
    def inner(self) -> Path:
        """The path of the value that comes next."""
        return (*self.path, self.count if self.is_list else str(self.key))

    def see_value(self, text: str, start: int) -> None:
        """Take note of how a value is put behind its key."""
        if not self.is_list and not self.members:
            self.colon = text[self.key_end : start]

    def see_text(self, text: str, match: re.Match[str]) -> None:
        """Take note of a key, or of a value that is no object or list."""
        if self.is_list or self.key is not None:
            self.see_value(text, match.start())
            self.end_value(match.start(), match.end())
            return
        self.key, self.key_end = json.loads(match[0]), match.end()
        if not self.members:
            self.separator = text[self.start : match.start()]

    def end_value(self, start: int, end: int) -> None:
        """Take note of where a value in it stands."""
        if not self.is_list:
            self.members[str(self.key)] = (start, end)
            self.key = None
        self.count += 1
        self.value_end = end


def _spans(text: str) -> dict[str, _Span]:
    """Find all objects of a valid JSON text; of two in one place the last counts, as in JSON."""
    spans: dict[str, _Span] = {}
    opened = [_Open((), 0, is_list=True)]  # the document itself is the one element
    for match in _TOKEN.finditer(text):
        part, at = match[0], opened[-1]
        if part in "{[":
            at.see_value(text, match.start())
            opened.append(_Open(at.inner, match.end(), is_list=part == "["))
        elif part in "}]":
            done = opened.pop()
            if part == "}":
                span = _Span(done.value_end, done.separator, done.colon, done.members)
                spans[json_pointer(done.path[1:])] = span
            opened[-1].end_value(done.start - 1, match.end())
        elif part not in ":,":
            at.see_text(text, match)
    return spans
