"""Profiles of the values of one field over all documents, in memory that has a bound."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from decimal import Decimal
from heapq import heappush, heappushpop
from random import Random
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.comparators.base import BaseComparator, is_number
from stickler_cli.comparators.date import DateComparator
from stickler_cli.comparators.date_parsing import StatedDate
from stickler_cli.comparators.number_parsing import parse_number
from stickler_cli.comparators.numeric import NumericComparator
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.values import dataclass
from .findings import Spot

MOST_SPELLINGS: Final = 500
"""Distinct texts of a field that are kept; a field with more is no enum in all but name."""

LONGEST_SPELLING: Final = 60
"""Characters of such a text; longer ones are prose."""

ORDINARY: Final = 1e300
"""Numbers beyond it may be infinite."""

MOST_SHAPES: Final = 50
SAMPLE: Final = 10_000
"""Numbers of a field from which its spread is taken, drawn evenly."""

MOST_EXTREMES: Final = 20
"""The least and the greatest numbers of a field, of which outliers are."""

_DIGITS: Final = re.compile(r"\d+")
_CAPITALS: Final = re.compile(r"[A-Z]+")
_LETTERS: Final = re.compile(r"[^\W\dA_]+")

SpotOf: TypeAlias = Callable[[int], Spot]
"""A function that locates one of the places of a value."""

PLACES: Final = 3
"""Places that are kept of a text or shape."""


@dataclass(slots=True)
class Texts:
    """Distinct texts, or shapes of texts, with how often and where first; up to a bound."""

    most: int
    counts: Counter[str] = field(default_factory=Counter)
    spots: dict[str, list[tuple[Spot, str]]] = field(default_factory=dict)
    overflown: bool = False

    def add(self, text: str, value: str, pairs: Sequence[int], spot_of: SpotOf) -> None:
        """Add a text that stands for a value at some places."""
        if self.overflown:
            return
        if text not in self.counts and len(self.counts) == self.most:
            self.overflown = True
            self.counts.clear()
            self.spots.clear()
            return
        self.counts[text] += len(pairs)
        kept = self.spots.setdefault(text, [])
        kept += [(spot_of(pair), value) for pair in pairs[: PLACES - len(kept)]]


class Extreme(NamedTuple):
    """A number near an end; the tuples of an end order from the inside out."""

    key: float
    """The number, or its negative at the lower end."""
    order: int
    spot: Spot
    shown: str
    number: float


@dataclass(slots=True)
class Numbers:
    """A sample of numbers, and those at either end with their places."""

    count: int = 0
    sample: list[float] = field(default_factory=list)
    least: list[Extreme] = field(default_factory=list)
    greatest: list[Extreme] = field(default_factory=list)
    _random: Random = field(default_factory=lambda: Random(0))  # noqa: S311 - a sample, no secret

    def add(self, number: float, value: JsonValue, pair: int, spot_of: SpotOf) -> None:
        """Add the number that a value at some place means."""
        self.count += 1
        if len(self.sample) < SAMPLE:
            self.sample.append(number)
        elif (at := self._random.randrange(self.count)) < SAMPLE:
            self.sample[at] = number
        for heap, key in ((self.least, -number), (self.greatest, number)):
            full = len(heap) == MOST_EXTREMES
            if not full or heap[0].key < key:
                entry = Extreme(key, -self.count, spot_of(pair), brief(value), number)
                (heappushpop if full else heappush)(heap, entry)


@dataclass(slots=True)
class Profile:
    """The values of one field that one comparator judges."""

    path: str
    node: LeafNode
    count: int = 0
    unmatched: int = 0
    """Values that do not match themselves."""
    texts: Texts = field(default_factory=lambda: Texts(MOST_SPELLINGS))
    shapes: Texts = field(default_factory=lambda: Texts(MOST_SHAPES))
    numbers: Numbers = field(default_factory=Numbers)
    """Of a field of dates, their days."""

    def add(self, value: JsonValue, pairs: Sequence[int], spot_of: SpotOf) -> None:
        """Add a value that stands at some places."""
        self.count += len(pairs)
        number = _number(self.node.comparator, value)
        if number is not None:
            for pair in pairs:
                self.numbers.add(number, value, pair, spot_of)
        elif isinstance(value, str) and len(value) <= LONGEST_SPELLING:
            self.texts.add(value, value, pairs, spot_of)
            self.shapes.add(shape_of(value), value, pairs, spot_of)


def _number(comparator: BaseComparator, value: JsonValue) -> float | None:
    """Return where a value stands on a line: a number, or the day of a date; None for others."""
    number: float | Decimal | None = value if is_number(value) else None
    if isinstance(comparator, DateComparator):
        stated = comparator.prepare(value).month_first
        number = None
        if isinstance(stated, StatedDate) and stated.is_whole:
            number = stated.first_day.toordinal()
    elif isinstance(comparator, NumericComparator) and isinstance(value, str):
        number = parse_number(value)
    return float(number) if number is not None and -ORDINARY < number < ORDINARY else None


def shape_of(text: str) -> str:
    """Return the form of a text: runs of digits, capitals and other letters as one sign each.

    >>> shape_of("INV-2024/017"), shape_of("Main St. 5")
    ('A-9/9', 'Aa Aa. 9')
    """
    return _LETTERS.sub("a", _CAPITALS.sub("A", _DIGITS.sub("9", text)))
