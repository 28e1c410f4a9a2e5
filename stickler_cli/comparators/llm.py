"""Equivalence of two values, as a language model judges it."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np

from stickler_cli.clients.desk import desk
from stickler_cli.clients.judge import Judge, Verdict, json_text, judge
from stickler_cli.clients.rounds import answers
from stickler_cli.comparators.base import BaseComparator, Matrix, checked_text
from stickler_cli.comparators.levenshtein import LevenshteinComparator

SAME: Final = Verdict(equivalent=True, reason="the values are the same")
"""Of two values that are written alike: there is nothing to ask."""


class LLMComparator(BaseComparator):
    """Ask a language model whether two values are equivalent: 1.0 or 0.0."""

    asks_models: ClassVar[bool] = True
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
    def _backend(self) -> Judge:
        return judge(self.model, self.eval_guidelines)

    def require(self) -> None:
        """Raise where the model cannot be asked from here.

        Raises:
            UnavailableError: a library or a setting is missing.
        """
        if desk().policy.may_ask:
            self._backend.require()

    def similarity(self, gt: Any, pred: Any) -> float:
        """Judge two values: 1.0 where they are equivalent, else 0.0.

        Raises:
            ModelError: there is no verdict, with the cause.
        """
        return float(self._verdict(gt, pred).equivalent)

    def reason(self, gt: Any, pred: Any) -> str:
        """Give the judge's reason.

        Raises:
            ModelError: there is no verdict, with the cause.
        """
        return self._verdict(gt, pred).reason

    def matrix(self, gts: Sequence[Any], preds: Sequence[Any]) -> Matrix:
        """Judge all with all; each distinct pair that is not written alike costs a call.

        Raises:
            ModelError: there is no verdict on one of them, with the cause.
        """
        pairs = [(gt, pred) for gt in gts for pred in preds]
        verdicts = self._verdicts(pairs)
        equivalent = np.array([verdict.equivalent for verdict in verdicts], dtype=np.float64)
        return equivalent.reshape(len(gts), len(preds))

    def get_comparison_details(self, gt: Any, pred: Any) -> dict[str, object]:
        """Give `prompt`, `llm_response`, `model_id` and `comparison_result` of one comparison.

        Raises:
            ModelError: there is no verdict, with the cause.
        """
        backend = self._backend
        verdict = self._verdict(gt, pred)
        message = backend.message(backend.question(gt, pred))
        return {
            "prompt": f"{backend.instructions}\n\n{message}",
            "llm_response": json_text({"equivalent": verdict.equivalent, "reason": verdict.reason}),
            "model_id": self.model,
            "comparison_result": float(verdict.equivalent),
        }

    def _verdict(self, gt: Any, pred: Any) -> Verdict:
        return self._verdicts([(gt, pred)])[0]

    def _verdicts(self, pairs: Sequence[tuple[Any, Any]]) -> list[Verdict]:
        backend = self._backend
        questions = [backend.question(gt, pred) for gt, pred in pairs]
        unlike = [question for question in questions if question[0] != question[1]]
        known = dict(zip(unlike, answers(backend, unlike), strict=True))
        return [known.get(question, SAME) for question in questions]
