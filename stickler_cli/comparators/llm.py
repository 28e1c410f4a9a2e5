"""Equivalence of two values, as a language model judges it."""

from collections.abc import Sequence
from statistics import median_low
from typing import Any, ClassVar, Final

from stickler_cli.clients.judge import VOTING_TEMPERATURE, Judge, Pair, Verdict, json_text
from .base import DEFAULT_THRESHOLD, BaseComparator
from .keywords import KeywordError, checked_choice, checked_text
from .levenshtein import LevenshteinComparator
from .model_comparator import ModelComparator

SCALES: Final = ("0-1",)


class LLMComparator(ModelComparator):
    """Ask a language model whether two values are equivalent: 1.0 or 0.0, or a grade."""

    pairing: ClassVar[BaseComparator | None] = LevenshteinComparator()

    def __init__(
        self,
        model: str,
        eval_guidelines: str | None = None,
        scale: str | None = None,
        votes: int = 1,
    ) -> None:
        """Name the judge and its instructions.

        Args:
            model: `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, or of Amazon Bedrock.
            eval_guidelines: what makes two values equivalent, in words.
            scale: `0-1` asks for a grade, which is the similarity.
            votes: how often to ask, an odd number: the majority counts, or the median of grades.
        """
        # A verdict is 1.0 or 0.0.
        super().__init__(threshold=1.0 if scale is None else DEFAULT_THRESHOLD)
        self.model = checked_text("model", model)
        self.eval_guidelines = (
            None if eval_guidelines is None else checked_text("eval_guidelines", eval_guidelines)
        )
        self.scale = None if scale is None else checked_choice("scale", scale, SCALES)
        if type(votes) is not int or votes < 1 or votes % 2 == 0:
            raise KeywordError.of("votes", votes, "an odd whole number of at least 1")
        self.votes = votes

    @property
    def _model(self) -> Judge:
        temperature = VOTING_TEMPERATURE if self.votes > 1 else 0
        return Judge(self.model, self.eval_guidelines, self.scale is not None, temperature)

    def _questions(self, gt: Any, pred: Any) -> Sequence[Pair]:
        judge = self._model
        pair = judge.question(gt, pred)
        if pair.gt == pair.pred:
            return ()
        return [pair._replace(vote=vote) for vote in range(self.votes)]

    def _judged(self, gt: Any, pred: Any, answers: Sequence[Verdict]) -> tuple[float, str]:
        """Return the verdict of most judges, or the median grade, and one judge's reason."""
        if not answers:  # they are written alike
            return 1.0, "the values are the same"
        said = [float(answer.equivalence) for answer in answers]
        middle = median_low(said)  # of verdicts, the majority's
        reason = answers[said.index(middle)].reason
        if len({*said}) == 1:
            return middle, reason
        if self.scale is not None:
            return middle, f"in the middle of {', '.join(f'{each:g}' for each in said)}: {reason}"
        return middle, f"{said.count(middle)} of {self.votes} votes: {reason}"

    def get_comparison_details(self, gt: Any, pred: Any) -> dict[str, object]:
        """Return `prompt`, `llm_response`, `model_id` and `comparison_result` of one comparison.

        Raises:
            ModelError: there is no verdict, with the cause.
        """
        judge = self._model
        answers = self._together(self._own_client(), [gt], [pred])
        similarity, reason = float(answers.similarities[0]), (answers.reasons or [""])[0]
        said = {"equivalent": similarity == 1.0} if self.scale is None else {"score": similarity}
        return {
            "prompt": f"{judge.instructions}\n\n{judge.message(judge.question(gt, pred))}",
            "llm_response": json_text({**said, "reason": reason}),
            "model_id": self.model,
            "comparison_result": similarity,
        }
