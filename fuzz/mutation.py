"""Changes of JSON that leave it JSON: bytes alone are rarely changed into another schema."""

from collections.abc import Sequence
from random import Random
from typing import Final

from stickler_cli.core.json_values import JsonValue

MOST_CHANGES: Final = 4

DEEPER: Final = 0.8
"""How often a change of an object or list is one inside it."""

SCALARS: Final[tuple[JsonValue, ...]] = (
    *(None, True, False, 0, -1, 0.5, 1e300, 10**20),
    *("", "x", "#", "^(", "(?=(a+)+$)"),
)
"""What is put in beside parts of the value itself."""


def mutated(value: JsonValue, words: list[str], random: Random) -> JsonValue:
    """Change a few parts of a value into others of its parts, words or scalars."""
    for _ in range(random.randint(1, MOST_CHANGES)):
        value = _changed(value, _parts(value), words, random)
    return value


def _parts(value: JsonValue) -> list[JsonValue]:
    found = [value]
    for part in found:
        if isinstance(part, dict):
            found += part.values()
        elif isinstance(part, list):
            found += part
    return found


def _changed(
    value: JsonValue, parts: list[JsonValue], words: list[str], random: Random
) -> JsonValue:
    """Change a value at one place, somewhere in it."""
    if isinstance(value, dict) and value and random.random() < DEEPER:
        name = random.choice(list(value))
        others = {key: part for key, part in value.items() if key != name}
        match random.randrange(6):
            case 0:
                return others
            case 1:
                return {**others, random.choice(words): value[name]}
            case 2:
                return {**value, random.choice(words): random.choice(parts)}
        return {**value, name: _changed(value[name], parts, words, random)}
    if isinstance(value, list) and value and random.random() < DEEPER:
        index = random.randrange(len(value))
        return [*value[:index], _changed(value[index], parts, words, random), *value[index + 1 :]]
    kinds: tuple[Sequence[JsonValue], ...] = (
        parts,
        words,
        SCALARS,
        ([value], {random.choice(words): value}),
    )
    return random.choice(random.choice(kinds))
