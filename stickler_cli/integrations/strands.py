"""Strands: an evaluator that replaces the framework's comparison of structured output."""

from typing import Any

from strands_evals.evaluators import Evaluator
from strands_evals.types import EvaluationData, EvaluationOutput

from stickler_cli.api.scorer import Scorer


class Extraction(Evaluator[Any, Any]):
    """An evaluator that compares the outputs of agents with the expected outputs."""

    def __init__(self, scorer: Scorer, name: str | None = None) -> None:
        """Create an evaluator from a scorer. `name` is the name of the evaluator in reports."""
        super().__init__(name=name)
        self.scorer = scorer

    def evaluate(self, evaluation_case: EvaluationData[Any, Any]) -> list[EvaluationOutput]:
        """Return the score, whether it passes, feedback, and the figure of each field."""
        scored = self.scorer.score(evaluation_case.expected_output, evaluation_case.actual_output)
        details = {"reason": scored.feedback, "metadata": {"fields": scored.fields}}
        return [EvaluationOutput(score=scored.score, test_pass=scored.passed, **details)]
