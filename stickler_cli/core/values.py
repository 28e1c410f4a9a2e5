"""The standard `dataclass` and `re.compile`, without their cost at start-up.

`dataclass` makes no methods from text, which took a quarter of it; only classes of which many
values are made get the standard constructor, which is faster. A `pattern` is compiled when it is
first used: compiling all those of the modules that a run loads took a sixth.
"""

import dataclasses
import re
from collections.abc import Callable
from copy import copy
from functools import cache
from inspect import Parameter, Signature
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final, NoReturn

__all__ = ["dataclass", "pattern"]

MANY: Final = 500
"""Values of a class that are made before its constructor is made from text."""

_put: Final = object.__setattr__


class _Layout:
    """The fields of a class, as its methods need them."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.entries = entries = dataclasses.fields(kind)
        self.made = 0
        # Fields that are taken by name only come last, as in the standard one.
        self.taken = sorted((e for e in entries if e.init), key=lambda entry: bool(entry.kw_only))
        self.names = [entry.name for entry in self.taken]
        self.places = sum(not entry.kw_only for entry in self.taken)
        missing = dataclasses.MISSING
        self.defaults = {e.name: e.default for e in self.taken if e.default is not missing}
        self.factories = {
            e.name: e.default_factory for e in self.taken if e.default_factory is not missing
        }
        self.finish = getattr(kind, "__post_init__", None)
        self.shown = [entry.name for entry in entries if entry.repr]
        self.compared = _values([entry.name for entry in entries if entry.compare])
        self.hashed = _values(
            [e.name for e in entries if (e.compare if e.hash is None else e.hash)]
        )

    def in_order(self, given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """Return a value for each name, the default where none is given."""
        values, by_name = [*given], 0
        for name in self.names[len(given) :]:
            if name in named:
                by_name += 1
                values.append(named[name])
            elif name in self.factories:
                values.append(self.factories[name]())
            elif name in self.defaults:
                values.append(self.defaults[name])
        if len(given) > self.places or by_name < len(named) or len(values) < len(self.names):
            self.constructor()(None, *given, **named)  # words what is wrong
        return values

    def constructor(self) -> Any:
        """Return the standard constructor, made from text."""
        entries = [(entry.name, Any, copy(entry)) for entry in self.entries]
        namespace = {} if self.finish is None else {"__post_init__": self.finish}
        name = self.kind.__qualname__
        made: Any = dataclasses.make_dataclass(name, entries, namespace=namespace, frozen=True)
        return made.__init__

    def signature(self) -> Signature:
        """Return the constructor's signature; a default factory is shown as `...`."""
        return Signature([self._parameter(entry) for entry in self.taken])

    def _parameter(self, entry: dataclasses.Field[Any]) -> Parameter:
        kind = Parameter.KEYWORD_ONLY if entry.kw_only else Parameter.POSITIONAL_OR_KEYWORD
        none = ... if entry.name in self.factories else Parameter.empty
        default = self.defaults.get(entry.name, none)
        return Parameter(entry.name, kind, default=default, annotation=entry.type)


class _SignatureOnDemand:
    """The signature that `help` shows, made when it is asked for."""

    def __get__(self, value: object, kind: type) -> Signature:
        return _layout(kind).signature()


@cache
def _layout(kind: Any) -> _Layout:
    return _Layout(kind)


def _values(names: list[str]) -> Callable[[object], Any]:
    return attrgetter(*names) if names else lambda value: ()


def _init(self: Any, /, *given: Any, **named: Any) -> None:
    layout = _layout(self.__class__)
    layout.made += 1
    if layout.made == MANY and self.__class__.__init__ is _init:
        self.__class__.__init__ = layout.constructor()
    values = given
    if len(given) != len(layout.names) or named or layout.places != len(given):
        values = tuple(layout.in_order(given, named))
    for name, value in zip(layout.names, values, strict=True):
        _put(self, name, value)
    if layout.finish is not None:
        layout.finish(self)


@recursive_repr()
def _repr(self: Any) -> str:
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in _layout(self.__class__).shown)
    return f"{type(self).__qualname__}({values})"


def _eq(self: Any, other: object) -> Any:
    compared = _layout(self.__class__).compared
    return compared(self) == compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_layout(self.__class__).hashed(self))


def _refuse(self: object, name: str, *value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"{name!r} cannot be changed")


def _state(self: object) -> list[Any]:
    return [getattr(self, entry.name) for entry in dataclasses.fields(self)]  # type: ignore[arg-type]


def _restore(self: object, state: list[Any]) -> None:
    for entry, value in zip(dataclasses.fields(self), state, strict=True):  # type: ignore[arg-type]
        _put(self, entry.name, value)


_METHODS: Final[dict[str, Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__signature__": _SignatureOnDemand(),
}
_FROZEN: Final = {
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _state,
    "__setstate__": _restore,
}


def _dataclass(*, frozen: bool = False, eq: bool = True, **more: bool) -> Callable[[type], type]:
    """Make a class one of fields, as `dataclasses.dataclass` does."""
    methods = _METHODS | (_FROZEN if frozen else {})
    if eq:
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}

    def make(cls: type) -> type:
        own = dict(vars(cls))
        cls.__doc__ = cls.__doc__ or cls.__name__  # else the standard one words a signature
        made: type = dataclasses.dataclass(init=False, repr=False, eq=False, **more)(cls)
        for name, method in methods.items():
            if own.get(name) is None:
                setattr(made, name, method)
        return made

    return make


class _Pattern:
    """Has the methods of a compiled pattern; it is compiled by the first that is asked for."""

    def __init__(self, text: Any, flags: int = 0) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)  # so that nothing is looked up the next time
        return found


if TYPE_CHECKING:
    from dataclasses import dataclass
    from re import compile as pattern
else:
    dataclass, pattern = _dataclass, _Pattern
