"""`StructuredModel`: a pydantic model whose instances are compared, as the JSON they stand for."""

from collections.abc import Mapping
from typing import Any, Literal, Self, overload

import orjson
from pydantic import BaseModel

from stickler_cli.compare.plan import Options
from stickler_cli.compare.wrappers import Unwrapper
from stickler_cli.core.json_values import JsonDocument, JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.score.batch import batch_of
from .comparable import values_of
from .described import DescribedModel
from .pair_comparison import PairComparison, compared
from .views import (
    ComparisonResult,
    EvaluatorResult,
    comparison_result,
    evaluator_view,
)


class StructuredModel(DescribedModel):
    """A pydantic model that knows how its instances are compared.

    `match_threshold`, a class attribute in [0, 1], says when two items of a list are the same one.
    Keys that the class does not declare are kept, and count as false alarms of a prediction.
    """

    @classmethod
    def from_json(
        cls, data: str | bytes | Mapping[str, Any], process_rich_values: bool = True
    ) -> Self:
        """Make an instance of a JSON text or of its parsed value.

        Values with metadata, such as `{"_value": 5, "_confidence": 0.9}`, are taken out, unless
        `process_rich_values` is False, and the instance knows it; docs/confidence.md has the forms.
        """
        parsed: Any = orjson.loads(data) if isinstance(data, str | bytes) else data
        if not process_rich_values or not isinstance(parsed, Mapping):
            return cls.model_validate(parsed)
        bare = Unwrapper(cls.comparison_plan().root)({**parsed})
        instance = cls.model_validate(bare.value)
        if bare.wrappers:
            instance._unwrapped = bare  # noqa: SLF001 - of this class
        return instance

    def get_field_confidence(self, field_name: str) -> float | None:
        """Return the confidence that the value at a path, `items[0].sku`, came with, in [0, 1].

        None of a value that had none of its own, and of an instance that `from_json` did not make.
        """
        return self.get_all_confidences().get(field_name)

    def get_all_confidences(self) -> dict[str, float]:
        """Return the confidences that values came with, by path."""
        return {field_path(path): known for path, known in self._unwrapped.stated.items()}

    def get_field_extras(self, field_name: str) -> dict[str, Any] | None:
        """Return the metadata that the value at a path came with, but for its confidence."""
        return self.get_all_extras().get(field_name)

    def get_all_extras(self) -> dict[str, dict[str, Any]]:
        """Return the metadata that values came with, by path."""
        return {field_path(path): more for path, more in self._unwrapped.metadata.items()}

    def comparison_values(self) -> JsonDocument:
        """Return the JSON values that are compared, by the names that the plan has."""
        return values_of(self)

    def compare(self, other: BaseModel) -> float:
        """Return the similarity of this ground truth and a prediction, in [0, 1]."""
        return compared_models(self, other).similarity

    def comparison(self, other: BaseModel, options: Options | None = None) -> PairComparison:
        """Return the full account of this ground truth and a prediction, typed.

        Raises:
            TypeError: the prediction is no model instance.
            ComparisonError: a comparator failed on a pair of values.
        """
        return compared_models(self, other, options)

    @overload
    def compare_with(
        self,
        other: BaseModel,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        evaluator_format: Literal[False] = False,
        recall_with_fd: bool = False,
        add_derived_metrics: bool = True,
        document_field_comparisons: bool = False,
        add_confidence_metrics: bool = False,
        *,
        options: Options | None = None,
    ) -> ComparisonResult: ...

    @overload
    def compare_with(
        self,
        other: BaseModel,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        *,
        evaluator_format: Literal[True],
        recall_with_fd: bool = False,
        options: Options | None = None,
    ) -> EvaluatorResult: ...

    def compare_with(
        self,
        other: BaseModel,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        evaluator_format: bool = False,
        recall_with_fd: bool = False,
        add_derived_metrics: bool = True,
        document_field_comparisons: bool = False,
        add_confidence_metrics: bool = False,
        *,
        options: Options | None = None,
    ) -> ComparisonResult | EvaluatorResult:
        """Compare this ground truth with a prediction.

        Args:
            other: the prediction.
            include_confusion_matrix: add `confusion_matrix`: counts per field.
            document_non_matches: add `non_matches`: every error, with both values.
            evaluator_format: return what `StructuredModelEvaluator.evaluate` does.
            recall_with_fd: count false discoveries as missed in recall.
            add_derived_metrics: give rates beside the counts of the confusion matrix.
            document_field_comparisons: add `field_comparisons`: every unit, matches too.
            add_confidence_metrics: add `confidence_metrics`: how far the confidences that the
                prediction came with tell right values from wrong ones. Of one document that says
                little.
            options: the pairing floor, and what undeclared keys of the prediction are.

        Returns:
            `field_scores`, `overall_score`, `all_fields_matched`, and what was asked for.

        Raises:
            TypeError: the prediction is no model instance.
            ComparisonError: a comparator failed on a pair of values.
        """
        confidences = _confidences_of(other) if add_confidence_metrics else None
        comparison = compared_models(self, other, options, confidences)
        if evaluator_format:
            return evaluator_view(comparison, recall_with_fd=recall_with_fd)
        return comparison_result(
            batch_of(comparison),
            counts=include_confusion_matrix,
            errors=document_non_matches,
            units=document_field_comparisons,
            confidences=add_confidence_metrics,
            recall_with_fd=recall_with_fd,
            derived=add_derived_metrics,
        )

    def compare_recursive(self, other: BaseModel) -> dict[str, Any]:
        """Return the `confusion_matrix` of `compare_with`, errors included: counts per field."""
        batch = batch_of(compared_models(self, other))
        return comparison_result(batch, counts=True, errors=True, units=False)["confusion_matrix"]


# A function, as a field may have the name of a method.
def compared_models(
    gt: StructuredModel,
    pred: BaseModel,
    options: Options | None = None,
    confidences: JsonValue = None,
) -> PairComparison:
    """Return the comparison of two instances, as the class of the ground truth says."""
    plan = type(gt).comparison_plan()
    return compared(plan, values_of(gt), values_of(pred), options, confidences)


def _confidences_of(pred: BaseModel) -> JsonValue:
    return pred._unwrapped.confidences if isinstance(pred, StructuredModel) else None  # noqa: SLF001
