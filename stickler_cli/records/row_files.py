"""Write rows to files. The suffix decides between CSV, TSV, JSON Lines, Parquet and Arrow.

Figures of fields, documents and errors are written here. Cells are written so that no spreadsheet
runs one as a formula.
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
"""The format that each suffix of a file stands for."""

TYPED: Final = ("parquet", "arrow")  # formats that have types and need pyarrow

ROW_GROUP: Final = 10_000
"""Number of rows that are collected in memory before they are written together."""

ColumnTypes: TypeAlias = Mapping[str, type]
"""For each column, the type of its cells: str, int, float, bool, or object for any JSON value."""

CellValues: TypeAlias = Sequence[JsonValue]

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠﹦﹢﹣﹫]")  # noqa: RUF001 - other widths of these too
"""Pattern of the first character of a cell that a spreadsheet could run as a formula. Source:
OWASP, CSV Injection."""
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Pattern of characters that reverse the text after them, and so can disguise a value. Source: UAX
9, 2."""


class RowFile(Protocol):
    """A file of rows that is open for writing."""

    def add(self, rows: Iterable[CellValues]) -> None:
        """Add rows to the file."""

    def note(self, key: str, text: Callable[[], bytes]) -> None:
        """Add metadata to the file. `text` is called only if the format has metadata."""
        return

    def close(self) -> None:
        """Write the remaining rows; the stream itself is not closed."""
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
    """A file with typed columns. Rows are written in groups of `ROW_GROUP`."""

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
        """Return the pyarrow object that writes tables to the stream."""

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
    """Open a file of rows. If `in_log` is true, texts are escaped as on a terminal."""
    kinds = {**_KINDS, **_IN_LOG} if in_log else _KINDS
    return kinds[format_name](stream, columns)


def row_bytes(
    format_name: str, columns: ColumnTypes, rows: Iterable[CellValues], *, in_log: bool = False
) -> bytes:
    """Return a complete file of rows as bytes."""
    stream = io.BytesIO()
    file = _open_rows(stream, format_name, columns, in_log=in_log)
    file.add(rows)
    file.close()
    return stream.getvalue()


def format_of_lines(option: str, file: str) -> str:
    """Return the format of a file of rows, by its suffix.

    A file without a suffix, such as a pipe, is JSON Lines.

    Raises:
        UsageError: the suffix is unknown.
        UnavailableError: the format needs a package that is missing.
    """
    suffix = PurePath(file).suffix
    name = SUFFIXES.get(suffix.lower(), "") if suffix else "jsonl"
    if not name:
        expected = f"one that ends in {', '.join(SUFFIXES)}"
        raise UsageError([Problem(option, f"the file name is {file}", expected)])
    if name in TYPED:
        require_pyarrow(name.title())
    return name


def _single_row(line: JsonObject) -> Iterable[JsonObject]:
    return (line,)


class LineTable(NamedTuple):
    """The columns of a table, and how a line of JSON is turned into its rows."""

    columns: ColumnTypes
    rows: Callable[[JsonObject], Iterable[JsonObject]] = _single_row
    """A function that returns the rows for a line, as objects. If an object lacks the key of a
    column, the cell is empty."""


class TakesLines(Protocol):
    """Something to which lines of JSON can be written."""

    def write(self, lines: bytes, /) -> object:
        """Write complete lines."""


class LinesFile(TakesLines, Protocol):
    """Something to which lines of JSON and metadata can be written."""

    def note(self, key: str, text: Callable[[], bytes]) -> None:
        """Add metadata. `text` is called only if the format has metadata."""


@contextmanager
def lines_as_rows(
    stream: BinaryIO,
    format_name: str,
    table: Callable[[], LineTable],
    *,
    in_log: bool = False,
) -> Iterator[LinesFile]:
    """Open a stream for lines of JSON. The lines become rows of a table."""
    if format_name == "jsonl":
        yield _LineWriter(stream)
        return
    of_lines = table()
    file = _open_rows(stream, format_name, of_lines.columns, in_log=in_log)
    yield _Rows(file, of_lines)
    file.close()


class _LineWriter:
    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write  # unchanged

    def note(self, key: str, text: Callable[[], bytes]) -> None:
        pass


class _Rows:
    def __init__(self, file: RowFile, table: LineTable) -> None:
        self._file, self._rows = file, table.rows
        self._names = [*table.columns]
        self.note = file.note

    def write(self, lines: bytes, /) -> None:
        # orjson would turn large integers into floats.
        rows = (row for line in lines.splitlines() for row in self._rows(json.loads(line)))
        self._file.add([*map(row.get, self._names)] for row in rows)


def _cell(value: JsonValue) -> JsonValue:
    """Return the content of a CSV cell for a value. No spreadsheet runs it as a formula.

    A text that looks like a formula gets a leading apostrophe. Characters that reverse the text
    after them become escapes.
    """
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        return _straight(harmless(json.dumps(value, ensure_ascii=False)))
    text = _straight(harmless(value))
    return f"'{text}" if _FORMULA.match(text) else text


def _cell_in_log(value: JsonValue) -> JsonValue:
    """Return the content of a CSV cell in a log. Control characters and CI commands are escaped."""
    cell = _cell(visible(value) if isinstance(value, str) else value)
    return visible(cell) if isinstance(cell, str) else cell


def _straight(text: str) -> str:
    return _TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _typed(value: JsonValue, kind: type) -> JsonValue:
    """Convert a value for a column of type `kind`. It becomes JSON text if the type is `object`."""
    if value is None:
        return None
    if kind is object:
        return harmless(json.dumps(value, ensure_ascii=False))
    if kind is float and isinstance(value, int | float):
        return float(value)
    return harmless(value) if isinstance(value, str) else value


def harmless(text: str) -> str:
    """Replace lone surrogates in a text, because data frames and files cannot contain them."""
    return text.encode("utf-8", "backslashreplace").decode()
