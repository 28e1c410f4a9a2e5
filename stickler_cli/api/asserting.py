"""`assert_matches`: a comparison as a test, whose failure says what is wrong where."""

from collections.abc import Mapping

from stickler_cli.comparators.base import meets
from stickler_cli.core.figures import number_of, rate
from .overrides import FieldRules
from .zero import EvalSpec, Schema, Side, evaluate


def assert_matches(
    gt: Side,
    pred: Side,
    schema: Schema | EvalSpec | None = None,
    *,
    min_score: float | None = None,
    fields: Mapping[str, FieldRules] | None = None,
) -> None:
    """Fail unless a prediction is right, or good enough.

    Args:
        gt: as `evaluate` takes it.
        pred: likewise.
        schema: likewise, or what `eval_for` returned.
        min_score: in [0, 1]; what the overall score must reach; None is that nothing is wrong: each
            value is at or above its threshold, nothing is missed or invented.
        fields: as `evaluate` takes it; not with what `eval_for` returned.

    Raises:
        AssertionError: with what `stickler compare --only-errors` prints.
        ValueError: `min_score` is out of range, or there are `fields` beside an `EvalSpec`.
    """
    __tracebackhide__ = True  # pytest shows the test, not this
    if min_score is not None and not 0 <= min_score <= 1:
        raise ValueError(f"min_score is {min_score!r}, expected a number in [0, 1]")
    if not isinstance(schema, EvalSpec):
        result = evaluate(gt, pred, schema=schema, fields=fields)
    elif fields:
        raise ValueError("fields are given beside an EvalSpec; give them to eval_for")
    else:
        result = schema.evaluate(gt, pred)
    if min_score is None and not result.all_fields_matched:
        errors = [error for error in result.non_matches if "inside" not in error]
        found = number_of(len(errors), "error")
    elif min_score is not None and not meets(result.overall_score, min_score):
        found = f"overall score {rate(result.overall_score, {min_score})} is below {min_score:g}"
    else:
        return
    raise AssertionError(f"{found}\n{result.comparison.explain('errors', 100)}")
