"""Rates such as F1, and the sums of counts and scores of each field over documents.

Rates are computed in this module and nowhere else. Sums are exact and may be added in any order.

A cell holds the counts of one field in one document: a count for each counting mode and outcome,
then `FURTHER_COUNTS`. Cells and scores are summed over documents. *Moments* are kept, too: sums of
squares and products of counts, from which confidence intervals of rates are computed. All sums are
whole numbers. Their number does not grow with the number of documents.
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
    CELL_SIZE,
    FURTHER_COUNTS,
    IS_SCORED,
    ITEM_COUNTS,
    N_UNIT_COUNTS,
    SCORE,
    SIMILARITY,
    WEIGHT,
    FieldCounts,
    rank_parents_first,
)

RATES: Final = ("precision", "recall", "f1", "accuracy")  # in results, `cm_` precedes each name
BOUNDS: Final = ("lower", "upper")  # bounds of a confidence interval


class Counts(NamedTuple):
    """Number of units of each outcome, in the order of `Outcome`.

    Every rate is 0.0 if its denominator is 0. Source: docs/semantics.md, Classification.
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
        """False positives: units whose prediction is wrong, FA + FD."""
        return self.fa + self.fd

    @property
    def lost(self) -> int:
        """Lost units: wrong, invented or missed, FD + FA + FN."""
        return self.fd + self.fa + self.fn

    @property
    def right(self) -> int:
        """Number of true positives; tables call it `right`."""
        return self.tp

    @property
    def wrong(self) -> int:
        """Number of false discoveries; tables call it `wrong`."""
        return self.fd

    @property
    def invented(self) -> int:
        """Number of false alarms; tables call it `invented`."""
        return self.fa

    @property
    def missed(self) -> int:
        """Number of false negatives; tables call it `missed`."""
        return self.fn

    @property
    def absent(self) -> int:
        """Number of true negatives; tables call it `absent`."""
        return self.tn

    @property
    def total(self) -> int:
        """Number of all units, including absent ones."""
        return sum(self)

    def derived(self, *, recall_with_fd: bool = False) -> dict[str, float]:
        """Return a dict from the name of each rate to its value, in [0, 1].

        A rate is 0.0 if its denominator is 0.

        >>> Counts(tp=9, fd=1, fn=1).derived()["f1"]
        0.9
        """
        fractions = rate_fractions(self, recall_with_fd=recall_with_fd)
        return {
            name: numerator / denominator if denominator else 0.0
            for name, (numerator, denominator) in fractions.items()
        }

    def view(self, *, recall_with_fd: bool = False) -> dict[str, object]:
        """Return the counts and rates as files have them."""
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


def rate_fractions(counts: Sequence[Any], *, recall_with_fd: bool) -> dict[str, tuple[Any, Any]]:
    """Return a dict from the name of every rate to its (numerator, denominator).

    The five counts are numbers, or arrays of one shape. F1 is computed as 2TP / (2TP + FP + FN [+
    FD]) and not as 2PR / (P + R). With this single division, nine right of ten give exactly 0.9.
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
    """The rates that reports show, each in [0, 1]; None for a denominator of 0."""

    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class RateRule:
    """How reports compute rates: the counting mode, and the definition of recall."""

    recall_with_fd: bool = False
    """Whether the denominator of recall includes false discoveries."""
    counting: Counting = CountingOptions.counting
    """The counting mode; by default, it counts all values."""

    def rates(self, counts: Counts) -> Rates:
        """Return rates for people to read: a denominator of 0 gives None instead of 0.0.

        >>> RateRule().rates(Counts(fn=2))
        Rates(precision=None, recall=0.0, f1=0.0)
        """
        fractions = self.rate_fractions(counts)
        rates = {}
        for name in Rates._fields:
            numerator, denominator = fractions[name]
            rates[name] = numerator / denominator if denominator else None
        return Rates(**rates)

    def f1(self, counts: Counts) -> float:
        """Return F1; 0.0 for a denominator of 0."""
        return counts.derived(recall_with_fd=self.recall_with_fd)["f1"]

    def rate_fractions(self, counts: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
        """Return a dict from the name of every rate to its (numerator, denominator)."""
        return rate_fractions(counts, recall_with_fd=self.recall_with_fd)


DEFAULT_RULE: Final = RateRule()
"""The rule with default options."""
EXACT_ITEM_RULE: Final = RateRule(recall_with_fd=True)
"""How rates of exact items are computed: items with errors lower both precision and recall.

Source: Tjong Kim Sang and De Meulder (2003), https://aclanthology.org/W03-0419, F1 of entities."""
EXACT_F1: Final = "exact_f1"
EXACT_METRICS: Final = ("exact_precision", "exact_recall", EXACT_F1)
"""The rates of exact items, by the names that they have as metrics and as columns of tables."""


COUNTING_MODES: Final = ("overall", "aggregate", "leaves")
OUTCOME_NAMES: Final = tuple(outcome.name.lower() for outcome in Outcome)  # keys of counts in files
LEAF_COUNTS: Final = slice(N_UNIT_COUNTS - len(OUTCOME_NAMES), N_UNIT_COUNTS)
"""The slice of a cell that has the counts of the mode `leaves`. This mode counts single values."""
OUTCOME_PAIRS: Final = tuple(combinations_with_replacement(range(len(OUTCOME_NAMES)), 2))
"""All pairs of positions in `Outcome`. Each pair has a moment: in each document, the counts of the
two outcomes are multiplied, and these products are summed over documents."""
MOMENT_NAMES: Final = tuple(
    f"{OUTCOME_NAMES[first]}_{OUTCOME_NAMES[second]}" for first, second in OUTCOME_PAIRS
)
"""The names of the moments of a counting mode, in the order of `OUTCOME_PAIRS`."""
SCORE_SCALE: Final = 1 << 60
"""Scores are summed as multiples of 2**-60, so that sums do not depend on their order."""


MAX_MAP_KEYS: Final = 200
"""A map shows figures for at most this many keys, the most frequent ones. Rarer keys are summed
under `*`."""


@dataclass(slots=True)
class Tally:
    """The sums over documents for one field, or for whole documents."""

    cell: list[int] = field(default_factory=lambda: [0] * CELL_SIZE)
    """The counts of the field, summed over documents, (CELL_SIZE,)."""
    moments: list[list[int]] = field(
        default_factory=lambda: [[0] * len(MOMENT_NAMES) for _ in range(3)]
    )
    """Sums of products, (3 counting modes, len(MOMENT_NAMES)). For each pair of outcomes, the two
    counts in a document are multiplied, and the products are summed over documents."""
    n_scored: int = 0
    """Number of documents in which the field has a score of its own. It has none inside a list, or
    inside an object that only one side has."""
    similarity_sum: int = 0
    """Sum of the field's raw similarities, times `SCORE_SCALE`."""
    score_sum: int = 0
    """Sum of the scores after clipping, times `SCORE_SCALE`. In the tally of whole documents, these
    are the overall scores of documents."""
    score_square_sum: int = 0
    """Sum of the squares of the scores after clipping, times `SCORE_SCALE`."""
    weight: float | None = None
    """Weight of the field. If the weight differs between documents, this is the greatest one."""

    def merge(self, other: "Tally") -> None:
        """Add the sums of other documents, or of another field."""
        self.cell = [*map(add, self.cell, other.cell)]
        self.moments = [
            [*map(add, moments, other_moments)]
            for moments, other_moments in zip(self.moments, other.moments, strict=True)
        ]
        self.n_scored += other.n_scored
        self.similarity_sum += other.similarity_sum
        self.score_sum += other.score_sum
        self.score_square_sum += other.score_square_sum
        if other.weight is not None:
            self.weight = max(other.weight, self.weight or 0.0)

    def counts(self, mode: str) -> Counts:
        """Return the counts of one counting mode: `overall`, `aggregate` or `leaves`."""
        start = COUNTING_MODES.index(mode) * len(OUTCOME_NAMES)
        return Counts(*self.cell[start : start + len(OUTCOME_NAMES)])

    @property
    def n_not_evaluated(self) -> int:
        """Number of documents in which the field was not evaluated because it is not labelled."""
        return self.cell[N_UNIT_COUNTS]

    @property
    def is_evaluated(self) -> bool:
        """Whether any document evaluated the field."""
        return not self.n_not_evaluated or bool(self.n_scored or any(self.cell[:N_UNIT_COUNTS]))

    @property
    def n_exact_items(self) -> int:
        """Number of exact items: paired items without an error inside; 0 for a value."""
        return self.cell[ITEM_COUNTS][0]

    @property
    def n_items(self) -> int:
        """Number of ground-truth items plus invented items."""
        return self.cell[ITEM_COUNTS][1]

    @property
    def item_outcomes(self) -> Counts:
        """Counts of items. An item is one unit, and right only if it is exact.

        Two paired items with an error inside count as an FD. `EXACT_ITEM_RULE` gives the rates.
        """
        exact, items, missed, invented = self.cell[ITEM_COUNTS]
        return Counts(tp=exact, fd=items - exact - missed - invented, fa=invented, fn=missed)

    @property
    def exact_rates(self) -> "Rates":
        """Precision, recall and F1 of exact items; None for a denominator of 0."""
        return EXACT_ITEM_RULE.rates(self.item_outcomes)

    @property
    def n_predicted_values(self) -> int:
        """Number of values that predictions have."""
        values = self.counts("leaves")
        return values.tp + values.fp

    @property
    def mean_similarity(self) -> float | None:
        """Mean raw similarity of the field, over the documents in which the field has a score.

        None if there is no such document.
        """
        return self.similarity_sum / (self.n_scored * SCORE_SCALE) if self.n_scored else None

    @property
    def mean_score(self) -> float | None:
        """Mean score of the field, over the documents in which the field has a score.

        None if there is no such document.
        """
        return self.score_sum / (self.n_scored * SCORE_SCALE) if self.n_scored else None


class FieldTallies(dict[FieldNames, Tally]):
    """A dict from the path of each field, without list indexes, to its sums.

    The path () stands for whole documents.
    """

    def tally(self, path: Path) -> Tally:
        """Return the sums of a field. If the field was never counted, all sums are zero."""
        return self.get(tuple(map(str, path))) or Tally()

    def add_tally(self, path: FieldNames, tally: Tally) -> None:
        """Add the sums of a field over other documents."""
        if path in self:
            self[path].merge(tally)
        else:
            # A shallow copy is enough: `merge` replaces lists and never changes them.
            self[path] = replace(tally)

    def merge(self, other: "FieldTallies") -> None:
        """Add the sums of other documents. The order of merging makes no difference."""
        for path, tally in other.items():
            self.add_tally(path, tally)

    def find_never_present(self) -> list[FieldNames]:
        """Return the fields that have no value on either side in any document.

        Fields inside such a field are not returned.
        """
        absent_fields: list[FieldNames] = []
        for path, tally in sorted(self.items()):  # sorting puts parents before children
            n_values = sum(tally.counts("leaves")[:4]) + sum(tally.counts("overall")[:4])
            parent = absent_fields[-1] if absent_fields else None
            is_inside_absent = parent is not None and path[: len(parent)] == parent
            if path and not n_values and not is_inside_absent and not tally.n_not_evaluated:
                absent_fields.append(path)
        return absent_fields

    def count_never_labelled(self) -> dict[str, int]:
        """Count the documents that lack a label, for each field that no document labels.

        The result is a dict from the path of such a field, as text, to the number of documents in
        which the field was not evaluated because it is not labelled.
        """
        never_labelled = {path: tally for path, tally in self.items() if not tally.is_evaluated}
        return {
            field_path(path): never_labelled[path].n_not_evaluated
            for path in sorted(never_labelled)
        }

    def find_rare_keys(self, schema_paths: Container[Path]) -> dict[FieldNames, FieldNames]:
        """Find rare map keys, and return their paths with `*` in place of the key.

        The result is a dict from old to new path. It includes the fields below a rare key. Each map
        keeps its `MAX_MAP_KEYS` most frequent keys, so the dict is empty if no map has more keys.
        `schema_paths` are the paths of the schema's fields.
        """
        new_paths: dict[FieldNames, FieldNames] = {(): ()}
        # Go level by level, because a path continues under the new path of its parent.
        for _, level in groupby(sorted(filter(None, self), key=len), len):
            paths_by_parent: dict[FieldNames, dict[str, list[FieldNames]]] = {}
            for path in level:
                parent = new_paths.get(path[:-1], path[:-1])
                paths_by_parent.setdefault(parent, {}).setdefault(path[-1], []).append(path)
            for parent, paths_by_name in paths_by_parent.items():
                pattern = schema_pattern(parent, schema_paths)
                keys = {
                    name
                    for name in paths_by_name
                    if schema_step(name, schema_paths, pattern) == ANY_KEY
                }
                by_frequency = sorted(
                    keys - {ANY_KEY},
                    key=lambda name: (*self._frequency(paths_by_name[name]), name),
                )
                rare_keys = set(by_frequency[MAX_MAP_KEYS:])
                for name, paths in paths_by_name.items():
                    new_path = (*parent, ANY_KEY if name in rare_keys else name)
                    new_paths.update(dict.fromkeys(paths, new_path))
        return {path: new_path for path, new_path in new_paths.items() if path != new_path}

    def _frequency(self, paths: Sequence[FieldNames]) -> tuple[int, int]:
        """Return a sort key that puts frequent keys of a map first.

        The key that has a score in most documents comes first. If two keys have a score in equally
        many documents, the key with more values comes first. `paths` are the path of the key and
        the paths of the fields below it.
        """
        tallies = [self[path] for path in paths]
        n_values = sum(sum(tally.cell[LEAF_COUNTS]) for tally in tallies)
        return -sum(tally.n_scored for tally in tallies), -n_values

    def with_renamed_fields(self, new_paths: Mapping[FieldNames, FieldNames]) -> "FieldTallies":
        """Return sums in which some fields have new paths.

        `new_paths` is a dict from old to new path. Fields with the same new path are added up.
        """
        renamed = FieldTallies()
        for path, tally in self.items():
            renamed.add_tally(new_paths.get(path, path), tally)
        return renamed

    def sort_parents_first(self, first: Iterable[FieldNames] = ()) -> "FieldTallies":
        """Return the sums in the order of a tree: all fields inside a field follow it directly.

        Among the fields with the same parent, those in `first` come first. A field in `first`
        without sums is added with zeros, and so is a parent without sums.
        """
        paths = rank_parents_first((*first, *self))
        return FieldTallies((path, self.tally(path)) for path in paths)


def sum_counts(counts: FieldCounts) -> FieldTallies:
    """Sum the counts of each field over some documents."""
    starts = counts.starts  # the rows of a field are consecutive
    cells = np.add.reduceat(counts.cells, starts, axis=0).tolist()

    units = counts.units
    products = (units[..., first] * units[..., second] for first, second in OUTCOME_PAIRS)
    moments_by_pair = [np.add.reduceat(product, starts, axis=1) for product in products]
    moments = np.stack(moments_by_pair, axis=-1).swapaxes(0, 1).tolist()

    n_scored = np.add.reduceat(counts.scores[IS_SCORED], starts).astype(np.int64).tolist()
    weights = np.maximum.reduceat(counts.scores[WEIGHT], starts).tolist()
    similarity_sums = sum_scores(counts.scores[SIMILARITY], starts)
    score_sums = sum_scores(counts.scores[SCORE], starts)
    score_square_sums = sum_scores(counts.scores[SCORE] ** 2, starts)
    return FieldTallies(
        (
            path,
            Tally(
                cell=cells[index],
                moments=moments[index],
                n_scored=n_scored[index],
                similarity_sum=similarity_sums[index],
                score_sum=score_sums[index],
                score_square_sum=score_square_sums[index],
                weight=weights[index] if n_scored[index] and path else None,
            ),
        )
        for index, path in enumerate(counts.paths)
    )


def moment_matrix(moments: Sequence[int]) -> Floats:
    """Return the moments of a counting mode as a symmetric matrix, (5 outcomes, 5 outcomes)."""
    matrix = np.empty((len(OUTCOME_NAMES), len(OUTCOME_NAMES)))
    for (first, second), moment in zip(OUTCOME_PAIRS, moments, strict=True):
        matrix[first, second] = matrix[second, first] = moment
    return matrix


def scale_score(score: float) -> int:
    """Return a score in [0, 1] times `SCORE_SCALE`, as a whole number.

    No digit is lost for scores above 2**-7; smaller scores may be rounded.
    """
    return int(score * SCORE_SCALE)


def sum_scores(scores: Floats, starts: Indexes) -> list[int]:
    """Add up the scores of each span. Return the sums times `SCORE_SCALE`, as whole numbers.

    A span is a range of `scores`. It begins at an index in `starts`, and ends where the next span
    begins. Scores are in [0, 1]. Each score above 2**-7 is added exactly.
    """
    scaled = (scores * SCORE_SCALE).astype(np.int64)
    # Sum halves of 30 bits, so that sums of up to 2**33 scores fit in 64 bits.
    halves = np.add.reduceat([scaled >> 30, scaled & ((1 << 30) - 1)], starts, axis=1).tolist()
    return [(high << 30) + low for high, low in zip(*halves, strict=True)]


def cell_record(cell: Sequence[int]) -> dict[str, Any]:
    """Return the counts of a cell in the form in which files store them. Zeros are left out."""
    by_mode = [
        cell[start : start + len(OUTCOME_NAMES)]
        for start in range(0, N_UNIT_COUNTS, len(OUTCOME_NAMES))
    ]
    further_counts = zip(FURTHER_COUNTS, cell[N_UNIT_COUNTS:], strict=True)
    return sparse_record(by_mode) | {name: count for name, count in further_counts if count}


def sparse_record(
    by_mode: Sequence[Sequence[int]], names: Sequence[str] = OUTCOME_NAMES
) -> dict[str, Any]:
    """Return `{counting mode: {name: number}}`, as files store it. Zeros are left out.

    `by_mode` has the numbers of each counting mode, and `names` are their names. If all three modes
    have equal numbers, the result is `{name: number}` without modes.
    """
    records = [
        {name: number for name, number in zip(names, numbers, strict=True) if number}
        for numbers in by_mode
    ]
    if records[0] == records[1] == records[2]:
        return records[0]
    return {mode: record for mode, record in zip(COUNTING_MODES, records, strict=True) if record}


def read_cell(entry: Mapping[str, Any]) -> list[int]:
    """Return the cell that `cell_record` wrote to a file as `entry`."""
    further_counts = (entry.get(name, 0) for name in FURTHER_COUNTS)
    return [*chain(*read_mode_counts(entry)), *further_counts]


def read_mode_counts(
    entry: Mapping[str, Any], names: Sequence[str] = OUTCOME_NAMES
) -> Iterator[list[int]]:
    """Read a record that `sparse_record` made; yield a list of numbers for each counting mode."""
    return ([numbers.get(name, 0) for name in names] for numbers in split_by_mode(entry))


def split_by_mode(entry: Mapping[str, Any]) -> tuple[Mapping[str, int], ...]:
    """Return a dict `{name: number}` for each counting mode.

    `entry` is a record that `sparse_record` made.
    """
    by_mode = tuple(entry.get(mode, {}) for mode in COUNTING_MODES)
    # The numbers of a record without modes belong to all three modes.
    return by_mode if any(by_mode) else (entry, entry, entry)


def schema_pattern(path: Path, schema_paths: Container[Path]) -> Path:
    """Return the path that the schema declares for a field: keys of maps become `*`.

    `schema_paths` are the declared paths.
    """
    pattern: Path = ()
    for name in path:
        pattern = (*pattern, schema_step(str(name), schema_paths, pattern))
    return pattern


def schema_step(name: str, schema_paths: Container[Path], pattern: Path) -> str:
    """Return the name that the schema declares for a key.

    It is `*` for a key of a map, and the key itself otherwise. `pattern` is the declared path of
    the object that has the key.
    """
    is_declared = (*pattern, name) in schema_paths
    is_map_key = not is_declared and (*pattern, ANY_KEY) in schema_paths
    return ANY_KEY if is_map_key else name


def in_schema_order(sums: FieldTallies, fields: Iterable[FieldInfo]) -> FieldTallies:
    """Return the sums in schema order. Undeclared names follow their declared siblings, sorted.

    Documents may have their fields in any order, but results must not depend on it.
    """
    ranks: dict[Path, int] = {}
    for rank, field_info in enumerate(fields):
        ranks.setdefault(field_info.field, rank)

    def sort_key(path: Path) -> list[tuple[float, str]]:
        steps: list[tuple[float, str]] = []
        pattern: Path = ()
        for name in map(str, path):
            steps.append((ranks.get((*pattern, name), math.inf), name))
            pattern = (*pattern, schema_step(name, ranks, pattern))
        return steps

    return FieldTallies((path, sums[path]) for path in sorted(sums, key=sort_key))
