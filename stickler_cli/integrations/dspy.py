"""DSPy: one metric for `Evaluate`, MIPROv2 and GEPA."""

from typing import Any

import dspy

from stickler_cli.api.scorer import Scorer


def metric(scorer: Scorer, field: str, expected: str = "") -> Any:
    """Return a DSPy metric for an output field.

    `field` is the name of the output field. Each example has the ground truth in its field
    `expected`. If `expected` is empty, the example has the ground truth in its field `field`. The
    metric returns a score in [0, 1], with feedback. The figure of each field is added as an
    objective for GEPA. When DSPy bootstraps examples, the metric only returns whether the score
    passes.
    """

    def judge(
        gold: Any, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
    ) -> Any:
        scored = scorer.score(gold[expected or field], pred.get(field))
        if trace is not None and pred_name is None:
            return scored.passed
        details = {"feedback": scored.feedback, "objective_scores": scored.fields}
        return dspy.Prediction(score=scored.score, **details)

    return judge
