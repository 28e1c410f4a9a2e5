"""A whole comparison as lines, outermost first: what a page shows of one document.

A module of its own because it is flat and bounded where a Comparison is as deep as the documents.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias

from stickler_cli.compare.comparison import Comparison, ElementComparison
from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonValue, json_line
from stickler_cli.core.locations import field_path
from stickler_cli.core.values import dataclass

MOST_LINES: Final = 2_000
"""Lines of one document: an invoice of 250 items with seven fields each."""

LONGEST: Final = 2_000
"""Characters of one value, as JSON; about a page of text."""

_NAMES_REMEMBERED: Final = 10_000
"""Names of fields whose text is kept; far more than a schema has, and bounded for maps."""

Text: TypeAlias = str | list[str | int] | None
"""A value as JSON: its text; the beginning and the length of one that is too long; None without."""


def text_of(value: object) -> Text:
    """Write a value as JSON: numbers keep all their digits, which a browser would not.

    >>> text_of({"a": 1.0}), text_of(None)
    ('{"a":1.0}', None)
    """
    if value is None:
        return None
    text = json_line(value)[:-1].decode("utf-8", "backslashreplace")
    return text if len(text) <= LONGEST else [text[:LONGEST], len(text)]


@dataclass(frozen=True, slots=True)
class _Line:
    """A place in a document, and what is compared there."""

    depth: int
    name: str
    """The last step of its path."""
    outcome: Outcome
    similarity: float
    threshold: float
    weight: float | None
    """None of what has no weight of its own, such as list items."""
    kind: str
    """What it is where it has lines of its own below: `object` or `list`."""
    gt: JsonValue
    pred: JsonValue
    inside: Comparison | None
    """What may have lines of its own below."""


def comparison_line(comparison: Comparison) -> bytes:
    """Write a whole comparison as one JSON array of rows, at most `MOST_LINES`.

    A row is depth, name, kind, outcome, similarity, threshold, weight, ground truth, prediction.
    The kind is `object`, `list` or `value`; what has rows of its own below shows no values. Where
    rows are left out, the last one is how many.
    """
    rows: list[object] = []
    more = 0
    todo = _inner_lines(comparison, 0)[::-1]
    while todo:
        line = todo.pop()
        inside = _inner_lines(line.inside, line.depth + 1)
        todo += reversed(inside)
        if len(rows) < MOST_LINES:
            rows.append(_row(line, broken_down=bool(inside)))
        else:
            more += 1
    return json_line([*rows, more] if more else rows)[:-1]


def _row(line: _Line, *, broken_down: bool) -> list[object]:
    kind, values = "value", [text_of(line.gt), text_of(line.pred)]
    if broken_down:
        kind, values = line.kind, [None, None]
    figures = [line.similarity, line.threshold, line.weight]
    return [line.depth, line.name, kind, line.outcome.name, *figures, *values]


def _inner_lines(comparison: Comparison | None, depth: int) -> list[_Line]:
    """Return what stands directly below a place: fields or elements."""
    if comparison is None:
        return []
    pred = comparison.pred if isinstance(comparison.pred, dict) else {}
    fields = [
        _line(depth, _name(entry.name), entry.comparison, entry.weight)
        for entry in comparison.fields
    ]
    extras = [
        _Line(depth, _name(name), Outcome.FA, 0.0, 1.0, None, "value", None, pred.get(name), None)
        for name in comparison.extras
    ]
    elements = [_element_line(element, depth) for element in comparison.elements]
    return [*fields, *extras, *elements]


def _line(depth: int, name: str, comparison: Comparison, weight: float | None) -> _Line:
    return _Line(
        depth,
        name,
        comparison.outcome,
        comparison.similarity,
        comparison.threshold,
        weight,
        comparison.shape,
        comparison.gt,
        comparison.pred,
        comparison,
    )


@lru_cache(_NAMES_REMEMBERED)
def _name(name: str) -> str:
    """Return the name of a field as it is written in a path."""
    return field_path((name,))


def _element_line(element: ElementComparison, depth: int) -> _Line:
    name = _element_name(element.gt_index, element.pred_index)
    return replace(
        _line(depth, name, element.comparison, None),
        outcome=element.outcome,
        similarity=element.comparison.reported,
        threshold=element.threshold,
    )


def _element_name(gt: int | None, pred: int | None) -> str:
    """Name a list element by its place, and by both where they differ.

    >>> _element_name(2, 2), _element_name(2, 5), _element_name(None, 5)
    ('[2]', '[2] ~ [5]', '[5]')
    """
    places = dict.fromkeys(f"[{place}]" for place in (gt, pred) if place is not None)
    return " ~ ".join(places)
