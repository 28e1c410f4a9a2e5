"""Marks of people on errors, and the figures of a run whose ground truth is as they say."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.result import Outcome
from stickler_cli.compare.units import UnitBatch
from stickler_cli.core.json_values import ALTERNATIVES, Alternative, JsonValue
from stickler_cli.core.locations import Path, Step, field_path
from stickler_cli.core.rules import Count, Fraction, FractionOrNone
from stickler_cli.score.sums import COUNTING_MODES, SCORE_SCALE, Counts, RateRule, Tally
from .located_units import LocatedUnit, alternatives_of, locate

REMOVED: Final = object()
"""In place of a value that goes, until `drop_removed`."""

CountArray: TypeAlias = NDArray[np.int64]  # by counting mode and outcome, (3, 5)

VERDICTS: Final = {
    "ground_truth_right": (True, False),
    "ground_truth_wrong": (False, True),
    "prediction_right": (True, True),
    "both_acceptable": (True, True),
    "neither": (False, False),
}
"""By verdict, whether the ground truth is right, and the prediction."""
ACCEPTING_VERDICTS: Final = tuple(
    verdict for verdict, (_, prediction) in VERDICTS.items() if prediction
)
"""The verdicts after which an error is none."""


class MarkedError(NamedTuple):
    """Which error a verdict is about."""

    document: str
    path: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.document}: {self.path} ({self.outcome})"


@dataclass(frozen=True, slots=True)
class Mark:
    """Somebody's mark of an error."""

    verdict: str
    sides: Mapping[str, JsonValue] = field(default_factory=dict)
    """The values that were seen, `gt` and `pred`, as far as the verdict has them."""

    def fits(self, unit: LocatedUnit) -> bool:
        """Return whether an error has the values that were seen."""
        seen = {"gt": unit.gt, "pred": unit.pred}
        return all(seen[side] == value for side, value in self.sides.items())


Marks = Mapping[str, Mapping[MarkedError, Mark]]
"""The verdicts on the errors of each document, by its id."""


@dataclass(slots=True)
class MarkedCounts:
    """Changes of marks in some documents: sums that are added up in any order."""

    matched_errors: list[MarkedError] = field(default_factory=list)
    """The errors that there are, of those that marks are about."""
    counts: list[list[int]] = field(default_factory=lambda: [[0] * 5 for _ in COUNTING_MODES])
    """By counting mode and outcome, how many more there are, or fewer."""
    score_sum: int = 0
    """How much the sum of scores is higher, in `SCORE_SCALE`s."""

    def add(self, before: CountArray, after: CountArray, score_sum: int) -> None:
        """Add a document: its counts, those when compared again, and how much its score rises."""
        self.merge(MarkedCounts([], (after - before).tolist(), score_sum))

    def merge(self, other: "MarkedCounts") -> None:
        """Add other documents."""
        self.matched_errors += other.matched_errors
        for mine, more in zip(self.counts, other.counts, strict=True):
            mine[:] = map(sum, zip(mine, more, strict=True))
        self.score_sum += other.score_sum


def match_marks(
    units: Iterable[LocatedUnit], marks: Mapping[MarkedError, Mark], document: str
) -> Iterator[tuple[MarkedError, LocatedUnit]]:
    """Yield the errors of a document that marks are about."""
    for unit in units:
        marked = MarkedError(document, field_path(unit.path), unit.outcome.name)
        mark = marks.get(marked)
        if mark is not None and mark.fits(unit):
            yield marked, unit


@dataclass(frozen=True, slots=True)
class MendedRates:
    """The rates of one counting mode, and what they are made of."""

    tp: Count
    """Right."""
    fd: Count
    """Wrong values."""
    fa: Count
    """Invented."""
    fn: Count
    """Missed."""
    precision: Fraction
    """0.0 where there is nothing to divide by, as the other rates."""
    recall: Fraction
    """By the option of the run that says what counts as missed."""
    f1: Fraction
    """2PR / (P + R)."""


@dataclass(frozen=True, slots=True)
class MarkedOutcome:
    """What a run would come to if the ground truth were as people say of its errors."""

    verdicts: Count
    """How many errors there are verdicts on; the last one counts, where there are several."""
    right: Mapping[str, Count]
    """How many errors of this run count as right, by verdict."""
    neither: Count
    """How many stand, as neither side is right."""
    unfit: Sequence[str]
    """What fits no error of this run: document, path and outcome; sorted."""
    overall: MendedRates
    """Units, as `overall` counts them."""
    aggregate: MendedRates
    """Values in objects and items that match, as `aggregate` counts them."""
    leaves: MendedRates
    """All values, as `leaves` counts them."""
    overall_score: FractionOrNone
    """The mean score of documents; null without any."""

    @property
    def n_accepted(self) -> int:
        """How many errors count as right."""
        return sum(self.right.values())


def evaluate_marks(
    marks: Marks, found: MarkedCounts, tally: Tally, rule: RateRule
) -> MarkedOutcome:
    """Return the figures of a run, whose sums are these, as marks change them."""
    everything = {marked: mark for each in marks.values() for marked, mark in each.items()}
    fitting = {marked: everything[marked].verdict for marked in set(found.matched_errors)}
    verdicts = [*fitting.values()]
    modes = {}
    for mode, more in zip(COUNTING_MODES, found.counts, strict=True):
        counts = tally.counts(mode) + Counts(*more)
        rates = counts.derived(recall_with_fd=rule.recall_with_fd)
        shown = (rates[name] for name in ("precision", "recall", "f1"))
        modes[mode] = MendedRates(counts.tp, counts.fd, counts.fa, counts.fn, *shown)
    score = None
    if tally.n_scored:
        score = (tally.score_sum + found.score_sum) / (tally.n_scored * SCORE_SCALE)
    return MarkedOutcome(
        len(everything),
        {verdict: verdicts.count(verdict) for verdict in ACCEPTING_VERDICTS if verdict in verdicts},
        sum(verdict not in ACCEPTING_VERDICTS for verdict in verdicts),
        sorted(str(marked) for marked in everything.keys() - fitting.keys()),
        **modes,
        overall_score=score,
    )


def correct_truth(units: Iterable[LocatedUnit], truth: JsonValue) -> JsonValue:
    """Return a ground truth, which stays as it is, without errors of its document.

    What was missed goes, else the prediction takes its place; what is inside of a place that
    changes as a whole goes with it. Lists keep their indexes until all is done.
    """
    document: Any = truth
    for change in find_truth_changes(units, truth):
        document = set_value(document, change.path, change.value)
    left: JsonValue = drop_removed(document)
    return left


class TruthChange(NamedTuple):
    """A change of a ground truth by which an error is none."""

    outcome: Outcome
    """That of the error."""
    path: Path
    """Where it is."""
    value: Any
    """The new value; `REMOVED` where nothing is to be."""
    alternatives: Sequence[tuple[int, Alternative]] = ()
    """The alternatives that it is inside of, by the lengths of their paths, the longest first."""

    @property
    def written_path(self) -> Path:
        """The path in a ground truth as it is written, with the steps to alternatives."""
        path = self.path
        for length, alternative in self.alternatives:
            path = (*path[:length], *alternative.location, *path[length:])
        return path


def find_truth_changes(units: Iterable[LocatedUnit], truth: JsonValue) -> list[TruthChange]:
    """Return what errors would change in a ground truth: where, and what would be there.

    First what goes, as a value of another kind may come in its place; then from the inside out.
    """
    new: dict[Path, dict[Step, int]] = {}
    changes = [_change(unit, truth, new) for unit in units]
    return sorted(changes, key=lambda it: (it.outcome is not Outcome.FN, -len(it.path)))


def _change(unit: LocatedUnit, truth: JsonValue, new: dict[Path, dict[Step, int]]) -> TruthChange:
    """Return the change of an error; new items of a list of the ground truth get its next indexes.

    An alternative that was taken is the ground truth of what is inside it.
    """
    value: Any = unit.pred
    if unit.outcome is Outcome.FN:
        # A position of a tuple stays, or others would be in its place.
        value = None if _is_position(unit.batch) else REMOVED

    # The innermost unit around it that has a place in the ground truth, and the item below that.
    item = around = unit.batch
    position = unit.position
    (place,) = locate(unit.table, around, np.array([position]))
    while around.container is not None and place.gt_path is None:
        position = int(around.positions[position])
        item, around = around, around.container
        (place,) = locate(unit.table, around, np.array([position]))
    taken = [*alternatives_of(unit.table, around, position)]
    path = place.gt_path or ()
    if unit.gt_path is not None:
        inside = [it for it in taken if it[0] < len(unit.gt_path)]
        return TruthChange(unit.outcome, unit.gt_path, value, inside)
    for length, it in reversed(taken):
        truth = set_value(truth, path[:length], it.value)
    first, *rest = (unit.pred_path or ())[len(place.pred_path or ()) :]
    if not _is_position(item):
        first = new_item_index(first, truth, path, new)
    return TruthChange(unit.outcome, (*path, first, *rest), value, taken)


def new_item_index(
    item: Step, truth: JsonValue, path: Path, new: dict[Path, dict[Step, int]]
) -> int:
    """Return the index that a list of the ground truth has for a new item, by its own name."""
    there: Any = truth
    for step in path:
        if isinstance(step, str):
            there = there.get(step) if isinstance(there, dict) else None
        elif isinstance(there, list):  # else it counts as one of it
            there = there[step]
    known = len(there) if isinstance(there, list) else int(there is not None)
    items = new.setdefault(path, {})
    return known + items.setdefault(item, len(items))


def _is_position(batch: UnitBatch) -> bool:
    """Return whether units are items that are compared by position."""
    container = batch.container
    return batch.is_item and container is not None and bool(container.node.positional)


def set_value(
    value: Any,
    path: Path,
    new: Any,
    put: Callable[[Any, Any], Any] = lambda there, new: new,
    value_key: Callable[[Any], str | None] = lambda value: None,
) -> Any:
    """Return a value with another at a path, as `put` puts it; what is missing around it is made.

    Wrappers on the way stay; `value_key` returns their key of the value.
    """
    if not path:
        return put(value, new)
    step, rest = path[0], path[1:]
    key = value_key(value) if isinstance(value, dict) else None
    if key is not None and step not in (key, ALTERNATIVES):
        step, rest = key, path
    if isinstance(step, str):
        there = value if isinstance(value, dict) else {}
        return {**there, step: set_value(there.get(step), rest, new, put, value_key)}
    elements = [*value] if isinstance(value, list) else [] if value is None else [value]
    elements += [None] * (step + 1 - len(elements))
    elements[step] = set_value(elements[step], rest, new, put, value_key)
    return elements


def drop_removed(value: Any) -> Any:
    """Return a value without what goes; what is left empty counts as absent."""
    if isinstance(value, dict):
        return {key: drop_removed(part) for key, part in value.items() if part is not REMOVED}
    if isinstance(value, list):
        return [drop_removed(part) for part in value if part is not REMOVED]
    return value
