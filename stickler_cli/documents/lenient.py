"""Find documents as models write them: in a code fence, inside prose, or as the only list item.

A text may contain several JSON values of the right type. The last value in a code fence is then
used, or the last value in the text if no value is in a code fence. Values are read as strict JSON
or by `relaxed_json`, but never repaired. If the last value is broken, no document is found, because
the values before it were not meant as the answer. The time is linear in the length of the text.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from stickler_cli.core.json_values import (
    OBJECTS,
    DocumentKind,
    JsonDocument,
    JsonValue,
    kind_of,
)
from stickler_cli.core.problems import Problem
from .reading import parse_json
from .relaxed_json import find_end_of_value, to_strict_json

LENIENT: Final = "lenient"  # remark on a document that was found inside other text

_RELAXED: Final = "relaxed"
_WRAPPINGS: Final = {
    "fence": "a Markdown code fence",
    "prose": "other text",
    "string": "a JSON string",
    "list": "a list with one element",
    _RELAXED: "JSON with Python literals, comments, trailing commas or single quotes",
}

_FENCE: Final = re.compile(r"(?:```|~~~)[\w+.-]*")
_SPACE: Final = r"\s*(?:(?://|\#)[^\n]{0,200}\n\s*){0,5}"  # with comments
_KEY: Final = r"""(?:"(?:[^"\\\n]|\\.){0,300}"|'(?:[^'\\\n]|\\.){0,300}')\s*:"""
_OBJECT: Final = rf"(?:\[\s*)?\{{{_SPACE}{_KEY}"
_TEXTS: Final = r"\[\s*[\"']"
_OPENINGS: Final = {
    ("object",): re.compile(_OBJECT),
    ("array",): re.compile(rf"\[\s*\{{{_SPACE}{_KEY}|{_TEXTS}"),
    ("object", "array"): re.compile(rf"{_OBJECT}|{_TEXTS}"),
}
"""Patterns for the beginning of a document, keyed by the JSON types that documents may have."""
_THOUGHTS: Final = re.compile(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
"""Tags around the reasoning of a model, which may contain drafts of the document."""
_BRACKET: Final = re.compile(r"[{}\[\]]")
_NOT_SPACE: Final = re.compile(r"\S")

_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)
MAX_DECODING_ERRORS: Final = 50
"""After this many failed attempts to read a value as strict JSON, all further values are read as
relaxed JSON. Each failed attempt takes time in proportion to the length of the text."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A document found inside other text."""

    value: JsonDocument
    text: bytes
    """The document alone, written as strict JSON."""
    forms: tuple[str, ...]
    """Names of everything that surrounds the document, such as a code fence, from the outside in.
    The names are keys of `_WRAPPINGS`."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Names under which results count the document.

        They are `lenient`, and `lenient_FORM` for each FORM in `forms`, such as `lenient_fence`.
        """
        return (LENIENT, *(f"{LENIENT}_{how_read}" for how_read in self.forms))

    @property
    def hint(self) -> str:
        """A hint for the user. It names the option that would accept the document."""
        wrappings = [_WRAPPINGS[how_read] for how_read in self.forms if how_read != _RELAXED]
        if not wrappings:
            return f"--lenient-json reads {_WRAPPINGS[_RELAXED]}"
        return f"--lenient-json can read JSON in {' in '.join(wrappings)}"


def find_document(data: bytes, kinds: Sequence[DocumentKind] = OBJECTS) -> Wrapped | None:
    """Find the document in a text that as a whole is not a document in strict JSON.

    The document may be relaxed JSON, have other text around it, be written in a JSON string, or be
    the only item of a list. If a model wrote its reasoning before the document, the reasoning is
    not searched. Return None if the text contains no document.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    value = parse_json(data, "")
    if isinstance(value, str):
        inner = _read_document(value, kinds) or _find_in_text(value, kinds)
        return replace(inner, forms=("string", *inner.forms)) if inner else None
    if isinstance(value, Problem):
        return _read_document(text, kinds) or _find_in_text(text, kinds)
    return _as_document(value, data, kinds)


def find_json(text: str) -> tuple[int, int] | None:
    """Return (start, end) of the part of a text that was probably meant as the JSON document.

    This is the last part that looks like JSON, even if it is invalid. None if no part looks like
    JSON, or if this part is inside brackets that do not belong to JSON.
    """
    _, values = _ValueSearch(text, OBJECTS).find_values()
    if not values or values[-1].is_inside_brackets:
        return None
    return values[-1].start, values[-1].end or len(text)


def _read_document(text: str, kinds: Sequence[DocumentKind]) -> Wrapped | None:
    """Read a text that is nothing but a document, or a list with a document as its only item.

    Return None for any other text.
    """
    value, data, how_read = _read_value(text)
    document = _as_document(value, data, kinds)
    return replace(document, forms=(*document.forms, *how_read)) if document else None


def _read_value(text: str) -> tuple[JsonValue | Problem, bytes, tuple[str, ...]]:
    """Parse a text as strict JSON, or else as relaxed JSON.

    Returns (value or problem, the text as strict JSON, forms). The forms are `("relaxed",)` if the
    text is relaxed JSON, else empty.
    """
    data = text.encode("utf-8", "replace")
    value = parse_json(data, "")
    if not isinstance(value, Problem):
        return value, data, ()
    strict = to_strict_json(text) if text.lstrip()[:1] in {"{", "[", "(", "/", "#"} else None
    if strict is None:
        return value, data, ()
    data = strict.encode("utf-8", "replace")
    return parse_json(data, ""), data, (_RELAXED,)


def _as_document(
    value: JsonValue | Problem, data: bytes, kinds: Sequence[DocumentKind]
) -> Wrapped | None:
    match value:
        case dict() | list() if kind_of(value) in kinds:
            return Wrapped(value, data, ())
        case [dict() as only] if "object" in kinds:
            return Wrapped(only, data, ("list",))
        case _:
            return None


class _Value(NamedTuple):
    """A part of a text that looks like an object or array."""

    start: int
    end: int | None
    """Index after the closing bracket of this part; None if the bracket is never closed."""
    is_inside_brackets: bool
    """Whether this part is inside brackets that do not belong to JSON, as in `[see {"a": 1}]`."""


def _find_in_text(text: str, kinds: Sequence[DocumentKind]) -> Wrapped | None:
    wrapping, values = _ValueSearch(text, kinds).find_values()
    document = _read_last_document(text, values, kinds)
    return replace(document, forms=(wrapping, *document.forms)) if document else None


def _find_end_of_thoughts(text: str) -> int:
    """Return the index at which the answer of a model begins, after its reasoning.

    This is 0 if there is no reasoning, and the length of the text if the reasoning never ends. Some
    models omit the opening tag.
    """
    opening_bracket = _OPENINGS[OBJECTS]
    first_bracket = opening_bracket.search(text)
    tags = [*_THOUGHTS.finditer(text)]
    if not tags:
        return 0
    has_opening_tag = not tags[0][1]
    if has_opening_tag and first_bracket is not None and first_bracket.start() < tags[0].start():
        return 0  # the answer precedes the tag
    end = next((tag.end() for tag in tags if tag[1]), len(text))
    # Without an opening tag, only a value after the closing tag proves that reasoning precedes it.
    return end if has_opening_tag or opening_bracket.search(text, end) else 0


class _ValueSearch:
    """A search for the JSON values in a text. The time that it takes is limited."""

    def __init__(self, text: str, kinds: Sequence[DocumentKind]) -> None:
        self.text = text
        self.opening = _OPENINGS[tuple(sorted({*kinds}, reverse=True))]  # "object" sorts first
        self.n_errors = 0
        """Number of values so far that are not strict JSON."""

    def find_values(self) -> tuple[str, list[_Value]]:
        """Return ("fence", values in code fences), or ("prose", all values in the text).

        The second form is returned if no code fence has a value.
        """
        start = _find_end_of_thoughts(self.text)
        fenced = [*self._find_fenced(start)]
        return ("fence", fenced) if fenced else ("prose", [*self._find(start, len(self.text))])

    def _find_fenced(self, start: int) -> Iterator[_Value]:
        """Yield the values in Markdown code fences.

        An unclosed fence extends to the end of the text.
        """
        fence = _FENCE.search(self.text, start)
        while fence is not None:
            end = self._find_closing(fence, fence.end())
            for value in self._find(fence.end(), end, is_fenced=True):
                yield value
                if value.end is None:
                    return
                if value.end > end:  # the apparent end of the fence was inside a string
                    end = self._find_closing(fence, value.end)
            fence = _FENCE.search(self.text, end + len("```"))

    def _find_closing(self, fence: re.Match[str], start: int) -> int:
        end = self.text.find(fence[0][: len("```")], start)
        return len(self.text) if end < 0 else end

    def _find(self, start: int, end: int, *, is_fenced: bool = False) -> Iterator[_Value]:
        """Yield the parts that begin between two positions and look like JSON documents.

        If the brackets of a part are never closed, the search ends after this part. At the
        beginning of a code fence, any object or list is yielded, even if it is empty or of a type
        that documents cannot have.
        """
        opening = _NOT_SPACE.search(self.text, start, end) if is_fenced else None
        if opening is None or opening[0] not in "{[":
            opening = self.opening.search(self.text, start, end)
        depth, position = 0, start
        while opening is not None:
            depth = _count_open_brackets(self.text[position : opening.start()], depth)
            end_of_value = self._find_end(opening.start())
            yield _Value(opening.start(), end_of_value, is_inside_brackets=depth > 0)
            if end_of_value is None:
                return
            position = end_of_value
            opening = self.opening.search(self.text, position, end)

    def _find_end(self, start: int) -> int | None:
        """Return the end of the value that begins at a position.

        None if a bracket is not closed.
        """
        if self.n_errors < MAX_DECODING_ERRORS:
            try:
                _, end = _DECODER.raw_decode(self.text, start)
            except (ValueError, RecursionError):
                self.n_errors += 1
            else:
                return end
        return find_end_of_value(self.text, start)


def _count_open_brackets(text: str, depth: int) -> int:
    """Return how many brackets are open after a text, if `depth` brackets are open before it."""
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "{[" else max(0, depth - 1)
    return depth


def _read_last_document(
    text: str, values: Sequence[_Value], kinds: Sequence[DocumentKind]
) -> Wrapped | None:
    """Return the last value that can be a document.

    A value can be a document if `kinds` has its JSON type. If `kinds` has `object`, a list with
    an object as its only item can be a document, too. The search goes backwards. It ends and
    returns None at the first value that is broken, or that is inside brackets that do not belong to
    JSON. It also returns None if no value can be a document.
    """
    for value in reversed(values):
        if value.end is None or value.is_inside_brackets:
            return None
        parsed, data, how_read = _read_value(text[value.start : value.end])
        if isinstance(parsed, Problem):
            return None
        if document := _as_document(parsed, data, kinds):
            return replace(document, forms=(*document.forms, *how_read))
    return None
