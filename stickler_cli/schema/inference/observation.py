"""Statistics of the values in each field, for any number of documents in limited memory.

The values of all documents are counted. The form of texts, such as a date or a code, is determined
only for the first `SAMPLE` texts of each field.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Final, TypeAlias

from stickler_cli.comparators.numbers_with_units import measured, written
from stickler_cli.comparators.quantities import WITH_THREE_DECIMALS, is_unit
from stickler_cli.comparators.vocabulary import MONTHS, WEEKDAYS, folded
from stickler_cli.core.json_texts import read_json_text
from stickler_cli.core.json_values import JsonObject, JsonValue, kind_of, says_nothing
from .list_shapes import ListShape, box_numbers
from .name_rules import (
    SIGN,
    rule_for,
)

FIRST: Final = 1000
"""Maximum number of ground-truth documents that are read to complete a schema."""
SHORT: Final = 40
"""Maximum number of characters of a short text. If at least half of a field's texts are short, the
inferred comparison of the field is stricter."""
SAMPLE: Final = 500
"""Maximum number of texts that are examined for each field, to determine whether they are dates,
codes and so on. It is also the maximum number of lists of objects that are searched, for each
field, for a key that identifies the objects."""
MOST_CHARACTERS: Final = 50_000_000
"""Maximum number of characters in all texts whose form is determined. To determine the form of this
many characters takes about ten seconds."""
MAX_COUNTED_VALUES: Final = 5_000_000
"""Maximum number of values that are counted in all documents together. To count this many takes
about twenty seconds. After that, all lists, objects and documents count as empty."""
MOST_VALUES: Final = 50
"""Maximum number of distinct texts of a field that are kept. A field with more texts does not have
a fixed set of choices."""
LONGEST_VALUE: Final = 60
"""Maximum number of characters of a text that may belong to a set of choices."""
LONGEST_READ: Final = 100
"""Maximum number of characters of a text that may be a date, a number or a code."""
MOST_KEYS: Final = 300
"""Maximum number of keys in an object for which statistics are kept. An object with more keys is
treated as a map."""
MOST_PLACES: Final = 20_000
"""Maximum number of fields and elements for which statistics are kept. If documents have more, the
inferred schema allows values of any type in the additional fields and elements."""
DEEPEST: Final = 40
"""Maximum nesting depth of the values for which statistics are kept. The inferred schema allows
values of any type at deeper levels."""

ALIKE: Final = 0.9
"""A field has a form, such as `date`, if at least this share of its texts has the form."""

_DATE: Final = re.compile(
    r"\d{4}[-/.]\d\d?[-/.]\d\d?\b.*"
    r"|\d\d?(?:er|[.\xba\xb0]){0,2}[-/. ]\s?(de )?(\d\d?|[^\W\d_]{3,10}\.?)"
    r"[-/., ]+(del? )?\d{2,4}\b.*"
    r"|[^\W\d_]{3,10}\.? \d\d?(st|nd|rd|th)?,? \d{4}\b.*"
    r"|(\d{4}\s?[\u5e74\ub144]\s?)?\d\d?\s?[\u6708\uc6d4].*"
)
"""Pattern of a date, for fields whose name does not suggest dates."""


CODE_FORM: Final = re.compile(
    r"(?=.*\d)(?:[\w./#-]{3,}"
    r"|(?=.{3,20}$)[#A-Z]{0,4}\d*(?:[ ./-]+(?:[A-Z]{1,4}|[A-Z]*\d[A-Z\d]*))+)",
    re.ASCII,
)
"""Pattern of a code: a text without spaces, or groups of capitals and digits, such as `D02 X285`.
"""


NAMES_OF_CODE: Final = {
    "a word in code": re.compile(r"_*[a-z][a-z0-9]*", re.ASCII),
    "a name in code": re.compile(
        r"_*[a-z][a-z0-9]*(?:[_.]+[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+", re.ASCII
    ),
}
"""Patterns of names in code. The first pattern accepts a single word, such as `lookup`. The second
pattern accepts two or more words that are joined by underscores, dots or capitals, such as
`get_weather` and `getWeather`."""
_form: Final = partial(re.compile, flags=re.ASCII | re.IGNORECASE)
FORMATS: Final = {
    "date": _form(r"\d{4}-\d\d-\d\d"),
    "date-time": _form(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)"),
    "email": _form(r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
    "uri": _form(r"[a-z][a-z0-9+.-]*://\S+"),
    "uuid": _form(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
}
"""Patterns of texts for the formats of JSON Schema."""
_WITH_DIGITS: Final = {
    "time of day": _form(
        r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?(\s?[ap]\.?m\.?)?|(1[0-2]|[1-9])\s?[ap]\.?m\.?"
    ),
    "address of a host": _form(r"(\d{1,3}\.){3}\d{1,3}(/\d+|:\d+)?"),
    "looks like a date": _DATE,
    "digits and signs": _form(r"\W*\d[\d.,' ]*\W*(\s?[a-z]{3})?|[a-z]{3}\s?\W*\d[\d.,' ]*"),
    "leading zero": _form(r"0\d+"),
    "code": CODE_FORM,
}
"""Patterns of forms that only a text with a digit can have. Texts without a digit are not tested
against these patterns."""
_BEGINS_WORD: Final = "|".join(
    sorted({name[:3] for name in (*MONTHS, *WEEKDAYS)} | {"min", "sec", "through"})
)
_MAY_BE_DATE: Final = re.compile(
    r"(?=.*(\d\D*\d|[^\W\d_]{3}))"
    rf"(?!.*(?<![^\W\d_])(?!{_BEGINS_WORD})[^\W\d_]{{6}})",
    re.IGNORECASE | re.DOTALL,
)
"""Pattern of texts that may be dates. It rejects a text with a word of six letters or more, unless
the word begins like a month, a weekday or a unit of time. This quick test makes the slow parsing of
most texts unnecessary."""
_CLOCK: Final = re.compile(r"\d:\d\d|\d\s?[ap]\.?m\b", re.ASCII | re.IGNORECASE)
"""Pattern of a time of day that follows a date."""

FINE_AMOUNT: Final = "amount finer than a cent"
MAX_FINE_AMOUNT: Final = 10
MAX_DECIMALS: Final = 6
"""Maximum number of decimals of an amount. Further decimals are rounding errors of floats."""
DAY_FIRST: Final = "day first"
MONTH_FIRST: Final = "month first"
DOT_FOR_THOUSANDS: Final = "dot for thousands"
DOT_FOR_DECIMALS: Final = "dot for decimals"
_ORDER_OF_DATE: Final = re.compile(
    r"(?<![\d./-])([0-3]?\d)([./-])([0-3]?\d)(?:\2(?:\d{4}|\d\d))?(?![\d/-]|\.\d)", re.ASCII
)
"""Pattern of day and month as numbers, in either order."""
_DOTS_IN_NUMBER: Final = {
    DOT_FOR_THOUSANDS: re.compile(
        r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])", re.ASCII
    ),
    DOT_FOR_DECIMALS: re.compile(
        r"(?<![\d.])(?:\d{1,3}(?:,\d{3})+|\d+)?\.(?:\d\d?|\d{4,})(?![\d.,])", re.ASCII
    ),
}


def is_fine_amount(number: Decimal) -> bool:
    """Return whether an amount is so small or so precise that one cent is a large difference.

    Amounts below 1 are small, such as 0.05. Amounts below `MAX_FINE_AMOUNT` with three to
    `MAX_DECIMALS` decimals are precise, such as the price 2.3456. The sign is ignored. For 0, the
    result is False.
    """
    if not 0 < abs(number) < MAX_FINE_AMOUNT:
        return False
    exponent = number.normalize().as_tuple().exponent
    n_decimals = -exponent if isinstance(exponent, int) else 0
    return abs(number) < 1 or 2 < n_decimals <= MAX_DECIMALS


@lru_cache(maxsize=4096)
def evidence_of(text: str) -> tuple[str, ...]:
    """Return what a text shows about dates and numbers, such as `day first`.

    A text may show the order of day and month, or the meaning of dots in numbers. The tuple is
    empty if it shows neither.
    """
    evidence = [form for form, wanted in _DOTS_IN_NUMBER.items() if wanted.search(text)]
    for first, _, second in _ORDER_OF_DATE.findall(text):
        if 12 < int(first) <= 31 and 1 <= int(second) <= 12:
            evidence.append(DAY_FIRST)
        elif 12 < int(second) <= 31 and 1 <= int(first) <= 12:
            evidence.append(MONTH_FIRST)
    return tuple(evidence)


MIXED_CASE: Final = "small and capital letters"
_CAPITAL_AFTER_SMALL: Final = re.compile(r"[a-z][A-Z]")
_SEAT: Final = re.compile(r"\d+[A-Z]")
"""Pattern of texts such as `12C`. They may be codes or measurements."""


@lru_cache(maxsize=4096)  # ground truths of several predictions share texts
def _known_forms(text: str) -> tuple[str, ...]:
    return tuple(_forms_of(text))


def _forms_of(text: str) -> Iterator[str]:
    """Yield the forms that a text has, such as `number` or `email`."""
    from .code_forms import code_form  # compiles many patterns

    yield from (form for form, wanted in FORMATS.items() if wanted.fullmatch(text))
    text = text.strip()
    if len(text) <= SHORT:
        yield "short"
    if len(text.split()) >= 8:
        yield "prose"
    if form := code_form(text):
        yield form
    yield from (form for form, wanted in NAMES_OF_CODE.items() if wanted.fullmatch(text))
    if _CAPITAL_AFTER_SMALL.search(text):
        yield MIXED_CASE
    if len(text) > LONGEST_READ or not any(map(str.isdigit, text)):
        return
    yield from (form for form, wanted in _WITH_DIGITS.items() if wanted.fullmatch(text))
    measure = measured(text)
    if measure.number is not None:
        yield "number"
        if is_fine_amount(measure.number):
            yield FINE_AMOUNT
        begins_with_word = text[:1].isalpha() and not measure.relation  # but `about 5 mg`
        if all(map(is_unit, measure.units)) and not (begins_with_word or _SEAT.fullmatch(text)):
            yield "measurement"
    if measure.currencies:
        yield "money"
    yield from _forms_of_date(text)


def _forms_of_date(text: str) -> Iterator[str]:
    if _MAY_BE_DATE.match(folded(text)):
        from stickler_cli.comparators.date_parsing import readings  # loads dateutil

        if any(readings(text, dayfirst=None)):
            yield "readable date"
            if _CLOCK.search(text):
                yield "date with a time"


@dataclass(slots=True, eq=False)
class PlaceBudget:
    """How much memory and time the statistics of all fields together may still use."""

    places_left: int = MOST_PLACES
    """Number of fields and elements that may still get statistics of their own."""
    characters_left: int = MOST_CHARACTERS
    """Number of characters that may still be examined to determine the form of texts."""
    values_left: int = MAX_COUNTED_VALUES
    """Number of values that may still be counted."""


@dataclass(slots=True, eq=False)
class Observed:
    """Statistics of the values of one field or element, and of everything inside these values."""

    budget: PlaceBudget = field(default_factory=PlaceBudget)
    """How much memory and time is left. All `Observed` objects of a set of documents share one
    budget."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Number of values of each JSON type."""
    forms: Counter[str] = field(default_factory=Counter)
    """For each form, such as `date`, the number of texts that have this form. Only the first
    `SAMPLE` texts are examined. The key "" has the number of examined texts."""
    evidence: Counter[str] = field(default_factory=Counter)
    """What the texts show about dates and numbers. Maps evidence, such as `day first`, to the
    number of texts that show it."""
    numbers: Counter[str] = field(default_factory=Counter)
    """For each form, such as `amount finer than a cent`, the number of JSON numbers that have this
    form."""
    values: set[str] | None = field(default_factory=set)
    """The distinct texts. None if there are too many, or if one is too long."""
    absent_texts: set[str] = field(default_factory=set)
    """Texts that stand for an absent value, such as `N/A`."""
    is_enum: bool = False
    """Whether the observed values are listed as an enum in the inferred schema."""
    fields: "dict[str, Observed]" = field(default_factory=dict)
    has_other_keys: bool = False
    """Whether objects had further keys, for which no statistics are kept because there are too
    many."""
    elements: "Observed | None" = None
    content: "Observed | None" = None
    """Statistics of the JSON values that texts contain; None if they contain none."""
    has_other_texts: bool = False
    """Whether a text of the field was found that is neither blank nor a JSON object or list. From
    then on, texts of the field are not parsed as JSON. Also true if the budget had no place for
    the statistics of JSON values in texts."""
    n_lists: int = 0
    """Number of lists that were searched for a field that identifies their items. Only lists with
    at least two objects are searched."""
    n_lists_by_key: Counter[str] = field(default_factory=Counter)
    """For each field of the items, the number of searched lists in which all items have this field
    and no two items have the same value of it."""
    shape: ListShape = field(default_factory=ListShape)
    """Statistics of the lists themselves, such as their lengths."""

    def __post_init__(self) -> None:
        self.budget.places_left -= 1

    @property
    def is_json_text(self) -> bool:
        """Whether all texts are JSON objects or lists."""
        return self.content is not None and not self.has_other_texts

    @property
    def containers(self) -> "Observed":
        """A copy of these statistics without texts, numbers and booleans of the field itself.

        Only the statistics of objects and lists are left.
        """
        containers = Observed()
        kinds = (kind for kind in ("object", "array") if self.kinds[kind])
        containers.kinds.update({kind: self.kinds[kind] for kind in kinds})
        containers.fields = self.fields
        containers.elements = self.elements
        containers.n_lists = self.n_lists
        containers.n_lists_by_key = self.n_lists_by_key
        containers.has_other_keys = self.has_other_keys
        return containers

    @property
    def inner_values(self) -> "Observed | None":
        """Statistics of list elements, or of JSON values in texts; None if there are neither."""
        if self.elements is not None:
            return self.elements
        return self.content if self.is_json_text else None

    @property
    def total(self) -> int:
        """Number of values."""
        return self.kinds.total()

    @property
    def has_columns(self) -> bool:
        """Whether the values are tables stored by columns: objects whose lists have equal lengths.

        An example is `{"item": ["pen", "cup"], "price": [2, 7]}`. Every field must be a list, and
        at least one list must have two elements or more.
        """
        lengths = [column.shape.lengths for column in self.fields.values()]
        are_alike = len(lengths) > 1 and all(of_column == lengths[0] for of_column in lengths)
        return are_alike and max(lengths[0], default=0) > 1

    def has_names_of_code(self, *, are_called: bool) -> bool:
        """Return whether most texts are names in code, such as `get_weather`.

        With `are_called`, single words such as `lookup` count, too.
        """
        share = self.share("a name in code")
        return share + (self.share("a word in code") if are_called else 0) > MOSTLY

    @property
    def has_fine_amounts(self) -> bool:
        """Whether at least half of the numbers are fine amounts (see `is_fine_amount`)."""
        n_numbers = self.kinds["number"] + self.kinds["integer"]
        n_numbers += self.forms["number"]
        n_fine = self.numbers[FINE_AMOUNT] + self.forms[FINE_AMOUNT]
        return n_fine > 0 and n_fine >= MOSTLY * n_numbers

    def share(self, form: str) -> float:
        """Return the share of texts that have a form, in [0, 1]; 0 if no texts were examined."""
        return self.forms[form] / self.forms[""] if self.forms[""] else 0.0

    def summary(self, name: str = "") -> Hashable:
        """Return a summary that can be the key of a dict.

        If the statistics of two fields have equal summaries, the same comparisons are inferred for
        both fields. `name` is the name of this field.
        """
        field_summaries = [(key, seen.summary(key)) for key, seen in sorted(self.fields.items())]
        if self.elements is None:
            # Omit fields without evidence, such as numbers. Beside lists, every field is evidence.
            bare = ((), (False, False), (), "", (), None, None)
            field_summaries = [
                (key, summary) for key, summary in field_summaries if summary != bare
            ]
        fields = tuple(field_summaries)
        thousandths = decimals_of(stated_currencies(self)) if self.fields else ""
        shape = self.shape.summary if self.elements else ()
        inner = self.elements and self.elements.summary(name)
        content = self.content.summary(name) if self.content and self.is_json_text else None
        forms = self.has_fine_amounts, self.has_columns
        return self._summarize_texts(name), forms, fields, thousandths, shape, inner, content

    def _summarize_texts(self, name: str) -> Hashable:
        """Return a summary of the field's texts that can be the key of a dict.

        If the texts of two fields have equal summaries, the same comparison is inferred for both.
        `name` is the name of this field.
        """
        if not self.forms[""]:
            return ()
        shares = {form: self.share(form) for form in self.forms}
        alike = frozenset(
            (form, share >= ALIKE) for form, share in shares.items() if share >= MOSTLY
        )
        read = _read_by(name)
        is_rarely_read = read is not None and self.share(read) < MOSTLY
        # The reason of a choice quotes these numbers.
        numbers = (self.forms[read or ""], self.forms[""]) if is_rarely_read else ()
        return (
            alike,
            numbers,
            bool(self.forms["leading zero"]),
            is_set(self),
            frozenset(self.evidence),
            self.has_names_of_code(are_called=False),
            self.has_names_of_code(are_called=True),
        )

    def find_field(self, path: tuple[str | int, ...]) -> "Observed | None":
        """Return the statistics of the field at a path, or None if it was not observed.

        Paths have no steps for list elements, or for JSON values inside texts.
        """
        seen = self.find_texts(path)
        while seen is not None and seen.inner_values is not None and not seen.fields:
            seen = seen.inner_values
        return seen

    def find_texts(self, path: tuple[str | int, ...]) -> "Observed | None":
        """Return the statistics of the field at a path, or None if it was not observed.

        Paths have no steps for list elements. If the field has JSON texts, the result is about the
        texts themselves. In contrast, the result of `find_field` is about the JSON values in them.
        """
        seen: Observed | None = self
        for step in path:
            while seen is not None and seen.inner_values is not None and step not in seen.fields:
                seen = seen.inner_values
            seen = None if seen is None else seen.fields.get(str(step))
        while seen is not None and seen.elements is not None and not seen.fields:
            seen = seen.elements
        return seen

    def find_place_of(self, path: tuple[str | int, ...], depth: int) -> "Observed | None":
        """Return the statistics of values in nested lists of a field, or None if there are none.

        `path` is the path of the field. `depth` is the number of lists around a value: 0 for the
        values of the field, 1 for the elements of its lists, 2 for the elements of lists in these
        lists.
        """
        seen: Observed | None = self
        if path:
            parent = self.find_field(path[:-1])
            seen = parent and parent.fields.get(str(path[-1]))
        for _ in range(depth):
            seen = seen and seen.elements
        return seen

    def find_shape(self, path: tuple[str | int, ...], depth: int) -> "ListShape | None":
        """Return the statistics of the lists in a field, or None if there are no such lists.

        `path` is the path of the field. `depth` is the number of lists around each of these lists:
        0 for the lists in the field, 1 for the lists inside those lists.
        """
        lists = self.find_place_of(path, depth)
        return lists.shape if lists and lists.elements else None

    def add(self, value: JsonValue, depth: int = 0) -> None:
        """Count one more value, at `depth` levels below the document."""
        self.kinds[kind_of(value)] += 1
        self.budget.values_left -= 1
        is_entered = depth < DEEPEST and self.budget.values_left > 0
        if type(value) is float and math.isfinite(value):
            self.numbers[FINE_AMOUNT] += is_fine_amount(written(value))
        elif isinstance(value, str):
            self._add_text(value)
            if depth < DEEPEST:
                self._add_content(value, depth)
        elif isinstance(value, dict) and is_entered:
            for key, child in value.items():
                if field := self._field(key):
                    field.add(child, depth + 1)
            self._add_area(value)
        elif isinstance(value, list) and is_entered:
            self._add_list(value, depth)

    def _add_area(self, value: JsonObject) -> None:
        """Count the boxes in an object that has the key `area`.

        If a box is written with a width and a height, as in COCO files, their product should be
        the area. Boxes for which this is the case are counted separately.
        """
        area = value.get("area")
        if type(area) not in (int, float):
            return
        for key, child in value.items():
            if (numbers := box_numbers(child)) and key in self.fields:
                self.fields[key].shape.boxes.add_area(numbers, area)  # type: ignore[arg-type]

    def _add_text(self, text: str) -> None:
        """Count a text: its value, its form, and what it shows about dates and numbers."""
        if text and len(self.absent_texts) < MOST_VALUES and says_nothing(text):
            self.absent_texts.add(text)
        if self.values is not None and text not in self.values:
            self.values.add(text)
            if len(self.values) > MOST_VALUES or len(text) > LONGEST_VALUE:
                self.values = None
        if len(text) <= LONGEST_READ and any(map(str.isdecimal, text)):
            self.evidence.update(evidence_of(text))
        is_in_budget = len(text) <= self.budget.characters_left
        if self.forms[""] < SAMPLE and is_in_budget and text.strip():
            self.budget.characters_left -= len(text)
            self.forms[""] += 1
            forms = _known_forms if len(text) <= LONGEST_VALUE else _forms_of
            for form in forms(text):
                self.forms[form] += 1

    def _add_content(self, text: str, depth: int) -> None:
        """Count the JSON value that a text contains.

        If a text of the field is not JSON, later texts of the field are not parsed any more.
        """
        if self.has_other_texts or not text.strip():
            return
        value = read_json_text(text)
        if isinstance(value, str) or (self.content is None and self.budget.places_left <= 0):
            self.has_other_texts, self.content = True, None
            return
        self.content = self.content or Observed(self.budget)
        self.content.add(value, depth + 1)

    def _field(self, key: str) -> "Observed | None":
        if key not in self.fields:
            if len(self.fields) >= MOST_KEYS or self.budget.places_left <= 0:
                self.has_other_keys = True
                return None
            self.fields[key] = Observed(self.budget)
        return self.fields[key]

    def _add_list(self, values: list[JsonValue], depth: int) -> None:
        if self.elements is None and values and self.budget.places_left > 0:
            self.elements = Observed(self.budget)
        if self.elements is not None:
            for value in values[: self.budget.values_left]:
                self.elements.add(value, depth + 1)
        self.shape.add(values)
        items = [value for value in values if isinstance(value, dict)]
        if len(items) > 1 and self.n_lists < SAMPLE:
            self.n_lists += 1
            self.n_lists_by_key.update(_keys_of(items))

    def settle(self) -> None:
        """Count single values as lists with one item, in fields that have single values and lists.

        This is done in all fields and elements inside this one, but not for its own values.
        """
        children = [*self.fields.values()]
        if self.elements is not None:
            children.append(self.elements)
        for child in children:
            child.settle()
            child.settle_values()

    def settle_values(self) -> None:
        """Count single values of the field as lists with one item.

        An example is a field that is `"a"` in one document and `["b", "c"]` in another. Nothing is
        done if there are no lists, or if a single value has a JSON type that no list item has.
        """
        single_kinds = _json_kinds(self.kinds) - {"array"}
        if self.elements is None or not single_kinds:
            return
        if not single_kinds <= _json_kinds(self.elements.kinds):
            return
        single = replace(
            self, elements=None, shape=ListShape(), n_lists=0, n_lists_by_key=Counter()
        )
        single.kinds = self.kinds - Counter(array=self.kinds["array"], null=self.kinds["null"])
        self.kinds = Counter(array=self.total - self.kinds["null"], null=self.kinds["null"])
        self.elements.absorb(single)
        self.forms, self.evidence, self.numbers = Counter(), Counter(), Counter()
        self.values, self.absent_texts, self.fields = set(), set(), {}

    @property
    def merged_fields(self) -> "Observed":
        """The statistics of all keys of an object, added up as if they were one field.

        If the object is a map, such as `{"en": "Hello", "fr": "Salut"}`, the result has the
        statistics of the map's values.
        """
        values = Observed()
        for values_of_field in self.fields.values():
            values.absorb(values_of_field)
        return values

    def absorb(self, other: "Observed") -> None:
        """Add the statistics of another field."""
        self.kinds.update(other.kinds)
        self.forms.update(other.forms)
        self.evidence.update(other.evidence)
        self.numbers.update(other.numbers)
        all_values = (
            None if self.values is None or other.values is None else self.values | other.values
        )
        self.values = (
            None if all_values is not None and len(all_values) > MOST_VALUES else all_values
        )
        self.absent_texts |= other.absent_texts
        self.n_lists += other.n_lists
        self.n_lists_by_key.update(other.n_lists_by_key)
        self.shape.absorb(other.shape)
        self.has_other_keys |= other.has_other_keys
        for key, other_field in other.fields.items():
            own_field = self._field(key)
            if own_field is not None:
                own_field.absorb(other_field)
        self.has_other_texts |= other.has_other_texts
        if other.content is not None and not self.has_other_texts:
            self.content = self.content or Observed(self.budget)
            self.content.absorb(other.content)
        if other.elements is not None and (self.elements or self.budget.places_left > 0):
            self.elements = self.elements or Observed(self.budget)
            self.elements.absorb(other.elements)


def _json_kinds(kinds: Iterable[str]) -> set[str]:
    """Return JSON types without null; `integer` becomes `number`."""
    return {"number" if kind == "integer" else kind for kind in kinds} - {"null"}


Look: TypeAlias = Callable[[], Observed | None]
"""A function that reads the first documents and returns the statistics of their values. It returns
None if there are no documents."""


def _keys_of(items: list[JsonObject]) -> Iterator[str]:
    """Yield each field that identifies the items of a list.

    All items must have the field, and no two items may have the same value of it. The values must
    be integers, booleans or texts that are not empty.
    """
    for name in items[0]:
        values = [item.get(name) for item in items]
        plain = all(isinstance(value, str | int) and value != "" for value in values)
        if plain and len({*map(repr, values)}) == len(values):
            yield name


MOST_LISTED: Final = 20
"""Texts are listed as an enum only if they have at most this many distinct values."""
REPEATED: Final = 4
"""Texts are a set of choices only if each distinct text occurs at least this many times on average.
"""
FEW: Final = 12
"""Minimum number of texts of a field. With fewer texts, it is not recognized as a set of choices.
"""


def is_set(seen: Observed) -> bool:
    """Return whether the texts of a field are a set of choices.

    There must be few distinct texts, and each of them must occur often on average.
    """
    values = seen.values or ()
    enough = seen.kinds["string"] >= REPEATED * len(values)
    return 0 < len(values) <= MOST_LISTED and enough and seen.kinds["string"] >= FEW


MOSTLY: Final = 0.5
"""The name of a field may suggest a comparator, such as DateComparator. The comparator is used only
if it can read at least this share of the field's texts. Texts that the comparator cannot read are
only tested for equality."""
READS: Final = {
    "DateComparator": "readable date",
    "NumericComparator": "number",
    "TimeComparator": "time of day",
}
"""Maps a comparator to the form of the texts that it reads, such as `time of day`."""


@lru_cache(maxsize=4096)
def _read_by(name: str) -> str | None:
    """Return the form that texts in a field of this name should have; None if any form is right."""
    rule_and_ending = rule_for(name, "string")
    return rule_and_ending and READS.get(rule_and_ending[0].default.comparator)


def stated_currencies(objects: Observed) -> frozenset[str]:
    """Return the currencies that are values of fields with names such as `currency`."""
    currencies: set[str] = set()
    for name, values in objects.fields.items():
        if _states_currency(name):
            for text in values.values or ():
                currencies |= measured(text).currencies
    return frozenset(currencies)


@lru_cache(maxsize=4096)
def _states_currency(name: str) -> bool:
    rule_and_ending = rule_for(name, "string")
    return rule_and_ending is not None and rule_and_ending[0].default is SIGN


def decimals_of(currencies: frozenset[str]) -> str:
    """Return whether all, some or none of the currencies have three decimals.

    The result is `all`, `some` or `none`.
    """
    if states_three_decimals(currencies):
        return "all"
    return "none" if currencies.isdisjoint(WITH_THREE_DECIMALS) else "some"


def states_three_decimals(currencies: frozenset[str]) -> bool:
    """Return whether all currencies have three decimals. If there are none, the result is False."""
    return bool(currencies) and currencies <= WITH_THREE_DECIMALS
