"""Equivalence of two values, as a language model judges it."""

from collections.abc import Sequence
from typing import Any, ClassVar

from stickler_cli.clients.judge import Judge, Pair, Verdict, json_text
from .base import BaseComparator
from .keywords import checked_text
from .levenshtein import LevenshteinComparator
from .model_comparator import ModelComparator


class LLMComparator(ModelComparator):
    """Ask a language model whether two values are equivalent: 1.0 or 0.0."""

    pairing: ClassVar[BaseComparator | None] = LevenshteinComparator()

    def __init__(self, model: str, eval_guidelines: str | None = None) -> None:
        """Name the judge and what it should mind.

        Args:
            model: `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, or of Amazon Bedrock.
            eval_guidelines: what makes two values equivalent, in words.
        """
        super().__init__(threshold=1.0)  # the verdict is 1.0 or 0.0
        self.model = checked_text("model", model)
        self.eval_guidelines = (
            None if eval_guidelines is None else checked_text("eval_guidelines", eval_guidelines)
        )

    @property
    def _model(self) -> Judge:
        return Judge(self.model, self.eval_guidelines)

    def _questions(self, gt: Any, pred: Any) -> Sequence[Pair]:
        question = self._model.question(gt, pred)
        return () if question[0] == question[1] else (question,)

    def _judged(self, gt: Any, pred: Any, answers: Sequence[Verdict]) -> tuple[float, str]:
        """Return 1.0 of equivalent values, else 0.0; and the judge's reason."""
        if not answers:  # they are written alike
            return 1.0, "the values are the same"
        return float(answers[0].equivalent), answers[0].reason

    def get_comparison_details(self, gt: Any, pred: Any) -> dict[str, object]:
        """Return `prompt`, `llm_response`, `model_id` and `comparison_result` of one comparison.

        Raises:
            ModelError: there is no verdict, with the cause.
        """
        judge = self._model
        answers = self._together(self._own_client(), [gt], [pred])
        similarity, reason = float(answers.similarities[0]), (answers.reasons or [""])[0]
        return {
            "prompt": f"{judge.instructions}\n\n{judge.text(judge.question(gt, pred))}",
            "llm_response": json_text({"equivalent": similarity == 1.0, "reason": reason}),
            "model_id": self.model,
            "comparison_result": similarity,
        }
