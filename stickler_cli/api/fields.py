"""`ComparableField`: a pydantic field with a weight and a comparator.

Weight and comparator are stored as metadata of the field. An annotated JSON Schema is generated
from the metadata, so a class is compiled in the same way as a schema file. The ordinary JSON Schema
that pydantic generates does not change.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, signature
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
from stickler_cli.comparators.comparator_registry import location_of
from stickler_cli.comparators.exact import StructuredModelComparator
from stickler_cli.compare.plan import Plan
from stickler_cli.compare.result import DEFAULT_MATCH_THRESHOLD, ListPairing
from stickler_cli.core.json_values import JsonDocument, JsonObject, JsonValue, doubled_names
from stickler_cli.core.locations import Path, json_pointer
from stickler_cli.core.problems import Problem, SchemaError, did_you_mean
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
    """A pydantic model whose instances can be compared by a compiled plan."""

    model_config = ConfigDict(
        arbitrary_types_allowed=True, extra="allow", populate_by_name=True, protected_namespaces=()
    )

    match_threshold: ClassVar[float] = DEFAULT_MATCH_THRESHOLD
    """Similarity in [0, 1] at which two items of a list match."""

    _unwrapped: Unwrapped = PrivateAttr(default_factory=lambda: Unwrapped(None))
    """The JSON values from which the instance was made, without wrappers, and everything else that
    the wrappers contained, such as confidences."""
    _compiled: ClassVar[Plan]  # set once the plan has been compiled
    _warned: ClassVar[bool]  # set once a warning about ineffective settings was given
    # The schema that the class was made from.
    _source_schema: ClassVar[dict[str, Any] | None] = None
    # The file from which relative references of that schema start.
    _source_file: ClassVar[File | None] = None
    # The name of the class for the whole schema, if this class is for a part of it.
    _part_of: ClassVar[str | None] = None
    _named: ClassVar[bool] = True  # whether the user gave the class its name


def values_of(instance: BaseModel, *, only_given: bool = False) -> JsonDocument:
    """Return an instance of a model as JSON values.

    The key of a field is its name in the schema of the model.

    Computed fields and private attributes are omitted. `only_given` also omits fields that were not
    set explicitly. A value that cannot be serialised becomes text, so that every instance can be
    scored.

    Raises:
        TypeError: `instance` is not an instance of a pydantic model.
    """
    values: object = instance
    if not isinstance(values, BaseModel):
        raise TypeError(f"the prediction is {type(values).__name__}, expected a model instance")
    by_alias = isinstance(values, ComparableModel) and values._source_schema is not None  # noqa: SLF001
    dumped: object = None
    with suppress(Exception):  # if a field cannot be serialised, its text is compared
        dumped = values.model_dump(
            mode="json",
            by_alias=by_alias,
            warnings=False,
            fallback=str,
            round_trip=True,
            exclude_unset=only_given,
        )
    # A serializer of the user may return anything.
    if isinstance(dumped, list) and isinstance(values, RootModel):
        return dumped
    return dumped if isinstance(dumped, dict) else _values_by_field(values, (), by_alias=by_alias)


def json_of(value: object) -> JsonValue:
    """Convert any Python value to JSON values. A value that has no JSON form becomes text.

    Raises:
        RecursionError: the value is nested too deeply.
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
    """Return the JSON value of each field of an instance, converting the fields one by one.

    A field that cannot be converted therefore does not affect other fields. For `above` see
    `_value`.
    """
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
    """Convert a Python value to JSON values. A value that has no JSON form becomes text.

    `above` has the `id()` of each container around the value. A container that contains itself
    becomes the text `...`.
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
            values = f"<{type(value).__name__}>"  # for a value whose str() raises
            with suppress(Exception):
                values = str(value)
                values = to_jsonable_python(value, fallback=str)
    return values


DEFAULT_THRESHOLD: Final = 0.5  # threshold of a field that states none; docs/python.md
# Stands for a threshold that the comparator decides, or else the default.
UNSTATED: Final[Any] = object()

# Keywords of pydantic 1, about which pydantic raises errors or warns.
_OLD_KEYWORDS: Final = frozenset(
    {"allow_mutation", "const", "include", "max_items", "min_items", "regex", "unique_items"}
)
PYDANTIC_KEYWORDS: Final = _OLD_KEYWORDS | {
    name
    for name, keyword in signature(Field).parameters.items()
    if keyword.kind != Parameter.VAR_KEYWORD
}
"""The arguments of `pydantic.Field`."""

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
"""Arguments of `ComparableField` that become annotations of the schema."""
CONFIG: Final = f"{PREFIX}comparator-config"
STAND_IN: Final = "x-stands-for"  # the only key of a placeholder for a whole schema


@dataclass(slots=True)
class Annotating:
    """Settings and results of one generation of an annotated JSON Schema."""

    instances: dict[str, BaseComparator] | None
    """Maps keys to comparator objects. If this is a dict, the schema has only the key of each
    comparator, such as `NumericComparator #0`, and the dict is filled while the schema is
    generated. If this is None, the schema has the class and the arguments of each comparator."""
    defaults: bool
    """Whether to write default thresholds into the schema. If they are written, inference does not
    replace them."""
    infers: bool = False
    """Whether inference may choose thresholds that the user has not set."""
    whole: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Maps the key of each placeholder to the complete schema that replaces it at the end. A schema
    cannot be inserted earlier, because pydantic would try to resolve the references inside it."""

    def finished(self, schema: Any) -> Any:
        """Return a schema in which placeholders are replaced by the schemas they stand for."""
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
        """Return the annotations that tell a schema which comparator to use; empty for None."""
        if comparator is None:
            return {}
        if self.instances is not None:
            key = f"{comparator.name} #{len(self.instances)}"
            self.instances[key] = comparator
            return {f"{PREFIX}comparator": key}
        named: dict[str, object] = {f"{PREFIX}comparator": location_of(comparator)}
        return {**named, CONFIG: comparator.config} if comparator.config else named


# Active while an annotated schema is generated; None for an ordinary schema of pydantic.
CURRENT: Final[ContextVar[Annotating | None]] = ContextVar("annotating", default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules that a user has stated for comparing a field, or the elements of a list."""

    comparator: BaseComparator | None  # None: the type of the field decides
    annotations: Mapping[str, object]  # all annotations except the comparator
    threshold: float | None = None  # threshold that the user stated for the field

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
            ):  # a list of models: its items match by their match-threshold
                annotations.pop(f"{PREFIX}threshold", None)
        if annotating.infers and comparator is None and self.threshold is None:
            annotations.pop(f"{PREFIX}threshold", None)
        threshold, default = annotations.get(f"{PREFIX}threshold"), _default(schema)
        # A text without a stated rule is compared as a code if it is the key of a list.
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
    """Return whether a comparator compares whole model instances instead of their fields."""
    return bool(comparator.takes) or isinstance(comparator, StructuredModelComparator)


def _arms(schema: JsonSchemaValue) -> list[JsonSchemaValue]:
    return [arm for arm in schema.get("anyOf", [schema]) if arm.get("type") != "null"]


def _default(schema: JsonSchemaValue) -> LeafDefault | None:
    """Return how the values that a schema describes are compared by default.

    For a list, return how its elements are compared. The result is None if the values can have
    several types, or if their type has no default.
    """
    first_arm, *other_arms = _arms(schema) or [{}]
    if other_arms:
        return None
    if "items" in first_arm:
        return _default(first_arm["items"])
    kind = first_arm.get("type")
    if kind not in BY_TYPE:
        return None
    members = [first_arm["const"]] if "const" in first_arm else first_arm.get("enum", ())
    return leaf_default(kind, first_arm.get("format"), members=members)


def _is_of_models(schema: JsonSchemaValue, handler: GetJsonSchemaHandler) -> bool:
    """Return whether a schema allows only models or lists of models."""
    kinds = [_dereferenced(arm, handler) for arm in _arms(schema)]
    kinds = [_dereferenced(kind.get("items", kind), handler) for kind in kinds]
    return all("properties" in kind or STAND_IN in kind for kind in kinds)


def _dereferenced(schema: JsonSchemaValue, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    try:
        return handler.resolve_ref_schema(schema)
    except LookupError:  # a model whose definition is not complete yet, such as the enclosing one
        return {"properties": {}}


class ComparedSchema(GenerateJsonSchema):
    """Generates the JSON Schema of a class, to fit what `values_of` returns for its instances."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Return the schema of a number, even if a Decimal is serialised as text."""
        return {"type": "number"}

    def handle_invalid_for_json_schema(self, schema: object, error_info: str) -> JsonSchemaValue:
        """Return a schema that allows everything, for a type that JSON Schema cannot express."""
        return {}

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Ignore warnings about defaults that JSON cannot express. Defaults are not compared."""

    def field_is_present(self, field: Any) -> bool:
        """Return whether a field is part of the schema; False if serialisation excludes it."""
        return not field.get("serialization_exclude")


def annotated_schema(
    model: type[BaseModel],
    instances: dict[str, BaseComparator] | None = None,
    *,
    defaults: bool = True,
    infers: bool = False,
) -> dict[str, Any]:
    """Return the annotated JSON Schema of a class.

    The arguments `instances`, `defaults` and `infers` are described in `Annotating`.
    """
    annotating = Annotating(instances, defaults, infers)
    token = CURRENT.set(annotating)
    try:
        schema = model_json_schema(model, by_alias=False, schema_generator=ComparedSchema)
    finally:
        CURRENT.reset(token)
    finished: dict[str, Any] = annotating.finished(schema)
    return finished


def check_exported(schema: Mapping[str, Any], source: str) -> None:
    """Raise SchemaError if an argument of a comparator cannot be written as JSON."""
    problems = []
    for path, config in _configs(schema, ()):
        try:
            json.dumps(config, allow_nan=False)
        except (TypeError, ValueError) as error:
            finding = f"a comparator has a keyword that JSON cannot express ({error})"
            hint = "use the class itself instead of its schema"
            expected = "keywords whose values JSON can express"
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
    """Yield (path, arguments) of each comparator that a schema gives arguments for."""
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
        comparator: a comparator object; None takes the default for the type of the field.
        threshold: in [0, 1]; similarity at which two values match. If it is left out or None, the
            threshold of `comparator` is used, if one was given when the comparator was made. If
            none was given, the field has the threshold 0.5 if `threshold` is left out, and the
            default for its type if `threshold` is None.
        weight: above 0; weight of the field in the score of its object.
        default: as in pydantic; None if left out. `...` makes the field required.
        aggregate: whether the `aggregate` counts of the object include the field; None lets the
            other fields decide.
        clip_under_threshold: whether a similarity below the threshold scores 0.0.
        pairing_floor: in [-1, 1), for a list: at or below this similarity, two elements are not
            paired; -1 pairs all, None leaves it to the run.
        exhaustive: for a list: whether the ground truth lists all elements.
        ordered: for a list: True is short for `pairing="ordered"`.
        pairing: for a list: how its elements are paired. `best` finds the best pairs in any order,
            `ordered` the best pairs in the order of both lists, and `position` pairs the first with
            the first, and so on.
        key: for a list: the fields that identify an item. Items are paired if they have equal
            values in these fields.
        distinct: for a list: whether repeated elements are dropped.
        aliases: other texts for the same thing, such as `{"DE": ["Germany"]}`.
        absent_values: values that count as absent.
        ignore: whether the field is not compared.
        any_of: whether a list in the ground truth lists alternative right values.
        pairs_items: whether the field influences which items of a list are paired.
        keywords: any other keywords of `pydantic.Field`, such as `alias`, `description` and
            `examples`.

    Raises:
        TypeError: the comparator is not an instance of a comparator class, or there is no such
            keyword.
        ValueError: a keyword has a value that its annotation does not allow.
    """
    settings = locals()
    _check_names(keywords)
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
    if weight == 1:  # as for any field
        del annotations[annotated("weight")]
    field_info = Field(
        PydanticUndefined if default is ... or "default_factory" in keywords else default,
        **keywords,
    )
    field_info.metadata.append(Rules(comparator, annotations, stated_threshold))
    return field_info


def _check_names(keywords: Iterable[str]) -> None:
    """Raise TypeError for a keyword that neither `ComparableField` nor `pydantic.Field` has.

    pydantic itself would put an unknown keyword into the JSON Schema. A misspelt `weight` would
    then be lost without a message.
    """
    for name in keywords:
        if name not in PYDANTIC_KEYWORDS:
            choices = [*_KEYWORDS, "comparator", *sorted(PYDANTIC_KEYWORDS - _OLD_KEYWORDS)]
            hint = did_you_mean(name, choices) or "put keys of your own into json_schema_extra"
            raise TypeError(f"ComparableField has no keyword {name}; {hint}")


def without_none(annotation: Any) -> Any:
    """Return X if the type is `Optional[X]`; return any other type unchanged."""
    if get_origin(annotation) in (Union, UnionType):
        other_arms = [arm for arm in get_args(annotation) if arm is not NoneType]
        return other_arms[0] if len(other_arms) == 1 else annotation
    return annotation


def _right(name: str, value: Any) -> Any:
    """Check the value of the argument `name`, and return it as JSON.

    Raises:
        ValueError: the value is not allowed in the annotation that belongs to the argument.
    """
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
        raise ValueError(
            f"{text} is an alias of {first} and of {second}, expected each alias "
            f"under one name only"
        )
    return float(value) if rule.keywords["type"] == "number" else value
