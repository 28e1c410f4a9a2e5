"""Warnings of a valid schema: misspelt keywords, values listed twice, no field at all."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Final

from stickler_cli.core.json_values import JsonValue, brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, nearest
from .annotations import own_keys
from .dialects import CLOSED_BY, CONDITIONS, ITEMS, LISTED, NAMED, ONE, Schema, walk

KEYWORDS: Final = frozenset(
    {
        *(*CLOSED_BY, *CONDITIONS, *ITEMS, *LISTED, *NAMED, *ONE),
        *("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor"),
        *("$recursiveRef", "$ref", "$schema", "$vocabulary", "const", "contentEncoding"),
        *("contentMediaType", "default", "dependentRequired", "deprecated", "description", "enum"),
        *("examples", "exclusiveMaximum", "exclusiveMinimum", "format", "id", "maxContains"),
        *("maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems"),
        *("minLength", "minProperties", "minimum", "multipleOf", "pattern", "readOnly", "required"),
        *("title", "type", "uniqueItems", "writeOnly"),
    }
)
"""Of all dialects."""
_OTHERS: Final = frozenset(
    {
        *("discriminator", "example", "externalDocs", "name", "nullable", "order", "propertyOrder"),
        *("propertyOrdering", "strict", "xml"),
    }
)
"""Of OpenAPI and of models' interfaces: they look like keywords, and are meant."""

SHOWN: Final = 5
"""Keys of a schema that describes nothing that its error shows."""
_LEVELS: Final = 6
"""How deep a schema is looked for inside what is none."""


def warnings_of(schema: Schema, source: str) -> Iterator[Problem]:
    """List the keywords and values of a valid schema that have no effect."""
    for path, part in walk(schema):
        for key in part:
            meant = _meant(key)
            if meant is not None:
                found = f"{key} is no keyword of JSON Schema, and says nothing"
                hint = f"did you mean {meant}?"
                yield Problem(source, found, "", hint, json_pointer((*path, key)))
        for at, value in _doubled(part):
            found = f"enum lists {brief(value)} twice"
            yield Problem(source, found, "", "", json_pointer((*path, "enum", at)))


def _meant(key: str) -> str | None:
    """Return the keyword that a key seems to be meant for; None where it seems to be meant so."""
    if key in KEYWORDS or key in _OTHERS or key.startswith("x-"):
        return None
    meant = nearest(key, KEYWORDS - {"id"})
    # An s more or less, letters swapped, another case: not any word that is somewhat alike.
    alike = meant is not None and abs(len(meant) - len(key)) <= 2
    return meant if alike else None


def _doubled(schema: Schema) -> Iterator[tuple[int, JsonValue]]:
    """List the values of an enum that stand there a second time, with their places."""
    values = schema.get("enum")
    seen = set()
    for at, value in enumerate(values if isinstance(values, list) else ()):
        if repr(value) in seen:
            yield at, value
        seen.add(repr(value))


def without_doubled_values(schema: Schema) -> Schema:
    """Return a schema whose enums list each value once, which older dialects demand."""
    if not any([*_doubled(part)] for _, part in walk(schema)):
        return schema
    copy = deepcopy(schema)
    for _, part in walk(copy):
        for at, _ in reversed([*_doubled(part)]):
            del part["enum"][at]  # type: ignore[union-attr, arg-type]
    return copy


def nothing_described(schema: Schema, source: str) -> Problem:
    """Return the problem of a schema that describes no field, with a guess at the intention."""
    expected = 'an object schema whose "properties" name the fields'
    if not schema:
        return Problem(source, "the schema is empty: it describes no field", expected, "", "")
    keys = [*schema]
    more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
    what = "its key is" if len(keys) == 1 else "its keys are"
    found = f"the schema describes no field: {what} {', '.join(keys[:SHOWN])}{more}"
    return Problem(source, found, expected, _what_was_meant(schema, source), "")


def _what_was_meant(schema: Schema, source: str) -> str:
    for key in schema:
        if _meant(key) in NAMED | LISTED:
            return f"did you mean {_meant(key)} instead of {key}?"
    inner = list(_schemas_inside(schema, ()))
    if inner:
        pointer = json_pointer(inner[0])
        others = f" (and {len(inner) - 1} more)" if len(inner) > 1 else ""
        reference = f"{source.rpartition('/')[2]}#{pointer}"
        return (
            f"a schema is inside, at {pointer}{others}: give that alone, or a file beside this one "
            f'with {{"$ref": "{reference}"}}'
        )
    if not (KEYWORDS & schema.keys() or own_keys(schema)):
        return "is this a document? The order is SCHEMA GT PRED"
    return ""


def is_meant_as_schema(schema: JsonValue) -> bool:
    """Return whether a value that describes nothing is a schema all the same, or holds one."""
    misspelt = isinstance(schema, dict) and any(_meant(key) in NAMED | LISTED for key in schema)
    return misspelt or any(True for _ in _schemas_inside(schema, ()))


def names_fields(value: JsonValue) -> bool:
    """Return whether a value is an object schema, and no document with `properties`."""
    named = value.get("properties") if isinstance(value, dict) else None
    parts = named.values() if isinstance(named, dict) else ()
    return any(isinstance(part, dict) and not _KINDS.isdisjoint(part) for part in parts)


_KINDS: Final = frozenset({"$ref", "allOf", "anyOf", "enum", "oneOf", "properties", "type"})


def _schemas_inside(value: JsonValue, path: Path) -> Iterator[Path]:
    """List the places of object schemas in anything, the outermost of each branch."""
    if path and names_fields(value):
        yield path
    elif isinstance(value, dict) and len(path) < _LEVELS:
        for key, part in value.items():
            yield from _schemas_inside(part, (*path, key))
