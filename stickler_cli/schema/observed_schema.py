"""The JSON Schema of documents that were seen, and what their values say of comparing them."""

from collections.abc import Iterator
from typing import Final

from stickler_cli.core.json_values import JsonObject
from .annotations import PREFIX
from .defaults import DATE, EXACT, LeafDefault
from .name_rules import ANY_TEXT, CHOICE, IDENTIFIER, MONEY, PROSE, QUANTITY, rule_for
from .observation import ALIKE, FORMATS, Observed

SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"

KEY_WEIGHT: Final = 2
"""What the field is worth that tells the items of a list apart."""
BESIDE_KEY: Final = 5
"""Fields beside a key from which on it may weigh more: an item whose key alone is wrong is still
the same item at a match-threshold of 0.7."""
LISTS: Final = 3
"""Lists that must have been seen before a field counts as their key."""

MOST_LISTED: Final = 20
"""Values of an enum."""
REPEATED: Final = 4
"""How often its values must have been seen on average, to be a set and not a sample."""
FEW: Final = 12
"""Texts of a place that are too few to tell."""

MAP_KEYS: Final = 8
"""Keys from which on an object may be a map."""
MAP_KEYS_OF_TEXTS: Final = 12
"""The same for texts: forms of which most fields are left open are no maps."""
RARE: Final = 0.5
"""The share of objects that no key of a map is in more often."""


def schema_of(root: Observed) -> JsonObject:
    """Return the schema of all documents that a root has seen."""
    return {"$schema": SCHEMA, **_schema(root, "")}


def _schema(seen: Observed, name: str) -> JsonObject:
    kinds = [kind for kind in seen.kinds if kind != "null"]
    if "number" in kinds and "integer" in kinds:
        kinds.remove("integer")
    if not kinds:
        return {}
    named = [*kinds, *(["null"] if seen.kinds["null"] else [])]
    schema: JsonObject = {"type": named[0] if len(named) == 1 else named}  # type: ignore[dict-item]
    if kinds == ["string"]:
        schema |= _of_texts(seen, name)
    if "object" in kinds:
        schema |= _of_objects(seen, name)
    if "array" in kinds and seen.elements is not None:
        schema["items"] = _of_items(seen, name)
    return schema


def _of_texts(seen: Observed, name: str) -> JsonObject:
    for format_ in FORMATS:
        if seen.forms[format_] and seen.share(format_) == 1:
            return {"format": format_}
    if is_set(seen) and not _rule_of(name):
        nothing = [None] if seen.kinds["null"] else []
        return {"enum": [*sorted(seen.values or ()), *nothing]}
    return {}


def is_set(seen: Observed) -> bool:
    """Return whether texts are few values, each of them seen often."""
    values = seen.values or ()
    enough = seen.kinds["string"] >= REPEATED * len(values)
    return 0 < len(values) <= MOST_LISTED and enough and seen.kinds["string"] >= FEW


def _rule_of(name: str) -> str:
    """Return the ending that says what texts are, but for choices, of which values say more."""
    found = rule_for(name, "string")
    return "" if found is None or found[0].meaning is CHOICE else found[1]


def _of_objects(seen: Observed, name: str) -> JsonObject:
    if is_map(seen):
        values = Observed()
        for field in seen.fields.values():
            values.absorb(field)
        return {"additionalProperties": _schema(values, name)}
    return {"properties": {key: _schema(field, key) for key, field in seen.fields.items()}}


def is_map(seen: Observed) -> bool:
    """Return whether the keys of objects are data: many, each of them rare, values of one kind."""
    if seen.more:
        return True
    objects, fields = seen.kinds["object"], seen.fields.values()
    told = [field for field in fields if field.kinds.keys() - {"null"}]
    kinds = {frozenset(field.kinds.keys() - {"null"}) for field in told}
    alike = len(kinds) == 1 and ("object" not in min(kinds) or len({*map(_shape, told)}) == 1)
    rare = all(field.total <= RARE * objects for field in fields)
    least = MAP_KEYS_OF_TEXTS if any(field.kinds["string"] for field in fields) else MAP_KEYS
    numbered = len(fields) > 1 and all(any(map(str.isdigit, key)) for key in seen.fields)
    return alike and rare and (len(fields) >= least or numbered)


def _shape(seen: Observed) -> frozenset[str]:
    return frozenset(seen.fields)


def _of_items(seen: Observed, name: str) -> JsonObject:
    elements = seen.elements or Observed()
    items = _schema(elements, name)
    key = key_of(seen)
    properties = items.get("properties")
    if key and isinstance(properties, dict) and len(properties) > BESIDE_KEY:
        properties[key][f"{PREFIX}weight"] = KEY_WEIGHT  # type: ignore[index, call-overload]
    return items


def key_of(seen: Observed) -> str | None:
    """Return the field that tells the items of a list apart in all lists; None where none does."""
    if seen.lists < LISTS:
        return None
    always = [name for name, lists in seen.keyed.items() if lists == seen.lists]
    return next((name for name in always if _identifies(name)), None)


def _identifies(name: str) -> bool:
    found = rule_for(name, "string")
    return found is not None and found[0].meaning is IDENTIFIER


MOSTLY: Final = 0.5
"""The share of texts that a comparator must read for the name that asks for it to count: what it
cannot read is right if it is the same text."""
READS: Final = {"DateComparator": "readable date", "NumericComparator": "number"}
"""What a text must be for a comparator to read it."""


def by_values(named: str, seen: Observed) -> tuple[LeafDefault, str] | None:
    """Return what texts say better than the name of their field does, and why.

    `named` is the comparator that the name asks for, empty where it says nothing.
    """
    texts = seen.forms[""]
    form = READS.get(named)
    if not texts or (named and (form is None or seen.share(form) >= MOSTLY)):
        return None
    found = next(_by_form(seen), None)
    if form is None:
        return found
    how, reason = found or (ANY_TEXT, "texts like any other")
    return how, f"{seen.forms[form]} of {texts} texts read as a {form.split()[-1]}; {reason}"


def _by_form(seen: Observed) -> Iterator[tuple[LeafDefault, str]]:
    """List how texts may be compared by their form, what says most first."""
    if min(seen.share("looks like a date"), seen.share("readable date")) >= ALIKE:
        yield DATE, "its texts are dates"
    if seen.share("digits and signs") >= ALIKE and seen.share("number") >= ALIKE:
        if seen.forms["leading zero"]:
            yield EXACT, "its texts are numbers with leading zeros, as identifiers have them"
        if seen.share("two decimals") >= ALIKE:
            yield MONEY, "its texts are numbers with two decimals: rounding to a cent is no error"
        yield QUANTITY, "its texts are numbers: equal or not, however they are written"
    if seen.share("code") >= ALIKE:
        yield EXACT, "its texts are codes: one wrong character makes it another"
    if is_set(seen):
        yield EXACT, "its texts are a few values, each seen often"
    if seen.share("prose") >= 0.5:
        yield PROSE, "its texts are long: most words must be there, in any order"


def facts_of(seen: Observed) -> str:
    """Return what was seen of the values of a field, for whoever checks a choice."""
    count = seen.total - seen.kinds["null"]
    facts = [f"{count} value{'s' * (count != 1)}"]
    if seen.kinds["null"]:
        facts.append(f"{seen.kinds['null']} null")
    if seen.values:
        facts.append(f"{len(seen.values)} different")
    return "seen: " + ", ".join(facts)
