"""Plans of schemas in any form, with rules of the caller for single fields."""

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path as File
from typing import Any, Final, NamedTuple, TypeAlias, TypedDict, get_args

from pydantic import AliasChoices, AliasPath, BaseModel
from pydantic.fields import FieldInfo

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.engine import DOCUMENT_PART, OTHER_NAMES
from stickler_cli.compare.plan import Plan
from stickler_cli.compare.result import ListPairing
from stickler_cli.core.figures import truncate
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, field_path, json_pointer, parse_field_path
from stickler_cli.core.problems import Problem, UsageError, did_you_mean
from stickler_cli.schema.annotations import annotated
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import Inferred, infer
from stickler_cli.schema.inference.observation import Observed
from stickler_cli.schema.loading import LoadedSchema, load_schema, loaded
from stickler_cli.settings.deciding import Infer
from .fields import annotated_schema
from .structured import StructuredModel


def other_names(model: type[BaseModel]) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """Return, of a class and those in it, the keys of fields and the classes inside each.

    Empty where no field has another name. An alias that is a path into a value is a JSON Pointer.
    """
    found: dict[str, dict[str, tuple[str, list[str]]]] = {}
    known: dict[type[BaseModel], str] = {model: DOCUMENT_PART}
    waiting, renames = [model], False
    while waiting:
        one = waiting.pop()
        fields = found[known[one]] = {}
        for name, info in one.model_fields.items():
            inside = [*_models_in(info.annotation)]
            for each in inside:
                if each not in known:
                    known[each] = f"{each.__module__}.{each.__qualname__}"
                    waiting.append(each)
            for key in {name: None, **dict.fromkeys(_aliases(info))}:
                renames |= key != name
                fields[key] = name, [known[each] for each in inside]
    return found if renames else {}


def _aliases(info: FieldInfo) -> Iterator[str]:
    for alias in (info.alias, info.validation_alias, info.serialization_alias):
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        for each in choices:
            path = each.path if isinstance(each, AliasPath) else [each or ""]
            if len(path) > 1:
                yield json_pointer((*path,))
            elif path[0]:
                yield str(path[0])


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


AnySchema: TypeAlias = type[BaseModel] | Mapping[str, Any] | str | os.PathLike[str]
"""A pydantic class, a JSON Schema, or the file of one."""


class FieldRules(TypedDict, total=False):
    """How one field is compared, as in `ComparableField`; rules that are left out stay."""

    comparator: BaseComparator | str
    comparator_config: Mapping[str, object]
    threshold: float
    weight: float
    aggregate: bool
    clip_under_threshold: bool
    pairing_floor: float
    exhaustive: bool
    ordered: bool
    pairing: ListPairing
    key: str | Sequence[str]
    distinct: bool
    aliases: Mapping[str, Sequence[str]]
    absent_values: Sequence[JsonValue]
    ignore: bool
    pairs_items: bool


_RULES: Final = tuple(FieldRules.__annotations__)


ADVICE: Final = "evaluate(gt, pred) compares two documents, Scorer(schema).score(gt, pred) many"


class Ruled(NamedTuple):
    """How documents are compared: compiled once, for as many pairs as there are."""

    plan: Plan
    """How they are compared, compiled."""
    inferred: tuple[Inferred, ...]
    """How each field is compared, and why."""
    name: str
    """The name of the documents, as `LoadedSchema` has it."""


def _check(schema: object) -> None:
    """Refuse what is no schema, and say what takes it."""
    is_model = isinstance(schema, type) and issubclass(schema, BaseModel)
    if not is_model and not isinstance(schema, str | os.PathLike | Mapping | LoadedSchema):
        found = f"the class {schema.__name__}" if isinstance(schema, type) else repr(schema)
        expected = "a pydantic class, a JSON Schema or its file"
        raise TypeError(f"schema is {truncate(found, 80)}, expected {expected}; {ADVICE}")


def ruled(
    schema: AnySchema | LoadedSchema, rules: Mapping[str, FieldRules], seen: Observed | None = None
) -> Ruled:
    """Return how documents of a schema are compared under rules for single fields.

    `seen` are values of their ground truth, which inference asks.

    Raises:
        TypeError: it is no schema.
        SchemaError: the schema cannot be used, or stands for no object.
        UsageError: there is no field, or rule, of a name in `rules`.
    """
    _check(schema)
    known: dict[str, BaseComparator] = {}
    look: Any = None if seen is None else lambda: seen
    if isinstance(schema, LoadedSchema):
        found = schema
    elif isinstance(schema, Mapping):
        found = loaded(dict(schema), "the schema", when="auto", look=look)
    elif isinstance(schema, type):
        # A class is code already: a comparator that it names by its place is no less trusted.
        how: Any = {"allow_plugins": True, "comparators": known, "look": look}
        when = inference_for(schema) if schema.model_fields else "never"  # one without any may be
        found = loaded(model_schema(schema, known), schema.__name__, when=when, **how)
    else:
        found = load_schema(os.fspath(schema), when="auto", look=look)
    if rules and isinstance(found.contents, dict):
        return _with_rules(found.contents, found.path, rules, found.fields, known)._replace(
            name=found.name
        )
    return Ruled(found.plan, found.fields, found.name)


def _with_rules(
    schema: dict[str, Any],
    name: str,
    rules: Mapping[str, FieldRules],
    fields: Sequence[Inferred],
    known: dict[str, BaseComparator],
) -> Ruled:
    ruled = _overridden(schema, rules, fields, known)
    file = File(name) if File(name).is_file() else None  # where references start
    how: Any = {"allow_plugins": True, "comparators": known}
    plan, before = compile_schema(ruled, name, file, **how), {each.path: each for each in fields}
    after = infer(ruled, name, file, when="never", **how).fields
    asked = [field_path(each.path) in rules for each in after]
    return Ruled(
        plan,
        tuple(
            replace(each, reason="as was asked for") if it else before[each.path]
            for each, it in zip(after, asked, strict=True)
        ),
        plan.model_name,
    )


def inference_for(model: type[BaseModel], infer: Infer = "auto") -> Infer:
    """Return when comparisons of a class are inferred: a `StructuredModel` has its own defaults."""
    if infer != "auto":
        return infer
    return "never" if issubclass(model, StructuredModel) else "always"


def model_schema(
    model: type[BaseModel], known: dict[str, BaseComparator] | None = None
) -> dict[str, Any]:
    """Return the annotated JSON Schema of any model, by the names of its fields.

    Comparators that are instances go into `known`, by the names that the schema has for them;
    without it they are written out.
    """
    if issubclass(model, StructuredModel) and model._source_schema is not None:  # noqa: SLF001
        return model.to_json_schema()
    infers = inference_for(model) == "always"
    schema, names = annotated_schema(model, known, infers=infers), other_names(model)
    return {**schema, OTHER_NAMES: names} if names else schema


def _overridden(
    schema: Mapping[str, Any],
    rules: Mapping[str, FieldRules],
    fields: Sequence[Inferred],
    comparators: dict[str, BaseComparator],
) -> dict[str, Any]:
    """Return a schema with rules for some of its fields, by their paths without list indexes.

    What stands beside a reference goes before what it leads to: so a rule is of one field, whatever
    else has the same definition. Comparators that are instances go into `comparators`.

    Raises:
        UsageError: there is no such field, or no such rule; with all of them.
    """
    annotated, problems = deepcopy(dict(schema)), []
    known = {field_path(field.path): field for field in fields}
    kinds = {field.path: field.kind for field in fields}
    for name, given in rules.items():
        if name not in known:
            hint = did_you_mean(name, known)
            problems.append(Problem("fields", f"there is no field {name}", "a field", hint))
            continue
        for rule in given:
            if rule not in _RULES:
                found, hint = f"{name} has no rule {rule}", did_you_mean(rule, _RULES)
                problems.append(Problem("fields", found, f"one of {', '.join(_RULES)}", hint))
        place = _field_schema(annotated, parse_field_path(name), kinds)
        place |= _annotations(given, known[name], comparators)
    if problems:
        raise UsageError(problems)
    return annotated


def _annotations(
    given: FieldRules, field: Inferred, comparators: dict[str, BaseComparator]
) -> dict[str, object]:
    """Return rules as annotations; a comparator brings its threshold, if it was given one."""
    rules: dict[str, object] = {**given}
    comparator = rules.get("comparator")
    if isinstance(comparator, BaseComparator):
        stated, key = comparator.stated_threshold, f"{comparator.name} #{len(comparators)}"
        comparators[key] = comparator
        rules["comparator"] = key
        rules.setdefault("threshold", field.threshold if stated is None else stated)
    return {annotated(rule): value for rule, value in rules.items() if value is not None}


def _field_schema(schema: dict[str, Any], path: Path, kinds: Mapping[Path, str]) -> dict[str, Any]:
    """Return where the annotations of a field stand, made if nothing is there."""
    place = schema
    for end, step in enumerate(path, 1):
        if step == "*":
            place = _subschema(place, "additionalProperties")
        else:
            place = _subschema(_subschema(place, "properties"), str(step))
        for _ in range(kinds[path[:end]].count("list of ") if end < len(path) else 0):
            place = _subschema(place, "items")
    return place


def _subschema(place: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(place.get(key), dict):
        place[key] = {}  # `true` is the same
    part: dict[str, Any] = place[key]
    return part
