"""Filters and orders for the errors and documents on the page of a run.

The tables in this module are used in two places. If `stickler view` serves the page, SQLite
executes the queries (`page_index.py`). Otherwise, the script of the page does
(`reports/html/engine.js`).
"""

from collections.abc import Mapping
from typing import Final, TypedDict


class Queries(TypedDict):
    """Filters, orders and groups for rows of one kind."""

    filters: Mapping[str, tuple[str, str]]
    """Maps each filter name to a pair: the test, and the column that is tested."""
    orders: Mapping[str, tuple[str, ...]]
    """Maps the name of an order to the columns by which rows are sorted or grouped."""
    groups: tuple[str, ...]
    """Names in `orders` that can group rows, and not only sort them. If rows are grouped by
    `cause`, the groups have the order of the cause numbers in the report. Otherwise, the group with
    the most rows comes first."""


TESTS: Final = {
    "contains": "instr({column}, {value}) > 0",
    "is": "{column} = {value}",
    "at least": "{column} >= {value}",
    "below": "{column} < {value}",
    "among": "{column} IN ({value})",
}
"""Maps each test to its SQL condition. A cell without a value fails every test."""

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

The column `within` has the number of the cause under which an error is listed. An error that has no
cause of its own is listed under the cause of the failed item or object that contains the error. The
number is -1 if there is no such cause.

The column `places` has the path of the error and the path of its field, with a line break before
and after each path. In the columns `gt` and `pred`, an absent value is an empty text."""

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
lost values comes first. The column `groups` has the groups of the document, each as a JSON list of
the grouping key and the name of the group, such as `["@directory","invoices"]`. If the document has
no score, `groups` is an empty text."""

CHANGES: Final[Queries] = {
    **ERRORS,
    "filters": {
        **ERRORS["filters"],
        "before": ("is", "cause_before"),
        "after": ("is", "cause_after"),
    },
}
"""Queries for the values on the page that compares two runs.

In addition to the filters of `ERRORS`, there are two filters by the cause of an error. `before`
filters by the cause in the first run, `after` by the cause in the second run."""

QUERIES: Final[Mapping[str, Queries]] = {"non-matches": CHANGES, "documents": DOCUMENTS}
"""Maps the id of an HTML element to the queries for the rows in this element."""
