"""JSON Lines: one document on each line of a file, a gzip file or standard input.

A module of its own because lines are streamed: a file is never held in memory, only where its
documents are. Lines that cannot be read again (gzip, standard input) are their own references,
so whoever keeps the reference keeps the bytes.
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
from stickler_cli.documents.document import Wrapping, read_text
from stickler_cli.documents.reading import (
    GZIP_MAGIC,
    UNPACKING_ERRORS,
    decoded,
    too_large,
    unreadable,
)
from stickler_cli.documents.references import BytesReference, LineReference, Reference

STANDARD_INPUT: Final = "-"
"""How a user names standard input."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank."""

    number: int
    """From 1, blank lines counted."""
    reference: Reference
    """How to read the document again; a problem for a line that cannot be read at all."""
    data: bytes
    """The line itself; empty where it cannot be read."""


def source_of_lines(file: str) -> str:
    """Name a JSON Lines file, or standard input, as a problem is to name it."""
    return "standard input" if file == STANDARD_INPUT else decoded(file)


def lines_of(file: str, limit: int) -> Iterator[Line]:
    """Give the lines that are not blank.

    A line of more than `limit` bytes is a problem, and so is the place where the file breaks off
    (a gzip file cut short, a disk error): that one is the last.
    """
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
                    problem = too_large(source, found, limit, number)
                    yield Line(number, problem, b"")
                elif text := data.rstrip(b" \t\r\n"):
                    # Without its end: else an error at the end would be on the next line.
                    reference = (
                        LineReference(file, number, offset, len(text))
                        if again
                        else BytesReference(text, source, number)
                    )
                    yield Line(number, reference, text)
                offset += length
    except UNPACKING_ERRORS as error:
        yield Line(number + 1, unreadable(source, error, number + 1), b"")


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
    """Give each ground truth document with its id.

    The first of two documents with one id counts; each further one, and each without an id, is a
    problem under an id of its own, `gt line 7`.
    """
    lines: dict[str, int] = {}
    for line in lines_of(file, limit):
        found = _id_of(line, id_field, source_of_lines(file))
        if isinstance(found, str) and found in lines:
            found = _duplicate(file, found, lines[found], line.number)
        document = _own_id("gt", line, lines) if isinstance(found, Problem) else found
        lines[document] = line.number
        yield document, found if isinstance(found, Problem) else line.reference


def preds_by_id(
    file: str, id_field: FieldPath, limit: int, wrapping: Wrapping = Wrapping.REFUSED
) -> dict[str, Reference]:
    """Read all lines once and give where the prediction of each id is.

    Memory holds the ids and offsets; for gzip and standard input, the lines themselves. An id on
    two lines is a problem, since neither can be preferred; a line without an id is one under an
    id of its own, `pred line 7`.
    """
    index: dict[str, Reference] = {}
    lines: dict[str, int] = {}
    for line in lines_of(file, limit):
        found = _id_of(line, id_field, source_of_lines(file), wrapping)
        document = _own_id("pred", line, lines) if isinstance(found, Problem) else found
        if isinstance(found, Problem):
            index[document] = found
        elif document in lines:
            index[document] = _duplicate(file, document, lines[document], line.number)
        else:
            index[document] = line.reference
        lines.setdefault(document, line.number)
    return index


def _own_id(side: str, line: Line, taken: Container[str]) -> str:
    """Name a document that has no usable id of its own, apart from all ids so far."""
    name = f"{side} line {line.number}"
    while name in taken:
        name += "'"
    return name


def _duplicate(file: str, document: str, first: int, line: int) -> Problem:
    found = f"the id {document!r} is also on line {first}"
    return Problem(source_of_lines(file), found, "one line for each id", line=line)


def _id_of(
    line: Line, id_field: FieldPath, source: str, wrapping: Wrapping = Wrapping.REFUSED
) -> str | Problem:
    if isinstance(line.reference, Problem):
        return line.reference
    document = read_text(line.data, source, line.number, wrapping).value
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
                return Problem(source, found, "a string or an integer", hint, line=line.number)
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    found = f"{field_path(id_field)} is of type {kind_of(value)}"
    return Problem(source, found, "a string or an integer", line=line.number)
