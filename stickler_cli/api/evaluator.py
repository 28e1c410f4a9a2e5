"""`StructuredModelEvaluator`: one pair of instances at a time, as rates per field."""

from .structured import StructuredModel, compared_models
from .views import EvaluatorResult, NonMatchField, evaluator_view


class StructuredModelEvaluator:
    """Evaluates predictions against ground truths, one pair at a time."""

    def __init__(
        self,
        model_class: type[StructuredModel] | None = None,
        *,
        document_non_matches: bool = True,
        recall_with_fd: bool = False,
    ) -> None:
        """Say what is compared, and how it is told.

        Args:
            model_class: what both sides must be instances of; None takes any model.
            document_non_matches: whether results list the errors.
            recall_with_fd: whether false discoveries count as missed in recall.
        """
        self.model_class = model_class
        self.document_non_matches = document_non_matches
        self.recall_with_fd = recall_with_fd
        self.non_match_documents: list[NonMatchField] = []  # of the last evaluation

    def evaluate(
        self,
        ground_truth: StructuredModel,
        predictions: StructuredModel,
        recall_with_fd: bool = False,
    ) -> EvaluatorResult:
        """Compare a prediction with its ground truth.

        Returns:
            `overall` and per field in `fields`: `precision`, `recall`, `f1`, `accuracy` of the
            overall counts and `anls_score`, the similarity; `confusion_matrix`; `non_matches`.

        Raises:
            TypeError: a side is no instance of the class.
        """
        for side in (ground_truth, predictions):
            if self.model_class is not None and not isinstance(side, self.model_class):
                expected = self.model_class.__name__
                raise TypeError(f"{type(side).__name__} is compared, expected {expected}")
        comparison = compared_models(ground_truth, predictions)
        result = evaluator_view(comparison, recall_with_fd=recall_with_fd or self.recall_with_fd)
        if not self.document_non_matches:
            result["non_matches"] = result["confusion_matrix"]["non_matches"] = []
        self.non_match_documents = [NonMatchField(**error) for error in result["non_matches"]]
        return result
