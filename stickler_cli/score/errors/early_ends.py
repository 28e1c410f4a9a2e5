"""Documents that end early: from some field on, the prediction has no value.

An answer of a model that was cut off looks like this. Each document is looked at alone, so the
result is the same for any chunks.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.result import FA, FD, FN, TP
from stickler_cli.compare.units import (
    MISMATCH,
    OBJECT,
    UNLABELLED,
    VALUE,
    FieldNames,
    UnitBatch,
    UnitTable,
    column_values,
)
from stickler_cli.core.locations import ANY_KEY
from .located_units import SortKey, field_number

MIN_MISSED_FIELDS: Final = 3
"""Minimum number of fields that are missed at the end of a document. One or two missed fields at
the end are more often two errors than a cut-off answer."""

_AFTER_ALL_FIELDS: Final = 1 << 40  # sorts the keys of a map behind all declared fields


class FieldPlace(NamedTuple):
    """A field outside lists, with its position in the schema.

    Objects of this class sort in the order of the schema. A list with everything in it is one
    field. All keys of a map are one field, too.
    """

    order: SortKey
    """Positions among siblings: first that of the outermost object that contains the field, then
    those of the objects inside it, and last that of the field itself."""
    path: FieldNames


EarlyEnds = Mapping[int, FieldPlace]
"""For each document that ends early, its last predicted field. The keys are numbers of documents.
"""


def find_early_ends(table: UnitTable) -> EarlyEnds:
    """Find the documents that end early, and the last predicted field of each.

    A document ends early if its prediction has a value in some field, and at least
    `MIN_MISSED_FIELDS` fields after its last predicted field are missed. The schema gives the order
    of the fields.
    """
    missed_by_batch = [
        (batch, _is_missed_field(batch)) for batch in table.batches if _is_field(batch)
    ]
    n_missed_units = np.zeros(table.n_documents, np.intp)
    for batch, is_missed in missed_by_batch:
        np.add.at(n_missed_units, batch.document[is_missed], 1)
    if not np.any(n_missed_units >= MIN_MISSED_FIELDS):  # the quick way of most chunks
        return {}

    missed: dict[FieldPlace, Mask] = {}
    predicted: dict[FieldPlace, Mask] = {}
    for batch, is_missed in missed_by_batch:
        for masks, is_selected in ((missed, is_missed), (predicted, _is_predicted(table, batch))):
            for place, documents in _documents_by_place(table, batch, is_selected):
                masks.setdefault(place, np.zeros(table.n_documents, np.bool_))[documents] = True
    return _find_last_fields(table, missed, predicted)


def _find_last_fields(
    table: UnitTable, missed: Mapping[FieldPlace, Mask], predicted: Mapping[FieldPlace, Mask]
) -> EarlyEnds:
    """Return the last predicted field of each document that ends early (see `find_early_ends`).

    `missed[field]` and `predicted[field]` are masks of shape (n_documents,): whether each document
    misses the field, and whether its prediction has a value in the field.
    """
    last_fields: dict[int, FieldPlace] = {}
    n_missed = np.zeros(table.n_documents, np.intp)
    has_only_missed = np.ones(table.n_documents, np.bool_)  # in the fields from the end to here
    for row in table.extra_keys:
        batch = table.batch_of(row)
        if not batch.is_in_list:  # an undeclared key has no place in the order of the schema
            has_only_missed[batch.document[row - batch.start]] = False

    for place in sorted({*missed, *predicted}, reverse=True):
        if place in predicted:
            is_last = predicted[place] & has_only_missed
            ends_early = is_last & (n_missed >= MIN_MISSED_FIELDS)
            last_fields |= dict.fromkeys(np.flatnonzero(ends_early).tolist(), place)
            has_only_missed &= ~predicted[place]
        if place in missed:
            n_missed += missed[place] & has_only_missed
    return last_fields


def is_after_end(
    table: UnitTable, batch: UnitBatch, positions: Indexes, early_ends: EarlyEnds
) -> Mask:
    """Return whether each unit comes after the last predicted field of its document, (n,).

    False in documents that do not end early. All units are of one field; `positions` are their
    positions in the batch.
    """
    if not early_ends:
        return np.zeros(len(positions), np.bool_)
    place = find_place(table, batch, int(positions[0]))
    return np.array(
        [
            document in early_ends and place > early_ends[document]
            for document in batch.document[positions].tolist()
        ],
        np.bool_,
    )


def find_place(table: UnitTable, batch: UnitBatch, position: int) -> FieldPlace:
    """Return the field of a unit, or, for a unit inside lists, the field of the outermost list."""
    steps: list[tuple[int, str]] = []  # from the unit outwards
    level = batch
    while level.container is not None:
        if level.is_item:
            steps.clear()
        elif level.is_map_key:
            steps = [(_AFTER_ALL_FIELDS, ANY_KEY)]
        elif not level.is_side:
            (order,) = column_values(level.order, np.array([position]))
            steps.append((order, table.fields.paths[field_number(level, position)][-1]))
        position = int(level.positions[position])
        level = level.container
    steps.reverse()
    return FieldPlace(
        order=tuple(order for order, _ in steps), path=tuple(name for _, name in steps)
    )


def _is_field(batch: UnitBatch) -> bool:
    """Return whether the units of a batch are fields outside lists, or items of such fields."""
    if batch.container is None or batch.is_document:
        return False
    return not (batch.container.is_in_list if batch.is_item else batch.is_in_list)


def _is_missed_field(batch: UnitBatch) -> Mask:
    """Return which units of a batch are missed, (size,).

    A unit inside another missed unit is not counted again: it is False.
    """
    if batch.kind == UNLABELLED or not (batch.is_item or batch.kind in {VALUE, OBJECT}):
        return np.zeros(batch.size, np.bool_)
    is_missed: Mask = batch.outcome == FN
    return is_missed if batch.is_judged is None else is_missed & batch.is_judged


def _is_predicted(table: UnitTable, batch: UnitBatch) -> Mask:
    """Return which units of a batch show that something is predicted in their field, (size,).

    A unit of a field that is not labelled is always True: the table does not have the predictions
    of such a field, so there may be one.
    """
    if batch.kind == UNLABELLED:
        return np.ones(batch.size, np.bool_)
    is_predicted = np.zeros(batch.size, np.bool_)
    if batch.is_item or batch.kind in {VALUE, MISMATCH}:
        is_predicted |= np.isin(batch.outcome, (TP, FD, FA))
    for notes in (table.n_open_items, table.n_unlabelled_items):
        # Items that are not counted may have been predicted.
        is_predicted |= np.isin(batch.rows, [*notes])
    return is_predicted


def _documents_by_place(
    table: UnitTable, batch: UnitBatch, is_selected: Mask
) -> Iterator[tuple[FieldPlace, Indexes]]:
    """Yield (field, documents) for each field of a batch that has selected units.

    The documents are given by number, once for each selected unit.
    """
    for positions in _positions_by_place(batch):
        selected = positions[is_selected[positions]]
        if len(selected):
            yield find_place(table, batch, int(selected[0])), batch.document[selected]


def _positions_by_place(batch: UnitBatch) -> list[Indexes]:
    """Return the positions of the units of a batch: one array for each field (see `FieldPlace`).

    All keys of a map are in one array, since a map may have very many keys.
    """
    map_batch: UnitBatch | None = None
    level: UnitBatch | None = batch
    while level is not None:
        map_batch = level.container if level.is_map_key else map_batch
        level = level.container
    if map_batch is not None and isinstance(map_batch.field, int):
        return [np.arange(batch.size)]
    return [positions for _, positions in batch.positions_by_field()]
