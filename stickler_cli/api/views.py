"""Comparisons as the dicts that users of models know."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, NotRequired, TypedDict

from pydantic import BaseModel, Field

from stickler_cli.compare.comparison import Comparison
from stickler_cli.compare.result import BOTH_SIDES, Outcome
from stickler_cli.core.locations import Path, field_path
from stickler_cli.score.batch import Batch, batch_of
from stickler_cli.score.comparison_view import document_view, tally_of, tally_view
from stickler_cli.score.confidence import confidence_view
from stickler_cli.score.confident import Confidences, Units
from stickler_cli.score.errors.non_matches import NON_MATCH_TYPES, NonMatch, below_threshold
from stickler_cli.score.errors.units import Unit, documents_units, judged
from stickler_cli.score.tally import Tally, predicted


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


class ComparisonResult(TypedDict):
    """What `compare_with` returns; docs/results.md describes the values."""

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
    """What `StructuredModelEvaluator.evaluate` returns."""

    overall: dict[str, float]
    fields: dict[str, Any]
    confusion_matrix: dict[str, Any]
    non_matches: list[dict[str, Any]]


def document_part(batch: Batch) -> ComparisonResult:
    """Return what results say of a document beyond its counts.

    As stickler-eval, it lists no errors inside of what failed as a whole.
    """
    view: dict[str, Any] = document_view(batch, 0)
    return {
        "field_scores": view["field_scores"],
        "overall_score": float(batch.scores[0]),
        "all_fields_matched": view["all_fields_matched"],
        "non_matches": told(batch.errors(0)),
    }


def told(errors: Iterable[NonMatch]) -> list[dict[str, Any]]:
    """Return errors as entries of `non_matches`."""
    entries: list[dict[str, Any]] = [
        {**error.view(), "non_match_type": NonMatchType(NON_MATCH_TYPES[error.outcome])}
        for error in errors
        if error.inside is None
    ]
    for entry in entries:
        entry.pop("values", None)
    return entries


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
    """Return a comparison as `compare_with` does, with as much as is asked for."""
    result = document_part(batch)
    found = result.pop("non_matches")
    if counts:
        result["confusion_matrix"] = confusion_matrix(
            tally_of(batch),
            result,
            found if errors else [],
            recall_with_fd=recall_with_fd,
            derived=derived,
        )
    if errors:
        result["non_matches"] = found
    if units:
        result["field_comparisons"] = field_comparisons(batch)
    if confidences:
        known = Confidences()
        known.add([result.id for result in batch.results], batch.leaves)
        result["confidence_metrics"] = trust = confidence_metrics(known, tally_of(batch))
        auroc = trust["overall"]["auroc"]["value"]
        result["auroc_confidence_metric"] = 0.5 if auroc is None else auroc
    return result


_TRUST: Final = {"auroc": "auroc", "brier_score": "brier", "ece": "ece"}
"""Names that stickler-eval has for figures of docs/confidence.md."""


def confidence_metrics(known: Confidences, counts: Tally) -> dict[str, Any]:
    """Return how far confidences can be trusted, in the form of stickler-eval.

    A field has its path without indexes of lists. A figure that is not defined has the value None.
    """
    by_field = known.by_field()
    total, units = predicted(counts, ()), int(by_field[""].reliability().total[0])
    return {
        "overall": _trust(by_field[""]),
        "fields": {path: _trust(units) for path, units in by_field.items() if path},
        "coverage": {
            "fields_with_confidence": units,
            "fields_total": total,
            "ratio": units / total if total else 0.0,
        },
    }


def _trust(units: Units) -> dict[str, Any]:
    view = confidence_view(units.reliability())
    return {name: {"value": view[figure]} for name, figure in _TRUST.items()}


def confusion_matrix(
    counts: Tally,
    part: ComparisonResult,
    errors: list[dict[str, Any]],
    *,
    recall_with_fd: bool,
    derived: bool = True,
) -> dict[str, Any]:
    """Return the counts, at the root with what else users look for there."""
    view: dict[str, Any] = tally_view(counts, recall_with_fd=recall_with_fd)
    view["overall"].update(
        similarity_score=part["overall_score"], all_fields_matched=part["all_fields_matched"]
    )
    matrix: dict[str, Any] = {"fields": {}, **view, "non_matches": errors}
    return matrix if derived else _without_derived(matrix)


def _without_derived(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_derived(part) for key, part in value.items() if key != "derived"}
    return value


def field_comparisons(batch: Batch) -> list[dict[str, Any]]:
    """Return every unit of a comparison that is judged, right or wrong."""
    (units,) = documents_units(batch.visits, 1, judged)
    return [
        {
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
        for unit in units
        if not unit.broken_down
    ]


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


def evaluator_view(comparison: Comparison, *, recall_with_fd: bool) -> EvaluatorResult:
    """Return a comparison as `StructuredModelEvaluator.evaluate` does.

    In its confusion matrix the counts of a field stand beside `overall`, too.
    """
    batch = batch_of(comparison)
    part, counts = document_part(batch), tally_of(batch)
    errors = part["non_matches"]
    matrix = confusion_matrix(counts, part, errors, recall_with_fd=recall_with_fd)
    fields = {name: {**node["overall"], **node} for name, node in matrix["fields"].items()}
    return {
        "overall": _rates(counts, comparison.similarity, recall_with_fd=recall_with_fd),
        "fields": _field_rates(comparison, counts, recall_with_fd=recall_with_fd),
        "confusion_matrix": {**matrix, "fields": fields},
        "non_matches": errors,
    }


def _field_rates(comparison: Comparison, counts: Tally, *, recall_with_fd: bool) -> dict[str, Any]:
    """Return the rates of each field; a list or an object also has the rates of what is inside."""
    rates: dict[str, Any] = {}
    for field in comparison.fields:
        inside, tally = field.comparison, counts.fields[field.name]
        own: dict[str, Any] = _rates(tally, inside.score, recall_with_fd=recall_with_fd)
        if inside.shape == "list":
            items = [
                evaluator_view(element.comparison, recall_with_fd=recall_with_fd)
                for element in inside.elements
                if element.outcome in BOTH_SIDES and element.comparison.shape == "object"
            ]
            own = {"overall": own, "items": items}
        elif inside.shape == "object":
            fields = _field_rates(inside, tally, recall_with_fd=recall_with_fd)
            own = {**own, "overall": own, "fields": fields}
        rates[field.name] = own
    return rates


def _rates(counts: Tally, score: float, *, recall_with_fd: bool) -> dict[str, float]:
    rates = counts.counts("overall").derived(recall_with_fd=recall_with_fd)
    return {**rates, "anls_score": score}
