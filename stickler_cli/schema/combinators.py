"""`allOf`, `$ref`, `anyOf`, `oneOf` and lists of types: from nested schemas to one merged reading.

A place in the documents is described by a *cell*: the schema objects that all speak about it, the
one that wins first. Merging keywords is then looking through the cell in order.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from stickler_cli.json_values import JsonValue
from stickler_cli.schema.annotations import own_keys
from stickler_cli.schema.references import (
    REFERENCES,
    LeadsNowhereError,
    Schema,
    SchemaFiles,
    Source,
)

Cell = tuple[Source, ...]

UNIONS: Final = ("anyOf", "oneOf")
SAYS_NOTHING: Final = frozenset(
    {
        "$comment",
        "$schema",
        "default",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "deprecated",
        "description",
        "else",
        "examples",
        "if",
        "maxProperties",
        "minProperties",
        "not",
        "required",
        "then",
        "title",
    }
)
"""Keywords that never change how a value is compared; a union of only these is a constraint."""


Report = Callable[[Schema, str, LeadsNowhereError], None]
"""Takes note of a reference that cannot be followed: the schema, the keyword, and why."""


def flatten(files: SchemaFiles, cell: Cell, report: Report) -> Cell:
    """List every schema that a cell is made of, through `allOf` and references, winners first.

    A schema's own keys go before its `allOf`, later branches before earlier ones, and all of them
    before the target of a reference.
    """
    found: list[Source] = []

    def add(source: Source, above: tuple[int, ...]) -> None:
        found.append(source)
        path = (*above, id(source.schema))
        for branch in _branches(files, source):
            if id(branch.schema) not in path:
                add(branch, path)
        for keyword in REFERENCES:
            if keyword in source.schema:
                target = _target(files, source, keyword, path, report)
                if target is not None:
                    add(target, path)

    for source in cell:
        add(source, ())
    return distinct(found)


def _branches(files: SchemaFiles, source: Source) -> list[Source]:
    branches = source.schema.get("allOf")
    if not isinstance(branches, list):
        return []
    return [files.inside(source, branch) for branch in reversed(branches)]


def _target(
    files: SchemaFiles, source: Source, keyword: str, path: tuple[int, ...], report: Report
) -> Source | None:
    try:
        target = files.follow(source, keyword)
    except LeadsNowhereError as error:
        report(source.schema, keyword, error)
        return None
    if id(target.schema) in path:
        found = f"{source.schema[keyword]} leads back to itself"
        expected = "a reference to a schema that says something"
        report(source.schema, keyword, LeadsNowhereError(found, expected))
        return None
    return target


def distinct(sources: Iterable[Source]) -> Cell:
    """Drop a schema that is there by a second way; without this a cell could grow for ever."""
    by_identity: dict[int, Source] = {}
    for source in sources:
        by_identity.setdefault(id(source.schema), source)
    return tuple(by_identity.values())


def first(cell: Cell, keyword: str) -> JsonValue:
    """Give a keyword's value from the schema that wins; None where none has it."""
    return next((source.schema[keyword] for source in cell if keyword in source.schema), None)


def declared_types(cell: Cell) -> list[str] | None:
    """Give the JSON types that every schema of a cell allows, in order; None for any type."""
    types: list[str] | None = None
    for source in cell:
        named = source.schema.get("type")
        allowed = [named] if isinstance(named, str) else named
        if isinstance(allowed, list):
            names = [name for name in allowed if isinstance(name, str)]
            types = names if types is None else _common(types, names) or types
    return types


def _common(types: list[str], allowed: list[str]) -> list[str]:
    wider = {"integer"} if "number" in allowed else set()
    narrower = ["integer"] if "number" in types and "integer" in allowed else []
    return [name for name in types if name in allowed or name in wider] or narrower


def is_null(cell: Cell) -> bool:
    """Say whether a flattened cell accepts nothing but null."""
    listed = first(cell, "enum")
    if declared_types(cell) == ["null"] or listed == [None]:
        return True
    return any("const" in source.schema and source.schema["const"] is None for source in cell)


@dataclass(frozen=True, slots=True)
class Union:
    """The first `anyOf` or `oneOf` of a flattened cell that says something about kinds."""

    rest: Cell
    """The cell without this union."""
    arms: tuple[Source, ...]
    """The alternatives that are not null, in schema order."""


def find_union(files: SchemaFiles, cell: Cell) -> Union | None:
    """Find a union that decides how values are compared; None where there is none."""
    for position, source in enumerate(cell):
        for keyword in UNIONS:
            branches = source.schema.get(keyword)
            if not isinstance(branches, list):
                continue
            arms = [files.inside(source, branch) for branch in branches]
            arms = [arm for arm in arms if not is_null(flatten(files, (arm,), _quietly))]
            without = files.without(source, keyword)
            rest = (*cell[:position], without, *cell[position + 1 :])
            if any(_says_something(arm.schema) for arm in arms):
                return Union(rest, tuple(arms))
    return None


def _says_something(schema: Schema) -> bool:
    return bool(own_keys(schema)) or any(key not in SAYS_NOTHING for key in schema)


def _quietly(schema: Schema, keyword: str, error: LeadsNowhereError) -> None:
    """Leave a bad reference to the pass that compiles the arm."""


def properties(files: SchemaFiles, cell: Cell, keyword: str = "properties") -> dict[str, Cell]:
    """Give the properties of a flattened cell, each with every schema that speaks about it.

    Names come in the order in which a reader of the schema meets them: what a schema refers to
    before what it adds.
    """
    found: dict[str, list[Source]] = {}
    for source in cell:
        named = source.schema.get(keyword)
        if isinstance(named, dict):
            for name, part in named.items():
                found.setdefault(name, []).append(files.inside(source, part))
    return {name: tuple(found[name]) for name in _reading_order(cell, keyword)}


def _reading_order(cell: Cell, keyword: str) -> Iterator[str]:
    seen: set[str] = set()
    for source in reversed(cell):
        named = source.schema.get(keyword)
        for name in named if isinstance(named, dict) else ():
            if name not in seen:
                seen.add(name)
                yield name
