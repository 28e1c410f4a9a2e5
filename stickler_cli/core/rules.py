"""Rules that values in files must follow, and the encoding of values as JSON.

A rule is attached to a type as an annotation. Two methods of rules are called by pydantic, but this
module does not import pydantic.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from operator import ge, gt, le, lt
from types import NoneType
from typing import Annotated, Any, Final

from .json_values import kind_of
from .locations import Path, field_path, parse_field_path

KEPT: Final = "kept"
"""Metadata key of a dataclass field. If its value is False, the field is not written to files."""

REQUIRED: Final = "required"
"""Metadata key of a dataclass field that has a default. If its value is True, the field must
nevertheless be in each file."""

# Largest number in a record: no infinities, and nothing beyond a float.
_MOST: Final = sys.float_info.max
_BOUNDS: Final = {"minimum": ge, "exclusiveMinimum": gt, "maximum": le, "exclusiveMaximum": lt}
_UNCHANGED: Final = frozenset({str, int, float, bool, NoneType})  # types of most JSON values
_DIGITS: Final = 100  # maximum number of digits, more than any sum can have


@dataclass(frozen=True, slots=True)
class Rule:
    """The valid values for a key in a file, for an annotation, or for a comparator's argument."""

    expected: str
    keywords: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """JSON Schema keywords that describe the valid values. If empty, the schema of the type is
    used."""
    fits: Callable[[Any], bool] | None = None
    """A function that tests a value when it is read. If there is no function, `accepts` tests the
    value: its type, and its range if `keywords` states a range."""
    parsed: Callable[[Any], Any] | None = None
    """A function that parses a value. For an invalid value it raises UsageError, or ValueError with
    a phrase for the valid values."""
    written: Callable[[Any], object] | None = None  # the inverse of `parsed`

    def __get_pydantic_core_schema__(
        self, source: Any, handler: Callable[[Any], Any]
    ) -> dict[str, Any]:
        return {
            "type": "function-wrap",
            "function": {"type": "no-info", "function": lambda value, by_type: value},
            "schema": {"type": "any"} if self.keywords else handler(source),
        }

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], Any]) -> Any:
        return dict(self.keywords) or handler(core)

    def accepts(self, value: Any) -> bool:
        """Return whether a value is valid: it must have the type that `keywords` states.

        A number must also be finite, and in the range that `keywords` states. If the value is not a
        number and the rule has a function `fits`, this function must also return True for it.
        """
        types = self.keywords["type"]
        kind = "number" if isinstance(value, float) else kind_of(value)  # including floats of numpy
        if kind == "integer" and "number" in types:
            kind = "number"
        if kind != types and (isinstance(types, str) or kind not in types):
            return False
        if kind not in ("integer", "number"):
            return self.fits is None or self.fits(value)
        limits = (key for key in _BOUNDS if key in self.keywords)
        return bool(-_MOST <= value <= _MOST) and all(
            _BOUNDS[key](value, self.keywords[key]) for key in limits
        )


def encoded(value: object) -> object:
    """Convert a value to JSON values.

    A dataclass becomes an object, and bytes become text. A dictionary with keys that are not texts
    becomes a list of pairs. JSON values stay unchanged.

    If `records.codec.decode` gets the result and the type of the value, it restores the value
    exactly.
    """
    if type(value) in _UNCHANGED:
        return value
    if is_dataclass(value):
        return {
            field_.name: _encoded_part(field_.type, getattr(value, field_.name))
            for field_ in fields(value)
            if field_.metadata.get(KEPT, True)
        }
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list | tuple):
        return [encoded(entry) for entry in value]
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        return [[key, encoded(entry)] for key, entry in value.items()]
    return value


def _encoded_part(kind: Any, value: object) -> object:
    if kind is Any:
        return value
    for rule in getattr(kind, "__metadata__", ()):
        if isinstance(rule, Rule) and rule.written is not None:
            return rule.written(value)
    return encoded(value)


def _is_sum(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS


def _names(value: str) -> Path:
    try:
        path = parse_field_path(value)
    except ValueError:
        raise ValueError("a field path") from None
    if not all(isinstance(step, str) for step in path):
        raise ValueError("a field path without list indexes")
    return path


# Read separately, as it may be nested deeper than pydantic supports.
LATER: Final = Rule("an object", fits=lambda value: isinstance(value, dict))

_NUMBER: Final = {"type": "number"}
_OR_NULL: Final = {"type": ["number", "null"]}
FRACTION: Final = Rule("a number in [0, 1]", {**_NUMBER, "minimum": 0, "maximum": 1})

Count = Annotated[int, Rule("a whole number of at least 0", {"type": "integer", "minimum": 0})]
Some = Annotated[int, Rule("a whole number of at least 1", {"type": "integer", "minimum": 1})]
Number = Annotated[float, Rule("a number", _NUMBER)]
NumberOrNone = Annotated[float | None, Rule("a number", _OR_NULL)]
Weight = Annotated[float, Rule("a number", {**_NUMBER, "exclusiveMinimum": 0})]
Fraction = Annotated[float, FRACTION]
FractionOrNone = Annotated[float | None, Rule(FRACTION.expected, {**FRACTION.keywords, **_OR_NULL})]
AnyJson = Annotated[
    Any, Rule("JSON", {"type": ["null", "boolean", "number", "string", "array", "object"]})
]
Flag = Annotated[bool, Rule("true or false", {"type": "boolean"})]
# In units of 2^-60; text, as it may have more digits than a JSON number can hold.
ExactSum = Annotated[
    str,
    Rule(
        "a whole number of at least 0, as a string of up to 100 digits",
        {"type": "string", "pattern": "^[0-9]+$"},
        _is_sum,
    ),
]
# A path without list indexes, such as line_items.price; `*` stands for any key of a map.
FieldPath = Annotated[Path, Rule("a string", {"type": "string"}, parsed=_names, written=field_path)]


def is_share(value: object) -> bool:
    """Return whether a value is a number in [0, 1]."""
    return 0 <= value <= 1 if type(value) is float else FRACTION.accepts(value)
