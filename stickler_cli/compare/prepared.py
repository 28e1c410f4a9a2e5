"""The distinct values of a column as one comparator wants them."""

from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.codes import codes_of
from stickler_cli.core.json_values import json_line
from .work import PREPARED, Place

ORDINARY_LENGTH: Final = 17
"""Letters of a number."""

NUMBERS: Final = frozenset((int, float, bool))

ORDINARY: Final = 1e300
"""Numbers beyond it may be infinite, or larger than a comparator reads."""


_TEXTS: Final = frozenset((str, type(None)))
_WITHOUT_LETTERS: Final = NUMBERS | {type(None)}


class Prepared:
    """The distinct values of a column as one comparator wants them, each made when needed."""

    def __init__(
        self, comparator: BaseComparator, values: list[Any], types: frozenset[type], place: Place
    ) -> None:
        """Take the values of both sides by their codes, their types, and where they stand."""
        self.values = values
        self._comparator, self._place, self._types = comparator, place, types
        self._ready: dict[int, Any] = {}
        self.alike = _alike(values, types - {type(None)}, _reflexive(comparator))
        """For each code whether two such values surely match; None if all do."""

    def of(self, codes: NDArray[np.intp]) -> list[Any]:
        """Return the prepared values of codes."""
        asked, ready = codes.tolist(), self._ready
        new = sorted(set(asked).difference(ready))
        if not ready:  # the letters of all values, each of which is read once
            self._place.charge(PREPARED * int(self.lengths.sum()) // 100)
        self._place.charge(PREPARED * len(new))
        for code in new:
            ready[code] = self._comparator.prepare(self.values[code])
        return [*map(ready.__getitem__, asked)]

    @cached_property
    def lengths(self) -> NDArray[np.intp]:
        """For each code how long the value is, in letters."""
        if self._types <= _TEXTS:
            return np.fromiter(map(len, self.values), np.intp, len(self.values))
        if self._types <= _WITHOUT_LETTERS:
            return np.full(len(self.values), ORDINARY_LENGTH)
        return np.fromiter(map(_length, self.values), np.intp, len(self.values))

    @cached_property
    def keys(self) -> NDArray[np.intp] | None:
        """For each code a key, and one for `NOTHING`; unequal ones have similarity 0."""
        keys = self._comparator.keys(self.of(np.arange(len(self.values))))
        return None if keys is None else np.array([*keys.tolist(), -1])  # which `NOTHING` reads

    @cached_property
    def equal(self) -> tuple[NDArray[np.intp], float] | None:
        """Codes of equal prepared values, and what unequal ones lack of a full match at least."""
        values = self.of(np.arange(len(self.values)))
        lack = self._comparator.unequal_lack(values)
        return None if lack is None else (np.array([*codes_of(values).tolist(), -1]), lack)


def _reflexive(comparator: BaseComparator) -> frozenset[type]:
    """Return the types of which equal values match; a text that cannot be read is the same text."""
    return comparator.reflexive | ({str} if comparator.same_text else set())


def _alike(
    values: list[Any], types: frozenset[type], reflexive: frozenset[type]
) -> NDArray[np.bool_] | None:
    if types <= reflexive and not types & {int, float}:
        return None
    alike = [
        type(value) in reflexive and (type(value) not in NUMBERS or -ORDINARY < value < ORDINARY)
        for value in values
    ]
    return None if all(alike) else np.array(alike)


def _length(value: object) -> int:
    """Return about how many letters a value has in a document."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict | list):
        return len(json_line(value))
    return ORDINARY_LENGTH
