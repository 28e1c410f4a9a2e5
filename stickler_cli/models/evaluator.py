"""`StructuredModelEvaluator`: one comparison as rates per field."""

from typing import Any

from stickler_cli.models.structured import StructuredModel
from stickler_cli.models.views import evaluator_view


class StructuredModelEvaluator:
    """Evaluates predictions against ground truths, one pair at a time."""

    def __init__(self, *, recall_with_fd: bool = False) -> None:
        """Say whether false discoveries count as missed in recall."""
        self.recall_with_fd = recall_with_fd

    def evaluate(
        self, ground_truth: StructuredModel, prediction: StructuredModel
    ) -> dict[str, Any]:
        """Compare a prediction with its ground truth.

        Returns:
            `overall` and per field in `fields`: `precision`, `recall`, `f1`, `accuracy` of the
            overall counts and `anls_score`, the similarity; `confusion_matrix`; `non_matches`.
        """
        return evaluator_view(
            ground_truth.comparison(prediction), recall_with_fd=self.recall_with_fd
        )
