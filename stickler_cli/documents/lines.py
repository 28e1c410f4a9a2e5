"""JSON Lines: one document on each line of a file, packed or not, or of standard input.

Lines are streamed: a file is opened once and never held in memory. What pairs by id is found again
by its place; lines that have none (packed ones, standard input) are kept.
"""

import io
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Final, Literal

from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.core.locations import Path as FieldPath
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem
from stickler_cli.core.remote import is_url, open_url
from .document import LineReference, Reference, Side
from .document_pair import ANY_SHAPE, Shape
from .id_places import ById
from .reading import (
    HEAD,
    STANDARD_INPUT,
    is_packed,
    source_of,
    too_large,
    unpacked,
    unpacking_errors,
    unreadable,
)

ONE: Final = {"line": "one line for each id", "row": "one row for each id"}
"""What is expected where two places of a kind have one id."""


def lines_of(file: str, limit: int) -> Iterator[LineReference | Problem]:
    """Yield the lines that are not blank.

    A line of more than `limit` bytes is a problem, and so is the place where the file breaks off
    (a gzip file cut short, a disk error): that one is the last.
    """
    source = source_of(file)
    number = offset = 0
    try:
        with _opened(file) as (stream, again):
            while data := stream.readline(limit + 1):
                number += 1
                length = len(data)
                if length > limit and not data.endswith(b"\n"):
                    while not data.endswith(b"\n") and (data := stream.readline(limit + 1)):
                        length += len(data)
                    yield too_large(source, f"the line has {length:,} bytes", limit, number)
                elif text := data.rstrip(b" \t\r\n"):
                    # Without its end: else an error at the end would be on the next line.
                    yield LineReference(file, number, len(text), offset if again else None, text)
                offset += length
    except unpacking_errors() as error:
        yield unreadable(source, error, number + 1)


def documents_by_id(
    file: str,
    side: Side,
    id_field: FieldPath,
    limit: int,
    shape: Shape = ANY_SHAPE,
) -> Iterator[tuple[str, Reference]]:
    """Yield each document of a file of JSON Lines with its id.

    A line without an id is a problem under an id of its own, `gt line 7`. Of two with one id the
    second is a problem: of ground truth under an id of its own, so that the first counts; of
    predictions under the same id, since neither can be preferred.
    """
    ids = Ids(source_of(file), side, "line")
    for line in lines_of(file, limit):
        name, problem = ids.place(_id_of(line, id_field, side, shape), line.line or 0)
        reference: Reference = problem or line
        if side == "pred" and isinstance(reference, LineReference) and reference.offset is not None:
            reference = reference._replace(data=None)  # all are held until the last is known
        yield name, reference


class Ids:
    """The ids of a source, and those given to its documents that have none."""

    def __init__(self, source: str, side: Side, place: Literal["line", "row"]) -> None:
        self._source, self._side, self._word = source, side, place
        self._places = ById[int]()

    def place(self, found: str | Problem, number: int) -> tuple[str, Problem | None]:
        """Return the id of the document at a place, and a problem that takes its place, if any.

        Of two with one id the second is a problem: see `documents_by_id`.
        """
        problem = found if isinstance(found, Problem) else None
        if not isinstance(found, Problem):
            first = self._places.first(found, number)
            if first == number:
                return found, None
            word = self._word
            twice = f"the id {found!r} is also on {word} {first}"
            problem = Problem(self._source, twice, ONE[word], line=number)
            if self._side == "pred":
                return found, problem
        name = f"{self._side} {self._word} {number}"
        while self._places.first(name, number) != number:
            name += "'"
        return name, problem


def value_at(value: JsonValue, path: FieldPath) -> JsonValue:
    """Return the value at a place in a document.

    Raises:
        LookupError: there is no such place.
    """
    for step in path:
        match value, step:
            case dict(), str():
                value = value[step]
            case list(), int():
                value = value[step]
            case _:
                raise LookupError(step)
    return value


@contextmanager
def _opened(file: str) -> Iterator[tuple[IO[bytes], bool]]:
    """Open a source of lines, unpacked; with it, whether a line of it can be read again."""
    once = file == STANDARD_INPUT or is_url(file)  # elsewhere a line costs as much as a file
    with _stream_of(file) as stream:
        # Looking ahead keeps the bytes, which a pipe would not give twice.
        head = stream.peek(HEAD) if isinstance(stream, io.BufferedReader) else b""
        if is_packed(head):
            with unpacked(stream, head) as inside:
                yield inside, False
        else:
            yield stream, not once


def _stream_of(file: str) -> AbstractContextManager[IO[bytes]]:
    if file == STANDARD_INPUT:
        return nullcontext(sys.stdin.buffer)
    return open_url(file) if is_url(file) else Path(file).open("rb")


def _id_of(
    line: LineReference | Problem, id_field: FieldPath, side: Side, shape: Shape
) -> str | Problem:
    document = shape.read_around(line, side).value
    if isinstance(document, Problem):
        return document
    expected = "a string or an integer"
    try:
        value = value_at(document, id_field)
    except LookupError:
        found = f"there is no {field_path(id_field)}"
        hint = "the id field pairs documents"
        return Problem(line.source, found, expected, hint, line=line.line)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    found = f"{field_path(id_field)} is of type {kind_of(value)}"
    return Problem(line.source, found, expected, line=line.line)
