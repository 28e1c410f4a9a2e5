"""The documents of a run in a database, while somebody looks at them: found and sorted."""

import json
from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .line_index import LineIndex

_ORDERS: Final = {"id": "id", "errors": "lost DESC, n"}
"""What documents are sorted by; else they are in the order in which they came."""

_TESTS: Final = {
    "find": "instr(found, ?)",
    "from": "score >= ?",
    "below": "score < ?",
    "wrong": "(lost > 0 OR status <> 'evaluated') = ?",
    "lost": "lost > 0 = ?",
    "group": "instr(groups, ?) AND score IS NOT NULL",
}
"""What documents are filtered by."""


class DocumentIndex(LineIndex):
    """Documents as a page lists them, in a database of their own."""

    columns = "id, status, score REAL, lost INT, groups, found"

    def __init__(self, lines: Iterable[bytes]) -> None:
        super().__init__(map(_columns, lines))
        self.ask("CREATE INDEX by_id ON line (id)")

    def found(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        """Return the numbers of the documents that a query finds, in order; there are no groups."""
        asked = {key: query[key] for key in _TESTS if query.get(key) is not None}
        if "group" in asked:
            asked["group"] = _group(query["by"], query["group"])
        where = " AND ".join(["1", *(_TESTS[key] for key in asked)])
        order = _ORDERS.get(str(query.get("sort")), "n")
        return self.numbers(where, [*asked.values()], order), []

    def place(self, query: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return a document by its id, and where it is in what a query finds, or -1."""
        rows = self.ask("SELECT n, line FROM line WHERE id = ?", [name])
        numbers, _ = self.selection(query)
        for number, line in rows:
            at = numbers.index(number) if number in numbers else -1
            return {"row": json.loads(line), "at": at}
        return {"row": None, "at": -1}


def _columns(line: bytes) -> tuple[Any, ...]:
    """Return the columns of a document, of a line as a page holds it."""
    name, status, score, _, *lost, by, _ = json.loads(line)
    groups = "".join(_group(*entry) for entry in by.items())
    return name, status, score, sum(lost), groups, name.lower(), line.decode()


def _group(key: str, name: str) -> str:
    """Return text that is in no other text of groups: quotes within names are escaped."""
    return json.dumps([key, name])
