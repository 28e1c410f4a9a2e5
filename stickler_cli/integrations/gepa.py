"""gepa: an evaluator for `optimize_anything`."""

from collections.abc import Callable
from typing import Any

from stickler_cli.api.scorer import Scorer


def evaluator(
    scorer: Scorer, answer: Callable[[Any, Any], object], truth: str = "ground_truth"
) -> Any:
    """Return a function for `optimize_anything` that scores a candidate on an example.

    `answer(candidate, example)` returns the prediction. `example[truth]` is the ground truth.
    """

    def evaluate(candidate: Any, example: Any) -> tuple[float, dict[str, Any]]:
        scored = scorer.score(example[truth], answer(candidate, example))
        return scored.score, {"Feedback": scored.feedback, "scores": scored.fields}

    return evaluate
