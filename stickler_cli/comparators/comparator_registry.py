"""Find the comparator class that a schema names, and construct it from JSON.

A name is looked up in three places: the table below, the entry points of installed packages, and
last, if the caller allows other code, as `package.module:Class`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stickler_cli.core.json_values import brief
from stickler_cli.core.problems import Family, UnknownNameError, did_you_mean
from .base import (
    BaseComparator,
    KeywordError,
    UnknownKeywordError,
    keyword_parameters,
    signature_of,
)

_HERE: Final = "stickler_cli.comparators"

BUILT_IN: Final[dict[str, str]] = {
    "ANLSStarComparator": f"{_HERE}.anls:ANLSStarComparator",
    "BBoxIoUComparator": f"{_HERE}.bbox:BBoxIoUComparator",
    "BERTComparator": f"{_HERE}.models:BERTComparator",
    "BertComparator": f"{_HERE}.models:BERTComparator",
    "CaseInsensitiveComparator": f"{_HERE}.exact:CaseInsensitiveComparator",
    "CodeComparator": f"{_HERE}.code:CodeComparator",
    "DateComparator": f"{_HERE}.date:DateComparator",
    "EnumComparator": f"{_HERE}.exact:EnumComparator",
    "ExactComparator": f"{_HERE}.exact:ExactComparator",
    "FuzzyComparator": f"{_HERE}.texts:FuzzyComparator",
    "LLMComparator": f"{_HERE}.models:LLMComparator",
    "LevenshteinComparator": f"{_HERE}.texts:LevenshteinComparator",
    "NormalizedComparator": f"{_HERE}.exact:NormalizedComparator",
    "NumericComparator": f"{_HERE}.numeric:NumericComparator",
    "NumericExactC": f"{_HERE}.numeric:NumericComparator",
    "PhoneComparator": f"{_HERE}.phone:PhoneComparator",
    "SemanticComparator": f"{_HERE}.models:SemanticComparator",
    "StructuredModelComparator": f"{_HERE}.exact:StructuredModelComparator",
    "TimeComparator": f"{_HERE}.time:TimeComparator",
}
"""Maps the name of each comparator to `module:Class`. A name that is not the name of the class is
an alias."""

ENTRY_POINT_GROUP: Final = "stickler_cli.comparators"

_FAMILY: Final = Family("comparator", BaseComparator, BUILT_IN, ENTRY_POINT_GROUP)


class UnknownComparatorError(KeywordError):
    """Raised if a name does not belong to a comparator class that can be used."""


class Description(NamedTuple):
    """A comparator, described for people who write schemas."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    keywords: tuple[inspect.Parameter, ...]
    """The parameters of the constructor, in their order. Their names are the keys that
    `comparator-config` may have."""


def comparator_class(name: str, *, allow_plugins: bool = False) -> type[BaseComparator]:
    """Return the class that a name stands for: built in, an entry point, or `package.module:Class`.

    Raises:
        UnknownComparatorError: there is no comparator with this name, or it cannot be used.
    """
    try:
        return _FAMILY.find(name, allow_plugins=allow_plugins)
    except UnknownNameError as error:
        raise UnknownComparatorError.of("comparator", name, error.expected, error.hint) from error


def construct(
    name: str, config: Mapping[str, object], *, allow_plugins: bool = False
) -> BaseComparator:
    """Construct a comparator from the name and the configuration in a schema.

    Raises:
        UnknownComparatorError: there is no comparator of this name, or it cannot be used.
        KeywordError: a key of `config` is unknown or missing, or has a value that cannot be used.
    """
    cls = comparator_class(name, allow_plugins=allow_plugins)
    _check_keywords(cls, name, config)
    constructor: Callable[..., BaseComparator] = cls
    try:
        return constructor(**config)
    except KeywordError:
        raise
    except (TypeError, ValueError) as error:
        raise KeywordError(
            None, f"{name} does not accept {brief(dict(config))}: {error}"
        ) from error


BOX_COMPARATOR: Final = "BBoxIoUComparator"


@dataclass(frozen=True, slots=True)
class Comparators:
    """The comparators that one schema may name."""

    allow_plugins: bool = False
    instances: Mapping[str, BaseComparator] = field(default_factory=dict)
    """Maps names that a schema may use to comparator objects."""
    boxes: str = "corners"
    """How a box on a page is written: `corners` or `xywh`. Used for each
    `BBoxIoUComparator` whose configuration does not state a format."""

    def check(self, name: str) -> None:
        """Raise `UnknownComparatorError` if no comparator has this name."""
        if name not in self.instances:
            comparator_class(name, allow_plugins=self.allow_plugins)

    def construct(self, name: str, config: Mapping[str, object]) -> BaseComparator:
        """Return the comparator called `name`. The keys and values of `config` are its arguments.

        If `name` is a key of `instances`, return the comparator that `instances` has for it, and
        ignore `config`. Otherwise, call the function `construct`, which lists the errors that
        can be raised.
        """
        if name in self.instances:
            return self.instances[name]
        if name == BOX_COMPARATOR and self.boxes != "corners":
            config = {"format": self.boxes, **config}
        return construct(name, config, allow_plugins=self.allow_plugins)


def location_of(comparator: BaseComparator) -> str:
    """Return the name of a comparator in schemas: a built-in name, or `module:Class`."""
    cls = type(comparator)
    return cls.__name__ if is_built_in(comparator) else f"{cls.__module__}:{cls.__qualname__}"


def is_built_in(comparator: BaseComparator) -> bool:
    """Return whether the class of a comparator is part of this package."""
    cls = type(comparator)
    return f"{cls.__module__}:{cls.__qualname__}" in BUILT_IN.values()


def describe() -> tuple[Description, ...]:
    """Return descriptions of all built-in comparators, sorted by name.

    All of their modules are imported for this.
    """
    aliases: dict[type[BaseComparator], list[str]] = {}
    for name in BUILT_IN:
        cls = comparator_class(name)
        aliases.setdefault(cls, []).extend([name] if name != cls.__name__ else [])
    return tuple(
        Description(
            cls.__name__,
            tuple(other_names),
            (inspect.getdoc(cls) or "").partition("\n")[0],
            tuple(keyword_parameters(cls)),
        )
        for cls, other_names in aliases.items()
    )


def plugin_names() -> tuple[str, ...]:
    """Return the names of comparators in installed packages, sorted. Nothing is imported."""
    return tuple(sorted(_FAMILY.offered()))


def _check_keywords(cls: type[BaseComparator], name: str, config: Mapping[str, object]) -> None:
    """Raise KeywordError if a configuration has an unknown key, or lacks a required key."""
    signature = signature_of(cls)  # type: ignore[arg-type] # mypy takes __hash__ for the class's
    parameters = signature.parameters.values()
    accepted = keyword_parameters(cls)
    names = [parameter.name for parameter in accepted]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    for keyword in config:
        if keyword not in names and not takes_any:
            expected = f"one of {', '.join(names)}" if names else "no keywords"
            hint = did_you_mean(keyword, names)
            raise UnknownKeywordError(keyword, f"{name} has no keyword {keyword}", expected, hint)
    for parameter in accepted:
        if parameter.default is parameter.empty and parameter.name not in config:
            finding = f"the keyword {parameter.name} of {name} is missing"
            raise KeywordError(None, finding, f"a value for {parameter.name}")
