"""Classes by name: those that are built in, that packages offer, and that anyone has.

Names come from a table, from entry points of installed packages, and, where the caller allows code
that nobody installed for this purpose, from `package.module:Class`; in this order.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, Generic, TypeVar

from .pattern import pattern
from .problems import did_you_mean
from .values import dataclass

T = TypeVar("T")

_LOCATION: Final = pattern(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class UnknownNameError(LookupError):
    """A name behind which there is no class that can be used."""

    def __init__(self, expected: str, hint: str = "") -> None:
        super().__init__(expected, hint)
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Family(Generic[T]):
    """Classes of one kind that may be named."""

    what: str
    """The noun for one: `comparator`."""
    base: type[T]
    """The base class of all."""
    built_in: Mapping[str, str]
    """Name -> where the class is, `package.module:Class`."""
    group: str
    """Of entry points."""

    def find(self, name: str, *, allow_plugins: bool = False) -> type[T]:
        """Return a class by its built-in name, its entry point or as `package.module:Class`.

        Raises:
            UnknownNameError: nothing has that name, or what has it cannot be used.
        """
        if name in self.built_in:
            return self._load(self.built_in[name])
        offered = self.offered()
        if name in offered:
            locations = offered[name]
            if len(locations) > 1:
                places = " and ".join(sorted(locations))
                raise UnknownNameError("one class", f"packages offer {places} by that name")
            return self._load(*locations)
        if _LOCATION.fullmatch(name):
            if not allow_plugins:
                hint = (
                    "allow it with --allow-plugins or `allow_plugins = true` in the configuration "
                    "file"
                )
                raise UnknownNameError(f"a {self.what} that is installed", hint)
            return self._load(name)
        names = [*self.built_in, *sorted(offered)]
        expected = f"one of {', '.join(names)}, or package.module:Class"
        raise UnknownNameError(expected, did_you_mean(name, names))

    def offered(self) -> dict[str, set[str]]:
        """Return the classes of installed packages: name -> where, several if they disagree."""
        from importlib.metadata import entry_points  # reads the disk; few names need it

        offered: dict[str, set[str]] = {}
        for entry_point in entry_points(group=self.group):
            offered.setdefault(entry_point.name, set()).add(entry_point.value)
        return offered

    def _load(self, location: str) -> type[T]:
        module, _, qualified = location.partition(":")
        try:
            found: Any = import_module(module)
            for part in qualified.split("."):
                found = getattr(found, part)
        except Exception as error:
            cause = f"{location} fails with {type(error).__name__}: {error}"
            raise UnknownNameError("a class that can be imported", cause) from error
        if not (isinstance(found, type) and issubclass(found, self.base)):
            offered_by = self.base.__module__.rpartition(".")[0]  # the package, not its module
            base = f"{offered_by}.{self.base.__name__}"
            raise UnknownNameError(f"a subclass of {base}", f"{location} is none")
        return found
