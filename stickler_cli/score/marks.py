"""What people said of errors, and what a run comes to where the ground truth is as they say."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple

from stickler_cli.core.json_values import JsonValue
from stickler_cli.core.locations import field_path
from stickler_cli.core.rules import Count, Fraction, FractionOrNone
from stickler_cli.core.values import dataclass
from .batch import Batch
from .counts import Counts, RateRule
from .mending import with_none_of
from .results import Results
from .tally import COUNTING_MODES, SCORE_UNIT, units_of
from .units import Unit

RIGHT: Final = ("ground_truth_wrong", "prediction_right", "both_acceptable")
"""The verdicts after which an error is none."""


class Marked(NamedTuple):
    """Which error a verdict is about."""

    document: str
    path: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.document}: {self.path} ({self.outcome})"


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody said of an error."""

    verdict: str
    sides: Mapping[str, JsonValue] = field(default_factory=dict)
    """The values that were seen, `gt` and `pred`, as far as the verdict has them."""

    @property
    def counts_right(self) -> bool:
        """Whether the error counts as right by it."""
        return self.verdict in RIGHT

    def fits(self, unit: Unit) -> bool:
        """Return whether an error has the values that were seen."""
        seen = {"gt": unit.gt, "pred": unit.pred}
        return all(seen[side] == value for side, value in self.sides.items())


Marks = Mapping[str, Mapping[Marked, Mark]]
"""The verdicts on the errors of each document, by its id."""


@dataclass(slots=True)
class MarkedCounts:
    """What marks change in some documents: sums that are added up in any order."""

    fitting: list[Marked] = field(default_factory=list)
    """The errors that there are, of those that marks are about."""
    counts: list[list[int]] = field(default_factory=lambda: [[0] * 5 for _ in COUNTING_MODES])
    """By counting mode and outcome, how many more there are, or fewer."""
    score_units: int = 0
    """How much the sum of scores is higher, in `SCORE_UNIT`s."""

    def add(self, batch: Batch, again: Batch, document: int) -> None:
        """Add a document of a batch, and what it is when compared again, by itself."""
        row = batch.rows[document]
        if row is None or batch.counts is None or again.counts is None:
            return
        before, after = batch.counts.sums[:, row].tolist(), again.counts.sums[:, 0].tolist()
        for mine, *pair in zip(self.counts, after, before, strict=True):
            mine[:] = (count + new - old for count, new, old in zip(mine, *pair, strict=True))
        self.score_units += units_of(float(again.scores[0])) - units_of(float(batch.scores[row]))

    def merge(self, other: "MarkedCounts") -> None:
        """Add other documents."""
        self.fitting += other.fitting
        for mine, more in zip(self.counts, other.counts, strict=True):
            mine[:] = map(sum, zip(mine, more, strict=True))
        self.score_units += other.score_units


def errors_of_marks(
    units: Iterable[Unit], marks: Mapping[Marked, Mark], document: str
) -> Iterator[tuple[Marked, Unit]]:
    """Yield the errors of a document that marks are about."""
    for unit in units:
        marked = Marked(document, field_path(unit.path), unit.outcome.name)
        mark = marks.get(marked)
        if mark is not None and mark.fits(unit):
            yield marked, unit


def mended(
    truth: JsonValue, errors: Iterable[tuple[Marked, Unit]], marks: Mapping[Marked, Mark]
) -> JsonValue:
    """Return a ground truth as marks say that it should be."""
    return with_none_of([unit for marked, unit in errors if marks[marked].counts_right], truth)


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
    def changed(self) -> int:
        """How many errors count as right."""
        return sum(self.right.values())


def outcome_of_marks(
    marks: Marks, found: MarkedCounts, results: Results, rule: RateRule
) -> MarkedOutcome:
    """Return what a run comes to by what marks change in it."""
    everything = {marked: mark for each in marks.values() for marked, mark in each.items()}
    fitting = {marked: everything[marked].verdict for marked in set(found.fitting)}
    verdicts = [*fitting.values()]
    modes = {}
    for mode, more in zip(COUNTING_MODES, found.counts, strict=True):
        counts = results.tally.counts(mode) + Counts(*more)
        rates = counts.derived(recall_with_fd=rule.recall_with_fd)
        shown = (rates[name] for name in ("precision", "recall", "f1"))
        modes[mode] = MendedRates(counts.tp, counts.fd, counts.fa, counts.fn, *shown)
    score = None
    if results.evaluated:
        score = (results.score_units + found.score_units) / (results.evaluated * SCORE_UNIT)
    return MarkedOutcome(
        len(everything),
        {verdict: verdicts.count(verdict) for verdict in RIGHT if verdict in verdicts},
        sum(verdict not in RIGHT for verdict in verdicts),
        sorted(str(marked) for marked in everything.keys() - fitting.keys()),
        **modes,
        overall_score=score,
    )
