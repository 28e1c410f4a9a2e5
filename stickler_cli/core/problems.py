"""Problems as values, the exceptions that carry them, and the names nearest to misspelt ones.

Documents that cannot be read are no exceptions: they are a `Problem` in the stream of pairs. The
exceptions are plain and take positional arguments: so they survive pickling between processes.
"""

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from .locations import field_path
from .values import dataclass

NEAR: Final = 0.6  # likeness from which a spelling is worth proposing: that of difflib


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, its place, and advice."""

    source: str
    """The file, or option, as the user named it; empty for a value without a file."""
    found: str
    """The finding, as a clause: `threshold is 15`."""
    expected: str = ""
    """The right values, as a noun phrase: `a number in [0, 1]`."""
    hint: str = ""
    """Advice, as a clause or question: `did you mean 0.15?`."""
    pointer: str | None = None
    """RFC 6901 pointer to the value inside the file; None where there is none."""
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
    """Of the schema: `required`."""
    field: str
    """Of the field, `[]` for items and `*` for keys of maps; empty for the document."""
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
        found = f"it takes more work to compare than --work-limit {limit:g} lets it{place}"
        self.problems = (Problem("", found),)


class RoomLimitError(WorkLimitError):
    """Documents of which too much would have to be kept while they are compared."""

    def __init__(self, limit: int, path: tuple[str, ...]) -> None:
        Exception.__init__(self, limit, path)
        place = f" at {field_path(path)}" if path else ""
        found = f"what is found of lists in lists{place} takes more than {limit >> 20} MB"
        self.problems = (Problem("", found),)


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


def require(module: str, what: str, extra: str, source: str = "") -> None:
    """Raise UnavailableError, with the package to install, unless a module is there."""
    name, _, _ = module.partition(".")
    if find_spec(name) is None or find_spec(module) is None:
        found = f"{what} needs {module}, which is not installed"
        raise UnavailableError([Problem(source, found, "", installing(extra))])


def import_extra(module: str, what: str, extra: str, source: str = "") -> Any:
    """Import a module that comes with an extra, or raise UnavailableError as `require` does."""
    require(module, what, extra, source)
    return import_module(module)


def require_pyarrow(what: str = "Parquet") -> None:
    """Raise UnavailableError if nothing is installed that reads and writes Parquet and Arrow."""
    require("pyarrow", what, "parquet")


def import_pyarrow(what: str = "Parquet", module: str = "pyarrow") -> Any:
    """Import pyarrow, or a module of it, or raise UnavailableError as `require_pyarrow` does."""
    require_pyarrow(what)
    return import_module(module)


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Find the choice that a word most likely means; None where no choice is near.

    Case does not matter, and a word is also held against the beginnings of the choices.

    >>> choices = ["LevenshteinComparator", "FuzzyComparator"]
    >>> nearest("Fuzy", choices), nearest("levenshtein", choices), nearest("Nope", choices)
    ('FuzzyComparator', 'LevenshteinComparator', None)
    """
    wanted = word[:100].lower()  # far longer than any name; the search is quadratic in it

    def likeness(choice: str) -> tuple[float, float]:
        whole, beginning = (
            SequenceMatcher(None, wanted, form).ratio()
            for form in (choice.lower(), choice.lower()[: len(wanted)])
        )
        return max(whole, beginning), whole

    best = max(choices, key=likeness, default=None) if wanted else None
    return best if best is not None and likeness(best)[0] >= NEAR else None


def did_you_mean(word: str, choices: Iterable[str], *, shown: Callable[[str], str] = str) -> str:
    """Word the hint that names the nearest choice; empty where no choice is near."""
    choice = nearest(word, choices)
    return f"did you mean {shown(choice)}?" if choice else ""
