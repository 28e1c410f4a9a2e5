"""Every value that was compared, right or wrong: a line of JSON for each."""

from typing import Any

import numpy as np

from stickler_cli.compare.columns import Mask, least
from stickler_cli.compare.result import BOTH_SIDES, TN, Outcome
from stickler_cli.core.json_values import json_line
from stickler_cli.core.locations import field_path
from .batch import Batch
from .errors.units import Unit, are_values, documents_units
from .visit import Visit


def value_lines(batch: Batch) -> list[bytes]:
    """Return the lines of each document that was compared, in the order of the schema.

    They are those that `leaves` counts as TP, FD, FA and FN: also the values in items and objects
    that failed as a whole. docs/tables.md describes the columns.
    """
    found = [result.id for result in batch.results if result.score is not None]
    units = documents_units(batch.visits, len(found), are_there)
    return [
        b"".join(json_line(_view(name, unit)) for unit in of_one)
        for name, of_one in zip(found, units, strict=True)
    ]


def are_there(visit: Visit) -> Mask:
    """Return which pairs are values that a side has; of objects, any, for the sake of keys."""
    if visit.order is None:
        return np.ones(len(visit.at), np.bool_)
    if not are_values(visit):
        return np.zeros(len(visit.at), np.bool_)
    there: Mask = visit.account.outcome[visit.at] != TN
    return there


def outcome_of(unit: Unit) -> Outcome:
    """Return what a value counts as by itself: its list may ask for more of an item."""
    if unit.visit.order is None:
        return unit.outcome
    return Outcome(int(unit.visit.account.outcome[int(unit.visit.at[unit.pair])]))


def _view(document: str, unit: Unit) -> dict[str, object]:
    account, position = unit.visit.account, int(unit.visit.at[unit.pair])
    outcome = outcome_of(unit)
    elsewhere = outcome in BOTH_SIDES and unit.pred_path != unit.gt_path
    return {
        "document": document,
        "field": field_path(unit.names),
        "path": field_path(unit.path),
        "prediction_path": field_path(unit.pred_path or ()) if elsewhere else None,
        "outcome": outcome.name,
        "similarity": float(account.similarity[position]) if outcome in BOTH_SIDES else None,
        "ground_truth_value": unit.gt,
        "prediction_value": unit.pred,
        "confidence": confidence_of(unit),
    }


def confidence_of(unit: Unit) -> float | None:
    """Return how sure the prediction is of a value, where it says so."""
    slot = int(unit.visit.account.pred[int(unit.visit.at[unit.pair])])
    known = unit.visit.account.columns.confidences
    if known is None or slot < 0:
        return None
    here: Any = known[slot]
    return least(here.get(unit.path[-1]) if here and unit.visit.order is None else here)
