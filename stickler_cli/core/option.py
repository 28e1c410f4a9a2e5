"""Options of `settings`: their defaults, their valid values, and their help.

Values from command lines, configuration files and Python calls are all read here, so that ranges
and error messages are the same everywhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, FrozenInstanceError, dataclass, field, fields
from functools import cache, partial
from inspect import get_annotations
from numbers import Integral, Real
from types import MappingProxyType, NoneType
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    NoReturn,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from .problems import Problem, UsageError, did_you_mean, percentage_hint

T = TypeVar("T")
S = TypeVar("S", bound="Settings")


class NotTakenError(Exception):
    """An option does not accept a value. The text of the error is a hint for the user, or empty."""


class BlankTextError(NotTakenError):
    """An option does not accept a text that is empty or has only white space."""


class Read(NamedTuple):
    """The valid values of an option. The function `convert` decides which values are valid."""

    expected: str
    """Phrase for the valid values, such as `a path`."""
    convert: Callable[[object], Any]
    """A function that returns the value of the option for a valid input. For any other input, it
    raises NotTakenError."""


class Choice(NamedTuple):
    """The valid values of an option that accepts one of several words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """Phrase for the valid values."""
        return f"one of {', '.join(self.words)}"

    def convert(self, value: object) -> str:
        """Return the word if it is valid; raise NotTakenError otherwise."""
        if not isinstance(value, str) or value not in self.words:
            raise NotTakenError(did_you_mean(str(value), self.words))
        return value


class NumberRange(NamedTuple):
    """The valid values of an option that accepts numbers, and perhaps a word, such as `none`."""

    expected: str
    fits: Callable[[float], bool] = lambda number: number == number  # noqa: PLR0124 - not NaN
    whole: bool = False
    word: str | None = None

    def convert(self, value: object) -> float | str:
        """Return the number or word if it is valid; raise NotTakenError otherwise."""
        if self.word is not None and isinstance(value, str):
            if value == self.word:
                return value
            value = self.in_text(value)
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            raise NotTakenError
        try:
            number = int(value) if isinstance(value, Integral) and self.whole else float(value)
        except OverflowError:
            raise NotTakenError from None
        if not self.fits(number):
            may_be_share = not self.whole and self.fits(number / 100)
            raise NotTakenError(percentage_hint(number) if may_be_share else "")
        return number

    def in_text(self, text: str) -> float:
        """Parse a number; raise NotTakenError if the text is not a number."""
        try:
            return int(text) if self.whole else float(text)
        except ValueError:
            raise NotTakenError from None


_BYTES: Final = r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([kMGT]?)(i?)B?\s*"
_POWERS: Final = ("", "k", "m", "g", "t")


def _bytes(value: object) -> int:
    """Return a size in bytes. The size may be given with a unit.

    >>> _bytes("200MB"), _bytes("1.5 GiB"), _bytes(4096)
    (200000000, 1610612736, 4096)
    """
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    text = str(value) if is_integer or isinstance(value, str) else ""
    match = re.fullmatch(_BYTES, text, re.IGNORECASE | re.ASCII)
    if match is None:
        raise NotTakenError
    number, unit, binary = match.groups()
    size = int(float(number) * (1024 if binary else 1000) ** _POWERS.index(unit.lower()))
    if size < 1:
        raise NotTakenError
    return size


def _typed(kind: type, value: object) -> object:
    if not isinstance(value, kind):
        raise NotTakenError
    return value


def _text(value: object) -> str:
    """Return the value if it is a text that is not blank; raise NotTakenError otherwise."""
    if not isinstance(value, str):
        raise NotTakenError
    if not value.strip():
        raise BlankTextError("leave the option out to get its default")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(value),)
    if not isinstance(value, list | tuple):
        raise NotTakenError
    return tuple(map(_text, value))


BYTES: Final = Read("a number of bytes, such as 4096, 500kB or 1.5GB", _bytes)
FLAG: Final = Read("true or false", partial(_typed, bool))
TEXTS: Final = Read("a list of strings", _texts)
_TYPED: Final = {bool: FLAG, str: Read("a string", _text)}
Values: TypeAlias = Read | Choice | NumberRange


class Option(NamedTuple):
    """One option of a settings class: help, valid values, default, and where it is accepted."""

    help: str
    metavar: str | None = None
    short: str | None = None  # one letter, such as `-f`
    values: Values = FLAG  # valid values, if its type does not determine them
    default_text: str | None = None  # its default in words, for the help
    # Commands that accept it in a configuration file.
    in_file: Literal["all", "eval", "none"] = "all"
    is_path: bool = False  # paths in a configuration file are relative to that file
    role: Literal["", "input", "output"] = ""  # whether the named file is read or written
    argument: bool = False  # positional on the command line
    needed: bool = True  # whether this positional argument is required
    # Positional arguments that it replaces; they then have its value.
    instead_of: tuple[str, ...] = ()
    panel: str = ""  # panel of the help; by default that of its group
    flag: str = ""  # its name on the command line
    name: str = ""  # name of its field, which also has the type and the default
    kind: Any = None
    default: Any = None

    def convert(self, value: object) -> Any:
        """Return the value of the option for an input from Python or a file.

        Raises:
            NotTakenError: the input is not valid.
        """
        # The default of an argument that is not needed may be blank.
        is_default = type(value) is type(self.default) and value == self.default
        return value if is_default else self.values.convert(value)

    def parse(self, value: object) -> Any:
        """Return the value of the option for a text from the command line.

        Raises:
            NotTakenError: the text is not valid.
        """
        if (
            isinstance(self.values, NumberRange)
            and isinstance(value, str)
            and value != self.values.word
        ):
            value = self.values.in_text(value)
        may_be_default = value is None or self.argument
        return self.convert(value) if may_be_default else self.values.convert(value)

    def problem(self, source: str, found: str, error: NotTakenError) -> Problem:
        """Return the problem to report for an invalid value.

        It tells the user which values are valid.
        """
        is_blank = isinstance(error, BlankTextError)
        expected = "a text that is not blank" if is_blank else self.values.expected
        return Problem(source=source, found=found, expected=expected, hint=str(error))


def option(default: T, help: str, metavar: str | None = None, **more: Any) -> T:  # noqa: A002 - the word of typer
    """Declare an option as a field of a settings class.

    `more` are further attributes of `Option`, such as `short`.
    """
    option_field: T = field(default=default, metadata={"help": help, "metavar": metavar, **more})
    return option_field


_TITLES_OF_INPUTS: Final = {"schema": "the schema", "run": "the run", "runs": "a run"}


class Settings:
    """The immutable values of a group of options. Subclasses declare the options.

    The methods here are written by hand and shared by all subclasses. A run loads about fifty
    subclasses, but creates an instance of only one. If `dataclass` generated methods for each
    subclass, this would take a tenth of the start-up time of a run.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    panel: ClassVar[str] = ""
    """Heading under which the help shows the options of this group."""

    def __init_subclass__(cls, panel: str = "") -> None:
        dataclass(init=False, repr=False, eq=False)(cls)
        cls.panel = panel

    def __init__(self, **values: Any) -> None:
        defaults = {entry.name: entry.default for entry in fields(self)}
        if unknown := sorted(values.keys() - defaults.keys()):
            raise TypeError(f"{type(self).__name__} has no option {', '.join(unknown)}")
        vars(self).update(defaults | values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__qualname__}({values})"

    def titles_of_inputs(self, argument: str) -> Sequence[str]:
        """Return one title for each file in an argument.

        Messages call the file by its title, such as `the schema`.

        `argument` is the name of the option that holds the files.
        """
        value = getattr(self, argument)
        title = _TITLES_OF_INPUTS.get(argument, argument.upper())
        return [title] * (1 if isinstance(value, str) else len(value))


@cache
def options_of(settings: type[Settings]) -> Mapping[str, Option]:
    """Return all options of a settings class, keyed by name.

    The options of the class itself come first, then those of its base classes.
    """
    kinds, options_by_name = get_type_hints(settings), {}
    by_name = {entry.name: entry for entry in fields(settings)}
    panels: dict[str, str] = {}
    for group in settings.__mro__:
        for name in get_annotations(group):
            # The panel is that of the first group that has the option and a panel.
            panels[name] = panels.get(name) or vars(group).get("panel", "")
    for name, panel in panels.items():
        if name not in by_name:  # an attribute of the class, not an option
            continue
        derived: dict[str, Any] = {"flag": f"--{name.replace('_', '-')}", "panel": panel}
        derived |= by_name[name].metadata
        if "values" not in derived:
            derived["values"] = _values_of(kinds[name])
        options_by_name[name] = Option(
            **derived, name=name, kind=kinds[name], default=by_name[name].default
        )
    return MappingProxyType(options_by_name)


def _values_of(kind: object) -> Values:
    """Return the valid values of an option, given its type."""
    if get_origin(kind) is tuple:
        return TEXTS
    if get_origin(kind) is Literal:
        return Choice(get_args(kind))
    members = {*get_args(kind)} - {NoneType}  # of a type such as `str | None`
    (member,) = members or {kind}
    if member in _TYPED:
        return _TYPED[member]
    return Choice(get_args(member))  # a Literal


def read_settings(settings: type[S], given: Mapping[str, object], *, parsed: bool = True) -> S:
    """Create settings from the values that a user gave, keyed by the name of the option.

    If `parsed` is true, the values come from a Python call or a file and have their types already.
    If `parsed` is false, the values are texts from the command line and are parsed here.

    Raises:
        UsageError: some values are invalid; the error lists all of them.
    """
    problems = []
    values = {}
    known = options_of(settings)  # type: ignore[arg-type]  # mypy: a type[S] cannot be hashed
    for name, value in given.items():
        option = known[name]
        try:
            values[name] = option.convert(value) if parsed else option.parse(value)
        except NotTakenError as error:
            argument_or_flag = name.upper() if option.argument else option.flag
            source = f"argument {name!r}" if parsed else argument_or_flag
            problems.append(option.problem(source, f"the value is {value!r}", error))
    if problems:
        raise UsageError(problems)
    return settings(**values)


def paths_named(settings: Settings, role: Literal["input", "output"]) -> list[tuple[str, str]]:
    """Return (title, path) for each path that the user gave in an input or output option.

    Messages use the title: `the schema` for an argument, `--output` for an option.
    """
    paths: list[tuple[str, str]] = []
    for name, option in options_of(type(settings)).items():  # type: ignore[arg-type]
        value = getattr(settings, name)
        if option.role == role and value:
            values = (value,) if isinstance(value, str) else value
            is_argument = option.argument
            titles = settings.titles_of_inputs(name) if is_argument else [option.flag] * len(values)
            # Surplus arguments have no title; they are refused later.
            paths += zip(titles, values, strict=False)
    return paths


def select_settings(settings: Settings, kind: type[S]) -> S:
    """Return an object of the base class `kind`, with the option values copied from `settings`."""
    return kind(**{entry.name: getattr(settings, entry.name) for entry in fields(kind)})


def options_record(settings: Settings) -> dict[str, Any]:
    """Return the values of all options, keyed by the name of the option.

    Tuples become lists, as in JSON.
    """
    values = {name: getattr(settings, name) for name in settings.__dataclass_fields__}
    return {name: [*value] if isinstance(value, tuple) else value for name, value in values.items()}
