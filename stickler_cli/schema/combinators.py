"""Find the subschemas that apply to a field or element.

They come from `allOf`, `$ref`, unions and lists of types. If two subschemas contradict each other,
the first one wins.
"""

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Final, NamedTuple

from stickler_cli.core.json_values import JsonValue, kind_of
from .annotations import BY_FORMAT, own_keys
from .dialects import CLOSED_BY, Schema, Source
from .references import LeadsNowhereError, SchemaFiles

InForce = tuple[Source, ...]
"""The subschemas that apply to one field or element. If two contradict each other, the first wins.
"""

UNIONS: Final = ("anyOf", "oneOf")
DECLARING: Final = ("properties", "patternProperties")
"""Keywords that name the keys of an object."""
SPEAKS: Final = frozenset(
    {*UNIONS, *DECLARING, *CLOSED_BY, "additionalItems", "items", "prefixItems"}
    | {"const", "enum", "format", "type"}
)
"""Keywords that can change how a value is compared. All others only restrict or describe the value,
or lead to other schemas."""

MOST_COMBINATIONS: Final = 128
"""Maximum number of combinations of alternatives for one field. If several unions apply to a field,
a combination has one alternative of each union: unions of 2, 3 and 4 alternatives have 24
combinations. If there are more combinations than the maximum, the alternatives of the last unions
apply all at once, as with `allOf`. Source: docs/schema.md."""

OPEN: Final = "any"
"""The kind of a field or element whose values may have any type."""

DeadReferenceReporter = Callable[[Schema, str, LeadsNowhereError], None]
"""A function that reports a reference that cannot be followed. It has three arguments: the schema
that contains the reference, the keyword of the reference (such as `$ref`), and the error."""


def flatten(files: SchemaFiles, in_force: InForce, report: DeadReferenceReporter) -> InForce:
    """Return the given subschemas and those behind their `allOf` and references, as a flat tuple.

    Each schema comes first, then the schemas of its `allOf` from last to first, then the target of
    its reference. If two subschemas contradict each other, the earlier one wins.

    Subschemas that do not affect comparisons are left out. For example, a schema that has only a
    `$ref` is left out, and only the definition is returned. All references to one definition
    therefore give the same result. If no subschema affects comparisons, only the first subschema is
    returned.
    """
    leads_on = ("allOf" in outer.schema or files.references_of(outer.schema) for outer in in_force)
    if len(in_force) == 1 and not any(leads_on):
        return in_force
    sources_by_id: dict[int, Source] = {}
    ids_above: set[int] = set()

    def add(source: Source) -> None:
        key = id(source.schema)
        if key in sources_by_id:
            return
        sources_by_id[key] = source
        ids_above.add(key)
        branches = source.schema.get("allOf")
        for branch in reversed(branches if isinstance(branches, list) else []):
            add(files.enter(source, branch))
        for keyword in files.references_of(source.schema):
            try:
                target = files.follow(source, keyword)
                if id(target.schema) in ids_above:
                    raise leads_back(source.schema[keyword])
            except LeadsNowhereError as error:
                report(source.schema, keyword, error)
            else:
                add(target)
        ids_above.remove(key)

    for source in in_force:
        add(source)
    all_sources = tuple(sources_by_id.values())
    return tuple(source for source in all_sources if _speaks(source.schema)) or all_sources[:1]


def leads_back(reference: object) -> LeadsNowhereError:
    """Return the error for a reference that only leads back to itself."""
    expected = "a reference that leads to a schema"
    return LeadsNowhereError(f"{reference} refers back to itself", expected)


def distinct(sources: Iterable[Source]) -> InForce:
    """Return the schemas in order, without repetitions.

    Several references may lead to one schema.
    """
    by_identity: dict[int, Source] = {}
    for source in sources:
        by_identity.setdefault(id(source.schema), source)
    return tuple(by_identity.values())


def first(in_force: InForce, keyword: str) -> JsonValue:
    """Return a keyword's value from the first schema that has it; None if none has it."""
    return next((source.schema[keyword] for source in in_force if keyword in source.schema), None)


def listed_values(in_force: InForce) -> list[JsonValue] | None:
    """Return the values that an enum or const allows, or None if there is neither."""
    for source in in_force:
        if "const" in source.schema:
            return [source.schema["const"]]
        values = source.schema.get("enum")
        if isinstance(values, list):
            return list(values)
    return None


def declared_types(in_force: InForce) -> list[str] | None:
    """Return the JSON types that all subschemas allow, in order, or None if any type is allowed.

    If two schemas have no type in common, the first one wins.
    """
    counterpart = {"integer": "number", "number": "integer"}
    types: list[str] | None = None
    for source in in_force:
        stated = source.schema.get("type")
        allowed = [stated] if isinstance(stated, str) else stated
        if isinstance(allowed, list):
            names = [name for name in allowed if isinstance(name, str)]
            types = names if types is None else types
            common = [
                name if name in names else "integer"
                for name in types
                if name in names or counterpart.get(name) in names
            ]
            types = common or types
    return types


class Branch(NamedTuple):
    """One alternative of a union, with all subschemas that apply to its values.

    There is no `Branch` for an alternative that allows only null.
    """

    in_force: InForce
    arm: Source | None
    """The schema of the alternative, if the union is an `anyOf` or `oneOf`. None if the union is a
    list of types, such as `"type": ["string", "number"]`."""
    kind: str = ""
    """The type of the alternative if the union is a list of types; otherwise empty."""


def branches_of(
    files: SchemaFiles, in_force: InForce, report: DeadReferenceReporter
) -> tuple[Branch, ...]:
    """Return the alternatives of the first union that affects how values are compared.

    Further unions that affect comparisons apply inside each of these alternatives. If all unions
    together have more than `MOST_COMBINATIONS` combinations of alternatives, the last unions are
    merged: all alternatives of a merged union apply at once, as with `allOf`. If no union affects
    comparisons, the result is empty.
    """
    unions = list(_unions(files, in_force, report))
    if not unions:
        return ()
    remaining = list(in_force)
    while len(unions) > 1 and prod(len(arms) for _, _, arms in unions) > MOST_COMBINATIONS:
        position, keyword, arms = unions.pop()
        remaining[position] = files.without(remaining[position], keyword)
        remaining += [source for arm in arms for source in arm.in_force]
    position, keyword, arms = unions[0]
    remaining[position] = files.without(remaining[position], keyword)
    speaking = [
        remaining_source
        for remaining_source in distinct(remaining)
        if _speaks(remaining_source.schema)
    ]
    return tuple(Branch(distinct((*speaking, *arm.in_force)), arm.arm) for arm in arms)


def _unions(
    files: SchemaFiles, in_force: InForce, report: DeadReferenceReporter
) -> Iterator[tuple[int, str, list[Branch]]]:
    """Yield (index of the schema with the union, keyword, alternatives) for each relevant union.

    A union is relevant if an alternative changes how values are compared.
    """
    for position, source in enumerate(in_force):
        for keyword in UNIONS:
            branches = source.schema.get(keyword)
            if not isinstance(branches, list):
                continue
            sources = [files.enter(source, branch) for branch in branches if branch is not False]
            arms = [
                Branch(flatten(files, (alternative,), report), alternative)
                for alternative in sources
            ]
            arms = [arm for arm in arms if declared_types(arm.in_force) != ["null"]]
            arms = [arm for arm in arms if listed_values(arm.in_force) != [None]]
            if any(_speaks(source.schema) for arm in arms for source in arm.in_force):
                yield position, keyword, arms


def _speaks(schema: Schema) -> bool:
    return not SPEAKS.isdisjoint(schema) or bool(own_keys(schema))


def properties(
    files: SchemaFiles, in_force: InForce, keyword: str = "properties"
) -> dict[str, InForce]:
    """Return a dict from the name of each property to all subschemas that describe it.

    If a schema has properties and also a reference to a schema with properties, the dict has the
    properties of the referenced schema first.
    """
    sources_by_name: dict[str, list[Source]] = {
        name: [] for source in reversed(in_force) for name in named_schemas(source, keyword)
    }
    for source in in_force:
        for name, schema in named_schemas(source, keyword).items():
            sources_by_name[name].append(files.enter(source, schema))
    return {name: tuple(sources) for name, sources in sources_by_name.items()}


def named_schemas(source: Source, keyword: str) -> dict[str, JsonValue]:
    """Return the named subschemas under a keyword such as `properties`, as in the schema.

    The dict is empty if the schema does not have the keyword.
    """
    named = source.schema.get(keyword)
    return named if isinstance(named, dict) else {}


def kinds_of(files: SchemaFiles, in_force: InForce) -> list[str]:
    """Return the JSON types that a value may have, without null; `OPEN` if any type is allowed.

    If no subschema has a `type`, the type is inferred from other keywords. The first rule that
    applies decides:

    1. A keyword such as `properties` gives `object`, and a keyword such as `items` gives `array`.
    2. An `enum` or a `const` gives the types of its values.
    3. A `format` gives `string` if it is a known format of strings.
    """
    types = declared_types(in_force) or _inferred(files, in_force)
    kinds = [name for name in dict.fromkeys(types) if name != "null"]
    if "number" in kinds:
        kinds = [name for name in kinds if name != "integer"]
    return kinds or [OPEN]


def _inferred(files: SchemaFiles, in_force: InForce) -> list[str]:
    if any(keyword in source.schema for source in in_force for keyword in DECLARING) or (
        find_schemas_under(files, in_force, "additionalProperties")
    ):
        return ["object"]
    items = any(isinstance(source.schema.get("items"), dict | bool) for source in in_force)
    if items or positions_of(files, in_force):
        return ["array"]
    listed = listed_values(in_force)
    if listed is not None:
        return [kind_of(value) for value in listed]
    return ["string"] if first(in_force, "format") in BY_FORMAT else []


def positions_of(files: SchemaFiles, in_force: InForce) -> tuple[InForce, ...]:
    """Return the subschemas for each position of a tuple.

    A tuple is an array whose first elements each have a schema of their own.
    """
    positions: list[InForce] = []
    for source in in_force:
        schemas = source.schema.get(files.locate(source.schema).dialect.tuples)
        for index, schema in enumerate(schemas if isinstance(schemas, list) else ()):
            positions += [()] if index == len(positions) else []
            positions[index] = (*positions[index], files.enter(source, schema))
    return tuple(positions)


def elements_of(files: SchemaFiles, in_force: InForce) -> InForce:
    """Return the subschemas for the elements of a list, or for the last elements of a tuple.

    The last elements of a tuple are those after the positions that have schemas of their own.
    """
    has_positions = bool(positions_of(files, in_force))
    elements: InForce = ()
    for source in in_force:
        dialect = files.locate(source.schema).dialect
        keyword = "additionalItems" if has_positions and dialect.tuples == "items" else "items"
        schema = source.schema.get(keyword)
        if isinstance(schema, dict) or schema is True:
            elements += (files.enter(source, schema),)
    return elements


def find_schemas_under(files: SchemaFiles, in_force: InForce, keyword: str) -> InForce:
    """Return the subschemas under a keyword such as `additionalProperties`.

    The schemas `true` and `false` are left out.
    """
    holders = [source for source in in_force if isinstance(source.schema.get(keyword), dict)]
    return tuple(files.enter(source, source.schema[keyword]) for source in holders)
