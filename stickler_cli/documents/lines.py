"""Read files of many documents, such as JSON Lines, line by line, and find the documents' ids.

Files are streamed: a file is opened once and never held in memory. If documents are paired by id,
they are read a second time at their offset. A line has no offset if its file is compressed or is
standard input. The content of such lines is kept in memory, or on disk if there are many.
"""

import codecs
import io
import json
import pickle
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path as FilePath
from typing import IO, TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from stickler_cli.core.json_values import JsonDocument, JsonValue, brief, json_line, kind_of
from stickler_cli.core.locations import Path as FieldPath
from stickler_cli.core.locations import field_path, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, nearest_choices
from stickler_cli.core.remote import is_url, open_named
from .document import LineReference, Reference, Side
from .document_pair import ANY_SHAPE, PairShape
from .packed_files import HEAD, LineStream, is_packed, open_unpacked, unpacking_errors
from .reading import STANDARD_INPUT, nested_too_deeply, source_of, too_large, unreadable

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

FEW: Final = 50_000
"""Maximum number of ids held in memory. So many ids take some 10 MB."""

MAX_LINES_WITHOUT_DOCUMENT: Final = 100_000
"""Maximum number of consecutive lines whose value is not a document, such as `null`. Each of these
lines counts as a failed document. If there are more, reading stops, since a small compressed file
may have billions of them."""

MOST_SKIPPED: Final = 10
"""A line that is too long for a document is skipped if its length is at most this many times the
maximum document size. After an even longer line, reading stops."""

MAX_BLANK_LINES: Final = 1_000_000
"""Maximum number of consecutive blank lines that are skipped, which takes about a second. If there
are more, reading stops, since a small compressed file may have billions of them."""

MAX_COLUMN_STEPS: Final = 64
"""Maximum number of steps in the name of a column. `seller.name` has two steps. Each step makes
another object in every document, so many steps would make large documents of short rows."""

LITTLE: Final = 16_000_000
"""Maximum size of the documents that are held in memory together with their ids, in bytes."""

_MAKE: Final = "CREATE TABLE known (place INTEGER PRIMARY KEY, id BLOB UNIQUE, value BLOB)"
_PUT_FIRST: Final = "INSERT INTO known (id, value) VALUES (?, ?) ON CONFLICT DO NOTHING"
_PUT: Final = (
    "INSERT INTO known (id, value) VALUES (?, ?)"
    " ON CONFLICT (id) DO UPDATE SET value = excluded.value"
)
_CACHE: Final = -16_000  # kilobytes of the database that are held in memory


class ById(Mapping[str, T]):
    """A mapping from id to value, in order of insertion. It moves to disk when it grows."""

    def __init__(self, entries: Iterable[tuple[str, T]] = ()) -> None:
        """Insert entries. If an id is repeated, its last value counts. Values must be picklable."""
        self._few: dict[str, T] = {}
        self._bytes = 0
        self._many: sqlite3.Connection | None = None
        for name, value in entries:
            self.put(name, value)

    def put(self, name: str, value: T) -> None:
        """Set the value of an id, replacing an earlier one."""
        if (table := self._on_disk(value)) is None:
            self._few[name] = value
        else:
            table.execute(_PUT, _entry_of(name, value))

    def first(self, name: str, value: T) -> T:
        """If the id is new, set its value. Return the value that the id now has."""
        if (table := self._on_disk(value)) is None:
            return self._few.setdefault(name, value)
        new = table.execute(_PUT_FIRST, _entry_of(name, value)).rowcount == 1
        return value if new else self[name]

    def __getitem__(self, name: str) -> T:
        """Return the value of an id; raise KeyError if the id is unknown."""
        if self._many is None:
            return self._few[name]
        row = self._many.execute("SELECT value FROM known WHERE id = ?", (_key(name),)).fetchone()
        if row is None:
            raise KeyError(name)
        value: T = pickle.loads(row[0])  # noqa: S301 - of this process
        return value

    def __iter__(self) -> Iterator[str]:
        """Yield the ids in order of insertion."""
        if self._many is None:
            yield from self._few
            return
        for (key,) in self._many.execute("SELECT id FROM known ORDER BY place"):
            yield bytes(key).decode("utf-8", "surrogatepass")

    def __len__(self) -> int:
        """Return the number of ids."""
        if self._many is None:
            return len(self._few)
        # Positions count from 1 without gaps, so the highest one is the number of ids.
        return int(self._many.execute("SELECT coalesce(max(place), 0) FROM known").fetchone()[0])

    def _on_disk(self, value: T) -> "sqlite3.Connection | None":
        """Return the database, or None while all ids and values fit in memory.

        `value` is the value about to be added. If it does not fit in memory, all entries are moved
        to a new database.
        """
        if self._many is None:
            self._bytes += len(getattr(value, "data", None) or b"")
            if len(self._few) < FEW and self._bytes < LITTLE:
                return None
            import sqlite3  # takes 10 ms, which most runs never need

            # Without a name it is a temporary file, which the system removes in any case.
            table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = {_CACHE}"):
                table.execute(f"PRAGMA {setting}")
            table.execute(_MAKE)
            table.execute("BEGIN")
            table.executemany(_PUT, (_entry_of(*entry) for entry in self._few.items()))
            self._many, self._few = table, {}
        return self._many


def _key(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")  # an id in JSON may contain surrogates


def _entry_of(name: str, value: object) -> tuple[bytes, bytes]:
    return _key(name), pickle.dumps(value)


TABLE_SUFFIX: Final = re.compile(r"\.(csv|tsv)(\.gz|\.zst)?\Z", re.IGNORECASE)
_BEFORE: Final = re.compile(r"\ufeff?\s*\[\s*")
_BETWEEN: Final = re.compile(r"\s*(,\s*|(?=\]))")
_DECODER: Final = json.JSONDecoder()
_REASONS: Final = {
    "Expecting value": "no JSON value begins",
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Unterminated string starting at": "no quote ends the string that begins",
    "Invalid control character at": "there is an unescaped control character",
}
"""Maps messages of the JSON decoder to our words, which continue with `at character N`."""

LINES_SUFFIX: Final = re.compile(r"\.(jsonl|ndjson)(\.gz|\.zst)?\Z", re.IGNORECASE)

ONE: Final = {"line": "a different id on each line", "row": "a different id in each row"}
"""If an id is repeated, a message tells the user what is expected instead. Maps `line` and `row`
(of a table) to this part of the message."""


def lines_of(file: str, limit: int) -> Iterator[LineReference | Problem]:
    """Yield a reference to each line that is not blank.

    For a JSON array, yield a reference to each element. For CSV and TSV, yield a reference to each
    row. A line of more than `limit` bytes becomes a problem. If the file is damaged (a truncated
    gzip file, a disk error), the last item is a problem.
    """
    source = source_of(file)
    number = offset = blank_lines = lines_without_document = 0
    try:
        with _open_lines(file) as (stream, again):
            if TABLE_SUFFIX.search(file) or _is_array(file, stream):
                read_rows = _rows if TABLE_SUFFIX.search(file) else _elements
                yield from read_rows(file, stream, limit)
                return
            while data := stream.readline(limit + 1):
                number += 1
                length = len(data)
                if length > limit and not data.endswith(b"\n"):
                    while not data.endswith(b"\n") and (data := stream.readline(limit + 1)):
                        length += len(data)
                        if length > MOST_SKIPPED * (limit + 1):  # a line may be endless
                            finding = (
                                f"this line has more than {length:,} bytes; the rest of the "
                                "file was not read"
                            )
                            yield too_large(source, finding, limit, number)
                            return
                    yield too_large(source, f"the line has {length:,} bytes", limit, number)
                    blank_lines = -1
                elif text := data.rstrip(b" \t\r\n"):
                    # Without its line end, as an error there would belong to the next line.
                    yield LineReference(
                        file=file,
                        line=number,
                        size=len(text),
                        offset=offset if again else None,
                        data=text,
                    )
                    blank_lines = -1  # 0 after this line
                    has_document = b"{" in text or b"[" in text
                    lines_without_document = 0 if has_document else lines_without_document + 1
                blank_lines += 1
                if finding := _describe_missing_documents(blank_lines, lines_without_document):
                    yield Problem(source, finding, "documents", line=number)
                    return
                offset += length
    except unpacking_errors() as error:
        yield unreadable(source, error, number + 1)


def _describe_missing_documents(blank_lines: int, lines_without_document: int) -> str:
    """Return why reading must stop; empty if it can go on.

    Reading must stop if too many consecutive lines are blank, or have no document.
    """
    if blank_lines > MAX_BLANK_LINES:
        return f"there are more than {MAX_BLANK_LINES:,} blank lines in a row"
    if lines_without_document > MAX_LINES_WITHOUT_DOCUMENT:
        return (
            f"there are more than {MAX_LINES_WITHOUT_DOCUMENT:,} lines in a row without a "
            "JSON object"
        )
    return ""


def _is_array(file: str, stream: LineStream) -> bool:
    """Return whether a JSON file contains an array."""
    if LINES_SUFFIX.search(file) or file == STANDARD_INPUT:
        return False
    head: bytes = stream.peek(HEAD) if hasattr(stream, "peek") else b""
    return head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["


def holds_array(file: str) -> bool:
    """Return whether a JSON file is readable and contains an array."""
    with suppress(OSError, *unpacking_errors()), _open_lines(file) as (stream, _):
        return _is_array(file, stream)
    return False


def _elements(file: str, stream: LineStream, limit: int) -> Iterator[LineReference | Problem]:
    """Yield a reference to each element of an array.

    The reference holds the text of its element.
    """
    source, number = source_of(file), 0
    data = stream.read(limit + 1)
    if len(data) > limit:
        yield too_large(source, f"the JSON array has more than {limit:,} bytes", limit)
        return
    text = data.decode("utf-8", "surrogateescape")
    try:
        place = _BEFORE.match(text).end()  # type: ignore[union-attr]  # it begins so
        while not text.startswith("]", place):
            number += 1
            _, end = _DECODER.raw_decode(text, place)
            element = text[place:end].encode("utf-8", "surrogateescape")
            yield LineReference(
                file=file, line=number, size=len(element), offset=None, data=element
            )
            place = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]  # caught
    except RecursionError:
        yield nested_too_deeply(source, number)
    except (AttributeError, ValueError) as error:
        yield Problem(source, f"not valid JSON: {_reason_of_broken_array(error)}", line=number)


def _reason_of_broken_array(error: Exception) -> str:
    """Explain to the user why the elements of an array could not be read."""
    if isinstance(error, AttributeError):  # a pattern did not match between two elements
        return "a comma or the closing bracket of the array is missing"
    if isinstance(error, json.JSONDecodeError):
        reason = _REASONS.get(error.msg, error.msg)
        return f"{reason} at character {error.pos + 1:,} of the file"
    return str(error)


def _rows(file: str, stream: LineStream, limit: int) -> Iterator[LineReference | Problem]:
    """Yield each row of CSV or TSV as a document whose values are texts.

    A column `a.b` becomes the field b of an object a.

    Raises:
        UsageError: the header is not UTF-8, lacks a name, or has names that contradict each other.
    """
    # Imported late: few runs read CSV.
    from .csv_rows import SAVE_AS_UTF_8, CsvError, describe_undecoded, read_csv_rows

    source = source_of(file)
    rows = read_csv_rows(stream, "\t" if "tsv" in file[-8:].lower() else ",", limit)
    number = 0
    try:
        _, names = next(rows, (1, []))
        if not_text := describe_undecoded(names):
            raise UsageError([Problem(source, f"the header has {not_text}", hint=SAVE_AS_UTF_8)])
        paths = _paths_of(names, source)
        for number, (_, cells) in enumerate(rows, 1):
            if not_text := describe_undecoded(cells):
                yield Problem(
                    source=source,
                    found=f"the row has {not_text}",
                    expected="",
                    hint=SAVE_AS_UTF_8,
                    line=number,
                )
                continue
            if len(cells) > len(paths):
                finding = f"the row has {len(cells)} cells"
                expected = f"at most {len(paths)} cells, as in the header row"
                yield Problem(
                    source=source,
                    found=finding,
                    expected=expected,
                    hint="is there a value that contains a comma but has no quotes?",
                    line=number,
                )
                continue
            document = json_line(_nested(paths, cells))[:-1]
            if len(document) > limit:
                yield too_large(source, f"the row has {len(document):,} bytes", limit, number)
            else:
                yield LineReference(
                    file=file, line=number, size=len(document), offset=None, data=document
                )
    except CsvError as error:
        yield error.problem(source, number + 1)


def _nested(paths: Sequence[Sequence[str]], cells: Sequence[str]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    missing_cells = [""] * (len(paths) - len(cells))  # a row may be short
    for (*parents, name), cell in zip(paths, [*cells, *missing_cells], strict=True):
        place = document
        for step in parents:
            place = place.setdefault(step, {})
        place[name] = cell or None
    return document


def _paths_of(names: Sequence[str], source: str) -> list[tuple[str, ...]]:
    """Return the path in documents for each column, such as ("seller", "name") for `seller.name`.

    Raises:
        UsageError: two columns have the same path, one path is inside another (`seller` and
            `seller.name`), a path has too many steps, or a column has no name.
    """
    paths = [_path_of(name) for name in names]
    for column, path in enumerate(paths, 1):
        if len(path) > MAX_COLUMN_STEPS:
            finding = f"the name of column {column} has {len(path):,} parts"
            expected = f"at most {MAX_COLUMN_STEPS} parts; seller.name, for example, has 2"
            raise UsageError([Problem(source, finding, expected, hint="rename the column")])
    column_of_path: dict[tuple[str, ...], int] = {}
    for column, path in enumerate(paths):
        first = column_of_path.setdefault(path, column)
        if first != column:
            raise _conflict(source, names, first, column)
    for column, path in enumerate(paths):
        for length in range(1, len(path)):
            if (outer := column_of_path.get(path[:length])) is not None:
                raise _conflict(source, names, *sorted((outer, column)))
    if "" in names:
        column = names.index("") + 1
        finding = f"column {column} has no name in the header"
        hint = "name the column or delete it"
        if column == 1:
            hint += (
                " (if pandas wrote the file, that column is the index; to_csv(..., index=False) "
                "leaves it out)"
            )
        raise UsageError(
            [Problem(source=source, found=finding, expected="a name for each column", hint=hint)]
        )
    return paths


def _conflict(source: str, names: Sequence[str], first: int, second: int) -> UsageError:
    columns = [f"{brief(names[column])} (column {column + 1})" for column in (first, second)]
    finding = f"the columns {columns[0]} and {columns[1]} both give the same field of the document"
    return UsageError(
        [
            Problem(
                source=source,
                found=finding,
                expected="a different field for each column",
                hint="rename or delete one of the two columns",
            )
        ]
    )


def _path_of(name: str) -> tuple[str, ...]:
    try:
        return tuple(map(str, parse_field_path(name))) or (name,)
    except ValueError:
        return (name,)


def documents_by_id(
    file: str, side: Side, id_field: FieldPath, limit: int, shape: PairShape = ANY_SHAPE
) -> Iterator[tuple[str, Reference]]:
    """Yield (id, reference) for each document of a file that `lines_of` can read.

    A line without an id becomes a problem with a made-up id, such as `gt line 7`.

    If two lines have the same id, the second line becomes a problem. In the ground truth, this
    problem gets a made-up id, so that the first line is used as the document. In the predictions,
    it is not known which of the two lines is meant. The problem therefore has the id of the two
    lines, and takes the place of the first line.
    """
    ids = Ids(source_of(file), side, "line")
    for line in lines_of(file, limit):
        name, problem = ids.assign_id(_id_of(line, id_field, side, shape), line.line or 0)
        reference: Reference = problem or line
        if side == "pred" and isinstance(reference, LineReference) and reference.offset is not None:
            # All lines are held in memory until the last one is read.
            reference = reference._replace(data=None)
        yield name, reference


class Ids:
    """Ids of the documents in a source. A document without an id gets a made-up one."""

    def __init__(self, source: str, side: Side, word: Literal["line", "row"]) -> None:
        self._source, self._side, self._word = source, side, word
        self._number_by_id = ById[int]()

    def assign_id(self, found: str | Problem, number: int) -> tuple[str, Problem | None]:
        """Return (id, None) for a document with a usable id, else (id, problem).

        The problem takes the place of the document. `found` is the id in the document, or the
        problem of reading the id. `number` is the line or row of the document. `documents_by_id`
        explains what happens to a repeated id.
        """
        problem = found if isinstance(found, Problem) else None
        if not isinstance(found, Problem):
            first = self._number_by_id.first(found, number)
            if first == number:
                return found, None
            word = self._word
            twice = f"the id {found!r} is also on {word} {first}"
            problem = Problem(self._source, twice, ONE[word], line=number)
            if self._side == "pred":
                return found, problem
        name = f"{self._side} {self._word} {number}"
        while self._number_by_id.first(name, number) != number:
            name += "'"
        return name, problem


def value_at(value: JsonValue, path: FieldPath) -> JsonValue:
    """Return the value at a path in a document.

    Raises:
        LookupError: the document has no value at this path.
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


def is_stream(file: str) -> bool:
    """Return whether a source can be read only once: standard input, a pipe or a device.

    Regular files under `/dev/`, such as those in `/dev/shm`, can be read again.
    """
    if not file.startswith("/dev/"):
        return file == STANDARD_INPUT
    if file == "/dev/stdin" or file.startswith("/dev/fd/"):  # they may have been read already
        return True
    path = FilePath(file)
    return not (path.is_file() or path.is_dir())


@contextmanager
def _open_lines(file: str) -> Iterator[tuple[LineStream, bool]]:
    """Open a file of lines. Yield (decompressed stream, whether lines can be read again)."""
    # Remotely, reading one line costs as much as reading the file.
    once = is_url(file) or is_stream(file)
    with open_stream(file) as stream:
        # Peeking keeps the bytes, which a pipe would not give twice.
        head = stream.peek(HEAD) if isinstance(stream, io.BufferedReader) else b""
        if is_packed(head):
            with open_unpacked(stream, head) as unpacked_stream:
                yield unpacked_stream, False
        else:
            yield stream, not once


def open_stream(file: str) -> AbstractContextManager[IO[bytes]]:
    """Open a file of lines at its beginning.

    `looking_into` may have read the beginning of a stream in advance. The first stream that
    is opened afterwards yields these bytes again.
    """
    owner, beginning = _LOOKED_INTO.pop(file, (None, None))
    if beginning is not None and owner is sys.stdin:
        return nullcontext(beginning)
    if file == STANDARD_INPUT:
        return nullcontext(sys.stdin.buffer)
    return open_named(file)


_LOOKED_INTO: Final[dict[str, tuple[object, IO[bytes]]]] = {}
"""Files whose beginning was read in advance. Each file is mapped to a pair: the object that was
`sys.stdin` when the file was read, and a stream that yields the beginning again. The next call of
`open_stream` returns this stream, unless `sys.stdin` has been replaced by another object."""


class _Again(io.RawIOBase):
    """A stream whose beginning was already read.

    It yields the beginning again, then what follows.
    """

    def __init__(self, head: bytes, remainder: IO[bytes]) -> None:
        self._head, self._rest = io.BytesIO(head), remainder

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)


@contextmanager
def looking_into(file: str) -> Iterator[None]:
    """Return a context in which readers see only the beginning of a stream.

    Inside the block, a stream can be looked into before it is read. After the block, it can be read
    from its beginning. If `file` is not a stream, nothing changes, because such a file can be read
    twice.

    Raises:
        OSError: the stream cannot be opened.
    """
    if not is_stream(file):
        yield
        return
    _LOOKED_INTO.pop(file, None)
    stream = open_stream(file).__enter__()
    head = stream.read(LITTLE)  # the run will read the rest
    _LOOKED_INTO[file] = sys.stdin, io.BufferedReader(io.BytesIO(head))
    try:
        yield
    finally:
        _LOOKED_INTO[file] = sys.stdin, io.BufferedReader(_Again(head, stream))


def _id_of(
    line: LineReference | Problem, id_field: FieldPath, side: Side, shape: PairShape
) -> str | Problem:
    """Return the id in the document of a line, or the problem of reading it."""
    document = shape.read_container(line, side).value
    if isinstance(document, Problem):
        return document
    if shape.renamings:
        is_truth = side == "gt"
        document = cast("JsonDocument", shape.renamings.edit_all(document, is_truth=is_truth))
    name = field_path(id_field)
    try:
        return id_text(value_at(document, id_field), line.source, line.line, name)
    except LookupError:
        hint = _nearest_ids(name, tuple(_ids_in(document)))
        return Problem(
            source=line.source,
            found=f"the document has no field {brief(name)}",
            expected="a field with the id of the document",
            hint=hint,
            line=line.line,
        )


def _ids_in(document: JsonValue, parent: FieldPath = ()) -> Iterator[str]:
    """Yield the paths of fields that may contain ids, at most two objects deep."""
    for key, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield field_path((*parent, key))
        elif not parent:
            yield from _ids_in(value, (key,))


@lru_cache  # documents of a source mostly have the same fields
def _nearest_ids(name: str, fields: tuple[str, ...]) -> str:
    near = nearest_choices(name, fields, 3, at_least=0)
    return (
        (
            "with --id-field, give a field that identifies each document; this document has "
            f"the fields {', '.join(near)}"
        )
        if near
        else ""
    )


ID_EXPECTED: Final = "a string or an integer"


def id_text(
    value: JsonValue | bytes | Problem, source: str, line: int | None, name: str = "the id"
) -> str | Problem:
    """Return the text of a value that is used as an id; a problem if the value cannot be an id."""
    if isinstance(value, Problem):
        return value
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    kind = "binary" if isinstance(value, bytes) else kind_of(value)
    return Problem(source, f"{name} is of type {kind}", ID_EXPECTED, line=line)
