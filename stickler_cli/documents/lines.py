"""JSON Lines: one document on each line of a file, a gzip file or standard input.

A module of its own because lines are streamed: a file is opened once and never held in memory. What
pairs by id is found again by its place; lines that have none (gzip, standard input) are kept.
"""

import gzip
import io
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.core.locations import Path as FieldPath
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem
from stickler_cli.documents.document import Wrapping
from stickler_cli.documents.reading import (
    GZIP_MAGIC,
    UNPACKING_ERRORS,
    decoded,
    too_large,
    unreadable,
)
from stickler_cli.documents.references import BytesReference, Reference, read_document

STANDARD_INPUT: Final = "-"
"""How a user names standard input."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line is in a file that is not packed."""

    line: int
    """From 1."""
    offset: int
    """Of the first byte, from the start of the file."""
    length: int
    """In bytes."""


def source_of_lines(file: str) -> str:
    """Name a JSON Lines file, or standard input, as a problem is to name it."""
    return "standard input" if file == STANDARD_INPUT else decoded(file)


def lines_of(file: str, limit: int) -> Iterator[BytesReference | Problem]:
    """Return the lines that are not blank.

    A line of more than `limit` bytes is a problem, and so is the place where the file breaks off
    (a gzip file cut short, a disk error): that one is the last.
    """
    return (line for line, _ in _lines(file, limit))


def _lines(file: str, limit: int) -> Iterator[tuple[BytesReference | Problem, Place | None]]:
    """Return each line with its place, if it can be read again."""
    source = source_of_lines(file)
    number = offset = 0
    try:
        with _opened(file) as (stream, again):
            while data := stream.readline(limit + 1):
                number += 1
                length = len(data)
                if length > limit and not data.endswith(b"\n"):
                    length += _skip_line(stream, limit)
                    found = f"the line has {length:,} bytes"
                    yield too_large(source, found, limit, number), None
                elif text := data.rstrip(b" \t\r\n"):
                    # Without its end: else an error at the end would be on the next line.
                    place = Place(number, offset, len(text)) if again else None
                    yield BytesReference(text, source, number), place
                offset += length
    except UNPACKING_ERRORS as error:
        yield unreadable(source, error, number + 1), None


class LineReader:
    """Reads lines of a file again, in any order."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._source = source_of_lines(file)
        self._stream: IO[bytes] | None = None

    def read(self, place: Place) -> BytesReference | Problem:
        """Return the line that is there now."""
        try:
            if self._stream is None:
                self._stream = Path(self._file).open("rb")  # noqa: SIM115 - see `close`
            self._stream.seek(place.offset)
            data = self._stream.read(place.length)
        except OSError as error:
            return unreadable(self._source, error, place.line)
        return BytesReference(data, self._source, place.line)

    def close(self) -> None:
        """Let go of the file."""
        if self._stream is not None:
            self._stream.close()


@contextmanager
def _opened(file: str) -> Iterator[tuple[IO[bytes] | gzip.GzipFile, bool]]:
    """Open a source of lines, unpacked; and say whether a line of it can be read again."""
    with _bytes_of(file) as stream:
        # Looking ahead keeps the bytes, which a pipe would not give twice.
        if isinstance(stream, io.BufferedReader) and stream.peek(2).startswith(GZIP_MAGIC):
            with gzip.open(stream) as unpacked:
                yield unpacked, False
        else:
            yield stream, file != STANDARD_INPUT


@contextmanager
def _bytes_of(file: str) -> Iterator[IO[bytes]]:
    if file == STANDARD_INPUT:
        yield sys.stdin.buffer
    else:
        with Path(file).open("rb") as stream:
            yield stream


def _skip_line(stream: IO[bytes] | gzip.GzipFile, limit: int) -> int:
    """Read to the end of the line in pieces; give the number of bytes."""
    length = 0
    while piece := stream.readline(limit + 1):
        length += len(piece)
        if piece.endswith(b"\n"):
            break
    return length


def gt_by_id(file: str, id_field: FieldPath, limit: int) -> Iterator[tuple[str, Reference]]:
    """Return each ground truth document with its id.

    The first of two documents with one id counts; each further one, and each without an id, is a
    problem under an id of its own, `gt line 7`.
    """
    lines: dict[str, int] = {}
    for line in lines_of(file, limit):
        number = line.line or 0
        found = _id_of(line, id_field)
        if isinstance(found, str) and found in lines:
            found = _duplicate(file, found, lines[found], number)
        document = _own_id("gt", number, lines) if isinstance(found, Problem) else found
        lines[document] = number
        yield document, found if isinstance(found, Problem) else line


def preds_by_id(
    file: str, id_field: FieldPath, limit: int, wrapping: Wrapping = Wrapping.REFUSED
) -> dict[str, Reference | Place]:
    """Read all lines once and return where the prediction of each id is.

    Memory holds the ids and places; for gzip and standard input, the lines themselves. An id on
    two lines is a problem, since neither can be preferred; a line without an id is one under an
    id of its own, `pred line 7`.
    """
    index: dict[str, Reference | Place] = {}
    lines: dict[str, int] = {}
    for line, place in _lines(file, limit):
        number = line.line or 0
        found = _id_of(line, id_field, wrapping)
        document = _own_id("pred", number, lines) if isinstance(found, Problem) else found
        if isinstance(found, Problem):
            index[document] = found
        elif document in lines:
            index[document] = _duplicate(file, document, lines[document], number)
        else:
            index[document] = place or line
        lines.setdefault(document, number)
    return index


def _own_id(side: str, number: int, taken: Container[str]) -> str:
    """Name a document that has no usable id of its own, apart from all ids so far."""
    name = f"{side} line {number}"
    while name in taken:
        name += "'"
    return name


def _duplicate(file: str, document: str, first: int, line: int) -> Problem:
    found = f"the id {document!r} is also on line {first}"
    return Problem(source_of_lines(file), found, "one line for each id", line=line)


def _id_of(
    line: BytesReference | Problem, id_field: FieldPath, wrapping: Wrapping = Wrapping.REFUSED
) -> str | Problem:
    document = read_document(line, wrapping).value
    if isinstance(document, Problem):
        return document
    value: JsonValue = document
    for step in id_field:
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                found = f"there is no {field_path(id_field)}"
                hint = "the id field pairs documents"
                return Problem(line.source, found, "a string or an integer", hint, line=line.line)
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    found = f"{field_path(id_field)} is of type {kind_of(value)}"
    return Problem(line.source, found, "a string or an integer", line=line.line)
