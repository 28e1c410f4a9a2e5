"""The format `stickler-comparison/1`: one pair of documents explained, as JSON.

Its figures are those that the engine used, with all their digits: whoever adds them up again gets
the same scores. It has every place, whatever other reports leave out.
"""

from typing import Final

import orjson

from stickler_cli import __version__
from stickler_cli.compare.explained import Explained, Pairing
from stickler_cli.core.locations import field_path
from stickler_cli.reports.comparison import ComparedPair, value_pieces
from stickler_cli.reports.comparison_rows import differs
from stickler_cli.reports.json_report import json_text
from stickler_cli.reports.style import TableStyle

FORMAT: Final = "stickler-comparison/1"


def render(pair: ComparedPair, style: TableStyle) -> str:
    """Write a comparison as JSON; ends with a line break."""
    record = comparison_record(pair)
    try:
        return orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    except orjson.JSONEncodeError:
        return json_text(record) + "\n"


def comparison_record(pair: ComparedPair) -> dict[str, object]:
    """Give a comparison as JSON values; docs/compare.md describes the keys."""
    return {
        "format": FORMAT,
        "version": __version__,
        "document": pair.document,
        "schema": {"path": pair.schema, "model_name": pair.model_name},
        "options": {"pairing_floor": pair.pairing_floor, "extra_fields": pair.extra_fields},
        "overall_score": pair.overall_score,
        "places": [_view(pair, place) for place in pair.chosen],
    }


def _view(pair: ComparedPair, place: Explained) -> dict[str, object]:
    """Give a place and all places in it; keys that have nothing to say are left out."""
    error_class = pair.class_of(place)
    has_values = place.kind == "leaf" or place.sum is None
    pieces = value_pieces(place.gt, place.pred) if differs(place) else []
    entries: dict[str, object] = {
        "field_path": field_path(place.gt_path),
        "prediction_path": (
            None if place.pred_path == place.gt_path else field_path(place.pred_path)
        ),
        "kind": place.kind,
        "outcome": place.outcome.name,
        "class": error_class.value if error_class else None,
        "difference": [{"text": piece.text, "in": piece.side} for piece in pieces] or None,
        "comparator": place.comparator or None,
        "reason": place.reason or None,
        "similarity": place.similarity,
        "score": place.score,
        "threshold": None if place.extra else place.threshold,
        "threshold_source": None if place.extra else place.threshold_source,
        "weight": place.weight,
        "adds": place.adds,
        "pairing_floor": place.floor,
        "pairing_floor_source": None if place.floor is None else place.floor_source,
        "pairing": _pairing(place.pairing) if place.pairing else None,
        "sum": {"total": place.sum.total, "divisor": place.sum.divisor} if place.sum else None,
        "undeclared_keys": list(place.undeclared) or None,
        "parts": [_view(pair, part) for part in place.parts] or None,
    }
    values = {"ground_truth_value": place.gt, "prediction_value": place.pred}
    said = {key: value for key, value in entries.items() if value is not None}
    return {**said, **values} if has_values else said


def _pairing(pairing: Pairing) -> dict[str, object]:
    other = pairing.runner_up
    runner_up = None
    if other is not None:
        runner_up = {
            "index": other.index,
            "similarity": other.similarity,
            "paired_with": other.partner,
        }
    return {
        "ground_truth_index": pairing.gt_index,
        "prediction_index": pairing.pred_index,
        "runner_up": runner_up,
    }
