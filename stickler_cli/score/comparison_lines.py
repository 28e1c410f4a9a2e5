"""A whole comparison as lines, outermost first, for the page of one document."""

from functools import lru_cache
from typing import Any, Final, TypeAlias

from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_path

MOST_LINES: Final = 2_000  # of one document: an invoice of 250 items with seven fields each
LONGEST: Final = 2_000  # characters of one value, as JSON; about a page of text

Text: TypeAlias = str | list[str | int] | None
"""A value as JSON: its text; the beginning and the length of one that is too long; None without."""


def shown_value(value: object) -> Text:
    """Return a value as JSON: numbers keep all their digits, which a browser would not.

    >>> shown_value({"a": 1.0}), shown_value(None)
    ('{"a":1.0}', None)
    """
    if value is None:
        return None
    text = json_line(value)[:-1].decode()
    return text if len(text) <= LONGEST else [text[:LONGEST], len(text)]


def comparison_line(comparison: Comparison) -> bytes:
    """Write a whole comparison as one JSON array of rows, at most `MOST_LINES`.

    A row is depth, name, kind, outcome, similarity, threshold, weight, ground truth, prediction.
    The kind is `object`, `list` or `value`; what has rows of its own below shows no values. Where
    rows are left out, the last one is how many.
    """
    rows: list[list[Any]] = []
    _add_inner(rows, comparison, 0)
    more = len(rows) - MOST_LINES
    return json_line([*rows[:MOST_LINES], more] if more > 0 else rows)[:-1]


def _add_inner(rows: list[list[Any]], comparison: Comparison, depth: int) -> None:
    """Add the fields or elements of a place, and all that is in them."""
    for entry in comparison.fields:
        inner = entry.comparison
        figures = inner.outcome.name, inner.similarity, inner.threshold, entry.weight
        _add(rows, [depth, _name(entry.name), "value", *figures], inner)
    pred: Any = comparison.pred
    for name in comparison.extras:
        shown = shown_value(pred[name]) if len(rows) < MOST_LINES else None
        rows.append([depth, _name(name), "value", Outcome.FA.name, 0.0, 1.0, None, None, shown])
    for element in comparison.elements:
        inner = element.comparison
        name = _element_name(element.gt_index, element.pred_index)
        judged = element.outcome.name, inner.reported, element.threshold
        _add(rows, [depth, name, "value", *judged, None], inner)


def _add(rows: list[list[Any]], row: list[Any], comparison: Comparison) -> None:
    """Add a row without values, and those below it; its values, where there are none."""
    rows.append(row)
    position = len(rows)
    _add_inner(rows, comparison, row[0] + 1)
    if len(rows) > position:
        row[2] = comparison.shape
        row += [None, None]
    elif position <= MOST_LINES:
        row += [shown_value(comparison.gt), shown_value(comparison.pred)]


@lru_cache(10_000)  # far more names than a schema has, and bounded for maps
def _name(name: str) -> str:
    return field_path((name,))


def _element_name(gt: int | None, pred: int | None) -> str:
    """Return the place of a list element, or both places where they differ.

    >>> _element_name(2, 2), _element_name(2, 5), _element_name(None, 5)
    ('[2]', '[2] ~ [5]', '[5]')
    """
    places = dict.fromkeys(f"[{place}]" for place in (gt, pred) if place is not None)
    return " ~ ".join(places)
