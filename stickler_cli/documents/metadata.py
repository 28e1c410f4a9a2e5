"""Metadata of documents: a table with a row for each id."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from .reading import decoded, parse_document, read_bytes
from .sources import LINES_SUFFIX

ID: Final = "id"

MAX_METADATA_BYTES: Final = 1_000_000_000  # unpacked: some ten million rows
_Row: TypeAlias = tuple[int, Mapping[str, JsonValue]]  # the line of a row, and its cells by column

_CSV: Final = re.compile(r"\.csv(\.gz)?\Z", re.IGNORECASE)


def text_of(value: JsonValue) -> str | None:
    """Return a single value as text; None for nothing, and for a list or an object.

    >>> text_of("a"), text_of(True), text_of(2.5), text_of([1]), text_of(None)
    ('a', 'true', '2.5', None, None)
    """
    if isinstance(value, str):
        return value
    return None if value is None or isinstance(value, list | dict) else json.dumps(value)


def read_columns(
    file: str, columns: Sequence[str], limit: int = MAX_METADATA_BYTES
) -> dict[str, dict[str, str]]:
    """Return some columns of a metadata file: by column, the value of each id that has one.

    It is CSV with a header, or JSON Lines with an object on each line; either gzipped or not.

    Raises:
        UsageError: the file cannot be read, has no ids or no such column, or an id twice.
    """
    source = decoded(file)
    if not _CSV.search(file) and not LINES_SUFFIX.search(file):
        expected = "a .csv, .jsonl or .ndjson file (each also .gz)"
        raise UsageError([Problem(source, "the name tells no kind of table", expected)])
    data = read_bytes(file, limit)
    if isinstance(data, Problem):
        raise UsageError([data])
    rows = _csv_rows(data, source) if _CSV.search(file) else _json_rows(data, source)
    found: dict[str, dict[str, str]] = {column: {} for column in columns}
    lines: dict[str, int] = {}
    names: dict[str, None] = {}
    for line, cells in rows:
        names.update(dict.fromkeys(cells))
        document = text_of(cells.get(ID))
        if document is None:
            hint = did_you_mean(ID, cells) or f"columns: {', '.join(cells)}"
            raise UsageError([Problem(source, f"there is no {ID}", "one", hint, line=line)])
        if document in lines:
            found_twice = f"the id {document!r} is also on line {lines[document]}"
            raise UsageError([Problem(source, found_twice, "one row for each id", line=line)])
        lines[document] = line
        for column, values in found.items():
            if value := text_of(cells.get(column)):
                values[document] = value
    problems = [
        Problem(source, f"there is no column {column}", f"one of {', '.join(names)}")
        for column in columns
        if column not in names
    ]
    if problems:
        raise UsageError(problems)
    return found


def _csv_rows(data: bytes, source: str) -> Iterator[_Row]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        found = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise UsageError([Problem(source, found, line=line)]) from None
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for cells in reader:
            cells.pop(None, None)  # of a row that is longer than the header
            yield reader.line_num, cells
    except csv.Error as error:
        found = f"it is not CSV ({error})"
        raise UsageError([Problem(source, found, line=reader.reader.line_num)]) from None


def _json_rows(data: bytes, source: str) -> Iterator[_Row]:
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            row: Any = parse_document(line, source, number)
            if isinstance(row, Problem):
                raise UsageError([row])
            yield number, row
