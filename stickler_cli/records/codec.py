"""Convert JSON values to typed values. All files that the program wrote are read in this way.

A format is described by dataclasses, typed dictionaries, named tuples and the rules of
`core/rules.py`. Keys that the type does not declare are dropped, except in typed dictionaries.
"""

import math
from collections import Counter, abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar, Union, cast
from typing import get_args as args_of
from typing import get_origin as origin_of

from typing_extensions import get_type_hints, is_typeddict  # those of Python 3.11 lose NotRequired

from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import Path, Step, json_pointer
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.rules import KEPT, REQUIRED, Rule

T = TypeVar("T")
Reader = Callable[[Any], Any]

OBJECT: Final = "an object"
ARRAY: Final = "an array"

_SCALARS: Final[Mapping[Any, tuple[str, Reader]]] = {
    str: ("a string", lambda it: isinstance(it, str)),
    bytes: ("a string", lambda it: isinstance(it, str)),
    bool: ("true or false", lambda it: isinstance(it, bool)),
    int: ("a whole number of at least 0", lambda it: type(it) is int),
    float: ("a number", lambda it: type(it) in (int, float) and math.isfinite(it)),
    NoneType: ("null", lambda it: it is None),
}
"""For each scalar type, (description of its values, function that checks a value)."""

_MADE: Final[Mapping[Any, Reader]] = {bytes: lambda it: it.encode(), float: float}


class _WrongError(Exception):
    """A value has a wrong type.

    The error passes through the readers of all objects and lists around the value, from the inside
    out. Each of these readers adds one step to `place`: the key or index at which the error
    occurred. `place` is therefore the path to the value in reverse order.
    """

    def __init__(self, value: object, expected: "str | Problem", missing: str = "") -> None:
        super().__init__()
        self.value = value
        self.expected = expected
        self.missing = missing
        self.place: list[Step] = []

    def below(self, step: Step) -> "_WrongError":
        """Add the key or index of an enclosing object or list to `place`, and return this error."""
        self.place.append(step)
        return self


def decode(kind: type[T], value: object, source: str = "", place: Path = ()) -> T:
    """Convert a JSON value to a value of a type.

    Args:
        kind: the type.
        value: a JSON value.
        source: the file, for messages; empty for a value in memory.
        place: path from the root of the file to the value, for messages.

    Raises:
        UsageError: the value does not fit the type; the error has the path of the wrong value, and
            what was expected.
    """
    try:
        return cast("T", _reader(cast("Any", kind))(value))
    except _WrongError as error:
        wrong = error
    pointer, expected = json_pointer((*place, *reversed(wrong.place))), wrong.expected
    if wrong.missing:
        finding = f"the key {brief(wrong.missing)} is missing"
        raise UsageError([Problem(source, finding, pointer=pointer)])
    if isinstance(expected, Problem):
        value_pointer = pointer + (expected.pointer or "")
        raise UsageError([replace(expected, source=source, pointer=value_pointer)])
    raise UsageError(
        [
            Problem(
                source=source,
                found=f"the value is {brief(wrong.value)}",
                expected=expected,
                hint="",
                pointer=pointer,
            )
        ]
    )


@cache
def _reader(kind: Any) -> Reader:
    """Return a function that checks JSON values and converts them to a type."""
    origin, inner = origin_of(kind), args_of(kind)
    if origin is not None:
        return _of_origin(origin, inner)
    if kind in _SCALARS:
        return _scalar(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enumerated({member.value: member for member in kind})
    if is_typeddict(kind):
        return _keyed(
            dict, get_type_hints(kind, include_extras=True), kind.__required_keys__, keep=True
        )
    if is_dataclass(kind):
        return _dataclass(cast("type[Any]", kind))
    return _named_tuple(kind) if hasattr(kind, "_fields") else lambda value: value


def _of_origin(origin: Any, inner: tuple[Any, ...]) -> Reader:
    if origin in _ORIGINS:
        return _ORIGINS[origin](inner)
    if origin is Annotated:
        return _ruled(inner[0], [argument for argument in inner[1:] if isinstance(argument, Rule)])
    if origin is tuple and inner[-1] is not Ellipsis:
        return _fixed([_later(argument) for argument in inner], tuple)
    return _sequence(_later(inner[0]), tuple if origin is tuple else list)


def _later(kind: Any) -> Reader:
    """Return the reader of a type. For a class, delay building the reader until its first use.

    The delay is necessary because a class can contain itself.
    """
    if not isinstance(kind, type) or kind in _SCALARS:
        return _reader(kind)
    reader: Reader | None = None

    def read_value(value: Any) -> Any:
        nonlocal reader
        if reader is None:
            reader = _reader(kind)
        return reader(value)

    return read_value


def _ruled(kind: Any, rules: Sequence[Rule]) -> Reader:
    """Return a reader that checks and converts the values of a type with one of several rules.

    The reader uses the last rule that has `fits` or `keywords`. Rules without both are ignored. If
    no rule has `fits` or `keywords`, return the usual reader of the type `kind`.
    """
    rule = next(
        (candidate for candidate in reversed(rules) if candidate.fits or candidate.keywords), None
    )
    if rule is None:
        return _reader(kind)

    def read_value(value: Any) -> Any:
        if not (rule.fits or rule.accepts)(value):
            raise _WrongError(value, rule.expected)
        try:
            return value if rule.parsed is None else rule.parsed(value)
        except UsageError as error:
            raise _WrongError(value, error.problems[0]) from None
        except ValueError as error:
            raise _WrongError(value, str(error)) from None

    return read_value


def _scalar(kind: Any) -> Reader:
    expected, fits = _SCALARS[kind]
    convert = _MADE.get(kind)

    def read_value(value: Any) -> Any:
        if not fits(value):
            raise _WrongError(value, expected)
        return value if convert is None else convert(value)

    return read_value


def _enumerated(members: Mapping[Any, Any]) -> Reader:
    names = [*members]
    expected = f"one of {', '.join(map(str, names))}" if len(names) > 1 else brief(names[0])

    def read_value(value: Any) -> Any:
        if isinstance(value, Enum) and value in members.values():
            return value
        if not isinstance(value, str | int) or value not in members:
            raise _WrongError(value, expected)
        return members[value]

    return read_value


def _either(readers: Sequence[Reader]) -> Reader:
    def read_value(value: Any) -> Any:
        first: _WrongError | None = None
        for reader in readers:
            try:
                return reader(value)
            except _WrongError as error:
                first = first or error
        raise first or _WrongError(value, "nothing")

    return read_value


def _dataclass(kind: type[Any]) -> Reader:
    """Return a reader for a dataclass. In files it is an object with a key for each attribute."""
    hints = get_type_hints(kind, include_extras=True)
    read_attributes = [
        attribute
        for attribute in fields(kind)
        if attribute.init and attribute.metadata.get(KEPT, True)
    ]
    required = frozenset(
        attribute.name
        for attribute in read_attributes
        if attribute.metadata.get(REQUIRED)
        or attribute.default is attribute.default_factory is MISSING
    )
    reader = _keyed(
        lambda values: kind(**values),
        {values.name: hints[values.name] for values in read_attributes},
        required,
    )
    return lambda value: value if isinstance(value, kind) else reader(value)


def _named_tuple(kind: Any) -> Reader:
    """Return a reader for a named tuple.

    A file may have a named tuple in two forms: as an object whose keys are the names of the fields,
    or as an array of the values in the order of the fields.
    """
    hints = get_type_hints(kind, include_extras=True)
    required = frozenset(hints) - frozenset(kind._field_defaults)
    by_name = _keyed(lambda values: kind(**values), hints, required)
    in_order = _fixed([_later(values) for values in hints.values()], kind._make)
    return lambda value: by_name(value) if isinstance(value, dict) else in_order(value)


def _keyed(
    make: Reader, kinds: Mapping[str, Any], required: frozenset[str], *, keep: bool = False
) -> Reader:
    """Return a reader for objects with the given keys.

    `kinds` has the type of the value of each key. The reader passes the converted values to `make`.
    Other keys are dropped, unless `keep` is true.
    """
    readers = {name: _later(kind) for name, kind in kinds.items()}

    def read_value(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _WrongError(value, OBJECT)
        values = {**value} if keep else {}
        for name, reader in readers.items():
            if name in value:
                try:
                    values[name] = reader(value[name])
                except _WrongError as error:
                    raise error.below(name) from None
            elif name in required:
                raise _WrongError(value, "", name)
        return make(values)

    return read_value


def _fixed(readers: Sequence[Reader], make: Reader) -> Reader:
    def read_value(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise _WrongError(value, f"{ARRAY} of {len(readers)}")
        return make(_read_entries(readers, value))

    return read_value


def _sequence(reader: Reader, make: Reader) -> Reader:
    def read_value(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _WrongError(value, ARRAY)
        return make(_read_entries([reader] * len(value), value))

    return read_value


def _read_entries(readers: Sequence[Reader], values: Sequence[Any]) -> list[Any]:
    entries = []
    for position, (reader, value) in enumerate(zip(readers, values, strict=True)):
        try:
            entries.append(reader(value))
        except _WrongError as error:
            raise error.below(position) from None
    return entries


def _mapped(inner: tuple[Any, ...], make: Reader = dict) -> Reader:
    """Return a reader for mappings.

    In files, a mapping whose keys are not strings is a list of (key, value) pairs.
    """
    # The only argument of a Counter is the type of its keys.
    read_key, read_entry = (_later(argument) for argument in (*inner, int)[:2])
    may_be_pairs = inner[0] is not str

    def read_value(value: Any) -> Any:
        is_object = isinstance(value, dict)
        pairs = [*value.items()] if is_object else value
        are_pairs = isinstance(pairs, list) and all(
            isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
        )
        if not (are_pairs and (may_be_pairs or is_object)):
            raise _WrongError(value, OBJECT)
        values = {}
        for index, (name, child) in enumerate(pairs):
            try:
                key = read_key(name)
            except _WrongError as error:
                if is_object:
                    raise _WrongError(name, error.expected).below(name) from None
                raise error.below(0).below(index) from None
            try:
                values[key] = read_entry(child)
            except _WrongError as error:
                if is_object:
                    raise error.below(name if isinstance(name, str | int) else "") from None
                raise error.below(1).below(index) from None
        return make(values)

    return read_value


_ORIGINS: Final[Mapping[Any, Callable[[tuple[Any, ...]], Reader]]] = {
    NotRequired: lambda inner: _reader(inner[0]),
    Literal: lambda inner: _enumerated({value: value for value in inner}),
    Union: lambda inner: _either([_later(each) for each in inner]),
    UnionType: lambda inner: _either([_later(each) for each in inner]),
    dict: _mapped,
    abc.Mapping: _mapped,
    Counter: lambda inner: _mapped(inner, Counter),
}
"""Functions that create readers for generic types. A key is a generic type without its arguments:
the key of `dict[str, int]` is `dict`. A function takes the arguments, here `(str, int)`, and
returns a reader. `Annotated` and types whose JSON form is an array, such as `list` and `tuple`, are
not in this dict: `_of_origin` creates their readers."""
