"""The dialects of JSON Schema, and the schemas inside a schema.

Not every object in a schema is a schema: an object inside `default`, `examples` or `enum` is data,
and a property may have the name of a keyword.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path

Schema = dict[str, JsonValue]


class Dialect(NamedTuple):
    """One published version of JSON Schema."""

    name: str
    """The usual name: `Draft 7`, `2020-12`."""
    uri: str
    """The URI of the meta-schema, without a trailing `#`."""
    references: tuple[str, ...] = ("$ref",)
    """The keywords whose value refers to a schema."""
    id_keyword: str = "$id"
    anchors: tuple[str, ...] = ()
    """Keywords that give a schema a plain name, such as `$anchor`. If the tuple is empty, an `id`
    such as `#name` gives the name."""
    ref_stands_alone: bool = True
    """Whether a schema with a `$ref` consists of the reference alone. Its other keywords, such as
    `$id`, are then ignored."""
    tuples: str = "items"
    """The keyword that lists one schema for each position of an array."""


DRAFT_4: Final = Dialect("Draft 4", "http://json-schema.org/draft-04/schema", id_keyword="id")
DRAFT_6: Final = Dialect("Draft 6", "http://json-schema.org/draft-06/schema")
DRAFT_7: Final = Dialect("Draft 7", "http://json-schema.org/draft-07/schema")
DRAFT_2019_09: Final = Dialect(
    "2019-09",
    "https://json-schema.org/draft/2019-09/schema",
    references=("$ref", "$recursiveRef"),
    anchors=("$anchor",),
    ref_stands_alone=False,
)
DRAFT_2020_12: Final = Dialect(
    "2020-12",
    "https://json-schema.org/draft/2020-12/schema",
    references=("$ref", "$dynamicRef"),
    anchors=("$anchor", "$dynamicAnchor"),
    ref_stands_alone=False,
    tuples="prefixItems",
)
DEFAULT: Final = DRAFT_2020_12
"""The dialect for a schema whose `$schema` is missing or unknown. Source: docs/schema.md."""

DIALECTS: Final = {
    "4": DRAFT_4,
    "5": DRAFT_4,  # Draft 5 did not change the meta-schema
    "6": DRAFT_6,
    "7": DRAFT_7,
    "8": DRAFT_2019_09,
    "2019-09": DRAFT_2019_09,
    "2020-12": DRAFT_2020_12,
}
"""Maps the version in a `$schema`, such as `7` or `2020-12`, to its dialect."""

TOO_OLD: Final = frozenset({"0", "1", "2", "3"})
"""Drafts that are not supported. Keywords have another meaning in them: for example, `required` is
inside a property."""

SUPPORTED: Final = "JSON Schema Draft 4, 6, 7, 2019-09 or 2020-12"

_NUMBER: Final = re.compile(r"draft[\s/_-]*0?([0-8])(?![0-9])|(2019-09|2020-12)", re.IGNORECASE)


def named_dialect(schema: JsonValue) -> str | None:
    """Return the version in `$schema`, such as `7` or `2020-12`, or None if it names none.

    >>> named_dialect({"$schema": "https://json-schema.org/draft-07/schema"})
    '7'
    """
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(named, str) or ("://" in named and "json-schema.org" not in named):
        return None
    match = _NUMBER.search(named)
    return (match[1] or match[2]) if match else None


def dialect_of(schema: JsonValue, default: Dialect = DEFAULT) -> Dialect:
    """Return the dialect of a schema, or `default` if its `$schema` is missing or unknown."""
    return DIALECTS.get(named_dialect(schema) or "", default)


def own_id(schema: Schema, dialect: Dialect) -> str | None:
    """Return the `$id` of a schema. References inside the schema are relative to it.

    None if the schema has no `$id` with this effect.
    """
    value = schema.get(dialect.id_keyword)
    if not isinstance(value, str) or (dialect.ref_stands_alone and "$ref" in schema):
        return None
    return value.partition("#")[0] or None


def own_names(schema: Schema, dialect: Dialect) -> list[str]:
    """Return the plain names of a schema, such as the value of `$anchor`."""
    names = [schema.get(keyword) for keyword in dialect.anchors]
    value = schema.get(dialect.id_keyword)
    if not dialect.anchors and isinstance(value, str):
        names.append(value.partition("#")[2] or None)
    return [name for name in names if isinstance(name, str)]


TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")

CLOSED_BY: Final = ("additionalProperties", "unevaluatedProperties")
"""Keywords whose schema applies to keys that no other keyword declares."""
ITEMS: Final = ("items", "additionalItems", "unevaluatedItems", "contains")
CONDITIONS: Final = ("if", "then", "else", "not")

ONE: Final = frozenset({*CLOSED_BY, *ITEMS, *CONDITIONS, "contentSchema", "propertyNames"})
"""Keywords whose value is a schema."""
LISTED: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
"""Keywords whose value may be a list of schemas."""
NAMED: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords whose value is an object of schemas."""

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
"""The keywords of all dialects."""


def subschemas(schema: Schema) -> Iterator[tuple[Path, Schema]]:
    """Yield (path, inner schema) for each schema directly inside a schema."""
    for keyword, value in schema.items():
        if isinstance(value, dict) and keyword in ONE:
            yield (keyword,), value
        elif isinstance(value, dict) and keyword in NAMED:
            for name, subschema in value.items():
                if isinstance(subschema, dict):
                    yield (keyword, name), subschema
        elif isinstance(value, list) and keyword in LISTED:
            for index, subschema in enumerate(value):
                if isinstance(subschema, dict):
                    yield (keyword, index), subschema


def walk(schema: Schema) -> Iterator[tuple[Path, Schema]]:
    """Yield (path, schema) for a schema and for all schemas inside it, outer schemas first."""
    waiting: list[tuple[Path, Schema]] = [((), schema)]
    while waiting:
        path, subschema = waiting.pop()
        yield path, subschema
        waiting += reversed([((*path, *steps), inner) for steps, inner in subschemas(subschema)])


PlaceKey: TypeAlias = tuple[str, Path]
"""A location of a schema: the URI of its document, and the path in it."""

Scope = tuple[tuple[str, str], ...]
"""Names that dynamic references use, as pairs (name, URI). If several resources define a name, the
URI is that of the outermost one."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A schema object, and the scope in which its dynamic references are resolved."""

    schema: Schema
    scope: Scope = ()


class SchemaPlace(NamedTuple):
    """The location of a schema, and the URI that its references are relative to."""

    source: str
    """The name of the file in messages."""
    uri: str
    """The URI of the document."""
    path: Path
    base: str
    """The URI that relative references are resolved against."""
    dialect: Dialect
