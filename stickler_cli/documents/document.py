"""One document: a reference to it, its value, and everything unusual about its text.

A reference says where a document is. Reading the document is a separate step. A run can therefore
send references to processes, which read each document when it is compared. References are named
tuples, because these are pickled fastest.

If a text as a whole is not JSON, a document is searched inside it.
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
    canonical_json,
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

# Remark: the document begins with a byte order mark, which is ignored.
BYTE_ORDER_MARK: Final = "byte_order_mark"
# Remark: an object has a key twice; the last value is used.
DUPLICATE_KEYS: Final = "duplicate_keys"
MOST_FOR_A_HINT: Final = 1_000_000  # bytes of a text that is searched only to name an option
# Enough to make equal digests of different documents practically impossible.
_DIGEST_BYTES: Final = 16

_ESCAPED_COLON: Final = re.compile(rb"\\u003[aA]")


class FileReference(NamedTuple):
    """Reference to a file that contains one document."""

    file: str
    """Name of the file. Bytes of the name that are not UTF-8 are surrogates."""
    limit: int
    """Maximum size of the document in bytes, after decompression."""
    size: int = 0
    """Size of the file in bytes when it was listed, before decompression; 0 if unknown."""
    data: bytes | Problem | None = None
    """Content of the file, or the problem of reading it; None if it was not read in advance."""

    @property
    def source(self) -> str:
        """Name of the file in messages."""
        return decoded(self.file)

    @property
    def line(self) -> None:
        """Always None, because the document is a whole file and not a line of one."""

    def read_data(self) -> bytes | Problem:
        """Return the decompressed bytes of the document, or the problem of reading it."""
        if self.data is not None:
            return self.data
        return read_bytes(self.file, self.limit, self.size or None)


class LineReference(NamedTuple):
    """Reference to one line of a JSON Lines file."""

    file: str
    line: int
    """Number of the line, from 1."""
    size: int
    offset: int | None
    """Where the line starts in the file, in bytes; None if the line cannot be read a second
    time."""
    data: bytes | None
    """Content of the line. If None, it must be read from the file again."""

    @property
    def source(self) -> str:
        """Name of the file in messages."""
        return source_of(self.file)

    def read_data(self) -> bytes | Problem:
        """Return the content of the line: `data` if it is set, else the bytes in the file."""
        if self.data is not None:
            return self.data
        try:
            with io.FileIO(self.file) as stream:
                stream.seek(self.offset or 0)
                return stream.read(self.size)
        except OSError as error:
            return unreadable(self.source, error, self.line)


Reference: TypeAlias = FileReference | LineReference | Problem
"""A reference to a document, or a `Problem` if it is already clear that the document cannot be
read."""

Side: TypeAlias = Literal["gt", "pred"]

# Content of a document, or the reason why it cannot be read.
Data: TypeAlias = bytes | Problem | None


Wrapping: TypeAlias = Literal["refused", "hinted", "taken"]
"""What to do with a document that is inside other text or is the only item of a list. `refused`
rejects it. `hinted` rejects it and names the option that would accept it. `taken` accepts it."""


class Reading(NamedTuple):
    """The result of reading one document: its value or a problem, and remarks on its text."""

    value: JsonDocument | Problem | None
    remarks: tuple[str, ...] = ()
    """Names of unusual features of the text, such as `duplicate_keys`."""
    warnings: tuple[Problem, ...] = ()


def bytes_of(reference: Reference | None) -> Data:
    """Return the decompressed bytes of a document, or the problem of reading it.

    None if there is no reference.
    """
    if reference is None or isinstance(reference, Problem):
        return reference
    return reference.read_data()


def digest_of(data: Data) -> str:
    """Return a digest of a document's bytes, or of the problem of reading it; empty for None."""
    if isinstance(data, Problem):
        data = str(data).encode("utf-8", "backslashreplace")
    return "" if data is None else blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def content_digest(document: JsonDocument, size: int = 16) -> bytes:
    """Return a hash of a document's content. The hash has `size` bytes.

    Documents with equal content have equal hashes.
    """
    return blake2b(canonical_json(document), digest_size=size).digest()


def read_document(
    reference: Reference | None,
    wrapping: Wrapping = "refused",
    data: Data = None,
    kinds: Sequence[DocumentKind] = OBJECTS,
) -> Reading:
    """Read and parse a document.

    `data` is the result of `bytes_of`, if the caller has already called it.
    """
    if data is None:
        data = bytes_of(reference)
    if reference is None or not isinstance(data, bytes):
        return Reading(data if isinstance(data, Problem) else None)
    plain = read_plain(data, kinds)
    return plain or read_text(data, reference.source, reference.line, wrapping, kinds)


def read_plain(data: bytes, kinds: Sequence[DocumentKind] = OBJECTS) -> Reading | None:
    """Parse a document if its text has nothing unusual; return None for any other text.

    Nearly all documents have such texts. For these, nothing else needs to be computed.
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
    """Parse a document and collect remarks on its text.

    `source` and `line` say in messages where the text comes from. `kinds` are the JSON types that
    the document may have.
    """
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
    further_text = ""
    if len(other_keys) == 1:
        further_text = ", and so is 1 other key"
    elif other_keys:
        further_text = f", and so are {len(other_keys)} other keys"
    warning = Problem(
        source=source,
        found=f"the key {brief(name)} is repeated{further_text}",
        expected="each key only once",
        hint="the last value counts",
        line=line,
    )
    start = text.find(json_text)
    if start >= 0:  # offsets of rewritten JSON do not apply to the text
        before = text[: start + offset].decode("utf-8", "replace")
        line_number = before.count("\n") + (line or 1)
        column = len(before) - before.rfind("\n")
        warning = replace(warning, line=line_number, column=column)
    return Reading(value, (*remarks, DUPLICATE_KEYS), (warning,))


def nothing_dropped(data: bytes, value: JsonValue) -> bool:
    """Return whether it is certain that parsing a text dropped no duplicate key.

    Counting colons is much faster than searching for duplicate keys. Each key is followed by a
    colon. If the parsed value, written as text, has as many colons as the original text, no key was
    dropped. If a string in the text has an escaped colon, the counts say nothing.
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
    # Searching for one byte takes a third of the time of searching for the escaped colon.
    if b"\\" in data and _ESCAPED_COLON.search(data):
        return False
    return data.count(b":") == written.count(b":")


def _find_document(data: bytes, kinds: Sequence[DocumentKind]) -> "Wrapped | None":
    """Find a document that has other text around it; None if there is none."""
    from .lenient import find_document  # imported late: most documents are plain JSON

    return find_document(data, kinds)


def _inner_problem(
    data: bytes, source: str, line: int | None, kinds: Sequence[DocumentKind]
) -> Problem | None:
    """Return the problem of invalid JSON inside a text, for example after a sentence.

    None if the JSON is valid, if it begins where the text begins, or if no part of the text looks
    like JSON.
    """
    from .lenient import find_json  # imported late: most documents are plain JSON

    text = data.decode("utf-8", "replace")
    span = find_json(text)
    if span is None or not text[: span[0]].strip():
        return None
    start, end = span
    problem = parse_document(text[start:end].encode(), source, line, kinds)
    if not isinstance(problem, Problem):
        return None
    row = problem.line or 1
    offset_in_line = start - text.rfind("\n", 0, start) - 1 if row == (line or 1) else 0
    column = (problem.column or 1) + offset_in_line
    return replace(problem, line=row + text.count("\n", 0, start), column=column)
