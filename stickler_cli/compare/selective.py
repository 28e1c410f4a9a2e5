"""Fields whose values tell which elements of two lists may go together, and joins by these."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from .columns import NOTHING, Columns, Indexes, Mask, spread
from .leaf import LeafNode
from .object import ObjectNode
from .one_of import OneOfNode, followed
from .plan import Node, once_each
from .prepared import Prepared

MAX_POSITIONS: Final = 200
"""Positions of rows that are looked at each by itself; longer rows are compared whole."""
RAGGED: Final = 4
"""Places of a table for each of its cells above which rows are compared whole."""
FEW_KEYS: Final = 0.25
"""Distinct keys for each element of the shorter side, below which elements are too many alike."""


@dataclass(frozen=True, slots=True)
class SelectiveField:
    """A field whose comparator gives keys: unequal ones lack a part of its weight, mostly all."""

    weight: float
    of_object: float
    """The weights of all fields of the object, this one included."""
    keys: Indexes
    """Of all ground truths, then of all predictions, and of `NOTHING`; below 0 for none."""
    tells: float = 1.0
    """How much of the weight two elements of unequal keys lack at least."""

    def join(
        self, near: tuple[Indexes, Indexes], far: tuple[Indexes, Indexes], most: Indexes
    ) -> tuple[Indexes, Indexes, Mask]:
        """Return the pairs that agree in the field, and which near elements this tells of.

        It tells nothing in lists of which too many elements are alike in it, so that these have
        more than `most` pairs. Each side is given by its elements and their lists.
        """
        near_keys, far_keys = self.keys[near[0]], self.keys[far[0]]
        keys = int(self.keys.max(initial=0)) + 1
        one = near[1] * keys + near_keys
        other = np.where(far_keys < 0, -1, far[1] * keys + far_keys)
        order = other.argsort(kind="stable")
        other = other[order]
        low = other.searchsorted(one, "left")
        count = other.searchsorted(one, "right") - low
        count[near_keys < 0] = 0
        tells = (np.bincount(near[1], count, len(most)) <= most)[near[1]] & (near_keys >= 0)
        count[~tells] = 0
        found, owner = spread(low, count)
        return owner, order[found], tells


def selective_fields(item: Node, elements: Columns) -> list[SelectiveField]:
    """Return the fields of list elements that may say which of them go together."""
    item = followed(item)
    if isinstance(item, LeafNode) and elements.plain:
        return _of_values(item, elements)
    if item.by_position:
        return _of_positions(followed(item.parts()[0]), elements)
    if not isinstance(item, ObjectNode) or item.families or not elements.types <= {dict}:
        return []
    leaves = [
        (leaf, columns.prepared(leaf.comparator.pairing or leaf.comparator), gt, pred)
        for leaf, columns, gt, pred in leaves_of(item, elements)
        if columns.plain
    ]
    little = all(_tell_little(prepared, elements) for _, prepared, _, _ in leaves)
    of_object = sum(_most_worth(field.node) for field in item.fields if field.pairs_items)
    found = []
    for leaf, prepared, gt, pred in leaves:
        if (told := _keys_of(prepared, by_equality=little)) is not None:
            both = np.concatenate([gt, pred, [NOTHING]])
            found.append(SelectiveField(leaf.weight, of_object, told[0][both], told[1]))
    return found


def _tell_little(prepared: Prepared, elements: Columns) -> bool:
    """Return whether values have no keys, or so few that joins by them find too many pairs."""
    few = FEW_KEYS * min(len(elements.gt), len(elements.pred))
    return prepared.keys is None or int(prepared.keys.max(initial=0)) + 1 < few


def _keys_of(prepared: Prepared, *, by_equality: bool) -> tuple[Indexes, float] | None:
    """Return keys of values, if known those of equal ones, and what two of unequal keys lack."""
    keys = None if prepared.keys is None else (prepared.keys, 1.0)
    return (prepared.equal if by_equality else None) or keys


def leaves_of(
    item: ObjectNode, elements: Columns
) -> Iterator[tuple[LeafNode, Columns, Indexes, Indexes]]:
    """Return the leaves of list elements, with the codes of both sides and where they stand."""
    not_pairing = {item.in_order[position] for position in item.not_pairing}
    for block in item.together:
        if isinstance(block, int):
            continue
        columns = elements.fields(block.names)
        for row, (name, leaf) in enumerate(zip(block.names, block.nodes, strict=True)):
            if name in not_pairing:
                continue
            at, of = (row, columns) if columns.scalar else (0, elements.fields((name,)))
            of = of.read_by(leaf.reading)
            n, m = len(elements.gt), len(elements.pred)
            gt, pred = of.codes.gt[at * (n + 1) :][:n], of.codes.pred[at * (m + 1) :][:m]
            yield leaf, of, gt, pred


def _of_values(leaf: LeafNode, elements: Columns) -> list[SelectiveField]:
    """Return the values themselves as a field, where equal ones are known to be most alike."""
    elements = elements.read_by(leaf.reading)
    prepared, codes = elements.prepared(leaf.comparator.pairing or leaf.comparator), elements.codes
    both = np.concatenate([codes.gt[:-1], codes.pred])
    # Many texts may share their digits: in one list these tell more, in another equality does.
    keys = [] if prepared.keys is None else [(prepared.keys, 1.0)]
    keys += [] if prepared.equal is None else [prepared.equal]
    return [SelectiveField(1.0, 1.0, codes_of_key[both], tells) for codes_of_key, tells in keys]


def _of_positions(cell: Node, rows: Columns) -> list[SelectiveField]:
    """Return the positions of rows that are paired cell by cell."""
    if not isinstance(cell, LeafNode) or not rows.types <= {list}:
        return []
    gt_rows, pred_rows, cells = rows.elements
    cells = cells.read_by(cell.reading)
    if not cells.plain:
        return []
    prepared, codes = cells.prepared(cell.comparator.pairing or cell.comparator), cells.codes
    key_values = _keys_of(prepared, by_equality=_tell_little(prepared, cells))
    n_positions = max(int(side.places.max(initial=-1)) + 1 for side in (gt_rows, pred_rows))
    n_rows = len(gt_rows.lengths) + len(pred_rows.lengths)
    n_cells = len(gt_rows.places) + len(pred_rows.places)
    is_ragged = n_positions * n_rows > RAGGED * (n_cells + n_rows)
    if key_values is None or is_ragged or n_positions > MAX_POSITIONS:
        return []

    tables = []
    for side, cell_codes in ((gt_rows, codes.gt), (pred_rows, codes.pred)):
        n_rows = len(side.lengths) - 1  # the last is for `NOTHING`
        table = np.full((n_positions, n_rows), NOTHING)
        row_of_cell = np.arange(n_rows).repeat(side.lengths[:-1])
        n_cells = len(row_of_cell)
        table[side.places[:n_cells], row_of_cell] = key_values[0][cell_codes[:n_cells]]
        tables.append(table)
    absent = np.full((n_positions, 1), NOTHING)
    return [
        SelectiveField(1.0, n_positions, keys, key_values[1])
        for keys in np.concatenate([*tables, absent], axis=1)
    ]


def _most_worth(node: Node) -> float:
    """Return the greatest worth of a field; of a union, that of any of its arms."""

    def arms(node: Node) -> Iterable[Node]:
        return map(followed, node.parts()) if isinstance(node, OneOfNode) else ()

    nodes = once_each(followed(node), arms)
    return max((one.weight for one in nodes if not isinstance(one, OneOfNode)), default=0.0)
