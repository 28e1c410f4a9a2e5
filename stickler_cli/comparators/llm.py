"""Equivalence of two values, as a language model judges it."""

from stickler_cli.comparators.base import BaseComparator, checked_text
from stickler_cli.errors import Problem, UnavailableError


class LLMComparator(BaseComparator):
    """Ask a language model whether two values are equivalent; this version has no backend."""

    def __init__(self, model: str, eval_guidelines: str | None = None) -> None:
        """Name the judge and what it should mind.

        Args:
            model: the name of the model.
            eval_guidelines: what makes two values equivalent, in words.

        Raises:
            KeywordError: a keyword of the wrong type.
        """
        super().__init__(threshold=1.0)  # the verdict is 1.0 or 0.0
        self.model = checked_text("model", model)
        self.eval_guidelines = (
            None if eval_guidelines is None else checked_text("eval_guidelines", eval_guidelines)
        )

    def require(self) -> None:
        """Raise, always.

        Raises:
            UnavailableError: this version cannot ask a model.
        """
        raise _unavailable()

    def similarity(self, gt: object, pred: object) -> float:
        """Raise, as `require` does: anything in its stead would be a verdict nobody gave.

        Raises:
            UnavailableError: this version cannot ask a model.
        """
        raise _unavailable()

    def get_comparison_details(self, gt: object, pred: object) -> dict[str, object]:
        """Give `prompt`, `llm_response`, `model_id` and `comparison_result` of one comparison.

        Raises:
            UnavailableError: this version cannot ask a model.
        """
        raise _unavailable()


def _unavailable() -> UnavailableError:
    problem = Problem(
        source="",
        found="LLMComparator has no language model backend in this version",
        hint="FuzzyComparator needs no model; a comparator of your own can call one",
    )
    return UnavailableError([problem])
