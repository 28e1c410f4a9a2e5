"""Comparisons as the dicts of stickler-eval."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, NotRequired, TypedDict

from pydantic import BaseModel, Field

from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.result import BOTH_SIDES, FN, Outcome
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.batch import Batch, batch_of
from stickler_cli.score.comparison_view import counts_view, non_match
from stickler_cli.score.confidence.calibration import confidence_view
from stickler_cli.score.confidence.confidences import Confidences, Units
from stickler_cli.score.counts import RATES
from stickler_cli.score.errors.error_rows import Error, below_threshold, error_of
from stickler_cli.score.errors.units import Unit, are_judged, documents_units
from stickler_cli.score.field_counts import LEAVES


class NonMatchType(StrEnum):
    """The kinds of errors."""

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


class ComparisonResult(TypedDict):
    """The result of `compare_with`; docs/results.md describes the values."""

    field_scores: dict[str, float]
    overall_score: float
    all_fields_matched: bool
    confusion_matrix: NotRequired[dict[str, Any]]
    non_matches: NotRequired[list[dict[str, Any]]]
    field_comparisons: NotRequired[list[dict[str, Any]]]
    confidence_metrics: NotRequired[dict[str, Any]]
    auroc_confidence_metric: NotRequired[float]
    """The AUROC of all values, 0.5 where it is not defined: an old name of stickler-eval."""


class EvaluatorResult(TypedDict):
    """The result of `StructuredModelEvaluator.evaluate`."""

    overall: dict[str, float]
    fields: dict[str, Any]
    confusion_matrix: dict[str, Any]
    non_matches: list[dict[str, Any]]


def non_matches(errors: Iterable[Error]) -> list[dict[str, Any]]:
    """Return the errors that are inside of no other as entries of `non_matches`."""
    outermost = (it for it in errors if it.inside is None)
    found = [non_match(it if it.values is None else it._replace(values=None)) for it in outermost]
    for entry in found:
        entry["non_match_type"] = NonMatchType(entry["non_match_type"])
    return found


def comparison_result(
    batch: Batch,
    *,
    counts: bool,
    errors: bool,
    units: bool,
    confidences: bool = False,
    recall_with_fd: bool = False,
    derived: bool = True,
) -> ComparisonResult:
    """Return one document as `compare_with` does, with as much as is asked for."""
    comparison = batch.comparison(0)
    found = non_matches(
        error_of("", it, with_cause=False)
        for it in (batch.outermost_errors[0] if errors and comparison else ())
    )
    view: ComparisonResult = {
        "field_scores": comparison.field_scores if comparison else {},
        "overall_score": float(batch.scores[0]),
        "all_fields_matched": not (found if errors else batch.some_wrong),
    }
    if counts:
        shown = counts_view(batch, recall_with_fd=recall_with_fd, derived=derived)
        score, matched = view["overall_score"], view["all_fields_matched"]
        shown["overall"].update(similarity_score=score, all_fields_matched=matched)
        view["confusion_matrix"] = {"fields": {}, **shown, "non_matches": found}
    if errors:
        view["non_matches"] = found
    if units:
        view["field_comparisons"] = _field_comparisons(batch)
    if confidences:
        known = Confidences()
        known.add([it.id for it in batch.results], batch.leaves)
        total = int(batch.counts.sums[LEAVES, 0, :FN].sum()) if batch.counts else 0
        view["confidence_metrics"] = trust = confidence_metrics(known, total)
        auroc = trust["overall"]["auroc"]["value"]
        view["auroc_confidence_metric"] = 0.5 if auroc is None else auroc
    return view


_TRUST: Final = {"auroc": "auroc", "brier_score": "brier", "ece": "ece"}
"""Names that stickler-eval has for figures of docs/confidence.md."""


def confidence_metrics(known: Confidences, total: int) -> dict[str, Any]:
    """Return how far confidences can be trusted, in the form of stickler-eval.

    `total` is how many values predictions have. A field has its path without indexes of lists. A
    figure that is not defined has the value None.
    """
    by_field = known.by_field()
    units = int(by_field[""].reliability().total[0])
    return {
        "overall": _calibration(by_field[""]),
        "fields": {path: _calibration(units) for path, units in by_field.items() if path},
        "coverage": {
            "fields_with_confidence": units,
            "fields_total": total,
            "ratio": units / total if total else 0.0,
        },
    }


def _calibration(units: Units) -> dict[str, Any]:
    view = confidence_view(units.reliability())
    return {name: {"value": view[figure]} for name, figure in _TRUST.items()}


def _field_comparisons(batch: Batch) -> list[dict[str, Any]]:
    """Return every unit of a comparison that is judged, right or wrong."""
    (units,) = documents_units(batch.visits, 1, are_judged)
    return [
        {
            "expected_key": _path_text(unit.gt_path),
            "expected_value": unit.gt,
            "actual_key": _path_text(unit.pred_path),
            "actual_value": unit.pred,
            "match": unit.outcome in (Outcome.TP, Outcome.TN),
            "score": unit.similarity,
            "weighted_score": unit.score * unit.weight,
            "weight": unit.weight,
            "threshold": unit.threshold,
            "reason": _reason(unit),
        }
        for unit in units
        if not unit.broken_down
    ]


def _path_text(path: Path | None) -> str | None:
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


def evaluator_result(batch: Batch, *, recall_with_fd: bool) -> EvaluatorResult:
    """Return one document as `StructuredModelEvaluator.evaluate` does.

    In its confusion matrix the counts of a field stand beside `overall`, too.
    """
    comparison: Any = batch.comparison(0)
    how: Any = {"counts": True, "errors": True, "units": False, "recall_with_fd": recall_with_fd}
    matrix = comparison_result(batch, **how)["confusion_matrix"]
    fields = {name: {**node["overall"], **node} for name, node in matrix["fields"].items()}
    return {
        "overall": _rates(matrix, comparison.similarity),
        "fields": _field_rates(comparison, matrix, recall_with_fd=recall_with_fd),
        "confusion_matrix": {**matrix, "fields": fields},
        "non_matches": matrix["non_matches"],
    }


def _field_rates(
    comparison: Comparison, counts: Mapping[str, Any], *, recall_with_fd: bool
) -> dict[str, Any]:
    """Return the rates of each field; a list or an object also has those of its parts."""
    rates: dict[str, Any] = {}
    for field in comparison.fields:
        inside, view = field.comparison, counts["fields"][field.name]
        own: dict[str, Any] = _rates(view, inside.score)
        if inside.shape == "list":
            items = [
                evaluator_result(batch_of(element.comparison), recall_with_fd=recall_with_fd)
                for element in inside.elements
                if element.outcome in BOTH_SIDES and element.comparison.shape == "object"
            ]
            own = {"overall": own, "items": items}
        elif inside.shape == "object":
            fields = _field_rates(inside, view, recall_with_fd=recall_with_fd)
            own = {**own, "overall": own, "fields": fields}
        rates[field.name] = own
    return rates


def _rates(counts: Mapping[str, Any], score: float) -> dict[str, float]:
    derived = counts["overall"]["derived"]
    return {**{name: derived[f"cm_{name}"] for name in RATES}, "anls_score": score}
