"""Rows in files: CSV, TSV, JSON Lines or Parquet, as the suffix of a file says.

Figures of fields, documents and errors are written here; no cell is taken for a formula.
"""

import csv
import io
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO, Final, NamedTuple, Protocol, TypeAlias

from stickler_cli.core.figures import visible
from stickler_cli.core.json_values import JsonObject, JsonValue, json_line
from stickler_cli.core.problems import Problem, UsageError, import_pyarrow, require_pyarrow

SUFFIXES: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
"""Suffix of a file -> the format of its rows."""

TYPED: Final = ("parquet", "arrow")  # these need pyarrow, and have types

ROW_GROUP: Final = 10_000
"""Rows that Parquet keeps together, and that wait in memory until then."""

ColumnTypes: TypeAlias = Mapping[str, type]
"""Header -> type of its cells: str, int, float or bool; object for any JSON value."""

CellValues: TypeAlias = Sequence[JsonValue]

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠﹦﹢﹣﹫]")  # noqa: RUF001 - other widths of these too
"""Start of a cell that a spreadsheet may run as a formula. Source: OWASP, CSV Injection."""
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that reverse the text after them, which disguises a value. Source: UAX 9, 2."""


class RowFile(Protocol):
    """A file that rows are added to."""

    def add(self, rows: Iterable[CellValues]) -> None:
        """Write some rows."""

    def note(self, key: str, text: Callable[[], bytes]) -> None:
        """Say something of all rows, where the format has a place for that."""
        return

    def close(self) -> None:
        """Write what is still to be written; the stream stays open."""
        return


class _Delimited(RowFile):
    def __init__(
        self,
        stream: BinaryIO,
        columns: ColumnTypes,
        delimiter: str = ",",
        *,
        in_log: bool = False,
    ) -> None:
        self._stream, self._delimiter, self._in_log = stream, delimiter, in_log
        self.add([[*columns]])

    def add(self, rows: Iterable[CellValues]) -> None:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self._delimiter, lineterminator="\n")
        cell = _cell_in_log if self._in_log else _cell
        writer.writerows([cell(value) for value in row] for row in rows)
        self._stream.write(text.getvalue().encode())


class _JsonLines(RowFile):
    def __init__(self, stream: BinaryIO, columns: ColumnTypes) -> None:
        self._stream, self._names = stream, [*columns]

    def add(self, rows: Iterable[CellValues]) -> None:
        for row in rows:
            self._stream.write(json_line(dict(zip(self._names, row, strict=True))))


class _Groups(RowFile):
    """Rows with types, written so many at a time: `ROW_GROUP`."""

    def __init__(self, stream: BinaryIO, columns: ColumnTypes) -> None:
        self._arrow = pa = import_pyarrow()
        group_by_column = {
            str: pa.string(),
            int: pa.int64(),
            float: pa.float64(),
            bool: pa.bool_(),
            object: pa.string(),
        }
        self._columns, self._rows = columns, list[CellValues]()
        self._schema = pa.schema([(name, group_by_column[kind]) for name, kind in columns.items()])
        self._file = self._open(stream)

    @abstractmethod
    def _open(self, stream: BinaryIO) -> Any:
        """Return what takes tables of the schema, and is closed."""

    def add(self, rows: Iterable[CellValues]) -> None:
        for row in rows:
            self._rows.append(row)
            if len(self._rows) == ROW_GROUP:
                self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._file.close()

    def _flush(self) -> None:
        pa = self._arrow
        cells = list(zip(*self._rows, strict=True))
        arrays = [
            pa.array([_typed(value, kind) for value in column], type=field.type)
            for column, kind, field in zip(cells, self._columns.values(), self._schema, strict=True)
        ]
        self._file.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self._rows = []


class _Parquet(_Groups):
    def _open(self, stream: BinaryIO) -> Any:
        parquet = import_pyarrow(module="pyarrow.parquet")
        return parquet.ParquetWriter(stream, self._schema)

    def note(self, key: str, text: Callable[[], bytes]) -> None:
        self._file.add_key_value_metadata({key: text()})


class _Arrow(_Groups):
    def _open(self, stream: BinaryIO) -> Any:
        return self._arrow.ipc.new_file(stream, self._schema)


_KINDS: Final[Mapping[str, Callable[[BinaryIO, ColumnTypes], RowFile]]] = {
    "csv": _Delimited,
    "tsv": partial(_Delimited, delimiter="\t"),
    "jsonl": _JsonLines,
    "parquet": _Parquet,
    "arrow": _Arrow,
}


_IN_LOG: Final[Mapping[str, Callable[[BinaryIO, ColumnTypes], RowFile]]] = {
    "csv": partial(_Delimited, in_log=True),
    "tsv": partial(_Delimited, delimiter="\t", in_log=True),
}


def _open_rows(
    stream: BinaryIO, format_name: str, columns: ColumnTypes, *, in_log: bool = False
) -> RowFile:
    """Open a file of rows; in a log, text of cells is escaped as everywhere on a terminal."""
    kinds = {**_KINDS, **_IN_LOG} if in_log else _KINDS
    return kinds[format_name](stream, columns)


def row_bytes(
    format_name: str, columns: ColumnTypes, rows: Iterable[CellValues], *, in_log: bool = False
) -> bytes:
    """Return rows as the whole of a file."""
    stream = io.BytesIO()
    file = _open_rows(stream, format_name, columns, in_log=in_log)
    file.add(rows)
    file.close()
    return stream.getvalue()


def format_of_lines(option: str, file: str) -> str:
    """Return the format of a file of rows; one without a suffix, as a pipe, gets JSON Lines.

    Raises:
        UsageError: its suffix is that of no such file.
        UnavailableError: it needs something that is not installed.
    """
    suffix = PurePath(file).suffix
    name = SUFFIXES.get(suffix.lower(), "") if suffix else "jsonl"
    if not name:
        expected = f"one that ends in {', '.join(SUFFIXES)}"
        raise UsageError([Problem(option, f"the file is {file}", expected)])
    if name in TYPED:
        require_pyarrow(name.title())
    return name


def _single_row(line: JsonObject) -> Iterable[JsonObject]:
    return (line,)


class LineTable(NamedTuple):
    """How lines of JSON become rows."""

    columns: ColumnTypes
    rows: Callable[[JsonObject], Iterable[JsonObject]] = _single_row
    """The rows of a line, by the names of columns; a name that is not there is an empty cell."""


class TakesLines(Protocol):
    """Something that lines of JSON are written to."""

    def write(self, lines: bytes, /) -> object:
        """Write whole lines."""


class LinesFile(TakesLines, Protocol):
    """A file of lines with metadata."""

    def note(self, key: str, text: Callable[[], bytes]) -> None:
        """Say something of all lines, where the format has a place for that."""


@contextmanager
def lines_as_rows(
    stream: BinaryIO,
    format_name: str,
    table: Callable[[], LineTable],
    *,
    in_log: bool = False,
) -> Iterator[LinesFile]:
    """Yield what takes lines of JSON, and writes them to a stream as rows of a table."""
    if format_name == "jsonl":
        yield _LineWriter(stream)
        return
    of_lines = table()
    file = _open_rows(stream, format_name, of_lines.columns, in_log=in_log)
    yield _Rows(file, of_lines)
    file.close()


class _LineWriter:
    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write  # as they are

    def note(self, key: str, text: Callable[[], bytes]) -> None:
        pass


class _Rows:
    def __init__(self, file: RowFile, table: LineTable) -> None:
        self._file, self._rows = file, table.rows
        self._names = [*table.columns]
        self.note = file.note

    def write(self, lines: bytes, /) -> None:
        # Not orjson, which makes floats of large integers.
        rows = (row for line in lines.splitlines() for row in self._rows(json.loads(line)))
        self._file.add([*map(row.get, self._names)] for row in rows)


def _cell(value: JsonValue) -> JsonValue:
    """Return a value as CSV has it: text that looks like a formula stands behind an apostrophe.

    What turns text around is spelt out.
    """
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        return _straight(harmless(json.dumps(value, ensure_ascii=False)))
    text = _straight(harmless(value))
    return f"'{text}" if _FORMULA.match(text) else text


def _cell_in_log(value: JsonValue) -> JsonValue:
    """Return a value as CSV has it, without control characters and commands of CI jobs."""
    cell = _cell(visible(value) if isinstance(value, str) else value)
    return visible(cell) if isinstance(cell, str) else cell


def _straight(text: str) -> str:
    return _TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _typed(value: JsonValue, kind: type) -> JsonValue:
    """Return a value as a column of a type has it: of any JSON, as JSON text."""
    if value is None:
        return None
    if kind is object:
        return harmless(json.dumps(value, ensure_ascii=False))
    if kind is float and isinstance(value, int | float):
        return float(value)
    return harmless(value) if isinstance(value, str) else value


def harmless(text: str) -> str:
    """Return text without lone surrogates, which no data frame and no file holds."""
    return text.encode("utf-8", "backslashreplace").decode()
