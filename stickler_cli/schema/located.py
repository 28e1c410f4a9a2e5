"""A schema object, and where it stands among the files of a schema."""

from typing import TypeAlias

from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from .dialects import Dialect, Schema

PlaceKey: TypeAlias = tuple[str, Path]
"""The URI of a document and a path in it."""

Scope = tuple[tuple[str, str], ...]
"""For each name that a dynamic reference may ask for: the outermost resource that has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One schema object, and how the dynamic references in it are read."""

    schema: Schema
    scope: Scope = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a schema stands, and how references in it are read."""

    source: str
    """The file, for messages."""
    uri: str
    """Of the document."""
    path: Path
    base: str
    """What relative references start from."""
    dialect: Dialect
