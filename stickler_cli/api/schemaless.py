"""Choose a schema for documents that come without one: a pydantic class, or an inferred schema."""

import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from stickler_cli.compare.engine import rename_keys
from stickler_cli.compare.plan import Plan
from stickler_cli.core.figures import number_of
from stickler_cli.core.json_values import JsonDocument
from stickler_cli.core.problems import ComparisonError, Problem, SchemaError, UsageError
from stickler_cli.schema.inference.observation import Observed
from stickler_cli.schema.loading import load_observed
from .eval_result import compared
from .ruled import ruled
from .scorer import bare_truths


def schema_of(
    sides: Iterable[tuple[object, object]], truths: Sequence[JsonDocument]
) -> Plan | type[BaseModel]:
    """Choose a schema for documents that come without one.

    It is the class of the ground truths, or else the class of the predictions, or else an inferred
    plan. The class of the predictions is used only if it declares all keys of the ground truths,
    because undeclared keys would not be compared. A plan is inferred from the values of the ground
    truths.

    Args:
        sides: (ground truth, prediction) of each pair that has a ground truth, as the caller gave
            them.
        truths: the JSON values of these ground truths.

    Raises:
        UsageError: there is no ground truth.
        SchemaError: the ground truths have no field.
    """
    if not truths:
        finding = "no schema is given, and there is no ground truth to infer one from"
        raise UsageError([Problem("argument 'schema'", finding, "a schema")])
    pairs = [*sides]
    if model := _shared_class(gt for gt, _ in pairs):
        return model
    model, plan = _shared_class(pred for _, pred in pairs if pred is not None), None
    if model is not None and all(isinstance(gt, dict) for gt, _ in pairs):
        with suppress(SchemaError, ComparisonError):  # a class without fields, for example
            plan = ruled(model, {}).plan
            bare, _ = bare_truths(truths, plan.root)
            counts = compared(plan, bare, bare).counts
            if counts is None or not counts.undeclared:
                return model
    return _plan_shown_by(truths, plan.renames if plan else None)


def _shared_class(instances: Iterable[object]) -> type[BaseModel] | None:
    """Return the pydantic class that all instances have.

    None if their classes differ, or if they are not pydantic models.
    """
    classes = {type(instance) for instance in instances}
    (model, *other_classes) = classes or {type(None)}
    return model if not other_classes and issubclass(model, BaseModel) else None


def _plan_shown_by(truths: Sequence[JsonDocument], renames: Any) -> Plan:
    """Infer a plan from ground truths, and warn the caller that it was inferred.

    `renames` are other names that the fields may have in ground truths.
    """
    seen = Observed()
    for truth in truths:
        seen.add(rename_keys(truth, renames or {}))
    count = number_of(len(truths), "ground truth")
    warnings.warn(f"no schema given: inferred one from {count}", stacklevel=5)
    return replace(load_observed(seen, count).plan, renames=renames)
