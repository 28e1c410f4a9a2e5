"""JSON inside other text, as models write it: in a code fence, in prose, in a list of one.

It is asked only for what the one reader has refused. JSON is taken out as it stands, never
repaired, in time linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from stickler_cli.core.json_values import JsonObject, JsonValue
from stickler_cli.core.problems import Problem
from stickler_cli.core.values import dataclass
from .reading import broken_at, parse_json

LENIENT: Final = "lenient"  # the remark on a document that was found inside other text

_WAYS: Final = {
    "fence": "a Markdown code fence",
    "prose": "other text",
    "string": "a JSON string",
    "list": "a list of one",
}
"""What a document may be inside of."""

MOST_ATTEMPTS: Final = 50
"""How many places of a text are tried, as each may have to be read to the end; fences and braces
each. No answer of a model has so many."""

_FENCE: Final = re.compile(r"(?:```|~~~)[\w+.-]*")
_OPENING: Final = re.compile(r'\{\s*"')


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A document and what it was inside of."""

    value: JsonObject
    text: bytes
    ways: tuple[str, ...]
    """Names of `_WAYS`, from the outside in."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """The names of what is odd about it."""
        return (LENIENT, *(f"{LENIENT}_{way}" for way in self.ways))

    @property
    def hint(self) -> str:
        """What would read it."""
        return f"--lenient-json takes it out of {' in '.join(_WAYS[way] for way in self.ways)}"


def find_document(data: bytes) -> Wrapped | None:
    """Return the document in a text that is none; None where there is none.

    The first code fence that holds one goes before everything else; then the first complete JSON
    object counts. Lists of one and strings are looked into, JSON Lines are not.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    whole = parse_json(data, "")
    if isinstance(whole, str):
        inner = _parsed(whole) or _in_text(whole)
        return replace(inner, ways=("string", *inner.ways)) if inner else None
    return _in_text(text) if isinstance(whole, Problem) else _unwrapped(whole, data)


def place_of_json(text: str) -> tuple[int, int] | None:
    """Return start and end of what was meant as JSON, where no document is found in a text."""
    for start, end in _fences(text):
        body = text[start:end].lstrip()
        if body.startswith(("{", "[")):
            return end - len(body), end
    opening = _OPENING.search(text)
    return (opening.start(), len(text)) if opening else None


def _parsed(text: str) -> Wrapped | None:
    """Return a text that is a document, or a list of one, and nothing else."""
    data = text.encode("utf-8", "replace")
    value = parse_json(data, "")
    return None if isinstance(value, Problem) else _unwrapped(value, data)


def _unwrapped(value: JsonValue, data: bytes) -> Wrapped | None:
    match value:
        case dict():
            return Wrapped(value, data, ())
        case [dict() as only]:
            return Wrapped(only, data, ("list",))
        case _:
            return None


def _in_text(text: str) -> Wrapped | None:
    for start, end in _fences(text):
        # The fence may end inside a string of the JSON; then its braces say where that ends.
        found = _parsed(text[start:end]) or _first_object(text, start, end)
        if found:
            return replace(found, ways=("fence", *found.ways))
    found = _first_object(text, 0, len(text))
    return replace(found, ways=("prose",)) if found else None


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where contents of code fences start and end; one that is left open ends nowhere."""
    position = 0
    for _ in range(MOST_ATTEMPTS):
        opening = _FENCE.search(text, position)
        if opening is None:
            return
        closing = text.find(opening[0][:3], opening.end())
        end = len(text) if closing < 0 else closing
        yield opening.end(), end
        position = end + 3


def _first_object(text: str, start: int, end: int) -> Wrapped | None:
    """Find the first complete JSON object that starts in a part of a text.

    What comes before the place where an object breaks off is not looked at again: so the time is
    bounded, and no part of a broken document is taken for a whole one.
    """
    for _ in range(MOST_ATTEMPTS):
        opening = _OPENING.search(text, start)
        if opening is None or opening.start() >= end:
            return None
        rest = text[opening.start() :]
        end_of_json = broken_at(rest)
        length = len(rest) if end_of_json is None else end_of_json
        found = _parsed(rest[:length])
        if found:
            # JSON Lines, of which the first is no better than the others
            more = not text[: opening.start()].strip() and rest[length:].lstrip()[:1] in {"{", "["}
            return None if more else found
        start = opening.start() + max(1, length)
    return None
