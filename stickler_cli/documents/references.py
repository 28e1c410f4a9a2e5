"""Where a document is, apart from reading it.

A module of its own so that a run can hand out references, which are small and picklable, to
worker processes, and have each document read and parsed where it is compared.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from stickler_cli.documents.document import Reading, Wrapping, read_text
from stickler_cli.documents.reading import decoded, read_bytes, unreadable
from stickler_cli.errors import Problem


@dataclass(frozen=True, slots=True)
class FileReference:
    """A file that holds one document."""

    file: str
    """As the user named it, or below what the user named; may hold surrogates."""
    limit: int
    """The most bytes the document may have, unpacked."""


@dataclass(frozen=True, slots=True)
class LineReference:
    """A line of a JSON Lines file that is not packed."""

    file: str
    """As the user named it; may hold surrogates."""
    line: int
    """From 1."""
    offset: int
    """Of the first byte, from the start of the file."""
    length: int
    """In bytes."""


@dataclass(frozen=True, slots=True)
class BytesReference:
    """A line that cannot be read again: of standard input or of a gzip file."""

    data: bytes
    """The line itself."""
    source: str
    """Where it came from, as a problem is to name it."""
    line: int
    """From 1."""


Reference: TypeAlias = FileReference | LineReference | BytesReference | Problem
"""Where a document is; a problem where it is already known that it cannot be read."""


def read_document(reference: Reference, wrapping: Wrapping = Wrapping.REFUSED) -> Reading:
    """Read and parse a document."""
    match reference:
        case FileReference(file, limit):
            data = read_bytes(file, limit)
            source, line = decoded(file), None
        case LineReference(file, line):
            data = _read_line(reference)
            source = decoded(file)
        case BytesReference(data, source, line):
            pass
        case _:
            return Reading(reference)
    return Reading(data) if isinstance(data, Problem) else read_text(data, source, line, wrapping)


def _read_line(reference: LineReference) -> bytes | Problem:
    try:
        with Path(reference.file).open("rb") as stream:
            stream.seek(reference.offset)
            return stream.read(reference.length)
    except OSError as error:
        return unreadable(decoded(reference.file), error, reference.line)
