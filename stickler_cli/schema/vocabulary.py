"""The types of JSON Schema, and where it keeps schemas inside a schema.

An annotation inside `default`, `examples` or `enum` is data, and a property may be called like a
keyword.
"""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")

ONE: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema."""
LISTED: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
"""Keywords whose value may be a list of schemas."""
NAMED: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords whose value is an object of schemas."""


def subschemas(schema: dict[str, JsonValue]) -> Iterator[tuple[Path, dict[str, JsonValue]]]:
    """Go through the schemas directly inside a schema, with the steps that lead to each."""
    for keyword, value in schema.items():
        if isinstance(value, dict) and keyword in ONE:
            yield (keyword,), value
        elif isinstance(value, dict) and keyword in NAMED:
            parts = value.items()
            yield from (((keyword, name), part) for name, part in parts if isinstance(part, dict))
        elif isinstance(value, list) and keyword in LISTED:
            each = enumerate(value)
            yield from (((keyword, at), part) for at, part in each if isinstance(part, dict))


def walk(schema: dict[str, JsonValue]) -> Iterator[tuple[Path, dict[str, JsonValue]]]:
    """Go through a schema and every schema in it, outermost first."""
    waiting: list[tuple[Path, dict[str, JsonValue]]] = [((), schema)]
    while waiting:
        path, part = waiting.pop()
        yield path, part
        waiting += reversed([((*path, *steps), inner) for steps, inner in subschemas(part)])
