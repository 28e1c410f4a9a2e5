"""A ground truth that is made to say what a prediction says, in the places of some errors."""

from copy import deepcopy
from typing import Any, Final

from stickler_cli.compare.result import Outcome
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, Step
from .units import Unit

_GONE: Final = object()


class Mended:
    """A copy of a ground truth, and what is to become of it.

    All changes are made at once, so that list indexes stay those of the errors.
    """

    def __init__(self, truth: JsonValue) -> None:
        """Take a ground truth, which stays as it is."""
        self._truth = truth
        self._values: dict[Path, Any] = {}
        self._items: dict[Path, dict[Step, Any]] = {}

    def mend(self, unit: Unit) -> None:
        """Have an error be none: what was missed goes, else the prediction takes its place."""
        if unit.outcome is Outcome.FN:
            self._values.setdefault(unit.gt_path or (), _GONE)
            return
        if unit.gt_path is not None:
            self._values[unit.gt_path] = deepcopy(unit.pred)
            return
        around, steps = _place_around(unit)
        tree = self._items.setdefault(around, {})
        for step in steps[:-1]:
            inner = tree.setdefault(step, _Parts())
            if not isinstance(inner, _Parts):
                return  # the whole item is there already
            tree = inner
        tree[steps[-1]] = deepcopy(unit.pred)

    @property
    def document(self) -> Any:
        """The ground truth as it is to be."""
        document = deepcopy(self._truth)
        for path in sorted(self._values, key=len):
            if self._values[path] is not _GONE:
                document = _with(document, path, self._values[path])
        for path, parts in self._items.items():
            there = _at(document, path)
            items = there if isinstance(there, list) else [] if there is None else [there]
            document = _with(document, path, items + _built(parts, as_list=True))
        gone = [path for path, value in self._values.items() if value is _GONE]
        gone = [it for it in gone if not any(it[:n] in gone for n in range(len(it)))]
        for path in sorted(gone, key=_from_the_end, reverse=True):
            document = _without(document, path)
        return document


class _Parts(dict[Step, Any]):
    """What is put together of a value that only the prediction has, by step."""


def _place_around(unit: Unit) -> tuple[Path, Path]:
    """Return the list of the ground truth that lacks the item that a value is in, and the rest."""
    visit, pair = unit.visit, unit.pair
    pred = unit.pred_path or ()
    place = visit.place(pair)
    while place.gt_path is None and visit.around is not None:
        pair = pair if visit.of is None else int(visit.of[pair])
        visit = visit.around
        place = visit.place(pair)
    return place.gt_path or (), pred[len(place.pred_path or ()) :]


def _built(parts: dict[Step, Any], *, as_list: bool) -> Any:
    made = {}
    for step, part in parts.items():
        inside = isinstance(part, _Parts)
        made[step] = _built(part, as_list=_is_list(part)) if inside else part
    return [made[step] for step in sorted(made, key=int)] if as_list else made


def _is_list(parts: dict[Step, Any]) -> bool:
    return all(isinstance(step, int) for step in parts)


def _at(value: Any, path: Path) -> Any:
    """Return what is at a path, None where nothing is; what is no list counts as one of it."""
    for step in path:
        if isinstance(step, int):
            if isinstance(value, list):
                value = value[step] if step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _with(document: Any, path: Path, value: Any) -> Any:
    """Return a document with a value at a path; what is missing around it is made."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if not isinstance(document, list):
            return _with(document, rest, value)
        document[step] = _with(document[step], rest, value)
        return document
    if not isinstance(document, dict):
        document = {}
    document[step] = _with(document.get(step), rest, value)
    return document


def _without(document: Any, path: Path) -> Any:
    """Return a document without what is at a path, and without what is left empty by that."""
    if not path:
        return type(document)() if isinstance(document, list | dict) else {}
    steps, last = path[:-1], path[-1]
    around = _at(document, steps)
    if isinstance(last, int) and not isinstance(around, list):
        return _without(document, steps)
    if isinstance(around, list | dict) and _at(around, (last,)) is not None:
        del around[last]  # type: ignore[arg-type]
    return document if around or not steps else _without(document, steps)


def _from_the_end(path: Path) -> tuple[tuple[int, str], ...]:
    """Order places so that reversed, what comes later in a list comes first."""
    return tuple((step, "") if isinstance(step, int) else (-1, step) for step in path)
