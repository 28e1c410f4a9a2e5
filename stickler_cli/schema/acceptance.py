"""Which arm of a union accepts a value: the one question a plan still asks of a schema.

Formats are asserted here, so that "date or text" reads `n/a` as text. Source: docs/schema.md.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from jsonschema import FormatChecker
from jsonschema.validators import validator_for
from referencing import Registry

from stickler_cli.compare.one_of import Acceptor
from stickler_cli.json_values import JsonValue, kind_of
from stickler_cli.schema.annotations import own_keys
from stickler_cli.schema.references import SchemaFiles, Source

TYPE_ONLY: Final = frozenset({"$comment", "default", "deprecated", "description", "examples"}) | {
    "title",
    "type",
}
"""Keywords that leave the question of acceptance to the type alone."""

FORMATS: Final = FormatChecker()


@FORMATS.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))


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


@dataclass(frozen=True, slots=True)
class SchemaAcceptor(Acceptor):
    """Accepts values that are valid under a schema."""

    reference: str
    """An absolute reference to the schema."""
    dialect: str
    registry: "Registry[Any]" = field(compare=False, repr=False)

    def __call__(self, value: JsonValue) -> bool:
        """Say whether the value is valid; one too deep to tell is not accepted."""
        validator = validator_for({"$schema": self.dialect})(
            {"$ref": self.reference}, registry=self.registry, format_checker=FORMATS
        )
        try:
            return validator.is_valid(value)
        except RecursionError:
            return False


def acceptor_of(files: SchemaFiles, arm: Source) -> Acceptor:
    """Give the test for one arm: by type where its schema says no more than that."""
    schema = arm.schema
    named = schema.get("type")
    if named is not None and all(key in TYPE_ONLY or key in own_keys(schema) for key in schema):
        names = named if isinstance(named, list) else [named]
        return TypeAcceptor(frozenset(str(name) for name in names))
    return SchemaAcceptor(files.uri_of(schema), files.dialect, files.registry)
