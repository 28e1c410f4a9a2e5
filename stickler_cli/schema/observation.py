"""What was seen of values at each place of any number of documents, in bounded space.

How often a place, a kind or a key occurs is counted in all documents. What texts read as is
judged by the first `SAMPLE` of each place.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from stickler_cli.comparators.number_parsing import parse_number
from stickler_cli.core.json_values import JsonObject, JsonValue, kind_of

SAMPLE: Final = 500
"""Texts of a place whose form is looked at, and lists whose keys are."""
MOST_VALUES: Final = 50
"""Distinct texts of a place that are kept; a place with more has no set of values."""
LONGEST_VALUE: Final = 60
"""Characters of such a text; a longer one is no value of a set."""
MOST_KEYS: Final = 300
"""Keys of an object that are places of their own; an object with more is a map."""
MOST_PLACES: Final = 20_000
"""Places in all; what comes after them is of any kind."""
DEEPEST: Final = 40
"""Levels that are told apart; what is below is of any kind."""

ALIKE: Final = 0.9
"""The share of the texts of a place that have a form, at which the place has it."""

_DATE: Final = re.compile(
    r"\d{4}[-/.]\d\d?[-/.]\d\d?\b.*"
    r"|\d\d?[-/. ](\d\d?|[^\W\d_]{3,9}\.?)[-/., ]+\d{2,4}\b.*"
    r"|[^\W\d_]{3,9}\.? \d\d?(st|nd|rd|th)?,? \d{4}"
)
"""How a date looks whose field nobody called one."""


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    from stickler_cli.comparators.date_parsing import readings  # loads dateutil

    return any(readings(text, dayfirst=None))


FORMS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _matches(r"\d{4}-\d\d-\d\d"),
    "date-time": _matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)"),
    "email": _matches(r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
    "uri": _matches(r"[a-z][a-z0-9+.-]*://\S+"),
    "uuid": _matches(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "readable date": _is_date,
    "looks like a date": lambda text: _DATE.fullmatch(text.strip()) is not None,
    "number": lambda text: parse_number(text) is not None,
    "digits and signs": _matches(r"\W*\d[\d.,' ]*\W*(\s?[a-z]{3})?|[a-z]{3}\s?\W*\d[\d.,' ]*"),
    "two decimals": _matches(r".*\d[.,]\d\d\W*"),
    "leading zero": _matches(r"0\d+"),
    "code": _matches(r"(?=.*\d)[\w./#-]{3,}"),
    "prose": lambda text: len(text.split()) >= 8,
}
"""What may be said of a text; the first are formats of JSON Schema."""
FORMATS: Final = ("date", "date-time", "email", "uri", "uuid")


class Room:
    """How many places may still be told apart."""

    def __init__(self, places: int = MOST_PLACES) -> None:
        self.left = places


class Observed:
    """What was seen at one place, and below it."""

    __slots__ = (
        "_room",
        "elements",
        "fields",
        "forms",
        "keyed",
        "kinds",
        "lists",
        "more",
        "values",
    )

    def __init__(self, room: Room | None = None) -> None:
        """Begin with nothing; all places of a root share its room."""
        self._room = room or Room()
        self._room.left -= 1
        self.kinds: Counter[str] = Counter()
        """How many values were of each JSON type."""
        self.forms: Counter[str] = Counter()
        """How many of the first `SAMPLE` texts had each form; "" counts these texts."""
        self.values: set[str] | None = set()
        """The distinct texts; None where they are too many or too long."""
        self.fields: dict[str, Observed] = {}
        self.more = False
        """Whether there were keys that have no place of their own."""
        self.elements: Observed | None = None
        self.lists = 0
        """How many lists of two objects or more were looked into for keys."""
        self.keyed: Counter[str] = Counter()
        """In how many of them a field told all items apart."""

    @property
    def total(self) -> int:
        """How many values there were."""
        return self.kinds.total()

    def share(self, form: str) -> float:
        """Return the share of texts that had a form, in [0, 1]; 0 without texts."""
        return self.forms[form] / self.forms[""] if self.forms[""] else 0.0

    def at(self, path: tuple[str | int, ...]) -> "Observed | None":
        """Return what was seen at a field, through lists."""
        here: Observed | None = self
        for step in path:
            while here is not None and here.elements is not None and step not in here.fields:
                here = here.elements
            here = None if here is None else here.fields.get(str(step))
        while here is not None and here.elements is not None and not here.fields:
            here = here.elements
        return here

    def add(self, value: JsonValue, depth: int = 0) -> None:
        """See one more value."""
        self.kinds[kind_of(value)] += 1
        if isinstance(value, str):
            self._add_text(value)
        elif isinstance(value, dict) and depth < DEEPEST:
            for key, part in value.items():
                if field := self._field(key):
                    field.add(part, depth + 1)
        elif isinstance(value, list) and depth < DEEPEST:
            self._add_list(value, depth)

    def _add_text(self, text: str) -> None:
        if self.values is not None and text not in self.values:
            self.values.add(text)
            if len(self.values) > MOST_VALUES or len(text) > LONGEST_VALUE:
                self.values = None
        if self.forms[""] < SAMPLE and text.strip():
            self.forms[""] += 1
            self.forms.update(form for form, holds in FORMS.items() if holds(text))

    def _field(self, key: str) -> "Observed | None":
        if key not in self.fields:
            if len(self.fields) >= MOST_KEYS or self._room.left <= 0:
                self.more = True
                return None
            self.fields[key] = Observed(self._room)
        return self.fields[key]

    def _add_list(self, values: list[JsonValue], depth: int) -> None:
        if self.elements is None and values and self._room.left > 0:
            self.elements = Observed(self._room)
        for value in values if self.elements else ():
            self.elements.add(value, depth + 1)  # type: ignore[union-attr]
        items = [value for value in values if isinstance(value, dict)]
        if len(items) > 1 and self.lists < SAMPLE:
            self.lists += 1
            self.keyed.update(_keys_of(items))

    def absorb(self, other: "Observed") -> None:
        """See all that another place has seen."""
        self.kinds.update(other.kinds)
        self.forms.update(other.forms)
        both = None if self.values is None or other.values is None else self.values | other.values
        self.values = None if both is not None and len(both) > MOST_VALUES else both
        self.lists += other.lists
        self.keyed.update(other.keyed)
        self.more |= other.more
        for key, field in other.fields.items():
            if mine := self._field(key):
                mine.absorb(field)
        if other.elements is not None and (self.elements or self._room.left > 0):
            self.elements = self.elements or Observed(self._room)
            self.elements.absorb(other.elements)


def _keys_of(items: list[JsonObject]) -> Iterator[str]:
    """List the fields that tell all items of a list apart."""
    for name in items[0]:
        values = [item.get(name) for item in items]
        plain = all(isinstance(value, str | int) and value != "" for value in values)
        if plain and len({*map(repr, values)}) == len(values):
            yield name
