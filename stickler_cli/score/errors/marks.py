"""Verdicts of people on errors, and how they change the figures of a run.

A verdict may say that the ground truth is wrong. The ground truth is then corrected, and the
changed figures result from comparing documents with the corrected ground truth.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
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
"""Replaces a removed value until `drop_removed` runs. Removing list items earlier would change the
indexes of later items."""

CountArray: TypeAlias = NDArray[np.int64]  # (3 counting modes, 5 outcomes)

VERDICTS: Final = {
    "ground_truth_right": (True, False),
    "ground_truth_wrong": (False, True),
    "prediction_right": (True, True),
    "both_acceptable": (True, True),
    "neither": (False, False),
}
"""What each verdict says: (whether the ground truth is right, whether the prediction is right)."""
ACCEPTING_VERDICTS: Final = tuple(
    verdict for verdict, (_, pred_is_right) in VERDICTS.items() if pred_is_right
)
"""The verdicts that turn an error into a right value."""


class MarkedError(NamedTuple):
    """Identifies an error that a person has given a verdict on: document, path and outcome."""

    document: str
    path: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.document}: {self.path} ({self.outcome})"


@dataclass(frozen=True, slots=True)
class Mark:
    """The verdict of a person on an error."""

    verdict: str
    sides: Mapping[str, JsonValue] = field(default_factory=dict)
    """The values that the person saw, with the keys `gt` and `pred`. Empty if they were not
    recorded."""

    def fits(self, unit: LocatedUnit) -> bool:
        """Return whether an error has the values that the person saw."""
        values = {"gt": unit.gt, "pred": unit.pred}
        return all(values[side] == value for side, value in self.sides.items())


Marks = Mapping[str, Mapping[MarkedError, Mark]]
"""The verdicts of people. Maps each document id to a dict from an error of the document to its
verdict."""


@dataclass(slots=True)
class MarkedCounts:
    """How verdicts change the figures of a run. Documents may be added in any order."""

    matched_errors: list[MarkedError] = field(default_factory=list)
    """The errors of this run that have a verdict."""
    counts: list[list[int]] = field(default_factory=lambda: [[0] * 5 for _ in COUNTING_MODES])
    """Changes of the counts by the verdicts: a list for each of the 3 counting modes, with a number
    for each of the 5 outcomes."""
    score_sum: int = 0
    """The change that verdicts make to the sum of the scores, multiplied by `SCORE_SCALE`."""

    def add(self, before: CountArray, after: CountArray, score_change: int) -> None:
        """Add a document: its counts before and after correction, and the change of its score."""
        changes = (after - before).tolist()
        self.merge(MarkedCounts(counts=changes, score_sum=score_change))

    def merge(self, other: "MarkedCounts") -> None:
        """Add the changes of other documents."""
        self.matched_errors += other.matched_errors
        self.counts = [
            [*map(add, counts, other_counts)]
            for counts, other_counts in zip(self.counts, other.counts, strict=True)
        ]
        self.score_sum += other.score_sum


def match_marks(
    units: Iterable[LocatedUnit], marks: Mapping[MarkedError, Mark], document: str
) -> Iterator[tuple[MarkedError, LocatedUnit]]:
    """Yield (error, unit) for each unit of a document that has a verdict.

    `document` is the id of the document. A verdict is skipped if the unit no longer has the values
    that the person saw.
    """
    for unit in units:
        marked = MarkedError(document, field_path(unit.path), unit.outcome.name)
        mark = marks.get(marked)
        if mark is not None and mark.fits(unit):
            yield marked, unit


@dataclass(frozen=True, slots=True)
class MendedRates:
    """The counts and rates of one counting mode, corrected by the verdicts of people."""

    tp: Count
    """Number of right units."""
    fd: Count
    """Number of wrong units."""
    fa: Count
    """Number of invented units."""
    fn: Count
    """Number of missed units."""
    precision: Fraction
    """Precision. Like the other rates, it is 0.0 if the denominator is 0."""
    recall: Fraction
    """Recall, as defined by the run's option `recall_with_fd`."""
    f1: Fraction
    """F1: the harmonic mean of precision and recall."""


@dataclass(frozen=True, slots=True)
class MarkedOutcome:
    """The figures that a run would have if people's verdicts corrected its ground truth."""

    verdicts: Count
    """Number of errors with a verdict. If an error has several verdicts, the last one counts."""
    right: Mapping[str, Count]
    """Some verdicts turn an error into a right value, because they accept the prediction. Maps each
    of these verdicts to the number of errors of this run that have it."""
    neither: Count
    """Number of errors that stay errors. Their verdict says that neither the ground truth nor the
    prediction is right."""
    unfit: Sequence[str]
    """Errors that have a verdict but do not occur in this run, sorted. Each is written as
    `document: path (outcome)`."""
    overall: MendedRates
    """Counts and rates in the counting mode `overall`, after correction."""
    aggregate: MendedRates
    """Counts and rates in the counting mode `aggregate`, after correction."""
    leaves: MendedRates
    """Counts and rates in the counting mode `leaves`, after correction."""
    overall_score: FractionOrNone
    """The mean score of documents; null if no document was compared."""

    @property
    def n_accepted(self) -> int:
        """Number of errors that become right."""
        return sum(self.right.values())


def evaluate_marks(
    marks: Marks, changes: MarkedCounts, tally: Tally, rule: RateRule
) -> MarkedOutcome:
    """Return the figures of a run after correction. `tally` has the sums before correction."""
    mark_by_error = {
        error: mark for document_marks in marks.values() for error, mark in document_marks.items()
    }
    matched_errors = set(changes.matched_errors)
    verdicts = [mark_by_error[error].verdict for error in matched_errors]
    rates_by_mode = {}
    for mode, count_changes in zip(COUNTING_MODES, changes.counts, strict=True):
        counts = tally.counts(mode) + Counts(*count_changes)
        rates = counts.derived(recall_with_fd=rule.recall_with_fd)
        rates_by_mode[mode] = MendedRates(
            tp=counts.tp,
            fd=counts.fd,
            fa=counts.fa,
            fn=counts.fn,
            precision=rates["precision"],
            recall=rates["recall"],
            f1=rates["f1"],
        )
    score = None
    if tally.n_scored:
        score = (tally.score_sum + changes.score_sum) / (tally.n_scored * SCORE_SCALE)
    return MarkedOutcome(
        verdicts=len(mark_by_error),
        right={
            verdict: verdicts.count(verdict)
            for verdict in ACCEPTING_VERDICTS
            if verdict in verdicts
        },
        neither=sum(verdict not in ACCEPTING_VERDICTS for verdict in verdicts),
        unfit=sorted(str(error) for error in mark_by_error.keys() - matched_errors),
        **rates_by_mode,
        overall_score=score,
    )


def correct_truth(units: Iterable[LocatedUnit], truth: JsonValue) -> JsonValue:
    """Return a copy of a ground truth in which the given errors are corrected.

    `units` has the errors. If the prediction has no value, the value is removed from the copy. A
    list item that is compared by position becomes null instead. For any other error, the value of
    the prediction is written into the copy. If an object or list is changed as a whole, changes
    inside it are not needed and have no effect.
    """
    document: Any = truth
    for change in find_truth_changes(units, truth):
        document = set_value(document, change.path, change.value)
    corrected: JsonValue = drop_removed(document)
    return corrected


class TruthChange(NamedTuple):
    """The value to set or remove in a ground truth so that an error is corrected."""

    outcome: Outcome
    """The outcome of the error."""
    path: Path
    """The path of the value that changes."""
    value: Any
    """The new value, or `REMOVED`."""
    alternatives: Sequence[tuple[int, Alternative]] = ()
    """The alternatives that contain the value, the innermost first. Each element is (length of the
    path of the alternative, alternative)."""

    @property
    def written_path(self) -> Path:
        """The path of the value in the ground truth as it is written in the file.

        Unlike `path`, it includes the steps to the alternatives that contain the value.
        """
        path = self.path
        for length, alternative in self.alternatives:
            path = (*path[:length], *alternative.location, *path[length:])
        return path


def find_truth_changes(units: Iterable[LocatedUnit], truth: JsonValue) -> list[TruthChange]:
    """Return the changes that correct errors in a ground truth.

    Apply them in the returned order.
    """
    new_items: dict[Path, dict[Step, int]] = {}
    changes = [_find_change(unit, truth, new_items) for unit in units]
    # Removals come first, as another value may replace a removed one; then the longest paths.
    return sorted(changes, key=lambda change: (change.outcome is not Outcome.FN, -len(change.path)))


def _find_change(
    unit: LocatedUnit, truth: JsonValue, new_items: dict[Path, dict[Step, int]]
) -> TruthChange:
    """Return the change that corrects an error in a ground truth.

    An invented list item gets the next free index of its list, after all existing items. If the
    list is inside an alternative of the ground truth, the existing items are the list's items in
    this alternative. `new_items` records the indexes that earlier changes used in each list.
    """
    value: Any = unit.pred
    if unit.outcome is Outcome.FN:
        # Null keeps the position in a tuple, so that later positions do not move.
        value = None if _is_position(unit.batch) else REMOVED

    # Go up to the innermost unit that has a path in the ground truth, and remember its child.
    child = ancestor = unit.batch
    position = unit.position
    (location,) = locate(unit.table, ancestor, np.array([position]))
    while ancestor.container is not None and location.gt_path is None:
        position = int(ancestor.positions[position])
        child, ancestor = ancestor, ancestor.container
        (location,) = locate(unit.table, ancestor, np.array([position]))
    alternatives = [*alternatives_of(unit.table, ancestor, position)]
    if unit.gt_path is not None:
        containing = [entry for entry in alternatives if entry[0] < len(unit.gt_path)]
        return TruthChange(
            outcome=unit.outcome, path=unit.gt_path, value=value, alternatives=containing
        )
    parent_path = location.gt_path or ()
    for length, alternative in reversed(alternatives):
        truth = set_value(truth, parent_path[:length], alternative.value)
    first, *inner_steps = (unit.pred_path or ())[len(location.pred_path or ()) :]
    if not _is_position(child):
        first = new_item_index(first, truth, parent_path, new_items)
    return TruthChange(
        outcome=unit.outcome,
        path=(*parent_path, first, *inner_steps),
        value=value,
        alternatives=alternatives,
    )


def new_item_index(
    item: Step, truth: JsonValue, path: Path, new_items: dict[Path, dict[Step, int]]
) -> int:
    """Return the index that a new item gets in the list at a path of the ground truth.

    `item` identifies the new item. If it already has an index, it keeps that index.
    """
    value: Any = truth
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        elif isinstance(value, list):  # a single value counts as a list of one
            value = value[step]
    length = len(value) if isinstance(value, list) else int(value is not None)
    indexes = new_items.setdefault(path, {})
    return length + indexes.setdefault(item, len(indexes))


def _is_position(batch: UnitBatch) -> bool:
    """Return whether a batch consists of items that are compared by position."""
    container = batch.container
    return batch.is_item and container is not None and bool(container.node.positional)


def set_value(
    value: Any,
    path: Path,
    new: Any,
    replace: Callable[[Any, Any], Any] = lambda old, new: new,
    value_key: Callable[[Any], str | None] = lambda value: None,
) -> Any:
    """Return a copy of a value in which the value at `path` is replaced.

    The new value is `replace(old, new)`, which is `new` by default. Missing objects and lists on
    the path are added. Wrappers on the path are kept: `value_key(object)` returns the key of the
    wrapped value if the object is a wrapper, else None.
    """
    if not path:
        return replace(value, new)
    step, inner_path = path[0], path[1:]
    key = value_key(value) if isinstance(value, dict) else None
    if key is not None and step not in (key, ALTERNATIVES):
        step, inner_path = key, path
    if isinstance(step, str):
        fields = value if isinstance(value, dict) else {}
        return {**fields, step: set_value(fields.get(step), inner_path, new, replace, value_key)}
    if isinstance(value, list):
        items = [*value]
    elif value is None:
        items = []
    else:
        items = [value]
    items += [None] * (step + 1 - len(items))
    items[step] = set_value(items[step], inner_path, new, replace, value_key)
    return items


def drop_removed(value: Any) -> Any:
    """Return a value without its removed parts. Objects and lists may become empty."""
    if isinstance(value, dict):
        return {key: drop_removed(child) for key, child in value.items() if child is not REMOVED}
    if isinstance(value, list):
        return [drop_removed(item) for item in value if item is not REMOVED]
    return value
