"""Positions of values in a JSON text, which no parser of ours tells; and keys put into the text."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter
from typing import Final, NamedTuple

import orjson

from stickler_cli.core.json_values import JsonObject
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.values import dataclass, pattern

_TOKEN: Final = pattern(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]|[^\s{}\[\],:"]+')


class Position(NamedTuple):
    """Where one value stands in a text, by offsets in bytes."""

    pointer: str
    line: int
    """From 1."""
    member: int
    """Start of its key; without one, of the value."""
    start: int
    end: int
    around: int
    """Where the object or list begins that it is in; -1 for the whole."""


@dataclass(slots=True)
class _Open:
    """A bracket that is open, and the step to the value in it."""

    pointer: str
    line: int
    member: int
    start: int
    step: str | int | None
    """The key or index of the next value; None where a key comes next."""
    key: int | None = None
    """Where that key begins."""


def positions(data: bytes) -> Iterator[Position]:
    """Yield where the values of valid JSON stand, each when it ends: parts before their whole."""
    around: list[_Open] = []
    line, before = 1, 0
    for match in _TOKEN.finditer(data):
        start, end, token = *match.span(), match[0]
        line += data.count(b"\n", before, start)
        before, inner = start, around[-1] if around else None
        if token in b"}]":
            closed = around.pop()
            outside = around[-1].start if around else -1
            place = closed.pointer, closed.line, closed.member, closed.start
            yield Position(*place, end, outside)
        elif inner is not None and token == b",":
            inner.step = inner.step + 1 if isinstance(inner.step, int) else None
        elif inner is not None and inner.step is None:
            inner.step, inner.key = orjson.loads(token), start
        else:
            pointer, member = "", start
            if inner is not None and inner.step is not None:
                pointer = inner.pointer + json_pointer((inner.step,))
                member = start if inner.key is None else inner.key
            if token in b"{[":
                step = 0 if token == b"[" else None
                around.append(_Open(pointer, line, member, start, step))
            else:
                yield Position(pointer, line, member, start, end, inner.start if inner else -1)


def lines_in(data: bytes, pointers: Collection[str]) -> dict[str, int]:
    r"""Return the line, from 1, of each value that a JSON Pointer leads to in valid JSON.

    Of a key that is there twice the last counts; pointers that lead nowhere are left out.

    >>> lines_in(b'{\n"a": [1,\n2]}', {"/a/1", "/a", ""}) == {"": 1, "/a": 2, "/a/1": 3}
    True
    """
    return {found.pointer: found.line for found in positions(data) if found.pointer in pointers}


def doubled_keys(data: bytes) -> list[tuple[str, int]]:
    """Return the keys of valid JSON that their object already has, with their offsets, in order."""
    found, seen = [], set()
    for place in sorted(positions(data), key=attrgetter("member")):
        if place.member < place.start:  # it has a key
            if (place.around, place.pointer) in seen:
                found.append((orjson.loads(_key(data, place)), place.member))
            seen.add((place.around, place.pointer))
    return found


def _key(data: bytes, place: Position) -> bytes:
    return _TOKEN.match(data, place.member)[0]  # type: ignore[index] # it is a token


def with_keys(text: str, added: Mapping[str, JsonObject]) -> str:
    """Return a JSON text with keys added to objects in it, by their JSON Pointers.

    New keys come last, written as the members before them. A key that is there already gets its
    new value, and what was to be added inside the old one is gone with it.
    """
    data = text.encode("utf-8", "surrogatepass")
    inside: defaultdict[int, list[Position]] = defaultdict(list)
    objects = {}
    for place in positions(data):
        inside[place.around].append(place)
        objects[place.pointer] = place
    edits: list[tuple[int, int, str]] = []
    for pointer, keys in added.items():
        begin = objects[pointer].start + 1
        members = inside[begin - 1]
        # A brace has no blank after it where a comma has one.
        after, separator, colon = begin, " ", ": "
        if members:
            first, after = members[0], members[-1].end
            colon = data[first.member + len(_key(data, first)) : first.start].decode()
            separator = data[begin : first.member].decode() or " " * (colon != ":")
        own = {place.pointer: (place.start, place.end) for place in members}
        new = []
        for key, value in keys.items():
            written = json.dumps(value, ensure_ascii=False)
            if old := own.get(pointer + json_pointer((key,))):
                edits.append((*old, written))
            else:
                new.append(f"{json.dumps(key)}{colon}{written}")
        if new:
            before = f",{separator}" if members else ""
            edits.append((after, after, before + f",{separator}".join(new)))
    replaced = [(start, end) for start, end, _ in edits if start < end]
    for start, end, written in sorted(edits, reverse=True):
        if not any(before < start < after for before, after in replaced):
            data = data[:start] + written.encode("utf-8", "surrogatepass") + data[end:]
    return data.decode("utf-8", "surrogatepass")
