"""The unit table: the flat result of comparing some documents.

A *unit* is anything that receives an outcome or contains units: a document, an object, a list, an
item, a value. Each unit is a row; a parent has its row before its children. Counts, errors, trees
and confidences are computed from the columns. docs/architecture.md, "The unit table", says what
each column means for each kind of unit.
"""

from bisect import bisect_right
from collections.abc import Mapping
from enum import IntEnum
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.json_values import Gold, JsonValue
from .columns import NOTHING, Columns, Floats, Indexes, Mask, Outcomes, distinct, group_positions
from .result import FA, FD, FN, NOT_EVALUATED, TP

T = TypeVar("T")

FieldNames: TypeAlias = tuple[str, ...]  # a path of field names without list indexes
FieldNumbers: TypeAlias = "int | Indexes"  # one for a batch, or one per row


class UnitKind(IntEnum):
    """The kind of a unit, which depends on the node that compared the unit."""

    VALUE = 0
    """A value that is compared as a whole."""
    OBJECT = 1
    """An object, which is compared by fields."""
    LIST = 2
    """A list or tuple, which is compared by items."""
    MISMATCH = 3
    """Two values of different kinds. Its children are the ground truth and the prediction."""
    UNLABELLED = 4
    """Any value whose ground truth is not labelled; it is skipped."""
    SCHEMAS = 5
    """The object around a document in a run with several schemas. Its only child is the document
    itself. The name of the child is the name of the schema."""


VALUE, OBJECT, LIST, MISMATCH, UNLABELLED, SCHEMAS = (kind.value for kind in UnitKind)
# Plain numbers: numpy asks the class of each operand for attributes, which takes an enum long.


class FieldIndex:
    """Numbers the fields of a chunk in the order in which they are first used.

    A parent comes before its children. All declared fields of an object are numbered together, in
    schema order. Map keys are numbered when a document has them. Numbers are valid in one chunk
    only; paths are valid in all chunks.
    """

    def __init__(self) -> None:
        """Begin with the document itself. It has the number 0 and an empty path."""
        self.paths: list[FieldNames] = [()]
        self.parents: list[int] = [NOTHING]
        """The number of the field that contains each field; `NOTHING` for the document."""
        self._children: dict[int, dict[str, int]] = {}
        """For each field, the numbers of the fields inside it, keyed by name."""
        self._declared: dict[tuple[int, tuple[str, ...]], Indexes] = {}

    def __len__(self) -> int:
        return len(self.paths)

    def number(self, parent: int, name: str) -> int:
        """Return the number of a field inside its parent; a new field gets the next number."""
        children = self._children.setdefault(parent, {})
        number = children.get(name)
        if number is None:
            number = children[name] = len(self.paths)
            self.paths.append((*self.paths[parent], name))
            self.parents.append(parent)
        return number

    def declared(self, parent: int, names: tuple[str, ...]) -> Indexes:
        """Return the numbers of the declared fields of an object, (len(names),)."""
        numbers = self._declared.get((parent, names))
        if numbers is not None:
            return numbers
        if parent in self._children:
            numbers = np.array([self.number(parent, name) for name in names], np.intp)
        else:  # all fields are new: number them at once
            path, first = self.paths[parent], len(self.paths)
            # Extend in one call, for speed: every chunk numbers its fields anew.
            self.paths += map(path.__add__, zip(names, strict=True))
            self.parents += [parent] * len(names)
            self._children[parent] = dict(zip(names, range(first, len(self.paths)), strict=True))
            numbers = np.arange(first, len(self.paths))
        self._declared[parent, names] = numbers
        return numbers

    def count_new(self, parents: FieldNumbers, names: tuple[str, ...]) -> int:
        """Count the fields to which `declared_of_each` would give a new number.

        If `parents` is a single number, the result is 0, because the fields inside this parent
        depend only on the schema. If there are several parents, they are the values of a map, whose
        keys depend on the documents.
        """
        if isinstance(parents, int):
            return 0
        new = ((parent, names) not in self._declared for parent in distinct(parents).tolist())
        return len(names) * sum(new)

    def declared_of_each(self, parents: FieldNumbers, names: tuple[str, ...]) -> Indexes:
        """Return the numbers of the declared fields inside each of several parent fields.

        The shape is (len(names), len(parents)), or (len(names), 1) for a single parent.
        """
        if isinstance(parents, int):
            return self.declared(parents, names)[:, None]
        different = distinct(parents)
        numbers = np.stack([self.declared(parent, names) for parent in different.tolist()], axis=1)
        by_parent: Indexes = numbers[:, different.searchsorted(parents)]
        return by_parent

    def keys(self, parents: FieldNumbers, names: list[str], codes: Indexes) -> Indexes:
        """Return the field number of each map key, (len(codes),).

        The name of key i is `names[codes[i]]`.
        """
        of_parents = np.broadcast_to(parents, len(codes)).tolist()
        pairs = zip(of_parents, codes.tolist(), strict=True)
        return np.array([self.number(parent, names[code]) for parent, code in pairs], np.intp)


class Placement(NamedTuple):
    """Where the units of a batch belong, and how they count in their parents."""

    container: "UnitBatch | None"
    """The batch of the parents; None for documents."""
    positions: Indexes
    """For each unit, the position of its parent in `container`."""
    document: Indexes
    field: FieldNumbers
    order: "int | Indexes" = 0
    """The position of each unit among the children of its parent. For a field, this is its position
    in the schema; map keys come after all other fields. Items are numbered in the order in which
    their list is shown."""
    is_item: bool = False
    in_aggregate: "bool | Mask" = True
    weight: "float | Floats | None" = None
    """The weight of each unit in its parent; None uses the weight of the unit's node."""
    gt_index: "int | Indexes" = NOTHING
    pred_index: "int | Indexes" = NOTHING
    is_map_key: bool = False
    """Whether the units are the values of map keys. The schema does not name such keys."""
    is_whole: bool = False
    """Whether the units are documents, which are compared by fields even if one side is empty."""
    gold_slot: Indexes | None = None
    """The positions of the chosen ground-truth alternatives; None before they are chosen."""

    @property
    def is_document(self) -> bool:
        """Whether the units are whole documents."""
        return self.container is None or self.container.kind == SCHEMAS

    def select(self, selected: Indexes) -> "Placement":
        """Return the placement of the selected units."""
        return Placement._make(
            [column[selected] if isinstance(column, np.ndarray) else column for column in self]
        )


class BlockSlots(Protocol):
    """Computes where the values of a block of leaves are in their columns.

    This is done when the positions are first read. Most positions are never read: counts do not
    need the values, and errors need few of them.
    """

    def gt_slots(self) -> Indexes:
        """Return the position of each unit's ground truth; `NOTHING` (-1) if it is absent."""

    def pred_slots(self) -> Indexes:
        """Return the position of each unit's prediction; `NOTHING` (-1) if it is absent."""


class UnitBatch:
    """Consecutive rows of a unit table that one node recorded together.

    All units are of one kind, their values are from one pair of columns, and their parents are rows
    of one other batch.
    """

    # Class attributes are defaults that most batches keep; setting them would take time.
    nodes: Any = None
    """For a block of leaves, the node of each leaf. The units of one leaf follow each other."""
    block_slots: BlockSlots | None = None
    outcome: Any = NOT_EVALUATED
    similarity: Any = 0.0
    score: Any = 0.0
    threshold: Any = 0.0
    is_document = False
    """Whether the units are documents. In a run with several schemas, each document has an object
    around it. The value is then true for the document and also for this object."""
    is_side = False
    """Whether the units are the children of mismatches. A mismatch has two children: its ground
    truth and its prediction. They have the same path as the mismatch."""
    is_inner_item = False
    """Whether the units are items of a list that is itself an item."""
    is_in_list = False
    """Whether the units are list items, or inside a list item."""

    def __init__(
        self,
        start: int,
        kind: int,
        node: Any,
        columns: Columns,
        placement: Placement,
    ) -> None:
        """Reserve rows from `start` on. The figures of the units are filled in later."""
        self.start, self.size = start, len(placement.document)
        self.kind, self.node, self.columns = kind, node, columns
        self.document, self.field = placement.document, placement.field
        self.order = placement.order
        self.is_item, self.is_map_key = placement.is_item, placement.is_map_key
        self.set_parents(placement.container, placement.positions)
        self.in_aggregate = placement.in_aggregate
        self.weight = node.weight if placement.weight is None else placement.weight
        self.gt_index, self.pred_index = placement.gt_index, placement.pred_index

    @cached_property
    def gt_slot(self) -> Any:
        """Each ground truth's position in its column; `NOTHING` (-1) if it is absent."""
        return NOTHING if self.block_slots is None else self.block_slots.gt_slots()

    @cached_property
    def pred_slot(self) -> Any:
        """Each prediction's position in its column; `NOTHING` (-1) if it is absent."""
        return NOTHING if self.block_slots is None else self.block_slots.pred_slots()

    @property
    def rows(self) -> Indexes:
        """The rows of the batch in the table."""
        return np.arange(self.start, self.start + self.size)

    @property
    def span(self) -> slice:
        """The rows of the batch in the table, as a slice."""
        return slice(self.start, self.start + self.size)

    @cached_property
    def parent(self) -> Indexes:
        """The row of each unit's parent; `NOTHING` (-1) for documents."""
        if self.container is None:
            return np.full(self.size, NOTHING)
        return self.positions + self.container.start

    def node_of(self, position: int) -> Any:
        """Return the node that compared a unit, given its position in the batch."""
        if self.nodes is None:
            return self.node
        return self.nodes[position // (self.size // len(self.nodes))]

    def gt_values(self, selected: Indexes) -> list[JsonValue]:
        """Return the ground truths of the selected units; None where the ground truth is absent."""
        values = self.columns.gt
        return [
            None if slot == NOTHING else values[slot] for slot in self.gt_slot[selected].tolist()
        ]

    def pred_values(self, selected: Indexes) -> list[JsonValue]:
        """Return the predictions of the selected units; None where the prediction is absent."""
        values = self.columns.pred
        slots = self.pred_slot[selected].tolist()
        return [None if slot == NOTHING else values[slot] for slot in slots]

    def positions_by_field(self) -> list[tuple[int, Indexes]]:
        """Return (number of the field, positions of its units in the batch) for each field."""
        if isinstance(self.field, int):
            return [(self.field, np.arange(self.size))] if self.size else []
        return [*group_positions(self.field)]

    def set_parents(self, container: "UnitBatch | None", positions: Indexes) -> None:
        """Set the batch of the parents, and the position of each unit's parent in it."""
        self.container, self.positions = container, positions
        self.is_unlabelled = self.kind == UNLABELLED
        """Whether the ground truths of the units are not labelled. Such units are skipped."""
        if container is None or container.kind == SCHEMAS:
            self.is_document = True
        elif self.is_item:
            self.is_inner_item, self.is_in_list = container.is_item, True
        else:
            self.is_side, self.is_in_list = container.kind == MISMATCH, container.is_in_list

    @cached_property
    def is_one_sided(self) -> Mask:
        """Mask of the units that are present on one side only."""
        is_one_sided: Mask = (self.outcome == FN) | (self.outcome == FA)
        return is_one_sided

    @cached_property
    def has_one_sided(self) -> bool:
        """Whether some of the units are present on one side only."""
        return bool(np.count_nonzero(self.is_one_sided))

    @property
    def has_both_sides(self) -> Mask:
        """Mask of the units that are present on both sides."""
        has_both_sides: Mask = self.outcome <= FD  # TP or FD
        return has_both_sides

    @cached_property
    def is_closed(self) -> Mask | None:
        """Mask of units that are wrong as a whole; None if there are none.

        These are list items that do not match, values of different kinds, and objects that one side
        lacks. The units inside them are not judged.
        """
        if self.is_document or self.kind == VALUE or (self.kind == LIST and not self.is_item):
            return None
        if self.is_item:
            is_closed = self.outcome != TP
        elif self.kind == MISMATCH:
            return np.ones(self.size, np.bool_)
        else:
            is_closed = self.is_one_sided
        return is_closed if np.count_nonzero(is_closed) else None

    @cached_property
    def is_judged(self) -> Mask | None:
        """Mask of units that are judged; None if all are.

        A unit is not judged if it is inside a unit that is wrong as a whole.
        """
        if self.container is None:
            return None
        is_open, is_closed = self.container.is_judged, self.container.is_closed
        if is_closed is not None:
            is_open = ~is_closed if is_open is None else is_open & ~is_closed
        return None if is_open is None else is_open[self.positions]

    def is_open(self, position: int) -> bool:
        """Return whether the units inside the unit at `position` are judged.

        They are not judged if this unit, or one around it, is wrong as a whole.
        """
        is_judged = self.is_judged is None or bool(self.is_judged[position])
        return is_judged and not (self.is_closed is not None and self.is_closed[position])

    @cached_property
    def is_in_one_sided(self) -> Mask | None:
        """Mask of units inside an object or item that one side lacks; None if there are none."""
        container = self.container
        if container is None or (container.is_in_one_sided is None and container.is_closed is None):
            return None
        if container.kind == MISMATCH:
            return np.ones(self.size, np.bool_)
        lacks_side = container.is_in_one_sided
        if container.is_closed is not None:
            is_alone = container.is_closed & container.is_one_sided
            lacks_side = is_alone if lacks_side is None else lacks_side | is_alone
        return None if lacks_side is None else lacks_side[self.positions]

    @cached_property
    def parent_is_one_sided(self) -> Mask | None:
        """Mask of direct children of a unit that one side lacks; None if there are none."""
        container = self.container
        if container is None or container.is_document or not container.has_one_sided:
            return None
        of_parent: Mask = container.is_one_sided[self.positions]
        return of_parent


_COLUMN_TYPES: Final[Mapping[str, type[np.generic]]] = {
    "kind": np.int8,
    "is_item": np.bool_,
    "in_aggregate": np.bool_,
    "outcome": np.int8,
    "similarity": np.float64,
    "score": np.float64,
    "threshold": np.float64,
    "weight": np.float64,
}
"""The numpy type of each column. A column that is not listed holds whole numbers (`np.intp`)."""

_BATCH_COLUMNS: Final = (
    *("kind", "node", "nodes", "columns", "document", "field", "order"),
    *("is_item", "is_map_key", "in_aggregate", "weight", "gt_index", "pred_index"),
    *("gt_slot", "pred_slot", "outcome", "similarity", "score", "threshold"),
)
"""The attributes of a batch that are copied to another table. Its position in the table is not
copied."""

_NOTES: Final = (
    *("reasons", "gold_slots", "n_open_items", "n_unlabelled_items"),
    *("extra_keys", "undeclared_keys"),
)
"""The attributes of a table that hold notes: facts that only few units have. Each attribute is a
dict from row to fact."""


def column_values(column: Any, positions: Indexes) -> list[Any]:
    """Return the values of a batch's column at some positions.

    A column may be a single value for all units. This value is then repeated.
    """
    if isinstance(column, np.ndarray):
        values: list[Any] = column[positions].tolist()
        return values
    return [column] * len(positions)


class UnitTable:
    """The units of some documents in batches, and notes: facts that only few units have.

    Read columns only after recording: they are computed once, when they are first read.
    """

    def __init__(self, n_documents: int, fields: FieldIndex | None = None) -> None:
        """Begin without units."""
        self.n_documents = n_documents
        self.fields = FieldIndex() if fields is None else fields
        self.batches: list[UnitBatch] = []
        self.size = 0
        """The number of rows."""
        self.reasons: dict[int, str] = {}
        """Maps the row of a unit to the reason that a judge gave for it."""
        self.gold_slots: dict[int, int] = {}
        """Maps the row of each unit with alternatives to the column position of the alternative
        that was chosen."""
        self.out_of_order: set[int] = set()
        """Rows of unpaired items of ordered lists. Each of these items would match an unpaired item
        of the other side, but the order of the list does not allow the pair."""
        self.n_open_items: dict[int, int] = {}
        """Maps the row of an open list to the number of predicted items that were dropped. An open
        list is a list whose ground truth need not name all items."""
        self.n_unlabelled_items: dict[int, int] = {}
        """Maps the row of a list or map to the number of its items or map keys that were dropped
        because they are not labelled."""
        self.extra_keys: dict[int, tuple[str, ...]] = {}
        """Maps the row of an object to the undeclared keys that only the prediction has. Each of
        these keys is a false alarm."""
        self.undeclared_keys: dict[int, tuple[str, ...]] = {}
        """Maps the row of an object to the undeclared keys of its ground truth. They are not
        evaluated."""

    def add(self, kind: int, node: Any, columns: Columns, placement: Placement) -> UnitBatch:
        """Reserve rows for units, and return them as a batch. The caller fills in their figures."""
        batch = UnitBatch(self.size, kind, node, columns, placement)
        self.batches.append(batch)
        self.size += batch.size
        return batch

    def discard(self, start: int) -> None:
        """Remove all rows from `start` on; their parents must not have figures yet."""
        while self.batches and self.batches[-1].start >= start:
            self.batches.pop()
        self.size = start
        for name in _NOTES:
            notes = getattr(self, name)
            for row in [row for row in notes if row >= start]:
                del notes[row]
        self.out_of_order = {row for row in self.out_of_order if row < start}

    def batch_of(self, row: int) -> UnitBatch:
        """Return the batch that a row belongs to."""
        return self.batches[bisect_right(self._starts, row) - 1]

    @cached_property
    def _starts(self) -> list[int]:
        return [batch.start for batch in self.batches]

    @cached_property
    def document_rows(self) -> Indexes:
        """The row of each document; shape (n_documents,)."""
        rows = np.empty(self.n_documents, np.intp)
        for batch in self.document_batches:
            rows[batch.document] = batch.rows
        return rows

    @property
    def document_batches(self) -> list[UnitBatch]:
        """The batches of whole documents; there are several if different nodes compared them."""
        return [batch for batch in self.batches if batch.container is None]

    @cached_property
    def document_scores(self) -> Floats:
        """The overall score of each document; shape (n_documents,)."""
        scores = np.empty(self.n_documents)
        for batch in self.document_batches:
            scores[batch.document] = batch.score
        return scores

    @property
    def truths(self) -> list[JsonValue]:
        """The ground truth of each document."""
        truths: list[JsonValue] = [None] * self.n_documents
        for batch in self.document_batches:
            for document, slot in zip(batch.document.tolist(), batch.gt_slot.tolist(), strict=True):
                truths[document] = batch.columns.gt[slot]
        return truths

    def sides_of(self, document: int) -> tuple[JsonValue, JsonValue, Gold | None]:
        """Return the ground truth of a document, the prediction, and the annotations.

        The annotations (*gold*), such as alternatives, belong to the ground truth. They are None if
        it has none.
        """
        row = int(self.document_rows[document])
        batch = self.batch_of(row)
        gt_slot = int(batch.gt_slot[row - batch.start])
        pred_slot = int(batch.pred_slot[row - batch.start])
        known = batch.columns.gold
        gold = None if known is None else known.by_slot[gt_slot]
        return batch.columns.gt[gt_slot], batch.columns.pred[pred_slot], gold

    def select(self, roots: Indexes) -> "UnitTable":
        """Return a table in which the given units become the documents.

        `roots` are the rows of these units. None of them may be inside another. Everything inside
        them is included.
        """
        table = UnitTable(len(roots))
        root_of_row = np.full(self.size + 1, NOTHING)  # `NOTHING` reads the last entry
        root_of_row[roots] = np.arange(len(roots))
        is_root = root_of_row != NOTHING
        # Each row inherits the root of its parent; parents come before children.
        for batch in self.batches:
            inherited = root_of_row[batch.parent]
            root_of_row[batch.span] = np.maximum(root_of_row[batch.span], inherited)

        numbers = self._renumber(table.fields, root_of_row[:-1] != NOTHING, is_root[:-1])
        copies: dict[int, UnitBatch] = {}
        new_rows = np.full(self.size, NOTHING)
        for batch in self.batches:
            (kept,) = (root_of_row[batch.span] != NOTHING).nonzero()
            if not len(kept):
                continue
            container, positions = None, np.arange(len(kept))
            if batch.container is not None and not is_root[batch.start + int(kept[0])]:
                container = copies[id(batch.container)]
                positions = new_rows[batch.parent[kept]] - container.start
            copy = table.take(batch, kept, container, positions)
            copy.document = root_of_row[batch.start + kept]
            field = numbers[batch.field]
            copy.field = field[kept] if isinstance(batch.field, np.ndarray) else int(field)
            copies[id(batch)] = copy
            new_rows[batch.start + kept] = copy.rows
        self._copy_notes(table, new_rows)
        return table

    def _renumber(self, fields: FieldIndex, is_kept: Mask, is_root: Mask) -> Indexes:
        """Number the fields of kept units anew. Return the new numbers, indexed by the old ones.

        Only fields inside the roots are numbered. They are numbered in the order of the kept units,
        because the order of old numbers depends on the chunk.
        """
        numbers = np.full(len(self.fields), NOTHING)
        numbers[self.field[is_root]] = 0
        (kept,) = is_kept.nonzero()
        kept = kept[np.lexsort((self.column("order")[kept], self.parents()[kept]))]
        for number in dict.fromkeys(self.field[kept].tolist()):  # parents come before children
            if numbers[number] == NOTHING:
                parent = int(numbers[self.fields.parents[number]])
                numbers[number] = fields.number(parent, self.fields.paths[number][-1])
        return numbers

    def _copy_notes(self, table: "UnitTable", new_rows: Indexes) -> None:
        """Copy notes to another table.

        `new_rows` has the row of each unit in the other table; -1 if the unit is not there.
        """
        for name in _NOTES:
            notes = getattr(self, name)
            copied = {int(new_rows[row]): note for row, note in notes.items()}
            copied.pop(NOTHING, None)
            setattr(table, name, copied)
        rows = {int(new_rows[row]) for row in self.out_of_order}
        table.out_of_order = rows - {NOTHING}

    def take(
        self, batch: UnitBatch, kept: Indexes, container: UnitBatch | None, positions: Indexes
    ) -> UnitBatch:
        """Copy some units of a batch in another table to this table, and return the new batch.

        `kept` has the position of each of these units in `batch`. `container` is the batch of this
        table that contains their parents; None if the units become documents. `positions` has the
        position of each unit's parent in `container`.
        """
        copy: UnitBatch = object.__new__(UnitBatch)
        for name in _BATCH_COLUMNS:
            column = getattr(batch, name)
            setattr(copy, name, column[kept] if isinstance(column, np.ndarray) else column)
        copy.start, copy.size = self.size, len(kept)
        copy.is_item = batch.is_item and container is not None
        copy.set_parents(container, positions)
        self.batches.append(copy)
        self.size += copy.size
        return copy

    def field_scores(self, document: int) -> dict[str, float]:
        """Return the score of each labelled field of a document, keyed by the name of the field.

        The dict is empty for a document that is not an object.
        """
        return self._field_scores[document]

    @cached_property
    def _field_scores(self) -> list[dict[str, float]]:
        entries: list[tuple[int, int, str, float]] = []
        for batch in self.batches:
            in_document = batch.container is not None and batch.container.is_document
            if not in_document or batch.is_document or batch.is_unlabelled:
                continue
            if batch.is_item or batch.is_side:  # the document is not an object
                continue
            positions = np.arange(batch.size)
            field_numbers = column_values(batch.field, positions)
            names = [self.fields.paths[number][-1] for number in field_numbers]
            orders = column_values(batch.order, positions)
            entries += zip(
                batch.document.tolist(), orders, names, batch.score.tolist(), strict=True
            )
        entries.sort()
        scores: list[dict[str, float]] = [{} for _ in range(self.n_documents)]
        for document, _, name, score in entries:
            scores[document][name] = score
        return scores

    def children(self, row: int) -> list[int]:
        """Return the rows of the units directly inside a unit, in order."""
        rows, first_of = self._by_parent
        parts: list[int] = rows[first_of[row] : first_of[row + 1]].tolist()
        return parts

    @cached_property
    def _by_parent(self) -> tuple[Indexes, Indexes]:
        """(rows, starts): all rows sorted by parent, and the start of each row's children.

        The children of one parent are sorted by `order`. `starts` has size + 1 entries: the
        children of row `i` are `rows[starts[i]:starts[i + 1]]`.
        """
        parent, order = self.parents(), self.column("order")
        rows = np.lexsort((order, parent))
        return rows, parent[rows].searchsorted(np.arange(self.size + 1))

    def column(self, name: str) -> NDArray[Any]:
        """Return the values of one column for all units; shape (size,)."""
        values = np.empty(self.size, _COLUMN_TYPES.get(name, np.intp))
        for batch in self.batches:
            values[batch.start : batch.start + batch.size] = getattr(batch, name)
        return values

    def parents(self) -> Indexes:
        """Return the row of each unit's parent, `NOTHING` for documents; (size,)."""
        starts = [0 if batch.container is None else batch.container.start for batch in self.batches]
        sizes = [batch.size for batch in self.batches]
        parents = np.concatenate([batch.positions for batch in self.batches])
        parents += np.repeat(starts, sizes)
        for batch in self.document_batches:
            parents[batch.span] = NOTHING
        return parents

    @cached_property
    def document(self) -> Indexes:
        """For each unit, the index of its document."""
        return self.column("document")

    @cached_property
    def field(self) -> Indexes:
        """For each unit, the number of its field in the index of fields."""
        return self.column("field")

    @cached_property
    def outcome(self) -> Outcomes:
        """The outcome of each unit, or `NOT_EVALUATED`."""
        return self.column("outcome")


def notes_by_row(notes: Mapping[int, T], batch: UnitBatch) -> dict[int, T]:
    """Return notes keyed by row. The keys of `notes` are positions in a batch."""
    return {batch.start + position: note for position, note in notes.items()}


def select_values(values: Any, selected: Indexes) -> Any:
    """Return the selected values of an array.

    A single value, which is valid for all units, is returned as it is.
    """
    return values[selected] if isinstance(values, np.ndarray) else values
