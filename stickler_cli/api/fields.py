"""`ComparableField`: a pydantic field that also says what it is worth and how to compare it.

What it says travels as metadata of the field and comes out as annotations of the model's JSON
Schema, so that a class and a schema are compiled by the same compiler.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Any, Final

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticUndefined

from stickler_cli.comparators.base import BaseComparator, is_number
from stickler_cli.comparators.registry import location_of
from stickler_cli.core.values import dataclass
from stickler_cli.schema.annotations import PREFIX

DEFAULT_THRESHOLD: Final = 0.5
"""Of a field that says nothing else. Source: docs/python.md."""

STAND_IN: Final = "x-stands-for"
"""The only key of what stands for a whole schema."""


@dataclass(slots=True)
class Annotating:
    """A JSON Schema in the making that shall carry annotations."""

    instances: dict[str, BaseComparator] | None = None
    """Where comparators go that the schema then refers to by key; None writes them out."""
    whole: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Schemas that stand in the finished one as they are, by the key that stands for each.

    Pydantic follows every reference in a schema in the making; it would not find theirs.
    """

    def stand_in(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Give what stands for a schema until `finished` puts it there."""
        key = f"{len(self.whole)}"
        self.whole[key] = schema
        return {STAND_IN: key}

    def finished(self, schema: Any) -> Any:
        """Give the schema with what stands in for others replaced by them."""
        match schema:
            case dict() if STAND_IN in schema:
                return self.whole[schema[STAND_IN]]
            case dict():
                return {key: self.finished(part) for key, part in schema.items()}
            case list():
                return [self.finished(part) for part in schema]
            case _:
                return schema

    def annotate(self, rules: "Rules") -> dict[str, object]:
        """Give the annotations of a field."""
        annotations = rules.view()
        if rules.comparator is None:
            return annotations
        if self.instances is None:
            annotations[f"{PREFIX}comparator"] = location_of(rules.comparator)
            if rules.comparator.config:
                annotations[f"{PREFIX}comparator-config"] = rules.comparator.config
        else:
            key = f"{rules.comparator.name} #{len(self.instances)}"
            self.instances[key] = rules.comparator
            annotations[f"{PREFIX}comparator"] = key
        return annotations


_current: ContextVar[Annotating | None] = ContextVar("annotating", default=None)


@contextmanager
def annotating(how: Annotating) -> Iterator[None]:
    """Let JSON Schemas made inside the block carry annotations."""
    token = _current.set(how)
    try:
        yield
    finally:
        _current.reset(token)


def current_annotating() -> Annotating | None:
    """Give how a JSON Schema in the making is annotated; None where it is pydantic's own."""
    return _current.get()


@dataclass(frozen=True, slots=True)
class Rules:
    """What a field says about its comparison."""

    comparator: BaseComparator | None
    """None leaves it to the kind of the field."""
    threshold: float | None
    """In [0, 1]; None leaves it to the kind of the field."""
    weight: float
    aggregate: bool | None
    clip_under_threshold: bool
    pairing_floor: float | None
    """In [-1, 1); for a list; None leaves it to the run."""

    def view(self) -> dict[str, object]:
        """Give the rules as annotations, without the comparator; defaults are left out."""
        view: dict[str, object] = {f"{PREFIX}weight": self.weight}
        if self.threshold is not None:
            view[f"{PREFIX}threshold"] = self.threshold
        if self.pairing_floor is not None:
            view[f"{PREFIX}pairing-floor"] = self.pairing_floor
        if self.aggregate is not None:
            view[f"{PREFIX}aggregate"] = self.aggregate
        if self.clip_under_threshold:
            view[f"{PREFIX}clip-under-threshold"] = True
        return view

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the annotations, where they are asked for."""
        schema = handler(core_schema)
        how = current_annotating()
        return schema if how is None else {**schema, **how.annotate(self)}


@dataclass(frozen=True, slots=True)
class ItemThreshold:
    """What the elements of a list must reach, where the list itself states nothing."""

    threshold: float

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the annotation, where it is asked for."""
        schema = handler(core_schema)
        if current_annotating() is None:
            return schema
        return {**schema, f"{PREFIX}threshold": self.threshold}


def ComparableField(  # noqa: N802 - the name that users of the reference library know
    comparator: BaseComparator | None = None,
    threshold: float | None = DEFAULT_THRESHOLD,
    weight: float = 1.0,
    default: Any = None,
    aggregate: bool | None = None,
    clip_under_threshold: bool = False,
    *,
    pairing_floor: float | None = None,
    alias: str | None = None,
    description: str | None = None,
    examples: Sequence[Any] | None = None,
    **keywords: Any,
) -> Any:
    """Declare a field of a `StructuredModel` and how it is compared.

    Args:
        comparator: an instance; None takes the default of the field's kind.
        threshold: in [0, 1]; at or above it two values match; None takes that of the field's kind.
        weight: above 0; what the field is worth in the score of its object.
        default: as in pydantic; a field without one is None. `...` makes the field required.
        aggregate: whether the object's `aggregate` counts it; None leaves that to the others.
        clip_under_threshold: whether a similarity below the threshold scores 0.0.
        pairing_floor: in [-1, 1), for a list: at or below this similarity two elements are not the
            same one; -1 pairs all, None leaves it to the run.
        alias: as in pydantic.
        description: as in pydantic.
        examples: as in pydantic.
        keywords: any other keyword of `pydantic.Field`.

    Raises:
        TypeError: the comparator is not an instance of one.
        ValueError: threshold or weight are out of range.
    """
    given: object = comparator
    if given is not None and not isinstance(given, BaseComparator):
        raise TypeError(f"comparator is {given!r}, expected an instance of a comparator")
    rules = Rules(
        comparator,
        None if threshold is None else _checked("threshold", threshold),
        _checked("weight", weight),
        aggregate,
        bool(clip_under_threshold),
        None if pairing_floor is None else _checked("pairing_floor", pairing_floor),
    )
    info = Field(
        PydanticUndefined if default is ... or "default_factory" in keywords else default,
        alias=alias,
        description=description,
        examples=list(examples) if examples is not None else None,
        **keywords,
    )
    info.metadata.append(rules)
    return info


RANGES: Final[Mapping[str, tuple[str, Callable[[float], bool]]]] = {
    "item_threshold": ("a number in [0, 1]", lambda number: 0 <= number <= 1),
    "match_threshold": ("a number in [0, 1]", lambda number: 0 <= number <= 1),
    "pairing_floor": ("a number in [-1, 1)", lambda number: -1 <= number < 1),
    "threshold": ("a number in [0, 1]", lambda number: 0 <= number <= 1),
    "weight": ("a number above 0", lambda number: 0 < number < math.inf),
}
"""What a number must be, as a noun phrase and as a test."""


def _checked(name: str, value: object) -> float:
    """Give back a number in the range of `name`.

    Raises:
        ValueError: the value is anything else.
    """
    expected, fits = RANGES[name]
    if is_number(value) and fits(value):
        return float(value)
    raise ValueError(f"{name} is {value!r}, expected {expected}")
