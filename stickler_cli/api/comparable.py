"""The attributes of comparable classes, and the values of their instances."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, PrivateAttr, RootModel
from pydantic_core import to_jsonable_python

from stickler_cli.compare.plan import Plan
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD
from stickler_cli.core.json_values import JsonDocument, JsonObject, JsonValue
from stickler_cli.documents.wrappers import Unwrapped


class ComparableModel(BaseModel):
    """A pydantic model with a plan by which its instances are compared."""

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="allow", populate_by_name=True, protected_namespaces=()
    )

    match_threshold: ClassVar[float] = DEFAULT_MATCH_THRESHOLD
    """In [0, 1]; at or above it two items of a list are the same one."""

    _unwrapped: Unwrapped = PrivateAttr(default_factory=lambda: Unwrapped(None))
    """The values of the JSON that the instance was made of, and the metadata around them."""
    _compiled: ClassVar[Plan]  # once it was asked for
    _warned: ClassVar[bool]  # once it was warned of settings without effect
    _source_schema: ClassVar[dict[str, Any] | None] = None  # that the class was made of
    _source_file: ClassVar[Path | None] = None  # where that schema's relative references start
    _part_of: ClassVar[str | None] = None  # the class for the whole schema, of one for a part
    _named: ClassVar[bool] = True  # whether somebody gave the class its name


def values_of(instance: BaseModel, *, only_given: bool = False) -> JsonDocument:
    """Return the JSON values that an instance stands for, by the names that its plan has.

    Computed fields and private attributes are left out, and on demand what the instance was made
    without. A value that cannot be serialised stands for its text: whatever a model holds, it is
    scored.

    Raises:
        TypeError: it is no pydantic instance.
    """
    given: object = instance
    if not isinstance(given, BaseModel):
        raise TypeError(f"the prediction is {type(given).__name__}, expected a model instance")
    by_alias = isinstance(given, ComparableModel) and given._source_schema is not None  # noqa: SLF001
    dumped: object = None
    with suppress(Exception):  # whatever a field refuses, its text can be compared
        dumped = given.model_dump(
            mode="json",
            by_alias=by_alias,
            warnings=False,
            fallback=str,
            round_trip=True,
            exclude_unset=only_given,
        )
    # A serializer of the user's own may give anything.
    if isinstance(dumped, list) and isinstance(given, RootModel):
        return dumped
    return dumped if isinstance(dumped, dict) else _values_by_field(given, (), by_alias=by_alias)


def json_of(given: object) -> JsonValue:
    """Return the JSON values that anything stands for: of what JSON has not, its text.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(given, BaseModel):
        return values_of(given)
    with suppress(Exception):
        found: JsonValue = to_jsonable_python(
            given, by_alias=False, fallback=str, inf_nan_mode="strings"
        )
        return found
    return _value(given, (), by_alias=False)


def _values_by_field(instance: BaseModel, above: tuple[int, ...], *, by_alias: bool) -> JsonObject:
    """Return the values of an instance field by field, of any type."""
    declared = type(instance).model_fields
    held = {**instance.__dict__, **(instance.model_extra or {})}
    return {
        (declared[name].alias or name if by_alias and name in declared else name): _value(
            value, above, by_alias=by_alias
        )
        for name, value in held.items()
        if name not in declared or not declared[name].exclude
    }


def _value(value: Any, above: tuple[int, ...], *, by_alias: bool) -> JsonValue:
    """Return the JSON value that anything stands for; its text where there is none.

    `above` are the containers around it: one inside itself is text.
    """
    if id(value) in above:
        return "..."
    inside = (*above, id(value))
    value_inside = partial(_value, above=inside, by_alias=by_alias)
    match value:
        case BaseModel():
            found: JsonValue = _values_by_field(value, inside, by_alias=by_alias)
        case Mapping():
            found = {str(key): value_inside(part) for key, part in value.items()}
        case list() | tuple() | set() | frozenset():
            found = list(map(value_inside, value))
        case bytes():
            found = value.decode("utf-8", "backslashreplace")
        case _:
            found = f"<{type(value).__name__}>"  # whatever refuses to say what it is
            with suppress(Exception):
                found = str(value)
                found = to_jsonable_python(value, fallback=str)
    return found
