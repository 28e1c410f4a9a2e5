"""The errors of a run in a database, while somebody looks at them: found, sorted, in pages."""

import json
import sqlite3
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Final

from stickler_cli.core.locations import field_names, field_path
from stickler_cli.score.detail import NonMatchRow
from stickler_cli.score.non_matches import NON_MATCH_TYPES

SELECTIONS: Final = 8
"""Selections that are remembered: those that one goes back to; a million errors are 8 MB of one."""

MOST: Final = 1_000
"""Errors that are given at once."""

_OUTCOMES: Final = {name: outcome.name.lower() for outcome, name in NON_MATCH_TYPES.items()}
_KEYS: Final = {
    **{name: name for name in ("document", "field", "class", "outcome", "gt", "pred", "cause")},
    "similarity": "coalesce(similarity, -1)",
    "pair": "gt || ' ' || pred",
}
"""What errors are sorted and grouped by."""

_TESTS: Final = {
    "find": "instr(text, ?)",
    "first": "row >= ?",
    "end": "row < ?",
    "field": "(field = ? OR path = ?1)",
    "class": "class = ?",
    "cause": "cause = ?",
    "gt": "gt = ?",
    "pred": "pred = ?",
    "of": "document = ?",
    "at": "row = ?",
    "values": "vals IS NULL = ?",
    "judged": "inside IS NULL = ?",
    "from": "similarity >= ?",
    "below": "similarity < ?",
}
"""What errors are filtered by."""


class ErrorIndex:
    """Errors in a database of their own, which goes away with it."""

    def __init__(self, rows: Iterable[bytes]) -> None:
        # One connection for all threads of a server, one at a time; "" is a file of its own.
        self._lock = Lock()
        self._base = sqlite3.connect("", check_same_thread=False)
        self._base.execute(
            "CREATE TABLE error (n INTEGER PRIMARY KEY, row INT, document, path, field, outcome, "
            "class, similarity REAL, gt, pred, inside, vals INT, cause INT, text, line)"
        )
        self._base.executemany(
            f"INSERT INTO error VALUES (NULL{', ?' * 14})",  # noqa: S608 - of nothing but marks
            map(_columns, rows),
        )
        self._base.execute("CREATE INDEX of_document ON error (document)")
        (self.total,) = self._base.execute("SELECT count(*) FROM error").fetchone()
        self._found: OrderedDict[str, tuple[array[int], list[Any]]] = OrderedDict()

    def select(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many errors a query finds, and its groups: key and number of each."""
        numbers, groups = self._selection(query)
        return {"count": len(numbers), "groups": groups}

    def page(self, query: Mapping[str, Any], first: int, count: int) -> list[str]:
        """Return some errors of what a query finds, each as JSON."""
        numbers, _ = self._selection(query)
        return self._lines(numbers[first : first + min(count, MOST)])

    def place(self, query: Mapping[str, Any], place: Mapping[str, str]) -> dict[str, Any]:
        """Return an error by document and path, and where it is in what a query finds, or -1."""
        asked = [place.get("document"), place.get("path"), place.get("as") or "%"]
        rows = self._ask(
            "SELECT n, line FROM error WHERE document = ? AND path = ? AND outcome LIKE ?", asked
        )
        numbers, _ = self._selection(query)
        for number, line in rows:
            if number in numbers:
                return {"error": json.loads(line), "at": numbers.index(number)}
        return {"error": json.loads(rows[0][1]) if rows else None, "at": -1}

    def of_document(self, document: str) -> list[str]:
        """Return the errors of a document, each as JSON."""
        rows = self._ask("SELECT line FROM error WHERE document = ? ORDER BY n", [document])
        return [line for (line,) in rows]

    def _selection(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        name = json.dumps(query, sort_keys=True)
        if name not in self._found:
            self._found[name] = self._select(query)
            if len(self._found) > SELECTIONS:
                self._found.popitem(last=False)
        return self._found[name]

    def _select(self, query: Mapping[str, Any]) -> tuple["array[int]", list[Any]]:
        tests, asked = ["1"], list[Any]()
        for key, test in _TESTS.items():
            if query.get(key) is not None:
                tests.append(test.replace("?1", "?"))
                asked += [query[key]] * test.count("?")
        if query.get("outcome"):
            tests.append(f"outcome IN ({', '.join('?' * len(query['outcome']))})")
            asked += query["outcome"]
        where = " AND ".join(tests)
        order, groups = ["n"], list[Any]()
        sort = str(query.get("sort", ""))
        if by := _KEYS.get(sort.removeprefix("-")):
            order.insert(0, f"{by} {'DESC' if sort.startswith('-') else ''}")
        if group := _KEYS.get(str(query.get("group", ""))):
            # Causes are in the order of what they cost, and -1 is none.
            rank = "cause < 0, cause" if group == "cause" else f"count(*) DESC, {group}"
            groups = self._ask(
                f"SELECT {group}, count(*), min(gt), min(pred) FROM error WHERE {where} "  # noqa: S608
                f"GROUP BY {group} ORDER BY {rank}",
                asked,
            )
            within = (
                "cause < 0, cause"
                if group == "cause"
                else f"count(*) OVER (PARTITION BY {group}) DESC, {group}"
            )
            order.insert(0, within)
        text = f"SELECT n FROM error WHERE {where} ORDER BY {', '.join(order)}"  # noqa: S608
        rows = self._ask(text, asked)
        return array("Q", (number for (number,) in rows)), groups

    def _lines(self, numbers: Sequence[int]) -> list[str]:
        marks = ", ".join("?" * len(numbers))
        rows = self._ask(f"SELECT n, line FROM error WHERE n IN ({marks})", [*numbers])  # noqa: S608
        found = dict(rows)
        return [found[number] for number in numbers]

    def _ask(self, text: str, values: Sequence[Any]) -> list[Any]:
        with self._lock:
            return self._base.execute(text, values).fetchall()


def _columns(line: bytes) -> tuple[Any, ...]:
    """Return the columns of an error, of a line as a page holds it."""
    row, *parts, cause = json.loads(line)
    error = NonMatchRow(*parts)
    gt, pred = (side[0] if isinstance(side, list) else side for side in (error.gt, error.pred))
    text = "\n".join([error.document, error.path, str(gt or ""), str(pred or "")]).lower()
    field = field_path(field_names(error.path))
    outcome = _OUTCOMES.get(error.type, "")
    values = error.similarity, gt or "", pred or "", error.inside, error.values, cause
    return (
        row,
        error.document,
        error.path,
        field,
        outcome,
        error.error_class,
        *values,
        text,
        line.decode(),
    )
