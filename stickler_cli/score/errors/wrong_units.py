"""The wrong units of a table: which units are errors, their classes, and what is inside them."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np

from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.result import BOTH_SIDES, ERRORS, FA, FD, FN, TN, TP
from stickler_cli.compare.units import (
    LIST,
    MISMATCH,
    OBJECT,
    VALUE,
    UnitBatch,
    UnitTable,
)
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from .early_ends import DocumentEnd, EarlyEnds, find_item_indexes, find_place, is_after_end
from .error_classes import ErrorClass, ValuePlaces, classify, origins
from .located_units import (
    LocatedUnit,
    field_pattern,
    located_units,
)

_CONTAINERS: Final = frozenset({OBJECT, LIST, MISMATCH})


class Origin(NamedTuple):
    """Says that a wrong field took its value from other fields, its sources.

    `field` is the path of the wrong field, and `of` has the paths of the sources.
    """

    field: tuple[str, ...]
    of: tuple[tuple[str, ...], ...]
    """The paths of one or two source fields. If there is one source, the wrong value equals the
    true value of this source. The source may also be the same field in another list item. If there
    are two sources, the wrong value is the product of their predicted values."""


class ClassifiedError(NamedTuple):
    """A wrong unit and its error class."""

    unit: LocatedUnit
    error_class: ErrorClass
    differing: tuple[str, ...] = ()
    """Names of the fields in which a pair of list items differs."""
    n_wrong_values: int | None = None
    """Number of wrong values inside an item or object; None if the unit is a single value."""
    elsewhere: Path | None = None
    """The path at which the ground truth has the value that was predicted here. It is set only if
    the error class is `SWAPPED`; otherwise, it is None."""
    origins: tuple[Origin, ...] = ()
    """Where the wrong values of the unit seem to come from."""
    end: DocumentEnd | None = None
    """Where the document ends early. It is set only if this unit is missed after that place;
    otherwise, it is None."""

    @property
    def loses_values(self) -> bool:
        """Whether the wrong values of this unit are counted for this error.

        Each wrong value is counted for only one error. The result is False if the wrong values of
        this unit are counted for a unit that contains this unit, or for the units inside it.
        """
        if self.n_wrong_values is None:
            return self.unit.enclosure is None
        is_closed = self.unit.batch.is_closed
        return is_closed is not None and bool(is_closed[self.unit.position])


class SimpleErrors(NamedTuple):
    """Missed or invented values of one field. The outcome alone determines their class."""

    field_path: tuple[str, ...]
    pattern: tuple[str, ...]
    """The path of the field, with `*` for keys of maps."""
    error_class: ErrorClass
    documents: Indexes
    """The number of each value's document; shape (n,)."""
    is_judged: Mask
    """Mask of the values that are judged, an array of shape (n,). A value is not judged if it is
    inside an object or item that failed as a whole."""
    is_after_end: Mask
    """Whether each value comes after the end of a document that ends early; shape (n,)."""


class DocumentErrors(Protocol):
    """The errors of compared documents, with the ids, units and early ends of these documents."""

    @property
    def simple_errors(self) -> list[SimpleErrors]:
        """The missed and invented values of all documents.

        There is one entry for each field and error class.
        """

    @property
    def compared_ids(self) -> Sequence[str]:
        """The ids of the documents."""

    @property
    def is_wrong(self) -> Mask:
        """Whether each document has an error; shape (n_documents,)."""

    @property
    def table(self) -> UnitTable:
        """The units of the documents."""

    @property
    def early_ends(self) -> EarlyEnds:
        """Maps the number of each document that ends early to where and how it ends."""

    def classified(self, selected: Mask | None = None) -> Iterator[ClassifiedError]:
        """Yield the errors that are not simple, of all documents or only of the selected ones."""


# --- which units are wrong --------------------------------------------------------------------


def is_wrong(batch: UnitBatch) -> Mask:
    """Return a mask of the units of a batch that are errors; its shape is (size,).

    An object or list item that failed as a whole is an error, and so is each wrong value inside it.
    If an object or item failed because one side lacks it, the inner objects and lists are not
    errors, but the values are. For example, if a list item is missed that contains an object with
    two values, the errors are the item and the two values.
    """
    if batch.kind not in _CONTAINERS | {VALUE} or (batch.kind == LIST and not batch.is_item):
        return np.zeros(batch.size, np.bool_)
    outcome = batch.outcome
    is_error: Mask = (outcome >= FD) & (outcome <= FN)
    if batch.kind != VALUE and batch.is_in_one_sided is not None:
        is_error &= ~batch.is_in_one_sided
    return is_error


def is_simple(table: UnitTable, batch: UnitBatch) -> Mask:
    """Return which units of a batch are simple errors: missed or invented values.

    There are two exceptions. If both sides have an object, an invented field of this object is not
    a simple error, because the invented value may belong to another field. A list item at a wrong
    position (see `UnitTable.out_of_order`) is not a simple error either.
    """
    if batch.kind != VALUE:
        return np.zeros(batch.size, np.bool_)
    is_missed: Mask = batch.outcome == FN
    if batch.is_item:
        is_unpaired: Mask = is_missed | (batch.outcome == FA)
        if table.out_of_order:
            is_unpaired &= ~np.isin(batch.rows, [*table.out_of_order])
        return is_unpaired
    if batch.is_in_one_sided is not None:
        is_missed |= (batch.outcome == FA) & batch.is_in_one_sided
    return is_missed


def is_judged_unit(batch: UnitBatch) -> Mask:
    """Return a mask of the units of a batch that are judged and counted; its shape is (size,).

    A unit is not judged if it is inside a unit that failed as a whole. All judged units are
    counted, with two exceptions. A list that is a field is counted only if it is empty on both
    sides. A list item that is an object or a list is counted only if it does not match.
    """
    if batch.kind not in _CONTAINERS | {VALUE}:
        return np.zeros(batch.size, np.bool_)
    is_judged = np.ones(batch.size, np.bool_)
    if batch.is_judged is not None:
        is_judged &= batch.is_judged
    if batch.kind == LIST and not batch.is_item:
        is_judged &= batch.outcome == TN
    elif batch.is_item and batch.kind in {OBJECT, LIST}:
        is_judged &= batch.outcome != TP
    return is_judged


def is_present_value(batch: UnitBatch) -> Mask:
    """Return which units of a batch are values that at least one side has; shape (size,)."""
    if batch.kind != VALUE:
        return np.zeros(batch.size, np.bool_)
    is_present: Mask = batch.outcome != TN
    return is_present


def has_errors(table: UnitTable) -> bool:
    """Return whether any unit is wrong, or any prediction has an undeclared key."""
    return bool(table.extra_keys) or any(
        np.count_nonzero(is_wrong(batch)) for batch in table.batches if not batch.is_document
    )


def count_wrong_inside(table: UnitTable) -> Indexes:
    """Return the number of wrong values inside each unit that failed as a whole.

    The result has an entry for each row of the table. If a wrong value is inside several units that
    failed as a whole, it counts only for the innermost of these units. An object or list item
    inside a unit that one side lacks does not fail separately, so its values count for the
    outer unit.
    """
    n_inside = np.zeros(table.size, np.intp)
    for row, names in table.extra_keys.items():
        n_inside[row] = len(names)
    for batch in reversed(table.batches):  # from children to parents
        if batch.container is None or batch.is_document or not batch.size:
            continue
        n_wrong = n_inside[batch.span]
        if batch.kind in _CONTAINERS:
            is_closed = np.zeros(batch.size, np.bool_)
            if batch.is_closed is not None:
                is_closed |= batch.is_closed
            if batch.is_in_one_sided is not None:
                is_closed &= ~batch.is_in_one_sided
            # A unit that failed as a whole keeps its number; all others pass it on to their parent.
            passed_on = np.where(is_closed, 0, n_wrong)
            n_wrong[~is_closed] = 0
        else:
            passed_on = is_wrong(batch).astype(np.intp)
        np.add.at(n_inside, batch.parent, passed_on)
    return n_inside


# --- errors by class ------------------------------------------------------------------------------

_SIMPLE_CLASSES: Final = {
    False: {FN: ErrorClass.MISSED_VALUE, FA: ErrorClass.INVENTED_VALUE},
    True: {FN: ErrorClass.MISSED_ITEM, FA: ErrorClass.INVENTED_ITEM},
}
"""The class of a simple error, as `_SIMPLE_CLASSES[is_item][outcome]`. `is_item` says whether the
error is a list item."""


def classified_errors(
    table: UnitTable, truths: Sequence[JsonValue], early_ends: EarlyEnds
) -> list[list[ClassifiedError]]:
    """Return the errors of each document in schema order, except the simple errors.

    A simple error is a missed or invented value (see `is_simple`). `truths` has the ground truth of
    each document.
    """
    n_inside = count_wrong_inside(table)
    by_document = located_units(
        table, lambda batch: is_wrong(batch) & ~is_simple(table, batch), extra_keys="all"
    )
    errors = []
    for truth, units in zip(truths, by_document, strict=True):
        places = ValuePlaces(truth)
        errors.append(
            [with_end(classified_error(unit, places, n_inside), early_ends) for unit in units]
        )
    return errors


def outermost_errors(table: UnitTable, truths: Sequence[JsonValue]) -> list[list[ClassifiedError]]:
    """Return the errors of each document that are not inside another error, in schema order."""

    def is_outermost(batch: UnitBatch) -> Mask:
        # A unit is judged unless it is inside a unit that failed as a whole.
        return is_wrong(batch) if batch.is_judged is None else is_wrong(batch) & batch.is_judged

    errors: list[list[ClassifiedError]] = []
    by_document = located_units(table, is_outermost, extra_keys="judged")
    for truth, units in zip(truths, by_document, strict=True):
        places = ValuePlaces(truth)
        errors.append(
            [
                simple_error(unit) if is_simple_unit(unit) else classified_error(unit, places, None)
                for unit in units
            ]
        )
    return errors


def classified_error(
    unit: LocatedUnit, places: ValuePlaces, n_inside: Indexes | None
) -> ClassifiedError:
    """Find the error class of a wrong unit, and return the unit as a classified error.

    `places` has the values of the document's ground truth. `n_inside` has the number of wrong
    values inside each unit of the table, or is None if these numbers are not needed.
    """
    if unit.gt_path is None:  # the unit is inside an item that the ground truth lacks
        places = ValuePlaces(None)
    error_class = classify(unit.outcome, unit.path, unit.gt, unit.pred, places, unit.comparator)
    if unit.is_out_of_order:
        error_class = ErrorClass.MOVED
    differing, n_right = compared_fields(unit)
    if error_class is ErrorClass.WRONG_ITEM and n_right >= len(differing) > 0:
        error_class = ErrorClass.ITEM_WITH_ERRORS
    n_wrong_values = None
    if n_inside is not None and not unit.is_value:
        n_wrong_values = int(n_inside[unit.row])
    is_swapped = error_class is ErrorClass.SWAPPED
    elsewhere = places.find_other_place(unit.pred, unit.path) if is_swapped else None
    return ClassifiedError(
        unit=unit,
        error_class=error_class,
        differing=differing,
        n_wrong_values=n_wrong_values,
        elsewhere=elsewhere,
        origins=tuple(find_origins(unit, elsewhere, differing)),
    )


def find_origins(
    unit: LocatedUnit, elsewhere: Path | None, differing: tuple[str, ...]
) -> Iterator[Origin]:
    """Yield origins: the fields from which the wrong values of a unit seem to be taken.

    `elsewhere` is the path at which the ground truth has the predicted value of the unit, or None
    if there is no such path. If there is a path, the field at this path is the only origin.

    Otherwise, if the unit is a pair of objects, the source of each field in `differing` is searched
    for among the other fields of the pair. One field may have the wrong value, or two fields may
    have it as their product.
    """
    gt, pred = unit.gt, unit.pred
    if elsewhere is not None:
        names = tuple(step for step in elsewhere if isinstance(step, str))
        yield Origin(unit.field_path, (names,))
    elif differing and isinstance(gt, dict) and isinstance(pred, dict):
        path = unit.field_path
        for name, others in origins(gt, pred, differing):
            yield Origin((*path, name), tuple((*path, other) for other in others))


def compared_fields(unit: LocatedUnit) -> tuple[tuple[str, ...], int]:
    """Return (names of the fields in which two items differ, number of right fields).

    Declared fields come first, in schema order, followed by undeclared keys.
    """
    batch, table = unit.batch, unit.table
    is_pair = batch.is_item and batch.kind == OBJECT and unit.outcome in BOTH_SIDES
    if not is_pair or unit.undeclared_key is not None:
        return (), 0
    differing, n_right = [], 0
    for child in table.children(unit.row):
        field = table.batch_of(child)
        outcomes = field_outcomes(table, field, child)
        if outcomes & ERRORS:
            differing.append(table.fields.paths[int(table.field[child])][-1])
        elif TP in outcomes:
            n_right += 1
    return (*differing, *table.extra_keys.get(unit.row, ())), n_right


def field_outcomes(table: UnitTable, batch: UnitBatch, row: int) -> set[int]:
    """Return the outcomes of a field: its own outcome, or those of its items if it is a list.

    For a list without items, it is the list's own outcome. The set is empty for an unlabelled
    field.
    """
    if batch.is_unlabelled:
        return set()
    if batch.kind == LIST:
        outcomes = {int(table.outcome[item]) for item in table.children(row)}
        if outcomes:
            return outcomes
    return {int(table.outcome[row])}


def is_simple_unit(unit: LocatedUnit) -> bool:
    """Return whether a wrong unit is a simple error, which is a missed or invented value."""
    if unit.undeclared_key is not None:
        return False
    return bool(is_simple(unit.table, unit.batch)[unit.position])


def simple_error(unit: LocatedUnit) -> ClassifiedError:
    """Return a missed or invented value with its error class."""
    return ClassifiedError(unit, _SIMPLE_CLASSES[unit.batch.is_item][int(unit.outcome)])


def with_end(error: ClassifiedError, early_ends: EarlyEnds) -> ClassifiedError:
    """Return an error; set its `end` if its unit is missed because the document ends early.

    A document ends early if the prediction has no value from some field or list item on. If a unit
    is missed after this point, its error gets the `end`. All other errors are returned unchanged.
    """
    unit = error.unit
    end = early_ends.get(unit.document) if early_ends and unit.outcome == FN else None
    if end is None:
        return error
    place = find_place(unit.table, unit.batch, unit.position)
    (item_index,) = find_item_indexes(unit.batch, np.array([unit.position]))
    return error._replace(end=end) if end.is_before(place, item_index) else error


def located_simple_errors(table: UnitTable, early_ends: EarlyEnds) -> list[list[ClassifiedError]]:
    """Return the simple errors of each document as single errors, in schema order."""
    by_document = located_units(table, lambda batch: is_simple(table, batch), extra_keys="none")
    return [[with_end(simple_error(unit), early_ends) for unit in units] for units in by_document]


def simple_errors(table: UnitTable, early_ends: EarlyEnds) -> list[SimpleErrors]:
    """Return the simple errors of all documents, grouped by field and class.

    A simple error is a missed or invented value whose class follows from its outcome. Many such
    errors are classified at once as arrays, which is fast.
    """
    errors: list[SimpleErrors] = []
    for batch in table.batches:
        if batch.kind != VALUE:
            continue
        selected = is_simple(table, batch)
        for outcome, error_class in _SIMPLE_CLASSES[batch.is_item].items():
            (positions,) = (selected & (batch.outcome == outcome)).nonzero()
            if len(positions):
                errors += simple_errors_by_field(table, batch, positions, error_class, early_ends)
    return errors


def simple_errors_by_field(
    table: UnitTable,
    batch: UnitBatch,
    positions: Indexes,
    error_class: ErrorClass,
    early_ends: EarlyEnds,
) -> Iterator[SimpleErrors]:
    """Yield the simple errors of one class, one group for each field.

    `positions` are the positions of the errors in the batch.
    """
    is_selected = np.zeros(batch.size, np.bool_)
    is_selected[positions] = True
    for number, positions_of_field in batch.positions_by_field():
        selected = positions_of_field[is_selected[positions_of_field]]
        if not len(selected):
            continue
        is_judged = np.ones(len(selected), np.bool_)
        if batch.is_judged is not None:
            is_judged = batch.is_judged[selected]
        is_missed = batch.outcome[selected] == FN
        yield SimpleErrors(
            field_path=table.fields.paths[number],
            pattern=field_pattern(table, batch, int(selected[0])),
            error_class=error_class,
            documents=batch.document[selected],
            is_judged=is_judged,
            is_after_end=is_missed & is_after_end(table, batch, selected, early_ends),
        )
