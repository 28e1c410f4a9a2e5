"""Filters and orders for the errors and documents on the page of a run.

Two programs execute these queries by the tables below: SQLite, if `stickler view` serves the page
(`page_index.py`), and otherwise the script of the page (`reports/html/engine.js`). Each of them
implements only how to read a column, and the tests below.
"""

from collections.abc import Mapping
from typing import Final, TypedDict


class Queries(TypedDict):
    """Filters, orders and groups for rows of one kind."""

    filters: Mapping[str, tuple[str, str]]
    """For each key of a query: a test, and the column that it tests."""
    orders: Mapping[str, tuple[str, ...]]
    """For each name of an order: the columns to sort by, or to group by."""
    groups: tuple[str, ...]
    """Orders by which rows can be grouped; groups of `cause` are sorted by number, others by
    size."""


TESTS: Final = {
    "contains": "instr({column}, {value}) > 0",
    "is": "{column} = {value}",
    "at least": "{column} >= {value}",
    "below": "{column} < {value}",
    "among": "{column} IN ({value})",
}
"""Each test as SQL; an absent cell fails every test."""

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
"""`within` is the cause of an error, or that of the item that includes it; `places` are path and
field of the error, each between line ends; an absent value is an empty text."""

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
"""`loss_rank` is minus the number of lost values; `groups` are JSON pairs of key and name, empty
for a document without a score."""

CHANGES: Final[Queries] = {
    **ERRORS,
    "filters": {
        **ERRORS["filters"],
        "before": ("is", "cause_before"),
        "after": ("is", "cause_after"),
    },
}
"""Filters of the page of two runs, which has values by cause in either run; it is never served."""

QUERIES: Final[Mapping[str, Queries]] = {"non-matches": CHANGES, "documents": DOCUMENTS}
"""Queries by the part of the page that has the rows."""
