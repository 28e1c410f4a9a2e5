"""pydantic-evals: an evaluator with a score for each field."""

from dataclasses import dataclass
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from stickler_cli.api.scorer import scorer_for


@dataclass
class Extraction(Evaluator[Any, Any, Any]):
    """An evaluator that compares outputs with expected outputs, which are the ground truth.

    `schema` is the path of the schema file. `of` names the figure that is used as the score.
    """

    schema: str
    of: str = "f1"

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, Any]:
        """Return a dict with the keys `score` and `passed`, and a key for the path of each field.

        The class `Scored` describes the values: see its attributes `score`, `passed` and `fields`.
        """
        scored = scorer_for(self.schema, self.of).score(ctx.expected_output, ctx.output)
        score = EvaluationReason(scored.score, scored.feedback)
        return {"score": score, "passed": scored.passed, **scored.fields}
