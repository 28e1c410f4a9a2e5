"""Problems as values, exceptions that carry problems, and suggestions for misspelt names.

An unreadable document is a `Problem` in the stream of pairs, not an exception. Exceptions take only
positional arguments, so that they can be pickled and sent between processes.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Generic, TypeVar

from .json_values import cut_end
from .locations import field_path

T = TypeVar("T")

NEAR: Final = 0.6  # similarity from which a spelling is suggested, as in difflib
# Length of a word; the search takes quadratic time, and no name is as long.
LONGEST_WORD: Final = 100
LONGEST_NAME: Final = 500  # length of a document id: enough for the path of a file
LONGEST_CLAUSE: Final = 2_000  # characters of each clause of a message
MAX_PAIRED_NAMES: Final = 1000  # number of names from each of two lists, as all pairs are compared


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem: where it is, what was found, what was expected, and a hint."""

    source: str
    """The file or option, as the user named it; empty if there is no file."""
    found: str
    """The bad value or finding, as a clause such as `threshold is 85`."""
    expected: str = ""
    """The valid values, as a noun phrase such as `a number in [0, 1]`."""
    hint: str = ""
    """Advice, as a clause or question such as `did you mean 0.85?`."""
    pointer: str | None = None
    """JSON Pointer (RFC 6901) to the value inside the file; None if the problem is not about one
    value."""
    line: int | None = None
    """Line in the file, from 1; None if unknown."""
    column: int | None = None
    """Column in the line, from 1, in characters; None if unknown."""

    def __str__(self) -> str:
        """Return the problem as one line of text.

        >>> str(Problem("s.json", "weight is 0", "a number above 0", "leave it out for 1", "/a"))
        's.json#/a: weight is 0, expected a number above 0; leave it out for 1'
        """
        place = f"{cut_end(self.place, LONGEST_CLAUSE)}: " if self.place else ""
        expected = f", expected {cut_end(self.expected, LONGEST_CLAUSE)}" if self.expected else ""
        hint = f"; {cut_end(self.hint, LONGEST_CLAUSE)}" if self.hint else ""
        return f"{place}{cut_end(self.found, LONGEST_CLAUSE)}{expected}{hint}"

    @property
    def place(self) -> str:
        """Where the problem is: `file#/pointer` or `file:line:column`."""
        if self.pointer is not None and (self.source or self.pointer):
            return f"{self.source}#{self.pointer}"
        if self.line is not None:
            return f"{self.source}:{self.line}:{self.column or 1}"
        return self.source


class Undelivered(Problem):
    """A remote file that could not be read, or could not be read to its end."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a document violates its schema."""

    keyword: str
    """The keyword of the schema that is violated, such as `required`."""
    field: str
    """Path of the field, with `[]` for items and `*` for keys of maps. Empty for the document
    itself."""
    pointer: str
    """JSON Pointer (RFC 6901) to the value in the document."""
    message: str
    """The message of the validator."""


class SticklerError(Exception):
    """Base class of all errors that a user can correct."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class SchemaError(SticklerError, ValueError):
    """A schema cannot be compiled. The error has all problems of the schema."""


class UsageError(SticklerError):
    """An option, path, configuration or gate is invalid."""


class ComparisonError(SticklerError):
    """A comparator failed on a pair of values."""

    def __init__(self, cause: str, path: tuple[str, ...] = ()) -> None:
        Exception.__init__(self, cause, path)
        self.cause = cause
        """Description of the failure, with the two values."""
        self.path = path  # property names that lead to the field
        place = f"in field {field_path(path)}, " if path else ""
        self.problems = (Problem("", place + cause),)

    def below(self, name: str) -> "ComparisonError":
        """Return the same error with `name` in front of its path.

        This is the error as seen from the parent object, in which the failing value is inside the
        property `name`.
        """
        return ComparisonError(self.cause, (name, *self.path))


class WorkLimitError(SticklerError):
    """The comparison of two documents exceeds the work limit."""

    def __init__(self, limit: float, path: tuple[str, ...]) -> None:
        Exception.__init__(self, limit, path)
        place = f"; most of the work is in field {field_path(path)}" if path else ""
        finding = (
            f"comparing this document takes more work than --work-limit {limit:g} allows{place}"
        )
        self.problems = (Problem("", finding),)


class RoomLimitError(WorkLimitError):
    """The comparison of two documents would need too much memory."""

    def __init__(self, limit: int, path: tuple[str, ...], *, of_nested_lists: bool = True) -> None:
        Exception.__init__(self, limit, path)
        place = f" in field {field_path(path)}" if path else ""
        task = f"results for lists inside lists{place} take"
        hint = 'if the order of the outer items matters, set "x-aws-stickler-pairing": "position"'
        if not of_nested_lists:
            task = f"pairing the items of a list{place} takes"
            hint = "split the list, or pair its items by position"
        self.problems = (Problem("", f"{task} more than {limit >> 20} MB of memory", hint=hint),)


class ModelError(Exception):
    """A model does not answer a question. The documents that need the answer fail."""

    def __init__(self, cause: str, position: int = 0) -> None:
        super().__init__(cause, position)
        self.cause = cause
        self.at = position
        """Index of the first pair that needs the answer, among the pairs that a comparator was
        asked to compare in one call."""

    def __str__(self) -> str:
        return self.cause


class NotComparableError(SticklerError):
    """Runs cannot be merged or compared with each other."""


class UnavailableError(SticklerError):
    """A package or server that the run needs is not available."""


class WorkerDiedError(SticklerError):
    """A worker process ended before it could do any work."""


PACKAGE: Final = "."  # name for pip; in a checkout a path, until the package is published


def installing(extra: str) -> str:
    """Return the command that installs an extra of this package."""
    return f"in a checkout of stickler, run pip install '{PACKAGE}[{extra}]'"


def require(module: str, user: str, extra: str, source: str = "") -> None:
    """Raise UnavailableError if a module is missing; the error names the package to install.

    `user` is the feature that needs the module, for example `a URL`. The message names it.
    """
    name, _, _ = module.partition(".")
    if find_spec(name) is None or find_spec(module) is None:
        finding = f"{user} needs {module}, which is not installed"
        raise UnavailableError(
            [Problem(source=source, found=finding, expected="", hint=installing(extra))]
        )


def import_extra(module: str, user: str, extra: str, source: str = "") -> Any:
    """Import a module that an extra of this package installs.

    Raises:
        UnavailableError: the module is missing.
    """
    require(module, user, extra, source)
    return import_module(module)


def require_pyarrow(user: str = "Parquet") -> None:
    """Raise UnavailableError if pyarrow is missing."""
    require("pyarrow", user, "parquet")


def import_pyarrow(user: str = "Parquet", module: str = "pyarrow") -> Any:
    """Import pyarrow or one of its modules; raise UnavailableError if it is missing."""
    return import_extra(module, user, "parquet")


def nearest_choices(
    word: str,
    choices: Iterable[str],
    n_choices: int,
    at_least: float = NEAR,
    *,
    beginnings: bool = True,
) -> list[str]:
    """Return the choices that a misspelt word may mean, the most similar first.

    Case is ignored. If `beginnings` is true, a choice also counts if only its beginning resembles
    the word.

    >>> nearest_choices("sample", ["limit", "example", "samples"], 2)
    ['samples', 'example']
    """
    wanted = word[:LONGEST_WORD].lower()
    likeness_of = {}
    for choice in choices if wanted else ():
        in_whole, of_beginning = (
            SequenceMatcher(None, wanted, form).ratio()
            for form in (choice.lower(), choice.lower()[: len(wanted)])
        )
        likeness = max(in_whole, of_beginning) if beginnings else in_whole
        if likeness >= at_least:
            likeness_of[choice] = likeness, in_whole
    return sorted(likeness_of, key=likeness_of.__getitem__, reverse=True)[:n_choices]


def nearest(
    word: str, choices: Iterable[str], at_least: float = NEAR, *, beginnings: bool = True
) -> str | None:
    """Return the choice that a misspelt word most likely means; None if none is similar enough.

    >>> choices = ["LevenshteinComparator", "FuzzyComparator"]
    >>> nearest("Fuzy", choices), nearest("levenshtein", choices), nearest("Nope", choices)
    ('FuzzyComparator', 'LevenshteinComparator', None)
    """
    near = nearest_choices(word, choices, 1, at_least, beginnings=beginnings)
    return near[0] if near else None


def nearest_pair(firsts: Sequence[str], seconds: Sequence[str]) -> tuple[str, str] | None:
    """Return the two most similar names, one from each list, or None if a list is empty.

    If several pairs are equally similar, the first is returned. Only the beginnings of long lists
    and of long names are compared.
    """
    from rapidfuzz import process  # a million pairs at most; few runs need it

    if not firsts or not seconds:
        return None
    best_likeness, best_pair = 0.0, (firsts[0], seconds[0])
    beginnings = [second[:LONGEST_NAME] for second in seconds[:MAX_PAIRED_NAMES]]
    for first in firsts[:MAX_PAIRED_NAMES]:
        _, likeness, index = process.extractOne(first[:LONGEST_NAME], beginnings)
        if likeness > best_likeness:
            best_likeness, best_pair = likeness, (first, seconds[index])
    return best_pair


# 1.5 or 15 may be another mistake; 0.015 would let nearly everything pass.
LEAST_PERCENTAGE: Final = 20


def percentage_hint(number: float) -> str:
    """Return a hint such as `did you mean 0.85?` for a number that may be a percentage.

    These are the numbers from 20 to 100. For any other number, the hint is empty.

    >>> percentage_hint(85), percentage_hint(1.5)
    ('did you mean 0.85?', '')
    """
    is_percentage = LEAST_PERCENTAGE <= number <= 100
    return f"did you mean {number / 100:g}?" if is_percentage else ""


def did_you_mean(word: str, choices: Iterable[str], *, display: Callable[[str], str] = str) -> str:
    """Return a hint that suggests the most similar choice; empty if none is similar enough."""
    choice = nearest(word, choices)
    return f"did you mean {display(choice)}?" if choice else ""


_LOCATION: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def imported(location: str) -> Any:
    """Import the object at `package.module:Class`.

    This runs the code of the module, and may fail.
    """
    module, _, qualified = location.partition(":")
    return reduce(getattr, qualified.split("."), import_module(module))


class UnknownNameError(LookupError):
    """A name does not belong to a usable class."""

    def __init__(self, expected: str, hint: str = "") -> None:
        super().__init__(expected, hint)
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Family(Generic[T]):
    """Classes of one kind, such as comparators, that users can name.

    A name is first looked up among the built-in classes, then among the entry points of installed
    packages. If it is in neither and the caller allows plug-ins, it is read as
    `package.module:Class`.
    """

    noun: str
    """The word for one class of this kind, such as `comparator`."""
    base: type[T]
    """The class from which all classes of this kind are derived."""
    built_in: Mapping[str, str]
    """The location of each built-in class, as `package.module:Class`, keyed by the name of the
    class."""
    group: str
    """Name of the group of entry points that installed packages use to offer classes of this
    kind."""

    def find(self, name: str, *, allow_plugins: bool = False) -> type[T]:
        """Return the class that a name stands for.

        The name is a built-in name, the name of an entry point, or `package.module:Class`.

        Raises:
            UnknownNameError: there is no class of this name, or it cannot be used.
        """
        if name in self.built_in:
            return self._load(self.built_in[name])
        offered = self.offered()
        if name in offered:
            locations = offered[name]
            if len(locations) > 1:
                places = " and ".join(sorted(locations))
                raise UnknownNameError(
                    "a name that only one installed class has",
                    (f"several installed packages define this name: {places}"),
                )
            return self._load(*locations)
        if _LOCATION.fullmatch(name):
            if not allow_plugins:
                hint = (
                    "to use classes of your own code, add --allow-plugins, or set "
                    "`allow_plugins = true` in the configuration file"
                )
                raise UnknownNameError(f"a {self.noun} of an installed package", hint)
            return self._load(name)
        names = [*self.built_in, *sorted(offered)]
        expected = f"one of {', '.join(names)}, or a class given as package.module:Class"
        raise UnknownNameError(expected, did_you_mean(name, names))

    def offered(self) -> dict[str, set[str]]:
        """Return the classes that installed packages offer, as a dict from name to locations.

        A name has several locations if several packages offer it.
        """
        # Imported late: reads the disk, and few names need it.
        from importlib.metadata import entry_points

        offered: dict[str, set[str]] = {}
        for entry_point in entry_points(group=self.group):
            offered.setdefault(entry_point.name, set()).add(entry_point.value)
        return offered

    def _load(self, location: str) -> type[T]:
        try:
            loaded: Any = imported(location)
        except Exception as error:
            cause = f"{location} fails with {type(error).__name__}: {error}"
            raise UnknownNameError("a class that can be imported", cause) from error
        if not (isinstance(loaded, type) and issubclass(loaded, self.base)):
            offered_by = self.base.__module__.rpartition(".")[0]  # the package, not its module
            base = f"{offered_by}.{self.base.__name__}"
            raise UnknownNameError(f"a subclass of {base}", f"{location} is not one")
        return loaded
