"""Annotations that stand where they can have no effect, such as a pairing floor on a string.

One schema may serve several places (by `$ref`) or several kinds (by `anyOf`); an annotation is
misplaced only if none of them can use it. So both are noted, and judged at the end.
"""

from typing import Final

from stickler_cli.core.locations import Path
from stickler_cli.schema.annotations import PREFIX
from stickler_cli.schema.dialects import Schema
from stickler_cli.schema.merging import Merged
from stickler_cli.schema.references import SchemaFiles
from stickler_cli.schema.validity import Problems

_COMPARING: Final = ("comparator", "comparator_config")
_OBJECTS: Final = ("match_threshold", "model_name")
_EXPECTED: Final = {
    **dict.fromkeys(_COMPARING, "it on a leaf or an array"),
    **dict.fromkeys(_OBJECTS, "it on an object schema"),
    "pairing_floor": "it on an array",
}
"""Where each annotation that cannot stand anywhere has its effect."""


class Usage:
    """Which annotations had an effect somewhere, and which had none here."""

    def __init__(self, files: SchemaFiles, problems: Problems) -> None:
        self._files = files
        self._problems = problems
        self._used: set[tuple[str, Path, str]] = set()
        self._unused: dict[tuple[str, Path, str], tuple[Schema, str, str, str]] = {}

    def note_leaf(self, merged: Merged, kind: str) -> None:
        """Note the annotations of a leaf; `kind` says what it is: `a string`."""
        self._use(merged, *_COMPARING)
        self._miss(merged, kind, "", "pairing_floor", *_OBJECTS)

    def note_array(self, merged: Merged, *, of_objects: bool = False) -> None:
        """Note the annotations of an array; objects are compared by their own fields."""
        self._use(merged, "pairing_floor", *(() if of_objects else _COMPARING))
        if of_objects:
            hint = "objects are compared field by field: put it on their properties"
            self._miss(merged, "an array of objects", hint, *_COMPARING)
        self._miss(merged, "an array", 'put it on "items"', *_OBJECTS)

    def note_object(self, merged: Merged, *, by_model: bool = False) -> None:
        """Note the annotations of an object; `by_model` if a comparator asks for just that."""
        self._use(merged, *_OBJECTS, *(_COMPARING if by_model else ()))
        self._miss(merged, "an object", "", "pairing_floor")
        hint = "an object is compared field by field: put it on the properties"
        self._miss(merged, "an object", hint, *_COMPARING)

    def note_open(self, merged: Merged) -> None:
        """Note the annotations of a place of any kind: all may have an effect."""
        self._use(merged, *_EXPECTED)

    def report(self) -> None:
        """Turn what had no effect anywhere into problems."""
        for key, (schema, found, expected, hint) in self._unused.items():
            if key not in self._used:
                self._problems.add(schema, (key[2],), found, expected, hint)

    def _use(self, merged: Merged, *names: str) -> None:
        self._used.update(key for name in names if (key := self._key(merged, name)))

    def _miss(self, merged: Merged, kind: str, hint: str, *names: str) -> None:
        for name in names:
            key, holder = self._key(merged, name), merged.holder_of(name)
            if key and holder is not None:
                found = f"{name.replace('_', '-')} is on {kind}"
                self._unused[key] = (holder, found, _EXPECTED[name], hint)

    def _key(self, merged: Merged, name: str) -> tuple[str, Path, str] | None:
        holder = merged.holder_of(name)
        if holder is None:
            return None
        return (*self._files.place_of(holder), PREFIX + name.replace("_", "-"))
