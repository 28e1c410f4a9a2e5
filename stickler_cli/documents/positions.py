"""On which line of a document a value stands, which no parser of ours tells."""

import re
from collections.abc import Collection
from typing import Final

import orjson

from stickler_cli.core.locations import json_pointer
from stickler_cli.core.values import dataclass

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]|[^\s{}\[\],:"]+')


@dataclass(slots=True)
class _Open:
    """A bracket that is open."""

    pointer: str
    step: str | int | None
    """The key or the index of what comes; None where a key comes next."""


def lines_in(data: bytes, pointers: Collection[str]) -> dict[str, int]:
    r"""Return the line, from 1, of each value that a JSON Pointer leads to in valid JSON.

    Of a key that is there twice the last counts; pointers that lead nowhere are left out.

    >>> lines_in(b'{\n"a": [1,\n2]}', {"/a/1", "/a", ""})
    {'': 1, '/a': 2, '/a/1': 3}
    """
    found: dict[str, int] = {}
    around: list[_Open] = []
    line, position = 1, 0
    for match in _TOKEN.finditer(data):
        line += data.count(b"\n", position, match.start())
        position, token = match.start(), match[0]
        inner = around[-1] if around else None
        if token in b"}]":
            around.pop()
        elif token == b",":
            if inner is not None:
                inner.step = inner.step + 1 if isinstance(inner.step, int) else None
        elif inner is not None and inner.step is None:
            inner.step = orjson.loads(token)
        else:
            pointer = ""
            if inner is not None and inner.step is not None:
                pointer = inner.pointer + json_pointer((inner.step,))
            if pointer in pointers:
                found[pointer] = line
            if token in b"{[":
                around.append(_Open(pointer, 0 if token == b"[" else None))
    return found
