"""From typed values to JSON values and back: the one way in which files are read.

The types say what a file holds. Pydantic checks it, and is loaded only where something is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from stickler_cli.core.json_values import brief
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, UsageError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_EXPECTED: Final = {
    "a whole number of at least 0": ("int_type", "int_from_float", "greater_than_equal"),
    "a number": ("float_type", "float_parsing", "finite_number"),
    "a string": ("string_type", "bytes_type"),
    "true or false": ("bool_type", "bool_parsing"),
    "an array": ("list_type", "tuple_type"),
    "an object": ("dict_type", "dataclass_type", "mapping_type", "is_instance_of"),
}
"""What should be there, by what pydantic calls what is wrong."""


def read(
    kind: type[T],
    value: object,
    source: str = "",
    place: Path = (),
    hints: Mapping[str, str] | None = None,
) -> T:
    """Return a value of a type as JSON values, at a place in a file, tell of it.

    `source` is empty for a value in memory; `hints` tell what to do about keys that are missing.

    Raises:
        UsageError: it is nothing of the kind; with the place, what is there and what should be.
    """
    from pydantic import ValidationError  # 0.1 s, for those who read files

    try:
        found: T = _adapter(cast("Any", kind)).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    else:
        return found
    where, there = _place_in(value, first["loc"])
    pointer = json_pointer((*place, *where))
    if first["type"] == "missing":
        name = str(first["loc"][-1])
        hint = (hints or {}).get(name, "")
        raise UsageError([Problem(source, f"{name} is missing", "", hint, pointer)])
    expected = _expected(first["type"], first.get("ctx", {}), first["msg"])
    if isinstance(expected, Problem):
        inside = pointer + (expected.pointer or "")
        raise UsageError([replace(expected, source=source, pointer=inside)])
    raise UsageError([Problem(source, f"the value is {brief(there)}", expected, "", pointer)])


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter  # 0.1 s, for those who read files

    return TypeAdapter(kind)


def _place_in(value: Any, steps: Sequence[int | str]) -> tuple[Path, object]:
    """Return a place without what pydantic adds to it, as names of alternatives; and its value."""
    place: Path = ()
    inside = False
    for step in steps:
        above, inside = inside, _is_inside(step, value)
        if inside:
            place, value = (*place, step), value[step]
        elif step == "[key]":  # the one before; of a list of pairs there is no telling where it is
            return place, place[-1] if above else value
    return place, value


def _is_inside(step: int | str, value: Any) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _expected(error: str, context: Mapping[str, Any], message: str) -> str | Problem:
    if error == "value_error":
        (expected,) = context["error"].args
        return cast("str | Problem", expected)
    if error in ("enum", "literal_error"):
        names = str(context["expected"]).replace("'", "").replace(" or ", ", ")
        return names if ", " not in names else f"one of {names}"
    return next((words for words, errors in _EXPECTED.items() if error in errors), message)
