"""Counts of the units of a table: by document, field, counting and outcome; exact items.

Source: docs/semantics.md, "overall, aggregate and leaves".
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask, distinct
from stickler_cli.compare.result import FA, FD, FN, TN, TP
from stickler_cli.compare.units import LIST, MISMATCH, OBJECT, VALUE, UnitBatch, UnitTable
from stickler_cli.core.json_values import least
from .field_counts import (
    AGGREGATE,
    CELL,
    LEAVES,
    OF_ITEMS,
    OF_MODES,
    OUTCOMES,
    OVERALL,
    RAW,
    SCORE,
    SCORED,
    WEIGHT,
    FieldCounts,
    Key,
    Leaves,
    parents_first,
)

MAX_KEYS_PER_UNIT: Final = 8
"""Fields times documents for each unit, up to which all cells are marked instead of sorted."""

WHOLE, ITEMS, MISSED_ITEMS, INVENTED_ITEMS = range(CELL)[OF_ITEMS]  # columns of a cell


def count_units(table: UnitTable) -> FieldCounts:
    """Count the units of a table, which has at least one document."""
    ranks = parents_first(tuple(table.fields.paths))
    rank_of_field = np.array([ranks[path] for path in table.fields.paths], np.intp)
    keys = rank_of_field[table.field] * table.n_documents + table.document
    cell_keys, cell = number_cells(keys, len(ranks) * table.n_documents)

    bins = cell_bins(table, cell)
    cells = np.bincount(bins, minlength=len(cell_keys) * CELL).reshape(-1, CELL)
    if any(batch.is_unlabelled for batch in table.batches):
        cells[:, OF_MODES] = 1
        for batch in table.batches:
            cells[cell[batch.span][is_evaluated(batch)], OF_MODES] = 0

    first_keys = table.n_documents * np.arange(len(ranks))
    return FieldCounts(
        paths=[*ranks],
        starts=cell_keys.searchsorted(first_keys),
        documents=cell_keys % table.n_documents,
        cells=cells,
        scores=scores_of_cells(table, cell, len(cell_keys)),
        undeclared=key_paths(table, table.undeclared_keys),
        extras=key_paths(table, table.extra_keys),
        confident=confident_values(table, rank_of_field, [*ranks]),
        unlabelled=unlabelled_places(table),
        left_out=[
            (place_of(table, row), n_items) for row, n_items in sorted(table.n_open_items.items())
        ],
    )


def number_cells(keys: Indexes, n_keys: int) -> tuple[Indexes, Indexes]:
    """Return the different keys in order, and for each key its position among them.

    >>> number_cells(np.array([7, 3, 7]), 8)
    (array([3, 7]), array([1, 0, 1]))
    """
    if n_keys > MAX_KEYS_PER_UNIT * len(keys):
        different = distinct(keys)
        return different, different.searchsorted(keys)
    is_met = np.zeros(n_keys, np.bool_)
    is_met[keys] = True
    (different,) = is_met.nonzero()
    if len(different) == n_keys:
        return different, keys
    return different, (is_met.cumsum() - 1)[keys]


# --- units in countings ------------------------------------------------------------------------


def cell_bins(table: UnitTable, cell: Indexes) -> Indexes:
    """Return where each unit counts in the flat array of cells: in its field and in those above.

    A unit counts in every field that contains it: in `leaves` always, in `aggregate` as far as
    each object on the way includes the field, in `overall` from the fields of a document.
    """
    bins = [np.empty(0, np.intp), *item_bins(table, cell)]
    for batch in table.batches:
        if batch.size and not batch.is_unlabelled:
            positions, codes = counted_units(batch)
            bins += bins_of_fields(batch, positions, codes, cell)
    for batch, positions, codes in counted_extra_keys(table):
        bins += bins_of_fields(batch, positions, codes, cell)
    return np.concatenate(bins)


def bins_of_fields(
    batch: UnitBatch, positions: Indexes, codes: Indexes, cell: Indexes
) -> Iterator[Indexes]:
    """Yield where units of a batch count, in their own field first, then in those around it."""
    yield cell[batch.start + positions] * CELL + codes
    level = batch
    while level.container is not None:
        is_field = not (level.is_item or level.is_side)  # else it counts in the field of its parent
        if is_field:
            passes_up = select_passing_up(level, positions, codes)
            if passes_up is not None:
                positions, codes = positions[passes_up], codes[passes_up]
        positions, level = level.positions[positions], level.container
        if is_field:
            yield cell[level.start + positions] * CELL + codes


def select_passing_up(level: UnitBatch, positions: Indexes, codes: Indexes) -> Mask | None:
    """Return which units of fields count in the object around these, too; None for all."""
    container, in_aggregate = level.container, level.in_aggregate
    if container is not None and container.is_document and in_aggregate is True:
        return None
    passes_up: Mask = codes >= AGGREGATE * OUTCOMES
    if container is not None and container.is_document:
        passes_up[:] = True
    if in_aggregate is not True:
        included = in_aggregate[positions] if isinstance(in_aggregate, np.ndarray) else False
        is_aggregate = (codes >= AGGREGATE * OUTCOMES) & (codes < LEAVES * OUTCOMES)
        passes_up &= ~is_aggregate | included
    return passes_up


def counted_units(batch: UnitBatch) -> tuple[Indexes, Indexes]:
    """Return the positions of units of a batch that count, and the columns of their cells.

    A column stands for a counting and an outcome; a unit stands once for each of its countings.
    """
    outcome, kind = batch.outcome, batch.kind
    if batch.is_document:  # a unit only if it is a list that both sides lack
        (positions,) = (outcome == TN).nonzero() if kind == LIST else (np.empty(0, np.intp),)
        return np.concatenate([positions] * 3), (_COUNTINGS + TN).repeat(len(positions))

    in_leaves = is_value(batch)
    if batch.is_item:
        in_overall: Mask | bool = not batch.is_inner_item
        in_aggregate: Mask | bool = True if kind == VALUE else outcome != TP
    elif kind == OBJECT:
        in_overall = True if in_leaves is True else (outcome != TN) | in_leaves
        in_aggregate = batch.is_one_sided | in_leaves
    elif kind == MISMATCH:
        in_overall = in_aggregate = True
    else:
        in_overall = in_aggregate = in_leaves
    if batch.is_judged is not None:
        in_overall, in_aggregate = in_overall & batch.is_judged, in_aggregate & batch.is_judged

    all_positions, codes = np.arange(batch.size), outcome.astype(np.intp)
    masks = in_overall, in_aggregate, in_leaves
    if all(mask is True for mask in masks):
        shifted = (codes + _COUNTINGS).ravel()
        return np.concatenate([all_positions] * 3), shifted
    positions, shifted_codes = [], []
    for counting, mask in enumerate(masks):
        if mask is not False:
            selected = all_positions if mask is True else all_positions[mask]
            positions.append(selected)
            shifted_codes.append(codes[selected] + counting * OUTCOMES)
    return np.concatenate(positions), np.concatenate(shifted_codes)


_COUNTINGS: Final = np.arange(3)[:, None] * OUTCOMES  # what a counting adds to a column


def is_value(batch: UnitBatch) -> Mask | bool:
    """Return which units of a batch are values: leaves, or objects and lists that are absent.

    An object that only one side has does not miss the fields that it lacks, too.
    """
    if batch.kind == MISMATCH or (batch.is_item and batch.kind != VALUE):
        return False
    parent_is_one_sided = batch.parent_is_one_sided
    if batch.kind == VALUE:
        if parent_is_one_sided is None or batch.is_item:
            return True
        is_missing: Mask = (batch.outcome == TN) & parent_is_one_sided
        return ~is_missing
    is_absent: Mask = batch.outcome == TN
    return is_absent if parent_is_one_sided is None else is_absent & ~parent_is_one_sided


def counted_extra_keys(table: UnitTable) -> Iterator[tuple[UnitBatch, Indexes, Indexes]]:
    """Yield the objects of undeclared keys with the columns in which the keys count.

    Each is a batch, positions and columns, as `counted_units` returns them.
    """
    for row, names in table.extra_keys.items():
        batch = table.batch_of(row)
        if not batch.is_open(row - batch.start):
            countings: tuple[int, ...] = (LEAVES,)
        elif batch.is_document:
            countings = (OVERALL, AGGREGATE, LEAVES)
        else:
            countings = (AGGREGATE, LEAVES)
        codes = np.array([counting * OUTCOMES + FA for counting in countings]).repeat(len(names))
        yield batch, np.full(len(codes), row - batch.start), codes


# --- items that are right as a whole -------------------------------------------------------------


def item_bins(table: UnitTable, cell: Indexes) -> list[Indexes]:
    """Return the bins of items: of exact items, of all items, of missed and of invented ones.

    `cell` is the number of the cell of each unit; an item counts in a column of its cell. Items are
    the elements of a list, and each object that a side has. The items of a list of lists are the
    inner lists.
    """
    items = [batch.rows for batch in table.batches if has_items(batch)]
    items += [batch.parent for batch in table.batches if has_objects_of_mismatches(batch)]
    if not items:
        return []
    is_item = np.zeros(table.size, np.bool_)
    is_item[np.concatenate(items)] = True
    outcome = table.outcome
    is_item &= outcome < TN
    is_whole = is_item & (outcome <= FD) & ~has_wrong_item(table)
    columns = (
        (WHOLE, is_whole),
        (ITEMS, is_item),
        (MISSED_ITEMS, is_item & (outcome == FN)),
        (INVENTED_ITEMS, is_item & (outcome == FA)),
    )
    return [cell[selected] * CELL + column for column, selected in columns]


def has_items(batch: UnitBatch) -> bool:
    """Return whether the units of a batch are items, or objects that are fields."""
    if batch.is_document or batch.is_side:
        return False
    return not batch.is_inner_item if batch.is_item else batch.kind == OBJECT


def has_objects_of_mismatches(batch: UnitBatch) -> bool:
    """Return whether the units of a batch are objects compared with values of other kinds."""
    is_object_side = batch.is_side and batch.kind == OBJECT
    return is_object_side and batch.container is not None and not batch.container.is_inner_item


def has_wrong_item(table: UnitTable) -> Mask:
    """Return which items and objects are wrong, missed or invented, or contain such a unit."""
    is_wrong = np.zeros(table.size, np.bool_)
    if table.extra_keys:
        is_wrong[[*table.extra_keys]] = True
    for batch in reversed(table.batches):  # children first
        container = batch.container
        if container is None or batch.is_unlabelled or not batch.size:
            continue
        if container.is_document and not batch.is_item and batch.kind == VALUE:
            continue  # it is no item, and neither is the document
        if batch.kind == MISMATCH:
            is_wrong[batch.span] = True
        elif batch.kind == VALUE:
            is_wrong[batch.span] |= (batch.outcome != TP) & (batch.outcome != TN)
        elif not batch.is_document:
            is_wrong[batch.span] |= batch.is_one_sided
        is_wrong[container.start + batch.positions[is_wrong[batch.span]]] = True
    return is_wrong


# --- what stands beside the counts ----------------------------------------------------------------


def is_evaluated(batch: UnitBatch) -> Mask | bool:
    """Return which units of a batch show that their field is evaluated in their document.

    A declared field of an object that one side lacks is evaluated, labelled or not.
    """
    if batch.is_document or not batch.is_unlabelled:
        return True
    is_key = batch.is_map_key or batch.is_item
    return False if batch.is_in_one_sided is None or is_key else batch.is_in_one_sided


def scores_of_cells(table: UnitTable, cell: Indexes, n_cells: int) -> Floats:
    """Return the scores of fields that have one, (4, n_cells); 0 for all other fields.

    A field has a score of its own in a document unless it is in a list or not judged.
    """
    scores = np.zeros((4, n_cells))
    for batch in table.batches:
        if batch.container is None or batch.is_in_list or batch.is_unlabelled:
            continue
        judged: Any = slice(None) if batch.is_judged is None else batch.is_judged
        cells = cell[batch.span][judged]
        scores[SCORED, cells] = 1.0
        scores[RAW, cells] = (batch.score if batch.is_document else batch.similarity)[judged]
        scores[SCORE, cells] = batch.score[judged]
        weight = batch.weight
        scores[WEIGHT, cells] = weight[judged] if isinstance(weight, np.ndarray) else weight
    return scores


def key_paths(table: UnitTable, keys: dict[int, tuple[str, ...]]) -> list[Key]:
    """Return document and path of undeclared keys, given by the row of their object."""
    paths = []
    for row, names in keys.items():
        document, path = place_of(table, row)
        paths += [(document, (*path, name)) for name in names]
    return paths


def place_of(table: UnitTable, row: int) -> Key:
    """Return the document and the path of the field of a unit."""
    return int(table.document[row]), table.fields.paths[int(table.field[row])]


def unlabelled_places(table: UnitTable) -> list[Key]:
    """Return document and path of units that are not labelled, or have unlabelled items."""
    rows = [row for batch in table.batches if batch.is_unlabelled for row in batch.rows.tolist()]
    return [place_of(table, row) for row in (*rows, *table.n_unlabelled_items)]


def confident_values(
    table: UnitTable, rank_of_field: Indexes, paths: list[tuple[str, ...]]
) -> Leaves | None:
    """Return the predicted values that have a confidence; None if there are none."""
    if all(batch.columns.confidences is None for batch in table.batches):
        return None
    ranks = {path: rank for rank, path in enumerate(paths)}
    rows: list[int] = []
    fields: list[int] = []
    confidences: list[float] = []
    for row, confidence in confidences_of_values(table):
        rows.append(row)
        fields.append(int(rank_of_field[table.field[row]]))
        confidences.append(confidence)
    n_values = len(rows)
    for row, name, confidence in confidences_of_extra_keys(table):
        rows.append(row)
        fields.append(ranks.setdefault((*place_of(table, row)[1], name), len(ranks)))
        confidences.append(confidence)
    if not rows:
        return None
    right = table.outcome[rows] == TP
    right[n_values:] = False  # the rows of undeclared keys are those of their objects
    return Leaves(
        paths=[*ranks],
        document=table.document[rows],
        field=np.array(fields, np.intp),
        right=right,
        confidence=np.array(confidences, np.float64),
    )


def confidences_of_values(table: UnitTable) -> Iterator[tuple[int, float]]:
    """Yield the row and the confidence of each predicted value that has one."""
    for batch in table.batches:
        stated: Any = batch.columns.confidences
        if batch.kind == VALUE and stated is not None:
            for row, slot in enumerate(batch.pred_slot.tolist(), batch.start):
                confidence = least(stated[slot]) if slot >= 0 else None
                if confidence is not None:
                    yield row, confidence


def confidences_of_extra_keys(table: UnitTable) -> Iterator[tuple[int, str, float]]:
    """Yield the row of the object, the name and the confidence of undeclared keys that have one."""
    for row, names in table.extra_keys.items():
        batch = table.batch_of(row)
        stated: Any = batch.columns.confidences
        of_object = stated and stated[int(batch.pred_slot[row - batch.start])]
        for name in names if of_object else ():
            confidence = least(of_object.get(name))
            if confidence is not None:
                yield row, name, confidence
