"""Values in a record, read so that whatever is wrong in it is told with its place."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import Path, json_pointer, parse_field_path
from stickler_cli.core.problems import Problem, UsageError

_DIGITS: Final = re.compile(r"[0-9]{1,100}")
"""A sum; a hundred digits are more documents than there can be."""

MOST: Final = sys.float_info.max
"""Above any number in a record; NaN, infinities and what no float holds are not below it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A value somewhere in a record. All its methods raise `UsageError` for what does not fit."""

    value: object
    source: str
    """The file, as the user named it; empty for a record in memory."""
    place: Path = ()

    def refused(self, expected: str, hint: str = "") -> UsageError:
        """Return the error that says what should be here."""
        pointer = json_pointer(self.place)
        found = f"the value is {brief(self.value)}"
        return UsageError([Problem(self.source, found, expected, hint, pointer)])

    def entries(self) -> "Iterator[tuple[str, Part]]":
        """Yield the parts of an object by name."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        for name, value in self.value.items():
            yield name, Part(value, self.source, (*self.place, name))

    def parts(self) -> "Iterator[Part]":
        """Yield the parts of an array."""
        if not isinstance(self.value, list):
            raise self.refused("an array")
        for index, value in enumerate(self.value):
            yield Part(value, self.source, (*self.place, index))

    def find(self, name: str) -> "Part | None":
        """Return the part of an object with this name; None where there is none."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        if name not in self.value:
            return None
        return Part(self.value[name], self.source, (*self.place, name))

    def at(self, name: str, hint: str = "") -> "Part":
        """Return the part of an object with this name."""
        found = self.find(name)
        if found is None:
            pointer = json_pointer(self.place)
            problem = Problem(self.source, f"{name} is missing", "", hint, pointer)
            raise UsageError([problem])
        return found

    def count(self) -> int:
        """Return a number of things."""
        if type(self.value) is not int or self.value < 0:
            raise self.refused("a whole number of at least 0")
        return self.value

    def total(self) -> int:
        """Return a sum, which is written as text since it may have more than 64 bits."""
        if not isinstance(self.value, str) or not _DIGITS.fullmatch(self.value):
            raise self.refused("a whole number as text")
        return int(self.value)

    def number(self) -> float:
        """Return a finite number."""
        value = self.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < MOST:
            raise self.refused("a number")
        return float(value)

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.refused("true or false")
        return self.value

    def text(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            raise self.refused("a string")
        return self.value

    def names(self) -> tuple[str, ...]:
        """Return the path of a field without list indexes."""
        try:
            path = parse_field_path(self.text())
        except ValueError:
            raise self.refused("a field path") from None
        names = tuple(step for step in path if isinstance(step, str))
        if not names or len(names) < len(path):
            raise self.refused("a field path without list indexes")
        return names
