"""Documents by the names of the fields that their keys stand for.

A class may take a field under other keys than its name: an alias is the field, on both sides.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import pointer_steps

OTHER_NAMES: Final = "x-other-names"
"""The key of a schema that was made of a class, for such names."""
WHOLE: Final = ""
"""The part that stands for the document."""

Renames: TypeAlias = Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]]
"""Part -> key, or JSON Pointer to a value further in -> the name of its field, and the parts that
its values may be."""


def renamed(value: JsonValue, names: Renames, parts: Iterable[str] = (WHOLE,)) -> JsonValue:
    """Return a value under the names of its fields; a key whose field is there too stays."""
    if isinstance(value, list):
        return [renamed(part, names, parts) for part in value]
    if not isinstance(value, dict):
        return value
    known = {key: field for part in parts for key, field in names.get(part, {}).items()}
    found: dict[str, JsonValue] = {}
    rest: Any = value
    for pointer, (name, inside) in known.items():
        steps = pointer_steps(pointer) if pointer.startswith("/") else ()
        if steps and name not in {*value, *found} and (there := _at(value, steps)):
            found[name] = renamed(there[0], names, inside)
            rest = rest if steps[0] in known else _without(rest, steps) or {}
    for key, part in rest.items():
        name, inside = known.get(key, (key, ()))
        named = key if name in value or name in found else name
        found[named] = renamed(part, names, inside) if inside else part
    return found


def _at(value: JsonValue, steps: tuple[str, ...]) -> list[JsonValue]:
    """Return the value that steps lead to, if there is one."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return []
    return [value]


def _without(value: Any, steps: tuple[str, ...]) -> Any:
    """Return a value without the part that steps lead to; None where nothing else is in it."""
    if not steps:
        return None
    step, *below = steps
    if isinstance(value, dict):
        left = _without(value[step], (*below,))
        rest = {key: part for key, part in value.items() if key != step}
        return {**rest, **({} if left is None else {step: left})} or None
    at = int(step)
    several = [*value[:at], _without(value[at], (*below,)), *value[at + 1 :]]
    return several if any(part is not None for part in several) else None
