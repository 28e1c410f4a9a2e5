"""Which arm of a union accepts a value: the one question a plan still asks of a schema."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from typing import Any, Final

from jsonschema import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.jsonschema import specification_with

from stickler_cli.compare.one_of import Acceptor
from stickler_cli.core.json_values import JsonValue, kind_of
from stickler_cli.schema.annotations import own_keys
from stickler_cli.schema.backtracking import MOST_STEPS, most_steps
from stickler_cli.schema.dialects import Dialect, Schema
from stickler_cli.schema.formats import CHECKER
from stickler_cli.schema.patterns import compile_pattern
from stickler_cli.schema.references import SchemaFiles, Source

TYPE_ONLY: Final = frozenset({"$comment", "default", "deprecated", "description", "examples"}) | {
    "title",
    "type",
}
"""Keywords that leave the question of acceptance to the type alone."""

ANY_TYPE: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


@dataclass(frozen=True, slots=True)
class TypeAcceptor(Acceptor):
    """Accepts values of some JSON types."""

    types: frozenset[str]

    def __call__(self, value: JsonValue) -> bool:
        """Say whether the value is of one of the types; 1.0 is an integer."""
        kind = kind_of(value)
        if kind == "integer":
            return bool(self.types & {"integer", "number"})
        if isinstance(value, float) and value.is_integer() and "integer" in self.types:
            return True
        return kind in self.types


class Documents:
    """All the schema documents that a plan was compiled from; its acceptors share them."""

    def __init__(self, by_uri: Mapping[str, tuple[JsonValue, Dialect]], main: Dialect) -> None:
        """Take the documents, with their dialects, and the dialect of the first."""
        self._by_uri = by_uri
        self._main = main

    def __reduce__(self) -> tuple[Any, ...]:
        return Documents, (dict(self._by_uri), self._main)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Documents) and self._digest == other._digest)

    __hash__ = None  # type: ignore[assignment] # it grows while a plan is compiled

    @cached_property
    def _digest(self) -> str:
        """Tell documents apart: a plan holds many acceptors, and documents may be large."""
        return sha256(repr((self._by_uri, self._main)).encode(errors="replace")).hexdigest()

    @cached_property
    def registry(self) -> "Registry[Any]":
        """Give what `jsonschema` looks references up in."""
        # Reads every meta-schema from disk; most schemas have no use for it.
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

        resources = [
            (uri, specification_with(dialect.uri).create_resource(self._bare(contents, dialect)))
            for uri, (contents, dialect) in self._by_uri.items()
        ]
        registry: Registry[Any] = REGISTRY.with_resources(resources)
        return registry.crawl()

    @cached_property
    def searched(self) -> frozenset[str]:
        """Name the patterns that `jsonschema` itself searches keys for, by Python's `re`."""
        keys: set[str] = set()
        unevaluated = False
        parts: list[object] = [contents for contents, _ in self._by_uri.values()]
        while parts:
            part = parts.pop()
            if isinstance(part, dict):
                unevaluated = unevaluated or "unevaluatedProperties" in part
                patterns = part.get("patternProperties")
                keys |= patterns.keys() if isinstance(patterns, dict) else set()
                parts += part.values()
            elif isinstance(part, list):
                parts += part
        return frozenset(keys) if unevaluated else frozenset()

    def _bare(self, contents: JsonValue, dialect: Dialect) -> Any:
        """Leave `$schema` out where it says nothing new, else `jsonschema` leaves our class."""
        if not isinstance(contents, dict) or dialect != self._main:
            return contents
        return {name: value for name, value in contents.items() if name != "$schema"}


@dataclass(frozen=True, slots=True)
class SchemaAcceptor(Acceptor):
    """Accepts values that are valid under a schema."""

    reference: str
    """An absolute reference to the schema."""
    dialect: Dialect
    documents: Documents
    _validator: list[Validator] = field(default_factory=list, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return SchemaAcceptor, (self.reference, self.dialect, self.documents)

    def __call__(self, value: JsonValue) -> bool:
        """Say whether the value is valid; one too deep to tell is not accepted."""
        if not self._validator:
            self._validator.append(
                _validator_class(self.dialect, self.documents.searched)(
                    {"$ref": self.reference},
                    registry=self.documents.registry,
                    format_checker=CHECKER,
                )
            )
        try:
            return self._validator[0].is_valid(value)
        except (RecursionError, re.error):
            return False


def acceptor_of(files: SchemaFiles, arm: Source, documents: Documents) -> Acceptor:
    """Give the test for one arm: by type where its schema says no more than that."""
    schema = arm.schema
    if files.boolean_of(schema):
        return TypeAcceptor(ANY_TYPE)
    named = schema.get("type")
    if named is not None and all(key in TYPE_ONLY or key in own_keys(schema) for key in schema):
        names = named if isinstance(named, list) else [named]
        return TypeAcceptor(frozenset(str(name) for name in names))
    return SchemaAcceptor(files.uri_of(schema), files.dialect_at(schema), documents)


@cache
def _validator_class(dialect: Dialect, searched: frozenset[str]) -> Any:
    """Give the validator of a dialect that reads patterns as we do.

    `searched` are those that `unevaluatedProperties` searches for; it restricts nothing where
    that might take too long.
    """
    usual = validator_for({"$schema": dialect.uri})
    unevaluated: Any = usual.VALIDATORS.get("unevaluatedProperties")

    def unevaluated_properties(
        validator: Any, part: Any, instance: JsonValue, schema: Schema
    ) -> Iterator[ValidationError]:
        length = max(map(len, instance), default=0) if isinstance(instance, dict) else 0
        if all(most_steps(pattern, length) <= MOST_STEPS for pattern in searched):
            yield from unevaluated(validator, part, instance, schema)

    return extend(  # type: ignore[no-untyped-call]
        usual,
        {
            "additionalProperties": _additional_properties,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            **({"unevaluatedProperties": unevaluated_properties} if unevaluated else {}),
        },
    )


def _found(pattern: str, text: str) -> bool:
    """Say whether a pattern is in a text; one that cannot be read or bounded restricts nothing."""
    try:
        return compile_pattern(pattern).search(text) is not False
    except re.error:
        return True


def _pattern(
    validator: Any, pattern: str, instance: JsonValue, schema: Schema
) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: JsonValue, schema: Schema
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, part in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, part: Any, instance: JsonValue, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name not in declared and not any(_found(pattern, name) for pattern in patterns):
            if part is False:
                yield ValidationError(f"{name!r} is not declared")
            elif part is not True:
                yield from validator.descend(value, part, path=name)
