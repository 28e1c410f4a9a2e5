"""A whole comparison as lines, outermost first: what a page shows of one document.

A module of its own because it is flat and bounded where a Comparison is as deep as the documents.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from stickler_cli.compare.result import (
    Comparison,
    ElementComparison,
    LeafComparison,
    ListComparison,
    ObjectComparison,
    Outcome,
)
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.units import BOTH_SIDES

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


def similarities(comparison: ObjectComparison) -> Iterator[tuple[Path, float, Outcome]]:
    """List every pair that has a similarity: field, similarity and whether it is a match.

    Pairs of list items belong to the field of the list; nothing inside an item below its
    threshold is listed, as nothing there is judged.
    """
    todo: list[tuple[Path, Comparison]] = [((), comparison)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, ObjectComparison):
            for position, (terms, outcome) in enumerate(
                zip(node.terms, node.outcomes, strict=True)
            ):
                part, place = node.parts.get(position), (*path, terms.name)
                if isinstance(part, ListComparison) and part.elements:
                    todo.append((place, part))
                elif outcome in BOTH_SIDES:
                    yield place, node.similarities[position], Outcome(outcome)
                    todo += [(place, part)] if part else []
        elif isinstance(node, ListComparison):
            for element in node.elements:
                if element.outcome in BOTH_SIDES:
                    yield path, element_similarity(element), element.outcome
                if element.passed:
                    todo.append((path, element.comparison))


def element_similarity(element: ElementComparison) -> float:
    """Give what the threshold of a list element judges; lists in lists go by their score."""
    inner = element.comparison
    return inner.score if isinstance(inner, ListComparison) else inner.similarity


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
    node: Comparison


def comparison_line(comparison: ObjectComparison) -> bytes:
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
        inside = _inner_lines(line.node, line.depth + 1)
        todo += reversed(inside)
        if len(rows) < MOST_LINES:
            rows.append(_row(line, broken_down=bool(inside)))
        else:
            more += 1
    return json_line([*rows, more] if more else rows)[:-1]


def _row(line: _Line, *, broken_down: bool) -> list[object]:
    node, kind, values = line.node, "value", [text_of(line.node.gt), text_of(line.node.pred)]
    if broken_down:
        kind, values = "list" if isinstance(node, ListComparison) else "object", [None, None]
    figures = [line.similarity, line.threshold, line.weight]
    return [line.depth, line.name, kind, line.outcome.name, *figures, *values]


def _inner_lines(node: Comparison, depth: int) -> list[_Line]:
    """Give what stands directly below a place: fields or elements."""
    match node:
        case ObjectComparison():
            pred = node.pred if isinstance(node.pred, dict) else {}
            extras = [
                LeafComparison(None, pred.get(name), Outcome.FA, 0.0, 0.0, 1.0)
                for name in node.extras
            ]
            return [
                _line(depth, _name(terms.name), node.part(position), terms.weight)
                for position, terms in enumerate(node.terms)
            ] + [
                _line(depth, _name(name), extra, None)
                for name, extra in zip(node.extras, extras, strict=True)
            ]
        case ListComparison():
            return [_element_line(element, depth) for element in node.elements]
        case _:
            return []


def _line(depth: int, name: str, node: Comparison, weight: float | None) -> _Line:
    return _Line(depth, name, node.outcome, node.similarity, node.threshold, weight, node)


@lru_cache(_NAMES_REMEMBERED)
def _name(name: str) -> str:
    """Give the name of a field as it is written in a path."""
    return field_path((name,))


def _element_line(element: ElementComparison, depth: int) -> _Line:
    return _Line(
        depth,
        _element_name(element.gt_index, element.pred_index),
        element.outcome,
        element_similarity(element),
        element.threshold,
        None,
        element.comparison,
    )


def _element_name(gt: int | None, pred: int | None) -> str:
    """Name a list element by its place, and by both where they differ.

    >>> _element_name(2, 2), _element_name(2, 5), _element_name(None, 5)
    ('[2]', '[2] ~ [5]', '[5]')
    """
    places = dict.fromkeys(f"[{place}]" for place in (gt, pred) if place is not None)
    return " ~ ".join(places)
