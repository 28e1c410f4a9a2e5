"""Columns: the values of one field on both sides, for all documents of a chunk.

Columns are the input of a comparison. A *slot* is the position of a value in a column, counted from
0. The slot `NOTHING`, which is -1, stands for an absent value. Every array that is derived from a
column has an additional last entry, for absent values. The index -1 is thus valid in such an array.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, count, repeat
from operator import sub
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.core.json_values import (
    Absence,
    Alternative,
    Gold,
    JsonValue,
    ReadingRule,
    child_gold_of,
)
from stickler_cli.core.locations import ANY_KEY, Step
from .prepared import NUMBERS, TEXTS, PreparedValues
from .work import NAME_STEPS, VALUE_STEPS, FieldWork, Work

T = TypeVar("T")

Indexes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
KindCodes: TypeAlias = NDArray[np.int8]
Floats: TypeAlias = NDArray[np.float64]
Outcomes: TypeAlias = NDArray[np.int8]

ListChildren: TypeAlias = Callable[[JsonValue], Iterable[tuple[int, JsonValue]]]
"""A function that yields (index, child) for each child of a value. The index of a list item is its
position in the list. The index of an object's value is the code of its key."""

NOTHING: Final = -1
"""Stands for an absent value in arrays of positions and in arrays of codes. The positions and codes
of other values begin at 0."""

ABSENT, LEAF, OBJECT, ARRAY = range(4)
"""The kinds of values: absent, a scalar, an object, a list."""

_SCALARS: Final = frozenset((str, int, float, bool, type(None)))
_EMPTY: Final[dict[str, Any]] = {}
SPARSE_SHARE: Final = 0.1
"""Limit for the share of objects among the values of a column. Below this limit, fields are read
only from the objects, and all other values are skipped. This saves time if many keys of a map share
a schema with many fields, because most columns then have very few objects."""


class Items(NamedTuple):
    """Items of some lists on one side, or values of some objects.

    Every array has one entry per item.
    """

    slots: Indexes
    owner: Indexes
    """For each item, the index of its list among the selected lists."""
    indexes: Indexes
    """The index of each item in its list; for a value of an object, the code of its key."""

    def select(self, selected: Mask | Indexes) -> "Items":
        """Return the selected items."""
        return Items(self.slots[selected], self.owner[selected], self.indexes[selected])


class AlignedItems(NamedTuple):
    """Items of both sides, matched by their position in a list or by their key in an object.

    Every array has one entry for each position or key.
    """

    gt: Indexes
    pred: Indexes
    """Position of the prediction's item in its column; `NOTHING` (-1) if the prediction lacks the
    item."""
    owner: Indexes
    """For each entry, the index of the list or object that it belongs to."""
    indexes: Indexes
    """Index of each entry's item in its list; in an object, the code of the key."""

    def select(self, selected: Mask | Indexes) -> "AlignedItems":
        """Return the selected entries."""
        return AlignedItems(*(column[selected] for column in self))


class ListLayout(NamedTuple):
    """Where the items of each list, or the values of each object, are in the column of all items.

    The column has no absent items. The items of one list follow each other.
    """

    starts: Indexes
    """The position of each list's first item in the column of all items."""
    lengths: Indexes
    """The number of present items of each list."""
    indexes: Indexes
    """For each item of the column, its index in the list of the document, in which absent items
    count, too. For each value of an object, the code of its key."""

    def select(self, lists: Indexes) -> Items:
        """Return the items of some lists, list by list.

        `lists` are the positions of the lists in their column.
        """
        slots, owner = expand_ranges(self.starts[lists], self.lengths[lists])
        return Items(slots, owner, self.indexes[slots])

    def have_gaps(self, lists: Indexes) -> bool:
        """Return whether one of these lists has a present item after an absent one."""
        filled = lists[self.lengths[lists] > 0]
        last_indexes = self.indexes[self.starts[filled] + self.lengths[filled] - 1]
        return bool((last_indexes >= self.lengths[filled]).any())


class InnerColumns(NamedTuple):
    """A new column with the items of all lists in a column, or with the values of all objects."""

    gt: ListLayout
    pred: ListLayout
    columns: "Columns"
    """The new column. `gt` and `pred` state where the items of each list are in this column."""


class Codes(NamedTuple):
    """Numbers that stand for the values of a column.

    Equal values have the same code on both sides. 1, 1.0 and true have different codes.
    """

    gt: Indexes
    pred: Indexes
    values: list[Any]
    """The distinct values; the index of a value is its code."""


class GoldColumn:
    """The annotations (*gold*) of a column: alternatives of ground truths, and missing labels.

    Alternatives are appended to the ground truths. Each alternative thus has a position (slot),
    too.
    """

    def __init__(self, values: list[JsonValue], gold: list[Gold | None]) -> None:
        """Store the ground truths and the annotations of each: alternatives and labels, or None."""
        self.values = [*values]
        """The ground truths, followed by all alternatives."""
        self.by_slot = [*gold]
        """The annotations of each entry of `values`; None for an entry without annotations."""
        base_slots = [*range(len(values))]
        starts, lengths = np.zeros((2, len(values) + 1), np.intp)
        for slot, stated in enumerate(gold):
            if stated is not None and stated.alternatives:
                alternatives = stated.alternatives
                starts[slot], lengths[slot] = len(base_slots), len(alternatives)
                self.values += (alternative.value for alternative in alternatives)
                self.by_slot += (alternative.gold for alternative in alternatives)
                base_slots += [slot] * len(alternatives)
        self.base_slot = np.array(base_slots, np.intp)
        """For each entry of `values`, the position of a ground truth. The entry of an alternative
        has the position of the ground truth that it belongs to. The entry of a ground truth has
        the position of the ground truth itself."""
        absent = np.zeros(len(base_slots) - len(values), np.intp)  # alternatives have none
        self.first_alternative = np.concatenate([starts[:-1], absent, [0]])
        """The position of each ground truth's first alternative; 0 if it has no alternatives. The
        last entry is for `NOTHING`."""
        self.n_alternatives = np.concatenate([lengths[:-1], absent, [0]])

        stated_gold = (*self.by_slot, None)  # `NOTHING` reads None
        self.has_gold = np.array([gold is not None for gold in stated_gold])
        """For each entry of `values`, whether it has annotations."""
        self.is_unlabelled = np.array([bool(gold and not gold.labelled) for gold in stated_gold])
        """For each entry of `values`, whether it is not labelled."""
        self.has_unlabelled = np.array([bool(gold and gold.has_unlabelled) for gold in stated_gold])
        """For each entry of `values`, whether a value inside it is not labelled."""
        self.may_be_present = np.array(
            [
                bool(gold and (gold.present_in_alternative or gold.is_optional))
                for gold in stated_gold
            ]
        )
        """Whether each value, or a value inside it, has an alternative that is present."""
        self.is_optional = np.array([bool(gold and gold.is_optional) for gold in stated_gold])
        """For each entry of `values`, whether an absent prediction is right. It is right if the
        ground truth has an absent alternative, or if everything inside the ground truth is
        optional."""
        self.all_optional = np.array([bool(gold and gold.all_optional) for gold in stated_gold])
        """Whether each value is an object or list in which everything may be absent."""
        self.is_open = np.array([bool(gold and not gold.exhaustive) for gold in stated_gold])
        """Whether each value is an open list, which need not name all items."""

    def absent_without_prediction(self, slots: Indexes, has_pred: Mask) -> Mask:
        """Return a mask of the ground truths that count as absent if the prediction is absent.

        A ground truth counts as absent if an absent prediction is right. There is one exception: an
        object or list in which everything may be absent. It counts as absent only if `has_pred` is
        true for it. `has_pred` is true if the prediction has a key or an item for the object or
        list, such as a key with null.
        """
        is_absent: Mask = self.is_optional[slots] & (has_pred | ~self.all_optional[slots])
        return is_absent

    def count_unlabelled_items(self, slots: Indexes) -> dict[int, int]:
        """Count the unlabelled items of the lists at `slots`.

        Return a dict that maps the index of a list in `slots` to its number of unlabelled items.
        Lists without such items are omitted.
        """
        counts: dict[int, int] = {}
        for position, slot in enumerate(slots.tolist()):
            gold = self.by_slot[slot] if slot >= 0 else None
            if gold is not None and gold.n_unlabelled_items:
                counts[position] = gold.n_unlabelled_items
        return counts

    def first_selected_alternatives(self, is_selected: Mask) -> Indexes:
        """Return the position of each value's first selected alternative, or `NOTHING` (-1)."""
        first = np.full(len(is_selected), NOTHING)
        alternatives = np.flatnonzero(self.base_slot != np.arange(len(self.base_slot)))
        # Write from last to first, so that the first alternative of each slot is written last.
        selected = alternatives[is_selected[alternatives]][::-1]
        first[self.base_slot[selected]] = selected
        return first

    def alternatives_of(self, slot: int) -> tuple[Sequence[Alternative], int]:
        """Return all alternatives of a ground truth, and the index of the one at `slot`."""
        base = int(self.base_slot[slot])
        gold = None if base == slot else self.by_slot[base]
        return gold.alternatives if gold else (), slot - int(self.first_alternative[base])

    def lists_with_gold(self, slots: Indexes, owner: Indexes, n_lists: int) -> Mask:
        """Return a mask of the lists in which at least one item has annotations.

        `slots` has the position of each item, and `owner` has the index of the item's list. Items
        of predictions have no annotations, and their positions are greater than those of all
        ground-truth items. The mask has the shape (n_lists,).
        """
        has_gold = self.has_gold[np.minimum(slots, len(self.by_slot))]
        return np.bincount(owner[has_gold], minlength=n_lists) > 0


class Columns:
    """The values of one field on both sides, and everything that is computed from them."""

    def __init__(
        self,
        gt: list[JsonValue],
        pred: list[JsonValue],
        work: FieldWork | None = None,
        *,
        are_present: bool = False,
        gold: list[Gold | None] | None = None,
    ) -> None:
        """Store the values of both sides.

        `gt` and `pred` have None for an absent value. `gold` has the annotations of each ground
        truth, such as alternative values, or None for a ground truth without annotations. The work
        of comparing the values is counted in `work`. `are_present` states that no value is
        absent.
        """
        self.gold: GoldColumn | None = None
        """The annotations (gold) of the ground truths; None if no ground truth has any."""
        if gold is not None and any(gold):
            self.gold, are_present = GoldColumn(gt, gold), False
            gt = self.gold.values
        self.gt, self.pred = gt, pred
        self.work = work or Work().field_work()
        self.work.charge(VALUE_STEPS * (len(gt) + len(pred)))
        self.confidences: list[JsonValue] | None = None
        """The confidences of the predictions, nested like the predictions; None if the documents
        have none."""
        self.types = frozenset(map(type, chain(gt, pred)))
        """The Python types of all values."""
        self.has_only_scalars = self.types <= _SCALARS
        """Whether all values are texts, numbers, booleans or absent."""
        self.is_plain = self.has_only_scalars and self.gold is None
        """Whether all values are scalars without gold. Such values are compared as they are."""
        self._are_present = are_present
        self._parent_objects: tuple[list[int], list[int]] | None = None
        """The positions, on each side, of the objects whose field this column has. The values at
        all other positions are None. If the column does not have the values of a single field, or
        if it has annotations, this is None."""
        self._cache: dict[Hashable, Any] = {}
        self.are_items: np.bool_ = np.bool_(False)
        """Whether the values are list items, which count as units even if they are empty."""
        self.paired_lists: Any = None
        """If the values are lists inside list items, a `PairedLists` with all items that have been
        paired so far. Otherwise None."""

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result that was stored for a key; if there is none, make and store it."""
        if key not in self._cache:
            self._cache[key] = make()
        cached: T = self._cache[key]
        return cached

    def _all_values(self) -> list[Any]:
        """Return all ground truths, one None, all predictions, and one None.

        Each None stands for `NOTHING` at the end of a side.
        """
        return [*self.gt, None, *self.pred, None]

    def _split_sides(self, values: Iterable[int], dtype: type[np.signedinteger]) -> tuple[Any, Any]:
        """Split numbers into an array for each side.

        `values` has one number for each value in `_all_values()`, in the same order.
        """
        size = len(self.gt) + 1
        numbers = np.fromiter(values, dtype, size + len(self.pred) + 1)
        return numbers[:size], numbers[size:]

    def fields(self, names: tuple[str, ...]) -> "Columns":
        """Return columns with the values of the named fields in all objects.

        The values of the first field come first, then those of the next field. A None, which stands
        for `NOTHING`, separates two fields.
        """
        columns: Columns | None = self._cache.get(names)
        if columns is None:
            is_single = len(names) == 1
            work = self.work.of_field(*names) if is_single else self.work.of_fields(names)
            gold = self._gold_of_fields(names)
            gt_objects, pred_objects = self.object_slots
            columns = Columns(
                _read_fields(self.gt, names, gt_objects),
                _read_fields(self.pred, names, pred_objects),
                work,
                gold=gold if is_single else None,
            )
            columns.is_plain = columns.is_plain and gold is None
            if is_single and columns.gold is None:
                columns._parent_objects = self.object_slots
            if self.confidences is not None:
                columns.confidences = _read_fields(
                    self.confidences,
                    names,
                    _find_objects(self.confidences, range(len(self.confidences))),
                )
            self._cache[names] = columns
        return columns

    def map_values(self, key: Hashable, convert: Callable[[JsonValue], JsonValue]) -> "Columns":
        """Return columns with all values converted, in the same order.

        The first call for a key converts the values; later calls return the same columns.
        """

        def make() -> Columns:
            columns = Columns([*map(convert, self.gt)], [*map(convert, self.pred)], self.work)
            columns.confidences, columns.gold = self.confidences, self.gold
            columns.is_plain = columns.has_only_scalars and self.gold is None
            return columns

        columns = self.cached(key, make)
        columns.are_items = self.are_items  # may have been set after `make` ran
        return columns

    def apply_reading(self, reading: ReadingRule | None) -> "Columns":
        """Return columns in which each value is replaced by the name that it stands for.

        With an alias `Germany` of `DE`, the value `Germany` becomes `DE`. A value that the schema
        counts as absent becomes None. If `reading` is None, the columns are returned unchanged.
        """
        return self if reading is None else self.map_values(id(reading), reading)

    def _gold_of_fields(self, names: tuple[str, ...]) -> list[Gold | None] | None:
        """Return the annotations of the values of the named fields.

        The annotations of all values of the first field come first, then those of the second field,
        and so on. The result is None if no value has annotations.
        """
        if self.gold is None:
            return None
        gold = [child_gold_of(of_object, name) for name in names for of_object in self.gold.by_slot]
        return gold if any(gold) else None

    @cached_property
    def object_slots(self) -> tuple[list[int], list[int]]:
        """The positions of objects in the column, for each side."""
        gt_slots, pred_slots = self._parent_objects or (range(len(self.gt)), range(len(self.pred)))
        return _find_objects(self.gt, gt_slots), _find_objects(self.pred, pred_slots)

    @cached_property
    def kinds(self) -> tuple[KindCodes, KindCodes]:
        """The kind of each value, for each side: `ABSENT`, `LEAF`, `OBJECT` or `ARRAY`."""
        if self.is_plain:
            gt, pred, _ = self.codes
            return (gt >= 0).view(np.int8), (pred >= 0).view(np.int8)  # True is LEAF
        kinds = {value_type: _kind_of_type(value_type) for value_type in self.types | {NoneType}}
        gt, pred = self._split_sides(map(kinds.__getitem__, map(type, self._all_values())), np.int8)
        if self._are_present:
            return gt, pred
        is_absent = self.work.absence
        for values, kind_of_value in (self.gt, gt), (self.pred, pred):
            for slot in np.flatnonzero(kind_of_value).tolist():
                if is_absent(values[slot]):
                    kind_of_value[slot] = ABSENT
        if self.gold is not None:
            for slot in np.flatnonzero(self.gold.is_optional).tolist():
                gt[slot] = kinds[type(self.gt[slot])]
        return gt, pred

    def drop_absent(self, gt: Indexes, pred: Indexes) -> tuple[Indexes, Indexes]:
        """Replace the positions of absent values by `NOTHING` (-1).

        `gt` and `pred` are the column positions of pairs.
        """
        if self._are_present:
            return gt, pred
        gt_kinds, pred_kinds = self.kinds
        no_gt, no_pred = gt_kinds[gt] == ABSENT, pred_kinds[pred] == ABSENT
        if self.gold is not None:  # if an alternative is absent, it is chosen
            no_gt |= no_pred & self.gold.absent_without_prediction(gt, pred >= 0)
        gt, pred = gt.copy(), pred.copy()
        gt[no_gt] = pred[no_pred] = NOTHING
        return gt, pred

    @cached_property
    def codes(self) -> Codes:
        """A code for each distinct value, from 0 on; absent values have the code `NOTHING`.

        Values of different types have different codes, so that 1 and true differ.
        """
        slot_values = self._all_values()
        if self.types <= TEXTS:
            codes_of_texts = dict.fromkeys(slot_values, NOTHING)
            texts: list[Any] = [text for text in codes_of_texts if text]  # "" is absent
            codes_of_texts.update(zip(texts, count()))
            return Codes(
                *self._split_sides(map(codes_of_texts.__getitem__, slot_values), np.intp), texts
            )
        # Values have the same code if they have the same key.
        keys: list[Any] = slot_values
        kinds = self.types & NUMBERS if self.is_plain else self.types - {type(None)}
        if len(kinds) > 1:  # 1, 1.0 and true must differ
            keys = list(zip(map(type, slot_values), slot_values, strict=True))
        try:
            value_of_key = dict(zip(keys, slot_values, strict=True))
        except TypeError:  # each list or object gets a code, as it has no hash
            keys = [
                id(value) if type(value).__hash__ is None else (type(value), value)
                for value in slot_values
            ]
            value_of_key = dict(zip(keys, slot_values, strict=True))
        codes: dict[Any, int] = {}
        distinct_values: list[Any] = []
        is_checked = not self._are_present
        for key, value in value_of_key.items():
            # Avoid the slow test for scalars, of which only None and "" are absent.
            if value is None or (
                value == "" if self.is_plain else is_checked and self.work.absence(value)
            ):
                codes[key] = NOTHING
            else:
                codes[key] = len(distinct_values)
                distinct_values.append(value)
        return Codes(*self._split_sides(map(codes.__getitem__, keys), np.intp), distinct_values)

    def prepare_for(self, comparator: BaseComparator) -> PreparedValues:
        """Return the distinct values of the column, prepared for a comparator.

        Each value is prepared when it is first needed.
        """
        prepared: PreparedValues | None = self._cache.get(id(comparator))
        if prepared is None:
            prepared = PreparedValues(comparator, self.codes.values, self.types, self.work)
            self._cache[id(comparator)] = prepared
        return prepared

    @cached_property
    def elements(self) -> InnerColumns:
        """The items of all lists, without absent ones.

        A value that is not a list counts as a list of one item.
        """

        def list_items(value: JsonValue) -> Iterable[tuple[int, JsonValue]]:
            return enumerate(value) if isinstance(value, list) else ((0, value),)

        inner = self._lay_out_children(list_items, list, int, lambda: self.work)
        gold = inner.columns.gold
        if gold is not None:  # alternatives have the index of their item
            indexes = inner.gt.indexes[gold.base_slot]
            inner = inner._replace(gt=inner.gt._replace(indexes=indexes))
        return inner

    @cached_property
    def entries(self) -> tuple[ListLayout, ListLayout, "Columns", list[str]]:
        """The values inside all objects of the column, without absent values.

        This is a tuple (gt layout, pred layout, values, keys). A layout has the positions of each
        object's values in `values`. It identifies a key by a code, the index of the key in `keys`.
        """
        code_of_key: dict[str, int] = {}
        keys: list[str] = []

        def list_entries(value: JsonValue) -> Iterable[tuple[int, JsonValue]]:
            """Yield (code of the key, value) of each value in an object.

            A new key gets the next code.
            """
            if not isinstance(value, dict):
                return
            for key, child in value.items():
                if key not in code_of_key:
                    code_of_key[key] = len(keys)
                    keys.append(key)
                yield code_of_key[key], child

        def charge_keys() -> FieldWork:
            """Count the work of reading all keys.

            Return a counter for the work of comparing the values of these keys.
            """
            self.work.charge(NAME_STEPS * len(keys))
            return self.work.of_field(ANY_KEY)

        return *self._lay_out_children(list_entries, dict, keys.__getitem__, charge_keys), keys

    def _lay_out_children(
        self,
        list_children: ListChildren,
        container: type,
        step_of: Callable[[int], Step],
        find_work: Callable[[], FieldWork],
    ) -> InnerColumns:
        """Collect the children of all lists or objects in one column, without absent children.

        `step_of` converts the index of a list item, or the code of an object's key, to a step of a
        path. `find_work` is called after all children are listed. It returns a counter for the work
        of comparing the children.
        """
        is_absent = self.work.absence
        gold: list[Gold | None] | None = None
        if self.gold is None:
            gt, gt_values = _lay_out(self.gt, list_children, is_absent)
        else:
            gold = []
            children_by_value: list[list[tuple[int, JsonValue]]] = []
            for value, value_gold in zip(self.gt, self.gold.by_slot, strict=True):
                children: list[tuple[int, JsonValue]] = []
                children_by_value.append(children)
                for index, child in list_children(value):
                    is_container = isinstance(value, container)
                    child_gold = value_gold
                    if is_container:
                        child_gold = child_gold_of(value_gold, step_of(index))
                    if not is_absent(child) or (
                        child_gold and child_gold.decides_when_absent(is_field=container is dict)
                    ):
                        children.append((index, child))
                        gold.append(child_gold)
            remaining = iter(children_by_value)  # the children that were listed above
            gt, gt_values = _lay_out(self.gt, lambda _: next(remaining), None)
        pred, pred_values = _lay_out(self.pred, list_children, is_absent)
        columns = Columns(gt_values, pred_values, find_work(), are_present=True, gold=gold)
        if self.confidences is not None:
            indexes = iter(pred.indexes.tolist())
            lengths = pred.lengths[:-1].tolist()  # drop the entry for `NOTHING`
            columns.confidences = [
                _confidence_of_child(confidences, step_of(next(indexes)))
                for confidences, length in zip(self.confidences, lengths, strict=True)
                for _ in range(length)
            ]
        return InnerColumns(gt, pred, columns)


def _confidence_of_child(confidences: Any, step: Step) -> JsonValue:
    """Return the confidence of a child in a list or object; None if the child has none.

    `confidences` are the confidences of all children. If this is a single confidence, all children
    share it. An item that was added to a list after confidences were read has none.
    """
    if isinstance(step, str):
        return confidences and confidences.get(step)  # type: ignore[no-any-return] # JSON
    if confidences.__class__ is not list:
        return confidences  # type: ignore[no-any-return]
    return confidences[step] if step < len(confidences) else None


def _kind_of_type(value_type: type) -> int:
    if value_type is NoneType:
        return ABSENT
    if issubclass(value_type, dict):
        return OBJECT
    return ARRAY if issubclass(value_type, list) else LEAF


def _find_objects(values: Sequence[Any], slots: Sequence[int]) -> list[int]:
    """Select from `slots` the positions at which `values` has an object."""
    return [slot for slot in slots if isinstance(values[slot], dict)]


def _read_fields(
    values: Sequence[Any], names: tuple[str, ...], object_slots: Sequence[int]
) -> list[Any]:
    """Return the values of the first named field in all objects, then of the next field, and so on.

    Each field gives one entry for each entry of `values`. The entry is None if the value is not an
    object, or if the object does not have the field. One more None separates two fields.
    `object_slots` has the positions of the objects among the values.
    """
    field_values: list[Any] = []
    if len(object_slots) < SPARSE_SHARE * len(values):
        for name in names:
            values_of_field: list[Any] = [None] * (len(values) + 1)  # the last is for `NOTHING`
            for slot in object_slots:
                values_of_field[slot] = values[slot].get(name)
            field_values += values_of_field
        return field_values[:-1]
    objects = [value if isinstance(value, dict) else _EMPTY for value in values]
    for name in names:
        field_values += map(dict.get, objects, repeat(name))
        field_values.append(None)  # for `NOTHING`
    return field_values[:-1]


def drop_uncoded(slots: Indexes, codes: Indexes) -> Indexes:
    """Replace the positions of absent values by `NOTHING` (-1).

    Absent values have codes below 0.
    """
    present_slots = slots.copy()
    present_slots[codes[slots] < 0] = NOTHING
    return present_slots


def _lay_out(
    values: Sequence[JsonValue], list_children: ListChildren, is_absent: Absence | None
) -> tuple[ListLayout, list[JsonValue]]:
    """Collect the children of all values in one list, and return where each value's children are.

    `is_absent` tells which children are absent and omitted. If it is None, no child is omitted.
    """
    all_children: list[JsonValue] = []
    indexes: list[int] = []
    ends = [0]
    for value in values:
        for index, child in list_children(value):
            if child.__class__ in NUMBERS or is_absent is None or not is_absent(child):
                all_children.append(child)
                indexes.append(index)
        ends.append(len(all_children))
    starts = np.array(ends)
    lengths = np.array([*map(sub, ends[1:], ends), 0])
    return ListLayout(starts, lengths, np.array(indexes, np.intp)), all_children


def distinct(numbers: Indexes) -> Indexes:
    """Return the sorted distinct numbers."""
    # np.unique would load numpy.ma, which takes 5% of the time of a small run.
    in_order = np.sort(numbers)
    is_new = np.ones(len(numbers), np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    distinct_numbers: Indexes = in_order[is_new]
    return distinct_numbers


def group_positions(numbers: Indexes) -> Iterator[tuple[int, Indexes]]:
    """Yield each distinct number in ascending order, and the positions at which it occurs."""
    for number in distinct(numbers).tolist():
        yield number, (numbers == number).nonzero()[0]


def expand_ranges(starts: Indexes, lengths: Indexes) -> tuple[Indexes, Indexes]:
    """Return all numbers in the ranges [start, start + length), and the range of each number.

    A range is given by its index.
    >>> numbers, owner = expand_ranges(np.array([10, 20]), np.array([2, 1]))
    >>> numbers.tolist(), owner.tolist()
    ([10, 11, 20], [0, 0, 1])
    """
    owner = np.arange(len(lengths)).repeat(lengths)
    first_of_range = lengths.cumsum() - lengths
    return starts[owner] + np.arange(len(owner)) - first_of_range[owner], owner


def align_items(gt: Items, pred: Items, n_indexes: int) -> AlignedItems:
    """Match the items of two sides that have the same index in the same list.

    All indexes are below `n_indexes`. The result has an entry for each list and index at which at
    least one side has an item, sorted by list and then by index.
    """
    gt_key = gt.owner * n_indexes + gt.indexes
    pred_key = pred.owner * n_indexes + pred.indexes
    keys = distinct(np.concatenate([gt_key, pred_key]))
    gt_slots, pred_slots = np.full((2, len(keys)), NOTHING)
    gt_slots[keys.searchsorted(gt_key)] = gt.slots
    pred_slots[keys.searchsorted(pred_key)] = pred.slots
    return AlignedItems(gt_slots, pred_slots, owner=keys // n_indexes, indexes=keys % n_indexes)
