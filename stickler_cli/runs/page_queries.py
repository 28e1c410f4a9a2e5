"""Filters and orders for the errors and documents on the page of a run.

Two programs execute queries by the tables of this module. If `stickler view` serves the page, it is
SQLite (`page_index.py`); otherwise, it is the script of the page (`reports/html/engine.js`).
"""

from collections.abc import Mapping
from typing import Final, TypedDict


class Queries(TypedDict):
    """Filters, orders and groups for rows of one kind."""

    filters: Mapping[str, tuple[str, str]]
    """Maps each key of a query to a test and the column that it tests."""
    orders: Mapping[str, tuple[str, ...]]
    """Maps the name of an order to the columns to sort by, or to group by."""
    groups: tuple[str, ...]
    """Names of the orders by which rows can be grouped. Groups by `cause` are sorted by the number
    that the report gives to the cause, from 1 up; other groups are sorted by their number of rows.
    """


TESTS: Final = {
    "contains": "instr({column}, {value}) > 0",
    "is": "{column} = {value}",
    "at least": "{column} >= {value}",
    "below": "{column} < {value}",
    "among": "{column} IN ({value})",
}
"""For each test, its SQL condition. A cell without a value fails every test."""

ERRORS: Final[Queries] = {
    "filters": {
        "find": ("contains", "text"),
        "first": ("at least", "row"),
        "end": ("below", "row"),
        "field": ("contains", "places"),
        "class": ("is", "class"),
        "outcome": ("among", "outcome"),
        "cause": ("is", "cause"),
        "within": ("is", "within"),
        "caused": ("is", "has_cause"),
        "gt": ("is", "gt"),
        "pred": ("is", "pred"),
        "of": ("is", "document"),
        "at": ("is", "row"),
        "values": ("is", "is_value"),
        "judged": ("is", "is_judged"),
        "from": ("at least", "similarity"),
        "below": ("below", "similarity"),
    },
    "orders": {
        **{name: (name,) for name in ("document", "field", "class", "outcome", "gt", "pred")},
        "cause": ("within",),
        "similarity": ("similarity",),
        "pair": ("gt", "pred"),
    },
    "groups": ("cause", "document", "field", "class", "pair"),
}
"""Queries for errors.

The column `within` has the cause of an error, or of the failed item that contains the error.
`places` has the path of the error and the path of its field, with a line break before and after
each path. An absent value is an empty text."""

DOCUMENTS: Final[Queries] = {
    "filters": {
        "find": ("contains", "text"),
        "from": ("at least", "score"),
        "below": ("below", "score"),
        "wrong": ("is", "is_wrong"),
        "lost": ("is", "has_lost"),
        "group": ("contains", "groups"),
    },
    "orders": {"id": ("id",), "errors": ("loss_rank",)},
    "groups": (),
}
"""Queries for documents.

The column `loss_rank` is the number of lost values times -1, so that the document with the most
lost values comes first. The column `groups` has JSON pairs of key and name; it is empty for a
document without a score."""

CHANGES: Final[Queries] = {
    **ERRORS,
    "filters": {
        **ERRORS["filters"],
        "before": ("is", "cause_before"),
        "after": ("is", "cause_after"),
    },
}
"""Queries for the values on the page of two runs; they can also use the cause of a value in each
run."""

QUERIES: Final[Mapping[str, Queries]] = {"non-matches": CHANGES, "documents": DOCUMENTS}
"""Maps the id of an HTML element to the queries for the rows that it has."""
