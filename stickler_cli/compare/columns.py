"""The values of one place on both sides, for all documents of a chunk: a comparison's input.

A column has a slot for each unit: docs/architecture.md, "The engine". Every derived array has one
entry more than there are slots, the last, which `NOTHING` reads.
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
from stickler_cli.core.json_values import Absence, Alternative, Gold, JsonValue, Reading, part_of
from stickler_cli.core.locations import ANY_KEY, Step
from .prepared import NUMBERS, TEXTS, Prepared
from .work import NAME, VALUE, Place, Work

T = TypeVar("T")

Indexes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Kinds: TypeAlias = NDArray[np.int8]
Floats: TypeAlias = NDArray[np.float64]
Outcomes: TypeAlias = NDArray[np.int8]

Parts: TypeAlias = Callable[[JsonValue], Iterable[tuple[int, JsonValue]]]
Aligned: TypeAlias = tuple[Indexes, Indexes, Indexes, Indexes]  # as `aligned` returns them

NOTHING: Final = -1
"""The slot of an absent value, and its code."""

ABSENT, LEAF, OBJECT, ARRAY = range(4)
"""What a slot holds: nothing, a scalar, or one of the two containers."""

_SCALARS: Final = frozenset((str, int, float, bool, type(None)))
_EMPTY: Final[dict[str, Any]] = {}


class Elements(NamedTuple):
    """The present elements of the lists of one side, or the present values of its objects."""

    starts: Indexes
    """The slot of the first element of each list."""
    lengths: Indexes
    """How many elements each list has."""
    places: Indexes
    """Of each element, its index in its list as it stands in the document, or its name's code."""

    def of(self, lists: Indexes) -> tuple[Indexes, Indexes, Indexes]:
        """Return the elements of some lists: slot, position of its list, and place of each."""
        slots, owner = spread(self.starts[lists], self.lengths[lists])
        return slots, owner, self.places[slots]

    def have_gaps(self, lists: Indexes) -> bool:
        """Return whether some of these lists have a present element after an absent one."""
        filled = lists[self.lengths[lists] > 0]
        last_places = self.places[self.starts[filled] + self.lengths[filled] - 1]
        return bool((last_places >= self.lengths[filled]).any())


class Codes(NamedTuple):
    """Equal values have equal codes, on both sides; 1, 1.0 and true differ."""

    gt: Indexes
    pred: Indexes
    values: list[Any]
    """The distinct values, by code."""


class Known:
    """The gold of a column, whose alternatives are further slots of it."""

    def __init__(self, values: list[JsonValue], gold: list[Gold | None]) -> None:
        """Take the values and the gold of each."""
        self.values, self.of, base = [*values], [*gold], [*range(len(values))]
        starts, lengths = np.zeros((2, len(values) + 1), np.intp)
        for slot, known in enumerate(gold):
            if known is not None and known.alternatives:
                starts[slot], lengths[slot] = len(base), len(known.alternatives)
                self.values += (it.value for it in known.alternatives)
                self.of += (it.gold for it in known.alternatives)
                base += [slot] * len(known.alternatives)
        self.base = np.array(base, np.intp)
        """Of each slot, the one that its alternative is of."""
        more = np.zeros(len(base) - len(values), np.intp)
        self.starts = np.concatenate([starts[:-1], more, [0]])
        """Where the alternatives of each slot are, as `Elements` has it; then of nothing."""
        self.lengths = np.concatenate([lengths[:-1], more, [0]])
        self.said = np.array([it is not None for it in (*self.of, None)])
        """Of which slots anything is said."""
        self.unlabelled = np.array([bool(it and not it.labelled) for it in (*self.of, None)])
        """Of which slots nobody has said what is there."""
        self.hiding = np.array([bool(it and it.hides) for it in (*self.of, None)])
        """Which slots have something inside of which nobody has."""
        self.there = np.array([bool(it and (it.there or it.optional)) for it in (*self.of, None)])
        """Which slots hold something in some alternative, their own or inside."""
        self.optional = np.array([bool(it and it.optional) for it in (*self.of, None)])
        """Which slots may hold nothing or a value, by alternatives of their own or inside."""
        self.lacks = np.array([bool(it and it.lacks) for it in (*self.of, None)])
        """Which slots hold a value in which all may be missing."""
        self.open = np.array([bool(it and not it.exhaustive) for it in (*self.of, None)])
        """Which slots are lists that need not have all elements."""

    def lacking(self, slots: Indexes, among: Mask) -> Mask:
        """Return what is absent where nothing is predicted, maybe among other things."""
        found: Mask = self.optional[slots] & (among | ~self.lacks[slots])
        return found

    def dropped(self, slots: Indexes) -> dict[int, int]:
        """Return by position how many elements of lists are not labelled, where any are."""
        each = ((at, self.of[slot]) for at, slot in enumerate(slots.tolist()) if slot >= 0)
        return {at: known.dropped for at, known in each if known is not None and known.dropped}

    def first_of(self, some: Mask) -> Indexes:
        """Return for each slot its first alternative among some slots, or nothing."""
        found = np.full(len(some), -1)
        further = np.flatnonzero(self.base != np.arange(len(self.base)))
        chosen = further[some[further]][::-1]
        found[self.base[chosen]] = chosen  # the first is the last that is put there
        return found

    def alternatives(self, slot: int) -> tuple[Sequence[Alternative], int]:
        """Return the alternatives of the place of a slot that is one, and which of them it is."""
        base = int(self.base[slot])
        known = None if base == slot else self.of[base]
        return known.alternatives if known else (), slot - int(self.starts[base])

    def owners(self, slots: Indexes, owner: Indexes, size: int) -> Mask:
        """Return which of some owners have slots of which something is said, of all slots."""
        said = self.said[np.minimum(slots, len(self.of))]
        return np.bincount(owner[said], minlength=size) > 0


class Columns:
    """Both sides of one place."""

    def __init__(
        self,
        gt: list[JsonValue],
        pred: list[JsonValue],
        place: Place | None = None,
        *,
        are_present: bool = False,
        gold: list[Gold | None] | None = None,
    ) -> None:
        """Take the values of both sides; None where there is none, if they are not all present.

        What is done with them is counted as work of the place. Beside ground truths there may be
        what is said of each.
        """
        self.gold: Known | None = None
        """None where nothing is said of any."""
        if gold is not None and any(gold):
            self.gold, are_present = Known(gt, gold), False
            gt = self.gold.values
        self.gt, self.pred = gt, pred
        self.place = place or Work().place()
        self.place.charge(VALUE * (len(gt) + len(pred)))
        self.confidences: list[JsonValue] | None = None
        """Those of the predictions, in their shape; None of a chunk without any."""
        self.types = frozenset(map(type, chain(gt, pred)))
        """The Python types of all values."""
        self.plain = self.types <= _SCALARS
        """Whether no value is an object, a list or something that JSON does not have."""
        self.scalar = self.plain and self.gold is None
        """Whether in addition nothing is said of any, so that each can be compared as it is."""
        self._are_present = are_present
        self._derived: dict[Hashable, Any] = {}
        self.listed: np.bool_ = np.bool_(False)
        """Whether these are elements of lists, each a unit of its list whatever is in it."""
        self.pairings: Any = None
        """Of pairs of lists met while other elements were paired: what they came to."""

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `make`, which is called once for each key."""
        if key not in self._derived:
            self._derived[key] = make()
        found: T = self._derived[key]
        return found

    def _both(self) -> list[Any]:
        """Return all slots of one side, then of the other; None for what `NOTHING` reads."""
        return [*self.gt, None, *self.pred, None]

    def _sides(self, values: Iterable[int], dtype: type[np.signedinteger]) -> tuple[Any, Any]:
        """Return numbers of all slots as an array for each side."""
        size = len(self.gt) + 1
        numbers = np.fromiter(values, dtype, size + len(self.pred) + 1)
        return numbers[:size], numbers[size:]

    def fields(self, names: tuple[str, ...]) -> "Columns":
        """Return the columns of fields of objects, one after the other with a `NOTHING` between."""
        found: Columns | None = self._derived.get(names)
        if found is None:
            place = self.place.below(*names) if len(names) == 1 else self.place.of_fields(names)
            gold = self._gold_of_fields(names)
            one = gold if len(names) == 1 else None
            found = Columns(_fields(self.gt, names), _fields(self.pred, names), place, gold=one)
            found.scalar = found.scalar and gold is None
            if self.confidences is not None:
                found.confidences = _fields(self.confidences, names)
            self._derived[names] = found
        return found

    def read(self, key: Hashable, read: Callable[[JsonValue], JsonValue]) -> "Columns":
        """Return the columns of the same slots with all values read in some way."""

        def make() -> Columns:
            found = Columns([*map(read, self.gt)], [*map(read, self.pred)], self.place)
            found.confidences, found.gold = self.confidences, self.gold
            found.scalar = found.plain and self.gold is None
            return found

        found = self.derived(key, make)
        found.listed = self.listed  # which is said after elements were paired
        return found

    def read_by(self, reading: Reading | None) -> "Columns":
        """Return the columns of the names that values stand for; None for what is nothing."""
        return self if reading is None else self.read(id(reading), reading)

    def _gold_of_fields(self, names: tuple[str, ...]) -> list[Gold | None] | None:
        """Return the gold of fields, one after the other; None where there is none."""
        if self.gold is None:
            return None
        found = [part_of(known, name) for name in names for known in self.gold.of]
        return found if any(found) else None

    @cached_property
    def kinds(self) -> tuple[Kinds, Kinds]:
        """The kind of the value in every slot: `ABSENT`, `LEAF`, `OBJECT` or `ARRAY`."""
        if self.scalar:
            gt, pred, _ = self.codes
            return (gt >= 0).view(np.int8), (pred >= 0).view(np.int8)  # True is LEAF
        kinds: dict[type, int] = {NoneType: ABSENT}
        for of in self.types - {NoneType}:
            kinds[of] = OBJECT if issubclass(of, dict) else ARRAY if issubclass(of, list) else LEAF
        if self._are_present:
            return self._sides(map(kinds.__getitem__, map(type, self._both())), np.int8)
        absent = self.place.absence
        found = (ABSENT if absent(value) else kinds[type(value)] for value in self._both())
        gt, pred = self._sides(found, np.int8)
        for slot in np.flatnonzero(self.gold.optional).tolist() if self.gold else ():
            gt[slot] = kinds[type(self.gt[slot])]
        return gt, pred

    def present(self, gt: Indexes, pred: Indexes) -> tuple[Indexes, Indexes]:
        """Return the pairs with `NOTHING` for every absent value."""
        if self._are_present:
            return gt, pred
        gt_kinds, pred_kinds = self.kinds
        no_gt, no_pred = gt_kinds[gt] == ABSENT, pred_kinds[pred] == ABSENT
        if self.gold is not None:  # of alternatives the absent one counts
            no_gt |= no_pred & self.gold.lacking(gt, pred >= 0)
        gt, pred = gt.copy(), pred.copy()
        gt[no_gt] = pred[no_pred] = NOTHING
        return gt, pred

    @cached_property
    def codes(self) -> Codes:
        """A number for each value; absent ones have `NOTHING`."""
        both = self._both()
        if self.types <= TEXTS:
            texts = dict.fromkeys(both, NOTHING)
            values: list[Any] = [text for text in texts if text]
            texts.update(zip(values, count()))
            return Codes(*self._sides(map(texts.__getitem__, both), np.intp), values)
        keys: list[Any] = both
        kinds = self.types & NUMBERS if self.scalar else self.types - {type(None)}
        if len(kinds) > 1:  # else 1, 1.0 and true would share a code
            keys = list(zip(map(type, both), both, strict=True))
        try:
            found = dict(zip(keys, both, strict=True))
        except TypeError:  # lists and objects, whatever is to be done with them
            keys = [
                id(value) if type(value).__hash__ is None else (type(value), value)
                for value in both
            ]
            found = dict(zip(keys, both, strict=True))
        values = []
        looks_inside = not self._are_present
        for key, value in found.items():
            # Of scalars these are nothing, and most columns are of scalars.
            if value is None or (
                value == "" if self.scalar else looks_inside and self.place.absence(value)
            ):
                found[key] = NOTHING
            else:
                found[key] = len(values)
                values.append(value)
        return Codes(*self._sides(map(found.__getitem__, keys), np.intp), values)

    def prepared(self, comparator: BaseComparator) -> Prepared:
        """Return what a comparator makes of the distinct values, none of it at first."""
        found: Prepared | None = self._derived.get(id(comparator))
        if found is None:
            found = Prepared(comparator, self.codes.values, self.types, self.place)
            self._derived[id(comparator)] = found
        return found

    @cached_property
    def elements(self) -> tuple[Elements, Elements, "Columns"]:
        """The present elements of all lists; any other value is a list of one."""

        def parts(value: JsonValue) -> Iterable[tuple[int, JsonValue]]:
            return enumerate(value) if isinstance(value, list) else ((0, value),)

        gt, pred, found = self._inside(parts, list, int, lambda: self.place)
        if found.gold is not None:  # an alternative stands where its element does
            gt = gt._replace(places=gt.places[found.gold.base])
        return gt, pred, found

    @cached_property
    def entries(self) -> tuple[Elements, Elements, "Columns", list[str]]:
        """The present values of all objects, and the names that their places stand for."""
        codes: dict[str, int] = {}
        names: list[str] = []

        def parts(value: JsonValue) -> Iterable[tuple[int, JsonValue]]:
            for name, part in value.items() if isinstance(value, dict) else ():
                if name not in codes:
                    codes[name] = len(names)
                    names.append(name)
                yield codes[name], part

        def place() -> Place:
            self.place.charge(NAME * len(names))
            return self.place.below(ANY_KEY)

        return *self._inside(parts, dict, names.__getitem__, place), names

    def _inside(
        self, parts: Parts, kind: type, step: Callable[[int], Step], place: Callable[[], Place]
    ) -> "tuple[Elements, Elements, Columns]":
        """Lay out the parts of values of a kind that count, with what is known of each."""
        absent = self.place.absence
        gold: list[Gold | None] | None = None
        if self.gold is None:
            gt, gt_values = _parts(self.gt, parts, absent)
        else:
            gold = []
            rows = list[list[tuple[int, JsonValue]]]()
            for value, known in zip(self.gt, self.gold.of, strict=True):
                row = list[tuple[int, JsonValue]]()
                rows.append(row)
                for at, part in parts(value):
                    said = part_of(known, step(at)) if isinstance(value, kind) else known
                    if not absent(part) or (said and said.counts(named=kind is dict)):
                        row.append((at, part))
                        gold.append(said)
            each = iter(rows)
            gt, gt_values = _parts(self.gt, lambda _: next(each), None)
        pred, pred_values = _parts(self.pred, parts, absent)
        found = Columns(gt_values, pred_values, place(), are_present=True, gold=gold)
        if self.confidences is not None:
            places = iter(pred.places.tolist())
            sizes = pred.lengths[:-1].tolist()  # the last is for `NOTHING`
            stated = zip(self.confidences, sizes, strict=True)
            found.confidences = [
                _of_part(known, step(next(places))) for known, size in stated for _ in range(size)
            ]
        return gt, pred, found


def _of_part(known: Any, step: Step) -> JsonValue:
    """Return the confidence of a part; an instance may have got elements since it was read."""
    if isinstance(step, str):
        return known and known.get(step)  # type: ignore[no-any-return] # JSON
    if known.__class__ is not list:
        return known  # type: ignore[no-any-return]
    return known[step] if step < len(known) else None


def _fields(values: Sequence[Any], names: tuple[str, ...]) -> list[Any]:
    objects = [value if isinstance(value, dict) else _EMPTY for value in values]
    found: list[Any] = []
    for name in names:
        found += map(dict.get, objects, repeat(name))
        found.append(None)  # for `NOTHING`
    return found[:-1]


def present(slots: Indexes, codes: Indexes) -> Indexes:
    """Return slots with `NOTHING` for those whose values are absent, given the codes of all."""
    found = slots.copy()
    found[codes[slots] < 0] = NOTHING
    return found


def _parts(
    values: Sequence[JsonValue],
    parts: Parts,
    absent: Absence | None,
) -> tuple[Elements, list[JsonValue]]:
    """Lay out the present parts of values one after the other; all parts without `absent`."""
    found: list[JsonValue] = []
    places: list[int] = []
    ends = [0]
    for value in values:
        for place, part in parts(value):
            if part.__class__ in NUMBERS or absent is None or not absent(part):
                found.append(part)
                places.append(place)
        ends.append(len(found))
    starts = np.array(ends)
    lengths = np.array([*map(sub, ends[1:], ends), 0])
    return Elements(starts, lengths, np.array(places, np.intp)), found


def distinct(numbers: Indexes) -> Indexes:
    """Return the different ones of some numbers, sorted."""
    # Not np.unique, which loads numpy.ma: a twentieth of what a run of few documents takes.
    in_order = np.sort(numbers)
    is_new = np.ones(len(numbers), np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    found: Indexes = in_order[is_new]
    return found


def groups(numbers: Indexes) -> Iterator[tuple[int, Indexes]]:
    """Return each of the different ones of some numbers, and where it is."""
    for number in distinct(numbers).tolist():
        yield number, (numbers == number).nonzero()[0]


def spread(starts: Indexes, lengths: Indexes) -> tuple[Indexes, Indexes]:
    """Return the slots of all elements of some lists, and the position of the list of each."""
    owner = np.arange(len(lengths)).repeat(lengths)
    first = lengths.cumsum() - lengths
    return starts[owner] + np.arange(len(owner)) - first[owner], owner


def aligned(
    gt: tuple[Indexes, Indexes, Indexes], pred: tuple[Indexes, Indexes, Indexes], places: int
) -> Aligned:
    """Put the elements of two sides together that are at the same place of the same list.

    Each side is slot, list and place of its elements, which are before `places`. Returned are both
    slots, `NOTHING` where a side has none, list and place of each place that either side has.
    """
    gt_key, pred_key = gt[1] * places + gt[2], pred[1] * places + pred[2]
    either = distinct(np.concatenate([gt_key, pred_key]))
    gt_slots, pred_slots = np.full((2, len(either)), NOTHING)
    gt_slots[either.searchsorted(gt_key)] = gt[0]
    pred_slots[either.searchsorted(pred_key)] = pred[0]
    return gt_slots, pred_slots, either // places, either % places
