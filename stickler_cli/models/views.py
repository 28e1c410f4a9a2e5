"""Comparisons as the dicts that users of models know."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from stickler_cli.compare.result import (
    LeafComparison,
    ListComparison,
    ObjectComparison,
    Outcome,
)
from stickler_cli.locations import Path, field_path
from stickler_cli.metrics.comparison_view import comparison_view
from stickler_cli.metrics.non_matches import below_threshold
from stickler_cli.metrics.tally import Tally, tally
from stickler_cli.metrics.units import Unit, units


class NonMatchType(StrEnum):
    """What an error is."""

    FALSE_DISCOVERY = "false_discovery"
    FALSE_ALARM = "false_alarm"
    FALSE_NEGATIVE = "false_negative"


class NonMatchField(BaseModel):
    """One error of a comparison; `NonMatchField(**entry)` reads an entry of `non_matches`."""

    field_path: str
    non_match_type: NonMatchType
    ground_truth_value: Any = None
    prediction_value: Any = None
    similarity_score: float | None = None
    details: dict[str, Any] = Field(default_factory=dict)


def model_view(
    comparison: ObjectComparison,
    *,
    confusion_matrix: bool,
    non_matches: bool,
    field_comparisons: bool,
    recall_with_fd: bool,
    derived: bool,
) -> dict[str, Any]:
    """Give a comparison as `StructuredModel.compare_with` returns it.

    `field_scores`, `overall_score` and `all_fields_matched` are always there; the other keys are
    those that are asked for.
    """
    whole = comparison_view(comparison, recall_with_fd=recall_with_fd)
    view = {key: whole[key] for key in ("field_scores", "overall_score", "all_fields_matched")}
    if confusion_matrix:
        matrix = whole["confusion_matrix"]
        view["confusion_matrix"] = matrix if derived else _without_derived(matrix)
    if non_matches:
        view["non_matches"] = whole["non_matches"]
    if field_comparisons:
        view["field_comparisons"] = [
            _field_comparison(unit) for unit in units(comparison) if not unit.broken_down
        ]
    return view


def _without_derived(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _without_derived(part) for key, part in value.items() if key != "derived"}
    return value


def _field_comparison(unit: Unit) -> dict[str, Any]:
    matched = unit.outcome in (Outcome.TP, Outcome.TN)
    return {
        "expected_key": _shown(unit.gt_path),
        "expected_value": unit.gt,
        "actual_key": _shown(unit.pred_path),
        "actual_value": unit.pred,
        "match": matched,
        "score": unit.similarity,
        "weighted_score": unit.similarity * unit.weight,
        "weight": unit.weight,
        "threshold": unit.threshold,
        "reason": _reason(unit),
    }


def _shown(path: Path | None) -> str | None:
    return None if path is None else field_path(path)


def _reason(unit: Unit) -> str:
    match unit.outcome:
        case Outcome.FN:
            return "false negative (unmatched ground truth)"
        case Outcome.FA:
            return "false alarm (unmatched prediction)"
        case Outcome.FD:
            return below_threshold(unit.similarity, unit.threshold)
        case _ if unit.similarity == 1:
            return "exact match"
        case _:
            return f"above threshold ({unit.similarity:.3f} >= {unit.threshold:g})"


def evaluator_view(comparison: ObjectComparison, *, recall_with_fd: bool) -> dict[str, Any]:
    """Give a comparison as `StructuredModelEvaluator.evaluate` returns it."""
    whole = comparison_view(comparison, recall_with_fd=recall_with_fd)
    counts = tally(comparison)
    return {
        "overall": _rates(counts, comparison.similarity, recall_with_fd=recall_with_fd),
        "fields": {
            entry.name: _field_rates(
                entry.comparison, counts.fields[entry.name], recall_with_fd=recall_with_fd
            )
            for entry in comparison.fields
        },
        "confusion_matrix": whole["confusion_matrix"],
        "non_matches": whole["non_matches"],
    }


def _field_rates(
    comparison: LeafComparison, counts: Tally, *, recall_with_fd: bool
) -> dict[str, Any]:
    """Give the rates of a field; those of a list or an object have the rates inside beside them."""
    own = _rates(counts, comparison.score, recall_with_fd=recall_with_fd)
    if isinstance(comparison, ListComparison):
        items = [
            evaluator_view(element.comparison, recall_with_fd=recall_with_fd)
            for element in comparison.elements
            if element.passed and isinstance(element.comparison, ObjectComparison)
        ]
        return {"overall": own, "items": items}
    if isinstance(comparison, ObjectComparison):
        fields = {
            entry.name: _field_rates(
                entry.comparison, counts.fields[entry.name], recall_with_fd=recall_with_fd
            )
            for entry in comparison.fields
        }
        return {"overall": own, "fields": fields}
    return own


def _rates(counts: Tally, score: float, *, recall_with_fd: bool) -> dict[str, float]:
    rates = counts.counts("overall").derived(recall_with_fd=recall_with_fd)
    return {**rates, "anls_score": score}
