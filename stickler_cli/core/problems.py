"""Problems as values, the exceptions that carry them, and names that may lead nowhere.

Documents that cannot be read are no exceptions: they are a `Problem` in the stream of pairs. The
exceptions are plain and take positional arguments: so they survive pickling between processes.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Generic, TypeVar

from .locations import field_path

T = TypeVar("T")

NEAR: Final = 0.6  # likeness from which a spelling is worth proposing: that of difflib
LONGEST_WORD: Final = 100  # letters of a word: far more than any name has; the search is quadratic
LONGEST_NAME: Final = 500  # letters of the id of a document: enough for the path of a file
MAX_PAIRED_NAMES: Final = 1000  # of each of two lists, which are compared in all pairs


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, its place, and advice."""

    source: str
    """The file, or option, as the user named it; empty for a value without a file."""
    found: str
    """The finding, as a clause: `threshold is 85`."""
    expected: str = ""
    """The right values, as a noun phrase: `a number in [0, 1]`."""
    hint: str = ""
    """Advice, as a clause or question: `did you mean 0.85?`."""
    pointer: str | None = None
    """RFC 6901 pointer to the value inside the file; None without such a value."""
    line: int | None = None
    """Line in the file, from 1."""
    column: int | None = None
    """Column in that line, from 1, in characters."""

    def __str__(self) -> str:
        """Word the problem on one line.

        >>> str(Problem("s.json", "weight is 0", "a number above 0", "leave it out for 1", "/a"))
        's.json#/a: weight is 0, expected a number above 0; leave it out for 1'
        """
        place = f"{self.place}: " if self.place else ""
        expected = f", expected {self.expected}" if self.expected else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{place}{self.found}{expected}{hint}"

    @property
    def place(self) -> str:
        """Where the problem is: `file#/pointer` or `file:line:column`."""
        if self.pointer is not None:
            return f"{self.source}#{self.pointer}"
        if self.line is not None:
            return f"{self.source}:{self.line}:{self.column or 1}"
        return self.source


class Undelivered(Problem):
    """A file elsewhere, or the rest of one of many documents, that could not be read."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing about a document that its schema forbids."""

    keyword: str
    """Keyword of the schema, such as `required`."""
    field: str
    """Path of the field, with `[]` for items and `*` for keys of maps; empty for the document."""
    pointer: str
    """RFC 6901 pointer to the value in the document."""
    message: str
    """The words of the validator."""


class SticklerError(Exception):
    """The root of all errors that are the user's to mend."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class SchemaError(SticklerError, ValueError):
    """A schema that cannot be compiled, with all of its problems."""


class UsageError(SticklerError):
    """Options, paths, configuration or gates that cannot be used."""


class ComparisonError(SticklerError):
    """A comparator that failed on one pair of values."""

    def __init__(self, cause: str, path: tuple[str, ...] = ()) -> None:
        Exception.__init__(self, cause, path)
        self.cause = cause
        """The failure, its values, and why."""
        self.path = path  # the properties that lead to the field
        place = f"at {field_path(path)}, " if path else ""
        self.problems = (Problem("", place + cause),)

    def below(self, name: str) -> "ComparisonError":
        """Tell the same failure as seen from the object that holds it as property `name`."""
        return ComparisonError(self.cause, (name, *self.path))


class WorkLimitError(SticklerError):
    """Documents that take more work to compare than they may."""

    def __init__(self, limit: float, path: tuple[str, ...]) -> None:
        Exception.__init__(self, limit, path)
        place = f", most of it at {field_path(path)}" if path else ""
        finding = f"it takes more work to compare than --work-limit {limit:g} lets it{place}"
        self.problems = (Problem("", finding),)


class RoomLimitError(WorkLimitError):
    """Documents whose comparison would need too much memory."""

    def __init__(self, limit: int, path: tuple[str, ...]) -> None:
        Exception.__init__(self, limit, path)
        place = f" at {field_path(path)}" if path else ""
        finding = f"what is found of lists in lists{place} takes more than {limit >> 20} MB"
        self.problems = (Problem("", finding),)


class ModelError(Exception):
    """A question that got no answer, and why; concerns the documents that ask it."""

    def __init__(self, cause: str, position: int = 0) -> None:
        super().__init__(cause, position)
        self.cause = cause
        self.at = position
        """The position, in a column of pairs, of the first that the question is about."""

    def __str__(self) -> str:
        return self.cause


class NotComparableError(SticklerError):
    """Runs whose figures cannot be put together or held against each other."""


class UnavailableError(SticklerError):
    """A comparator whose backend is not there."""


class WorkerDiedError(SticklerError):
    """A worker process that ended before it could take any work."""


PACKAGE: Final = "."  # where pip finds it: in a checkout, until a registry has it


def installing(extra: str) -> str:
    """Return how an extra is installed."""
    return f"in a checkout of stickler, pip install '{PACKAGE}[{extra}]'"


def require(module: str, user: str, extra: str, source: str = "") -> None:
    """Raise UnavailableError, with the package to install, unless a module is there."""
    name, _, _ = module.partition(".")
    if find_spec(name) is None or find_spec(module) is None:
        finding = f"{user} needs {module}, which is not installed"
        raise UnavailableError(
            [Problem(source=source, found=finding, expected="", hint=installing(extra))]
        )


def import_extra(module: str, user: str, extra: str, source: str = "") -> Any:
    """Import a module that comes with an extra, or raise UnavailableError as `require` does."""
    require(module, user, extra, source)
    return import_module(module)


def require_pyarrow(user: str = "Parquet") -> None:
    """Raise UnavailableError if nothing is installed that reads and writes Parquet and Arrow."""
    require("pyarrow", user, "parquet")


def import_pyarrow(user: str = "Parquet", module: str = "pyarrow") -> Any:
    """Import pyarrow, or a module of it, or raise UnavailableError as `require_pyarrow` does."""
    return import_extra(module, user, "parquet")


def nearest_choices(
    word: str,
    choices: Iterable[str],
    n_choices: int,
    at_least: float = NEAR,
    *,
    beginnings: bool = True,
) -> list[str]:
    """Rank the choices that a word may mean, the nearest first.

    Case does not matter. With `beginnings`, a choice is also near if its beginning is.

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
    """Find the choice that a word most likely means; None where no choice is near.

    >>> choices = ["LevenshteinComparator", "FuzzyComparator"]
    >>> nearest("Fuzy", choices), nearest("levenshtein", choices), nearest("Nope", choices)
    ('FuzzyComparator', 'LevenshteinComparator', None)
    """
    near = nearest_choices(word, choices, 1, at_least, beginnings=beginnings)
    return near[0] if near else None


def nearest_pair(firsts: Sequence[str], seconds: Sequence[str]) -> tuple[str, str] | None:
    """Find the two names, one of each list, that are most alike; None if a list is empty.

    Of equally alike pairs, the first counts. Only the beginnings of long lists and of long names
    are compared.
    """
    from rapidfuzz import process  # a million pairs; few runs ask for them

    if not firsts or not seconds:
        return None
    best_likeness, best_pair = 0.0, (firsts[0], seconds[0])
    beginnings = [second[:LONGEST_NAME] for second in seconds[:MAX_PAIRED_NAMES]]
    for first in firsts[:MAX_PAIRED_NAMES]:
        _, likeness, index = process.extractOne(first[:LONGEST_NAME], beginnings)
        if likeness > best_likeness:
            best_likeness, best_pair = likeness, (first, seconds[index])
    return best_pair


LEAST_PERCENTAGE: Final = 20  # 1.5 or 15 may as well be a slip; 0.015 would let nearly all pass


def percentage_hint(number: float) -> str:
    """Word the hint that a number from 20 to 100 is a percentage; empty for every other number.

    >>> percentage_hint(85), percentage_hint(1.5)
    ('did you mean 0.85?', '')
    """
    is_percentage = LEAST_PERCENTAGE <= number <= 100
    return f"did you mean {number / 100:g}?" if is_percentage else ""


def did_you_mean(word: str, choices: Iterable[str], *, display: Callable[[str], str] = str) -> str:
    """Word the hint that names the nearest choice; empty where no choice is near."""
    choice = nearest(word, choices)
    return f"did you mean {display(choice)}?" if choice else ""


_LOCATION: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def imported(location: str) -> Any:
    """Return the object at `package.module:Class`; importing it runs its code, and may fail."""
    module, _, qualified = location.partition(":")
    return reduce(getattr, qualified.split("."), import_module(module))


class UnknownNameError(LookupError):
    """A name behind which there is no class that can be used."""

    def __init__(self, expected: str, hint: str = "") -> None:
        super().__init__(expected, hint)
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Family(Generic[T]):
    """Classes of one kind that may be named.

    Names come from a table, from entry points of installed packages, and, where the caller allows
    code that nobody installed for this purpose, from `package.module:Class`; in this order.
    """

    noun: str
    """The noun for one: `comparator`."""
    base: type[T]
    """The base class of all."""
    built_in: Mapping[str, str]
    """Name -> where the class is, `package.module:Class`."""
    group: str
    """Group of entry points."""

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
                raise UnknownNameError(f"a {self.noun} that is installed", hint)
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
        try:
            loaded: Any = imported(location)
        except Exception as error:
            cause = f"{location} fails with {type(error).__name__}: {error}"
            raise UnknownNameError("a class that can be imported", cause) from error
        if not (isinstance(loaded, type) and issubclass(loaded, self.base)):
            offered_by = self.base.__module__.rpartition(".")[0]  # the package, not its module
            base = f"{offered_by}.{self.base.__name__}"
            raise UnknownNameError(f"a subclass of {base}", f"{location} is none")
        return loaded
