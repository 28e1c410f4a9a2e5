"""What the page of a run can ask about its errors and documents: filters and orders.

Two programs answer, and both read these tables: SQLite where `stickler view` serves the page
(`page_index.py`), and the script of the page everywhere else (`reports/html/engine.js`). Each of
them only knows how to read a column of a row, and how to test it by one of the tests below.
"""

from collections.abc import Mapping
from typing import Final, TypedDict


class Queries(TypedDict):
    """How rows of one kind are filtered and sorted."""

    filters: Mapping[str, tuple[str, str]]
    """By the key of a query: a test, and the column that it reads."""
    orders: Mapping[str, tuple[str, ...]]
    """By name: the columns to sort or to group by."""
    groups: tuple[str, ...]
    """The orders that rows can be grouped by; those of `cause` are ranked by their number."""


TESTS: Final = {
    "contains": "instr({column}, {value}) > 0",
    "is": "{column} = {value}",
    "at least": "{column} >= {value}",
    "below": "{column} < {value}",
    "among": "{column} IN ({value})",
}
"""Each test as SQL writes it; an absent cell passes none of them."""

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
"""`within` is the cause of an error, or that of the item that it is counted with; `places` are its
path and its field, each between line ends; an absent value is the empty text."""

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
"""`loss_rank` is the number of values lost, times -1; `groups` are pairs of key and name as JSON,
none of a document without a score."""

QUERIES: Final[Mapping[str, Queries]] = {"non-matches": ERRORS, "documents": DOCUMENTS}
"""By the name of the part of a page that holds the rows."""
