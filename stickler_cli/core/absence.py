"""What counts as nothing: a missing key, `null`, `""`, and objects and lists of nothing else.

Source: docs/semantics.md, Absence.
"""

from typing import Any, Final

from .json_values import JsonValue


def is_absent(value: Any) -> bool:
    """Return whether a value is nothing; `0`, `false` and blanks are values.

    >>> [is_absent(value) for value in (None, "", [[], {"a": None}], 0, False, "  ")]
    [True, True, True, False, False, False]
    """
    return Absence()(value)


_CONTAINERS: Final = (dict, list)


class Absence:
    """Says what is nothing, and looks only once into values that stand inside each other.

    It is for values that live as long as it does, for it knows them by identity.
    """

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def __call__(self, value: Any) -> bool:
        """Return whether a value is nothing, as `is_absent` does."""
        if not isinstance(value, _CONTAINERS):
            return not value if isinstance(value, str) else value is None
        is_deep = False
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, _CONTAINERS):
                is_deep = True
            elif part if isinstance(part, str) else part is not None:
                return False  # most have such a part, and it is found as soon as looked up
        if not is_deep:
            return True
        found = self._known.get(id(value))
        if found is None:
            found = True
            for part in value.values() if isinstance(value, dict) else value:
                if isinstance(part, _CONTAINERS) and not self(part):
                    found = False
                    break
            self._known[id(value)] = found
        return found


def without_absent(value: JsonValue) -> JsonValue:
    """Return a value without its absent parts, at every level.

    >>> without_absent({"a": None, "b": [1, ""], "c": {"d": []}})
    {'b': [1]}
    """
    if isinstance(value, dict):
        return {name: without_absent(part) for name, part in value.items() if not is_absent(part)}
    if isinstance(value, list):
        return [without_absent(part) for part in value if not is_absent(part)]
    return value
