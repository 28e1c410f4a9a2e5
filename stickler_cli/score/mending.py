"""A ground truth that is made to say what a prediction says, in the places of some errors."""

from copy import deepcopy
from typing import Any, Final, NamedTuple

from stickler_cli.compare.result import Outcome
from stickler_cli.compare.tuple import TupleNode
from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import Path, Step
from .units import Unit
from .visit import Visit

_GONE: Final = object()


class Mended:
    """A copy of a ground truth, and what is to become of it.

    All changes are made at once, so that list indexes stay those of the errors. What is inside of a
    place that changes as a whole goes with it.
    """

    def __init__(self, truth: JsonValue) -> None:
        """Take a ground truth, which stays as it is."""
        self._truth = truth
        self._values: dict[Path, Any] = {}
        self._items: dict[Path, _Parts] = {}

    def mend(self, unit: Unit) -> None:
        """Have an error be none: what was missed goes, else the prediction takes its place."""
        if unit.outcome is Outcome.FN:
            # A position of a tuple stays, or others would be in its place.
            self._values.setdefault(unit.gt_path or (), None if _is_position(unit.visit) else _GONE)
            return
        if unit.gt_path is not None:
            self._values[unit.gt_path] = deepcopy(unit.pred)
            return
        place = _place_around(unit)
        parts = self._items.setdefault(place.gt_path, _Parts())
        for step, positional in zip(place.steps[:-1], place.positional, strict=False):
            parts.positional |= positional
            inner = parts.setdefault(step, _Parts())
            if not isinstance(inner, _Parts):
                return  # the whole item is there already
            parts = inner
        parts.positional |= place.positional[len(place.steps) - 1]
        parts[place.steps[-1]] = deepcopy(unit.pred)

    @property
    def document(self) -> Any:
        """The ground truth as it is to be."""
        document = deepcopy(self._truth)
        alone = {
            path: value
            for path, value in self._values.items()
            if not any(path[:length] in self._values for length in range(len(path)))
        }
        for path, value in alone.items():
            if value is not _GONE:
                document = _with(document, path, value)
        gone = [path for path, value in alone.items() if value is _GONE]
        for path, parts in self._items.items():
            if not any(path[:length] in alone for length in range(len(path) + 1)):
                there = _at(document, path)
                items = there if isinstance(there, list) else [] if there is None else [there]
                document = _with(document, path, parts.added_to(items))
        for path in sorted(gone, key=_from_the_end, reverse=True):
            document = _without(document, path)
        return document


class _Parts(dict[Step, Any]):
    """What is put together of a value that only the prediction has, by step."""

    positional = False
    """Whether steps are positions of a tuple."""

    def added_to(self, items: list[Any]) -> list[Any]:
        """Return a list with these as more elements."""
        items = [*items]
        for step in sorted(self, key=int):
            part = self[step]
            made = part.built() if isinstance(part, _Parts) else part
            if self.positional:
                items += [None] * (int(step) + 1 - len(items))
                items[int(step)] = made
            else:
                items.append(made)
        return items

    def built(self) -> Any:
        """Return the value."""
        if all(isinstance(step, int) for step in self):
            return self.added_to([])
        made = self.items()
        return {step: part.built() if isinstance(part, _Parts) else part for step, part in made}


class _Around(NamedTuple):
    """The list of the ground truth that lacks the item that a value is in, and the way from it."""

    gt_path: Path
    steps: Path
    positional: list[bool]
    """Of each step, whether it is a position of a tuple."""


def _place_around(unit: Unit) -> _Around:
    visit, pair = unit.visit, unit.pair
    positional = [False] if visit.order is None else []
    place = visit.place(pair)
    while place.gt_path is None and visit.around is not None:
        if visit.order is not None and not visit.is_side:
            positional.append(_is_position(visit))
        pair = pair if visit.of is None else int(visit.of[pair])
        visit = visit.around
        place = visit.place(pair)
    pred = unit.pred_path or ()
    steps = pred[len(place.pred_path or ()) :]
    return _Around(place.gt_path or (), steps, positional[::-1])


def _is_position(visit: Visit) -> bool:
    """Return whether pairs are elements that go together by position."""
    is_element = visit.units is not None and visit.around is not None
    return is_element and isinstance(visit.around.account.node, TupleNode)  # type: ignore[union-attr]


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
