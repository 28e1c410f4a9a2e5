"""The counts of documents resampled: what confidence intervals of a run are made of."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.outcomes import Floats
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from .accounts import SCORE, decoded
from .batch import Batch
from .counts import RATES, fractions
from .field_counts import SCORE as CLIPPED
from .field_counts import SCORED, FieldCounts
from .intervals import (
    CHUNK,
    Interval,
    IntervalSettings,
    quotient_intervals,
    size_of,
    weights,
)
from .moments import NAMES
from .tally import COUNTING_MODES

NODE_SCORE: Final = "threshold_applied_score"

_SCORED: Final = "scored"
_COLUMNS_AT_ONCE: Final = 256
_SCORE_UNIT: Final = 1 << 30
"""Scores are summed as whole numbers of 2**-30: products with weights, below 2**12, then stay below
2**53 in a chunk, so that floating-point sums are exact and do not depend on their order."""
_RULES: Final = (False, True)  # whether recall counts false discoveries

Column: TypeAlias = tuple[str, str]
"""The path of a field, and what is summed: `tp` where all modes count it alike, `leavestp`
where only one does, a score, or how many there are."""

Sizes: TypeAlias = NDArray[np.int64]
"""(2 rules, rates, 2): of what a rate divides by, in how many documents there is any, and the sum
of its squares."""

_COUNTED: Final = {
    mode + name: (mode, place) for mode in ("", *COUNTING_MODES) for place, name in enumerate(NAMES)
}


@dataclass(frozen=True, slots=True)
class FieldIntervals:
    """The intervals of one field, or of whole documents; None where there is none to give."""

    rates: Mapping[str, Mapping[str, Interval | None]]
    """By mode and rate."""
    score: Interval | None

    def view(self, *, whole: bool) -> dict[str, object]:
        """Return those that there are as a node of the run format shows them."""
        shown: dict[str, object] = {}
        for mode, rates in self.rates.items():
            if found := {f"cm_{name}": [*it] for name, it in rates.items() if it}:
                shown[mode] = found
        if self.score and not whole:
            shown[NODE_SCORE] = [*self.score]
        return shown


@dataclass(slots=True)
class Bootstrap:
    """Weighted sums over documents, as they are and in every replicate.

    They add in any order with the same result.
    """

    settings: IntervalSettings
    whole_only: bool = False
    """Whether to leave out the fields, for less memory."""
    dropped: bool = False
    """Whether nothing is resampled any more: intervals are then those of `delta.py`."""
    waiting: list[bytes] = field(default_factory=list)
    """Accounts that are not in the sums yet."""
    sums: dict[Column, NDArray[np.int64]] = field(default_factory=dict)
    """(1 + replicates,) for each column in which there was anything, in `UNIT`s."""
    sizes: dict[Column, Sizes] = field(default_factory=dict)
    """How large documents are: by path, and mode, empty where all modes count alike."""

    def empty(self, *, whole_only: bool) -> "Bootstrap":
        """Return one of no documents, under the same settings."""
        return Bootstrap(self.settings, whole_only=whole_only, dropped=self.dropped)

    def view(self) -> dict[str, object]:
        """Return how intervals are made, as the run format has it."""
        return self.settings.view(resampled=not self.dropped)

    def drop(self) -> None:
        """Keep nothing that grows, and resample no more."""
        self.dropped = True
        self.waiting, self.sums, self.sizes = [], {}, {}

    def add(self, batch: Batch, some: Mask | None = None) -> None:
        """Add the compared documents of a batch, or some; ids must differ to be right."""
        if self.dropped or batch.counts is None or (some is not None and not some.any()):
            return
        names = [result.id for result in batch.results if result.score is not None]
        columns = _columns_of(batch.counts, batch.scores, whole_only=self.whole_only)
        if some is not None:
            names = [name for name, chosen in zip(names, some, strict=True) if chosen]
            columns = {column: values[some] for column, values in columns.items()}
        self._resample(names, columns)

    def merge(self, other: "Bootstrap") -> None:
        """Add the documents of another one.

        Raises:
            UsageError: the two were made under different settings.
        """
        if other.settings != self.settings:
            found = f"the intervals were made with {other.settings} and {self.settings}"
            raise UsageError([Problem("", found, "the same level, seed and replicates")])
        if self.dropped or other.dropped:
            self.drop()
            return
        for column, sums in other.sums.items():
            _add(self.sums, column, sums)
        for column, sizes in other.sizes.items():
            _add(self.sizes, column, sizes)
        self.waiting += other.waiting
        if len(self.waiting) >= CHUNK:
            self._resample_waiting()

    def of(self, path: str, *, recall_with_fd: bool) -> FieldIntervals:
        """Return the intervals of a field without list indexes, or of whole documents for ""."""
        self._resample_waiting()
        nothing = np.zeros(1 + self.settings.replicates, np.int64)
        no_sizes = np.zeros((len(_RULES), len(RATES), 2), np.int64)

        def sums(kind: str) -> NDArray[np.int64]:
            return self.sums.get((path, kind), nothing)

        quotients: list[tuple[NDArray[np.int64], NDArray[np.int64], float]] = []
        for mode in COUNTING_MODES:
            counts = [sums(name) + sums(mode + name) for name in NAMES]
            alike, apart = (self.sizes.get((path, which), no_sizes) for which in ("", mode))
            parts = fractions(counts, recall_with_fd=recall_with_fd).values()
            quotients += (
                (above, below, size_of(*size))
                for (above, below), size in zip(
                    parts, (alike + apart)[int(recall_with_fd)], strict=True
                )
            )
        quotients.append((sums(SCORE), sums(_SCORED) * _SCORE_UNIT, float(_SCORE_UNIT)))
        *rates, score = quotient_intervals(quotients, self.settings)
        found = iter(rates)
        by_reading = {mode: {name: next(found) for name in RATES} for mode in COUNTING_MODES}
        return FieldIntervals(by_reading, score)

    def _resample_waiting(self) -> None:
        while self.waiting:
            lines, self.waiting = self.waiting[:CHUNK], self.waiting[CHUNK:]
            records = [decoded(line) for line in lines]
            documents = [record for record in records if record["score"] is not None]
            if documents:
                names = [document["id"] for document in documents]
                self._resample(names, _columns_read(documents, whole_only=self.whole_only))

    def _resample(self, names: Sequence[str], columns: Mapping[Column, Floats]) -> None:
        """Put documents into the sums: of each column its values, (documents,)."""
        for column, sizes in _sizes_of(columns, len(names)).items():
            _add(self.sizes, column, sizes)
        values = np.array([*columns.values()])
        for start in range(0, len(names), CHUNK):
            part = slice(start, start + CHUNK)
            drawn = weights(names[part], self.settings).astype(np.float64)
            for first in range(0, len(values), _COLUMNS_AT_ONCE):
                some = slice(first, first + _COLUMNS_AT_ONCE)
                sums = (values[some, part] @ drawn).astype(np.int64)
                for column, replicates in zip([*columns][some], sums, strict=True):
                    _add(self.sums, column, replicates)


def _add(into: dict[Column, NDArray[np.int64]], column: Column, values: NDArray[np.int64]) -> None:
    if column in into:
        into[column] += values
    else:
        into[column] = values.copy()


def _sizes_of(columns: Mapping[Column, Floats], documents: int) -> dict[Column, Sizes]:
    """Return how large documents are, by path and mode."""
    counts: defaultdict[Column, Floats] = defaultdict(lambda: np.zeros((len(NAMES), documents)))
    for (path, kind), values in columns.items():
        if kind in _COUNTED:
            mode, place = _COUNTED[kind]
            counts[path, mode][place] = values
    if not counts:
        return {}
    by_outcome = [*np.array([*counts.values()]).swapaxes(0, 1)]
    below = np.array(
        [
            [below for _, below in fractions(by_outcome, recall_with_fd=rule).values()]
            for rule in _RULES
        ]
    )  # (2 rules, rates, columns, documents)
    sizes = np.stack([np.count_nonzero(below, axis=-1), (below**2).sum(axis=-1)], axis=-1)
    return dict(zip(counts, sizes.astype(np.int64).transpose(2, 0, 1, 3), strict=True))


def _columns_of(counts: FieldCounts, scores: Floats, *, whole_only: bool) -> dict[Column, Floats]:
    """Return the columns in which there is anything, and their values, (documents,) each."""
    columns = {("", _SCORED): np.ones(len(scores)), ("", SCORE): np.floor(scores * _SCORE_UNIT)}
    for path, rows in counts.fields():
        if whole_only and path:
            break
        sums, scored = counts.sums[:, rows], counts.scores[:, rows]
        found = {_SCORED: scored[SCORED], SCORE: np.floor(scored[CLIPPED] * _SCORE_UNIT)}
        modes = ("",) if (sums == sums[0]).all() else COUNTING_MODES
        for mode, by_outcome in zip(modes, sums, strict=False):
            found |= {mode + name: by_outcome[:, at] for at, name in enumerate(NAMES)}
        name = field_path(path)
        for kind, values in found.items():
            if values.any():
                column = columns[name, kind] = np.zeros(len(scores))
                column[counts.documents[rows]] = values
    return columns


def _columns_read(
    documents: Sequence[Mapping[str, Any]], *, whole_only: bool
) -> dict[Column, Floats]:
    """Return the same of documents as files have them."""
    columns: defaultdict[Column, Floats] = defaultdict(lambda: np.zeros(len(documents)))
    for at, document in enumerate(documents):
        fields: Mapping[str, Mapping[str, Any]] = document["fields"]
        columns["", _SCORED][at], columns["", SCORE][at] = 1, int(document[SCORE] * _SCORE_UNIT)
        for path, entry in ({"": fields.get("", {})} if whole_only else fields).items():
            for name, value in entry.items():
                if name == SCORE:
                    columns[path, _SCORED][at] = 1
                    columns[path, SCORE][at] = int(value * _SCORE_UNIT)
                elif name in COUNTING_MODES:
                    for kind, times in value.items():
                        columns[path, name + kind][at] = times
                else:
                    columns[path, name][at] = value
    return columns
