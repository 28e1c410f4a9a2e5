"""One document: its place, its value, and everything odd about it.

Where it is stands apart from reading it, so that a run can hand out references to processes, and
have each document read where it is compared. They are tuples: those are the fastest to pickle.

A document inside other text, as models write it (in a code fence, in prose, in a list of one), is
looked for only in what the one reader has refused. JSON is taken out as it stands, never repaired,
in time linear in the text. Where what was meant as the document is broken, nothing that stands
inside it or after it is taken instead.
"""

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Final, Literal, NamedTuple, TypeAlias

import orjson

from stickler_cli.core.json_values import (
    OBJECTS,
    DocumentKind,
    JsonDocument,
    JsonValue,
    brief,
    kind_of,
)
from stickler_cli.core.problems import Problem
from stickler_cli.core.values import dataclass, pattern
from .reading import (
    BOM,
    broken_at,
    decoded,
    doubled_keys,
    has_long_number,
    parse_document,
    parse_json,
    read_bytes,
    source_of,
    unreadable,
)

LENIENT: Final = "lenient"  # the remark on a document that was found inside other text

_WAYS: Final = {
    "fence": "a Markdown code fence",
    "prose": "other text",
    "string": "a JSON string",
    "list": "a list of one",
}
"""Wrappings of a document."""

MOST_FENCES: Final = 50
"""How many are looked into, as each may have to be read to the end. No answer has so many."""

_FENCE: Final = pattern(r"(?:```|~~~)[\w+.-]*")
_OPENING: Final = pattern(r'(?:\[\s*)?\{\s*"')
_OPENING_ARRAY: Final = pattern(r'\[\s*(?:\{\s*)?"')
_THOUGHTS: Final = pattern(r"<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
"""Begins, or ends, the thoughts of a model, drafts of the document included."""
_BRACKET: Final = pattern(r"[{}\[\]]")


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
        inner = _as_document(whole, kinds) or _in_text(whole, kinds)
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


def _as_document(text: str, kinds: Sequence[DocumentKind]) -> Wrapped | None:
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
        found = _as_document(text[start:end], kinds) or _first_document(text, start, end, kinds)
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
    found = _as_document(rest[:length], kinds)
    # JSON Lines, of which the first is no better than the others
    more = not text[: opening.start()].strip() and rest[length:].lstrip()[:1] in {"{", "["}
    return None if more else found


def _is_open(text: str) -> bool:
    """Return whether a text ends inside of brackets."""
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "{[" else max(0, depth - 1)
    return depth > 0


BYTE_ORDER_MARK: Final = "byte_order_mark"  # a remark: it begins with one, which is left out
DUPLICATE_KEYS: Final = "duplicate_keys"  # a remark: an object has a key twice; the last counts
MOST_FOR_A_HINT: Final = 1_000_000  # bytes that are looked into only to name an option
_DIGEST_BYTES: Final = 16  # enough that two documents never share a digest by accident

_ESCAPED_COLON: Final = pattern(rb"\\u003[aA]")


class FileReference(NamedTuple):
    """A file that holds one document."""

    file: str
    """May hold surrogates."""
    limit: int
    """The most bytes the document may have, unpacked."""
    size: int = 0
    """Its bytes when it was found, packed; 0 where nobody looked."""
    data: bytes | Problem | None = None
    """The document itself, where it was read ahead."""

    @property
    def source(self) -> str:
        """The file as a problem is to name it."""
        return decoded(self.file)

    @property
    def line(self) -> None:
        """The document is no line."""

    def read(self) -> bytes | Problem:
        """Return the bytes of the document, unpacked."""
        if self.data is not None:
            return self.data
        return read_bytes(self.file, self.limit, self.size or None)


class LineReference(NamedTuple):
    """A line of JSON Lines."""

    file: str
    line: int
    """From 1."""
    size: int
    offset: int | None
    """Of the first byte, from the start of the file; None where it cannot be read again."""
    data: bytes | None
    """The line itself; None of one that is to be read again."""

    @property
    def source(self) -> str:
        """The file as a problem is to name it."""
        return source_of(self.file)

    def read(self) -> bytes | Problem:
        """Return the line, or the one in its place now."""
        if self.data is not None:
            return self.data
        try:
            with io.FileIO(self.file) as stream:
                stream.seek(self.offset or 0)
                return stream.read(self.size)
        except OSError as error:
            return unreadable(self.source, error, self.line)


Reference: TypeAlias = FileReference | LineReference | Problem
"""Where a document is; a problem where it is already known that it cannot be read."""

Side: TypeAlias = Literal["gt", "pred"]

Data: TypeAlias = bytes | Problem | None  # of a document; why they cannot be read


Wrapping: TypeAlias = Literal["refused", "hinted", "taken"]
"""Treatment of a document that is inside other text, or in a list of one: of one that is hinted
at, the problem names the option that would take it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One document as it was read, or the reason why it was not."""

    value: JsonDocument | Problem | None
    remarks: tuple[str, ...] = ()
    """Oddities of a readable document, by name: `duplicate_keys`."""
    warnings: tuple[Problem, ...] = ()


def bytes_of(reference: Reference | None) -> Data:
    """Read the bytes of a document, unpacked."""
    if reference is None or isinstance(reference, Problem):
        return reference
    return reference.read()


def digest_of(data: Data) -> str:
    """Return the digest of unpacked bytes, or of the error of reading them; empty if absent."""
    if isinstance(data, Problem):
        data = str(data).encode("utf-8", "backslashreplace")
    return "" if data is None else blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def read_document(
    reference: Reference | None,
    wrapping: Wrapping = "refused",
    data: Data = None,
    kinds: Sequence[DocumentKind] = OBJECTS,
) -> Reading:
    """Read and parse a document; `data` is the answer of `bytes_of`, if that was asked before."""
    if data is None:
        data = bytes_of(reference)
    if reference is None or not isinstance(data, bytes):
        return Reading(data if isinstance(data, Problem) else None)
    plain = read_plain(data, kinds)
    return plain or read_text(data, reference.source, reference.line, wrapping, kinds)


def read_plain(data: bytes, kinds: Sequence[DocumentKind] = OBJECTS) -> Reading | None:
    """Parse a document about which there is nothing to tell; None for any other text.

    Nearly all are like this, so that nothing is worked out that only a message would need.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    right = kind_of(value) in kinds
    plain = right and not has_long_number(data) and nothing_dropped(data, value)
    return Reading(value) if plain else None


def read_text(
    data: bytes,
    source: str,
    line: int | None = None,
    wrapping: Wrapping = "refused",
    kinds: Sequence[DocumentKind] = OBJECTS,
) -> Reading:
    """Parse a document and note everything odd about it; see `parse_json`."""
    text = data.removeprefix(BOM)
    remarks: tuple[str, ...] = (BYTE_ORDER_MARK,) if len(text) < len(data) else ()
    value = parse_document(text, source, line, kinds)
    json_text = text
    if isinstance(value, Problem):
        hinted = wrapping == "hinted" and len(text) <= MOST_FOR_A_HINT
        found = find_document(text, kinds) if hinted or wrapping == "taken" else None
        if found is None:
            problem = _inner_problem(text, source, line, kinds) if wrapping == "taken" else None
            return Reading(problem or value, remarks)
        if hinted:
            return Reading(replace(value, hint=found.hint), remarks)
        value, json_text = found.value, found.text
        remarks += found.remarks
    doubled = [] if nothing_dropped(json_text, value) else doubled_keys(json_text)
    if not doubled:
        return Reading(value, remarks)
    (name, offset), *others = doubled
    more = f", and so {'is' if len(others) == 1 else 'are'} {len(others)} more" if others else ""
    before = text[: max(0, text.find(json_text)) + offset].decode("utf-8", "replace")
    warning = Problem(
        source,
        f"the key {brief(name)} is there again{more}",
        "each key once",
        "the last one counts",
        line=before.count("\n") + (line or 1),
        column=len(before) - before.rfind("\n"),
    )
    return Reading(value, (*remarks, DUPLICATE_KEYS), (warning,))


def nothing_dropped(data: bytes, value: JsonValue) -> bool:
    """Return whether a text is known to have no duplicate keys, at a fraction of a parser's cost.

    Each key has a colon after it, and colons in strings are written as they are: so a value
    written anew has as many as its text, unless a key, and what is under it, was dropped.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, or more than 254 levels
        try:
            written = json.dumps(value, ensure_ascii=False).encode()
        except RecursionError:
            return False
    if written == data:
        return True
    # A search for one byte costs a third of one for the escaped colon.
    if b"\\" in data and _ESCAPED_COLON.search(data):
        return False
    return data.count(b":") == written.count(b":")


def _inner_problem(
    data: bytes, source: str, line: int | None, kinds: Sequence[DocumentKind]
) -> Problem | None:
    """Return the problem of the JSON inside a text, where that is not all of it."""
    text = data.decode("utf-8", "replace")
    place = place_of_json(text)
    if place is None or not text[: place[0]].strip():
        return None
    start, end = place
    problem = parse_document(text[start:end].encode(), source, line, kinds)
    if not isinstance(problem, Problem):
        return None
    row = problem.line or 1
    beside = start - text.rfind("\n", 0, start) - 1 if row == (line or 1) else 0
    column = (problem.column or 1) + beside
    return replace(problem, line=row + text.count("\n", 0, start), column=column)
