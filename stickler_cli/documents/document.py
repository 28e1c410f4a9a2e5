"""One document: its place, its value, and everything odd about it.

Where it is stands apart from reading it, so that a run can hand out references to processes, and
have each document read where it is compared. They are tuples: those are the fastest to pickle.

A document inside other text is looked for only in what the one reader has refused.
"""

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

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
from .reading import (
    BOM,
    decoded,
    doubled_keys,
    has_long_number,
    parse_document,
    read_bytes,
    source_of,
    unreadable,
)

if TYPE_CHECKING:
    from .lenient import Wrapped

BYTE_ORDER_MARK: Final = "byte_order_mark"  # a remark: it begins with one, which is left out
DUPLICATE_KEYS: Final = "duplicate_keys"  # a remark: an object has a key twice; the last counts
MOST_FOR_A_HINT: Final = 1_000_000  # bytes that are looked into only to name an option
_DIGEST_BYTES: Final = 16  # enough that two documents never share a digest by accident

_ESCAPED_COLON: Final = re.compile(rb"\\u003[aA]")


class FileReference(NamedTuple):
    """A file that holds one document."""

    file: str
    """May hold surrogates."""
    limit: int
    """The most bytes the document may have, unpacked."""
    size: int = 0
    """Packed size in bytes when the file was listed; 0 if unknown."""
    data: bytes | Problem | None = None
    """The document itself, where it was read ahead."""

    @property
    def source(self) -> str:
        """The file as a problem is to name it."""
        return decoded(self.file)

    @property
    def line(self) -> None:
        """The document is no line."""

    def read_data(self) -> bytes | Problem:
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
    """Offset of its first byte in the file; None if the line cannot be read again."""
    data: bytes | None
    """The line itself; None of one that is to be read again."""

    @property
    def source(self) -> str:
        """The file as a problem is to name it."""
        return source_of(self.file)

    def read_data(self) -> bytes | Problem:
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


class Reading(NamedTuple):
    """One document as it was read, or the reason why it was not."""

    value: JsonDocument | Problem | None
    remarks: tuple[str, ...] = ()
    """Oddities of a readable document, by name: `duplicate_keys`."""
    warnings: tuple[Problem, ...] = ()


def bytes_of(reference: Reference | None) -> Data:
    """Read the bytes of a document, unpacked."""
    if reference is None or isinstance(reference, Problem):
        return reference
    return reference.read_data()


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
        search = _find_document(text, kinds) if hinted or wrapping == "taken" else None
        if search is None:
            problem = _inner_problem(text, source, line, kinds) if wrapping == "taken" else None
            return Reading(problem or value, remarks)
        if hinted:
            return Reading(replace(value, hint=search.hint), remarks)
        value, json_text = search.value, search.text
        remarks += search.remarks
    doubled = [] if nothing_dropped(json_text, value) else doubled_keys(json_text)
    if not doubled:
        return Reading(value, remarks)
    (name, offset), *other_keys = doubled
    further_text = (
        f", and so {'is' if len(other_keys) == 1 else 'are'} {len(other_keys)} more"
        if other_keys
        else ""
    )
    warning = Problem(
        source=source,
        found=f"the key {brief(name)} is there again{further_text}",
        expected="each key once",
        hint="the last one counts",
        line=line,
    )
    start = text.find(json_text)
    if start >= 0:  # what was rewritten has other offsets
        before = text[: start + offset].decode("utf-8", "replace")
        line_number = before.count("\n") + (line or 1)
        column = len(before) - before.rfind("\n")
        warning = replace(warning, line=line_number, column=column)
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


def _find_document(data: bytes, kinds: Sequence[DocumentKind]) -> "Wrapped | None":
    """Find a document inside other text."""
    from .lenient import find_document  # most documents stand alone

    return find_document(data, kinds)


def _inner_problem(
    data: bytes, source: str, line: int | None, kinds: Sequence[DocumentKind]
) -> Problem | None:
    """Return the problem of the JSON inside a text, where that is not all of it."""
    from .lenient import find_json  # most documents stand alone

    text = data.decode("utf-8", "replace")
    place = find_json(text)
    if place is None or not text[: place[0]].strip():
        return None
    start, end = place
    problem = parse_document(text[start:end].encode(), source, line, kinds)
    if not isinstance(problem, Problem):
        return None
    row = problem.line or 1
    offset_in_line = start - text.rfind("\n", 0, start) - 1 if row == (line or 1) else 0
    column = (problem.column or 1) + offset_in_line
    return replace(problem, line=row + text.count("\n", 0, start), column=column)
