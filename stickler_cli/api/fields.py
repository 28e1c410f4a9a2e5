"""`ComparableField`: a pydantic field with a weight, and a way to compare it.

That travels as its metadata and comes out in an annotated JSON Schema, so that a class and a
schema have one compiler; the schema that pydantic makes otherwise stays its own.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path as File
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, PrivateAttr, RootModel
from pydantic.json_schema import (
    GenerateJsonSchema,
    JsonSchemaValue,
    JsonSchemaWarningKind,
    model_json_schema,
)
from pydantic_core import CoreSchema, PydanticUndefined, core_schema, to_jsonable_python

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.comparators.exact import StructuredModelComparator
from stickler_cli.comparators.registry import location_of
from stickler_cli.compare.plan import Plan
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD, ListPairing
from stickler_cli.core.json_values import JsonDocument, JsonObject, JsonValue, doubled_names
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError
from stickler_cli.documents.wrappers import Unwrapped
from stickler_cli.schema.annotations import (
    BY_TYPE,
    PREFIX,
    RULES,
    TEXT,
    LeafDefault,
    annotated,
    leaf_default,
)


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
    _source_file: ClassVar[File | None] = None  # where that schema's relative references start
    _part_of: ClassVar[str | None] = None  # the class for the whole schema, of one for a part
    _named: ClassVar[bool] = True  # whether somebody gave the class its name


def values_of(instance: BaseModel, *, only_given: bool = False) -> JsonDocument:
    """Return the JSON values of an instance, under the names of its plan.

    Computed fields and private attributes are left out; with `only_given` also fields that the
    instance was made without. A value that cannot be serialised is compared by its text, so that
    every model instance can be scored.

    Raises:
        TypeError: it is no pydantic instance.
    """
    values: object = instance
    if not isinstance(values, BaseModel):
        raise TypeError(f"the prediction is {type(values).__name__}, expected a model instance")
    by_alias = isinstance(values, ComparableModel) and values._source_schema is not None  # noqa: SLF001
    dumped: object = None
    with suppress(Exception):  # whatever a field refuses, its text can be compared
        dumped = values.model_dump(
            mode="json",
            by_alias=by_alias,
            warnings=False,
            fallback=str,
            round_trip=True,
            exclude_unset=only_given,
        )
    # A serializer of the user's own may give anything.
    if isinstance(dumped, list) and isinstance(values, RootModel):
        return dumped
    return dumped if isinstance(dumped, dict) else _values_by_field(values, (), by_alias=by_alias)


def json_of(value: object) -> JsonValue:
    """Return the JSON values that anything stands for: of what JSON has not, its text.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(value, BaseModel):
        return values_of(value)
    with suppress(Exception):
        json_value: JsonValue = to_jsonable_python(
            value, by_alias=False, fallback=str, inf_nan_mode="strings"
        )
        return json_value
    return _value(value, (), by_alias=False)


def _values_by_field(instance: BaseModel, above: tuple[int, ...], *, by_alias: bool) -> JsonObject:
    """Return the values of an instance field by field, of any type."""
    declared = type(instance).model_fields
    values_by_name = {**instance.__dict__, **(instance.model_extra or {})}
    return {
        (declared[name].alias or name if by_alias and name in declared else name): _value(
            value, above, by_alias=by_alias
        )
        for name, value in values_by_name.items()
        if name not in declared or not declared[name].exclude
    }


def _value(value: Any, above: tuple[int, ...], *, by_alias: bool) -> JsonValue:
    """Return the JSON value that anything stands for; its text where there is none.

    `above` are the containers around it: one inside itself is text.
    """
    if id(value) in above:
        return "..."
    ancestors = (*above, id(value))
    value_inside = partial(_value, above=ancestors, by_alias=by_alias)
    match value:
        case BaseModel():
            values: JsonValue = _values_by_field(value, ancestors, by_alias=by_alias)
        case Mapping():
            values = {str(key): value_inside(child) for key, child in value.items()}
        case list() | tuple() | set() | frozenset():
            values = list(map(value_inside, value))
        case bytes():
            values = value.decode("utf-8", "backslashreplace")
        case _:
            values = f"<{type(value).__name__}>"  # whatever refuses to say what it is
            with suppress(Exception):
                values = str(value)
                values = to_jsonable_python(value, fallback=str)
    return values


DEFAULT_THRESHOLD: Final = 0.5  # of a field without another; docs/python.md
UNSTATED: Final[Any] = object()  # a threshold that is left to the comparator, else to the default

_KEYWORDS: Final = (
    *("weight", "threshold", "pairing_floor", "aggregate", "clip_under_threshold", "exhaustive"),
    *(
        "ordered",
        "pairing",
        "key",
        "distinct",
        "aliases",
        "absent_values",
        "ignore",
        "any_of",
        "pairs_items",
    ),
)
"""Arguments of a field that are annotations of a schema."""
CONFIG: Final = f"{PREFIX}comparator-config"
STAND_IN: Final = "x-stands-for"  # the only key of what stands for a whole schema


@dataclass(slots=True)
class Annotating:
    """A JSON Schema in the making that shall carry annotations."""

    instances: dict[str, BaseComparator] | None
    """Where comparators go that the schema then refers to by key; None writes them out."""
    defaults: bool
    """Whether thresholds are written that values have anyway: inference leaves them alone."""
    infers: bool = False
    """Whether unstated thresholds are left to inference."""
    whole: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Schemas that stand in the finished one as they are, by the key that stands for each: pydantic
    follows every reference in a schema in the making, and would not find theirs."""

    def finished(self, schema: Any) -> Any:
        """Return the schema with whole ones in place of their stand-ins."""
        match schema:
            case dict() if STAND_IN in schema:
                return self.whole[schema[STAND_IN]]
            case dict():
                return {key: self.finished(subschema) for key, subschema in schema.items()}
            case list():
                return [self.finished(subschema) for subschema in schema]
            case _:
                return schema

    def naming(self, comparator: BaseComparator | None) -> dict[str, object]:
        """Return the annotations that name a comparator; empty without a comparator."""
        if comparator is None:
            return {}
        if self.instances is not None:
            key = f"{comparator.name} #{len(self.instances)}"
            self.instances[key] = comparator
            return {f"{PREFIX}comparator": key}
        named: dict[str, object] = {f"{PREFIX}comparator": location_of(comparator)}
        return {**named, CONFIG: comparator.config} if comparator.config else named


# The schema in the making; None where it is pydantic's own.
CURRENT: Final[ContextVar[Annotating | None]] = ContextVar("annotating", default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules of a field, or of the elements of a list, for its comparison."""

    comparator: BaseComparator | None  # None leaves it to the kind of the field
    annotations: Mapping[str, object]  # all of them but the comparator
    threshold: float | None = None  # that somebody stated for the field

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema, annotating = handler(core_schema), CURRENT.get()
        if annotating is None:
            return schema
        comparator, annotations = self.comparator, dict(self.annotations)
        if (comparator is None or not takes_models(comparator)) and _is_of_models(schema, handler):
            comparator = None
            if any(
                "items" in arm for arm in _arms(schema)
            ):  # a list, whose items match by their match-threshold
                annotations.pop(f"{PREFIX}threshold", None)
        if annotating.infers and comparator is None and self.threshold is None:
            annotations.pop(f"{PREFIX}threshold", None)
        threshold, default = annotations.get(f"{PREFIX}threshold"), _default(schema)
        # A text of which nobody says anything is a code in the key of a list.
        states_threshold_alone = (
            comparator is None and default is TEXT and self.threshold is not None
        )
        if (
            default
            and threshold == default.threshold
            and not (annotating.defaults or states_threshold_alone)
        ):
            del annotations[f"{PREFIX}threshold"]
        return {**schema, **annotations, **annotating.naming(comparator)}


def takes_models(comparator: BaseComparator) -> bool:
    """Return whether a comparator compares instances of models as they are."""
    return bool(comparator.takes) or isinstance(comparator, StructuredModelComparator)


def _arms(schema: JsonSchemaValue) -> list[JsonSchemaValue]:
    return [arm for arm in schema.get("anyOf", [schema]) if arm.get("type") != "null"]


def _default(schema: JsonSchemaValue) -> LeafDefault | None:
    """Return how values, or elements, are compared without annotations; None if that is open."""
    first_arm, *other_arms = _arms(schema) or [{}]
    if other_arms or "items" in first_arm:
        return None if other_arms else _default(first_arm["items"])
    kind, members = (
        first_arm.get("type"),
        [first_arm["const"]] if "const" in first_arm else first_arm.get("enum", ()),
    )
    return leaf_default(kind, first_arm.get("format"), members=members) if kind in BY_TYPE else None


def _is_of_models(schema: JsonSchemaValue, handler: GetJsonSchemaHandler) -> bool:
    """Return whether a schema is of models, or lists of them: they are compared by their fields."""
    kinds = [_dereferenced(arm, handler) for arm in _arms(schema)]
    kinds = [_dereferenced(kind.get("items", kind), handler) for kind in kinds]
    return all("properties" in kind or STAND_IN in kind for kind in kinds)


def _dereferenced(schema: JsonSchemaValue, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    try:
        return handler.resolve_ref_schema(schema)
    except LookupError:  # of a model that is not finished, such as the one around the field
        return {"properties": {}}


class ComparedSchema(GenerateJsonSchema):
    """JSON Schema of the values that are compared: those that `values_of` returns."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Take a Decimal for a number, however it is written."""
        return {"type": "number"}

    def handle_invalid_for_json_schema(self, schema: object, error_info: str) -> JsonSchemaValue:
        """Take a type that JSON Schema has no word for as a place of any kind."""
        return {}

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Keep quiet: a default that JSON cannot state is not compared."""

    def field_is_present(self, field: Any) -> bool:
        """Leave out fields that a dump of the instance leaves out."""
        return not field.get("serialization_exclude")


def annotated_schema(
    model: type[BaseModel],
    instances: dict[str, BaseComparator] | None = None,
    *,
    defaults: bool = True,
    infers: bool = False,
) -> dict[str, Any]:
    """Return the annotated JSON Schema of a class; options are as in `Annotating`."""
    annotating = Annotating(instances, defaults, infers)
    token = CURRENT.set(annotating)
    try:
        schema = model_json_schema(model, by_alias=False, schema_generator=ComparedSchema)
    finally:
        CURRENT.reset(token)
    finished: dict[str, Any] = annotating.finished(schema)
    return finished


def check_exported(schema: Mapping[str, Any], source: str) -> None:
    """Raise SchemaError if the config of a comparator holds values that are no JSON."""
    problems = []
    for path, config in _configs(schema, ()):
        try:
            json.dumps(config, allow_nan=False)
        except (TypeError, ValueError) as error:
            finding = f"a comparator was given what JSON does not have ({error})"
            hint = "compare with the class itself"
            expected = "keywords that are JSON"
            problems.append(
                Problem(
                    source=source,
                    found=finding,
                    expected=expected,
                    hint=hint,
                    pointer=json_pointer(path),
                )
            )
    if problems:
        raise SchemaError(problems)


def _configs(schema: object, path: Path) -> Iterator[tuple[Path, JsonValue]]:
    """Yield the configs of comparators in a schema, each with its place."""
    entries: Any = schema.items() if isinstance(schema, Mapping) else ()
    for step, subschema in enumerate(schema) if isinstance(schema, list) else entries:
        if step == CONFIG:
            yield (*path, step), subschema
        else:
            yield from _configs(subschema, (*path, step))


def ComparableField(  # noqa: N802 - the name that users of the reference library know
    comparator: BaseComparator | None = None,
    threshold: float | None = UNSTATED,
    weight: float = 1.0,
    default: Any = None,
    aggregate: bool | None = None,
    clip_under_threshold: bool = False,
    *,
    pairing_floor: float | None = None,
    exhaustive: bool | None = None,
    ordered: bool | None = None,
    pairing: ListPairing | None = None,
    key: str | Sequence[str] | None = None,
    distinct: bool | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
    absent_values: Sequence[JsonValue] | None = None,
    ignore: bool | None = None,
    any_of: bool | None = None,
    pairs_items: bool | None = None,
    **keywords: Any,
) -> Any:
    """Declare a field of a `StructuredModel` and how it is compared.

    Args:
        comparator: an instance; None takes the default of the field's kind.
        threshold: in [0, 1]; at or above it two values match. Left out, it is the one that the
            comparator was given, else 0.5; None takes that of the field's kind instead of 0.5.
        weight: above 0; what the field is worth in the score of its object.
        default: as in pydantic; a field without one is None. `...` makes the field required.
        aggregate: whether the object's `aggregate` counts it; None leaves that to the others.
        clip_under_threshold: whether a similarity below the threshold scores 0.0.
        pairing_floor: in [-1, 1), for a list: at or below this similarity two elements are not the
            same one; -1 pairs all, None leaves it to the run.
        exhaustive: for a list: whether the ground truth has all of its elements.
        ordered: for a list: whether pairs must not cross; the same as `pairing="ordered"`.
        pairing: for a list: which elements are pairs, `best`, `ordered` or `position`.
        key: for a list: the fields of its items that tell which of them go together.
        distinct: for a list: whether an element that stood before is dropped.
        aliases: the texts that stand for others, by the names that these have.
        absent_values: values that are nothing.
        ignore: whether nobody looks at the field.
        any_of: whether a list in the ground truth has the values that are each right.
        pairs_items: whether the field has a say in which items of a list are pairs.
        keywords: any other of `pydantic.Field`, such as `alias`, `description` and `examples`.

    Raises:
        TypeError: the comparator is not an instance of one.
        ValueError: a keyword has a value that its annotation may not have.
    """
    settings = locals()
    if not isinstance(settings["comparator"], BaseComparator | None):
        raise TypeError(f"comparator is {comparator!r}, expected an instance of a comparator")
    stated = None if comparator is None else comparator.stated_threshold
    stated_threshold = None if threshold is UNSTATED else threshold
    if threshold is UNSTATED or (threshold is None and stated is not None):
        threshold = DEFAULT_THRESHOLD if stated is None else stated
    settings |= {"threshold": threshold, "clip_under_threshold": bool(clip_under_threshold) or None}
    annotations = {
        annotated(name): _right(name, settings[name])
        for name in _KEYWORDS
        if settings[name] is not None or name == "weight"
    }
    if weight == 1:  # as of any field
        del annotations[annotated("weight")]
    field_info = Field(
        PydanticUndefined if default is ... or "default_factory" in keywords else default,
        **keywords,
    )
    field_info.metadata.append(Rules(comparator, annotations, stated_threshold))
    return field_info


def without_none(annotation: Any) -> Any:
    """Return the only type of an Optional; anything else as it is."""
    if get_origin(annotation) in (Union, UnionType):
        other_arms = [arm for arm in get_args(annotation) if arm is not NoneType]
        return other_arms[0] if len(other_arms) == 1 else annotation
    return annotation


def _right(name: str, value: Any) -> Any:
    """Return the value of a keyword as JSON; ValueError where it may not have it."""
    if isinstance(value, tuple):
        value = [*value]
    if isinstance(value, Mapping):
        value = {
            k: [*listed] if isinstance(listed, list | tuple) else listed
            for k, listed in value.items()
        }
    rule = RULES[name]
    if not rule.accepts(value):
        raise ValueError(f"{name} is {value!r}, expected {rule.expected}")
    for text, first, second in doubled_names(value) if name == "aliases" else ():
        raise ValueError(f"{text} is an alias of {first} and of {second}, expected one name for it")
    return float(value) if rule.keywords["type"] == "number" else value
