"""Where a document is, apart from reading it, and a digest of what is there.

A module of its own so that a run can hand out references, which are small and picklable, to
worker processes, and have each document read and parsed where it is compared. References are
tuples, because to pickle one costs a fifth of what a dataclass costs.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.problems import Problem
from stickler_cli.documents.document import Reading, Wrapping, read_plain, read_text
from stickler_cli.documents.reading import decoded, read_bytes

DIGEST_BYTES: Final = 16
"""Enough that two documents never share a digest by accident; nobody is kept from making two."""


class FileReference(NamedTuple):
    """A file that holds one document."""

    file: str
    """As the user named it, or below what the user named; may hold surrogates."""
    limit: int
    """The most bytes the document may have, unpacked."""
    size: int = 0
    """Its bytes when it was found, packed; 0 where nobody looked."""


class BytesReference(NamedTuple):
    """A line of JSON Lines, which was read to find where it ends."""

    data: bytes
    """The line itself."""
    source: str
    """Where it came from, as a problem is to name it."""
    line: int
    """From 1."""


Reference: TypeAlias = FileReference | BytesReference | Problem
"""Where a document is; a problem where it is already known that it cannot be read."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What tells the documents of a pair from others."""

    gt: str
    """The digest of its bytes, unpacked, or of why there are none; empty where there is none."""
    pred: str
    """Likewise."""
    hint: str
    """What the result says of a document that stands alone; it depends on other documents."""


def digest_of(data: bytes | Problem) -> str:
    """Return the digest of a document, or of what keeps it from being read."""
    content = str(data).encode("utf-8", "backslashreplace") if isinstance(data, Problem) else data
    return blake2b(content, digest_size=DIGEST_BYTES).hexdigest()


def size_of(reference: Reference | None) -> int:
    """Return the bytes of a document as far as they are known before it is read, else 0."""
    match reference:
        case FileReference():
            return reference.size
        case BytesReference():
            return len(reference.data)
        case _:
            return 0


def bytes_of(reference: Reference) -> bytes | Problem:
    """Read the bytes of a document, unpacked."""
    match reference:
        case FileReference():
            return read_bytes(reference.file, reference.limit, reference.size or None)
        case BytesReference():
            return reference.data
        case _:
            return reference


def read_document(
    reference: Reference,
    wrapping: Wrapping = Wrapping.REFUSED,
    data: bytes | Problem | None = None,
) -> Reading:
    """Read and parse a document.

    Args:
        reference: where it is.
        wrapping: what becomes of a document that is inside other text.
        data: what `bytes_of` gave of it, where that was asked before.
    """
    if data is None:
        data = bytes_of(reference)
    if isinstance(data, Problem):
        return Reading(data)
    plain = read_plain(data)
    if plain is not None:
        return plain
    match reference:
        case FileReference():
            return read_text(data, decoded(reference.file), None, wrapping)
        case BytesReference():
            return read_text(data, reference.source, reference.line, wrapping)
        case _:
            return Reading(reference)
