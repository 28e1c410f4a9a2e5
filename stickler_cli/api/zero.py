"""`evaluate`: compare instances of any pydantic model, or JSON values, without setting anything up.

How each field is compared is inferred from types and names; `eval_for` does that once for many.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.engine import compare
from stickler_cli.compare.plan import Plan
from stickler_cli.core.json_values import JsonDocument, kind_of
from stickler_cli.core.locations import field_path
from stickler_cli.core.values import dataclass
from stickler_cli.schema.compiler import compile_schema
from stickler_cli.schema.inference import Inferred, infer
from stickler_cli.schema.inference.observation import Observed
from stickler_cli.schema.loading import LoadedSchema, load_observed, load_schema, loaded
from .comparable import values_of
from .eval_result import Compared, EvalResult, choices_table
from .fields import annotated_schema
from .overrides import FieldRules, overridden
from .structured import StructuredModel

Schema: TypeAlias = type[BaseModel] | Mapping[str, Any] | str | os.PathLike[str]
"""A pydantic class, a JSON Schema, or the file of one."""

Side: TypeAlias = BaseModel | Mapping[str, Any] | list[Any]
"""A document: an instance, or its JSON values; a list where the schema is one of arrays."""


@dataclass(frozen=True, slots=True)
class EvalSpec:
    """How documents are compared: compiled once, for as many pairs as there are."""

    plan: Plan
    """What is run."""
    inferred: tuple[Inferred, ...]
    """How each field is compared, and why."""

    def evaluate(self, gt: Side, pred: Side) -> EvalResult:
        """Compare a prediction with the ground truth.

        Either is an instance, of whatever class, or a dict with the names of the fields as keys.

        Raises:
            TypeError: either side is something else.
            ComparisonError: a comparator failed on a pair of values.
        """
        (found,) = self.evaluate_batch([(gt, pred)])
        return found

    def evaluate_batch(self, pairs: Iterable[tuple[Side, Side]]) -> list[EvalResult]:
        """Compare predictions with their ground truths, all at once, which takes less.

        Args:
            pairs: of a ground truth and its prediction, as `evaluate` takes them.

        Raises:
            TypeError: a side is something else.
            ComparisonError: a comparator failed on a pair of values.
        """
        values = [(self._values(gt, "gt"), self._values(pred, "pred")) for gt, pred in pairs]
        if not values:
            return []
        gts, preds = zip(*values, strict=True)
        found = Compared(compare(self.plan, gts, preds))
        return [EvalResult(found, at, self.plan, self.inferred) for at in range(len(values))]

    def explain(self) -> str:
        """Return how each field is compared and why, as a table."""
        return choices_table(self.inferred)

    def _values(self, side: object, name: str) -> JsonDocument:
        values: Any = side
        if isinstance(side, BaseModel):
            values = values_of(side)
        elif isinstance(side, Mapping | list):
            plain = side if isinstance(side, list) else dict(side)
            values = to_jsonable_python(plain, by_alias=False, fallback=str)
        if kind_of(values) != self.plan.kind:
            expected, empty = ("dict", "{}") if self.plan.kind == "object" else ("list", "[]")
            raise TypeError(
                f"{name} is of type {type(side).__name__}; give an instance of a pydantic model or "
                f"a {expected}, which is {empty} where there is no document"
            )
        document: JsonDocument = values
        return document


def evaluate(
    gt: Side,
    pred: Side,
    *,
    schema: Schema | None = None,
    fields: Mapping[str, FieldRules] | None = None,
) -> EvalResult:
    """Compare a prediction with the ground truth.

    Args:
        gt: an instance of any pydantic model, or JSON values.
        pred: an instance of the same class, or of another one, or JSON values.
        schema: what says what the fields are: a pydantic class, a JSON Schema or the file of one;
            None is the class of the ground truth, or the schema that its values show.
        fields: rules for single fields, by their paths without list indexes, which go before what
            is inferred: `{"lines.sku": {"weight": 3.0, "comparator": ExactComparator()}}`.

    Raises:
        TypeError: either side is something else.
        SchemaError: the schema cannot be used, or stands for no object.
        UsageError: there is no field, or rule, of a name in `fields`.
        ComparisonError: a comparator failed on a pair of values.
    """
    rules = fields or {}
    if schema is None and isinstance(gt, BaseModel):
        schema = type(gt)
    spec = _spec_of(_shown_by(gt), rules) if schema is None else eval_for(schema, rules)
    return spec.evaluate(gt, pred)


def eval_for(schema: Schema, fields: Mapping[str, FieldRules] | None = None) -> EvalSpec:
    """Return how `evaluate` compares documents of a schema, to be used for many of them.

    Raises:
        SchemaError: the schema cannot be used, or stands for no object.
        UsageError: there is no field, or rule, of a name in `fields`.
    """
    rules = fields or {}
    if isinstance(schema, Mapping):
        return _spec_of(loaded(dict(schema), "the schema", when="auto"), rules)
    if not isinstance(schema, type):
        return _spec_of(load_schema(os.fspath(schema), when="auto"), rules)
    if rules:
        return _spec_of_class(schema, rules)
    if schema not in _specs:
        _specs[schema] = _spec_of_class(schema, rules)
    return _specs[schema]


_specs: Final[WeakKeyDictionary[type[BaseModel], EvalSpec]] = WeakKeyDictionary()


def _shown_by(gt: object) -> LoadedSchema:
    """Return the schema that JSON values show."""
    if isinstance(gt, type) and issubclass(gt, BaseModel):
        raise TypeError(f"gt is the class {gt.__name__} itself; give an instance of it")
    if not isinstance(gt, Mapping | list):
        raise TypeError(
            f"gt is of type {type(gt).__name__}; give an instance of a pydantic model, or a dict"
        )
    seen = Observed()
    seen.add(to_jsonable_python(gt, by_alias=False, fallback=str))
    return load_observed(seen, "gt")


def _spec_of(schema: LoadedSchema, rules: Mapping[str, FieldRules]) -> EvalSpec:
    if rules and isinstance(schema.contents, dict):
        return _with_rules(schema.contents, schema.path, rules, schema.fields, {})
    return EvalSpec(schema.plan, schema.fields)


def _spec_of_class(model: type[BaseModel], rules: Mapping[str, FieldRules]) -> EvalSpec:
    known: dict[str, BaseComparator] = {}
    # A class is code already: a comparator that it names by its place is no less trusted.
    name = model.__name__
    how: Any = {"allow_plugins": True, "comparators": known}
    found = infer(model_schema(model, known), name, **how)
    if rules:
        return _with_rules(found.schema, name, rules, found.fields, known)
    plan = compile_schema(found.schema, name, inferred=found.annotations, **how)
    return EvalSpec(plan, found.fields)


def _with_rules(
    schema: dict[str, Any],
    name: str,
    rules: Mapping[str, FieldRules],
    fields: Sequence[Inferred],
    known: dict[str, BaseComparator],
) -> EvalSpec:
    ruled = overridden(schema, rules, fields, known)
    file = File(name) if File(name).is_file() else None  # where references start
    how: Any = {"allow_plugins": True, "comparators": known}
    plan, before = compile_schema(ruled, name, file, **how), {each.path: each for each in fields}
    after = infer(ruled, name, file, when="never", **how).fields
    asked = [field_path(each.path) in rules for each in after]
    return EvalSpec(
        plan,
        tuple(
            replace(each, reason="as was asked for") if it else before[each.path]
            for each, it in zip(after, asked, strict=True)
        ),
    )


def model_schema(
    model: type[BaseModel], known: dict[str, BaseComparator] | None = None
) -> dict[str, Any]:
    """Return the annotated JSON Schema of any model, by the names of its fields.

    Comparators that are instances go into `known`, by the names that the schema has for them;
    without it they are written out.
    """
    if issubclass(model, StructuredModel) and model._source_schema is not None:  # noqa: SLF001
        return model.to_json_schema()
    return annotated_schema(model, known)
