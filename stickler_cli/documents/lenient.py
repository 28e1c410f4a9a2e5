"""JSON inside other text, as models write it: in a code fence, in prose, in a list of one.

It is asked only for what the one reader has refused. JSON is taken out as it stands, never
repaired, in time linear in the text. Where what was meant as the document is broken, nothing that
stands inside it or after it is taken instead.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from stickler_cli.core.json_values import OBJECTS, DocumentKind, JsonDocument, JsonValue, kind_of
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

MOST_FENCES: Final = 50
"""How many are looked into, as each may have to be read to the end. No answer has so many."""

_FENCE: Final = re.compile(r"(?:```|~~~)[\w+.-]*")
_OPENING: Final = re.compile(r'(?:\[\s*)?\{\s*"')
_OPENING_ARRAY: Final = re.compile(r'\[\s*(?:\{\s*)?"')
_THOUGHTS: Final = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
"""Begins, or ends, what some models think aloud, drafts of the document included."""
_BRACKET: Final = re.compile(r"[{}\[\]]")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A document and the text that it was inside of."""

    value: JsonDocument
    text: bytes
    ways: tuple[str, ...]
    """Names of `_WAYS`, from the outside in."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """The names of its oddities."""
        return (LENIENT, *(f"{LENIENT}_{way}" for way in self.ways))

    @property
    def hint(self) -> str:
        """The option that would read it."""
        return f"--lenient-json takes it out of {' in '.join(_WAYS[way] for way in self.ways)}"


def find_document(data: bytes, kinds: Sequence[DocumentKind] = OBJECTS) -> Wrapped | None:
    """Return the document of one of some kinds in a text that is none; None where there is none.

    The first code fence with JSON goes before everything else; then the first JSON object counts,
    or array of objects or texts. If that is not complete, there is none. Lists of one and strings
    are looked into, JSON Lines and what a model thinks aloud are not.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    whole = parse_json(data, "")
    if isinstance(whole, str):
        inner = _parsed(whole, kinds) or _in_text(whole, kinds)
        return replace(inner, ways=("string", *inner.ways)) if inner else None
    return _in_text(text, kinds) if isinstance(whole, Problem) else _unwrapped(whole, data, kinds)


def place_of_json(text: str) -> tuple[int, int] | None:
    """Return start and end of the part meant as JSON in a text that holds no document."""
    thoughts = _end_of_thoughts(text)
    for start, end in _fences(text, thoughts):
        body = text[start:end].lstrip()
        if body.startswith(("{", "[")):
            return end - len(body), end
    opening = _OPENING.search(text, thoughts)
    if opening is None or _is_open(text[thoughts : opening.start()]):
        return None
    return opening.start(), len(text)


def _parsed(text: str, kinds: Sequence[DocumentKind]) -> Wrapped | None:
    """Return a text that is a document, or a list of one, and nothing else."""
    data = text.encode("utf-8", "replace")
    value = parse_json(data, "")
    return None if isinstance(value, Problem) else _unwrapped(value, data, kinds)


def _unwrapped(value: JsonValue, data: bytes, kinds: Sequence[DocumentKind]) -> Wrapped | None:
    match value:
        case dict() | list() if kind_of(value) in kinds:
            return Wrapped(value, data, ())
        case [dict() as only] if "object" in kinds:
            return Wrapped(only, data, ("list",))
        case _:
            return None


def _in_text(text: str, kinds: Sequence[DocumentKind]) -> Wrapped | None:
    thoughts = _end_of_thoughts(text)
    for start, end in _fences(text, thoughts):
        # The fence may end inside a string of the JSON; then its braces say where that ends.
        found = _parsed(text[start:end], kinds) or _first_document(text, start, end, kinds)
        if found:
            return replace(found, ways=("fence", *found.ways))
        if text[start:end].lstrip().startswith(("{", "[")):
            return None
    found = _first_document(text, thoughts, len(text), kinds)
    return replace(found, ways=("prose", *found.ways)) if found else None


def _end_of_thoughts(text: str) -> int:
    """Return where a model stops to think aloud; 0 where it does not, the end where it never stops.

    Some leave out the tag that begins it.
    """
    opening = _OPENING.search(text)
    tags = [*_THOUGHTS.finditer(text)]
    begun = bool(tags) and not tags[0][1]
    if not tags or (begun and opening is not None and opening.start() < tags[0].start()):
        return 0
    end = next((tag.end() for tag in tags if tag[1]), len(text))
    return end if begun or _OPENING.search(text, end) else 0


def _fences(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield where contents of code fences start and end; one that is left open ends nowhere."""
    for _ in range(MOST_FENCES):
        opening = _FENCE.search(text, position)
        if opening is None:
            return
        closing = text.find(opening[0][:3], opening.end())
        end = len(text) if closing < 0 else closing
        yield opening.end(), end
        position = end + 3


def _first_document(
    text: str, start: int, end: int, kinds: Sequence[DocumentKind]
) -> Wrapped | None:
    """Return the first document that starts in a part of a text, or is in a list of one there.

    Nothing where it is not complete, or stands inside of brackets that are no JSON.
    """
    opening = (_OPENING if "object" in kinds else _OPENING_ARRAY).search(text, start)
    if opening is None or opening.start() >= end or _is_open(text[start : opening.start()]):
        return None
    rest = text[opening.start() :]
    end_of_json = broken_at(rest)
    length = len(rest) if end_of_json is None else end_of_json
    found = _parsed(rest[:length], kinds)
    # JSON Lines, of which the first is no better than the others
    more = not text[: opening.start()].strip() and rest[length:].lstrip()[:1] in {"{", "["}
    return None if more else found


def _is_open(text: str) -> bool:
    """Return whether a text ends inside of brackets."""
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "{[" else max(0, depth - 1)
    return depth > 0
