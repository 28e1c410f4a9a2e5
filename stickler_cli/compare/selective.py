"""Selective fields: fields whose values tell which items of two lists can be similar."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from .columns import NOTHING, Columns, Indexes, Mask, expand_ranges
from .leaf import LeafNode
from .object import ObjectNode
from .one_of import OneOfNode, follow_references
from .plan import Node, walk_nodes
from .prepared import PreparedValues

MAX_POSITIONS: Final = 200
"""Maximum length of inner lists (rows) whose positions are treated as fields. If any row is longer,
positions are not treated as fields, and the keys of cells are not used to find similar rows."""
MAX_RAGGEDNESS: Final = 4
"""Maximum ratio of the number of cells to the number of values in a table of all rows. Rows that
are shorter than the longest row leave empty cells. Each row counts as one further value. If the
ratio is higher, the rows are compared completely."""
MIN_KEY_SHARE: Final = 0.25
"""Minimum ratio of the number of distinct keys to the number of items. The items are counted on the
side with fewer items. If the ratio is lower, too many pairs of items have equal keys."""


class SelectiveField(NamedTuple):
    """A field with a key for each item. If two items have different keys, their similarity drops.

    The pair then loses at least the share `loss` of the weight of this field.
    """

    weight: float
    object_weight: float
    """The sum of the weights of all fields of the object that are used to pair items. This field is
    one of them."""
    keys: Indexes
    """The keys of the ground-truth items, then the keys of the predicted items, then one more key.
    A negative key means that the item has no key. The last key is -1. The index `NOTHING`, which
    stands for an absent item, leads to it."""
    loss: float = 1.0
    """Minimum share of the field's weight that a pair loses if its items have different keys."""

    def join(
        self,
        seekers: tuple[Indexes, Indexes],
        partners: tuple[Indexes, Indexes],
        max_pairs: Indexes,
    ) -> tuple[Indexes, Indexes, Mask]:
        """Pair each seeker with all partners that are in the same list and have the same key.

        `seekers` and `partners` are each (positions of items, number of each item's list). An item
        with the position `NOTHING` has no key. `max_pairs` is the maximum number of pairs in each
        list. If a list would have more pairs, its keys hardly distinguish items, and its seekers
        are not paired.

        Returns (seekers of pairs, partners of pairs, mask of joined seekers). The first two arrays
        have one entry per pair: an index in `seekers`, and an index in `partners`. A seeker is
        joined if it has a key and its list does not have too many pairs.
        """
        (seeker_slots, seeker_lists), (partner_slots, partner_lists) = seekers, partners
        seeker_keys, partner_keys = self.keys[seeker_slots], self.keys[partner_slots]
        n_keys = int(self.keys.max(initial=0)) + 1
        seeker_list_keys = seeker_lists * n_keys + seeker_keys
        partner_list_keys = np.where(partner_keys < 0, -1, partner_lists * n_keys + partner_keys)
        order = partner_list_keys.argsort(kind="stable")
        partner_list_keys = partner_list_keys[order]
        low = partner_list_keys.searchsorted(seeker_list_keys, "left")
        n_partners = partner_list_keys.searchsorted(seeker_list_keys, "right") - low
        n_partners[seeker_keys < 0] = 0
        is_selective = np.bincount(seeker_lists, n_partners, len(max_pairs)) <= max_pairs
        is_joined = is_selective[seeker_lists] & (seeker_keys >= 0)
        n_partners[~is_joined] = 0
        positions, seeker_of_pair = expand_ranges(low, n_partners)
        return seeker_of_pair, order[positions], is_joined


def selective_fields(item: Node, elements: Columns) -> list[SelectiveField]:
    """Return the fields of list items by which similar items can be found.

    If two items have different keys in such a field, their similarity drops. Items with equal keys
    are therefore likely partners.
    """
    item = follow_references(item)
    if isinstance(item, LeafNode) and elements.has_only_scalars:
        return _fields_of_values(item, elements)
    if item.by_position:
        return _fields_of_positions(follow_references(item.inner_nodes()[0]), elements)
    if not isinstance(item, ObjectNode) or item.families or not elements.types <= {dict}:
        return []
    leaves = [
        (leaf, columns.prepare_for(leaf.comparator.pairing or leaf.comparator), gt, pred)
        for leaf, columns, gt, pred in read_leaves(item, elements)
        if columns.has_only_scalars
    ]
    by_equality = all(_has_few_keys(values, elements) for _, values, _, _ in leaves)
    object_weight = sum(_max_weight(field.node) for field in item.fields if field.pairs_items)
    fields = []
    for leaf, values, gt, pred in leaves:
        keys_and_loss = _read_keys(values, by_equality=by_equality)
        if keys_and_loss is not None:
            keys, loss = keys_and_loss
            codes = np.concatenate([gt, pred, [NOTHING]])
            fields.append(
                SelectiveField(
                    weight=leaf.weight, object_weight=object_weight, keys=keys[codes], loss=loss
                )
            )
    return fields


def _has_few_keys(values: PreparedValues, elements: Columns) -> bool:
    """Return whether values have no keys, or too few distinct keys to tell list items apart.

    `MIN_KEY_SHARE` is the limit.
    """
    min_keys = MIN_KEY_SHARE * min(len(elements.gt), len(elements.pred))
    return values.keys is None or int(values.keys.max(initial=0)) + 1 < min_keys


def _read_keys(values: PreparedValues, *, by_equality: bool) -> tuple[Indexes, float] | None:
    """Return (keys, minimum loss), or None if values have no keys.

    `keys[code]` is the key of the value with this code. If two values have different keys, their
    similarity is at most 1 minus the minimum loss.

    A comparator may have a second kind of keys, `equal_keys`: two values with the same key probably
    match fully. If `by_equality` is true and these keys exist, they are returned.
    """
    keys = None if values.keys is None else (values.keys, 1.0)
    return (values.equal_keys if by_equality else None) or keys


def read_leaves(
    item: ObjectNode, elements: Columns
) -> Iterator[tuple[LeafNode, Columns, Indexes, Indexes]]:
    """Yield (leaf, columns, gt codes, pred codes) for each field that is used to pair list items.

    A leaf is the node of a field with single values. Other fields are omitted. The columns contain
    the values of the field, and may contain those of other fields. The two arrays of codes are only
    for this field, with one code for each item.
    """
    not_pairing = {item.in_order[position] for position in item.not_pairing}
    n_gt, n_pred = len(elements.gt), len(elements.pred)
    for block in item.segments:
        if isinstance(block, int):
            continue
        block_columns = elements.fields(block.names)
        for row, (name, leaf) in enumerate(zip(block.names, block.nodes, strict=True)):
            if name in not_pairing:
                continue
            if block_columns.is_plain:  # one column, leaf after leaf
                columns, first_gt, first_pred = block_columns, row * (n_gt + 1), row * (n_pred + 1)
            else:
                columns, first_gt, first_pred = elements.fields((name,)), 0, 0
            columns = columns.apply_reading(leaf.reading)
            gt = columns.codes.gt[first_gt : first_gt + n_gt]
            pred = columns.codes.pred[first_pred : first_pred + n_pred]
            yield leaf, columns, gt, pred


def _fields_of_values(leaf: LeafNode, elements: Columns) -> list[SelectiveField]:
    """Return selective fields for list items that are single values.

    A comparator may have two kinds of keys: `keys` and `equal_keys`. The result has one entry for
    each kind.
    """
    elements = elements.apply_reading(leaf.reading)
    values = elements.prepare_for(leaf.comparator.pairing or leaf.comparator)
    codes = np.concatenate([elements.codes.gt[:-1], elements.codes.pred])
    # Use both kinds: some lists differ in the digits of texts, others only in equality.
    keys_with_loss = [] if values.keys is None else [(values.keys, 1.0)]
    keys_with_loss += [] if values.equal_keys is None else [values.equal_keys]
    return [
        SelectiveField(weight=1.0, object_weight=1.0, keys=keys[codes], loss=loss)
        for keys, loss in keys_with_loss
    ]


def _fields_of_positions(cell: Node, rows: Columns) -> list[SelectiveField]:
    """Return a selective field for each position in rows, which are the inner lists of a list.

    For example, rows of three cells give three selective fields. Return [] if rows are not compared
    cell by cell, if cells have no keys, if a row is longer than `MAX_POSITIONS`, or if too many
    rows are shorter than the longest row (`MAX_RAGGEDNESS`).
    """
    if not isinstance(cell, LeafNode) or not rows.types <= {list}:
        return []
    gt_rows, pred_rows, cells = rows.elements
    cells = cells.apply_reading(cell.reading)
    if not cells.has_only_scalars:
        return []
    values, codes = cells.prepare_for(cell.comparator.pairing or cell.comparator), cells.codes
    keys_and_loss = _read_keys(values, by_equality=_has_few_keys(values, cells))
    n_positions = max(int(side.indexes.max(initial=-1)) + 1 for side in (gt_rows, pred_rows))
    n_rows = len(gt_rows.lengths) + len(pred_rows.lengths)
    n_cells = len(gt_rows.indexes) + len(pred_rows.indexes)
    is_ragged = n_positions * n_rows > MAX_RAGGEDNESS * (n_cells + n_rows)
    if keys_and_loss is None or is_ragged or n_positions > MAX_POSITIONS:
        return []

    keys, loss = keys_and_loss
    # A table for each side: its rows are positions, its columns are the inner lists.
    tables = []
    for side, cell_codes in ((gt_rows, codes.gt), (pred_rows, codes.pred)):
        n_rows = len(side.lengths) - 1  # without the entry for `NOTHING`
        table = np.full((n_positions, n_rows), NOTHING)
        row_of_cell = np.arange(n_rows).repeat(side.lengths[:-1])
        n_cells = len(row_of_cell)
        table[side.indexes[:n_cells], row_of_cell] = keys[cell_codes[:n_cells]]
        tables.append(table)
    absent = np.full((n_positions, 1), NOTHING)
    return [
        SelectiveField(weight=1.0, object_weight=n_positions, keys=keys_of_position, loss=loss)
        for keys_of_position in np.concatenate([*tables, absent], axis=1)
    ]


def _max_weight(node: Node) -> float:
    """Return the greatest weight that a field can have; for a union, the greatest of its arms."""

    def list_arms(node: Node) -> Iterable[Node]:
        return map(follow_references, node.inner_nodes()) if isinstance(node, OneOfNode) else ()

    nodes = walk_nodes(follow_references(node), list_arms)
    weights = (node.weight for node in nodes if not isinstance(node, OneOfNode))
    return max(weights, default=0.0)
