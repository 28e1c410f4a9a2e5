"""Tables with documents in cells (Parquet, Arrow, JSON Lines of pairs), and tables of metadata.

A cell contains JSON text, or a struct, list or map, which is converted to JSON. A row has an id if
the table has a column of ids. Messages about problems give the number of the row.
"""

import datetime as dt
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import numpy as np
import orjson

from stickler_cli.core.figures import join_some
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import json_pointer
from stickler_cli.core.problems import Problem, UsageError, did_you_mean, import_pyarrow
from stickler_cli.core.remote import is_url, open_url
from .decoded_sizes import decoded_sizes, is_text
from .document import LineReference, Reference, Side, read_plain
from .lines import LINES_SUFFIX, TABLE_SUFFIX, Ids, id_text, lines_of, looking_into
from .packed_files import MANY_DOCUMENTS, ONE_DOCUMENT, count_values
from .reading import (
    MAX_UNPACKED_RATIO,
    decoded,
    parse_document,
    parse_json,
    positions,
    read_bytes,
    too_large,
    unreadable,
)
from .roots import Steps, find_at, parse_root
from .table_columns import (
    ID,
    USUAL_COLUMNS,
    LineColumns,
    TableColumns,
    choose_id_column,
    side_column,
    stated_column,
)

MAX_BROKEN_ROWS: Final = 100  # rows that may precede the one that tells the columns
ROWS: Final = 1_000  # rows that are in memory together
MAX_DECODED_BYTES: Final = 64_000_000  # bytes of cells that are converted to Python values together
BYTES_OF_VALUE: Final = 8  # minimum size of a value in a list after conversion
# Decompressed size of a row group up to which it is never refused.
MAX_GROUP_BYTES: Final = 200_000_000


_Cell: TypeAlias = JsonValue | bytes | Problem


class TableRow(NamedTuple):
    """A row of a table: its id, and the documents of the requested sides."""

    number: int
    """Number of the row, from 1."""
    id: str | Problem | None
    """Id of the row; None if the table has no ids, or a problem if the value cannot be an id."""
    documents: tuple[Reference | None, ...]


def is_arrow_table(file: str) -> bool:
    """Return whether a file name ends like a Parquet or Arrow file."""
    return file.lower().endswith((".parquet", ".arrow"))


def _is_parquet(file: str) -> bool:
    return file.lower().endswith(".parquet")


def count_rows(file: str) -> int | None:
    """Return the number of rows of a Parquet file; None for other files.

    Raises:
        UsageError: the file is not valid Parquet.
    """
    if not _is_parquet(file):
        return None
    with _open_table(file) as table:
        return int(table.metadata.num_rows)


def rows_of(
    file: str, sides: Sequence[Side], limit: int, columns: TableColumns = USUAL_COLUMNS
) -> Iterator[TableRow]:
    """Yield the rows of a table, with the documents of the given sides.

    A document of more than `limit` bytes becomes a problem. If the file is damaged, the last row is
    a problem, too. Rows have no ids if the user names no id column and the table has no column
    `id`.

    Raises:
        UsageError: the file is not a table, or lacks a column.
    """
    rows = _arrow_rows if is_arrow_table(file) else _line_rows
    source = decoded(file)
    for number, name, cells in rows(file, sides, limit, columns):
        documents = tuple(_reference_to(file, number, cell, limit) for cell in cells)
        if is_arrow_table(file):
            documents = _refuse_overfull(documents, source, number)
        yield TableRow(number, name if name is None else id_text(name, source, number), documents)


def documents_of_table(
    file: str, side: Side, limit: int, columns: TableColumns = USUAL_COLUMNS
) -> Iterator[tuple[str, Reference]]:
    """Yield (id, reference) for each document of one side of a table.

    Raises:
        UsageError: the file is not a table, or lacks a column.
    """
    ids = Ids(decoded(file), side, "row")
    for row in rows_of(file, (side,), limit, columns._replace(id=columns.id or ID)):
        (document,) = row.documents
        if document is not None and row.id is not None:
            name, problem = ids.assign_id(row.id, row.number)
            yield name, problem or document


def column_names(file: str, limit: int) -> list[str]:
    """Return the names of a table's columns.

    For a file of lines, these are the keys of its first row.

    Raises:
        UsageError: the file is not a table.
    """
    if is_arrow_table(file):
        with _open_table(file) as table:
            return [*(table.schema_arrow if _is_parquet(file) else table.schema).names]
    with looking_into(file):
        for line in islice(lines_of(file, limit), MAX_BROKEN_ROWS):
            cells = line if isinstance(line, Problem) else _cells_of(line)
            if isinstance(cells, dict):
                return [*cells]
    return []


def _reference_to(file: str, number: int, cell: _Cell, limit: int) -> Reference | None:
    """Return a reference that holds the content of a cell as JSON text; None for an empty cell.

    If the cell could not be read, it is a `Problem`, which is returned unchanged. If the cell
    cannot be converted to JSON, or its text has more than `limit` bytes, return a new `Problem`.
    """
    if cell is None or isinstance(cell, Problem):
        return cell
    try:
        if isinstance(cell, bytes):
            data = cell
        elif isinstance(cell, str):
            data = cell.encode()
        else:
            # orjson would write null for NaN, which is not JSON; reading the text must report it.
            data = json.dumps(cell, ensure_ascii=False, default=_as_json).encode()
    except (TypeError, ValueError) as error:
        return Problem(
            decoded(file), f"this value cannot be converted to JSON: {error}", line=number
        )
    if len(data) > limit:
        return too_large(decoded(file), f"the document has {len(data):,} bytes", limit, number)
    return LineReference(file=file, line=number, size=len(data), offset=None, data=data)


def _refuse_overfull(
    documents: tuple[Reference | None, ...], source: str, number: int
) -> tuple[Reference | None, ...]:
    """Return the documents of a row. If they have too many values, return problems in their place.

    The values of all documents of the row are counted together. The maximum is
    `ONE_DOCUMENT.minimum`.
    """
    texts = [document.data or b"" for document in documents if isinstance(document, LineReference)]
    n_values = sum(map(count_values, texts))
    if n_values <= ONE_DOCUMENT.minimum:
        return documents
    problem = Problem(
        source=source,
        found=f"the documents of this row have about {n_values:,} values",
        expected=f"at most {ONE_DOCUMENT.minimum:,} in a row",
        hint="if you trust them, put them into JSON files",
        line=number,
    )
    return tuple(problem if isinstance(doc, LineReference) else doc for doc in documents)


def _as_json(value: object) -> object:
    match value:
        case Decimal() if value == value.to_integral_value():
            return int(value)
        case Decimal():
            return float(value)  # as parsing its digits as JSON would give
        case dt.date() | dt.time():  # a datetime is a date too
            return value.isoformat()
        case _:
            raise TypeError(f"a value is of type {type(value).__name__}")


def _line_rows(
    file: str, sides: Sequence[Side], limit: int, columns: TableColumns
) -> Iterator[tuple[int, _Cell, list[_Cell]]]:
    """Yield (row number, id, documents of the sides) for each line. Each line is a JSON object."""
    chosen_columns = LineColumns(sides, columns, has_header=bool(TABLE_SUFFIX.search(file)))
    for line in lines_of(file, limit):
        number = line.line or 0
        cells = line if isinstance(line, Problem) else _cells_of(line)
        if isinstance(cells, dict):
            cells = chosen_columns.check_row(cells, line) or cells
        if isinstance(cells, Problem):
            yield number, None, [cells for _ in sides]
            continue
        name: _Cell = cells.get(columns.id or ID)
        if name is None and columns.id is not None:
            name = Problem(
                line.source,
                f"the row has no {columns.id}",
                "an id in every row of the file",
                line=number,
            )
        name = name.decode() if isinstance(name, bytes) else name
        yield number, name, [_cell_of_side(cells, side, line, chosen_columns) for side in sides]


def _cell_of_side(
    cells: Mapping[str, _Cell], side: Side, line: Reference, columns: LineColumns
) -> _Cell:
    """Return the document of a side in a row; None if the row has no document of this side.

    The column of the side may be a dotted path, such as `result.invoice`.
    """
    column = columns.column_of(side)
    if column is None:
        return None
    if column in cells:
        return cells[column]
    first, *steps = parse_root(column)
    cell = cells.get(first)
    if cell is None or isinstance(cell, Problem):
        return cell
    return _find_in_cell(cell, tuple(steps), f"--{side}-column {column}", line)


def _find_in_cell(cell: _Cell, steps: Steps, option: str, line: Reference) -> _Cell:
    """Return the value at a path inside a cell; a problem if there is no such value.

    `steps` are the keys and list indexes of the path. `option` is named in messages.
    """
    value: Any = cell
    if isinstance(cell, bytes | str):
        data = cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else cell
        value = parse_json(data, line.source, line.line)
    if isinstance(value, Problem):
        return value
    return find_at(value, steps, option, line)


def _cells_of(line: LineReference) -> dict[str, _Cell] | Problem:
    """Return the object in a line as a dict. Objects and lists inside it stay JSON texts."""
    data = line.data or b""
    plain = read_plain(data)
    value = plain.value if plain else parse_document(data, line.source, line.line)
    if not isinstance(value, dict):
        return value if isinstance(value, Problem) else {}
    inner = {key: child for key, child in value.items() if isinstance(child, dict | list)}
    if plain:
        return {**value, **{key: orjson.dumps(child) for key, child in inner.items()}}
    texts = {position.pointer: data[position.start : position.end] for position in positions(data)}
    return {**value, **{key: texts[json_pointer((key,))] for key in inner}}


def _arrow_rows(
    file: str, sides: Sequence[Side], limit: int, columns: TableColumns
) -> Iterator[tuple[int, _Cell, list[_Cell]]]:
    """Yield (row number, id, documents of the sides) for each row of a Parquet or Arrow file."""
    number, source = 0, decoded(file)
    with _open_table(file) as table:
        is_parquet = _is_parquet(file)
        names: list[str] = (table.schema_arrow if is_parquet else table.schema).names
        ids = choose_id_column(names, columns.id, source, needed=columns.id is not None)
        columns_and_steps = [
            stated_column(names, side, columns, source)
            or (side_column(names, side, ids, source, is_only_side=len(sides) == 1), ())
            for side in sides
        ]
        chosen = [name for name, _ in columns_and_steps]
        needed_columns = [*([] if ids is None else [ids]), *dict.fromkeys(chosen)]
        if twice := [name for name in needed_columns if names.count(name) > 1]:
            raise UsageError(
                [Problem(source, f"several columns are named {brief(twice[0])}", "different names")]
            )
        batches = (
            _parquet_batches(table, needed_columns) if is_parquet else _arrow_batches(table, file)
        )
        try:
            for batch in _bounded_slices(batches, needed_columns, _count_bytes(file)):
                documents = [_cells(batch.column(name), name, source) for name in chosen]
                named = (
                    [None] * batch.num_rows if ids is None else _python_values(batch.column(ids))
                )
                for name, *cells in zip(named, *documents, strict=True):
                    number += 1
                    if name is None and ids is not None:
                        name = Problem("", "the row has no id", "an id in every row of the file")  # noqa: PLW2901
                    placed = [
                        replace(cell, source=source, line=number)
                        if isinstance(cell, Problem)
                        else cell
                        for cell in (name, *cells)
                    ]
                    inner_cells = [
                        _inner_cell(cell, steps, Problem(source, column, line=number))
                        if steps
                        else cell
                        for cell, (column, steps) in zip(placed[1:], columns_and_steps, strict=True)
                    ]
                    yield number, placed[0], inner_cells
        except (OSError, import_pyarrow().ArrowException) as error:
            problem = _broken_row(source, error, number + 1)
            yield number + 1, problem if ids else None, [problem for _ in sides]


def _broken_row(source: str, error: Exception, line: int) -> Problem:
    """Return the problem of a row of a table that an error made unreadable."""
    problem = unreadable(source, error, line)
    is_from_system = isinstance(error, OSError) and error.strerror
    if is_from_system or is_url(source):  # the file may be whole
        return problem
    # The reasons of pyarrow speak of the inner structure of the file.
    reason, _, _ = str(error).strip().partition("\n")
    finding = f"this row and the rows after it cannot be read ({reason.removesuffix('.')})"
    return replace(problem, found=finding, hint="the file may be damaged: write or copy it again")


def _bounded_slices(
    batches: Iterable[Any], columns: Sequence[str], file_bytes: int
) -> Iterator[Any]:
    """Split batches into slices that take about `MAX_DECODED_BYTES` as Python values.

    Python values can take far more memory than the file. For example, if all rows have the same
    text, the file may store this text once, but as a Python value each row has its own copy.

    Raises:
        OSError: the rows of a small file have far more bytes than the file.
    """
    total_bytes = 0.0
    for batch in batches:
        sizes = np.zeros(batch.num_rows)
        for name in columns:
            sizes += decoded_sizes(batch.column(name))
        slice_of_row = np.cumsum(sizes) // MAX_DECODED_BYTES
        bounds = [0, *(np.flatnonzero(np.diff(slice_of_row)) + 1).tolist(), batch.num_rows]
        for start, end in pairwise(bounds):
            total_bytes += sizes[start:end].sum()
            _check_unpacked("the rows grow", file_bytes, int(total_bytes))
            yield batch.slice(start, end - start)


def _check_row_group(group: Any, number: int, columns: Sequence[str]) -> None:
    """Raise OSError if a row group is small in the file but would fill the memory once unpacked."""
    chunks = [group.column(index) for index in range(group.num_columns)]
    read_chunks = [chunk for chunk in chunks if chunk.path_in_schema.partition(".")[0] in columns]
    # Equal values are stored once with their number.
    unpacked_bytes = sum(
        max(chunk.total_uncompressed_size, chunk.num_values * BYTES_OF_VALUE)
        for chunk in read_chunks
    )
    packed_bytes = sum(chunk.total_compressed_size for chunk in read_chunks)
    _check_unpacked(f"row group {number} grows", packed_bytes, unpacked_bytes)


def _check_unpacked(what_unpacks: str, packed_bytes: int, unpacked_bytes: int) -> None:
    max_bytes = max(MAX_GROUP_BYTES, MAX_UNPACKED_RATIO * packed_bytes)
    if unpacked_bytes > max_bytes:
        raise OSError(
            f"{what_unpacks} from {packed_bytes:,} to {unpacked_bytes:,} bytes when unpacked; "
            f"at most {max_bytes:,} bytes are allowed"
        )


def _parquet_batches(table: Any, columns: Sequence[str]) -> Iterator[Any]:
    for group in range(table.num_row_groups):  # damage in one group spares the earlier ones
        _check_row_group(table.metadata.row_group(group), group, columns)
        yield from table.iter_batches(ROWS, [group], list(columns), use_threads=False)


def _arrow_batches(table: Any, file: str) -> Iterator[Any]:
    """Yield the batches of an Arrow file, cut into slices of limited length.

    Raises:
        OSError: a small batch would fill the memory once it is decompressed.
    """
    from .arrow_sizes import read_batch_sizes  # imported late: few runs read Arrow

    with _open_binary(file) as stream:
        sizes = read_batch_sizes(stream, stream.seek(0, io.SEEK_END))
        for number, size in enumerate(sizes):
            # Nulls take no bytes in a file, whatever their number.
            unpacked_bytes = max(size.unpacked_bytes, size.values * BYTES_OF_VALUE)
            name = f"batch {number - 1} grows" if number else "the dictionaries grow"
            _check_unpacked(name, size.packed_bytes, unpacked_bytes)
            if number:
                batch = table.get_batch(number - 1)
                for start in range(0, batch.num_rows, ROWS):
                    yield batch.slice(start, ROWS)


def _count_bytes(file: str) -> int:
    with _open_binary(file) as stream:
        return stream.seek(0, io.SEEK_END)


def _open_binary(file: str) -> BinaryIO:
    return open_url(file) if is_url(file) else Path(file).open("rb")


@contextmanager
def _open_table(file: str) -> Iterator[Any]:
    """Open a Parquet or Arrow file.

    Raises:
        OSError: the file cannot be read.
        UsageError: the file is not a table.
    """
    source = decoded(file)
    pa = import_pyarrow(f"the table {source}")
    parquet = import_pyarrow(module="pyarrow.parquet")
    with _open_binary(file) as stream:
        try:
            if _is_parquet(file):
                table = parquet.ParquetFile(stream)
                # Texts that occur in many rows are stored once.
                texts = [
                    arrow_field.name
                    for arrow_field in table.schema_arrow
                    if is_text(arrow_field.type)
                ]
                table = parquet.ParquetFile(stream, read_dictionary=texts)
            else:
                table = pa.ipc.open_file(stream)
        except (pa.ArrowException, OSError) as error:
            expected = "a Parquet file" if _is_parquet(file) else "an Arrow IPC file"
            finding = f"the file cannot be read ({str(error).partition('. ')[0]})"
            raise UsageError([Problem(source, finding, expected)]) from None
        yield table


def _inner_cell(cell: _Cell, steps: Steps, place: Problem) -> _Cell:
    """Return the value at a path inside a cell.

    `steps` are the keys and list indexes of the path. `place` is needed only for messages. It has
    the location of the cell, and its attribute `found` is the name of the column.
    """
    if cell is None or isinstance(cell, Problem):
        return cell
    return _find_in_cell(cell, steps, f"column {place.found}", place)


def _cells(column: Any, name: str, source: str) -> list[_Cell]:
    """Return the documents in a column.

    Texts become bytes, and nested types become Python values.
    """
    pa = import_pyarrow()
    kind, types = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        column, kind = column.storage, kind.storage_type
    if types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if types.is_string(kind) or types.is_large_string(kind):
        return list(column.cast(pa.large_binary()).to_pylist())
    if types.is_binary(kind) or types.is_large_binary(kind):
        return list(column.to_pylist())
    if types.is_struct(kind) or types.is_map(kind) or types.is_list(kind):
        return _python_values(column, maps_as_pydicts="strict")
    expected = "a column of JSON texts, structs, lists or maps"
    raise UsageError([Problem(source, f"the column {name} has the type {kind}", expected)])


def _python_values(column: Any, **how: str) -> list[_Cell]:
    """Convert Arrow values to Python values. A value that Python cannot hold becomes a problem."""
    try:
        return list(column.to_pylist(**how))
    except (OverflowError, ValueError, KeyError):
        return [_python_value(cell, **how) for cell in column]


def _python_value(cell: Any, **how: str) -> _Cell:
    try:
        value: _Cell = cell.as_py(**how)
    except (OverflowError, ValueError, KeyError) as error:
        return Problem("", f"the value cannot be read: {error.args[0] if error.args else error}")
    return value


MAX_METADATA_BYTES: Final = 1_000_000_000  # decompressed: some ten million rows
_Row: TypeAlias = tuple[int, Mapping[str, JsonValue]]  # line of a row, and its cells by column


def cell_text(value: JsonValue) -> str | None:
    """Return a string, number or boolean as text; None for null, a list or an object.

    >>> cell_text("a"), cell_text(True), cell_text(2.5), cell_text([1]), cell_text(None)
    ('a', 'true', '2.5', None, None)
    """
    if isinstance(value, str):
        return value
    return None if value is None or isinstance(value, list | dict) else json.dumps(value)


def read_columns(file: str, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read columns of a metadata file; return {column: {document id: value}}.

    The file is a CSV file with a header, or a JSON Lines file of objects. Both may be gzipped.

    Raises:
        UsageError: the file cannot be read, has no rows or no id column, lacks a column, or has an
            id twice.
    """
    source = decoded(file)
    is_csv = file.lower().endswith((".csv", ".csv.gz"))
    if not is_csv and not LINES_SUFFIX.search(file):
        expected = "a .csv, .jsonl or .ndjson file (each also .gz)"
        raise UsageError(
            [Problem(source, "the file name does not show what kind of table this is", expected)]
        )
    data = read_bytes(file, MAX_METADATA_BYTES, values=MANY_DOCUMENTS)
    if isinstance(data, Problem):
        raise UsageError([data])
    rows = _csv_rows(data, source) if is_csv else _json_rows(data, source)
    values_by_column: dict[str, dict[str, str]] = {column: {} for column in columns}
    lines: dict[str, int] = {}
    names: dict[str, None] = {}
    for line, cells in rows:
        names.update(dict.fromkeys(cells))
        document = cell_text(cells.get(ID))
        if document is None:
            hint = did_you_mean(ID, cells) or f"the columns are {join_some(cells)}"
            raise UsageError(
                [
                    Problem(
                        source=source,
                        found=f"the row has no {ID}",
                        expected="an id in every row of the file",
                        hint=hint,
                        line=line,
                    )
                ]
            )
        if document in lines:
            found_twice = f"the id {document!r} is also on line {lines[document]}"
            raise UsageError(
                [Problem(source, found_twice, "a different id in each row", line=line)]
            )
        lines[document] = line
        for column, values in values_by_column.items():
            if value := cell_text(cells.get(column)):
                values[document] = value
    if columns and not lines:
        all_columns = join_some(dict.fromkeys([ID, *columns]))
        expected = f"a row for each document, with the columns {all_columns}"
        raise UsageError([Problem(source, "the file has no rows", expected)])
    problems = [
        Problem(source, f"there is no column {brief(column)}", f"one of {join_some(names)}")
        for column in columns
        if column not in names
    ]
    if problems:
        raise UsageError(problems)
    return values_by_column


def _csv_rows(data: bytes, source: str) -> Iterator[_Row]:
    """Yield (line, cells by column name) for each row of a CSV file with a header.

    Raises:
        UsageError: the file is not UTF-8, is not valid CSV, or has two columns with the same name.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        finding = f"the file is not UTF-8: byte 0x{data[error.start]:02x} is not allowed here"
        raise UsageError([Problem(source, finding, line=line)]) from None
    from .csv_rows import CsvError, read_csv_rows  # imported late: few runs read CSV

    rows = read_csv_rows(io.BytesIO(data), ",", len(data))
    try:
        _, names = next(rows, (1, []))
        if twice := [name for name, count in Counter(filter(None, names)).items() if count > 1]:
            finding = f"several columns are named {brief(twice[0])}"
            raise UsageError(
                [
                    Problem(
                        source=source,
                        found=finding,
                        expected="different names",
                        hint="rename these columns, or keep only one of them",
                    )
                ]
            )
        for line, cells in rows:
            yield line, dict(zip(names, cells, strict=False))
    except CsvError as error:
        raise UsageError([error.problem(source, error.line)]) from None


def _json_rows(data: bytes, source: str) -> Iterator[_Row]:
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            row: Any = parse_document(line, source, number)
            if isinstance(row, Problem):
                raise UsageError([row])
            yield number, row
