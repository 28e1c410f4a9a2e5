"""MLflow: a scorer for `mlflow.genai.evaluate`, with a `Feedback` for each field."""

from typing import Any

from mlflow.entities import AssessmentSource, Feedback
from mlflow.genai.scorers import scorer as as_scorer

from stickler_cli.api.scorer import Scorer


def extraction(scorer: Scorer, expected: str = "expected_response") -> Any:
    """Return an MLflow scorer. `expected` is the name of the expectation with the ground truth."""
    source = AssessmentSource("CODE", "stickler")

    def stickler(*, outputs: Any, expectations: Any) -> list[Feedback]:
        scored = scorer.score(expectations[expected], outputs)
        totals = {"score": scored.score, "passed": scored.passed}
        return [
            Feedback(name=name, value=value, source=source, rationale=scored.feedback)
            for name, value in totals.items()
        ] + [
            Feedback(name=name, value=value, source=source) for name, value in scored.fields.items()
        ]

    return as_scorer(stickler)
