"""Positions of values in the text of a document, which no parser of ours tells."""

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

import orjson

from stickler_cli.core.locations import json_pointer
from stickler_cli.core.values import dataclass

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]|[^\s{}\[\],:"]+')


class Position(NamedTuple):
    """Where one value stands in a text, by offsets in bytes."""

    pointer: str
    line: int
    """From 1."""
    member: int
    """Where its key begins; of what has none, the value."""
    start: int
    end: int


@dataclass(slots=True)
class _Open:
    """A bracket that is open, and the step to the value in it."""

    pointer: str
    line: int
    member: int
    start: int
    step: str | int | None
    """The key or the index of what comes; None where a key comes next."""
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
            yield Position(closed.pointer, closed.line, closed.member, closed.start, end)
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
                yield Position(pointer, line, member, start, end)


def lines_in(data: bytes, pointers: Collection[str]) -> dict[str, int]:
    r"""Return the line, from 1, of each value that a JSON Pointer leads to in valid JSON.

    Of a key that is there twice the last counts; pointers that lead nowhere are left out.

    >>> lines_in(b'{\n"a": [1,\n2]}', {"/a/1", "/a", ""}) == {"": 1, "/a": 2, "/a/1": 3}
    True
    """
    return {found.pointer: found.line for found in positions(data) if found.pointer in pointers}
