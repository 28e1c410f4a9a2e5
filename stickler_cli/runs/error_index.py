"""The errors of a run in a database, while somebody looks at them: found, sorted, grouped."""

import json
from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Final

from stickler_cli.core.json_values import json_line
from .line_index import LineIndex

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


class ErrorIndex(LineIndex):
    """Errors in a database of their own, which goes away with it."""

    columns = (
        "row INT, document, path, field, outcome, class, similarity REAL, gt, pred, inside, "
        "vals INT, cause INT, text"
    )

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        super().__init__(map(_columns, rows))
        self.ask("CREATE INDEX of_document ON line (document)")

    def place(self, query: Mapping[str, Any], place: Mapping[str, str]) -> dict[str, Any]:
        """Return an error by document and path, and where it is in what a query finds, or -1."""
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
            rank = "cause < 0, cause" if group == "cause" else f"{{}} DESC, {group}"
            groups = self.ask(
                f"SELECT {group}, count(*), min(gt), min(pred) FROM line WHERE {where} "  # noqa: S608
                f"GROUP BY {group} ORDER BY {rank.format('count(*)')}",
                asked,
            )
            order.insert(0, rank.format(f"count(*) OVER (PARTITION BY {group})"))
        return self.numbers(where, asked, ", ".join(order)), groups


def _columns(shown: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the columns of an error, of a row as a page holds it."""
    row, document, path, field, outcome, name, *sides, similarity, inside, values = shown[:11]
    gt, pred = (side[0] if isinstance(side, list) else side or "" for side in sides)
    return (
        *(row, document, path, field, outcome.lower(), name, similarity, gt, pred),
        *(inside, values, shown[-1], f"{document}\n{path}\n{gt}\n{pred}".lower()),
        json_line([*shown])[:-1].decode(),
    )
