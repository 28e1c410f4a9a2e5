"""Equivalence of two values, as a language model judges it."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np

from stickler_cli.clients.client import Client
from stickler_cli.clients.judge import Judge, Verdict, json_text
from stickler_cli.comparators.base import BaseComparator, checked_text
from stickler_cli.comparators.levenshtein import LevenshteinComparator
from stickler_cli.comparators.model_comparator import Answers, ModelComparator

SAME: Final = Verdict(equivalent=True, reason="the values are the same")
"""Of two values that are written alike: there is nothing to ask."""

NONE: Final = Verdict(equivalent=False, reason="")
"""Of two values in a dry run, which asks nothing."""


class LLMComparator(ModelComparator):
    """Ask a language model whether two values are equivalent: 1.0 or 0.0."""

    pairing: ClassVar[BaseComparator | None] = LevenshteinComparator()

    def __init__(self, model: str, eval_guidelines: str | None = None) -> None:
        """Name the judge and what it should mind.

        Args:
            model: `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, or of Amazon Bedrock.
            eval_guidelines: what makes two values equivalent, in words.

        Raises:
            KeywordError: a keyword of the wrong type.
        """
        super().__init__(threshold=1.0)  # the verdict is 1.0 or 0.0
        self.model = checked_text("model", model)
        self.eval_guidelines = (
            None if eval_guidelines is None else checked_text("eval_guidelines", eval_guidelines)
        )

    @property
    def _model(self) -> Judge:
        return Judge(self.model, self.eval_guidelines)

    def _answers(self, client: Client, gts: Sequence[Any], preds: Sequence[Any]) -> Answers:
        """Return 1.0 of equivalent values, else 0.0; each with the judge's reason."""
        judge = self._model
        questions = [judge.question(gt, pred) for gt, pred in zip(gts, preds, strict=True)]
        known = client.answers(judge, (pair for pair in questions if pair[0] != pair[1]))
        verdicts = [
            SAME if one == other else known.get((one, other), NONE) for one, other in questions
        ]
        return Answers(
            np.array([verdict.equivalent for verdict in verdicts], dtype=np.float64),
            [verdict.reason for verdict in verdicts],
        )

    def get_comparison_details(self, gt: Any, pred: Any) -> dict[str, object]:
        """Return `prompt`, `llm_response`, `model_id` and `comparison_result` of one comparison.

        Raises:
            ModelError: there is no verdict, with the cause.
        """
        judge = self._model
        similarity, reason = self.similarity(gt, pred), self.reason(gt, pred)
        return {
            "prompt": f"{judge.instructions}\n\n{judge.text(judge.question(gt, pred))}",
            "llm_response": json_text({"equivalent": similarity == 1.0, "reason": reason}),
            "model_id": self.model,
            "comparison_result": similarity,
        }
