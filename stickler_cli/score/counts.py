"""Count the units of a table by document, field, counting mode and outcome. Also count exact items.

Source: docs/semantics.md, "overall, aggregate and leaves".
"""

from collections.abc import Iterator
from enum import IntEnum
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import NOTHING, Floats, Indexes, Mask, distinct
from stickler_cli.compare.result import FA, FD, FN, NOT_EVALUATED, TN, TP
from stickler_cli.compare.units import (
    LIST,
    MISMATCH,
    OBJECT,
    UNLABELLED,
    VALUE,
    UnitBatch,
    UnitKind,
    UnitTable,
)
from stickler_cli.core.json_values import least
from .field_counts import (
    AGGREGATE,
    CELL_SIZE,
    IS_SCORED,
    ITEM_COUNTS,
    LEAVES,
    N_OUTCOMES,
    N_UNIT_COUNTS,
    OVERALL,
    SCORE,
    SIMILARITY,
    WEIGHT,
    ConfidentValues,
    DocumentPlace,
    FieldCounts,
    rank_parents_first,
)

MAX_KEYS_PER_UNIT: Final = 8
"""If the number of possible cells (fields times documents) is at most this many times the number of
units, cells are numbered without sorting."""

WHOLE, ITEMS, MISSED_ITEMS, INVENTED_ITEMS = range(CELL_SIZE)[ITEM_COUNTS]  # columns of a cell


def count_units(table: UnitTable) -> FieldCounts:
    """Count the units of a table by document and field.

    The table must have at least one document.
    """
    ranks = rank_parents_first(tuple(table.fields.paths))
    rank_of_field = np.array([ranks[path] for path in table.fields.paths], np.intp)
    keys = rank_of_field[table.field] * table.n_documents + table.document
    cell_keys, cell = number_cells(keys, len(ranks) * table.n_documents)

    bins = cell_bins(table, cell)
    cells = np.bincount(bins, minlength=len(cell_keys) * CELL_SIZE).reshape(-1, CELL_SIZE)
    if any(batch.is_unlabelled for batch in table.batches):
        # The count after those of units is 1 if the document does not evaluate the field.
        cells[:, N_UNIT_COUNTS] = 1
        for batch in table.batches:
            cells[cell[batch.span][is_evaluated(batch)], N_UNIT_COUNTS] = 0

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
    """Return the sorted distinct keys, and for each entry of `keys` its position among them.

    `n_keys` is greater than every key.

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


FIRST_COLUMNS: Final = np.arange(LEAVES + 1)[:, None] * N_OUTCOMES
"""For each counting mode, the index in a cell at which the counts of the mode begin. This is an
array of shape (3, 1)."""


# --- counting rules of one unit ------------------------------------------------------------------


class Role(IntEnum):
    """How a unit is contained in its parent: as a field, as an item, and so on."""

    DOCUMENT = 0
    FIELD = 1
    SIDE = 2
    """One of the two values of a mismatch, which is a pair of values of different kinds."""
    ITEM = 3
    INNER_ITEM = 4
    """An item of a list that is itself an item of another list."""


DOCUMENT, FIELD, SIDE, ITEM, INNER_ITEM = (role.value for role in Role)


class UnitRules(NamedTuple):
    """In which counting modes a unit counts, whether it can be exact, and whether it is wrong."""

    in_overall: bool
    in_aggregate: bool
    in_leaves: bool
    is_item: bool
    """Whether the unit is an item or object that can be exact. It is exact if there is no error
    inside it."""
    is_wrong: bool
    """Whether the unit has an error. If so, neither the unit nor an item that contains it is
    exact."""


def unit_rules(kind: int, role: int, outcome: int, *, parent_is_one_sided: bool) -> UnitRules:
    """Return the counting rules of a judged unit, as `UnitRules`."""
    in_overall, in_aggregate, in_leaves = unit_countings(
        kind, role, outcome, parent_is_one_sided=parent_is_one_sided
    )
    is_item = role == ITEM or (role == FIELD and kind == OBJECT)
    return UnitRules(
        in_overall=in_overall,
        in_aggregate=in_aggregate,
        in_leaves=in_leaves,
        is_item=is_item and kind != UNLABELLED and outcome < TN,
        is_wrong=is_wrong_unit(kind, role, outcome),
    )


def unit_countings(
    kind: int, role: int, outcome: int, *, parent_is_one_sided: bool
) -> tuple[bool, bool, bool]:
    """Return whether a judged unit counts in `overall`, in `aggregate` and in `leaves`."""
    is_absent = outcome == TN
    if kind == UNLABELLED:
        return False, False, False
    if role == DOCUMENT:  # a document counts only as a list that is absent on both sides
        is_unit = kind == LIST and is_absent
        return is_unit, is_unit, is_unit
    if role in {ITEM, INNER_ITEM}:  # an object or list that matches counts by its contents
        in_aggregate = kind == VALUE or outcome != TP
        return role == ITEM, in_aggregate, kind == VALUE
    if kind == MISMATCH:
        return True, True, False

    # A field that is absent from a one-sided object is not counted as an absent value.
    is_missing = is_absent and parent_is_one_sided
    in_leaves = not is_missing and (kind == VALUE or is_absent)
    if kind == OBJECT:
        is_one_sided = outcome in {FA, FN}
        return not is_missing, is_one_sided or in_leaves, in_leaves
    return in_leaves, in_leaves, in_leaves


def is_wrong_unit(kind: int, role: int, outcome: int) -> bool:
    """Return whether a unit is itself wrong. If so, no item that contains it is exact."""
    if kind == UNLABELLED or role == DOCUMENT:
        return False
    if kind == VALUE:
        return outcome not in {TP, TN}
    return kind == MISMATCH or outcome in {FA, FN}


IS_ITEM, IS_WRONG = LEAVES + 1, LEAVES + 2  # rows of `RULES_OF_CASES` after the counting modes

CASES: Final = [*product(UnitKind, Role, (False, True), range(NOT_EVALUATED + 1))]
"""All combinations of kind, role, one-sided parent and outcome. The counting rules of a unit depend
on nothing else."""

RULES_OF_CASES: Final = np.array(
    [
        unit_rules(kind, role, outcome, parent_is_one_sided=parent_is_one_sided)
        for kind, role, parent_is_one_sided, outcome in CASES
    ]
).T.copy()  # makes the values of one rule contiguous in memory
"""The counting rules of each case. The array has a row for each attribute of `UnitRules` and a
column for each case."""


def role_of(batch: UnitBatch) -> int:
    """Return the role that all units of a batch have."""
    if batch.is_document:
        return DOCUMENT
    if batch.is_item:
        return INNER_ITEM if batch.is_inner_item else ITEM
    return SIDE if batch.is_side else FIELD


def cases_of_units(table: UnitTable) -> Indexes:
    """Return which case applies to each unit, as a position in `CASES`.

    The result is an array of shape (size,).
    """
    n_outcomes = NOT_EVALUATED + 1
    cases = np.empty(table.size, np.intp)
    for batch in table.batches:
        first_case = (batch.kind * len(Role) + role_of(batch)) * 2 * n_outcomes
        if batch.parent_is_one_sided is None:
            cases[batch.span] = first_case
        else:
            cases[batch.span] = first_case + batch.parent_is_one_sided * n_outcomes
    cases += table.outcome
    return cases


# --- where units count --------------------------------------------------------------------------


def cell_bins(table: UnitTable, cell: Indexes) -> Indexes:
    """Return the indexes of the counts to which units add 1, in the flat array of all counts.

    An index occurs once for each 1 that is added. `cell[i]` is the number of the cell of unit `i`
    in its own field. A unit counts in its own field, and also in fields that contain it. The
    counting mode decides which of the fields that contain the unit are counted:

    - `leaves`: all fields that contain the unit.
    - `aggregate`: the object that contains the unit's field, the object that contains this object,
      and so on. The chain ends at a field that does not count in the `aggregate` of its object.
    - `overall`: only the document, and only if the unit's field is directly inside it.
    """
    rules = RULES_OF_CASES.take(cases_of_units(table), axis=1)
    first_bin = cell * CELL_SIZE
    nothing = np.empty(0, np.intp)  # `np.concatenate` needs at least one array
    bins = [nothing, *item_bins(table, rules[IS_ITEM], rules[IS_WRONG], first_bin)]

    is_counted = rules[: LEAVES + 1]
    for batch in table.batches:
        if batch.is_judged is not None:
            is_counted[:LEAVES, batch.span] &= batch.is_judged

    # Index flat views of (3, size) arrays: two-dimensional indexes are slower.
    (entries,) = is_counted.ravel().nonzero()
    columns = (table.outcome + FIRST_COLUMNS).ravel()[entries]
    if table.extra_keys:
        key_entries, key_columns = entries_of_extra_keys(table)
        entries = np.concatenate([entries, key_entries])
        columns = np.concatenate([columns, key_columns])
    rows = entries % table.size
    first_entries = entries - rows  # where the row of the counting mode begins
    owners = find_owners(table).ravel()
    # Count units in their own field, then in the field of each object that contains them.
    while len(rows):
        bins.append(first_bin[rows] + columns)
        rows = owners[first_entries + rows]
        (inside,) = (rows != NOTHING).nonzero()
        rows, columns, first_entries = rows[inside], columns[inside], first_entries[inside]
    return np.concatenate(bins)


def find_owners(table: UnitTable) -> Indexes:
    """Return, for each counting mode and unit, the row of the object in which the unit counts.

    This is the object that contains the unit's field. The field of a list item is the field of the
    list. If the unit does not count in this object in a counting mode, the entry is `NOTHING`. The
    result is an array of shape (3, size), with a row for each counting mode.
    """
    owners = np.empty((LEAVES + 1, table.size), np.intp)
    for batch in table.batches:  # batches of parents come first
        span, container = batch.span, batch.container
        if container is None:
            owners[:, span] = NOTHING
        elif batch.is_item or batch.is_side:
            owners[:, span] = owners.take(batch.parent, axis=1)
        else:
            owners[:, span] = batch.parent
            if not container.is_document:
                owners[OVERALL, span] = NOTHING
            if batch.in_aggregate is not True:
                owners[AGGREGATE, span] = np.where(batch.in_aggregate, batch.parent, NOTHING)
    return owners


def entries_of_extra_keys(table: UnitTable) -> tuple[Indexes, Indexes]:
    """Return the counts to which undeclared keys of predictions add 1, as (entries, columns).

    A key adds 1 to the false alarms of the object that has the key. It does so in each counting
    mode in which the key counts. Both arrays have one value for each such addition:

    - `entries` has `mode * size + row`: `mode` is the number of the counting mode, `size` is the
      number of rows of the table, and `row` is the row of the object.
    - `columns` has the position of the count in the object's cell.
    """
    entries: list[int] = []
    columns: list[int] = []
    for row, names in table.extra_keys.items():
        batch = table.batch_of(row)
        if not batch.is_open(row - batch.start):
            countings: tuple[int, ...] = (LEAVES,)
        elif batch.is_document:
            countings = (OVERALL, AGGREGATE, LEAVES)
        else:
            countings = (AGGREGATE, LEAVES)
        for counting in countings * len(names):  # each name counts in each of the modes
            entries.append(counting * table.size + row)
            columns.append(counting * N_OUTCOMES + FA)
    return np.array(entries, np.intp), np.array(columns, np.intp)


# --- exact items ----------------------------------------------------------------------------------


def item_bins(table: UnitTable, is_item: Mask, is_wrong: Mask, first_bin: Indexes) -> list[Indexes]:
    """Return the indexes of the counts to which items add 1, in the flat array of all counts.

    The result has four arrays of indexes: for exact items, all items, missed items and invented
    items. If there are no items, the result is an empty list.

    These units are items: elements of lists, and objects in fields. In a list of lists, the inner
    lists are items, but their elements are not. A pair of values of different kinds counts as one
    item if one of the values is an object.

    `first_bin[i]` is the index of the first count in the cell of unit `i`.
    """
    # A mismatch counts as an item if one of its sides is an object.
    for batch in table.batches:
        if has_objects_of_mismatches(batch):
            is_item[batch.parent] = True
    if not np.count_nonzero(is_item):
        return []
    outcome = table.outcome
    is_whole = is_item & (outcome <= FD) & ~has_wrong_unit(table, is_wrong)
    columns = (
        (WHOLE, is_whole),
        (ITEMS, is_item),
        (MISSED_ITEMS, is_item & (outcome == FN)),
        (INVENTED_ITEMS, is_item & (outcome == FA)),
    )
    return [first_bin[selected] + column for column, selected in columns]


def has_objects_of_mismatches(batch: UnitBatch) -> bool:
    """Return whether a batch consists of objects that were compared with another kind of value."""
    is_object_side = batch.is_side and batch.kind == OBJECT
    return is_object_side and batch.container is not None and not batch.container.is_inner_item


def has_wrong_unit(table: UnitTable, is_wrong: Mask) -> Mask:
    """Return a mask of units that are wrong, missed or invented, or that contain such a unit."""
    has_wrong = is_wrong.copy()
    if table.extra_keys:
        has_wrong[[*table.extra_keys]] = True
    for batch in reversed(table.batches):  # from children to parents
        if batch.container is not None and not batch.container.is_document:
            has_wrong[batch.parent[has_wrong[batch.span]]] = True
    return has_wrong


# --- further columns of `FieldCounts` -------------------------------------------------------------


def is_evaluated(batch: UnitBatch) -> Mask | bool:
    """Return which units of a batch are enough for their field to count as evaluated.

    A field is evaluated or not in each document. A labelled unit of the field is always enough. An
    unlabelled unit is enough only if it is a declared field of an object that one side lacks. The
    result is a mask, or a single boolean that holds for all units.
    """
    if batch.is_document or not batch.is_unlabelled:
        return True
    is_key = batch.is_map_key or batch.is_item
    return False if batch.is_in_one_sided is None or is_key else batch.is_in_one_sided


def scores_of_cells(table: UnitTable, cell: Indexes, n_cells: int) -> Floats:
    """Return the four figures of each cell for `FieldCounts.scores`.

    Each cell belongs to a field in a document. If the field has no score of its own in this
    document, its four figures are 0. This is so if the field is in a list, is not labelled, or is
    inside a value that is wrong as a whole. The result is an array of shape (4, n_cells).
    """
    scores = np.zeros((4, n_cells))
    for batch in table.batches:
        if batch.container is None or batch.is_in_list or batch.is_unlabelled:
            continue
        judged: Any = slice(None) if batch.is_judged is None else batch.is_judged
        cells = cell[batch.span][judged]
        scores[IS_SCORED, cells] = 1.0
        similarity = batch.score if batch.is_document else batch.similarity
        scores[SIMILARITY, cells] = similarity[judged]
        scores[SCORE, cells] = batch.score[judged]
        weight = batch.weight
        scores[WEIGHT, cells] = weight[judged] if isinstance(weight, np.ndarray) else weight
    return scores


def key_paths(table: UnitTable, keys: dict[int, tuple[str, ...]]) -> list[DocumentPlace]:
    """Return (document, path) for each undeclared key.

    `keys` maps the row of an object to the names of its undeclared keys.
    """
    paths = []
    for row, names in keys.items():
        document, path = place_of(table, row)
        paths += [(document, (*path, name)) for name in names]
    return paths


def place_of(table: UnitTable, row: int) -> DocumentPlace:
    """Return the document of a unit and the path of its field; `row` is the row of the unit."""
    return int(table.document[row]), table.fields.paths[int(table.field[row])]


def unlabelled_places(table: UnitTable) -> list[DocumentPlace]:
    """Return (document, path) for units without a label, and for units with unlabelled items."""
    rows = [row for batch in table.batches if batch.is_unlabelled for row in batch.rows.tolist()]
    return [place_of(table, row) for row in (*rows, *table.n_unlabelled_items)]


def confident_values(
    table: UnitTable, rank_of_field: Indexes, paths: list[tuple[str, ...]]
) -> ConfidentValues | None:
    """Return the predicted values that have a confidence, or None if there are none.

    `rank_of_field[i]` is the position of field `i` in `paths`.
    """
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
    right[n_values:] = False  # undeclared keys are wrong; their row is their object's
    return ConfidentValues(
        paths=[*ranks],
        document=table.document[rows],
        field=np.array(fields, np.intp),
        is_right=right,
        confidence=np.array(confidences, np.float64),
    )


def confidences_of_values(table: UnitTable) -> Iterator[tuple[int, float]]:
    """Yield (row, confidence) of each predicted value that has a confidence."""
    for batch in table.batches:
        stated: Any = batch.columns.confidences
        if batch.kind == VALUE and stated is not None:
            for row, slot in enumerate(batch.pred_slot.tolist(), batch.start):
                confidence = least(stated[slot]) if slot >= 0 else None
                if confidence is not None:
                    yield row, confidence


def confidences_of_extra_keys(table: UnitTable) -> Iterator[tuple[int, str, float]]:
    """Yield (row of the object, name, confidence) for undeclared keys that have a confidence."""
    for row, names in table.extra_keys.items():
        batch = table.batch_of(row)
        stated: Any = batch.columns.confidences
        by_name = stated and stated[int(batch.pred_slot[row - batch.start])]
        if not by_name:
            continue
        for name in names:
            confidence = least(by_name.get(name))
            if confidence is not None:
                yield row, name, confidence
