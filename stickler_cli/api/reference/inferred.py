"""The functions `evaluate` and `eval_for`, with the options that they have in stickler-eval."""

from typing import Any, Final

from pydantic import BaseModel

from stickler_cli.api.eval_result import EvalResult
from stickler_cli.api.inferring import check_weight_hints, infer_class
from stickler_cli.api.ruled import AnySchema, FieldRules, model_schema
from stickler_cli.api.scorer import DocumentLike, Scorer
from stickler_cli.api.zero import eval_for as scorer_of
from stickler_cli.api.zero import evaluate as evaluate_pair
from stickler_cli.comparators.base import BaseComparator
from stickler_cli.core.json_values import describe_python_type
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.schema.annotations import annotated

_MATCH_THRESHOLD: Final = annotated("match_threshold")


def evaluate(
    gt: DocumentLike,
    pred: DocumentLike,
    *,
    weight_hints: bool = False,
    match_threshold: float | None = None,
    **options: Any,
) -> EvalResult:
    """Compare a prediction with the ground truth, as `stickler_cli.evaluate` does.

    Args:
        gt: an instance of any pydantic model, or JSON values.
        pred: an instance of any pydantic model, even of another class, or JSON values.
        weight_hints: must be False, because weights are not inferred from names.
        match_threshold: in [0, 1]; the score at which the result counts as `matched`. If the class
            of list items states no threshold, these items also match at this score. If `gt` is
            not an instance, `match_threshold` must be None.
        options: other keywords of `stickler_cli.evaluate`.

    Raises:
        UsageError: `weight_hints` is set; or `match_threshold` is given, but `gt` is not an
            instance.
    """
    if match_threshold is None:
        check_weight_hints(weight_hints)
        return evaluate_pair(gt, pred, **options)
    if not isinstance(gt, BaseModel):
        finding = (
            f"gt is {describe_python_type(gt)}, but match_threshold needs an instance of a "
            "pydantic model"
        )
        raise UsageError([Problem("", finding)])
    scorer = eval_for(
        type(gt), weight_hints=weight_hints, match_threshold=match_threshold, **options
    )
    return scorer.evaluate(gt, pred)


def eval_for(
    schema: AnySchema,
    fields: dict[str, FieldRules] | None = None,
    *,
    weight_hints: bool = False,
    match_threshold: float | None = None,
) -> Scorer:
    """Return a scorer that compares documents as `evaluate` does. It can be used many times.

    Raises:
        UsageError: `schema` is not a class, but `match_threshold` is given. Or `weight_hints` is
            set, which is not supported.
    """
    check_weight_hints(weight_hints)
    if match_threshold is None:
        return scorer_of(schema, fields)
    if not isinstance(schema, type):
        finding = f"match_threshold is {match_threshold:g}, but the schema is not a pydantic class"
        hint = f"instead of this argument, set {_MATCH_THRESHOLD} in the schema"
        raise UsageError([Problem("", finding, hint=hint)])
    comparators: dict[str, BaseComparator] = {}
    contents = model_schema(schema, comparators)
    inferred = infer_class(schema, contents, match_threshold, comparators)
    return Scorer(inferred, fields=fields)
