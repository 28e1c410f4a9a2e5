"""`allOf`, `$ref`, `anyOf`, `oneOf` and lists of types: from nested schemas to one merged reading.

A place in the documents is described by a *cell*: the schema objects that all speak about it, the
one that wins first. Merging keywords is then looking through the cell in order.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

from stickler_cli.core.json_values import JsonValue
from stickler_cli.schema.annotations import own_keys
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.files import LeadsNowhereError
from stickler_cli.schema.references import SchemaFiles, Source

Cell = tuple[Source, ...]

UNIONS: Final = ("anyOf", "oneOf")
SPEAKS: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "anyOf",
        "const",
        "enum",
        "format",
        "items",
        "oneOf",
        "patternProperties",
        "prefixItems",
        "properties",
        "type",
        "unevaluatedProperties",
    }
)
"""Keywords that can change how a value is compared, but for those that lead to other schemas; all
others only restrict or describe it."""

MOST_COMBINATIONS: Final = 128
"""How many combinations of alternatives one place may have, where several unions speak about it.
Past this, the last unions are merged as `allOf` is. Source: docs/schema.md."""

Report = Callable[[Schema, str, LeadsNowhereError], None]
"""Takes note of a reference that cannot be followed: the schema, the keyword, and why."""


def flatten(files: SchemaFiles, cell: Cell, report: Report) -> Cell:
    """List every schema that a cell is made of, through `allOf` and references, winners first.

    A schema's own keys go before its `allOf`, later branches before earlier ones, and all of them
    before the target of a reference. A schema that is there by a second way is listed once; those
    that say nothing, such as a mere reference, are left out, so that all uses of one definition
    are the same cell.
    """
    if len(cell) == 1 and not _leads_on(files, cell[0].schema):
        return cell
    found: dict[int, Source] = {}
    above: set[int] = set()

    def add(source: Source) -> None:
        key = id(source.schema)
        if key in found:
            return
        found[key] = source
        above.add(key)
        for branch in _branches(files, source):
            add(branch)
        for keyword in files.references_of(source.schema):
            target = _target(files, source, keyword, report)
            if target is not None and id(target.schema) in above:
                expected = "a reference to a schema that says something"
                problem = LeadsNowhereError(
                    f"{source.schema[keyword]} leads back to itself", expected
                )
                report(source.schema, keyword, problem)
            elif target is not None:
                add(target)
        above.remove(key)

    for source in cell:
        add(source)
    everything = tuple(found.values())
    return tuple(source for source in everything if _speaks(source.schema)) or everything[:1]


def _leads_on(files: SchemaFiles, schema: Schema) -> bool:
    return "allOf" in schema or bool(files.references_of(schema))


def _branches(files: SchemaFiles, source: Source) -> list[Source]:
    branches = source.schema.get("allOf")
    if not isinstance(branches, list):
        return []
    return [files.inside(source, branch) for branch in reversed(branches)]


def _target(files: SchemaFiles, source: Source, keyword: str, report: Report) -> Source | None:
    try:
        return files.follow(source, keyword)
    except LeadsNowhereError as error:
        report(source.schema, keyword, error)
        return None


def distinct(sources: Iterable[Source]) -> Cell:
    """Drop a schema that is there by a second way; without this a cell could grow for ever."""
    by_identity: dict[int, Source] = {}
    for source in sources:
        by_identity.setdefault(id(source.schema), source)
    return tuple(by_identity.values())


def first(cell: Cell, keyword: str) -> JsonValue:
    """Give a keyword's value from the schema that wins; None where none has it."""
    return next((source.schema[keyword] for source in cell if keyword in source.schema), None)


def listed_values(cell: Cell) -> list[JsonValue] | None:
    """Give the values that an enum or const names; None without either."""
    for source in cell:
        if "const" in source.schema:
            return [source.schema["const"]]
        values = source.schema.get("enum")
        if isinstance(values, list):
            return list(values)
    return None


def declared_types(cell: Cell) -> list[str] | None:
    """Give the JSON types that every schema of a cell allows, in order; None for any type.

    Where two schemas have no type in common, the one that wins has its way.
    """
    types: list[str] | None = None
    for source in cell:
        named = source.schema.get("type")
        allowed = [named] if isinstance(named, str) else named
        if isinstance(allowed, list):
            names = [name for name in allowed if isinstance(name, str)]
            types = names if types is None else _common(types, names) or types
    return types


def _common(types: list[str], allowed: list[str]) -> list[str]:
    common = []
    for name in types:
        if name in allowed or (name == "integer" and "number" in allowed):
            common.append(name)
        elif name == "number" and "integer" in allowed:
            common.append("integer")
    return common


def is_null(cell: Cell) -> bool:
    """Say whether a flattened cell accepts nothing but null."""
    return declared_types(cell) == ["null"] or listed_values(cell) == [None]


@dataclass(frozen=True, slots=True)
class Arm:
    """One alternative of a union, and all the schemas that it is made of."""

    source: Source
    cell: Cell


@dataclass(frozen=True, slots=True)
class Union:
    """A union of a flattened cell that says something about kinds."""

    rest: Cell
    """What the cell says without this union."""
    arms: tuple[Arm, ...]
    """The alternatives that are not null, in schema order."""


def find_union(files: SchemaFiles, cell: Cell, report: Report) -> Union | None:
    """Find the first union that decides how values are compared; None where there is none.

    Other unions stay in its `rest`, unless all their combinations were too many: then the last
    ones are merged into it, every alternative at once.
    """
    unions = list(_unions(files, cell, report))
    if not unions:
        return None
    rest = list(cell)
    while len(unions) > 1 and prod(len(arms) for _, _, arms in unions) > MOST_COMBINATIONS:
        position, keyword, arms = unions.pop()
        rest[position] = files.without(rest[position], keyword)
        rest += [source for arm in arms for source in arm.cell]
    position, keyword, arms = unions[0]
    rest[position] = files.without(rest[position], keyword)
    return Union(tuple(part for part in distinct(rest) if _speaks(part.schema)), tuple(arms))


def _unions(files: SchemaFiles, cell: Cell, report: Report) -> Iterator[tuple[int, str, list[Arm]]]:
    """List the unions of a cell that say something: position, keyword and arms of each."""
    for position, source in enumerate(cell):
        for keyword in UNIONS:
            branches = source.schema.get(keyword)
            if not isinstance(branches, list):
                continue
            parts = [files.inside(source, branch) for branch in branches if branch is not False]
            arms = [Arm(part, flatten(files, (part,), report)) for part in parts]
            arms = [arm for arm in arms if not is_null(arm.cell)]
            if any(_speaks(source.schema) for arm in arms for source in arm.cell):
                yield position, keyword, arms


def _speaks(schema: Schema) -> bool:
    return not SPEAKS.isdisjoint(schema) or bool(own_keys(schema))


def properties(files: SchemaFiles, cell: Cell, keyword: str = "properties") -> dict[str, Cell]:
    """Give the properties of a flattened cell, each with every schema that speaks about it.

    Names come in the order in which a reader of the schema meets them: what a schema refers to
    before what it adds.
    """
    found: dict[str, list[Source]] = {
        name: [] for source in reversed(cell) for name in named_schemas(source, keyword)
    }
    for source in cell:
        for name, part in named_schemas(source, keyword).items():
            found[name].append(files.inside(source, part))
    return {name: tuple(parts) for name, parts in found.items()}


def named_schemas(source: Source, keyword: str) -> dict[str, JsonValue]:
    """Give the schemas by name that one schema has under a keyword."""
    named = source.schema.get(keyword)
    return named if isinstance(named, dict) else {}
