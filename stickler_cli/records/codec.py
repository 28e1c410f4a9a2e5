"""From JSON values to typed values: the one way in which files are read.

The types say what a file holds: dataclasses, typed dictionaries and named tuples, what is in them,
and the rules of `core/rules.py`. Keys that a type does not have are left out, but of a typed
dictionary: they are as they were read.
"""

import math
from collections import Counter, abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar, Union, cast
from typing import get_args as args_of
from typing import get_origin as origin_of

from typing_extensions import get_type_hints, is_typeddict  # those of 3.11 keep no NotRequired

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
"""What is expected of values of these types, and whether a value is one."""

_MADE: Final[Mapping[Any, Reader]] = {bytes: lambda it: it.encode(), float: float}


class _WrongError(Exception):
    """A value that is not what its type says; its place is put together on the way out."""

    def __init__(self, value: object, expected: "str | Problem", missing: str = "") -> None:
        super().__init__()
        self.value = value
        self.expected = expected
        self.missing = missing
        self.place: list[Step] = []


def read(kind: type[T], value: object, source: str = "", place: Path = ()) -> T:
    """Return a value of a type as JSON values, at a place in a file, tell of it.

    `source` is empty for a value in memory.

    Raises:
        UsageError: it is nothing of the kind; with the place, what is there and what should be.
    """
    try:
        return cast("T", _reader(cast("Any", kind))(value))
    except _WrongError as error:
        wrong = error
    pointer, expected = json_pointer((*place, *reversed(wrong.place))), wrong.expected
    if wrong.missing:
        raise UsageError([Problem(source, f"{wrong.missing} is missing", pointer=pointer)])
    if isinstance(expected, Problem):
        inside = pointer + (expected.pointer or "")
        raise UsageError([replace(expected, source=source, pointer=inside)])
    raise UsageError([Problem(source, f"the value is {brief(wrong.value)}", expected, "", pointer)])


@contextmanager
def _at(step: Step) -> Iterator[None]:
    try:
        yield
    except _WrongError as error:
        error.place.append(step)
        raise


@cache
def _reader(kind: Any) -> Reader:
    """Return what reads values of a type."""
    origin, inner = origin_of(kind), args_of(kind)
    if origin is not None:
        return _of_origin(origin, inner)
    if kind in _SCALARS:
        return _scalar(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _one_of({each.value: each for each in kind})
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
        return _ruled(inner[0], [it for it in inner[1:] if isinstance(it, Rule)])
    if origin is tuple and inner[-1] is not Ellipsis:
        return _fixed([_later(it) for it in inner], tuple)
    return _listed(_later(inner[0]), tuple if origin is tuple else list)


def _later(kind: Any) -> Reader:
    """Return a reader that is made when it is first used: types may contain themselves."""
    return partial(_read_later, kind)


def _read_later(kind: Any, value: Any) -> Any:
    return _reader(kind)(value)


def _ruled(kind: Any, rules: Sequence[Rule]) -> Reader:
    """Return a reader that asks the last of the rules that say anything, else the type."""
    rule = next((it for it in reversed(rules) if it.fits or it.keywords), None)
    if rule is None:
        return _reader(kind)

    def found(value: Any) -> Any:
        if not (rule.fits or rule.accepts)(value):
            raise _WrongError(value, rule.expected)
        try:
            return value if rule.parsed is None else rule.parsed(value)
        except UsageError as error:
            raise _WrongError(value, error.problems[0]) from None
        except ValueError as error:
            raise _WrongError(value, str(error)) from None

    return found


def _scalar(kind: Any) -> Reader:
    expected, fits = _SCALARS[kind]
    made = _MADE.get(kind)

    def found(value: Any) -> Any:
        if not fits(value):
            raise _WrongError(value, expected)
        return value if made is None else made(value)

    return found


def _one_of(known: Mapping[Any, Any]) -> Reader:
    names = ", ".join(map(str, known))
    expected = f"one of {names}" if len(known) > 1 else names

    def found(value: Any) -> Any:
        if isinstance(value, Enum) and value in known.values():
            return value
        if not isinstance(value, str | int) or value not in known:
            raise _WrongError(value, expected)
        return known[value]

    return found


def _either(readers: Sequence[Reader]) -> Reader:
    def found(value: Any) -> Any:
        first: _WrongError | None = None
        for reader in readers:
            try:
                return reader(value)
            except _WrongError as error:
                first = first or error
        raise first or _WrongError(value, "nothing")

    return found


def _dataclass(kind: type[Any]) -> Reader:
    hints = get_type_hints(kind, include_extras=True)
    kept = [each for each in fields(kind) if each.init and each.metadata.get(KEPT, True)]
    required = frozenset(
        each.name
        for each in kept
        if each.metadata.get(REQUIRED) or each.default is each.default_factory is MISSING
    )
    reader = _keyed(lambda it: kind(**it), {it.name: hints[it.name] for it in kept}, required)
    return lambda value: value if isinstance(value, kind) else reader(value)


def _named_tuple(kind: Any) -> Reader:
    """Return a reader of objects, and of arrays of as many entries."""
    hints = get_type_hints(kind, include_extras=True)
    required = frozenset(hints) - frozenset(kind._field_defaults)
    by_name = _keyed(lambda it: kind(**it), hints, required)
    in_order = _fixed([_later(it) for it in hints.values()], kind._make)
    return lambda value: by_name(value) if isinstance(value, dict) else in_order(value)


def _keyed(
    make: Reader, kinds: Mapping[str, Any], required: frozenset[str], *, keep: bool = False
) -> Reader:
    readers = {name: _later(kind) for name, kind in kinds.items()}

    def found(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _WrongError(value, OBJECT)
        values = {**value} if keep else {}
        for name, reader in readers.items():
            if name in value:
                with _at(name):
                    values[name] = reader(value[name])
            elif name in required:
                raise _WrongError(value, "", name)
        return make(values)

    return found


def _fixed(readers: Sequence[Reader], make: Reader) -> Reader:
    def found(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise _WrongError(value, f"{ARRAY} of {len(readers)}")
        return make(_read_entries(readers, value))

    return found


def _listed(reader: Reader, make: Reader) -> Reader:
    def found(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _WrongError(value, ARRAY)
        return make(_read_entries([reader] * len(value), value))

    return found


def _read_entries(readers: Sequence[Reader], values: Sequence[Any]) -> list[Any]:
    found = []
    for at, (reader, value) in enumerate(zip(readers, values, strict=True)):
        with _at(at):
            found.append(reader(value))
    return found


def _mapped(inner: tuple[Any, ...], make: Reader = dict) -> Reader:
    """Return a reader of objects; keys that are no strings are written as pairs."""
    key, entry = (_later(it) for it in (*inner, int)[:2])
    paired = inner[0] is not str

    def found(value: Any) -> Any:
        known = [*value.items()] if isinstance(value, dict) else value
        are_pairs = isinstance(known, list) and all(
            isinstance(it, list | tuple) and len(it) == 2 for it in known
        )
        if not (are_pairs and (paired or isinstance(value, dict))):
            raise _WrongError(value, OBJECT)
        values = {}
        for name, part in known:
            try:
                named = key(name)
            except _WrongError as error:  # of a pair, its place tells nobody anything
                of_object = isinstance(value, dict)
                wrong = _WrongError(name if of_object else value, error.expected)
                wrong.place = [name] if of_object else []
                raise wrong from None
            with _at(name if isinstance(name, str | int) else ""):
                values[named] = entry(part)
        return make(values)

    return found


_ORIGINS: Final[Mapping[Any, Callable[[tuple[Any, ...]], Reader]]] = {
    NotRequired: lambda inner: _reader(inner[0]),
    Literal: lambda inner: _one_of({value: value for value in inner}),
    Union: lambda inner: _either([_later(each) for each in inner]),
    UnionType: lambda inner: _either([_later(each) for each in inner]),
    dict: _mapped,
    abc.Mapping: _mapped,
    Counter: lambda inner: _mapped(inner, Counter),
}
"""What reads values of types with parts, by what the type is of; others are arrays."""
