"""Inference with the options of stickler-eval: `evaluate`, `eval_for` and `from_pydantic`."""

from typing import Any, Final

from pydantic import BaseModel

from stickler_cli.api.eval_result import EvalResult
from stickler_cli.api.ruled import FieldRules, Schema, model_schema
from stickler_cli.api.scorer import Scorer, Side
from stickler_cli.api.structured import StructuredModel
from stickler_cli.api.zero import eval_for as scorer_of
from stickler_cli.api.zero import evaluate as evaluate_pair
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.compare.engine import OTHER_NAMES
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.schema.annotations import annotated
from stickler_cli.schema.loading import LoadedSchema, loaded

_MATCH_THRESHOLD: Final = annotated("match_threshold")
_MODEL_NAME: Final = annotated("model_name")


def evaluate(
    gt: Side,
    pred: Side,
    *,
    weight_hints: bool = False,
    match_threshold: float | None = None,
    **options: Any,
) -> EvalResult:
    """Compare a prediction with the ground truth, as `stickler_cli.evaluate` does.

    Args:
        gt: an instance of any pydantic model, or JSON values.
        pred: an instance of the same class, or of another one, or JSON values.
        weight_hints: False; names say nothing about weights here.
        match_threshold: in [0, 1]; the score at which the document matches (`matched`), and list
            items of a class that states no threshold itself. It takes a ground truth of a class.
        options: other keywords of `stickler_cli.evaluate`.

    Raises:
        UsageError: `weight_hints` is set, or `match_threshold` with a ground truth of no class.
    """
    if match_threshold is None:
        _check_weight_hints(weight_hints)
        return evaluate_pair(gt, pred, **options)
    if not isinstance(gt, BaseModel):
        found, expected = f"gt is of type {type(gt).__name__}", "an instance of a pydantic model"
        raise UsageError([Problem("match_threshold", found, expected)])
    scorer = eval_for(
        type(gt), weight_hints=weight_hints, match_threshold=match_threshold, **options
    )
    return scorer.evaluate(gt, pred)


def eval_for(
    schema: Schema,
    fields: dict[str, FieldRules] | None = None,
    *,
    weight_hints: bool = False,
    match_threshold: float | None = None,
) -> Scorer:
    """Return how `evaluate` compares instances of a class, to be used for many of them.

    Raises:
        UsageError: `weight_hints` is set, or `match_threshold` with a schema that is no class.
    """
    _check_weight_hints(weight_hints)
    if match_threshold is None:
        return scorer_of(schema, fields)
    if not isinstance(schema, type):
        found = f"it is {match_threshold:g} with a schema that is no class"
        expected = f"{_MATCH_THRESHOLD} in the schema"
        raise UsageError([Problem("match_threshold", found, expected)])
    comparators: dict[str, BaseComparator] = {}
    inferred = _inferred(schema, match_threshold, comparators)
    return Scorer(inferred, fields=fields)


def inferred_class(
    model: type[BaseModel],
    base: type[StructuredModel],
    *,
    weight_hints: bool,
    match_threshold: float,
) -> type[StructuredModel]:
    """Return a subclass of `base` with the fields of any pydantic class, compared as inferred.

    Raises:
        UsageError: `weight_hints` is set.
        SchemaError: a field cannot be compared.
    """
    _check_weight_hints(weight_hints)
    contents = dict(_inferred(model, match_threshold, None).contents)
    contents.pop(OTHER_NAMES, None)  # instances are made by the names of the fields
    if contents.get("type") != "array":  # which has no class, as `from_json_schema` says
        contents[_MODEL_NAME] = model.__name__
    return base.from_json_schema(contents, allow_plugins=True)


def _check_weight_hints(weight_hints: bool) -> None:
    if weight_hints:
        hint = 'give fields={"total": {"weight": 2.0}}, or x-aws-stickler-weight in a schema'
        found = "it is True, and weights are not inferred from names"
        raise UsageError([Problem("weight_hints", found, "False", hint)])


def _inferred(
    model: type[BaseModel], match_threshold: float, comparators: dict[str, BaseComparator] | None
) -> LoadedSchema:
    """Return the schema of a class with a match-threshold, and comparators where it states none.

    Comparators of the class go into `comparators`; None writes them out in the schema.
    """
    schema = model_schema(model, comparators)
    is_configured = issubclass(model, StructuredModel)
    places = [schema, *(() if is_configured else schema.get("$defs", {}).values())]
    for place in places:
        if is_configured or "properties" in place:
            place[_MATCH_THRESHOLD] = match_threshold
    return loaded(
        schema,
        model.__name__,
        when="always" if model.model_fields else "never",
        allow_plugins=True,
        comparators=comparators,
    )
