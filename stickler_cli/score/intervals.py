"""Confidence intervals: how far a rate could be off because other documents might have come.

Documents are resampled, since the errors in one belong together: a cluster bootstrap. Instead of
drawing samples, every document gets a weight in each replicate, which is a hash of its id. So
documents may come in any order and in parts, memory does not grow with their number, and two runs
of the same documents are resampled alike. docs/statistics.md has the method and its limits.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from itertools import count
from math import exp, factorial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.outcomes import Floats
from stickler_cli.core.locations import field_path
from stickler_cli.core.problems import Problem, UsageError
from stickler_cli.core.values import dataclass
from stickler_cli.score.accounts import NAMES, SCORE, decoded
from stickler_cli.score.batch import Batch
from stickler_cli.score.counts import RATES, fractions
from stickler_cli.score.field_counts import SCORE as CLIPPED
from stickler_cli.score.field_counts import SCORED, FieldCounts, Sums
from stickler_cli.score.tally import COUNTING_MODES
from stickler_cli.settings import LEVEL, IntervalOptions

REPLICATES: Final = 1000
"""Enough for the ends of a 95% interval: 25 replicates lie beyond each. Source: Efron and
Tibshirani (1993), An Introduction to the Bootstrap, section 12.5."""

MOST_REPLICATES: Final = 100_000
"""No run needs more; a file that says so would only fill the memory."""

NODE_SCORE: Final = "threshold_applied_score"
METHOD: Final = "Poisson bootstrap over documents, percentiles"

MOST_EMPTY: Final = 0.01
"""The share of replicates that may have nothing to divide by. It is exp(-n) of n documents that
say anything about a rate: below five of them there is no interval."""

CHUNK: Final = 256
"""Documents that are resampled at once: one matrix product for all of them, a few MB."""

_COLUMNS_AT_ONCE: Final = 256
_SCORE_UNIT: Final = 1 << 30
"""Scores are summed as whole numbers of 2**-30: products with weights then stay below 2**53 in a
chunk, so that floating-point sums are exact and do not depend on their order."""

_TABLE: Final = 1 << 16
_MOST_TIMES: Final = 8
"""The greatest weight: what is left beyond it is less than one of the numbers of 16 bits."""

Column: TypeAlias = tuple[str, str]
"""The path of a field, and what is summed: `tp` where all modes count it alike, `leavestp`
where only one does, a score, or how many there are."""

_SCORED: Final = "scored"


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """What decides the intervals of a run."""

    level: float = LEVEL
    """The share of such intervals that are to hold the true value, in (0, 1)."""
    seed: int = IntervalOptions.seed
    """At least 0; another seed, other replicates."""
    replicates: int = REPLICATES
    """At least 1."""

    def view(self) -> dict[str, object]:
        """Give the settings as the run format shows them."""
        return {
            "level": self.level,
            "method": METHOD,
            "replicates": self.replicates,
            "seed": self.seed,
        }


class Interval(NamedTuple):
    """From where to where a value may lie, ends included."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class FieldIntervals:
    """The intervals of one field, or of whole documents; None where there is none to give."""

    rates: Mapping[str, Mapping[str, Interval | None]]
    """By mode and rate."""
    score: Interval | None

    def view(self, *, whole: bool) -> dict[str, object]:
        """Give those that there are as a node of the run format shows them."""
        shown: dict[str, object] = {}
        for mode, rates in self.rates.items():
            if found := {f"cm_{name}": [*it] for name, it in rates.items() if it}:
                shown[mode] = found
        if self.score and not whole:
            shown[NODE_SCORE] = [*self.score]
        return shown


@dataclass(slots=True)
class Bootstrap:
    """Sums over documents in every replicate; they add in any order with the same result."""

    settings: IntervalSettings
    whole_only: bool = False
    """Whether to leave out the fields, for less memory."""
    waiting: list[bytes] = field(default_factory=list)
    """Accounts that are not in the sums yet."""
    sums: dict[Column, NDArray[np.int64]] = field(default_factory=dict)
    """One array of `replicates` sums for each column in which there was anything."""

    def empty(self, *, whole_only: bool) -> "Bootstrap":
        """Give one of no documents, under the same settings."""
        return Bootstrap(self.settings, whole_only=whole_only)

    def add(self, batch: Batch, some: Mask | None = None) -> None:
        """Add documents; ids must be different for intervals to be right.

        Args:
            batch: the documents.
            some: which of those that were compared; None for all.
        """
        if batch.counts is None or (some is not None and not some.any()):
            return
        names = [result.id for result in batch.results if result.score is not None]
        columns, values = columns_of(batch.counts, batch.scores, whole_only=self.whole_only)
        if some is not None:
            names = [name for name, chosen in zip(names, some, strict=True) if chosen]
            values = values[:, some]
        for start in range(0, len(names), CHUNK):
            stop = start + CHUNK
            self._add_matrix(names[start:stop], columns, values[:, start:stop])

    def merge(self, other: "Bootstrap") -> None:
        """Add the documents of another one.

        Raises:
            UsageError: the two were made under different settings.
        """
        if other.settings != self.settings:
            found = f"the intervals were made with {other.settings} and {self.settings}"
            raise UsageError([Problem("", found, "the same level, seed and replicates")])
        for column, sums in other.sums.items():
            self._add(column, sums)
        self.waiting += other.waiting
        if len(self.waiting) >= CHUNK:
            self._resample()

    def of(self, path: str, *, recall_with_fd: bool) -> FieldIntervals:
        """Give the intervals of a field.

        Args:
            path: of the field, without list indexes; empty for whole documents.
            recall_with_fd: whether recall also counts false discoveries as not found.
        """
        self._resample()
        zeros = np.zeros(self.settings.replicates, dtype=np.int64)

        def sums(kind: str) -> NDArray[np.int64]:
            return self.sums.get((path, kind), zeros)

        replicated: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for mode in COUNTING_MODES:
            counts = [sums(name) + sums(mode + name) for name in NAMES]
            replicated += fractions(counts, recall_with_fd=recall_with_fd).values()
        replicated.append((sums(SCORE), sums(_SCORED) * _SCORE_UNIT))
        *rates, score = percentiles(replicated, self.settings.level)
        parts = iter(rates)
        by_reading = {mode: {name: next(parts) for name in RATES} for mode in COUNTING_MODES}
        return FieldIntervals(by_reading, score)

    def _resample(self) -> None:
        """Put the documents that wait into the sums."""
        while self.waiting:
            lines, self.waiting = self.waiting[:CHUNK], self.waiting[CHUNK:]
            records = [decoded(line) for line in lines]
            documents = [record for record in records if record["score"] is not None]
            if documents:
                self._add_documents(documents)

    def _add_documents(self, documents: Sequence[Mapping[str, Any]]) -> None:
        """Add a chunk of documents that were compared."""
        names = [document["id"] for document in documents]
        self._add_matrix(names, *_matrix(documents, whole_only=self.whole_only))

    def _add_matrix(
        self, names: Sequence[str], columns: Sequence[Column], counts: NDArray[np.float64]
    ) -> None:
        """Add the counts of documents, (columns, documents)."""
        by_document = weights(names, self.settings)
        replicated = by_document.astype(np.float64)
        for start in range(0, len(counts), _COLUMNS_AT_ONCE):
            stop = start + _COLUMNS_AT_ONCE
            sums = (counts[start:stop] @ replicated).astype(np.int64)
            for column, replicates in zip(columns[start:stop], sums, strict=True):
                self._add(column, replicates)

    def _add(self, column: Column, sums: NDArray[np.int64]) -> None:
        if column in self.sums:
            self.sums[column] += sums
        else:
            self.sums[column] = sums.copy()


def columns_of(
    counts: FieldCounts, scores: Floats, *, whole_only: bool
) -> tuple[list[Column], NDArray[np.float64]]:
    """Put the counts of documents side by side.

    Returns:
        The columns in which there is anything, and its values, (columns, documents).
    """
    columns: list[Column] = [("", _SCORED), ("", SCORE)]
    values = [np.ones(len(scores)), np.floor(scores * _SCORE_UNIT)]
    for path, rows in counts.fields():
        if whole_only and path:
            break
        name, documents = field_path(path), counts.documents[rows]
        for kind, found in _kinds_of(counts.sums[:, rows], counts.scores[:, rows]):
            if found.any():
                columns.append((name, kind))
                values.append(np.zeros(len(scores)))
                values[-1][documents] = found
    return columns, np.array(values, dtype=np.float64)


def _kinds_of(sums: Sums, scores: Floats) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return what there is to sum of a field, (rows,) each."""
    alike = bool((sums == sums[0]).all())
    for mode, counts in zip(("",) if alike else COUNTING_MODES, sums, strict=False):
        yield from ((mode + name, counts[:, outcome]) for outcome, name in enumerate(NAMES))
    yield _SCORED, scores[SCORED]
    yield SCORE, np.floor(scores[CLIPPED] * _SCORE_UNIT)


def _matrix(
    documents: Sequence[Mapping[str, Any]], *, whole_only: bool
) -> tuple[list[Column], NDArray[np.float64]]:
    """Put the counts of some documents side by side.

    Returns:
        The columns in which there is anything, and its values, (columns, documents).
    """
    positions: defaultdict[Column, int] = defaultdict(count().__next__)
    at, values, ends = array("q"), array("q"), [0]
    for document in documents:
        fields: Mapping[str, Mapping[str, Any]] = document["fields"]
        chosen = {"": fields.get("", {})} if whole_only else fields
        at.extend((positions["", _SCORED], positions["", SCORE]))
        values.extend((1, int(document[SCORE] * _SCORE_UNIT)))
        for path, entry in chosen.items():
            for name, value in entry.items():
                if name == SCORE:
                    at.extend((positions[path, _SCORED], positions[path, SCORE]))
                    values.extend((1, int(value * _SCORE_UNIT)))
                elif name in COUNTING_MODES:
                    at.extend(positions[path, name + kind] for kind in value)
                    values.extend(value.values())
                else:
                    at.append(positions[path, name])
                    values.append(value)
        ends.append(len(at))
    matrix = np.zeros((len(positions), len(documents)))
    matrix[at, np.repeat(np.arange(len(documents)), np.diff(ends))] = values
    return list(positions), matrix


def percentiles(
    replicated: Sequence[tuple[NDArray[Any], NDArray[Any]]], level: float
) -> list[Interval | None]:
    """Give the interval of each quotient over its replicates.

    Args:
        replicated: numerators and denominators, (replicates,) each.
        level: the share of replicates that lie inside, in (0, 1).

    Returns:
        None where a denominator is 0 in more than `MOST_EMPTY` of the replicates; else the
        percentiles at both ends, interpolated between replicates, over those that are not empty.
    """
    values = np.array(
        [
            np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
            for above, below in replicated
        ]
    )
    values.sort(axis=1)  # the empty ones, NaN, go last
    found: list[Interval | None] = []
    for row, there in zip(values, np.count_nonzero(~np.isnan(values), axis=1), strict=True):
        if there < (1 - MOST_EMPTY) * len(row):
            found.append(None)
            continue
        tail = (1 - level) / 2
        lower, upper = np.interp(
            [tail * (there - 1), (1 - tail) * (there - 1)], np.arange(there), row[:there]
        )
        found.append(Interval(float(lower), float(upper)))
    return found


def weights(documents: Sequence[str], settings: IntervalSettings) -> NDArray[np.uint8]:
    """Say how often each document is in each replicate.

    A document's weights are Poisson with mean 1, depend on nothing but its id, the seed and the
    number of the replicate, and are independent of those of all others.

    Args:
        documents: ids.
        settings: with the seed, and how many replicates.

    Returns:
        Shape (documents, replicates), small whole numbers.

    Source:
        Chamandy et al. (2012), Estimating Uncertainty for Massive Data Streams, for the method;
        Steele, Lea, Flood (2014), doi:10.1145/2660193.2660195, for the generator, SplitMix64.
    """
    key = str(settings.seed).encode()
    starts = np.array(
        [
            int.from_bytes(blake2b(_utf8(name), digest_size=8, key=key).digest(), "little")
            for name in documents
        ],
        dtype=np.uint64,
    )
    draws = -(-settings.replicates // 4)  # each number of 64 bits makes four weights
    steps = np.arange(1, draws + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = starts[:, np.newaxis] + steps
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    parts = mixed.astype("<u8").view("<u2")  # little endian, so that every machine agrees
    drawn: NDArray[np.uint8] = _POISSON[parts[:, : settings.replicates]]
    return drawn


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _poisson_table() -> NDArray[np.uint8]:
    """Give the weight for every number of 16 bits; each is right with an error below 2**-16."""
    shares = np.cumsum([exp(-1) / factorial(times) for times in range(_MOST_TIMES + 1)])
    limits = np.rint(shares * _TABLE)
    return np.searchsorted(limits, np.arange(_TABLE), side="right").astype(np.uint8)


_POISSON: Final = _poisson_table()
