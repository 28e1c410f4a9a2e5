"""Make schemas from observed values, with types, formats, enums, maps and keys of lists."""

from collections import Counter
from dataclasses import replace
from typing import Final

from stickler_cli.core.json_values import JsonObject
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.dialects import walk
from stickler_cli.schema.places import JSON_MEDIA_TYPE
from .name_rules import CHOICE, IDENTIFIER, rule_for
from .observation import FORMATS, Observed, is_set

SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"

KEY_WEIGHT: Final = 2
"""Weight of the field that identifies the items of a list."""
BESIDE_KEY: Final = 5
"""The key of list items gets the weight `KEY_WEIGHT` only if items have at least this many other
fields. With five, an item in which only the key is wrong scores 5/7. It still matches at a
match-threshold of 0.7."""
LISTS: Final = 3
"""A field is taken as the key of list items only if at least this many lists were observed. In each
of these lists, the values of the field must be different in all items."""

MAP_KEYS: Final = 8
"""Minimum number of distinct keys in objects that are treated as a map. The keys of a map are data,
not field names."""
MAP_KEYS_OF_TEXTS: Final = 12
"""Minimum number of distinct keys of a map whose values are texts. It is higher than `MAP_KEYS`,
because a form with many empty fields could look like a map."""
RARE: Final = 0.5
"""Objects are treated as maps only if each key occurs in at most this share of them."""


def observed_schema(root: Observed) -> JsonObject:
    """Return the schema of all documents that were observed."""
    root.settle()
    return {"$schema": SCHEMA, **_schema(root, "")}


def schema_of_place(seen: Observed, name: str) -> JsonObject:
    """Return the schema of a field's values. It allows further keys of any type in objects."""
    schema = _schema(seen, name)
    for _, subschema in [*walk(schema)]:
        if "properties" in subschema:
            subschema["additionalProperties"] = {}
    return schema


def _schema(seen: Observed, name: str) -> JsonObject:
    """Return the schema of a field's values: its types, and also enums, fields and elements."""
    if seen.is_json_text and seen.kinds.keys() <= {"string", "object", "array", "null"}:
        keywords = json_text_keywords(seen, name)
        return {"type": ["string", "null"] if seen.kinds["null"] else "string", **keywords}
    kinds = [kind for kind in seen.kinds if kind != "null"]
    if "number" in kinds and "integer" in kinds:
        kinds.remove("integer")
    if not kinds:
        return {}
    named = [*kinds, *(["null"] if seen.kinds["null"] else [])]
    if "string" in kinds and len(kinds) > 1:
        return {"anyOf": [_schema_of_kind(seen, name, kind) for kind in named]}
    schema: JsonObject = {"type": named[0] if len(named) == 1 else named}  # type: ignore[dict-item]
    if kinds == ["string"]:
        schema |= _of_texts(seen, name)
    if "object" in kinds:
        schema |= _of_objects(seen, name)
    if "array" in kinds and seen.elements is not None:
        schema["items"] = _of_items(seen, name)
    return schema


def _schema_of_kind(seen: Observed, name: str, kind: str) -> JsonObject:
    """Return the schema of those values of a field that have the given kind, such as `string`.

    The field also has values of other kinds, so this schema is one alternative of a union.
    """
    if kind == "null":
        return {"type": kind}
    of_kind = replace(seen, kinds=Counter({kind: seen.kinds[kind]}))
    of_kind.values = None  # no enum: some values have other kinds
    return _schema(of_kind, name)


def json_text_keywords(texts: Observed, name: str) -> JsonObject:
    """Return the schema keywords for a field of texts that contain JSON.

    If the field also has objects and lists that are not inside texts, the keywords describe them,
    too.
    """
    content = Observed()
    for values in (texts.content or Observed(), texts.containers):
        content.absorb(values)
    return {"contentMediaType": JSON_MEDIA_TYPE, "contentSchema": _schema(content, name)}


def _of_texts(seen: Observed, name: str) -> JsonObject:
    for format_ in FORMATS:
        if seen.forms[format_] and seen.share(format_) == 1:
            return {"format": format_}
    named = rule_for(name, "string")
    if is_set(seen) and (named is None or named[0].meaning is CHOICE):  # otherwise the name decides
        seen.is_enum = True
        nothing = [None] if seen.kinds["null"] else []
        return {"enum": [*sorted(seen.values or ()), *nothing]}
    return {}


def _of_objects(seen: Observed, name: str) -> JsonObject:
    if is_map(seen):
        return {"additionalProperties": _schema(seen.merged_fields, name)}
    return {"properties": {key: _schema(field, key) for key, field in seen.fields.items()}}


def is_map(seen: Observed) -> bool:
    """Return whether objects are maps. The keys of a map are data, not field names.

    Objects are maps if three things hold: they have many distinct keys, or only keys with a digit;
    each key occurs in few of the objects; and the values are alike. Objects with more keys than
    `MOST_KEYS` are maps in any case.
    """
    if seen.has_other_keys:
        return True
    objects, fields = seen.kinds["object"], seen.fields.values()
    fields_with_values = [field for field in fields if field.kinds.keys() - {"null"}]
    kinds = {frozenset(field.kinds.keys() - {"null"}) for field in fields_with_values}
    are_alike = len(kinds) == 1 and (
        "object" not in min(kinds)
        or len({frozenset(field.fields) for field in fields_with_values}) == 1
    )
    are_rare = all(field.total <= RARE * objects for field in fields)
    min_keys = MAP_KEYS_OF_TEXTS if any(field.kinds["string"] for field in fields) else MAP_KEYS
    are_numbered = len(fields) > 1 and all(any(map(str.isdigit, key)) for key in seen.fields)
    return are_alike and are_rare and (len(fields) >= min_keys or are_numbered)


def _of_items(seen: Observed, name: str) -> JsonObject:
    elements = seen.elements or Observed()
    items = _schema(elements, name)
    key = item_key(seen)
    properties = items.get("properties")
    if key and isinstance(properties, dict) and len(properties) > BESIDE_KEY:
        properties[key][f"{PREFIX}weight"] = KEY_WEIGHT  # type: ignore[index, call-overload]
    return items


def item_key(seen: Observed) -> str | None:
    """Return the field that identifies the items of every list, or None if there is none.

    In each observed list, all items have different values of this field. The name of the field must
    suggest an identifier, and its values must not be running numbers from 0 or 1.
    """
    if seen.n_lists < LISTS:
        return None
    for name, lists in seen.n_lists_by_key.items():
        if name in seen.shape.running_numbers:
            continue
        rule_and_ending = rule_for(name, "string")
        if (
            lists == seen.n_lists
            and rule_and_ending is not None
            and rule_and_ending[0].meaning is IDENTIFIER
        ):
            return name
    return None
