"""Rewrite unions of a schema before comparisons are inferred.

A list of types becomes a union of alternatives, so that each type can be annotated. A union of a
value and a list of such values becomes the list alone, because a single value is compared as a list
with one item.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Final, NamedTuple

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path
from stickler_cli.schema.annotations import annotated, states_comparison
from stickler_cli.schema.combinators import (
    InForce,
    branches_of,
    declared_types,
    elements_of,
    kinds_of,
    listed_values,
    properties,
)
from stickler_cli.schema.dialects import Schema, Source, walk
from stickler_cli.schema.places import PlaceFinder
from .arrays import cell_kinds

UNION_KEYS: Final = frozenset(("anyOf", "oneOf", "allOf", "$ref", "$dynamicRef", "enum", "const"))
"""If a schema has one of these keywords, its list of types is not rewritten."""
ARMS: Final = ("anyOf", "oneOf")
_LIST_KEYS: Final = frozenset(("items", "minItems", "maxItems", "uniqueItems", "contains"))
"""Keywords that describe a list, not a single value."""
_ABOUT_PLACE: Final = frozenset(("type", "title", "description", "default", "examples", "$comment"))
"""Keywords that describe a field itself. When a field of the types `["string", "array"]` becomes a
list, these keywords are not copied to the schema of the elements. Keywords of the string, such as
`pattern`, are copied."""
_OBJECT_KEYS: Final = frozenset(
    ("properties", "required", "additionalProperties", "patternProperties", "unevaluatedProperties")
)
_TYPE_ARRAY: Final[Schema] = {"type": "array"}
_TUPLE_KEYS: Final = ("prefixItems", "additionalItems")


class RewrittenUnion(NamedTuple):
    """A part of a schema whose union was rewritten."""

    path: Path
    """Location of the part in the schema's own file."""
    keywords: tuple[str, ...]
    """The keywords of this part that were added or got a new value, such as `anyOf`."""


def write_alternatives(schema: Schema) -> tuple[list[Schema], list[RewrittenUnion]]:
    """Replace each list of types that includes `string` by `anyOf`.

    The schema is changed in place.

    Return a pair: the new alternatives, which can now be annotated separately, and the parts of the
    schema that were rewritten.
    """
    alternatives: list[Schema] = []
    rewritten: list[RewrittenUnion] = []
    for path, subschema in [*walk(schema)]:
        types = _listed_types(subschema)
        kinds = [kind for kind in types if kind != "null"]
        if "string" in kinds and len(kinds) > 1 and UNION_KEYS.isdisjoint(subschema):
            arms: list[Schema] = [{"type": kind} for kind in types]
            alternatives += arms
            subschema["anyOf"] = [*arms]
            rewritten.append(RewrittenUnion(path, ("anyOf",)))
    return alternatives, rewritten


def write_lists(
    schema: Schema, make_places: Callable[[], tuple[PlaceFinder, Source]]
) -> list[RewrittenUnion]:
    """Keep only the list in each union that allows a single value or a list of such values.

    For example, `"type": ["string", "array"]` becomes `"type": "array"` if elements are strings.
    The schema is changed in place. Unions that have annotations for comparisons stay as they are.

    Return the parts of the schema that were rewritten. `make_places` returns a pair: an object that
    finds the places of the schema, and the root schema.
    """
    candidates = [
        (path, subschema) for path, subschema in walk(schema) if _may_be_value_or_list(subschema)
    ]
    if not candidates:
        return []
    places, root = make_places()
    rewritten: list[RewrittenUnion] = []
    for path, subschema in candidates:
        source = places.files.enter(root, subschema)
        keywords = _write_types_as_list(places, source) or _write_arms_as_list(places, source)
        if keywords:
            rewritten.append(RewrittenUnion(path, keywords))
    return rewritten


def _listed_types(schema: Schema) -> list[str]:
    """Return the names in a schema's `type` if it is a list; return no names for other schemas."""
    types = schema.get("type")
    listed = types if isinstance(types, list) else []
    return [name for name in listed if isinstance(name, str)]


def _may_be_value_or_list(schema: Schema) -> bool:
    """Return whether a schema has several types or alternatives, but no comparison settings.

    Only such a schema can describe a field that is either a single value or a list.
    """
    if states_comparison(schema) or schema.get(annotated("any_of")) is True:
        return False
    has_arms = any(isinstance(schema.get(keyword), list) for keyword in ARMS)
    return has_arms or "array" in _listed_types(schema)


def _write_types_as_list(places: PlaceFinder, source: Source) -> tuple[str, ...]:
    """Change types such as `["string", "array"]` to `"array"`, and return the changed keywords.

    If null is one of the types, it stays. Nothing is changed if the single values, here strings, do
    not resemble the elements of the array.
    """
    schema = source.schema
    types = _listed_types(schema)
    single_kinds = _json_kinds(types) - {"array"}
    if "array" not in types or not single_kinds or not UNION_KEYS.isdisjoint(schema):
        return ()
    if any(keyword in schema for keyword in _TUPLE_KEYS):
        return ()

    items = schema.get("items")
    if isinstance(items, dict):
        elements = elements_of(places.files, (source,))
        if not _are_elements(places, (source,), single_kinds, elements):
            return ()
    elif single_kinds != {"object"} or not _OBJECT_KEYS.isdisjoint(schema):
        omitted = _LIST_KEYS | _ABOUT_PLACE
        schema["items"] = {
            "type": [*sorted(single_kinds)],
            **{
                name: value
                for name, value in schema.items()
                if name not in omitted and not name.startswith("x-")
            },
        }
    schema["type"] = ["array", "null"] if "null" in types else "array"
    return ("type", "items") if "items" in schema else ("type",)


def _write_arms_as_list(places: PlaceFinder, source: Source) -> tuple[str, ...]:
    """Disable the alternatives for single values in a union with a list; return the keyword.

    For instance, if a value is a number or a list of numbers, the alternative for the single number
    becomes `false`, and the result is `("anyOf",)`. If null is an alternative, it stays. If the
    single values do not resemble the elements of the list, nothing is changed, and the result is
    empty. If the list does not describe its elements, they get the schema of the single values.
    """
    for keyword in ARMS:
        arms: Any = source.schema.get(keyword)
        if not isinstance(arms, list) or any(map(_states_comparison, arms)):
            continue
        in_force_by_arm = {
            index: places.flat((places.files.enter(source, arm),))
            for index, arm in enumerate(arms)
            if isinstance(arm, dict)
        }
        in_force_by_arm = {
            index: in_force
            for index, in_force in in_force_by_arm.items()
            if declared_types(in_force) != ["null"] and listed_values(in_force) != [None]
        }
        kinds_by_arm = {
            index: _json_kinds(cell_kinds(places, in_force))
            for index, in_force in in_force_by_arm.items()
        }
        lists = [index for index, kinds in kinds_by_arm.items() if kinds == {"array"}]
        singles = [index for index, kinds in kinds_by_arm.items() if kinds and kinds != {"array"}]
        if len(lists) != 1 or not singles:
            continue
        elements = elements_of(places.files, in_force_by_arm[lists[0]])
        if not elements and len(singles) == 1 and _TYPE_ARRAY.items() <= arms[lists[0]].items():
            arms[lists[0]]["items"] = deepcopy(arms[singles[0]])
        elif not elements or any(
            not _are_elements(places, in_force_by_arm[index], kinds_by_arm[index], elements)
            for index in singles
        ):
            continue
        # The compiler skips `false`, and the other alternatives keep their indices.
        for index in singles:
            arms[index] = False
        return (keyword,)
    return ()


def _states_comparison(arm: JsonValue) -> bool:
    return isinstance(arm, dict) and states_comparison(arm)


def _json_kinds(kinds: Iterable[str]) -> set[str]:
    """Return JSON types without null; `integer` becomes `number`."""
    return {"number" if kind == "integer" else kind for kind in kinds} - {"null"}


def _are_elements(
    places: PlaceFinder, single: InForce, single_kinds: set[str], elements: InForce
) -> bool:
    """Return whether the single values of a union resemble the elements of its list.

    Elements must allow all types of the single values. If single values can be objects, elements
    must also have all properties of these objects. If elements can be lists, the result is False.
    """
    element_kinds = _json_kinds(cell_kinds(places, elements))
    if "array" in element_kinds or not single_kinds <= element_kinds:
        return False
    if "object" not in single_kinds:
        return True
    names = _property_names(places, single)
    element_names = _property_names(places, elements)
    return names <= element_names


def _property_names(places: PlaceFinder, in_force: InForce) -> set[str]:
    """Return the names of all properties that a schema describes for objects.

    If the schema is a union, return the names from all alternatives that allow objects.
    """
    flat = places.flat(in_force)
    arms = branches_of(places.files, flat, lambda *_: None)
    alternatives = [arm.in_force for arm in arms] or [flat]
    return {
        name
        for alternative in alternatives
        if "object" in kinds_of(places.files, places.flat(alternative))
        for name in properties(places.files, places.flat(alternative))
    }
