"""Functions of stickler-eval, and its HTML reporter, that have other names here."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path as File
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel

from stickler_cli.api.comparable import values_of
from stickler_cli.api.evaluation_views import Evaluation
from stickler_cli.api.structured import StructuredModel
from stickler_cli.api.views import ComparisonResult
from stickler_cli.comparators.anls import anls_score as of_values
from .evaluators import ProcessEvaluation, aggregate_from_comparisons


def anls_score(gt: Any, pred: Any, return_gt: bool = False, **options: Any) -> Any:
    """Return `stickler_cli.anls_score` of values, or of instances of models."""
    truth, predicted = (values_of(it) if isinstance(it, BaseModel) else it for it in (gt, pred))
    found = of_values(truth, predicted, return_gt, **options)
    if return_gt and isinstance(gt, BaseModel):
        return found[0], gt, *found[2:]
    return found


def compare_structured_models(gt: StructuredModel, pred: StructuredModel) -> ComparisonResult:
    """Return `gt.compare_with(pred)`."""
    return gt.compare_with(pred)


def compare_json(
    gt_json: dict[str, Any], pred_json: dict[str, Any], model_cls: type[StructuredModel]
) -> ComparisonResult:
    """Return the comparison of two JSON documents as instances of a class.

    Raises:
        ValidationError: the ground truth or the prediction is none.
    """
    return model_cls.from_json(gt_json).compare_with(model_cls.from_json(pred_json))


def print_confusion_matrix(
    results: Mapping[str, Any] | ProcessEvaluation, *_options: object, **_more: object
) -> None:
    """Print the report of `stickler eval`; the options of stickler-eval have no effect.

    Args:
        results: of `compare_with(..., include_confusion_matrix=True)`, or of the bulk evaluator.
    """
    sys.stdout.write(_evaluation(results).report())


def _evaluation(results: Mapping[str, Any] | ProcessEvaluation) -> Evaluation:
    if isinstance(results, ProcessEvaluation):
        return results.evaluation
    try:
        matrix = results["confusion_matrix"]
        whole = {**results, "overall_score": matrix["overall"]["similarity_score"]}
    except (KeyError, TypeError):
        expected = "compare_with(..., include_confusion_matrix=True), or of an evaluator"
        raise ValueError(f"these are no results of {expected}") from None
    return aggregate_from_comparisons([whole]).evaluation


class ReportConfig(SimpleNamespace):
    """The options of a page, which have no effect: it shows everything."""


class ReportResult(BaseModel):
    """Whether a page was written."""

    output_path: str
    success: bool
    generation_time_seconds: float
    sections_included: list[str]
    errors: list[str] = []
    metadata: dict[str, Any] = {}

    def summary(self) -> str:
        """Return it as a sentence."""
        return (
            f"written to {self.output_path}" if self.success else f"not written: {self.errors[0]}"
        )


class EvaluationHTMLReporter:
    """Writes results as the page of `stickler eval --format html`."""

    def generate_report(
        self,
        evaluation_results: Mapping[str, Any] | ProcessEvaluation,
        output_path: str,
        config: ReportConfig | None = None,
        document_files: object = None,
        title: str | None = None,
        *_options: object,
        **_more: object,
    ) -> ReportResult:
        """Write the page, into a directory that is made if it is not there.

        Where that fails `errors` of the result says why, and nothing is raised.
        """
        begun = time.monotonic()
        errors, count = [], 0
        try:
            evaluation = _evaluation(evaluation_results)
            count = evaluation.evaluated
            page = evaluation.report("html", title=title or "documents")
            File(output_path).parent.mkdir(parents=True, exist_ok=True)
            File(output_path).write_text(page, encoding="utf-8")
        except (OSError, ValueError) as error:
            errors.append(str(error))
        return ReportResult(
            output_path=output_path,
            success=not errors,
            generation_time_seconds=time.monotonic() - begun,
            sections_included=[] if errors else ["all"],
            errors=errors,
            metadata={"document_count": count},
        )
