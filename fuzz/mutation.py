"""Random changes of JSON values; changed bytes are rarely a valid schema."""

from collections.abc import Sequence
from random import Random
from typing import Final

from stickler_cli.core.json_values import JsonValue

MOST_CHANGES: Final = 4
"""Maximum number of changes to a value."""

DEEPER: Final = 0.8
"""Probability that a change to an object or list changes one of its values, not the whole."""

SCALARS: Final[tuple[JsonValue, ...]] = (
    *(None, True, False, 0, -1, 0.5, 1e300, 10**20),
    *("", "x", "#", "^(", "(?=(a+)+$)"),
)
"""Values to insert, besides values from the document itself."""


def mutate_value(value: JsonValue, words: list[str], random: Random) -> JsonValue:
    """Return a value with up to `MOST_CHANGES` random changes."""
    for _ in range(random.randint(1, MOST_CHANGES)):
        value = _change_once(value, _nested_values(value), words, random)
    return value


def _nested_values(value: JsonValue) -> list[JsonValue]:
    """Return a value and all values inside it."""
    values = [value]
    for nested in values:  # the list grows during the loop
        if isinstance(nested, dict):
            values += nested.values()
        elif isinstance(nested, list):
            values += nested
    return values


def _change_once(
    value: JsonValue, replacements: list[JsonValue], words: list[str], random: Random
) -> JsonValue:
    """Return a value with one change: to the value itself, or to a value inside it."""
    if isinstance(value, dict) and value and random.random() < DEEPER:
        name = random.choice(list(value))
        other_members = {key: member for key, member in value.items() if key != name}
        match random.randrange(6):
            case 0:
                return other_members
            case 1:
                return {**other_members, random.choice(words): value[name]}
            case 2:
                return {**value, random.choice(words): random.choice(replacements)}
        return {**value, name: _change_once(value[name], replacements, words, random)}
    if isinstance(value, list) and value and random.random() < DEEPER:
        index = random.randrange(len(value))
        return [
            *value[:index],
            _change_once(value[index], replacements, words, random),
            *value[index + 1 :],
        ]
    sources: tuple[Sequence[JsonValue], ...] = (
        replacements,
        words,
        SCALARS,
        ([value], {random.choice(words): value}),
    )
    return random.choice(random.choice(sources))
