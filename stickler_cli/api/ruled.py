"""Compile a schema given in any form, with additional rules of the caller for single fields."""

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
    """Return the names and aliases of all fields of a class and of the classes inside it.

    A document may use any name or alias of a field as the key of its value.

    The result has an entry for each class. The entry of `model` has the key `DOCUMENT_PART`. The
    entry of any other class has a key such as `module.Class`.

    An entry is a dict from each name or alias of a field to a pair: the name of the field, and a
    list of the classes in the type of the field. The list names each class by the key of its entry.

    An alias that is a path into a value is written as a JSON Pointer. If no field has an alias, the
    result is empty.
    """
    names_by_part: dict[str, dict[str, tuple[str, list[str]]]] = {}
    part_by_model: dict[type[BaseModel], str] = {model: DOCUMENT_PART}
    waiting, renames = [model], False
    while waiting:
        outer_model = waiting.pop()
        fields = names_by_part[part_by_model[outer_model]] = {}
        for name, field_info in outer_model.model_fields.items():
            inner_models = [*_models_in(field_info.annotation)]
            for inner_model in inner_models:
                if inner_model not in part_by_model:
                    part_by_model[inner_model] = (
                        f"{inner_model.__module__}.{inner_model.__qualname__}"
                    )
                    waiting.append(inner_model)
            for key in {name: None, **dict.fromkeys(_aliases(field_info))}:
                renames |= key != name
                fields[key] = name, [part_by_model[inner_model] for inner_model in inner_models]
    return names_by_part if renames else {}


def _aliases(field_info: FieldInfo) -> Iterator[str]:
    for alias in (field_info.alias, field_info.validation_alias, field_info.serialization_alias):
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        for choice in choices:
            path = choice.path if isinstance(choice, AliasPath) else [choice or ""]
            if len(path) > 1:
                yield json_pointer((*path,))
            elif path[0]:
                yield str(path[0])


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


AnySchema: TypeAlias = type[BaseModel] | Mapping[str, Any] | str | os.PathLike[str]
"""A pydantic class, a JSON Schema, or the file of a JSON Schema."""


class FieldRules(TypedDict, total=False):
    """Rules for the comparison of one field. The keys are arguments of `ComparableField`.

    A key that is missing leaves the rule of the schema as it is.
    """

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


ADVICE: Final = (
    "evaluate(gt, pred) compares two documents; Scorer(schema).score(gt, pred) compares many"
)


class Ruled(NamedTuple):
    """A compiled schema, and how each of its fields is compared."""

    plan: Plan
    """The compiled plan."""
    inferred: tuple[Inferred, ...]
    """How each field is compared, and why."""
    name: str
    """Name for the kind of documents, such as the title of the schema (see `LoadedSchema.name`)."""


def _check(schema: object) -> None:
    """Raise TypeError if the argument for a schema is something else, such as a document.

    The message says which functions compare documents.
    """
    is_model = isinstance(schema, type) and issubclass(schema, BaseModel)
    if not is_model and not isinstance(schema, str | os.PathLike | Mapping | LoadedSchema):
        given_schema = f"the class {schema.__name__}" if isinstance(schema, type) else repr(schema)
        expected = "a pydantic class, a JSON Schema, or the path of a schema file"
        raise TypeError(f"schema is {truncate(given_schema, 80)}, expected {expected}; {ADVICE}")


def ruled(
    schema: AnySchema | LoadedSchema, rules: Mapping[str, FieldRules], seen: Observed | None = None
) -> Ruled:
    """Compile a schema with rules for single fields.

    `seen` has statistics of the values in ground truths. Inference uses them.

    Raises:
        TypeError: `schema` is not a schema.
        SchemaError: the schema cannot be used, or does not describe objects.
        UsageError: `rules` names a field or rule that does not exist.
    """
    _check(schema)
    comparators: dict[str, BaseComparator] = {}
    look: Any = None if seen is None else lambda: seen
    if isinstance(schema, LoadedSchema):
        parsed = schema
    elif isinstance(schema, Mapping):
        parsed = loaded(dict(schema), "the schema", when="auto", look=look)
    elif isinstance(schema, type):
        # A class is code of the caller already, so comparators that it names by location are
        # trusted.
        loading_options: Any = {"allow_plugins": True, "comparators": comparators, "look": look}
        # A schema without annotations may be inferred.
        when = inference_for(schema) if schema.model_fields else "never"
        parsed = loaded(
            model_schema(schema, comparators), schema.__name__, when=when, **loading_options
        )
    else:
        parsed = load_schema(os.fspath(schema), when="auto", look=look)
    if rules and isinstance(parsed.contents, dict):
        return _with_rules(
            parsed.contents, parsed.path, rules, parsed.fields, comparators
        )._replace(name=parsed.name)
    return Ruled(parsed.plan, parsed.fields, parsed.name)


def _with_rules(
    schema: dict[str, Any],
    name: str,
    rules: Mapping[str, FieldRules],
    fields: Sequence[Inferred],
    comparators: dict[str, BaseComparator],
) -> Ruled:
    """Compile a schema with rules for single fields.

    `fields` says how each field would be compared without the rules.
    """
    ruled = _overridden(schema, rules, fields, comparators)
    file = File(name) if File(name).is_file() else None  # location from which references start
    compile_options: Any = {"allow_plugins": True, "comparators": comparators}
    plan = compile_schema(ruled, name, file, **compile_options)
    fields_before = {field.path: field for field in fields}
    fields_with_rules = []
    for field in infer(ruled, name, file, when="never", **compile_options).fields:
        has_rules = field_path(field.path) in rules
        fields_with_rules.append(
            replace(field, reason="as requested") if has_rules else fields_before[field.path]
        )
    return Ruled(plan, tuple(fields_with_rules), plan.model_name)


def inference_for(model: type[BaseModel], infer: Infer = "auto") -> Infer:
    """Return the inference setting of a class; `infer` is the setting that the user chose.

    The setting decides when comparators are inferred. `auto` becomes `never` for a
    `StructuredModel`, because its fields have defaults of their own. For any other class, `auto`
    becomes `always`. The other settings are returned unchanged.
    """
    if infer != "auto":
        return infer
    return "never" if issubclass(model, StructuredModel) else "always"


def model_schema(
    model: type[BaseModel], comparators: dict[str, BaseComparator] | None = None
) -> dict[str, Any]:
    """Return the annotated JSON Schema of any model.

    Its keys are the names of the fields, not aliases.

    Comparator objects are added to `comparators`, under the keys that stand for them in the schema.
    If `comparators` is None, the schema has the class and the arguments of each comparator instead.
    """
    if issubclass(model, StructuredModel) and model._source_schema is not None:  # noqa: SLF001
        return model.to_json_schema()
    infers = inference_for(model) == "always"
    schema, names = annotated_schema(model, comparators, infers=infers), other_names(model)
    return {**schema, OTHER_NAMES: names} if names else schema


def _overridden(
    schema: Mapping[str, Any],
    rules: Mapping[str, FieldRules],
    fields: Sequence[Inferred],
    comparators: dict[str, BaseComparator],
) -> dict[str, Any]:
    """Return a copy of a schema with rules added for some fields.

    The keys of `rules` are field paths without list indexes. If several fields share a definition,
    a rule for one of these fields must not affect the others. The rule is therefore not written
    into the definition, but beside the field's own `$ref` to the definition. Comparator objects are
    added to `comparators`.

    Raises:
        UsageError: some fields or rules do not exist; the error lists all of them.
    """
    annotated, problems = deepcopy(dict(schema)), []
    fields_by_path = {field_path(field.path): field for field in fields}
    kinds = {field.path: field.kind for field in fields}
    for name, field_rules in rules.items():
        if name not in fields_by_path:
            hint = did_you_mean(name, fields_by_path)
            problems.append(
                Problem(
                    source="argument 'fields'",
                    found=f"there is no field {name!r}",
                    expected="a field",
                    hint=hint,
                )
            )
            continue
        for rule in field_rules:
            if rule not in _RULES:
                finding, hint = (
                    f"the field {name!r} has no rule {rule!r}",
                    did_you_mean(rule, _RULES),
                )
                problems.append(
                    Problem(
                        source="argument 'fields'",
                        found=finding,
                        expected=f"one of {', '.join(_RULES)}",
                        hint=hint,
                    )
                )
        place = _field_schema(annotated, parse_field_path(name), kinds)
        place |= _annotations(field_rules, fields_by_path[name], comparators)
    if problems:
        raise UsageError(problems)
    return annotated


def _annotations(
    field_rules: FieldRules, field: Inferred, comparators: dict[str, BaseComparator]
) -> dict[str, object]:
    """Return the rules of a field as annotations of a schema.

    If the rules have a comparator object but no threshold, a threshold is added. It is the
    threshold that was given to the comparator object. If none was given, it is the threshold that
    the field has without the rules.

    A comparator object is added to `comparators`, and the annotation is its key there.
    """
    rules: dict[str, object] = {**field_rules}
    comparator = rules.get("comparator")
    if isinstance(comparator, BaseComparator):
        stated, key = comparator.stated_threshold, f"{comparator.name} #{len(comparators)}"
        comparators[key] = comparator
        rules["comparator"] = key
        rules.setdefault("threshold", field.threshold if stated is None else stated)
    return {annotated(rule): value for rule, value in rules.items() if value is not None}


def _field_schema(schema: dict[str, Any], path: Path, kinds: Mapping[Path, str]) -> dict[str, Any]:
    """Return the subschema to which annotations of a field belong.

    Create it if it does not exist.
    """
    subschema = schema
    for n_steps, step in enumerate(path, 1):
        if step == "*":
            subschema = _subschema(subschema, "additionalProperties")
        else:
            subschema = _subschema(_subschema(subschema, "properties"), str(step))
        if n_steps < len(path):
            # A kind is a phrase such as "list of list of object": go down to the objects.
            for _ in range(kinds[path[:n_steps]].count("list of ")):
                subschema = _subschema(subschema, "items")
    return subschema


def _subschema(parent: dict[str, Any], key: str) -> dict[str, Any]:
    if not isinstance(parent.get(key), dict):
        parent[key] = {}  # `true` means the same
    subschema: dict[str, Any] = parent[key]
    return subschema
