"""Statistics of the lists in one field: lengths, rows of tables, running numbers, boxes.

The statistics take limited memory, however many documents are observed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from stickler_cli.core.json_values import JsonObject, JsonValue, kind_of

MAX_LENGTHS: Final = 50
"""Maximum number of different list lengths that are counted."""
MAX_POSITIONS: Final = 20
"""Longest list for which the kinds of values are recorded at each position. In longer lists, all
positions are assumed to have values of the same kinds."""
BOX_NUMBERS: Final = 4
QUADRILATERAL_NUMBERS: Final = 8
AREA_WITHIN: Final = 0.005
"""Largest relative difference between a stated area and width times height."""
MIN_COUNTED: Final = 3
"""A field may number the items of a list. If only one list shows this, the list must have at least
this many items. If several lists show it, two items in each list are enough."""
_NUMERIC: Final = frozenset({"number", "array"})
_LEAF_KINDS: Final = frozenset({"string", "number", "integer", "boolean", "null"})


@dataclass(slots=True, eq=False)
class BoxCounts:
    """Counts of possible boxes: lists of four numbers, which state either two corners or a size.

    The counts show whether the last two numbers are width and height, or a second corner.
    """

    n_boxes: int = 0
    n_left_of_start: int = 0
    """Number of boxes whose third number is less than the first."""
    n_above_start: int = 0
    """Number of boxes whose fourth number is less than the second."""
    n_areas: int = 0
    """Number of boxes whose object also states an area."""
    n_products: int = 0
    """Number of boxes whose third number times the fourth gives the stated area."""

    def add(self, numbers: Sequence[float]) -> None:
        """Count one box, given as four numbers."""
        self.n_boxes += 1
        self.n_left_of_start += numbers[2] < numbers[0]
        self.n_above_start += numbers[3] < numbers[1]

    def add_area(self, numbers: Sequence[float], area: float) -> None:
        """Count one box whose object also states an area."""
        self.n_areas += 1
        self.n_products += abs(numbers[2] * numbers[3] - area) <= AREA_WITHIN * abs(area)

    def absorb(self, other: "BoxCounts") -> None:
        """Add the counts of another field."""
        self.n_boxes += other.n_boxes
        self.n_left_of_start += other.n_left_of_start
        self.n_above_start += other.n_above_start
        self.n_areas += other.n_areas
        self.n_products += other.n_products

    @property
    def have_sizes(self) -> bool:
        """Whether the third and fourth number of the boxes are width and height, not a corner."""
        some_above = 0 < self.n_above_start < self.n_boxes
        all_products = 0 < self.n_areas == self.n_products
        return self.n_left_of_start > 0 or some_above or all_products


@dataclass(slots=True, eq=False)
class ListShape:
    """Statistics of the lists observed in one field."""

    lengths: Counter[int] = field(default_factory=Counter)
    has_tables: bool = False
    """Whether a list with at least two rows was observed. A row is a list inside the list."""
    is_ragged: bool = False
    """Whether the rows of a list differ in length, have fewer than two cells, or stand beside
    values that are not rows."""
    kinds_by_position: list[set[str]] | None = field(default_factory=list)
    """Kinds of the values at each position, without null. This becomes None if a list is longer
    than `MAX_POSITIONS`."""
    counters: dict[str, int] | None = None
    """Maps the name of each field that numbers the items in every list so far to its first number.
    The first number is 0 for a field with 0, 1, 2, and 1 for a field with 1, 2, 3. This is None
    until a list of objects is added."""
    n_counted_lists: int = 0
    """Number of lists with at least two objects."""
    max_counted: int = 0
    """Number of objects in the longest list."""
    boxes: BoxCounts = field(default_factory=BoxCounts)

    def add(self, values: list[JsonValue]) -> None:
        """Count a list: its length, the kinds of its values, its rows, and if it may be a box."""
        if len(self.lengths) < MAX_LENGTHS or len(values) in self.lengths:
            self.lengths[len(values)] += 1
        self._add_kinds(values)
        self._add_rows(values)
        items = [value for value in values if isinstance(value, dict)]
        if items:
            self._add_items(items)
        elif numbers := box_numbers(values):
            self.boxes.add(numbers)

    def _add_kinds(self, values: list[JsonValue]) -> None:
        if self.kinds_by_position is None or len(values) > MAX_POSITIONS:
            self.kinds_by_position = None
            return
        for position, value in enumerate(values):
            if position == len(self.kinds_by_position):
                self.kinds_by_position.append(set())
            if value is not None:
                kind = kind_of(value)
                self.kinds_by_position[position].add("number" if kind == "integer" else kind)

    def _add_rows(self, values: list[JsonValue]) -> None:
        rows = [value for value in values if isinstance(value, list)]
        if not rows:
            return
        lengths = {len(row) for row in rows}
        n_present = sum(value is not None for value in values)
        self.has_tables |= len(rows) > 1
        self.is_ragged |= len(lengths) > 1 or min(lengths) < 2 or n_present > len(rows)

    def _add_items(self, items: list[JsonObject]) -> None:
        names = items[0] if self.counters is None else self.counters
        starts = {name: _first_counted([item.get(name) for item in items]) for name in names}
        earlier_counters = self.counters
        self.counters = {
            name: start
            for name, start in starts.items()
            if start is not None and (earlier_counters is None or earlier_counters[name] == start)
        }
        self.n_counted_lists += len(items) > 1
        self.max_counted = max(self.max_counted, len(items))

    def absorb(self, other: "ListShape") -> None:
        """Add the statistics of another field."""
        self.lengths.update(other.lengths)
        self.has_tables |= other.has_tables
        self.is_ragged |= other.is_ragged
        self._absorb_kinds(other)
        if self.counters is None or other.counters is None:
            self.counters = other.counters if self.counters is None else self.counters
        else:
            self.counters = dict(self.counters.items() & other.counters.items())
        self.n_counted_lists += other.n_counted_lists
        self.max_counted = max(self.max_counted, other.max_counted)
        self.boxes.absorb(other.boxes)

    def _absorb_kinds(self, other: "ListShape") -> None:
        if self.kinds_by_position is None or other.kinds_by_position is None:
            self.kinds_by_position = None
            return
        for position, kinds in enumerate(other.kinds_by_position):
            if position == len(self.kinds_by_position):
                self.kinds_by_position.append(set())
            self.kinds_by_position[position] |= kinds

    @property
    def is_table(self) -> bool:
        """Whether lists contain rows, and all rows of a list have one length (at least 2)."""
        return self.has_tables and not self.is_ragged

    @property
    def differs_by_position(self) -> bool:
        """Whether the kind of value depends on the position, as in a list of a name and a number.

        Each position must always have the same kind.
        """
        kinds = [kinds for kinds in self.kinds_by_position or () if kinds]
        alike = all(len(of_position) == 1 and of_position <= _LEAF_KINDS for of_position in kinds)
        return alike and len(set.union(set(), *kinds)) > 1

    @property
    def running_numbers(self) -> tuple[str, ...]:
        """Sorted names of the fields that number the items in every observed list.

        The values of such a field are 0, 1, 2, ... or 1, 2, 3, ... Empty if the lists are too few
        and too short to show this: see `MIN_COUNTED`.
        """
        is_shown = self.max_counted >= MIN_COUNTED or self.n_counted_lists > 1
        return tuple(sorted(self.counters or ())) if is_shown else ()

    def have_lengths(self, *lengths: int) -> bool:
        """Return whether all observed lists have one of these lengths; False if there are none."""
        return bool(self.lengths) and set(self.lengths) <= {*lengths}

    @property
    def summary(self) -> tuple[object, ...]:
        """The facts from which the comparisons of the lists are inferred, for use as a dict key.

        If the lists of two fields have equal summaries, the same comparisons are inferred for them.
        """
        kinds = set.union(set(), *(self.kinds_by_position or ()))
        of_interest = ((4, 8), (8,), (2, 4), (4,), (2,), (2, 3, 4)) if kinds <= _NUMERIC else ()
        lengths = tuple(self.have_lengths(*allowed_lengths) for allowed_lengths in of_interest)
        forms = self.is_table, self.differs_by_position, self.boxes.have_sizes
        return (*lengths, *forms, self.running_numbers)


def _first_counted(values: Sequence[JsonValue]) -> int | None:
    """Return the first number if values count up by one from 0 or 1, otherwise None.

    Texts of digits count as numbers.
    """
    numbers = [_whole_number(value) for value in values]
    start = numbers[0]
    if start not in (0, 1):
        return None
    return start if numbers == [*range(start, start + len(numbers))] else None


def _whole_number(value: JsonValue) -> int | None:
    if isinstance(value, str) and len(value) <= 9 and value.isascii() and value.isdigit():
        return int(value)
    return value if type(value) is int else None


def box_numbers(values: JsonValue) -> Sequence[float] | None:
    """Return the four numbers of a box, or None if the values are not a box.

    A box may also be written as two pairs of numbers.
    """
    if not isinstance(values, list):
        return None
    if len(values) == 2:
        pairs = [pair for pair in values if isinstance(pair, list) and len(pair) == 2]
        values = [number for pair in pairs for number in pair]
    is_box = len(values) == BOX_NUMBERS and all(type(value) in (int, float) for value in values)
    return values if is_box else None  # type: ignore[return-value]
