"""Five counts and their rates, and sums over documents of what was counted of each field.

Here alone are the formulas of rates. Sums add in any order, exactly.

A cell is what was counted of a field in a document, as numbers: counts by mode and outcome, and
those of `BESIDE`. Of many documents there are the sums of cells and of scores, and the *moments*,
sums of squares and cross products of counts, which an interval of a rate takes. All are whole
numbers, and as many however many documents there are.
"""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations_with_replacement, groupby
from operator import add
from typing import Any, Final, NamedTuple

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes
from stickler_cli.compare.result import FieldInfo, Outcome
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import ANY_KEY, Path, field_path
from stickler_cli.settings.deciding import Counting, CountingOptions
from .field_counts import (
    BESIDE,
    CELL,
    OF_ITEMS,
    OF_MODES,
    RAW,
    SCORE,
    SCORED,
    WEIGHT,
    FieldCounts,
    parents_first,
)

RATES: Final = ("precision", "recall", "f1", "accuracy")  # in results `cm_` stands before each
BOUNDS: Final = ("lower", "upper")  # of the confidence interval of a rate or score


class Counts(NamedTuple):
    """How many units fell into each class, in the order of `Outcome`.

    Every rate is 0.0 where its denominator is 0. Source: docs/semantics.md, Classification.
    """

    tp: int = 0
    fd: int = 0
    fa: int = 0
    fn: int = 0
    tn: int = 0

    def __add__(self, other: "Counts") -> "Counts":  # type: ignore[override] # no longer tuple
        return Counts(*map(add, self, other))

    @property
    def fp(self) -> int:
        """Everything in the prediction that is wrong: FA + FD."""
        return self.fa + self.fd

    @property
    def lost(self) -> int:
        """All that is wrong, invented or missed."""
        return self.fd + self.fa + self.fn

    @property
    def right(self) -> int:
        """True positives, as tables call them."""
        return self.tp

    @property
    def wrong(self) -> int:
        """False discoveries."""
        return self.fd

    @property
    def invented(self) -> int:
        """False alarms."""
        return self.fa

    @property
    def missed(self) -> int:
        """False negatives."""
        return self.fn

    @property
    def absent(self) -> int:
        """True negatives."""
        return self.tn

    @property
    def total(self) -> int:
        """All units, absent ones included."""
        return sum(self)

    def derived(self, *, recall_with_fd: bool = False) -> dict[str, float]:
        """Return every rate by name, each in [0, 1].

        >>> Counts(tp=9, fd=1, fn=1).derived()["f1"]
        0.9
        """
        parts = fractions(self, recall_with_fd=recall_with_fd)
        return {name: above / below if below else 0.0 for name, (above, below) in parts.items()}

    def view(self, *, recall_with_fd: bool = False) -> dict[str, object]:
        """Return the counts and rates as results show them."""
        rates = self.derived(recall_with_fd=recall_with_fd)
        return {
            "tp": self.tp,
            "fd": self.fd,
            "fa": self.fa,
            "fn": self.fn,
            "fp": self.fp,
            "tn": self.tn,
            "derived": {f"cm_{name}": value for name, value in rates.items()},
        }


def fractions(counts: Sequence[Any], *, recall_with_fd: bool) -> dict[str, tuple[Any, Any]]:
    """Return every rate of counts, or of arrays of them, as what is divided, and by what.

    F1, 2PR / (P + R), is the one division that it comes to, 2TP / (2TP + FP + FN [+ FD]): so that
    nine of ten is 0.9 to the last digit, whatever a gate asks for.
    """
    tp, fd, fa, fn, tn = counts
    predicted = tp + fa + fd
    relevant = tp + fn + fd if recall_with_fd else tp + fn
    return {
        "precision": (tp, predicted),
        "recall": (tp, relevant),
        "f1": (2 * tp, predicted + relevant),
        "accuracy": (tp + tn, predicted + fn + tn),
    }


class Rates(NamedTuple):
    """The rates of some counts, each in [0, 1]; None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class RateRule:
    """How counts are read: which of the three, and which recall; bound once."""

    recall_with_fd: bool = False
    """Whether recall also counts false discoveries as not found."""
    counting: Counting = CountingOptions.counting
    """The counts that people and pipelines read: all values, if nobody says otherwise."""

    def rates(self, counts: Counts) -> Rates:
        """Return rates for people to read: 0 of 0 is not 0.0 but nothing.

        >>> RateRule().rates(Counts(fn=2))
        Rates(precision=None, recall=0.0, f1=0.0)
        """
        parts = self.fractions(counts)
        divided = (parts[name] for name in Rates._fields)
        return Rates(*(above / below if below else None for above, below in divided))

    def f1(self, counts: Counts) -> float:
        """Return F1, 0.0 where there is nothing to divide by."""
        return counts.derived(recall_with_fd=self.recall_with_fd)["f1"]

    def fractions(self, counts: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
        """Return every rate of counts, or of arrays of them, as what is divided and by what."""
        return fractions(counts, recall_with_fd=self.recall_with_fd)


VALUES: Final = RateRule()
"""How counts are read if nobody says otherwise."""
EXACT_RULE: Final = RateRule(recall_with_fd=True)
"""How exact items are read: divided by all items of either side, with those that have errors.

Source: Tjong Kim Sang and De Meulder (2003), https://aclanthology.org/W03-0419, where it is called
the F1 of entities."""
EXACT_F1: Final = "exact_f1"
EXACT: Final = ("exact_precision", "exact_recall", EXACT_F1)
"""The names of these rates as columns and metrics."""


COUNTING_MODES: Final = ("overall", "aggregate", "leaves")
NAMES: Final = tuple(outcome.name.lower() for outcome in Outcome)  # of the counts
LEAVES: Final = slice(OF_MODES - len(NAMES), OF_MODES)  # the counts of values
PAIRS: Final = tuple(combinations_with_replacement(range(len(NAMES)), 2))
"""The outcomes whose counts in a document are multiplied."""
KEYS: Final = tuple(f"{NAMES[one]}_{NAMES[two]}" for one, two in PAIRS)
"""What each of the moments of a counting mode is called."""
SCORE_UNIT: Final = 1 << 60
"""Scores are summed as whole numbers of 2**-60, so that sums do not depend on their order."""


MOST_KEYS: Final = 200
"""Keys of a map that have figures of their own, as many as there may be groups."""


@dataclass(slots=True)
class Tally:
    """The sums of one field, or of whole documents."""

    cell: list[int] = field(default_factory=lambda: [0] * CELL)
    """The sums of its cells."""
    moments: list[list[int]] = field(default_factory=lambda: [[0] * len(KEYS) for _ in range(3)])
    """By counting mode, an entry for each of `KEYS`."""
    scored: int = 0
    """Documents in which it has a score of its own: not below a list or an absent side."""
    raw_units: int = 0
    """The sum of its raw similarities, in `SCORE_UNIT`s."""
    score_units: int = 0
    """The sum of its scores after clipping, in `SCORE_UNIT`s; of documents, of overall scores."""
    score_squares: int = 0
    """The sum of their squares, likewise."""
    weight: float | None = None
    """What the field is worth; the most where documents differ."""

    def merge(self, other: "Tally") -> None:
        """Add the sums of other documents, or of another field."""
        self.cell = [*map(add, self.cell, other.cell)]
        moments = zip(self.moments, other.moments, strict=True)
        self.moments = [[*map(add, mine, more)] for mine, more in moments]
        self.scored += other.scored
        self.raw_units += other.raw_units
        self.score_units += other.score_units
        self.score_squares += other.score_squares
        if other.weight is not None:
            self.weight = max(other.weight, self.weight or 0.0)

    def counts(self, mode: str) -> Counts:
        """Return the counts of one mode: `overall`, `aggregate` or `leaves`."""
        start = COUNTING_MODES.index(mode) * len(NAMES)
        return Counts(*self.cell[start : start + len(NAMES)])

    @property
    def passed_over(self) -> int:
        """Documents in which it was not evaluated, as nobody has labelled it there."""
        return self.cell[OF_MODES]

    @property
    def evaluated(self) -> bool:
        """Whether it was evaluated in any document."""
        return not self.passed_over or bool(self.scored or any(self.cell[:OF_MODES]))

    @property
    def whole(self) -> int:
        """Of a list or an object, items that are right as a whole: paired, and without an error."""
        return self.cell[OF_ITEMS][0]

    @property
    def items(self) -> int:
        """All items that are in the ground truth or invented."""
        return self.cell[OF_ITEMS][1]

    @property
    def items_as_units(self) -> Counts:
        """Items, each as one unit that is right only as a whole.

        Items that both sides have with an error inside are FD; `EXACT_RULE` gives the rates.
        """
        exact, items, missed, invented = self.cell[OF_ITEMS]
        return Counts(tp=exact, fd=items - exact - missed - invented, fa=invented, fn=missed)

    @property
    def exact(self) -> "Rates":
        """Precision, recall and F1 of exact items; None where there is nothing to divide by."""
        return EXACT_RULE.rates(self.items_as_units)

    @property
    def predicted(self) -> int:
        """How many values predictions have of it."""
        values = self.counts("leaves")
        return values.tp + values.fp

    @property
    def mean_raw(self) -> float | None:
        """The mean raw similarity over the documents that scored it; None without any."""
        return self.raw_units / (self.scored * SCORE_UNIT) if self.scored else None

    @property
    def mean_score(self) -> float | None:
        """The mean score over the documents that scored it; None without any."""
        return self.score_units / (self.scored * SCORE_UNIT) if self.scored else None


class Sums(dict[FieldNames, Tally]):
    """The sums of fields, by their paths without list indexes; of whole documents at ()."""

    def at(self, path: Path) -> Tally:
        """Return the sums of a field; those of no documents where nothing was counted."""
        return self.get(tuple(map(str, path))) or Tally()

    def gain(self, path: FieldNames, more: Tally) -> None:
        """Add what was counted of a field in other documents."""
        if path in self:
            self[path].merge(more)
        else:
            self[path] = replace(more)  # with its lists, of which `merge` makes others

    def merge(self, other: "Sums") -> None:
        """Add the sums of other documents; the order of merging makes no difference."""
        for path, tally in other.items():
            self.gain(path, tally)

    def never_present(self) -> list[FieldNames]:
        """Return the fields that had no value on either side in any document, outermost only."""
        found: list[FieldNames] = []
        for path, tally in sorted(self.items()):
            values = sum(tally.counts("leaves")[:4]) + sum(tally.counts("overall")[:4])
            is_inside = bool(found) and path[: len(found[-1])] == found[-1]  # parents come first
            if path and not values and not is_inside and not tally.passed_over:
                found.append(path)
        return found

    def never_labelled(self) -> dict[str, int]:
        """Return the fields that were evaluated in no document, and how often."""
        never = {path: tally for path, tally in self.items() if not tally.evaluated}
        return {field_path(path): never[path].passed_over for path in sorted(never)}

    def places(self, known: Container[Path]) -> dict[FieldNames, FieldNames]:
        """Return where fields go so that a map has the `MOST_KEYS` keys that most documents have.

        The others go to `*`; `known` are the fields of the schema. Empty if no map has more.
        """
        found: dict[FieldNames, FieldNames] = {(): ()}
        for _, level in groupby(sorted(filter(None, self), key=len), len):
            maps: dict[FieldNames, dict[str, list[FieldNames]]] = {}
            for path in level:
                around = found.get(path[:-1], path[:-1])
                maps.setdefault(around, {}).setdefault(path[-1], []).append(path)
            for around, names in maps.items():
                pattern = pattern_of(around, known)
                keys = {name for name in names if step_of(name, known, pattern) == ANY_KEY}
                by_use = sorted(keys - {ANY_KEY}, key=lambda name: (*self._use(names[name]), name))
                rest = set(by_use[MOST_KEYS:])
                for name, paths in names.items():
                    place = (*around, ANY_KEY if name in rest else name)
                    found.update(dict.fromkeys(paths, place))
        return {path: place for path, place in found.items() if path != place}

    def _use(self, paths: Sequence[FieldNames]) -> tuple[int, int]:
        """Return in how many documents a key is, and how often, the most first."""
        tallies = [self[path] for path in paths]
        values = (sum(tally.cell[LEAVES]) for tally in tallies)
        return -sum(tally.scored for tally in tallies), -sum(values)

    def moved(self, places: Mapping[FieldNames, FieldNames]) -> "Sums":
        """Return the same with what was counted of some fields in other places."""
        found = Sums()
        for path, tally in self.items():
            found.gain(places.get(path, path), tally)
        return found

    def ordered(self, first: Iterable[FieldNames] = ()) -> "Sums":
        """Return all fields, after some that there may be, parents first, else in their order."""
        return Sums((path, self.at(path)) for path in parents_first((*first, *self)))


def sums_of(counts: FieldCounts) -> Sums:
    """Return the sums of the documents of a chunk."""
    starts = counts.starts
    cells = np.add.reduceat(counts.cells, starts, axis=0).tolist()
    products = (counts.sums[..., one] * counts.sums[..., two] for one, two in PAIRS)
    by_pair = [np.add.reduceat(product, starts, axis=1) for product in products]
    moments = np.stack(by_pair, axis=-1).swapaxes(0, 1).tolist()
    scored = np.add.reduceat(counts.scores[SCORED], starts).astype(np.int64).tolist()
    weights = np.maximum.reduceat(counts.scores[WEIGHT], starts).tolist()
    each = (counts.scores[RAW], counts.scores[SCORE], counts.scores[SCORE] ** 2)
    raw, score, score_squares = (sums_of_units(scores, starts) for scores in each)
    found = Sums()
    for at, path in enumerate(counts.paths):
        weight = weights[at] if scored[at] and path else None
        units = raw[at], score[at], score_squares[at]
        found[path] = Tally(cells[at], moments[at], scored[at], *units, weight)
    return found


def products(moments: Sequence[int]) -> Floats:
    """Return the products of a counting mode as a matrix, (5 outcomes, 5 outcomes)."""
    matrix = np.empty((len(NAMES), len(NAMES)))
    for (one, two), product in zip(PAIRS, moments, strict=True):
        matrix[one, two] = matrix[two, one] = product
    return matrix


def units_of(score: float) -> int:
    """Return a score in [0, 1] as a whole number of `SCORE_UNIT`s; exact above 2**-7."""
    return int(score * SCORE_UNIT)


def sums_of_units(scores: Floats, starts: Indexes) -> list[int]:
    """Return the sums of spans of scores in [0, 1] in `SCORE_UNIT`s; each is exact above 2**-7."""
    units = (scores * SCORE_UNIT).astype(np.int64)
    # Halves of 30 bits, so that the sums of 2**33 scores stay within 64 bits.
    halves = np.add.reduceat([units >> 30, units & ((1 << 30) - 1)], starts, axis=1).tolist()
    return [(high << 30) + low for high, low in zip(*halves, strict=True)]


def cell_view(cell: Sequence[int]) -> dict[str, Any]:
    """Return a cell as files have it: what is not 0, once if the counting modes are alike."""
    by_mode = [cell[at : at + len(NAMES)] for at in range(0, OF_MODES, len(NAMES))]
    beside = zip(BESIDE, cell[OF_MODES:], strict=True)
    return sparse(by_mode) | {name: n for name, n in beside if n}


def sparse(by_mode: Sequence[Sequence[int]], names: Sequence[str] = NAMES) -> dict[str, Any]:
    """Return what was counted by mode as files have it: what is not 0, once if modes are alike."""
    views = [{name: n for name, n in zip(names, mode, strict=True) if n} for mode in by_mode]
    if views[0] == views[1] == views[2]:
        return views[0]
    return {mode: view for mode, view in zip(COUNTING_MODES, views, strict=True) if view}


def cell_of(entry: Mapping[str, Any]) -> list[int]:
    """Return the cell that stands in a file."""
    return [*chain(*dense(entry)), *(entry.get(name, 0) for name in BESIDE)]


def dense(entry: Mapping[str, Any], names: Sequence[str] = NAMES) -> Iterator[list[int]]:
    """Yield what stands in a file for each counting mode."""
    return ([mode.get(name, 0) for name in names] for mode in counts_by_mode(entry))


def counts_by_mode(entry: Mapping[str, Any]) -> tuple[Mapping[str, int], ...]:
    """Return the counts of a field by name, mode by mode; they are written once if equal."""
    found = tuple(entry.get(mode, {}) for mode in COUNTING_MODES)
    return found if any(found) else (entry, entry, entry)


def pattern_of(path: Path, known: Container[Path]) -> Path:
    """Return the path under which the schema describes a field."""
    pattern: Path = ()
    for name in path:
        pattern = (*pattern, step_of(str(name), known, pattern))
    return pattern


def step_of(name: str, known: Container[Path], pattern: Path) -> str:
    """Return the step by which the schema describes a name below a pattern: its own, or `*`."""
    declared = (*pattern, name) in known or (*pattern, ANY_KEY) not in known
    return name if declared else ANY_KEY


def in_schema_order(sums: Sums, fields: Iterable[FieldInfo]) -> Sums:
    """Return sums whose fields stand as in the schema; names that only documents have follow.

    Documents may meet fields in any order; a result must not show it.
    """
    rank: dict[Path, int] = {}
    for position, info in enumerate(fields):
        rank.setdefault(info.field, position)

    def place(path: Path) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        pattern: Path = ()
        for name in map(str, path):
            found.append((rank.get((*pattern, name), math.inf), name))
            pattern = (*pattern, step_of(name, rank, pattern))
        return found

    return Sums((path, sums[path]) for path in sorted(sums, key=place))
