"""Read files to bytes, and bytes to JSON values. Anything wrong becomes a `Problem`.

The JSON reader is strict, keeps integers exact and limits memory. Other functions find the
positions of values in a text, which no parser reports, and insert keys into a text.
"""

import gzip
import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple

import orjson

from stickler_cli.core.json_values import (
    OBJECTS,
    DocumentKind,
    JsonDocument,
    JsonObject,
    JsonValue,
    brief,
    kind_of,
)
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import Problem, Undelivered
from stickler_cli.core.remote import is_url, read_urls, shown_url, size_of_url
from stickler_cli.settings.deciding import DocumentOptions
from .packed_files import (
    ONE_DOCUMENT,
    OverfullFileError,
    ValueLimit,
    is_packed,
    unpack,
    unpacking_errors,
)

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]|[^\s{}\[\],:"]+')


MAX_DOCUMENT_BYTES: Final = DocumentOptions.max_document_size
"""Default maximum size of a document in bytes, after decompression. A document of 195 MB takes 1.9
GB of memory once it is parsed."""

STANDARD_INPUT: Final = "-"

# Byte order mark that some programs put before UTF-8. Source: RFC 8259, 8.1.
BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n\0"
_FENCE: Final = "```"
_NON_FINITE: Final = re.compile(r"-?(?:NaN|Infinity)")
# Word in the message of orjson (all versions) about a document that is too deep.
_DEPTH: Final = "depth"
MAX_LEVELS: Final = 1024  # levels of objects and arrays that orjson reads

# Start of the message of orjson if a text does not fit into memory.
_NO_BUFFER: Final = "Not enough memory"
# Shortest number that orjson may turn into a float: an integer outside [-2^63, 2^64).
_LONG_NUMBER: Final = b"0" * 19
# Translating is 15 times as fast as a pattern.
_DIGITS_AS_0: Final = bytes.maketrans(b"123456789", b"0" * 9)
_NO_DIGIT: Final = re.compile(rb"[^0]")  # in a text whose digits are all 0

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags for opening a file. They keep Windows from converting line ends. They also keep the call
from waiting if a FIFO has taken the place of the file."""


def decoded(file: str) -> str:
    r"""Return a file name as printable text. Bytes that are not UTF-8 become escapes like `\xff`.

    Secrets in a URL are removed.
    """
    if is_url(file):
        return shown_url(file)
    try:
        name = os.fsencode(file)
    except UnicodeEncodeError:  # a lone surrogate: no system has such a file
        name = file.encode("utf-8", "surrogatepass")
    return name.decode("utf-8", "backslashreplace")


def source_of(file: str) -> str:
    """Return the name that messages use for a JSON Lines file or standard input."""
    return "standard input" if file == STANDARD_INPUT else decoded(file)


def read_bytes(
    file: str,
    limit: int = MAX_DOCUMENT_BYTES,
    size: int | None = None,
    values: ValueLimit = ONE_DOCUMENT,
) -> bytes | Problem:
    """Read a regular file or a URL, decompressed if necessary; return a problem if this fails.

    `limit` is the maximum number of bytes, before and after decompression. `values` limits the
    number of JSON values if the file is compressed. Other kinds of files, such as a FIFO, are never
    opened, because they could block the run. A caller that passes `size` has already checked that
    the file is regular.
    """
    data: bytes | OSError | None
    try:
        if size is None and is_url(file):
            size = size_of_url(file)
        elif size is None:
            stated = os.stat(file)  # noqa: PTH116 - a path object costs as much again
            size = stated.st_size if stat.S_ISREG(stated.st_mode) else -1
        if size > limit:
            return too_large(decoded(file), f"the file has {size:,} bytes", limit)
        if is_url(file):
            (data,) = read_urls([file], limit, size)
        else:
            data = None if size < 0 else _content(file, size, limit)
    except OSError as error:
        return unreadable(decoded(file), error)
    if data is None:
        return Problem(decoded(file), "this path is not a regular file")
    return unpacked_bytes(data, file, limit, values)


MAX_UNPACKED_RATIO: Final = 100
"""Maximum size of content after decompression, as a multiple of its compressed size. Content of at
most `MAX_DOCUMENT_BYTES` may exceed this limit. JSON is usually compressed to a tenth or a
twentieth of its size. A file compressed to a thousandth is an attack."""


def unpacked_bytes(
    data: bytes | OSError, file: str, limit: int, values: ValueLimit = ONE_DOCUMENT
) -> bytes | Problem:
    """Return the content of a file, decompressed if necessary; return a problem if this fails.

    `data` are the bytes of the file, or the error of reading it. `limit` is the maximum number of
    bytes. `values` limits the number of JSON values if the file is compressed.
    """
    if isinstance(data, OSError):
        return unreadable(decoded(file), data)
    finding = "the file is larger"
    if is_packed(data):
        limit = min(limit, max(MAX_DOCUMENT_BYTES, MAX_UNPACKED_RATIO * len(data)))
        try:
            data = unpack(data, limit, values)
        except unpacking_errors() as error:
            return unreadable(decoded(file), error)
        finding = "the file is too large after unpacking"
    return data if len(data) <= limit else too_large(decoded(file), finding, limit)


def _content(file: str, size: int, limit: int) -> bytes | None:
    """Read a file of known size; None if it is no longer a regular file."""
    # `open` would create three objects and make three more system calls.
    handle = os.open(file, _FLAGS)
    try:
        data = os.read(handle, size + 1)
        if len(data) == size:
            return data
        # The file has changed, or states no size, as files in /proc.
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with open(handle, "rb", closefd=False) as stream:
            return data + stream.read(max(0, limit + 1 - len(data)))
    finally:
        os.close(handle)


def unreadable(source: str, error: Exception, line: int | None = None) -> Problem:
    """Return the problem of a file that an error made unreadable."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    packed_badly = isinstance(error, gzip.BadGzipFile | OverfullFileError)
    packed_badly |= not isinstance(error, OSError)
    hint = ""
    if isinstance(error, EOFError):
        hint = "is the compressed file complete?"
    elif isinstance(error, OverfullFileError):
        hint = error.hint
    elif packed_badly and not isinstance(error, ValueError):  # ValueError: a NUL in the name
        hint = "the compressed file may be damaged: write or copy it again"
    breaks_off = line is not None  # the documents after this line are unknown
    is_undelivered = is_url(source) and not packed_badly
    kind = Undelivered if breaks_off or is_undelivered else Problem
    return kind(source, f"cannot be read: {reason}", hint=hint, line=line)


def too_large(source: str, found: str, limit: int, line: int | None = None) -> Problem:
    """Return the problem of a document that has more bytes than the limit."""
    hint = "if this really is one document, raise --max-document-size"
    return Problem(
        source=source, found=found, expected=f"at most {limit:,} bytes", hint=hint, line=line
    )


def nested_too_deeply(source: str, line: int | None = None) -> Problem:
    """Return the problem of a document with so many levels that the JSON parser gave up."""
    expected = f"at most {MAX_LEVELS} levels"
    return Problem(source, "the document is nested too deeply", expected, line=line)


def parse_document(
    data: bytes, source: str, line: int | None = None, kinds: Sequence[DocumentKind] = OBJECTS
) -> JsonDocument | Problem:
    """Parse a document and check its JSON type; see `parse_json`."""
    value = parse_json(data, source, line)
    return value if isinstance(value, Problem) else of_kinds(value, kinds, source, line)


def of_kinds(
    value: JsonValue, kinds: Sequence[DocumentKind], source: str, line: int | None
) -> JsonDocument | Problem:
    """Return a value if it has one of the JSON types in `kinds`, otherwise a problem."""
    if kind_of(value) in kinds:
        return value  # type: ignore[return-value] # its kind says so
    hint = ""
    if isinstance(value, list) and line is None:
        hint = (
            "to evaluate several documents, put them into a JSON Lines file (.jsonl), one "
            "document on each line"
        )
    elif isinstance(value, dict) and [*map(kind_of, value.values())].count("array") == 1:
        name = next(name for name, child in value.items() if isinstance(child, list))
        hint = (
            f"if the key {brief(name)} contains the document, give this key to --pred-root "
            "or --gt-root"
        )
    finding = f"the document is of type {kind_of(value)}"
    return Problem(source=source, found=finding, expected=expected_of(kinds), hint=hint, line=line)


def expected_of(kinds: Sequence[DocumentKind]) -> str:
    """Return a phrase for the JSON types that a document may have."""
    return f"a JSON {' or '.join(kinds)}"


def parse_json(data: bytes, source: str, line: int | None = None) -> JsonValue | Problem:
    """Parse strict JSON (RFC 8259) in UTF-8. Integers of any size stay exact.

    One byte order mark is allowed. If a key occurs twice, its last value is used. Problems name the
    `source`. If the text comes from a JSON Lines file, `line` is the line where the text starts. It
    is None for a file of one document.
    """
    data = data.removeprefix(BOM)
    try:
        value: JsonValue = orjson.loads(data)
        if has_long_number(data):
            # orjson has refused everything that the standard library would accept (NaN, 1e400, lone
            # surrogates). pydantic_core is exact too, but accepts 1e400 and stops at depth 200.
            value = None  # keeping both would double the memory
            value = json.loads(data)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_NO_BUFFER):
            raise MemoryError from None
        return _syntax_problem(data, source, line, error)
    except RecursionError:
        return nested_too_deeply(source, line)
    return value


def has_long_number(data: bytes) -> bool:
    """Return whether a text may contain an integer that orjson would convert to a float."""
    sample = data[::6].translate(_DIGITS_AS_0)  # such an integer has at least 19 digits
    digits = data.translate(_DIGITS_AS_0) if b"000" in sample else b""
    position = digits.find(_LONG_NUMBER)
    # Such digits may also be in a text, such as an exact sum, or after a decimal point.
    while position >= 0 and digits[position - 1 : position] in (b'"', b"."):
        end_of_digits = _NO_DIGIT.search(digits, position)
        if end_of_digits is None:
            return False
        position = digits.find(_LONG_NUMBER, end_of_digits.start())
    return position >= 0


def _syntax_problem(
    data: bytes, source: str, line: int | None, error: orjson.JSONDecodeError
) -> Problem:
    """Explain to the user why orjson rejected a text."""
    if not data.strip(_BLANK):
        unit = "line" if line else "file"
        return Problem(source, f"the {unit} is {'blank' if data else 'empty'}", "JSON", line=line)
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        return Problem(source, f"the text is encoded as {encoding[:6].upper()}", "UTF-8", line=line)
    try:
        text = data.decode()
    except UnicodeDecodeError as wrong:
        before = data[: wrong.start].decode()
        finding = f"the text is not UTF-8: byte 0x{data[wrong.start]:02x} is not allowed here"
        row = before.count("\n") + (line or 1)
        return Problem(source, finding, line=row, column=len(before) - before.rfind("\n"))
    row = error.lineno + (line or 1) - 1
    start = error.pos - (text[max(error.pos - 1, 0) : error.pos] == "-")
    if literal := _NON_FINITE.match(text, start):
        finding, expected = f"{literal[0]} is not JSON", "a number or null"
        hint = "Python's json.dumps writes NaN and Infinity unless allow_nan=False is given"
    elif _DEPTH in error.msg:
        finding = f"the document is nested more than {MAX_LEVELS} levels deep"
        expected, hint = "", ""
    else:
        finding, expected = f"not valid JSON: {error.msg}", ""
        hint = _hint(text, error.pos, in_lines=line is not None)
    return Problem(
        source=source, found=finding, expected=expected, hint=hint, line=row, column=error.colno
    )


def _hint(text: str, end: int, *, in_lines: bool) -> str:
    """Return advice on JSON that is invalid from `end` on; empty if there is no advice."""
    if text.lstrip().startswith(_FENCE):
        return "remove everything outside the Markdown code fence"
    if in_lines:
        return "each line of a JSON Lines file must be one whole document"
    if text[end : end + 1] in {"{", "["} and broken_at(text[:end]) is None:
        return "this looks like JSON Lines: give the file a name that ends in .jsonl"
    return ""


def broken_at(text: str) -> int | None:
    """Return the position of the first error in a JSON text; None if the text is valid."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return error.pos
    return None


class Position(NamedTuple):
    """Where a value is in a JSON text.

    Positions are counted in bytes from the beginning of the text.
    """

    pointer: str
    line: int
    """Line of the value, from 1."""
    member: int
    """Start of the value's key. For a list element and for the root, which have no key, this number
    is the start of the value."""
    start: int
    end: int
    parent_start: int
    """Start of the object or list that contains the value; -1 for the root."""


@dataclass(slots=True)
class _Open:
    """An object or list that is not closed yet, and the key or index of its next value."""

    pointer: str
    line: int
    member: int
    start: int
    step: str | int | None
    """Key or index of the next value. None in an object whose next key was not read yet."""
    key: int | None = None
    """Start of the last key that was read, in bytes. None in a list, and before the first key."""


def positions(data: bytes) -> Iterator[Position]:
    """Yield the positions of all values of a valid JSON text.

    Children come before their parents.
    """
    open_containers: list[_Open] = []
    line, previous_start = 1, 0
    for match in _TOKEN.finditer(data):
        start, end = match.span()
        token = match[0]
        line += data.count(b"\n", previous_start, start)
        previous_start = start
        inner = open_containers[-1] if open_containers else None
        if token in b"}]":
            closed = open_containers.pop()
            parent_start = open_containers[-1].start if open_containers else -1
            yield Position(
                pointer=closed.pointer,
                line=closed.line,
                member=closed.member,
                start=closed.start,
                end=end,
                parent_start=parent_start,
            )
        elif inner is not None and token == b",":
            inner.step = inner.step + 1 if isinstance(inner.step, int) else None
        elif inner is not None and inner.step is None:  # the token is a key
            inner.step = orjson.loads(token)
            inner.key = start
        else:
            pointer, member = "", start
            if inner is not None and inner.step is not None:
                pointer = inner.pointer + json_pointer((inner.step,))
                member = start if inner.key is None else inner.key
            if token in b"{[":
                step = 0 if token == b"[" else None
                open_containers.append(_Open(pointer, line, member, start, step))
            else:
                yield Position(
                    pointer=pointer,
                    line=line,
                    member=member,
                    start=start,
                    end=end,
                    parent_start=inner.start if inner else -1,
                )


def lines_in(data: bytes, pointers: Collection[str]) -> dict[str, int]:
    r"""Return the line, from 1, of each value to which one of the JSON Pointers leads.

    The text must be valid JSON. For a duplicate key, the line of its last value counts. Pointers
    that lead to nothing are omitted.

    >>> lines_in(b'{\n"a": [1,\n2]}', {"/a/1", "/a", ""}) == {"": 1, "/a": 2, "/a/1": 3}
    True
    """
    return {
        position.pointer: position.line
        for position in positions(data)
        if position.pointer in pointers
    }


def doubled_keys(data: bytes) -> list[tuple[str, int]]:
    """Return (key, byte offset) for each key of valid JSON that occurred before in its object."""
    doubled, seen = [], set()
    for place in sorted(positions(data), key=attrgetter("member")):
        if place.member < place.start:  # it is a value with a key
            if (place.parent_start, place.pointer) in seen:
                doubled.append((orjson.loads(_key(data, place)), place.member))
            seen.add((place.parent_start, place.pointer))
    return doubled


def _key(data: bytes, place: Position) -> bytes:
    return _TOKEN.match(data, place.member)[0]  # type: ignore[index] # it is a token


def with_keys(text: str, added: Mapping[str, JsonObject]) -> str:
    """Return a JSON text with keys added to its objects.

    `added` maps the JSON Pointer of an object to the new keys of this object, with their values.
    New keys come last in their object, formatted like the keys before them. If the object has the
    key, the value of the key is replaced. `added` may also have keys for an object inside a value
    that is replaced. These keys are dropped.
    """
    data = text.encode("utf-8", "surrogatepass")
    members_by_start: defaultdict[int, list[Position]] = defaultdict(list)
    objects = {}
    for place in positions(data):
        members_by_start[place.parent_start].append(place)
        objects[place.pointer] = place
    edits: list[tuple[int, int, str]] = []
    for pointer, keys in added.items():
        begin = objects[pointer].start + 1
        members = members_by_start[begin - 1]
        # A comma is followed by a blank, a brace is not.
        after, separator, colon = begin, " ", ": "
        if members:
            first, after = members[0], members[-1].end
            colon = data[first.member + len(_key(data, first)) : first.start].decode()
            separator = data[begin : first.member].decode() or " " * (colon != ":")
        spans = {place.pointer: (place.start, place.end) for place in members}
        new = []
        for key, value in keys.items():
            written = json.dumps(value, ensure_ascii=False)
            if old := spans.get(pointer + json_pointer((key,))):
                edits.append((*old, written))
            else:
                new.append(f"{json.dumps(key)}{colon}{written}")
        if new:
            before = f",{separator}" if members else ""
            edits.append((after, after, before + f",{separator}".join(new)))
    return _apply_edits(data, edits).decode("utf-8", "surrogatepass")


def _apply_edits(data: bytes, edits: Iterable[tuple[int, int, str]]) -> bytes:
    """Return bytes after some edits.

    An edit (start, end, text) replaces data[start:end] by its text.

    If an edit is inside a part of `data` that another edit replaces, the inner edit is dropped.
    """
    pieces, end_of_copy = [], 0
    for start, end, text in sorted(edits):
        if start >= end_of_copy:
            pieces += [data[end_of_copy:start], text.encode("utf-8", "surrogatepass")]
            end_of_copy = end
    return b"".join([*pieces, data[end_of_copy:]])
