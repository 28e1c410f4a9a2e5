"""The values of one place on both sides, for all documents of a chunk: what a comparison reads.

A column has a slot for each unit: a document at the root, an element below a list. What is derived
of it (the columns of fields and elements, codes of equal values) is made once, when it is asked
for, so that a schema that contains itself goes only as deep as the documents do.

A pair of values is two slots; `NOTHING` stands for an absent side. Every derived array has one
entry more than there are slots, the last, which is what `NOTHING` reads.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.absence import is_absent
from stickler_cli.core.json_values import JsonValue

Indexes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Kinds: TypeAlias = NDArray[np.int8]

NOTHING: Final = -1
"""The slot of an absent value, and its code."""

ABSENT, LEAF, OBJECT, ARRAY = range(4)
"""What a slot holds: nothing, a scalar, or one of the two containers."""

_SCALARS: Final = frozenset((str, int, float, bool, type(None)))
_NUMBERS: Final = frozenset((int, float, bool))

ORDINARY: Final = 1e300
"""Numbers beyond it may be infinite, or larger than a comparator reads."""


class Elements(NamedTuple):
    """The present elements of the lists of one side, or the present values of its objects."""

    starts: Indexes
    """The slot of the first element of each list."""
    lengths: Indexes
    """How many elements each list has."""
    places: Indexes
    """Of each element, its index in its list as it stands in the document, or its name's code."""


class Codes(NamedTuple):
    """Equal values have equal codes, on both sides; 1, 1.0 and true differ."""

    gt: Indexes
    pred: Indexes
    values: list[Any]
    """The distinct values, by code."""


@dataclass(slots=True)
class Prepared:
    """The distinct values of a column as one comparator wants them, each made when needed."""

    comparator: BaseComparator
    values: list[Any]
    ready: NDArray[np.object_]
    made: Mask
    """Which of the values are ready."""
    reflexive: Mask | None = None
    keys: Indexes | None = None
    keyed: bool = False
    """Whether the comparator was asked for keys."""

    def of(self, codes: Indexes) -> list[Any]:
        """Return the prepared values of codes."""
        if not (made := self.made[codes]).all():
            for code in distinct(codes[~made]).tolist():
                self.ready[code] = self.comparator.prepare(self.values[code])
                self.made[code] = True
        prepared: list[Any] = self.ready[codes].tolist()
        return prepared


class Columns:
    """Both sides of one place."""

    def __init__(self, gt: list[JsonValue], pred: list[JsonValue]) -> None:
        """Take the values of both sides; None where there is none."""
        self.gt, self.pred = gt, pred
        self._fields: dict[str, Columns] = {}
        self._kinds: tuple[Kinds, Kinds] | None = None
        self._types: frozenset[type] | None = None
        self._codes: Codes | None = None
        self._prepared: dict[int, Prepared] = {}
        self._elements: tuple[Elements, Elements, Columns] | None = None
        self._entries: tuple[Elements, Elements, Columns, list[str]] | None = None
        self._derived: dict[Hashable, Any] = {}
        self.pairings: dict[tuple[int, int], Any] = {}
        """Of pairs of lists met while other elements were paired: which of their elements pair."""

    @property
    def types(self) -> frozenset[type]:
        """The Python types of all values."""
        if self._types is None:
            self._types = frozenset(map(type, self.gt)) | frozenset(map(type, self.pred))
        return self._types

    @property
    def scalar(self) -> bool:
        """Whether no value is an object, a list or something that JSON does not have."""
        return self.types <= _SCALARS

    def field(self, name: str) -> "Columns":
        """Return the columns of a field of objects; other values have none."""
        found = self._fields.get(name)
        if found is None:
            found = Columns(_field(self.gt, name), _field(self.pred, name))
            self._fields[name] = found
        return found

    def kinds(self) -> tuple[Kinds, Kinds]:
        """Return what every slot holds: `ABSENT`, `LEAF`, `OBJECT` or `ARRAY`."""
        if self._kinds is None:
            self._kinds = _kinds(self.gt), _kinds(self.pred)
        return self._kinds

    def present(self, gt: Indexes, pred: Indexes) -> tuple[Indexes, Indexes]:
        """Return the pairs with `NOTHING` for every absent value."""
        gt_kinds, pred_kinds = self.kinds()
        return (
            np.where(gt_kinds[gt] == ABSENT, NOTHING, gt),
            np.where(pred_kinds[pred] == ABSENT, NOTHING, pred),
        )

    def codes(self) -> Codes:
        """Return a number for each value; absent ones have `NOTHING`."""
        if self._codes is None:
            self._codes = self._coded()
        return self._codes

    def _coded(self) -> Codes:
        table: dict[Hashable, int] = {}
        alike = len(self.types - {type(None)}) <= 1  # else 1, 1.0 and true would share a code

        def code(value: Any) -> int:
            if value is None or (not value and isinstance(value, str)):
                return NOTHING
            key = value if alike else (value.__class__, value)
            try:
                return table.setdefault(key, len(table))
            except TypeError:  # a list or an object that a comparator takes whole
                if is_absent(value):
                    return NOTHING
                return table.setdefault((_Same(value),), len(table))

        gt, pred = (
            np.fromiter(chain(map(code, side), (NOTHING,)), np.intp, len(side) + 1)
            for side in (self.gt, self.pred)
        )
        return Codes(gt, pred, [_value(key, alike) for key in table])

    def prepared(self, comparator: BaseComparator) -> Prepared:
        """Return what a comparator makes of the distinct values, empty at first."""
        found = self._prepared.get(id(comparator))
        if found is None:
            values = self.codes().values
            size = len(values)
            found = Prepared(comparator, values, np.empty(size, object), np.zeros(size, np.bool_))
            self._prepared[id(comparator)] = found
        return found

    def surely_alike(self, comparator: BaseComparator) -> Mask | None:
        """Return for each code whether two such values surely match; None if all do."""
        prepared = self.prepared(comparator)
        types = self.types - {type(None)}
        if types <= comparator.reflexive and not types & {int, float}:
            return None
        if prepared.reflexive is None:
            prepared.reflexive = np.fromiter(
                (_is_alike(value, comparator.reflexive) for value in prepared.values),
                np.bool_,
                len(prepared.values),
            )
        return prepared.reflexive

    def keys(self, comparator: BaseComparator) -> Indexes | None:
        """Return for each code a key; unequal ones have similarity 0. None without such keys.

        The last one, which is what `NOTHING` reads, is that of no value.
        """
        prepared = self.prepared(comparator)
        if not prepared.keyed:
            prepared.keyed = True
            ready = prepared.of(np.arange(len(prepared.values)))
            keys = comparator.keys(ready)
            prepared.keys = None if keys is None else np.append(keys, NOTHING)
        return prepared.keys

    def elements(self) -> tuple[Elements, Elements, "Columns"]:
        """Return the present elements of all lists; what is no list is a list of one."""
        if self._elements is None:
            gt, gt_values = _elements(self.gt)
            pred, pred_values = _elements(self.pred)
            self._elements = gt, pred, Columns(gt_values, pred_values)
        return self._elements

    def entries(self) -> tuple[Elements, Elements, "Columns", list[str]]:
        """Return the present values of all objects, and the names that their places stand for."""
        if self._entries is None:
            names: dict[str, int] = {}
            gt, gt_values = _entries(self.gt, names)
            pred, pred_values = _entries(self.pred, names)
            self._entries = gt, pred, Columns(gt_values, pred_values), list(names)
        return self._entries

    def derived(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what `make` returned when it was first called for this key."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def values(self, gt: int, pred: int) -> tuple[JsonValue, JsonValue]:
        """Return the values of a pair; None for an absent side."""
        return (
            None if gt == NOTHING else self.gt[gt],
            None if pred == NOTHING else self.pred[pred],
        )


class _Same:
    """A value that cannot be hashed: equal to itself only."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _value(key: Any, alike: bool) -> Any:
    if key.__class__ is tuple and len(key) == 1 and key[0].__class__ is _Same:
        return key[0].value
    return key if alike else key[1]


def _is_alike(value: Any, reflexive: frozenset[type]) -> bool:
    kind = value.__class__
    return kind in reflexive and (kind not in _NUMBERS or -ORDINARY < value < ORDINARY)


def _field(values: Sequence[Any], name: str) -> list[Any]:
    return [
        value.get(name) if value.__class__ is dict or isinstance(value, dict) else None
        for value in values
    ]


def kind(value: object) -> int:
    """Return what a slot with this value holds."""
    if is_absent(value):
        return ABSENT
    if isinstance(value, dict):
        return OBJECT
    return ARRAY if isinstance(value, list) else LEAF


def _kinds(values: Sequence[Any]) -> Kinds:
    types = frozenset(map(type, values))
    if types <= _NUMBERS:
        kinds: Iterable[int] = [LEAF] * len(values)
    elif types <= {str, type(None)}:  # True is LEAF, and the rest is empty
        kinds = map(bool, values)
    else:
        kinds = map(kind, values)
    return np.fromiter(chain(kinds, (ABSENT,)), np.int8, len(values) + 1)


def _elements(values: Sequence[JsonValue]) -> tuple[Elements, list[JsonValue]]:
    flat: list[JsonValue] = []
    places: list[int] = []
    lengths = []
    for value in values:
        before = len(flat)
        if isinstance(value, list):
            for place, element in enumerate(value):
                if element.__class__ in _NUMBERS or not is_absent(element):
                    flat.append(element)
                    places.append(place)
        elif not is_absent(value):
            flat.append(value)
            places.append(0)
        lengths.append(len(flat) - before)
    return _offsets(lengths, places), flat


def _entries(
    values: Sequence[JsonValue], names: dict[str, int]
) -> tuple[Elements, list[JsonValue]]:
    flat: list[JsonValue] = []
    places: list[int] = []
    lengths = []
    for value in values:
        before = len(flat)
        if isinstance(value, dict):
            for name, part in value.items():
                if not is_absent(part):
                    flat.append(part)
                    places.append(names.setdefault(name, len(names)))
        lengths.append(len(flat) - before)
    return _offsets(lengths, places), flat


def _offsets(lengths: list[int], places: list[int]) -> Elements:
    sizes = np.array([*lengths, 0], dtype=np.intp)
    return Elements(np.cumsum(sizes) - sizes, sizes, np.array(places, dtype=np.intp))


def distinct(numbers: Indexes) -> Indexes:
    """Return the different ones of some numbers, sorted."""
    # Not np.unique, which loads numpy.ma: a twentieth of what a run of few documents takes.
    in_order = np.sort(numbers)
    is_new = np.ones(len(numbers), np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    found: Indexes = in_order[is_new]
    return found


def spread(starts: Indexes, lengths: Indexes) -> tuple[Indexes, Indexes]:
    """Return the slots of all elements of some lists, and the position of the list of each."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    return starts[owner] + np.arange(len(owner)) - first[owner], owner


def aligned(
    gt: tuple[Indexes, Indexes, Indexes], pred: tuple[Indexes, Indexes, Indexes], places: int
) -> tuple[Indexes, Indexes, Indexes, Indexes]:
    """Put the elements of two sides together that are at the same place of the same list.

    Args:
        gt: slot, list and place of each element of the ground truths; no place of a list twice.
        pred: the same of the predictions.
        places: one more than the greatest place.

    Returns:
        Slot of the ground truth, slot of the prediction, list and place of each place that either
        side has, by list and place; `NOTHING` where a side has nothing there.
    """
    gt_key, pred_key = gt[1] * places + gt[2], pred[1] * places + pred[2]
    either = distinct(np.concatenate([gt_key, pred_key]))
    gt_slots, pred_slots = np.full((2, len(either)), NOTHING)
    gt_slots[np.searchsorted(either, gt_key)] = gt[0]
    pred_slots[np.searchsorted(either, pred_key)] = pred[0]
    return gt_slots, pred_slots, either // places, either % places
