"""Lists of objects, column by column: one field of all items of both sides at a time."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from stickler_cli.comparators.base import Matrix
from stickler_cli.compare.absence import is_absent
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.problems import ComparisonError

if TYPE_CHECKING:
    from stickler_cli.compare.plan import Node

Column: TypeAlias = list[JsonValue]
"""One field of many objects; None where it is absent."""

Scores: TypeAlias = "Callable[[Column, Column], Matrix | float]"
"""Gives what all pairs of two columns without gaps are worth: (n, m), or one number for all."""

_NUMBERS: Final = frozenset((int, float, bool))
"""Types of values that are never absent."""


def mean_of_columns(
    fields: "Iterable[tuple[str, Node, Scores]]",
    gts: Sequence[JsonValue],
    preds: Sequence[JsonValue],
) -> Matrix:
    """Give the weighted mean over the fields of every pair of objects; shape (n, m).

    A field that both lack brings neither score nor weight; one that one lacks scores 0.

    Args:
        fields: name, node and scores of each.
        gts: ground truths; what is no object counts as an empty one.
        preds: predictions.

    Raises:
        ComparisonError: a comparator failed; with the field's path.
    """
    total, weight = np.zeros((2, len(gts), len(preds)))
    for name, node, scores in fields:
        gt_column, pred_column = _column(gts, name), _column(preds, name)
        rows, columns = _gaps(gt_column), _gaps(pred_column)
        worth = node.weights(gt_column, pred_column)
        weight += worth
        if rows and columns:
            cells = np.ix_(rows, columns)
            weight[cells] -= worth if isinstance(worth, float | int) else worth[cells]
        if len(rows) == len(gts) or len(columns) == len(preds):
            continue
        try:
            gain = worth * scores(_filled(gt_column, rows), _filled(pred_column, columns))
        except ComparisonError as error:
            raise error.below(name) from error.__cause__
        if rows or columns:
            gain = np.broadcast_to(gain, total.shape).copy()
            gain[rows], gain[:, columns] = 0.0, 0.0
        total += gain
    return np.divide(total, weight, out=np.ones_like(total), where=weight > 0)


def _column(objects: Iterable[JsonValue], name: str) -> Column:
    values = [entry.get(name) if isinstance(entry, dict) else None for entry in objects]
    return [
        value
        if value.__class__ in _NUMBERS
        or (value if value.__class__ is str else not is_absent(value))
        else None
        for value in values
    ]


def _gaps(column: Column) -> list[int]:
    return [index for index, value in enumerate(column) if value is None]


def _filled(column: Column, gaps: Sequence[int]) -> Column:
    """Put some value of the column into its gaps, so that all columns are of one shape."""
    if not gaps:
        return column
    some = next(value for value in column if value is not None)
    return [some if value is None else value for value in column]
