"""Models described by a configuration in JSON: reading one, and writing one of a class.

A configuration is `{"model_name", "match_threshold", "fields": {name: {"type", ...}}}`;
docs/python.md lists the keys. Everything that is wrong in one is told at once.
"""

import datetime as dt
import keyword
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Final, Generic, Optional, TypeVar, Union, get_args, get_origin

from pydantic import create_model
from pydantic.fields import FieldInfo

from stickler_cli.comparators.base import BaseComparator, KeywordError
from stickler_cli.comparators.registry import UnknownComparatorError, construct, location_of
from stickler_cli.compare.thresholds import DEFAULT_MATCH_THRESHOLD
from stickler_cli.errors import Problem, SchemaError
from stickler_cli.json_values import brief, kind_of
from stickler_cli.locations import Path, json_pointer
from stickler_cli.models.base import ComparableModel
from stickler_cli.models.fields import DEFAULT_THRESHOLD, ComparableField, Rules
from stickler_cli.spelling import did_you_mean

Model = TypeVar("Model", bound=ComparableModel)

DEFAULT_MODEL_NAME: Final = "DynamicModel"

TYPES: Final[dict[str, Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "date": dt.date,
    "datetime": dt.datetime,
    "list": list[Any],
    "dict": dict[str, Any],
    "any": Any,
}
"""What a `type` names."""

NESTED: Final[dict[str, Callable[[Any], Any]]] = {
    "structured_model": lambda model: model,
    "list_structured_model": lambda model: list[model],  # type: ignore[valid-type]
    "optional_structured_model": lambda model: Optional[model],  # noqa: UP045 - a type at run time
}
"""What a `type` makes of the model that its `fields` describe."""

MODEL_KEYS: Final = {"model_name": "string", "match_threshold": "number", "fields": "object"}
FIELD_KEYS: Final = {
    "type": "string",
    "comparator": "string",
    "comparator_config": "object",
    "threshold": "number",
    "weight": "number",
    "default": None,
    "required": "boolean",
    "aggregate": "boolean",
    "clip_under_threshold": "boolean",
    "description": "string",
    "alias": "string",
    "examples": "array",
}
"""The keys of a field and the JSON type of each; None takes anything."""

_GENERIC: Final = re.compile(r"(?P<outer>list|optional|dict)\[(?P<inner>.+)\]", re.IGNORECASE)


def model_from_configuration(config: object, base: type[Model]) -> type[Model]:
    """Make a model class, a subclass of `base`, of a configuration.

    Raises:
        SchemaError: with everything that is wrong, each with its place.
    """
    reader = _Reader(base)
    model = reader.model(config, (), DEFAULT_MODEL_NAME)
    if reader.problems:
        raise SchemaError(reader.problems)
    return model


def type_named(text: str) -> Any:
    """Give the type that a `type` names, such as `List[str]`.

    Raises:
        ValueError: it names none.
    """
    generic = _GENERIC.fullmatch(text.strip())
    if generic is None:
        if text.strip().lower() not in TYPES:
            raise ValueError(text)
        return TYPES[text.strip().lower()]
    inner = generic["inner"]
    match generic["outer"].lower():
        case "list":
            return list[type_named(inner)]  # type: ignore[misc] # a type made at run time
        case "optional":
            return Optional[type_named(inner)]  # noqa: UP045
        case _:
            key, _, value = inner.partition(",")
            if type_named(key) is not str:
                raise ValueError(text)
            return dict[str, type_named(value)]  # type: ignore[misc]


class _Reader(Generic[Model]):
    """Reads a configuration and keeps what is wrong in it."""

    def __init__(self, base: type[Model]) -> None:
        self._base = base
        self.problems: list[Problem] = []

    def model(self, config: object, path: Path, name: str) -> type[Model]:
        """Make the class of one level; of what is wrong, a class without it."""
        keys = self._checked(config, path, MODEL_KEYS)
        fields = keys.get("fields")
        if not isinstance(fields, Mapping) or not fields:
            self._note((*path, "fields"), f"fields is {brief(fields)}", "an object of fields")
            fields = {}
        definitions: dict[str, Any] = {
            str(field): self._field(str(field), entry, (*path, "fields", str(field)))
            for field, entry in fields.items()
        }
        threshold = keys.get("match_threshold", DEFAULT_MATCH_THRESHOLD)
        if not self._in_range(threshold):
            self._note((*path, "match_threshold"), f"it is {threshold!r}", "a number in [0, 1]")
        model: type[Model] = create_model(
            keys.get("model_name", name), __base__=self._base, **definitions
        )
        model.match_threshold = threshold
        return model

    def _field(self, name: str, config: object, path: Path) -> tuple[Any, Any]:
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            hint = "give the field a name of letters, and this name as its alias"
            self._note(path, f"{name} is no name of a field", "a Python name", hint)
        kind = config.get("type") if isinstance(config, Mapping) else None
        nested = MODEL_KEYS if kind in NESTED else {}
        keys = self._checked(config, path, {**FIELD_KEYS, **nested})
        annotation = self._type(keys, path, name)
        required = keys.get("required") is True and "default" not in keys
        if not required:
            annotation = Optional[annotation]  # noqa: UP045
        threshold, weight = keys.get("threshold", DEFAULT_THRESHOLD), keys.get("weight", 1.0)
        if not self._in_range(threshold):
            self._note((*path, "threshold"), f"it is {threshold!r}", "a number in [0, 1]")
            threshold = DEFAULT_THRESHOLD
        if not weight > 0:
            self._note((*path, "weight"), f"it is {weight!r}", "a number above 0")
            weight = 1.0
        return annotation, ComparableField(
            comparator=self._comparator(keys, path),
            threshold=threshold,
            weight=weight,
            default=... if required else keys.get("default"),
            aggregate=keys.get("aggregate"),
            clip_under_threshold=keys.get("clip_under_threshold", False),
            alias=keys.get("alias"),
            description=keys.get("description"),
            examples=keys.get("examples"),
        )

    def _type(self, keys: Mapping[str, Any], path: Path, name: str) -> Any:
        text = keys.get("type")
        if text is None:
            self._note(path, "there is no type", f"one of {', '.join([*TYPES, *NESTED])}")
            return Any
        if text in NESTED:
            inner = {key: value for key, value in keys.items() if key in MODEL_KEYS}
            return NESTED[text](self.model(inner, path, name.title().replace("_", "")))
        try:
            return type_named(text)
        except ValueError:
            known = [*TYPES, *NESTED]
            expected = f"one of {', '.join(known)}, or List[...], Optional[...], Dict[str, ...]"
            self._note((*path, "type"), f"it is {brief(text)}", expected, did_you_mean(text, known))
            return Any

    def _comparator(self, keys: Mapping[str, Any], path: Path) -> BaseComparator | None:
        name, config = keys.get("comparator"), keys.get("comparator_config", {})
        if name is None:
            if config:
                found = "it is given without a comparator"
                self._note((*path, "comparator_config"), found, "a comparator beside it")
            return None
        try:
            return construct(name, config)
        except UnknownComparatorError as error:
            self._note((*path, "comparator"), error.found, error.expected, error.hint)
        except KeywordError as error:
            steps = () if error.keyword is None else (error.keyword,)
            place = (*path, "comparator_config", *steps)
            self._note(place, error.found, error.expected, error.hint)
        return None

    def _checked(
        self, config: object, path: Path, known: Mapping[str, str | None]
    ) -> dict[str, Any]:
        """Give the keys of an object that are known and of the right type; note the others."""
        if not isinstance(config, Mapping):
            self._note(path, f"it is {brief(config)}", "an object")
            return {}
        checked = {}
        for key, value in config.items():
            if key not in known:
                expected = f"one of {', '.join(known)}"
                self._note(
                    (*path, key), f"there is no key {key}", expected, did_you_mean(key, known)
                )
            elif value is None and key != "default":
                continue  # as it is exported: nothing is said
            elif not _is(value, known[key]):
                article = "an" if str(known[key])[0] in "ao" else "a"
                self._note((*path, key), f"it is {brief(value)}", f"{article} {known[key]}")
            else:
                checked[key] = value
        return checked

    def _in_range(self, value: object) -> bool:
        return isinstance(value, int | float) and 0 <= value <= 1

    def _note(self, path: Path, found: str, expected: str, hint: str = "") -> None:
        self.problems.append(Problem("", found, expected, hint, json_pointer(path)))


def _is(value: object, kind: str | None) -> bool:
    """Say whether a value is of a JSON type; every integer is a number."""
    return kind is None or kind_of(value) in {kind, "integer" if kind == "number" else kind}


def configuration_of(model: type[ComparableModel]) -> dict[str, Any]:
    """Give the configuration of a model class; `model_from_configuration` reads it back.

    Raises:
        SchemaError: a field has a type that no configuration can state.
    """
    problems: list[Problem] = []
    config = _model_configuration(model, (), problems, ())
    if problems:
        raise SchemaError(problems)
    return config


def _model_configuration(
    model: type[ComparableModel],
    path: Path,
    problems: list[Problem],
    above: tuple[type[ComparableModel], ...],
) -> dict[str, Any]:
    fields = {}
    for name, info in model.model_fields.items():
        place = (*path, "fields", name)
        entry = _rules_of(info)
        required = info.is_required()
        annotation = _without_none(info.annotation)
        nested = _nested(annotation)
        if nested is not None and nested[1] in above:
            problems.append(_unstated(place, f"{name} leads back to {nested[1].__name__}"))
        elif nested is not None:
            kind, inner = nested
            entry |= _model_configuration(inner, place, problems, (*above, inner))
            entry["type"] = kind
        else:
            text = _type_text(annotation)
            if text is None:
                problems.append(_unstated(place, f"{name} is of type {annotation}"))
            entry["type"] = text
        if required:
            entry["required"] = True
        elif info.default is not None:
            entry["default"] = info.get_default(call_default_factory=True, validated_data={})
        for key in ("alias", "description", "examples"):
            if getattr(info, key) is not None:
                entry[key] = getattr(info, key)
        fields[name] = entry
    return {
        "model_name": model.__name__,
        "match_threshold": model.match_threshold,
        "fields": fields,
    }


def _unstated(path: Path, found: str) -> Problem:
    expected = "a type that a configuration can state"
    return Problem("", found, expected, "use to_json_schema", json_pointer(path))


def _rules_of(info: FieldInfo) -> dict[str, Any]:
    """Give what a field says about its comparison, as a configuration does."""
    rules = next((part for part in info.metadata if isinstance(part, Rules)), None)
    if rules is None:
        return {}
    entry: dict[str, Any] = {"threshold": rules.threshold, "weight": rules.weight}
    if rules.comparator is not None:
        entry["comparator"] = location_of(rules.comparator)
        if rules.comparator.config:
            entry["comparator_config"] = rules.comparator.config
    if rules.aggregate is not None:
        entry["aggregate"] = rules.aggregate
    if rules.clip_under_threshold:
        entry["clip_under_threshold"] = True
    return entry


def _without_none(annotation: Any) -> Any:
    """Give the only type of an Optional; anything else as it is."""
    if get_origin(annotation) in (Union, UnionType):
        others = [part for part in get_args(annotation) if part is not NoneType]
        return others[0] if len(others) == 1 else annotation
    return annotation


def _nested(annotation: Any) -> tuple[str, type[ComparableModel]] | None:
    """Give the nested model of an annotation and the `type` that makes it."""
    if isinstance(annotation, type) and issubclass(annotation, ComparableModel):
        return "structured_model", annotation
    if get_origin(annotation) is list:
        (item,) = get_args(annotation)
        if isinstance(item, type) and issubclass(item, ComparableModel):
            return "list_structured_model", item
    return None


def _type_text(annotation: Any) -> str | None:
    """Name a type as a configuration does; None for one that has no name there."""
    for text, kind in TYPES.items():
        if annotation == kind:
            return text
    origin, arguments = get_origin(annotation), get_args(annotation)
    inner = [_type_text(_without_none(part)) for part in arguments]
    if origin is list and inner[0] is not None:
        return f"List[{inner[0]}]"
    if origin is dict and arguments[0] is str and inner[1] is not None:
        return f"Dict[str, {inner[1]}]"
    return None
