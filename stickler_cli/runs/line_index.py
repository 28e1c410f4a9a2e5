"""Lines in a database, while somebody looks at them: what a query finds of them, in pages."""

import json
import sqlite3
from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, ClassVar, Final

SELECTIONS: Final = 8
"""Selections that are remembered: those that one goes back to; a million lines are 8 MB of one."""

MOST: Final = 1_000
"""Lines that are given at once."""


class LineIndex(ABC):
    """Lines with columns to find them by, in a database of their own, which goes away with it."""

    columns: ClassVar[str]
    """What lines are found by, as SQL declares it: the columns beside the number and the line."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        # One connection for all threads of a server, one at a time; "" is a file of its own.
        self._lock = Lock()
        self._base = sqlite3.connect("", check_same_thread=False)
        self._base.execute(f"CREATE TABLE line (n INTEGER PRIMARY KEY, {self.columns}, line)")
        marks = ", ?" * (self.columns.count(",") + 2)
        self._base.executemany(f"INSERT INTO line VALUES (NULL{marks})", rows)  # noqa: S608 - marks
        ((self.total,),) = self.ask("SELECT count(*) FROM line")
        self._found: OrderedDict[str, tuple[array[int], list[Any]]] = OrderedDict()

    @abstractmethod
    def found(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the numbers of the lines that a query finds, in order, and its groups."""

    def select(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many lines a query finds, and its groups: key and number of each."""
        numbers, groups = self.selection(query)
        return {"count": len(numbers), "groups": groups}

    def page(self, query: Mapping[str, Any], first: int, count: int) -> list[str]:
        """Return some lines of what a query finds, each as JSON."""
        numbers = self.selection(query)[0][first : first + min(count, MOST)]
        marks = ", ".join("?" * len(numbers))
        lines = dict(self.ask(f"SELECT n, line FROM line WHERE n IN ({marks})", numbers))  # noqa: S608
        return [lines[number] for number in numbers]

    def selection(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return what a query finds, looked for once."""
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
            return array("Q", (number for (number,) in self._base.execute(text, values)))

    def ask(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows that answer a statement."""
        with self._lock:
            return self._base.execute(text, values).fetchall()
