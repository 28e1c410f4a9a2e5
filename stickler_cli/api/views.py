"""Comparisons as the dicts that users of models know."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from stickler_cli.compare.comparison import Comparison, FieldComparison
from stickler_cli.compare.result import BOTH_SIDES, Outcome
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.batch import Batch, batch_of
from stickler_cli.score.comparison_view import document_view, tally_of, tally_view
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
    """Return a comparison as `StructuredModel.compare_with` does.

    `field_scores`, `overall_score` and `all_fields_matched` are always there; the other keys are
    those that are asked for.
    """
    batch = batch_of(comparison)
    view = _document(batch)
    errors = view.pop("non_matches")
    if confusion_matrix:
        counts = tally_view(tally_of(batch), recall_with_fd=recall_with_fd)
        matrix = _confusion_matrix(counts, view, errors if non_matches else [])
        view["confusion_matrix"] = matrix if derived else _without_derived(matrix)
    if non_matches:
        view["non_matches"] = errors
    if field_comparisons:
        units = documents_units(comparison.account, batch.at, wrong_only=False)[0]
        view["field_comparisons"] = [
            _field_comparison(unit) for unit in units if not unit.broken_down
        ]
    return view


def _document(batch: Batch) -> dict[str, Any]:
    """Return what results say of a document beyond its counts."""
    view: dict[str, Any] = document_view(batch, 0)
    for error in view["non_matches"]:
        error["non_match_type"] = NonMatchType(error["non_match_type"])
    return {
        "field_scores": view["field_scores"],
        "overall_score": batch.results[0].score,
        "all_fields_matched": view["all_fields_matched"],
        "non_matches": view["non_matches"],
    }


def _confusion_matrix(
    counts: Mapping[str, Any], view: Mapping[str, Any], errors: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the counts, and at the root what else users look for there."""
    overall = {
        **counts["overall"],
        "similarity_score": view["overall_score"],
        "all_fields_matched": view["all_fields_matched"],
    }
    return {"fields": {}, **counts, "overall": overall, "non_matches": errors}


def _without_derived(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _without_derived(part) for key, part in value.items() if key != "derived"}
    return value


def _field_comparison(unit: Unit) -> dict[str, Any]:
    return {
        "expected_key": _shown(unit.gt_path),
        "expected_value": unit.gt,
        "actual_key": _shown(unit.pred_path),
        "actual_value": unit.pred,
        "match": unit.outcome in (Outcome.TP, Outcome.TN),
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
    """Return a comparison as `StructuredModelEvaluator.evaluate` does.

    In its confusion matrix the counts of a field stand beside `overall`, too.
    """
    batch = batch_of(comparison)
    view, counts = _document(batch), tally_of(batch)
    errors = view["non_matches"]
    matrix = _confusion_matrix(tally_view(counts, recall_with_fd=recall_with_fd), view, errors)
    fields = {name: {**node["overall"], **node} for name, node in matrix["fields"].items()}
    return {
        "overall": _rates(counts, comparison.similarity, recall_with_fd=recall_with_fd),
        "fields": _fields(comparison, counts, recall_with_fd=recall_with_fd),
        "confusion_matrix": {**matrix, "fields": fields},
        "non_matches": errors,
    }


def _fields(comparison: Comparison, counts: Tally, *, recall_with_fd: bool) -> dict[str, Any]:
    return {
        entry.name: _field_rates(entry, counts.fields[entry.name], recall_with_fd=recall_with_fd)
        for entry in comparison.fields
    }


def _field_rates(entry: FieldComparison, counts: Tally, *, recall_with_fd: bool) -> dict[str, Any]:
    """Return the rates of a field; those of a list or an object have the rates inside beside."""
    comparison = entry.comparison
    own: dict[str, Any] = _rates(counts, comparison.score, recall_with_fd=recall_with_fd)
    if comparison.shape == "list":
        items = [
            evaluator_view(element.comparison, recall_with_fd=recall_with_fd)
            for element in comparison.elements
            if element.outcome in BOTH_SIDES and element.comparison.shape == "object"
        ]
        return {"overall": own, "items": items}
    if comparison.shape == "object":
        inside = _fields(comparison, counts, recall_with_fd=recall_with_fd)
        return {**own, "overall": own, "fields": inside}
    return own


def _rates(counts: Tally, score: float, *, recall_with_fd: bool) -> dict[str, float]:
    rates = counts.counts("overall").derived(recall_with_fd=recall_with_fd)
    return {**rates, "anls_score": score}
