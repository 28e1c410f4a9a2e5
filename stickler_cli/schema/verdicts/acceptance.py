"""Which arm of a union accepts a value: the one question a plan still asks of a schema."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, time
from functools import partial
from typing import Final

from stickler_cli.compare.one_of import Acceptor
from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.core.values import dataclass
from stickler_cli.schema.annotations import own_keys
from stickler_cli.schema.dialects import TYPES, Source
from stickler_cli.schema.references import SchemaFiles
from .judged_documents import Documents, Part
from .judging import Formats

TYPE_ONLY: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "title", "type"}
)
"""Keywords that leave the question of acceptance to the type alone."""

ANY_TYPE: Final = frozenset(TYPES)


@dataclass(frozen=True, slots=True)
class TypeAcceptor(Acceptor):
    """Accepts values of some JSON types, as the engine does; no validator is built for these."""

    types: frozenset[str]

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value is of one of the types; 1.0 is an integer."""
        kind = kind_of(value)
        if kind == "integer" or (isinstance(value, float) and value.is_integer()):
            return bool(self.types & {"integer", "number"})
        return kind in self.types


@dataclass(frozen=True, slots=True)
class NumberAcceptor(Acceptor):
    """Accepts as another one does, but for texts that are numbers, as a Decimal is written."""

    inner: Acceptor
    numbers: bool
    """Whether it accepts a text that is nothing but a number."""

    @property
    def is_bounded(self) -> bool:
        """Whether it takes time in proportion to the value."""
        return self.inner.is_bounded

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value is accepted."""
        if isinstance(value, str) and _NUMBER.fullmatch(value):
            return self.numbers
        return self.inner(value)


_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _reads(parse: Callable[[str], object], shape: str, text: str) -> bool:
    with suppress(ValueError):
        return bool(re.fullmatch(shape, text, re.ASCII)) and parse(text.upper()) is not None
    return False


GENEROUS: Final[Formats] = {
    "date-time": partial(_reads, datetime.fromisoformat, r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*"),
    "time": partial(_reads, time.fromisoformat, r"\d\d:\d\d.*"),
}
"""Formats that are read more generously here than RFC 3339 has them: documents leave the time zone
out, or write a blank for the T, and are still better compared as dates than as texts."""


class SchemaAcceptor(Part, Acceptor):
    """Accepts values that are valid under a schema; one too deep to tell is not."""

    formats = GENEROUS

    @property
    def is_bounded(self) -> bool:
        """Whether it takes time in proportion to the value."""
        return self.documents.are_bounded

    def __call__(self, value: JsonValue) -> bool:
        """Return whether the value is valid."""
        return self.is_valid(value)


def acceptor_of(files: SchemaFiles, arm: Source, documents: Documents) -> Acceptor:
    """Return the test for one arm: by type where its schema says no more than that."""
    schema = arm.schema
    if schema is files.booleans[True]:
        return TypeAcceptor(ANY_TYPE)
    named = schema.get("type")
    if named is not None and all(key in TYPE_ONLY or key in own_keys(schema) for key in schema):
        names = named if isinstance(named, list) else [named]
        return TypeAcceptor(frozenset(str(name) for name in names))
    return SchemaAcceptor(files.uri_of(schema), files.at(schema).dialect, documents)
