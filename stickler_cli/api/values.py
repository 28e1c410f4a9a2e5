"""The JSON values that an instance stands for: what is compared.

A module of its own, because nothing that a model can hold may end a comparison: a prediction that
was made without validation is scored like any other.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from stickler_cli.api.base import ComparableModel
from stickler_cli.core.json_values import JsonObject, JsonValue


def values_of(instance: BaseModel) -> JsonObject:
    """Give the JSON values that an instance stands for, by the names that its plan has.

    Computed fields and private attributes are left out. A value that cannot be serialised stands
    for its text.

    Raises:
        TypeError: it is no pydantic instance.
    """
    given: object = instance
    if not isinstance(given, BaseModel):
        raise TypeError(f"the prediction is {type(given).__name__}, expected a model instance")
    by_alias = isinstance(given, ComparableModel) and given._source_schema is not None  # noqa: SLF001
    try:
        values = given.model_dump(
            mode="json", by_alias=by_alias, warnings=False, fallback=str, round_trip=True
        )
    except Exception:  # noqa: BLE001 - whatever a field refuses, its text can be compared
        return _object(given, by_alias, ())
    dumped: object = values  # a serializer of the user's own may give anything
    return values if isinstance(dumped, dict) else _object(given, by_alias, ())


def _object(instance: BaseModel, by_alias: bool, above: tuple[int, ...]) -> JsonObject:
    """Give the values of an instance field by field, whatever they are."""
    declared = type(instance).model_fields
    held = {**instance.__dict__, **(instance.model_extra or {})}
    return {
        (declared[name].alias or name if by_alias and name in declared else name): _value(
            value, by_alias, above
        )
        for name, value in held.items()
        if name not in declared or not declared[name].exclude
    }


def _value(value: Any, by_alias: bool, above: tuple[int, ...]) -> JsonValue:
    """Give the JSON value that anything stands for; its text where there is none.

    `above` are the containers around it: one inside itself is text.
    """
    if id(value) in above:
        return "..."
    inside = (*above, id(value))
    match value:
        case BaseModel():
            found: JsonValue = _object(value, by_alias, inside)
        case Mapping():
            found = {str(key): _value(part, by_alias, inside) for key, part in value.items()}
        case list() | tuple() | set() | frozenset():
            found = [_value(part, by_alias, inside) for part in value]
        case bytes():
            found = value.decode("utf-8", "backslashreplace")
        case _:
            found = _scalar(value)
    return found


def _scalar(value: object) -> JsonValue:
    try:
        plain: JsonValue = to_jsonable_python(value, fallback=str)
    except Exception:  # noqa: BLE001 - as above
        return str(value)
    return plain
