"""How a value is compared where its schema does not say: the table of docs/schema.md."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Final

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.registry import construct
from stickler_cli.compare.leaf import LeafNode
from stickler_cli.compare.open import OpenNode
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.values import dataclass

DEFAULT_WEIGHT: Final = 1.0
"""Source: docs/schema.md."""


@dataclass(frozen=True, slots=True)
class LeafDefault:
    """How one kind of leaf is compared."""

    comparator: str
    threshold: float
    """In [0, 1]."""
    config: Mapping[str, object] = field(default_factory=dict, hash=False)


TEXT: Final = LeafDefault("LevenshteinComparator", 0.5)
NUMBER: Final = LeafDefault("NumericComparator", 0.5)
EXACT: Final = LeafDefault("ExactComparator", 1.0)
DATE: Final = LeafDefault("DateComparator", 1.0)
FORM: Final = LeafDefault("CaseInsensitiveComparator", 1.0)

BY_TYPE: Final = {"string": TEXT, "number": NUMBER, "integer": NUMBER, "boolean": EXACT}
BY_FORMAT: Final = {
    **dict.fromkeys(("date", "date-time"), DATE),
    **dict.fromkeys(("email", "hostname", "ipv4", "ipv6", "time", "uri"), FORM),
    "uuid": EXACT,
}
"""Formats of a string that are no plain text; any other format is."""


def leaf_default(
    kind: str, format_: object = None, *, members: Sequence[JsonValue] = ()
) -> LeafDefault:
    """Return the default for a JSON type, or for the members that an enum or const names.

    >>> leaf_default("string", "date").comparator
    'DateComparator'
    """
    if members:
        return LeafDefault("EnumComparator", 1.0, {"members": members})
    if kind == "string" and isinstance(format_, str):
        return BY_FORMAT.get(format_, TEXT)
    return BY_TYPE.get(kind, TEXT)


def default_comparator(default: LeafDefault) -> BaseComparator:
    """Return the comparator of a default, the same each time where it has no config."""
    if default.config:
        return construct(default.comparator, default.config)
    return _plain(default.comparator)


@cache
def _plain(name: str) -> BaseComparator:
    return construct(name, {})


@cache
def open_default(weight: float = DEFAULT_WEIGHT) -> OpenNode:
    """Return the node for a place without a schema, without annotations."""
    leaves = {
        kind: LeafNode(
            comparator=default_comparator(default),
            threshold=default.threshold,
            weight=weight,
        )
        for kind, default in BY_TYPE.items()
    }
    inside = None if weight == DEFAULT_WEIGHT else open_default()
    return OpenNode(
        leaves=leaves,
        weight=weight,
        threshold=TEXT.threshold,
        elements=inside,
        inside=inside,
        object_threshold=DEFAULT_MATCH_THRESHOLD,
        match_threshold=DEFAULT_MATCH_THRESHOLD,
    )
