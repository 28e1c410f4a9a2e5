"""Documents that end early: from some field or list item on, the prediction has no value.

This happens if a model's answer was cut off. A document without any predicted value ends before the
first field. Each document is examined by itself, so the result does not depend on how documents are
split into chunks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
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
from stickler_cli.core.json_values import is_absent
from stickler_cli.core.locations import ANY_KEY, field_path
from stickler_cli.score.document_result import Status
from .located_units import SortKey, field_number

MIN_MISSED_FIELDS: Final = 3
"""A document with a predicted value ends early only if at least this many fields or list items are
missed at its end. If only one or two are missed, they are usually separate errors, and the model's
answer was not cut off."""

_AFTER_ALL_FIELDS: Final = 1 << 40  # sorts the keys of a map behind all declared fields
_NO_INDEX: Final = -1


class FieldPlace(NamedTuple):
    """A field that is not inside a list, with its position in the schema.

    Objects of this class are sorted in the order of the schema. A list with everything in it
    counts as one field, and so do all keys of a map.
    """

    order: SortKey
    """The position of each step of `path` among its siblings. For example, `(2, 0)` is the first
    field of the object in the third field of the document."""
    path: FieldNames


class EndKind(StrEnum):
    """How a document ends: after a field, after a list item, or without any predicted value.

    If no value is predicted, the kind states the reason.
    """

    FIELD = "field"  # a field, or a list that was not cut off
    ITEM = "item"  # an item of a list that was cut off
    EMPTY = "empty"  # the prediction has no value
    MISSING = "missing"  # there is no prediction
    INVALID = "invalid"  # the prediction is not a document


EARLY_ENDS: Final = frozenset({EndKind.FIELD, EndKind.ITEM})
"""The kinds of ends of documents that have a predicted value. These documents end after a field or
after a list item."""


class DocumentEnd(NamedTuple):
    """The end of a document that ends early."""

    kind: EndKind
    place: FieldPlace = FieldPlace((), ())
    """The last predicted field; meaningless for a document without predicted values."""
    last_item: int = _NO_INDEX
    """If the document ends inside the list `place`, this is the ground-truth index of the last item
    that was predicted. Otherwise, it is -1."""

    @property
    def sentence(self) -> str:
        """Says in words where the document ends, or why nothing is predicted."""
        if self.kind is EndKind.ITEM:
            return f"nothing is predicted after {field_path(self.place.path)}[{self.last_item}]"
        if self.kind is EndKind.FIELD:
            return f"nothing is predicted after {field_path(self.place.path)}"
        return _WITHOUT_VALUES[self.kind]

    def is_before(self, place: FieldPlace, item_index: int) -> bool:
        """Return whether a missed unit comes after this end.

        `place` is the field that contains the unit, as `find_place` returns it. If this field is a
        list, `item_index` is the ground-truth index of the list item that contains the unit. If the
        document has no predicted value, all its missed units come after the end.
        """
        if self.kind not in EARLY_ENDS or place > self.place:
            return True
        is_in_last_list = self.kind is EndKind.ITEM and place == self.place
        return is_in_last_list and item_index > self.last_item


_WITHOUT_VALUES: Final = {
    EndKind.EMPTY: "the prediction has no values",
    EndKind.MISSING: "there is no prediction",
    EndKind.INVALID: "the prediction cannot be read",
}

EarlyEnds = Mapping[int, DocumentEnd]
"""The end of each document that ends early. The keys are numbers of documents."""


def find_early_ends(table: UnitTable, statuses: Sequence[Status] = ()) -> EarlyEnds:
    """Find the documents that end early, and where they end.

    A document ends early if at least `MIN_MISSED_FIELDS` fields or items are missed after the last
    field or item with a prediction. The schema gives the order of the fields. A document without
    predicted values ends early if any field is missed. `statuses` are the statuses of the
    documents; without them, each document has a prediction.
    """
    missed_by_batch = [
        (batch, _is_missed_field(batch)) for batch in table.batches if _is_field(batch)
    ]
    n_missed_units = np.zeros(table.n_documents, np.intp)
    for batch, is_missed in missed_by_batch:
        np.add.at(n_missed_units, batch.document[is_missed], 1)
    ends = _find_empty_predictions(table, np.flatnonzero(n_missed_units), statuses)
    n_missed_units[[*ends]] = 0
    if not np.any(n_missed_units >= MIN_MISSED_FIELDS):  # the quick way of most chunks
        return ends

    missed: dict[FieldPlace, Mask] = {}
    predicted: dict[FieldPlace, Mask] = {}
    for batch, is_missed in missed_by_batch:
        for masks, is_selected in ((missed, is_missed), (predicted, _is_predicted(table, batch))):
            for place, documents in _documents_by_place(table, batch, is_selected):
                masks.setdefault(place, np.zeros(table.n_documents, np.bool_))[documents] = True
    return ends | _find_last_fields(table, missed, predicted, _find_lists(table))


def _find_empty_predictions(
    table: UnitTable, documents: Indexes, statuses: Sequence[Status]
) -> dict[int, DocumentEnd]:
    """Return the end of each document whose prediction has no value.

    A value under an undeclared key counts as a value. Only the given `documents` are examined.
    """
    ends: dict[int, DocumentEnd] = {}
    for document in documents.tolist():
        _, pred, _ = table.sides_of(document)
        if is_absent(pred):
            status = statuses[document] if statuses else Status.EVALUATED
            ends[document] = DocumentEnd(_KIND_BY_STATUS.get(status, EndKind.EMPTY))
    return ends


_KIND_BY_STATUS: Final = {Status.MISSING: EndKind.MISSING, Status.INVALID: EndKind.INVALID}


@dataclass(slots=True)
class _ListItems:
    """The items that each document has in one list, which is not inside another list."""

    last_predicted: Indexes
    """The ground-truth index of the last item that was predicted; -1 if no item was predicted. The
    shape is (n_documents,)."""
    first_missed: Indexes
    """The lowest index of a missed item in the ground truth; shape (n_documents,)."""
    n_missed: Indexes
    """The number of missed items; shape (n_documents,)."""
    has_others: Mask
    """Whether there may be predicted items that the ground truth lacks; shape (n_documents,)."""

    @property
    def is_cut(self) -> Mask:
        """Whether the list of each document seems to be cut off, as a mask of shape (n_documents,).

        A list seems to be cut off if the prediction has its first items, all later items are
        missed, and the prediction has no items that the ground truth lacks.
        """
        is_prefix = (self.last_predicted >= 0) & (self.last_predicted < self.first_missed)
        return is_prefix & (self.n_missed > 0) & ~self.has_others


def _find_lists(table: UnitTable) -> dict[FieldPlace, _ListItems]:
    """Find the items of each list that is not inside another list or a map."""
    lists: dict[FieldPlace, _ListItems] = {}
    for batch in table.batches:
        if not (batch.is_item and _is_field(batch) and batch.size):
            continue
        for positions in _positions_by_place(batch):
            place = find_place(table, batch, int(positions[0]))
            if place.order[-1:] == (_AFTER_ALL_FIELDS,):  # several lists, one of each key of a map
                continue
            if place not in lists:
                lists[place] = _ListItems(
                    last_predicted=np.full(table.n_documents, _NO_INDEX, np.intp),
                    first_missed=np.full(table.n_documents, np.iinfo(np.intp).max, np.intp),
                    n_missed=np.zeros(table.n_documents, np.intp),
                    has_others=np.zeros(table.n_documents, np.bool_),
                )
            _add_items(lists[place], batch, positions)
    for row in (*table.n_open_items, *table.n_unlabelled_items):
        # Items that are not counted may have been predicted.
        batch, position = table.batch_of(row), row - table.batch_of(row).start
        place = find_place(table, batch, position)
        if place in lists and not batch.is_in_list:
            lists[place].has_others[batch.document[position]] = True
    return lists


def _add_items(items: _ListItems, batch: UnitBatch, positions: Indexes) -> None:
    """Update what `items` states about a list, from some of the list's items.

    `positions` are the positions of these items in the batch.
    """
    documents, outcome = batch.document[positions], batch.outcome[positions]
    gt_index = np.broadcast_to(batch.gt_index, batch.size)[positions]
    is_pair, is_missed = (outcome == TP) | (outcome == FD), outcome == FN

    np.maximum.at(items.last_predicted, documents[is_pair], gt_index[is_pair])
    np.minimum.at(items.first_missed, documents[is_missed], gt_index[is_missed])
    np.add.at(items.n_missed, documents[is_missed], 1)
    items.has_others[documents[outcome == FA]] = True


def _find_last_fields(
    table: UnitTable,
    missed: Mapping[FieldPlace, Mask],
    predicted: Mapping[FieldPlace, Mask],
    lists: Mapping[FieldPlace, _ListItems],
) -> dict[int, DocumentEnd]:
    """Find where documents with at least one predicted value end, if they end early.

    `missed[field]` and `predicted[field]` are masks of shape (n_documents,): whether each document
    misses the field, and whether its prediction has a value in the field. `lists` has the items of
    each field that is a list.
    """
    ends: dict[int, DocumentEnd] = {}
    n_missed = np.zeros(table.n_documents, np.intp)
    has_only_missed = np.ones(table.n_documents, np.bool_)  # in the fields from the end to here
    for row in table.extra_keys:
        batch = table.batch_of(row)
        if not batch.is_in_list:  # an undeclared key has no place in the order of the schema
            has_only_missed[batch.document[row - batch.start]] = False

    for place in sorted({*missed, *predicted}, reverse=True):
        if place in predicted:
            is_last = predicted[place] & has_only_missed
            ends |= _end_documents(place, is_last, n_missed, lists.get(place))
            has_only_missed &= ~predicted[place]
        if place in missed:
            n_missed += missed[place] & has_only_missed
    return ends


def _end_documents(
    place: FieldPlace, is_last: Mask, n_missed: Indexes, items: _ListItems | None
) -> Iterator[tuple[int, DocumentEnd]]:
    """Yield (document, end) for each document that ends early at the field `place`.

    `is_last` is a mask of the documents whose last predicted field is `place`. `n_missed` is the
    number of fields that each document misses after `place`. Both have the shape (n_documents,). If
    `place` is a list, `items` are its items; a list that is cut off adds its missed items to
    `n_missed`.
    """
    is_cut = np.zeros_like(is_last)
    if items is not None:
        is_cut = is_last & items.is_cut
        n_missed = n_missed + np.where(is_cut, items.n_missed, 0)
    for document in np.flatnonzero(is_last & (n_missed >= MIN_MISSED_FIELDS)).tolist():
        if items is not None and is_cut[document]:
            last_item = int(items.last_predicted[document])
            yield document, DocumentEnd(EndKind.ITEM, place, last_item)
        else:
            yield document, DocumentEnd(EndKind.FIELD, place)


def is_after_end(
    table: UnitTable, batch: UnitBatch, positions: Indexes, early_ends: EarlyEnds
) -> Mask:
    """Return a mask of the units that come after the end of their document.

    The mask has an entry for each of `positions`. These are the positions of the units in the
    batch; all of the units must be of one field. The mask is False for a document that does not end
    early.
    """
    if not early_ends:
        return np.zeros(len(positions), np.bool_)
    place = find_place(table, batch, int(positions[0]))
    documents, item_indexes = batch.document[positions], find_item_indexes(batch, positions)
    return np.array(
        [
            document in early_ends and early_ends[document].is_before(place, item_index)
            for document, item_index in zip(documents.tolist(), item_indexes, strict=True)
        ],
        np.bool_,
    )


def find_item_indexes(batch: UnitBatch, positions: Indexes) -> list[int]:
    """Return the index of the list item that contains each unit.

    If an item contains lists with further items, the outermost item counts. The index is the one in
    the ground truth, and -1 for a unit outside lists.
    """
    item_indexes = [_NO_INDEX] * len(positions)
    level = batch
    while level.container is not None:
        if level.is_item:
            item_indexes = column_values(level.gt_index, positions)
        positions, level = level.positions[positions], level.container
    return item_indexes


def find_place(table: UnitTable, batch: UnitBatch, position: int) -> FieldPlace:
    """Return the field of a unit.

    For a unit inside lists, this is the field of the outermost list.
    """
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
    """Return whether the units of a batch are fields outside lists, or items of an outermost list.

    An outermost list is a list that is not inside another list.
    """
    if batch.container is None or batch.is_document:
        return False
    return not (batch.container.is_in_list if batch.is_item else batch.is_in_list)


def _is_missed_field(batch: UnitBatch) -> Mask:
    """Return a mask of the missed units of a batch.

    The mask is False for a unit inside an object that is wrong as a whole, so that only the object
    is counted. The shape of the mask is (size,).
    """
    if batch.kind == UNLABELLED or not (batch.is_item or batch.kind in {VALUE, OBJECT}):
        return np.zeros(batch.size, np.bool_)
    is_missed: Mask = batch.outcome == FN
    return is_missed if batch.is_judged is None else is_missed & batch.is_judged


def _is_predicted(table: UnitTable, batch: UnitBatch) -> Mask:
    """Return a mask of the units of a batch that show that their field is predicted.

    In an unlabelled field, all units are True: the table does not have the predictions of such a
    field, so the field may be predicted. The shape of the mask is (size,).
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

    `documents` are numbers of documents. A number is repeated for each selected unit of the
    document.
    """
    for positions in _positions_by_place(batch):
        selected = positions[is_selected[positions]]
        if len(selected):
            yield find_place(table, batch, int(selected[0])), batch.document[selected]


def _positions_by_place(batch: UnitBatch) -> list[Indexes]:
    """Return the positions of the units of a batch, grouped by field (see `FieldPlace`).

    There is one array for each field. All keys of a map count as one field, because a map may have
    very many keys.
    """
    map_batch: UnitBatch | None = None
    level: UnitBatch | None = batch
    while level is not None:
        map_batch = level.container if level.is_map_key else map_batch
        level = level.container
    if map_batch is not None and isinstance(map_batch.field, int):
        return [np.arange(batch.size)]
    return [positions for _, positions in batch.positions_by_field()]
