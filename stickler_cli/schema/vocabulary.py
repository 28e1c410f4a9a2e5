"""Where JSON Schema keeps schemas inside a schema, and where it keeps data.

Only these places are read as schemas: an annotation inside `default`, `examples` or `enum` is
data, and a property may be called like a keyword.
"""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path

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
        match value:
            case dict() if keyword in ONE:
                yield (keyword,), value
            case dict() if keyword in NAMED:
                for name, part in value.items():
                    if isinstance(part, dict):
                        yield (keyword, name), part
            case list() if keyword in LISTED:
                for index, part in enumerate(value):
                    if isinstance(part, dict):
                        yield (keyword, index), part
            case _:
                pass


def walk(schema: dict[str, JsonValue]) -> Iterator[tuple[Path, dict[str, JsonValue]]]:
    """Go through a schema and every schema in it, outermost first."""
    waiting: list[tuple[Path, dict[str, JsonValue]]] = [((), schema)]
    while waiting:
        path, part = waiting.pop()
        yield path, part
        waiting += reversed([((*path, *steps), inner) for steps, inner in subschemas(part)])
