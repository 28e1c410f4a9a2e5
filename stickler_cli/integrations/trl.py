"""TRL: a reward function for `GRPOTrainer` and similar trainers."""

from collections.abc import Sequence
from typing import Any

from stickler_cli.api.scorer import Scorer


def reward(scorer: Scorer, column: str = "ground_truth") -> Any:
    """Return a reward function that compares completions with the ground truth in `column`.

    If a row of the data set has no ground truth there, its reward is None.
    """

    def stickler(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        texts = [
            completion if isinstance(completion, str) else completion[-1]["content"]
            for completion in completions
        ]
        rows = [row for row, truth in enumerate(columns[column]) if truth is not None]
        truths, answers = [columns[column][row] for row in rows], [texts[row] for row in rows]
        scores = {
            row: scored.score
            for row, scored in zip(rows, scorer.score_batch(truths, answers), strict=True)
        }
        return [scores.get(row) for row in range(len(texts))]

    return stickler
