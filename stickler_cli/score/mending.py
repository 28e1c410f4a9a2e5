"""A ground truth that is made to say what a prediction says, in the places of some errors."""

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Final

from stickler_cli.compare.result import Outcome
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, Step
from .units import Unit
from .visit import Visit

_GONE: Final = object()


def with_none_of(units: Iterable[Unit], truth: JsonValue) -> JsonValue:
    """Return a ground truth, which stays as it is, without errors of its document.

    What was missed goes, else the prediction takes its place; what is inside of a place that
    changes as a whole goes with it. Lists keep their indexes until all is done.
    """
    new: dict[Path, dict[Step, int]] = {}
    changes = [_change(unit, truth, new) for unit in units]
    # First what goes, as a value of another kind may come in its place; then from the inside out.
    changes.sort(key=lambda change: (change[0] is not Outcome.FN, -len(change[1])))
    document = deepcopy(truth)
    for _, path, value in changes:
        document = _with(document, path, value)
    left: JsonValue = _without_gone(document)
    return left


def _change(
    unit: Unit, truth: JsonValue, new: dict[Path, dict[Step, int]]
) -> tuple[Outcome, Path, Any]:
    """Return what is to be where; new items of a list of the ground truth get its next indexes."""
    value: Any = unit.pred
    visit, pair, item = unit.visit, unit.pair, unit.visit
    if unit.outcome is Outcome.FN:
        # A position of a tuple stays, or others would be in its place.
        value = None if _is_position(visit) else _GONE
    if unit.gt_path is not None:
        return unit.outcome, unit.gt_path, value
    while visit.around is not None and visit.place(pair).gt_path is None:
        pair = pair if visit.of is None else int(visit.of[pair])
        item, visit = visit, visit.around
    place = visit.place(pair)
    path = place.gt_path or ()
    first, *rest = (unit.pred_path or ())[len(place.pred_path or ()) :]
    if not _is_position(item):
        there = _at(truth, path)
        known = len(there) if isinstance(there, list) else int(there is not None)
        items = new.setdefault(path, {})
        first = known + items.setdefault(first, len(items))
    return unit.outcome, (*path, first, *rest), value


def _is_position(visit: Visit) -> bool:
    """Return whether pairs are elements that go together by position."""
    return visit.around is not None and isinstance(visit.around.account.node, TupleNode)


def _at(value: Any, path: Path) -> Any:
    """Return what is at a path, None where nothing is; what is no list counts as one of it."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        elif isinstance(value, list):
            value = value[step]
    return value


def _with(document: Any, path: Path, value: Any) -> Any:
    """Return a document with a value at a path; what is missing around it is made."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        document = document if isinstance(document, dict) else {}
        document[step] = _with(document.get(step), rest, value)
        return document
    if not isinstance(document, list):
        document = [document]
    document += [None] * (step + 1 - len(document))
    document[step] = _with(document[step], rest, value)
    return document


def _without_gone(value: Any) -> Any:
    """Return a value without what goes; what is left empty counts as absent."""
    if isinstance(value, dict):
        return {key: _without_gone(part) for key, part in value.items() if part is not _GONE}
    if isinstance(value, list):
        return [_without_gone(part) for part in value if part is not _GONE]
    return value
