"""A database of errors and documents for `stickler view`, to filter, sort and group them.

If possible, the database is kept in the run directory. It is rebuilt if the run has changed.
"""

import json
import os
import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, ClassVar, Final

from stickler_cli import __version__
from stickler_cli.core.json_values import json_line
from stickler_cli.core.problems import UsageError
from stickler_cli.core.real_paths import real_path
from .page_queries import DOCUMENTS, ERRORS, TESTS, Queries
from .whole_files import RESULTS, own_file

SELECTIONS: Final = 8
"""Number of recent query results that are remembered. A result with a million lines takes 8 MB."""

MOST: Final = 1_000  # maximum number of lines of one answer

ANSWER_SECONDS: Final = 60.0  # seconds after which a query is aborted
STEPS_BETWEEN_LOOKS: Final = 100_000  # SQLite instructions between two checks of the time

_TABLES: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
_MADE: Final = "CREATE TABLE made AS SELECT ? AS key"


class LineIndex:
    """JSON lines in a database, with columns to filter and sort them."""

    columns: ClassVar[str]
    """SQL declaration of the columns by which lines are filtered and sorted."""
    by: ClassVar[str]
    """Column with the id of the document that a line belongs to."""
    file: ClassVar[str]
    """Name of the database file in a run directory."""
    queries: ClassVar[Queries]
    """Filters and orders that queries can use."""
    lost_values: ClassVar[str] = "0"
    """SQL expression for the number of values that the error in a line lost; `0` if the lines are
    not errors."""

    def __init__(self, rows: Callable[[], Iterable[tuple[Any, ...]]], run: str = "") -> None:
        """Open the database in the run directory `run`, or build one from `rows`.

        Without `run`, the database is temporary. `rows` yields the values of the columns.
        """
        # All threads of a server share one connection, guarded by the lock.
        self._lock, folder = Lock(), Path(run)
        kept = None
        if folder.is_dir() and run:
            kept = self._open_kept_database(folder)
            # The disk is full, or the directory is not writable.
            with suppress(OSError, sqlite3.OperationalError):
                kept = kept or self._make_database(rows, folder)
        self._base = kept or self._make_database(rows)
        ((self.total,),) = self.ask("SELECT count(*) FROM line")
        self._found: OrderedDict[str, tuple[array[int], list[Any]]] = OrderedDict()

    def _open_kept_database(self, folder: Path) -> sqlite3.Connection | None:
        """Open the database in a run directory. Return None if it is missing or out of date.

        The author of the directory may have put a malicious database there. The database must
        therefore be a regular file with exactly the tables that this program makes, and queries are
        aborted after some time.
        """
        with suppress(sqlite3.Error, UsageError):
            file = own_file(str(folder), self.file)
            if file is None:
                return None
            # Open only this file, without a journal file of SQLite.
            uri = f"{real_path(file).as_uri()}?mode=ro&immutable=1"
            base = sqlite3.connect(uri, uri=True, check_same_thread=False)
            self._guard(base)
            base.execute("PRAGMA trusted_schema = OFF")
            base.execute("PRAGMA cell_size_check = ON")
            key = [(_key_of(folder),)]
            if base.execute(_TABLES).fetchall() == self._tables() and (
                base.execute("SELECT key FROM made").fetchall() == key
            ):
                return base
            base.close()
        return None

    def _guard(self, base: sqlite3.Connection) -> None:
        """Make SQLite abort queries that take too long."""
        self._deadline = monotonic() + ANSWER_SECONDS
        base.set_progress_handler(lambda: monotonic() > self._deadline, STEPS_BETWEEN_LOOKS)

    def _tables(self) -> list[tuple[Any, ...]]:
        """Return the tables that a database must have, in the form in which SQLite lists them."""
        with closing(sqlite3.connect(":memory:")) as base:
            for statement in self._statements():
                base.execute(statement)
            base.execute(_MADE, [""])
            return base.execute(_TABLES).fetchall()

    def _statements(self) -> tuple[str, str]:
        """Return two SQL statements: one creates the table, the other indexes the filled table."""
        table = f"CREATE TABLE line (n INTEGER PRIMARY KEY, {self.columns}, line)"
        return table, f"CREATE INDEX of_document ON line ({self.by})"

    def _make_database(
        self, rows: Callable[[], Iterable[tuple[Any, ...]]], folder: Path | None = None
    ) -> sqlite3.Connection:
        """Build a database from `rows`, and store it in `folder`.

        Without a folder, the database is temporary.
        """
        temporary = folder and folder / f".{self.file}.{os.urandom(4).hex()}"
        marks = ", ?" * (self.columns.count(",") + 2)
        make_table, make_index = self._statements()
        try:
            base = sqlite3.connect(temporary or "", check_same_thread=False)
            base.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            base.execute(make_table)
            base.executemany(f"INSERT INTO line VALUES (NULL{marks})", rows())  # noqa: S608 - marks
            base.execute(make_index)
            if temporary and folder:
                base.execute(_MADE, [_key_of(folder)])
                base.commit()
                temporary.replace(folder / self.file)
        finally:
            if temporary:
                temporary.unlink(missing_ok=True)
        self._guard(base)
        return base

    def conditions(self, query: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """Return the filters of a query as an SQL condition, and the condition's parameters."""
        conditions, values = ["1"], list[Any]()
        for key, (test, column) in self.queries["filters"].items():
            value = query.get(key)
            if value is None or value == []:
                continue
            chosen = value if isinstance(value, list) else [value]
            chosen = chosen if test == "among" else chosen[:1]
            marks = ", ".join("?" * len(chosen))
            conditions.append(TESTS[test].format(column=column, value=marks))
            values += chosen
        return " AND ".join(conditions), values

    def order(self, name: str) -> list[str]:
        """Return the SQL columns to sort by, given the name of an order.

        `-name` sorts in reverse.
        """
        columns = self.queries["orders"].get(name.removeprefix("-"), ())
        direction = " DESC" if name.startswith("-") else ""
        return [f"{column}{direction}" for column in columns]

    def find_lines(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the numbers of the lines that match a query, and groups of these lines.

        The lines are in the order that the query asks for. A group is a list of five values: its
        key, its number of lines, the lowest true value, the lowest predicted value, and the number
        of lost values. If the query does not group lines, there are no groups.
        """
        where, values = self.conditions(query)
        order, groups = [*self.order(str(query.get("sort", ""))), "n"], list[Any]()
        group = query.get("group")
        if group in self.queries["groups"]:
            columns = self.order(group)
            keys = ", ".join(columns)
            # Causes are ordered by number; -1, for lines without a cause, comes last.
            by_number = group == "cause"
            rank = f"{keys} < 0, {keys}" if by_number else f"count(*) DESC, {keys}"
            key = " || char(10) || ".join(columns)
            groups = self.ask(
                f"SELECT {key}, count(*), min(gt), min(pred), sum({self.lost_values}) "  # noqa: S608
                f"FROM line WHERE {where} GROUP BY {keys} ORDER BY {rank}",
                values,
            )
            size = f"count(*) OVER (PARTITION BY {keys}) DESC, {keys}"
            order.insert(0, rank if by_number else size)
        return self.numbers(where, values, ", ".join(order)), groups

    def select(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """Return figures of the lines that match a query, and the groups of these lines.

        The dict has three keys. `count` is the number of lines. `values` is the number of values
        that are lost by the errors in these lines. `groups` are the groups that `find_lines`
        returns.
        """
        numbers, groups = self.selection(query)
        where, values = self.conditions(query)
        ((n_lost,),) = self.ask(
            f"SELECT coalesce(sum({self.lost_values}), 0) FROM line WHERE {where}",  # noqa: S608
            values,
        )
        return {"count": len(numbers), "values": n_lost, "groups": groups}

    def page(self, query: Mapping[str, Any], first: int, count: int) -> list[str]:
        """Return `count` of the lines that match a query, but at most `MOST`.

        `first` is the number of matching lines before the first returned line.
        """
        numbers = self.selection(query)[0][first : first + min(max(count, 0), MOST)]
        marks = ", ".join("?" * len(numbers))
        lines = dict(self.ask(f"SELECT n, line FROM line WHERE n IN ({marks})", numbers))  # noqa: S608
        return [lines[number] for number in numbers]

    def selection(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the result of `find_lines`. The results of recent queries are remembered."""
        name = json.dumps(query, sort_keys=True)
        result = self._found.get(name)
        if result is None:
            result = self._found[name] = self.find_lines(query)
            # other threads may add and drop results meanwhile
            while len(self._found) > SELECTIONS:
                with suppress(KeyError):
                    self._found.popitem(last=False)
        return result

    def numbers(self, where: str, values: Sequence[Any], order: str) -> "array[int]":
        """Return the numbers of the lines that meet an SQL condition, sorted by SQL columns."""
        text = f"SELECT n FROM line WHERE {where} ORDER BY {order}"  # noqa: S608 - ours
        with self._lock:
            self._deadline = monotonic() + ANSWER_SECONDS
            return array("Q", (number for (number,) in self._base.execute(text, values)))

    def ask(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        """Execute an SQL statement; return its rows."""
        with self._lock:
            self._deadline = monotonic() + ANSWER_SECONDS
            return self._base.execute(text, values).fetchall()


def _key_of(folder: Path) -> str:
    """Return a text that changes whenever the files of a run change."""
    files = (folder / name for name in RESULTS)
    stats = [file_or_stat.stat() if file_or_stat.exists() else None for file_or_stat in files]
    return json.dumps(
        [
            __version__,
            *(
                file_or_stat and [file_or_stat.st_size, file_or_stat.st_mtime_ns]
                for file_or_stat in stats
            ),
        ]
    )


class ErrorIndex(LineIndex):
    """Errors in a database."""

    by, file, queries, lost_values = "document", "view-errors.sqlite", ERRORS, "n_lost"
    columns = (
        "row INT, document, path, field, places, outcome, class, similarity REAL, gt, pred, "
        "is_judged INT, is_value INT, cause INT, within INT, has_cause INT, n_lost INT, text"
    )

    def __init__(self, rows: Callable[[], Iterable[tuple[Any, ...]]], run: str = "") -> None:
        """Open or build the database; `rows` yields errors as rows for the page's script."""
        super().__init__(lambda: map(_error_columns, rows()), run)

    def place(self, query: Mapping[str, Any], place: Mapping[str, str]) -> dict[str, Any]:
        """Return the error at a document and path, and its position in the results of a query.

        The position is -1 if the error does not match the query.
        """
        parameters = [place.get("document"), place.get("path"), place.get("as") or "%"]
        rows = self.ask(
            "SELECT n, line FROM line WHERE document = ? AND path = ? AND outcome LIKE ?",
            parameters,
        )
        numbers, _ = self.selection(query)
        for number, line in rows:
            if number in numbers:
                return {"error": json.loads(line), "at": numbers.index(number)}
        return {"error": json.loads(rows[0][1]) if rows else None, "at": -1}

    def of_document(self, document: str) -> list[str]:
        """Return the errors of a document as JSON texts."""
        rows = self.ask("SELECT line FROM line WHERE document = ? ORDER BY n", [document])
        return [line for (line,) in rows]


def _error_columns(page_row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the database columns of an error, given its row for the page's script."""
    row, document, path, field, outcome, name, *sides, similarity, inner, values = page_row[:11]
    cause, within = page_row[-2:]
    gt, pred = (side[0] if isinstance(side, list) else side or "" for side in sides)
    return (
        *(row, document, path, field, f"\n{path}\n{field}\n", outcome.lower(), name),
        *(similarity, gt, pred, inner is None, values is None, cause, within, cause >= 0),
        1 if values is None else values,
        f"{document}\n{path}\n{gt}\n{pred}".lower(),
        json_line([*page_row])[:-1].decode(),
    )


class DocumentIndex(LineIndex):
    """Documents in a database."""

    by, file, queries = "id", "view-documents.sqlite", DOCUMENTS
    columns = "id, score REAL, is_wrong INT, has_lost INT, loss_rank INT, groups, text"

    def __init__(self, lines: Callable[[], Iterable[bytes]], run: str = "") -> None:
        """Open or build the database; `lines` yields documents as rows for the page's script."""
        super().__init__(lambda: map(_document_columns, lines()), run)
        ((self.lost,),) = self.ask("SELECT count(*) FROM line WHERE has_lost")

    def place(self, query: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return the document with an id, and its position in the results of a query.

        The position is -1 if the document does not match the query.
        """
        rows = self.ask("SELECT n, line FROM line WHERE id = ?", [name])
        numbers, _ = self.selection(query)
        for number, line in rows:
            position = numbers.index(number) if number in numbers else -1
            return {"row": json.loads(line), "at": position}
        return {"row": None, "at": -1}


def _document_columns(line: bytes) -> tuple[Any, ...]:
    """Return the database columns of a document, given its row for the page's script."""
    name, status, score, _, *lost, by, _ = json.loads(line)
    n_lost = sum(lost)
    is_wrong = n_lost > 0 or status != "evaluated"
    groups = "" if score is None else "".join(_group_text(*group) for group in by.items())
    columns = name, score, is_wrong, n_lost > 0, -n_lost, groups, name.lower()
    return *columns, line.decode()


def _group_text(key: str, name: str) -> str:
    """Return a group of documents as JSON text, in the form that the page uses.

    >>> _group_text("@kind", "a")
    '["@kind","a"]'
    """
    return json.dumps([key, name], ensure_ascii=False, separators=(",", ":"))
