"""Read rows of CSV and TSV strictly, so that an unclosed quote does not swallow the next rows."""

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from typing import Final

from stickler_cli.core.problems import Problem
from .packed_files import LineStream

SAVE_AS_UTF_8: Final = "save the file as UTF-8 (in Excel: CSV UTF-8)"
_UNDECODED: Final = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8
_UTF_16_MARKS: Final = ("\udcff\udcfe", "\udcfe\udcff")
MAX_C_LONG: Final = 2**31 - 1  # the largest cell size that Python accepts on every system


class CsvError(Exception):
    """A row is not valid CSV. The text after it cannot be read."""

    def __init__(self, finding: str, expected: str, hint: str, line: int) -> None:
        super().__init__(finding)
        self._finding, self._expected, self._hint = finding, expected, hint
        self.line = line
        """Number of the line with the error, from 1."""

    def problem(self, source: str, line: int) -> Problem:
        """Return this error as a problem at a line, from 1, of the file `source`."""
        return Problem(
            source=source, found=self._finding, expected=self._expected, hint=self._hint, line=line
        )


def describe_undecoded(cells: Sequence[str]) -> str:
    """Describe the first byte in the cells that is not UTF-8; empty if all bytes are UTF-8."""
    if all(map(str.isascii, cells)):
        return ""
    if cells[0].startswith(_UTF_16_MARKS):
        return "text that is encoded as UTF-16, not UTF-8"
    for number, cell in enumerate(cells, 1):
        if match := _UNDECODED.search(cell):
            byte = ord(match[0]) - 0xDC00  # as Python's surrogateescape encodes it
            return f"the byte 0x{byte:02x} in column {number}, which is not UTF-8"
    return ""


def read_csv_rows(
    stream: LineStream, delimiter: str, max_bytes: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) for each row that is not blank. `line` is the row's last line, from 1.

    A row may have at most `max_bytes`. Bytes that are not UTF-8 become surrogates.

    Raises:
        CsvError: a quote is not closed, text follows a closing quote, or a row is too long.
    """
    # Python has one cell limit for all readers; its default of 131,072 characters is too small.
    csv.field_size_limit(max(csv.field_size_limit(), min(max_bytes, MAX_C_LONG)))
    lines = _Lines(stream, max_bytes)
    try:
        for cells in csv.reader(lines, delimiter=delimiter, strict=True):
            lines.of_row.clear()
            if cells:
                yield lines.n_read, cells
    except csv.Error as error:
        raise _csv_error(lines, delimiter, str(error)) from None


class _Lines:
    """An iterator over the lines of a stream.

    It keeps the lines of the current row for messages.
    """

    def __init__(self, stream: LineStream, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._row_bytes = 0
        self.n_read = 0
        self.of_row: list[str] = []
        self.row_is_cut = False
        """Whether only the first part of the current row has been read."""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        max_line_bytes = self._max_bytes + len(b"\r\n")
        # Do not read a line further than the limit: it may be endless.
        line = self._stream.readline(max_line_bytes + 1)
        if not line:
            raise StopIteration
        self._row_bytes = len(line) + (self._row_bytes if self.of_row else 0)
        self.row_is_cut = self._row_bytes > max_line_bytes
        if self.n_read == 0:
            # A byte order mark is not part of the first name, and must not precede its quotes.
            line = line.removeprefix(codecs.BOM_UTF8)
        self.n_read += 1
        self.of_row.append(line.decode("utf-8", "surrogateescape"))
        if self.row_is_cut:
            raise csv.Error(f"the row has more than {self._max_bytes:,} bytes")
        return self.of_row[-1]


def _csv_error(lines: _Lines, delimiter: str, reason: str) -> CsvError:
    """Return the error for the current row, with the line and the reason."""
    row, first_line = "".join(lines.of_row), max(1, lines.n_read - len(lines.of_row) + 1)
    quote = _find_wrong_quote(row, delimiter)
    if quote is None:
        return CsvError(
            finding=f"this file cannot be read as CSV: {reason}",
            expected="",
            hint="",
            line=first_line,
        )
    start, end = quote
    line = first_line + row.count("\n", 0, start)
    cell = f"the quoted cell that begins on line {line} of the file"
    hint = "inside a quoted cell, write each quote twice"
    if lines.row_is_cut:
        return CsvError(
            finding=f"{reason}, and {cell} is never closed",
            expected="",
            hint=hint,
            line=line,
        )
    if end < 0:
        return CsvError(
            finding=f"{cell} has no closing quote",
            expected="a quote that closes the cell",
            hint=hint,
            line=line,
        )
    end_line = first_line + row.count("\n", 0, end)
    finding = f"{cell} ends on line {end_line}, but text follows its closing quote"
    return CsvError(
        finding=finding,
        expected="a comma or a line break after that quote",
        hint=hint,
        line=line,
    )


def _find_wrong_quote(row: str, delimiter: str) -> tuple[int, int] | None:
    """Find the first quoted cell of a row that is invalid; return None if all cells are valid.

    The result is (start of the cell, position of its closing quote). The second position is -1 if
    no quote closes the cell.
    """
    start = 0
    while start < len(row):
        end = start
        if row[start] == '"':
            end = row.find('"', start + 1)
            while end >= 0 and row[end + 1 : end + 2] == '"':
                end = row.find('"', end + 2)
            if end < 0 or row[end + 1 : end + 2] not in ("", "\r", "\n", delimiter):
                return start, end
        cell_end = row.find(delimiter, end)
        line_end = row.find("\n", end)
        ends = [place for place in (cell_end, line_end) if place >= 0]
        start = min(ends) + 1 if ends else len(row)
    return None
