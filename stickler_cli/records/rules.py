"""What values in files may be, beside their types: rules that stand in the types of records.

A rule says what a reader of a file demands, and what the JSON Schema of the format says. Nothing
here loads pydantic, which asks each rule by the two methods that it knows.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Annotated, Any, Final

from stickler_cli.core.locations import parse_field_path
from stickler_cli.core.values import dataclass

_DIGITS: Final = 100
"""More digits than any sum has: so many documents there cannot be."""

MOST: Final = 1.7976931348623157e308
"""Above any number in a record; NaN, infinities and what no float holds are not below it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be."""

    expected: str
    """In words, for messages."""
    fits: Callable[[Any], bool] | None = None
    """None for whatever its type says."""
    keywords: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The JSON Schema of such values; nothing for that of the type."""
    always: bool = False
    """Whether the key is always written, though readers do without."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: Callable[[Any], Any]
    ) -> dict[str, Any]:
        schema = {"type": "any"} if self.keywords else handler(source)
        return {
            "type": "function-wrap",
            "function": {"type": "no-info", "function": self._checked},
            "schema": schema,
            "metadata": {"always": self.always},
        }

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], Any]) -> Any:
        return dict(self.keywords) or handler(core)

    def _checked(self, value: Any, by_type: Callable[[Any], Any]) -> Any:
        if self.fits is None:
            return by_type(value)
        if not self.fits(value):
            raise ValueError(self.expected)
        return value


@dataclass(frozen=True, slots=True)
class Said:
    """What the JSON Schema says of a key that can have no docstring, being a word of Python."""

    text: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], Any]) -> Any:
        return {**handler(core), "description": self.text}


def _is_whole(value: Any, least: int = 0) -> bool:
    return type(value) is int and value >= least


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, and no boolean."""
    return type(value) in (int, float) and abs(value) < MOST


def is_share(value: Any) -> bool:
    """Return whether a value is a number in [0, 1]."""
    return is_number(value) and 0 <= value <= 1


def _is_sum(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS


def _is_path(value: Any) -> bool:
    if not isinstance(value, str):
        raise ValueError("a string")  # noqa: TRY004 - what pydantic collects
    try:
        path = parse_field_path(value)
    except ValueError:
        raise ValueError("a field path") from None
    return bool(path) and all(isinstance(step, str) for step in path)


def _or_none(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


DERIVED: Final = Rule("anything", lambda value: True, always=True)
"""A key that is always there, and that no reader looks at: it follows from others."""

UNREAD: Final = Rule("anything", lambda value: True)
"""A key that no reader looks at."""

ADDED_LATER: Final = Rule("what its type says", always=True)
"""A key that is always there, but in files of earlier versions."""

LATER: Final = Rule("an object", lambda value: isinstance(value, dict))
"""What is read by itself, since there may be more levels of it than pydantic goes down."""

_SHARE: Final = {"minimum": 0, "maximum": 1}

Count = Annotated[
    int, Rule("a whole number of at least 0", _is_whole, {"type": "integer", "minimum": 0})
]
Some = Annotated[
    int,
    Rule(
        "a whole number of at least 1",
        lambda value: _is_whole(value, 1),
        {"type": "integer", "minimum": 1},
    ),
]
Number = Annotated[float, Rule("a number", is_number, {"type": "number"})]
NumberOrNone = Annotated[
    float | None, Rule("a number", _or_none(is_number), {"type": ["number", "null"]})
]
Level = Annotated[
    float,
    Rule("a number", is_number, {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
Weight = Annotated[float, Rule("a number", is_number, {"type": "number", "exclusiveMinimum": 0})]
Fraction = Annotated[float, Rule("a number in [0, 1]", is_share, {"type": "number", **_SHARE})]
FractionOrNone = Annotated[
    float | None,
    Rule("a number in [0, 1]", _or_none(is_share), {"type": ["number", "null"], **_SHARE}),
]
Change = Annotated[
    float, Rule("a number in [-1, 1]", is_number, {"type": "number", "minimum": -1, "maximum": 1})
]
ChangeOrNone = Annotated[
    float | None,
    Rule(
        "a number in [-1, 1]",
        _or_none(is_number),
        {"type": ["number", "null"], "minimum": -1, "maximum": 1},
    ),
]
Flag = Annotated[
    bool, Rule("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})
]
Sum = Annotated[
    str, Rule("a whole number as text", _is_sum, {"type": "string", "pattern": "^[0-9]+$"})
]
"""In units of 2^-60; text, since it may have more digits than a JSON number keeps."""
Digest = Annotated[
    str,
    Rule(
        "a string",
        lambda value: isinstance(value, str),
        {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
    ),
]
FieldPath = Annotated[
    str,
    Rule("a field path without list indexes", _is_path, {"type": "string", "minLength": 1}),
]
"""Such as line_items.price; `*` stands for any key of a map."""
FieldPlace = Annotated[
    str, Rule("a string", lambda v: isinstance(v, str), {"type": "string", "minLength": 1})
]
"""With list indexes."""
AnyJson = Annotated[
    Any,
    Rule(
        "JSON",
        lambda value: True,
        {"type": ["null", "boolean", "number", "string", "array", "object"]},
    ),
]
