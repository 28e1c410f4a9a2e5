"""Typed values in files: the rules that stand in their types, and their way to JSON.

Nothing here loads pydantic, which asks each rule by the two methods that it knows.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from operator import ge, gt, le, lt
from typing import Annotated, Any, Final

from .json_values import kind_of
from .locations import Path, field_path, parse_field_path

KEPT: Final = "kept"
"""Metadata of a field of a dataclass; one whose value is False is not written."""

REQUIRED: Final = "required"
"""Metadata of a field with a default; one whose value is True must be in files all the same."""

_MOST: Final = sys.float_info.max  # of a record: no infinities, and nothing that no float holds
_BOUNDS: Final = {"minimum": ge, "exclusiveMinimum": gt, "maximum": le, "exclusiveMaximum": lt}
_DIGITS: Final = 100  # more than any sum has: so many documents there cannot be


@dataclass(frozen=True, slots=True)
class Rule:
    """The values that are right in a file, an annotation or a keyword."""

    expected: str
    keywords: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The JSON Schema of such values; nothing for that of the type."""
    fits: Callable[[Any], bool] | None = None
    """The test of readers; None for the type and the range of the keywords, or for the type."""
    parsed: Callable[[Any], Any] | None = None
    """The parser of a value; raises ValueError with the expected values, or UsageError."""
    written: Callable[[Any], object] | None = None  # the reverse

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
        """Return whether a value has the type of the keywords, is in their range, and fits."""
        types = self.keywords["type"]
        kind = "number" if isinstance(value, float) else kind_of(value)  # numpy's floats, too
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
    """Return a value as JSON values; `records.codec.read` with its type gives it back, exactly.

    A dataclass becomes an object, bytes text, and a dictionary whose keys are no strings pairs.
    What is JSON already is left as it is.
    """
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


# What is read by itself, since there may be more levels of it than pydantic goes down.
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
# In units of 2^-60; text, since it may have more digits than a JSON number keeps.
ExactSum = Annotated[
    str, Rule("a whole number as text", {"type": "string", "pattern": "^[0-9]+$"}, _is_sum)
]
# Without list indexes, such as line_items.price; `*` stands for any key of a map.
FieldPath = Annotated[Path, Rule("a string", {"type": "string"}, parsed=_names, written=field_path)]


def is_share(value: object) -> bool:
    """Return whether a value is a number in [0, 1]."""
    return 0 <= value <= 1 if type(value) is float else FRACTION.accepts(value)
