"""Comparisons as the dicts that users of models know."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.result import BOTH_SIDES, Outcome
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.batch import batch_of
from stickler_cli.score.comparison_view import comparison_view, tally_of
from stickler_cli.score.non_matches import below_threshold
from stickler_cli.score.tally import Tally
from stickler_cli.score.units import Unit, documents_units


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
    document_id: str | None = None
    """For users who keep the errors of many documents together."""


def model_view(
    comparison: Comparison,
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
    batch = batch_of(comparison)
    whole = comparison_view(batch, recall_with_fd=recall_with_fd)
    view = {key: whole[key] for key in ("field_scores", "overall_score", "all_fields_matched")}
    errors = _errors(whole)
    if confusion_matrix:
        matrix = _confusion_matrix(whole, errors if non_matches else [])
        view["confusion_matrix"] = matrix if derived else _without_derived(matrix)
    if non_matches:
        view["non_matches"] = errors
    if field_comparisons:
        view["field_comparisons"] = [
            _field_comparison(unit)
            for units in documents_units(comparison.account, batch.at, wrong_only=False)
            for unit in units
            if not unit.broken_down
        ]
    return view


def _errors(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {**error, "non_match_type": NonMatchType(error["non_match_type"])}
        for error in whole["non_matches"]
    ]


def _confusion_matrix(whole: Mapping[str, Any], errors: list[dict[str, Any]]) -> dict[str, Any]:
    """Give the counts, and at the root what else users look for there."""
    matrix = whole["confusion_matrix"]
    overall = {
        **matrix["overall"],
        "similarity_score": whole["overall_score"],
        "all_fields_matched": whole["all_fields_matched"],
    }
    return {**matrix, "overall": overall, "non_matches": errors}


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
        "weighted_score": unit.score * unit.weight,
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


def evaluator_view(comparison: Comparison, *, recall_with_fd: bool) -> dict[str, Any]:
    """Give a comparison as `StructuredModelEvaluator.evaluate` returns it.

    In its confusion matrix the counts of a field stand beside `overall`, too.
    """
    batch = batch_of(comparison)
    whole = comparison_view(batch, recall_with_fd=recall_with_fd)
    counts = tally_of(batch)
    errors = _errors(whole)
    matrix = _confusion_matrix(whole, errors)
    fields = {name: {**node["overall"], **node} for name, node in matrix["fields"].items()}
    return {
        "overall": _rates(counts, comparison.similarity, recall_with_fd=recall_with_fd),
        "fields": {
            entry.name: _field_rates(
                entry.comparison, counts.fields[entry.name], recall_with_fd=recall_with_fd
            )
            for entry in comparison.fields
        },
        "confusion_matrix": {**matrix, "fields": fields},
        "non_matches": errors,
    }


def _field_rates(comparison: Comparison, counts: Tally, *, recall_with_fd: bool) -> dict[str, Any]:
    """Give the rates of a field; those of a list or an object have the rates inside beside them."""
    own = _rates(counts, comparison.score, recall_with_fd=recall_with_fd)
    if comparison.shape == "list":
        items = [
            evaluator_view(element.comparison, recall_with_fd=recall_with_fd)
            for element in comparison.elements
            if element.outcome in BOTH_SIDES and element.comparison.shape == "object"
        ]
        return {"overall": own, "items": items}
    if comparison.shape == "object":
        fields = {
            entry.name: _field_rates(
                entry.comparison, counts.fields[entry.name], recall_with_fd=recall_with_fd
            )
            for entry in comparison.fields
        }
        return {**own, "overall": own, "fields": fields}
    return own


def _rates(counts: Tally, score: float, *, recall_with_fd: bool) -> dict[str, float]:
    rates = counts.counts("overall").derived(recall_with_fd=recall_with_fd)
    return {**rates, "anls_score": score}
