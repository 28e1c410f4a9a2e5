"""Find values that match although they are not equal, such as a name in two spellings."""

from collections.abc import Iterator

import numpy as np

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.comparator_registry import is_built_in
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.match_differences import MatchDifference
from .columns import NOTHING, Indexes
from .leaf import LeafNode
from .result import TP
from .units import VALUE, UnitBatch, UnitTable


def find_close_values(table: UnitTable) -> Iterator[tuple[UnitBatch, dict[int, MatchDifference]]]:
    """Yield each batch of units that has close values: values that match but are not equal.

    The dict maps the position of each close value in the batch to the kind of its difference.
    Values whose comparator cannot name the difference are omitted.
    """
    for batch in table.batches:
        if batch.kind != VALUE or not isinstance(batch.node, LeafNode):
            continue
        if (comparator := _comparator_of(batch.node)) is None:
            continue
        positions = _unequal_matches(batch)
        if len(positions) and (close := _find_differences(batch, positions, comparator)):
            yield batch, close


def _comparator_of(node: LeafNode) -> BaseComparator | None:
    """Return the comparator of a leaf if it can tell how two matching values differ, else None.

    Only built-in comparators are returned. Some of them, such as the comparators of boxes, dates
    and codes, are returned only if the comparison was inferred. If the schema states such a
    comparator, the result is None.
    """
    comparator = node.comparator
    finds_differences = type(comparator).find_difference is not BaseComparator.find_difference
    if not (finds_differences and is_built_in(comparator)):
        return None
    is_inferred = node.threshold_source == "inferred"
    return comparator if is_inferred or comparator.reports_differences_if_named else None


def _unequal_matches(batch: UnitBatch) -> Indexes:
    """Return the positions of units whose values match but are not equal."""
    is_match = batch.outcome == TP
    if not np.count_nonzero(is_match):
        return np.empty(0, np.intp)
    codes = batch.columns.apply_reading(batch.node.reading).codes
    gt_codes, pred_codes = codes.gt[batch.gt_slot], codes.pred[batch.pred_slot]
    is_present = (gt_codes != NOTHING) & (pred_codes != NOTHING)
    return np.flatnonzero(is_match & is_present & (gt_codes != pred_codes))


def _find_differences(
    batch: UnitBatch, positions: Indexes, comparator: BaseComparator
) -> dict[int, MatchDifference]:
    """Return the difference of the two values at each of the positions, keyed by position.

    Positions without a difference to report are omitted. If a pair of values occurs several times,
    it is examined only once.
    """
    codes = batch.columns.codes
    gt_codes = codes.gt[batch.gt_slot[positions]].tolist()
    pred_codes = codes.pred[batch.pred_slot[positions]].tolist()
    values: list[JsonValue] = codes.values
    difference_by_codes: dict[tuple[int, int], MatchDifference | None] = {}
    differences: dict[int, MatchDifference] = {}
    for position, gt, pred in zip(positions.tolist(), gt_codes, pred_codes, strict=True):
        if (gt, pred) not in difference_by_codes:
            difference = comparator.find_difference(values[gt], values[pred])
            difference_by_codes[gt, pred] = difference
        if difference := difference_by_codes[gt, pred]:
            differences[position] = difference
    return differences
