"""Single units of a table with their paths and values, for lists of errors and of values."""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from stickler_cli.compare.columns import NOTHING, Indexes, Mask
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.result import BOTH_SIDES, FA, FD, TP, Outcome
from stickler_cli.compare.units import MISMATCH, OBJECT, VALUE, UnitBatch, UnitTable, column_values
from stickler_cli.core.json_values import Alternative, JsonValue
from stickler_cli.core.locations import ANY_KEY, Path, Step

SortKey: TypeAlias = tuple[int, ...]  # sorts units in schema order, parents first
Selection: TypeAlias = Callable[[UnitBatch], Mask]  # returns which units of a batch to list
KeySelection: TypeAlias = Literal["all", "judged", "none"]  # which undeclared keys to list
_AFTER_ALL_FIELDS: Final = 1 << 40  # sorts undeclared keys behind all fields
_OUTCOMES: Final = tuple(Outcome)


class Enclosure(NamedTuple):
    """A failed object or list item that contains a unit. Because it failed, the unit is not judged.

    If several failed objects or items contain the unit, the outermost one with `is_one_sided` is
    chosen. If none of them has `is_one_sided`, the innermost one is chosen.
    """

    path: Path
    """Path of the object or item: in the ground truth, or in the prediction if the ground truth
    lacks it."""
    is_one_sided: bool
    """Whether no value inside the object or item has a partner on the other side. Each of these
    values is then either missed or invented."""


class LocatedUnit(NamedTuple):
    """A unit with its paths and values. An undeclared key counts as a unit, too."""

    table: UnitTable
    batch: UnitBatch
    position: int
    """Position of the unit in `batch`. For an undeclared key, this is the position of its
    object."""
    sort_key: SortKey
    gt_path: Path | None
    """Path in the ground truth, even if the value is absent there. None if the unit is inside an
    item that the ground truth lacks."""
    pred_path: Path | None
    """Path in the prediction, even if the value is absent there. None if the unit is inside an item
    that the prediction lacks."""
    enclosure: Enclosure | None
    """The object or list item that contains this unit and failed as a whole. The unit is then not
    judged itself. None if no object or item around the unit failed as a whole."""
    outcome: Outcome
    gt: JsonValue
    """The ground-truth value; None if it is absent."""
    pred: JsonValue
    """The predicted value; None if it is absent."""
    similarity: float
    score: float
    threshold: float
    weight: float
    undeclared_key: str | None = None
    """The name of an undeclared key; None if the unit has a row in the table."""

    @property
    def row(self) -> int:
        """The row of the unit in the table.

        For an undeclared key, this is the row of its object.
        """
        return self.batch.start + self.position

    @property
    def document(self) -> int:
        """The position of the unit's document."""
        return int(self.batch.document[self.position])

    @property
    def path(self) -> Path:
        """The path of the unit: in the prediction for a false alarm, else in the ground truth."""
        path = self.pred_path if self.outcome is Outcome.FA else self.gt_path
        return path or ()

    @property
    def field_path(self) -> tuple[str, ...]:
        """The path of the unit's field, without list indexes."""
        path = self.table.fields.paths[field_number(self.batch, self.position)]
        return path if self.undeclared_key is None else (*path, self.undeclared_key)

    @property
    def pattern(self) -> tuple[str, ...]:
        """The path of the unit's field. `*` replaces keys of maps and undeclared keys."""
        pattern = field_pattern(self.table, self.batch, self.position)
        return pattern if self.undeclared_key is None else (*pattern, ANY_KEY)

    @property
    def is_value(self) -> bool:
        """Whether the unit is compared as one value.

        If not, it is an object or list of other units.
        """
        return self.undeclared_key is not None or self.batch.kind == VALUE

    @property
    def has_parts_listed(self) -> bool:
        """Whether the fields of this unit are listed as separate units.

        This is so if the unit is an object that is the value of a field, and if both the ground
        truth and the prediction have the object.
        """
        batch = self.batch
        is_nested_object = batch.kind == OBJECT and not batch.is_item
        is_key = self.undeclared_key is not None
        return is_nested_object and not is_key and self.outcome in BOTH_SIDES

    @property
    def is_out_of_order(self) -> bool:
        """Whether the unit is an item of an ordered list that matches at another position."""
        return self.undeclared_key is None and self.row in self.table.out_of_order

    @property
    def reason(self) -> str:
        """The reason that a language model gave for its judgement; empty if no model judged it."""
        return self.table.reasons.get(self.row, "") if self.undeclared_key is None else ""

    @property
    def node(self) -> Any:
        """The node of the plan that compared the unit."""
        return self.batch.node_of(self.position)

    @property
    def comparator(self) -> Any:
        """The comparator of a value, or None for an object, a list or an undeclared key."""
        is_leaf = self.undeclared_key is None and isinstance(self.node, LeafNode)
        return self.node.comparator if is_leaf else None

    def alternatives(self) -> Iterator[tuple[int, Alternative]]:
        """Yield the ground-truth alternatives that contain this unit, the innermost first.

        Each alternative is given as (length of its path, alternative).
        """
        return alternatives_of(self.table, self.batch, self.position)


# --- locations of units ---------------------------------------------------------------------------


class Location(NamedTuple):
    """Where a unit is in its document."""

    sort_key: SortKey
    gt_path: Path | None
    pred_path: Path | None
    enclosure: Enclosure | None


def locate(table: UnitTable, batch: UnitBatch, selected: Indexes) -> list[Location]:
    """Return the locations of selected units. `selected` has their positions in the batch."""
    levels = levels_of(batch, selected)
    nowhere: list[Any] = [()] * len(selected)
    order_columns = [orders(level, positions) for level, positions in levels]
    sort_keys = [*zip(*order_columns, strict=True)] or nowhere
    steps = [
        path_steps(table, level, positions) for level, positions in levels if not level.is_side
    ]
    gt_paths = [*zip(*[gt for gt, _ in steps], strict=True)] or nowhere
    pred_paths = [*zip(*[pred for _, pred in steps], strict=True)] or nowhere

    enclosures: list[Enclosure | None] = [None] * len(selected)
    if batch.is_judged is not None:
        for index in (~batch.is_judged[selected]).nonzero()[0].tolist():
            enclosures[index] = enclosure_of(levels, index, gt_paths[index], pred_paths[index])
    return [
        Location(sort_key, whole_path(gt), whole_path(pred), enclosure)
        for sort_key, gt, pred, enclosure in zip(
            sort_keys, gt_paths, pred_paths, enclosures, strict=True
        )
    ]


def levels_of(batch: UnitBatch, selected: Indexes) -> list[tuple[UnitBatch, Indexes]]:
    """Return the selected units and everything that contains them, one level of nesting per entry.

    An entry is (batch, positions). The first entry is the outermost level, just below the document.
    The last entry is (`batch`, `selected`): the selected units themselves. In all other entries,
    `positions[i]` is the position of the unit that contains the selected unit i.
    """
    levels = []
    level, positions = batch, selected
    while level.container is not None:
        levels.append((level, positions))
        level, positions = level.container, level.positions[positions]
    levels.reverse()
    return levels


def orders(batch: UnitBatch, positions: Indexes) -> list[int]:
    """Return the position of each unit among the children of its parent."""
    return column_values(batch.order, positions)


def path_steps(
    table: UnitTable, batch: UnitBatch, positions: Indexes
) -> tuple[list[Step], list[Step]]:
    """Return the last step of each unit's path, as (steps in ground truth, steps in prediction).

    A step is the name of a field or the index of a list item. If one side lacks an item, its index
    there is `NOTHING`.
    """
    if batch.is_item:
        gt_indexes = column_values(batch.gt_index, positions)
        return gt_indexes, column_values(batch.pred_index, positions)
    paths = table.fields.paths
    names: list[Step] = [paths[number][-1] for number in column_values(batch.field, positions)]
    return names, names


def whole_path(steps: Path) -> Path | None:
    """Return `steps`, or None if a step is `NOTHING`: then the path leads through an absent item.

    `NOTHING` stands for the index of a list item on the side where the item is absent.
    """
    return None if NOTHING in steps else steps


def alternatives_of(
    table: UnitTable, batch: UnitBatch, position: int
) -> Iterator[tuple[int, Alternative]]:
    """Yield the ground-truth alternatives that contain a unit, the innermost first.

    Each alternative is given as (length of its path, alternative). If the unit is an alternative
    itself, it comes first.
    """
    level: UnitBatch | None = batch
    while level is not None:
        slot, gold = table.gold_slots.get(level.start + position), level.columns.gold
        if slot is not None and gold is not None and not level.is_side:
            choices, chosen = gold.alternatives_of(slot)
            if choices:
                (location,) = locate(table, level, np.array([position]))
                yield len(location.gt_path or ()), choices[chosen]
        if level.container is not None:
            position = int(level.positions[position])
        level = level.container


def enclosure_of(
    levels: list[tuple[UnitBatch, Indexes]], index: int, gt_path: Path, pred_path: Path
) -> Enclosure | None:
    """Return the enclosure of a unit, or None if nothing that contains the unit failed as a whole.

    `levels` is the result of `levels_of` for several selected units. `index` is the position of the
    unit among the selected units. `gt_path` and `pred_path` are the paths of the unit.
    """
    enclosure: Enclosure | None = None
    depth = 0  # number of path steps from the document to the batch
    for batch, positions in levels[:-1]:
        depth += not batch.is_side
        position = int(positions[index])
        if batch.is_closed is None or not batch.is_closed[position]:
            continue
        outcome = int(batch.outcome[position])
        if batch.kind == MISMATCH:
            enclosure = Enclosure(whole_path(gt_path[:depth]) or (), is_one_sided=True)
        elif outcome in {TP, FD}:
            enclosure = Enclosure(whole_path(gt_path[:depth]) or (), is_one_sided=False)
        else:
            path = pred_path if outcome == FA else gt_path
            enclosure = Enclosure(whole_path(path[:depth]) or (), is_one_sided=True)
        if enclosure.is_one_sided:
            return enclosure
    return enclosure


def field_number(batch: UnitBatch, position: int) -> int:
    """Return the number of a unit's field: the position of the field's path in `fields.paths`.

    `fields` is an attribute of the unit table.
    """
    return batch.field if isinstance(batch.field, int) else int(batch.field[position])


def field_pattern(table: UnitTable, batch: UnitBatch, position: int) -> tuple[str, ...]:
    """Return the path of a unit's field, in which `*` replaces keys of maps."""
    names: list[str] = []
    level = batch
    while level.container is not None:
        if not level.is_item and not level.is_side:
            path = table.fields.paths[field_number(level, position)]
            names.append(ANY_KEY if level.is_map_key else path[-1])
        position = int(level.positions[position])
        level = level.container
    return tuple(reversed(names))


# --- units of documents ---------------------------------------------------------------------------


def located_units(
    table: UnitTable, selection: Selection, extra_keys: KeySelection
) -> list[list[LocatedUnit]]:
    """Return a list of units for each document, in schema order. Parents come before children.

    `selection` is called with each batch, and returns a mask of the units to list. `extra_keys`
    says which undeclared keys are listed as well.
    """
    by_document: list[list[LocatedUnit]] = [[] for _ in range(table.n_documents)]
    for batch in table.batches:
        if batch.is_document or not batch.size:
            continue
        (selected,) = selection(batch).nonzero()
        if len(selected):
            documents = batch.document[selected].tolist()
            for document, unit in zip(documents, units_at(table, batch, selected), strict=True):
                by_document[document].append(unit)
    rows_with_extra_keys = () if extra_keys == "none" else table.extra_keys
    for row in rows_with_extra_keys:
        batch = table.batch_of(row)
        position = row - batch.start
        if extra_keys == "all" or batch.is_open(position):
            by_document[int(batch.document[position])] += extra_keys_at(table, batch, position)
    for units in by_document:
        units.sort(key=attrgetter("sort_key"))
    return by_document


def units_at(table: UnitTable, batch: UnitBatch, selected: Indexes) -> Iterator[LocatedUnit]:
    """Yield the units at the positions `selected` of a batch."""
    figures = (
        column_values(column, selected)
        for column in (batch.similarity, batch.score, batch.threshold, batch.weight)
    )
    columns = zip(
        selected.tolist(),
        locate(table, batch, selected),
        map(_OUTCOMES.__getitem__, batch.outcome[selected].tolist()),
        batch.gt_values(selected),
        batch.pred_values(selected),
        *figures,
        strict=True,
    )
    for position, location, outcome, gt, pred, similarity, score, threshold, weight in columns:
        yield LocatedUnit(
            table=table,
            batch=batch,
            position=position,
            sort_key=location.sort_key,
            gt_path=location.gt_path,
            pred_path=location.pred_path,
            enclosure=location.enclosure,
            outcome=outcome,
            gt=gt,
            pred=pred,
            similarity=similarity,
            score=score,
            threshold=threshold,
            weight=weight,
        )


def extra_keys_at(table: UnitTable, batch: UnitBatch, position: int) -> Iterator[LocatedUnit]:
    """Yield a unit for each key of a predicted object that the schema does not declare."""
    selected = np.array([position])
    (location,) = locate(table, batch, selected)
    enclosure = location.enclosure
    if enclosure is None or not enclosure.is_one_sided:
        enclosure = own_enclosure(batch, position, location) or enclosure
    (value,) = batch.pred_values(selected)
    names = table.extra_keys[batch.start + position]
    for rank, name in enumerate(names, _AFTER_ALL_FIELDS):
        yield LocatedUnit(
            table=table,
            batch=batch,
            position=position,
            sort_key=(*location.sort_key, rank),
            gt_path=None if location.gt_path is None else (*location.gt_path, name),
            pred_path=(*(location.pred_path or ()), name),
            enclosure=enclosure,
            outcome=Outcome.FA,
            gt=None,
            pred=value[name],  # type: ignore[index, call-overload] # `value` is an object
            similarity=0.0,
            score=0.0,
            threshold=0.0,
            weight=1.0,
            undeclared_key=name,
        )


def own_enclosure(batch: UnitBatch, position: int, location: Location) -> Enclosure | None:
    """Return an object as the enclosure of its undeclared keys, if the object failed as a whole.

    Return None if the object did not fail as a whole, even if an object or item around it did.
    """
    if batch.is_open(position) or batch.is_closed is None or not batch.is_closed[position]:
        return None
    outcome = int(batch.outcome[position])
    if outcome in {TP, FD}:
        return Enclosure(location.gt_path or (), is_one_sided=False)
    path = location.pred_path if outcome == FA else location.gt_path
    return Enclosure(path or (), is_one_sided=True)
