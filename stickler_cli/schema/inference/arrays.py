"""Choose comparisons for arrays: for boxes, and for lists whose elements are paired by position."""

from dataclasses import replace
from typing import Final

from stickler_cli.schema.annotations import Merged
from stickler_cli.schema.combinators import InForce, branches_of, elements_of, kinds_of
from stickler_cli.schema.places import ArrayPlace, PlaceFinder
from .choices import Inferred, choose_by_name, may_be_box
from .list_shapes import BOX_NUMBERS, QUADRILATERAL_NUMBERS, ListShape
from .name_rules import (
    ORDERED_NUMBERS,
    ORDERED_SINGULARS,
    OVERLAP,
    QUADRILATERALS,
    SERIES,
    SIZED_BOXES,
    TABLES,
    ends_in,
    is_plural,
    words_of,
)
from .observation import Observed

ROW_THRESHOLD: Final = 0.5
"""Two rows of a table match if at least this share of their cells is equal. The default for tuples
is the same share. Source: docs/semantics.md."""
_LEAVES: Final = frozenset({"string", "number", "integer", "boolean"})
_NUMBERS: Final = frozenset({"number", "integer"})
ALL_KINDS: Final = frozenset({"array", "object", *_LEAVES})


def choose_box(
    name: str,
    places: PlaceFinder,
    place: ArrayPlace,
    shape: ListShape | None,
    inner: ListShape | None,
) -> Inferred | None:
    """Return the comparison of an array that is a box or a quadrilateral, or None for other arrays.

    `shape` describes the observed arrays. `inner` describes the arrays inside them.
    """
    choice = choose_by_name(name, "box")
    if choice is None and ends_in(name, QUADRILATERALS):
        reason = (
            f'the name "{words_of(name)[-1]}" suggests four corners: compared by their bounding '
            "rectangle"
        )
        choice = Inferred(comparator=OVERLAP.comparator, threshold=OVERLAP.threshold, reason=reason)
        is_box = shape is not None and _are_boxes(places, place, shape, inner, only_corners=True)
    elif choice is not None and shape is not None:
        is_box = _are_boxes(places, place, shape, inner, only_corners=False)
        is_box = is_box and not (inner is not None and is_plural(name) and not place.positions)
    else:
        is_box = choice is not None and may_be_box(places, place, plural=is_plural(name))
    if choice is None or not is_box:
        return None
    is_sized = not SIZED_BOXES.isdisjoint(words_of(name))
    if is_sized or (shape is not None and shape.boxes.have_sizes):
        reason = f"{choice.reason}; x, y, width and height"
        return replace(choice, config={"format": "xywh"}, reason=reason)
    return choice


def _are_boxes(
    places: PlaceFinder,
    place: ArrayPlace,
    shape: ListShape,
    inner: ListShape | None,
    *,
    only_corners: bool,
) -> bool:
    """Return whether all observed arrays can be boxes.

    A box has four or eight numbers, or two or four pairs of numbers. With `only_corners`, only
    eight numbers or four pairs are allowed, as in a quadrilateral.
    """
    kinds = cell_kinds(places, place.elements, *place.positions)
    if kinds <= _NUMBERS:
        lengths = [QUADRILATERAL_NUMBERS] if only_corners else [BOX_NUMBERS, QUADRILATERAL_NUMBERS]
        return shape.have_lengths(*lengths)
    inner_parts = (
        places.flat(in_force) for in_force in (*place.positions, place.elements) if in_force
    )
    inner_kinds = [
        cell_kinds(places, elements_of(places.files, in_force)) for in_force in inner_parts
    ]
    are_pairs = kinds == {"array"} and inner is not None and inner.have_lengths(2)
    lengths = [4] if only_corners else [2, 4]
    all_numbers = all(kinds <= _NUMBERS for kinds in inner_kinds)
    return are_pairs and shape.have_lengths(*lengths) and all_numbers


def cell_kinds(places: PlaceFinder, *elements: InForce) -> frozenset[str]:
    """Return the kinds of values that schemas of elements allow; all kinds if no type is stated."""
    kinds: set[str] = set()
    for element in filter(None, elements):
        in_force = places.flat(element)
        branches = branches_of(places.files, in_force, lambda *_: None)
        for arm in [branch.in_force for branch in branches] or [in_force]:
            kinds.update(kinds_of(places.files, places.flat(arm)))
    return frozenset(kinds) if kinds and kinds <= ALL_KINDS else ALL_KINDS


def states_pairing(merged: Merged) -> bool:
    """Return whether the annotations of an array state how its elements are paired."""
    rules = (merged.list_pairing, merged.key, merged.distinct, merged.pairing_floor)
    return any(rule is not None for rule in rules) or merged.exhaustive is False


def find_position_reason(
    name: str,
    places: PlaceFinder,
    place: ArrayPlace,
    shape: ListShape | None,
    outer: ListShape | None,
) -> str:
    """Return the reason for pairing the elements of an array by position.

    The result is empty if there is no such reason.

    `shape` describes the observed arrays. `outer` describes the arrays that contain them.
    """
    kinds = cell_kinds(places, place.elements)
    if place.positions or states_pairing(place.merged) or not kinds <= _LEAVES:
        return ""
    if outer is not None and outer.is_table:
        return "rows have equal lengths, so cells are paired by position"
    if outer is not None and shape is not None and shape.differs_by_position:
        return "each position in the list has a different kind of value"
    if kinds <= _NUMBERS and _has_ordered_name(name, shape):
        return "numbers whose order matters"
    return ""


def is_column(name: str, places: PlaceFinder, place: ArrayPlace, parent: Observed | None) -> bool:
    """Return whether an array of single values is a column of a table.

    Such a table is an object whose fields are the columns. An example is
    `{"item": ["pen", "cup"], "price": [2, 7]}`. `name` is the name of the object, and `parent` has
    the observed values of the object.
    """
    if parent is None or not ends_in(name, TABLES) or not parent.has_columns:
        return False
    is_stated = bool(place.positions) or states_pairing(place.merged)
    return not is_stated and cell_kinds(places, place.elements) <= _LEAVES


def is_series(name: str, places: PlaceFinder, place: ArrayPlace, outer: ListShape | None) -> bool:
    """Return whether an array has numbers, and its name suggests that their order matters."""
    is_named = not SERIES.isdisjoint(words_of(name)) and outer is None
    kinds = cell_kinds(places, place.elements)
    return is_named and not (place.positions or states_pairing(place.merged)) and kinds <= _NUMBERS


def _has_ordered_name(name: str, shape: ListShape | None) -> bool:
    """Return whether the name and lengths of an array suggest that its order matters."""
    if shape is None:
        return ends_in(name, ORDERED_NUMBERS) and not is_plural(name)
    is_singular = ends_in(name, ORDERED_SINGULARS) and not is_plural(name)
    if is_singular and shape.have_lengths(2, 3, 4):
        return True
    is_part_of_box = choose_by_name(name, "box") is not None or ends_in(name, QUADRILATERALS)
    return is_part_of_box or (ends_in(name, ORDERED_NUMBERS) and shape.have_lengths(2, 3, 4))
