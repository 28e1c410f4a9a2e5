"""The elements of an array, and whether they may be the corners of a box."""

from typing import Final

from stickler_cli.schema.combinators import Cell, first, flatten
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.files import LeadsNowhereError
from stickler_cli.schema.kinds import kinds_of
from stickler_cli.schema.references import SchemaFiles

_NUMBERS: Final = (["number"], ["integer"])


def ignore(schema: Schema, keyword: str, error: LeadsNowhereError) -> None:
    """Pass over a reference that leads nowhere; the compiler tells of it."""


def positions_of(files: SchemaFiles, cell: Cell) -> list[Cell]:
    """List the positions of a tuple, each with every schema that speaks about it."""
    positions: list[Cell] = []
    for source in cell:
        parts = source.schema.get(files.dialect_at(source.schema).tuples)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            positions += [()] if index == len(positions) else []
            positions[index] = (*positions[index], files.inside(source, part))
    return positions


def elements_of(files: SchemaFiles, cell: Cell) -> Cell:
    """Give every schema that speaks about the elements of a list, or those after a tuple."""
    elements = []
    for source in cell:
        keyword = "items"
        if files.dialect_at(source.schema).tuples == "items" and (
            isinstance(source.schema.get("items"), list)
        ):
            keyword = "additionalItems"
        part = source.schema.get(keyword)
        if isinstance(part, dict) or part is True:
            elements.append(files.inside(source, part))
    return tuple(elements)


def may_be_box(files: SchemaFiles, cell: Cell, *, plural: bool) -> bool:
    """Say whether an array may be four numbers, or two pairs of them.

    Args:
        files: where the schemas are.
        cell: the array's, flattened.
        plural: whether its name speaks of more than one, so that a list of lists is not a pair.
    """
    if _numbers(files, cell, 4):
        return True
    positions = positions_of(files, cell)
    inner = positions or [elements_of(files, cell)]
    pairs = all(_numbers(files, flatten(files, part, ignore), 2) for part in inner)
    return pairs and _may_have(2, positions, cell) and (bool(positions) or not plural)


def _numbers(files: SchemaFiles, cell: Cell, count: int) -> bool:
    """Say whether a place may be an array of so many numbers."""
    if kinds_of(files, cell) != ["array"]:
        return False
    positions = positions_of(files, cell)
    inner = positions or [elements_of(files, cell)]
    flat = [flatten(files, part, ignore) for part in inner]
    return _may_have(count, positions, cell) and all(
        kinds_of(files, part) in _NUMBERS for part in flat
    )


def _may_have(count: int, positions: list[Cell], cell: Cell) -> bool:
    """Say whether an array may have so many elements."""
    if positions:
        return len(positions) == count
    least, most = first(cell, "minItems"), first(cell, "maxItems")
    return (not isinstance(least, int) or least <= count) and (
        not isinstance(most, int) or most >= count
    )
