"""Errors and documents in a database, while somebody looks at them: found, sorted and grouped.

It is kept beside a run whose directory can be written, and made anew once the run is another one.
"""

import json
import os
import sqlite3
from abc import ABC, abstractmethod
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
from .whole_files import RESULTS, own_file

SELECTIONS: Final = 8
"""Selections that are remembered: those that one goes back to; a million lines are 8 MB of one."""

MOST: Final = 1_000  # lines that are given at once

ANSWER_SECONDS: Final = 60.0  # seconds after which an answer is given up
STEPS_BETWEEN_LOOKS: Final = 100_000  # steps of SQLite between two looks at the clock

_TABLES: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
_MADE: Final = "CREATE TABLE made AS SELECT ? AS key"


_ORDERS_OF_ERRORS: Final = {
    **{name: name for name in ("document", "field", "class", "outcome", "gt", "pred", "cause")},
    "similarity": "coalesce(similarity, -1)",
    "pair": "gt || ' ' || pred",
}
"""What errors are sorted and grouped by."""
_OF_ERRORS: Final = {
    "find": "instr(text, ?)",
    "first": "row >= ?",
    "end": "row < ?",
    "field": "(field = ? OR path = ?1)",
    "class": "class = ?",
    "cause": "cause = ?",
    "caused": "cause >= 0 = ?",
    "gt": "coalesce(nullif(gt, ''), 'absent') = ?",
    "pred": "coalesce(nullif(pred, ''), 'absent') = ?",
    "of": "document = ?",
    "at": "row = ?",
    "values": "vals IS NULL = ?",
    "judged": "inside IS NULL = ?",
    "from": "similarity >= ?",
    "below": "similarity < ?",
}
"""What errors are filtered by."""
_ORDERS: Final = {"id": "id", "errors": "lost DESC, n"}
"""What documents are sorted by; else they are in the order in which they came."""
_OF_DOCUMENTS: Final = {
    "find": "instr(found, ?)",
    "from": "score >= ?",
    "below": "score < ?",
    "wrong": "(lost > 0 OR status <> 'evaluated') = ?",
    "lost": "lost > 0 = ?",
    "group": "instr(groups, ?) AND score IS NOT NULL",
}
"""What documents are filtered by."""


class LineIndex(ABC):
    """Lines with columns to find them by, in a database of their own."""

    columns: ClassVar[str]
    """What lines are found by, as SQL declares it: the columns beside the number and the line."""
    by: ClassVar[str]
    """The column of the documents that lines are of."""
    file: ClassVar[str]
    """Its name beside a run."""

    def __init__(self, rows: Callable[[], Iterable[tuple[Any, ...]]], run: str = "") -> None:
        """Take rows, or what is kept of them beside a run; without one, nothing is kept."""
        # One connection for all threads of a server, one at a time.
        self._lock, folder = Lock(), Path(run)
        kept = None
        if folder.is_dir() and run:
            kept = self._kept(folder)
            with suppress(OSError, sqlite3.OperationalError):  # it is full, or of somebody else
                kept = kept or self._made(rows, folder)
        self._base = kept or self._made(rows)
        ((self.total,),) = self.ask("SELECT count(*) FROM line")
        self._found: OrderedDict[str, tuple[array[int], list[Any]]] = OrderedDict()

    def _kept(self, folder: Path) -> sqlite3.Connection | None:
        """Return the database that is kept; None without one of this very run.

        Whoever wrote the directory may have written a database that never ends an answer. So it has
        to be a regular file with exactly the tables that are made here.
        """
        with suppress(sqlite3.Error, UsageError):
            file = own_file(str(folder), self.file)
            if file is None:
                return None
            # Nothing but this file is opened, no journal of SQLite beside it.
            place = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
            base = sqlite3.connect(place, uri=True, check_same_thread=False)
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
        """Have SQLite give up an answer that takes too long."""
        self._deadline = monotonic() + ANSWER_SECONDS
        base.set_progress_handler(lambda: monotonic() > self._deadline, STEPS_BETWEEN_LOOKS)

    def _tables(self) -> list[tuple[Any, ...]]:
        """Return the tables of a database that is kept, as SQLite lists them."""
        with closing(sqlite3.connect(":memory:")) as base:
            for statement in self._statements():
                base.execute(statement)
            base.execute(_MADE, [""])
            return base.execute(_TABLES).fetchall()

    def _statements(self) -> tuple[str, str]:
        """Return the statements that make the table and, once it is filled, its index."""
        table = f"CREATE TABLE line (n INTEGER PRIMARY KEY, {self.columns}, line)"
        return table, f"CREATE INDEX of_document ON line ({self.by})"

    def _made(
        self, rows: Callable[[], Iterable[tuple[Any, ...]]], folder: Path | None = None
    ) -> sqlite3.Connection:
        """Return a new database: in a folder, or of a file that goes away with it."""
        beside = folder and folder / f".{self.file}.{os.urandom(4).hex()}"
        marks = ", ?" * (self.columns.count(",") + 2)
        make_table, make_index = self._statements()
        try:
            base = sqlite3.connect(beside or "", check_same_thread=False)
            base.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            base.execute(make_table)
            base.executemany(f"INSERT INTO line VALUES (NULL{marks})", rows())  # noqa: S608 - marks
            base.execute(make_index)
            if beside and folder:
                base.execute(_MADE, [_key_of(folder)])
                base.commit()
                beside.replace(folder / self.file)
        finally:
            if beside:
                beside.unlink(missing_ok=True)
        self._guard(base)
        return base

    @abstractmethod
    def found(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the numbers of the lines that a query finds, in order, and its groups."""

    def select(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many lines a query finds, and its groups: key and number of each."""
        numbers, groups = self.selection(query)
        return {"count": len(numbers), "groups": groups}

    def page(self, query: Mapping[str, Any], first: int, count: int) -> list[str]:
        """Return some lines that a query finds, each as JSON."""
        numbers = self.selection(query)[0][first : first + min(count, MOST)]
        marks = ", ".join("?" * len(numbers))
        lines = dict(self.ask(f"SELECT n, line FROM line WHERE n IN ({marks})", numbers))  # noqa: S608
        return [lines[number] for number in numbers]

    def selection(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the numbers of the lines that a query finds, and its groups, worked out once."""
        name = json.dumps(query, sort_keys=True)
        if name not in self._found:
            self._found[name] = self.found(query)
            if len(self._found) > SELECTIONS:
                self._found.popitem(last=False)
        return self._found[name]

    def numbers(self, where: str, values: Sequence[Any], order: str) -> "array[int]":
        """Return the numbers of lines by a condition, in an order."""
        text = f"SELECT n FROM line WHERE {where} ORDER BY {order}"  # noqa: S608 - ours
        with self._lock:
            self._deadline = monotonic() + ANSWER_SECONDS
            return array("Q", (number for (number,) in self._base.execute(text, values)))

    def ask(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows that answer a statement."""
        with self._lock:
            self._deadline = monotonic() + ANSWER_SECONDS
            return self._base.execute(text, values).fetchall()


def _key_of(folder: Path) -> str:
    """Return what tells the files of a run from those of another one."""
    files = (folder / name for name in RESULTS)
    stats = [it.stat() if it.exists() else None for it in files]
    return json.dumps([__version__, *(it and [it.st_size, it.st_mtime_ns] for it in stats)])


class ErrorIndex(LineIndex):
    """Errors in a database of their own."""

    by, file = "document", "view-errors.sqlite"
    columns = (
        "row INT, document, path, field, outcome, class, similarity REAL, gt, pred, inside, "
        "vals INT, cause INT, text"
    )

    def __init__(self, rows: Callable[[], Iterable[tuple[Any, ...]]], run: str = "") -> None:
        """Take errors as a page holds them."""
        super().__init__(lambda: map(_error_columns, rows()), run)

    def place(self, query: Mapping[str, Any], place: Mapping[str, str]) -> dict[str, Any]:
        """Return an error by document and path, and its position among those of a query, or -1."""
        asked = [place.get("document"), place.get("path"), place.get("as") or "%"]
        rows = self.ask(
            "SELECT n, line FROM line WHERE document = ? AND path = ? AND outcome LIKE ?", asked
        )
        numbers, _ = self.selection(query)
        for number, line in rows:
            if number in numbers:
                return {"error": json.loads(line), "at": numbers.index(number)}
        return {"error": json.loads(rows[0][1]) if rows else None, "at": -1}

    def of_document(self, document: str) -> list[str]:
        """Return the errors of a document, each as JSON."""
        rows = self.ask("SELECT line FROM line WHERE document = ? ORDER BY n", [document])
        return [line for (line,) in rows]

    def found(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the numbers of the errors that a query finds, in order, and its groups."""
        tests, asked = ["1"], list[Any]()
        for key, test in _OF_ERRORS.items():
            if query.get(key) is not None:
                tests.append(test.replace("?1", "?"))
                asked += [query[key]] * test.count("?")
        if query.get("outcome"):
            tests.append(f"outcome IN ({', '.join('?' * len(query['outcome']))})")
            asked += query["outcome"]
        where = " AND ".join(tests)
        order, groups = ["n"], list[Any]()
        sort = str(query.get("sort", ""))
        if by := _ORDERS_OF_ERRORS.get(sort.removeprefix("-")):
            order.insert(0, f"{by} {'DESC' if sort.startswith('-') else ''}")
        if group := _ORDERS_OF_ERRORS.get(str(query.get("group", ""))):
            # Causes are in the order of what they cost, and -1 is none.
            rank = "cause < 0, cause" if group == "cause" else f"{{}} DESC, {group}"
            groups = self.ask(
                f"SELECT {group}, count(*), min(gt), min(pred) FROM line WHERE {where} "  # noqa: S608
                f"GROUP BY {group} ORDER BY {rank.format('count(*)')}",
                asked,
            )
            order.insert(0, rank.format(f"count(*) OVER (PARTITION BY {group})"))
        return self.numbers(where, asked, ", ".join(order)), groups


def _error_columns(shown: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the columns of an error, of a row as a page holds it."""
    row, document, path, field, outcome, name, *sides, similarity, inside, values = shown[:11]
    gt, pred = (side[0] if isinstance(side, list) else side or "" for side in sides)
    return (
        *(row, document, path, field, outcome.lower(), name, similarity, gt, pred),
        *(inside, values, shown[-1], f"{document}\n{path}\n{gt}\n{pred}".lower()),
        json_line([*shown])[:-1].decode(),
    )


class DocumentIndex(LineIndex):
    """Documents as a page lists them, in a database of their own."""

    by, file = "id", "view-documents.sqlite"
    columns = "id, status, score REAL, lost INT, groups, found"

    def __init__(self, lines: Callable[[], Iterable[bytes]], run: str = "") -> None:
        """Take documents as a page lists them, in order."""
        super().__init__(lambda: map(_document_columns, lines()), run)
        ((self.lost,),) = self.ask("SELECT count(*) FROM line WHERE lost > 0")

    def found(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the numbers of the documents that a query finds, in order; there are no groups."""
        asked = {key: query[key] for key in _OF_DOCUMENTS if query.get(key) is not None}
        if "group" in asked:
            asked["group"] = _group(query["by"], query["group"])
        where = " AND ".join(["1", *(_OF_DOCUMENTS[key] for key in asked)])
        order = _ORDERS.get(str(query.get("sort")), "n")
        return self.numbers(where, [*asked.values()], order), []

    def place(self, query: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return a document by its id, and its position among those of a query, or -1."""
        rows = self.ask("SELECT n, line FROM line WHERE id = ?", [name])
        numbers, _ = self.selection(query)
        for number, line in rows:
            at = numbers.index(number) if number in numbers else -1
            return {"row": json.loads(line), "at": at}
        return {"row": None, "at": -1}


def _document_columns(line: bytes) -> tuple[Any, ...]:
    """Return the columns of a document, of a line as a page holds it."""
    name, status, score, _, *lost, by, _ = json.loads(line)
    groups = "".join(_group(*entry) for entry in by.items())
    return name, status, score, sum(lost), groups, name.lower(), line.decode()


def _group(key: str, name: str) -> str:
    """Return text that is in no other text of groups: quotes within names are escaped."""
    return json.dumps([key, name])
