"""What a page shows of single values and documents: bounded, and the same for any number of jobs.

A module of its own because no figure of a run depends on it: it is kept only where a report that
people browse was asked for, as lines of JSON, which take a tenth of what values would.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Final, TypeAlias

import numpy as np

from stickler_cli.compare.account import ListAccount
from stickler_cli.compare.columns import Mask
from stickler_cli.compare.outcomes import Floats, both_sides
from stickler_cli.compare.result import TP
from stickler_cli.core.locations import Path
from stickler_cli.core.values import dataclass
from .batch import Batch
from .comparison_lines import comparison_line
from .errors.kept_errors import KeptErrors
from .pictures import PlacedBox
from .value_pairs import ValuePairs, value_pairs
from .visit import Visit, singles

BINS: Final = 20  # of 0.05 each, so that usual thresholds lie between two; one more is for 1 itself

_ROUNDING: Final = 1e-9  # so that 0.7, a little less than 14 of 20, is in the bin of that name


@dataclass(frozen=True, slots=True)
class DetailLimits:
    """How much is kept of whole documents; a page says what it leaves out."""

    comparisons: int = 100
    """Documents that are kept whole: those with the lowest scores."""
    comparison_bytes: int = 16_000_000
    """What those may take, before compression to about a tenth."""


@dataclass(slots=True)
class Histogram:
    """How similar the pairs of a field are; it adds in any order."""

    matched: list[int] = field(default_factory=lambda: [0] * (BINS + 1))
    """Pairs at or above their threshold, by similarity."""
    unlike: list[int] = field(default_factory=lambda: [0] * (BINS + 1))
    """Pairs below it."""

    def add(self, similarity: Floats, matched: Mask) -> None:
        """Add pairs, with the similarity of each in [0, 1]."""
        bins = np.minimum((similarity * BINS + _ROUNDING).astype(np.intp), BINS - 1)
        bins[similarity >= 1] = BINS
        sides = (np.bincount(bins[it], minlength=BINS + 1).tolist() for it in (matched, ~matched))
        self.merge(Histogram(*sides))

    def merge(self, other: "Histogram") -> None:
        """Add the pairs of another."""
        for mine, its in ((self.matched, other.matched), (self.unlike, other.unlike)):
            mine[:] = map(sum, zip(mine, its, strict=True))


def bin_of(similarity: float) -> int:
    """Return the bin of a similarity in [0, 1].

    >>> bin_of(0.0), bin_of(0.7), bin_of(0.9999), bin_of(1.0)
    (0, 14, 19, 20)
    """
    return BINS if similarity >= 1 else min(int(similarity * BINS + _ROUNDING), BINS - 1)


Ranked: TypeAlias = tuple[float, str, bytes]  # score, id and encoded comparison of a document


@dataclass(slots=True)
class Detail:
    """What is kept of a run's documents.

    Parts are merged in the order of the documents, in which the errors are. Nothing else depends
    on it.
    """

    limits: DetailLimits = field(default_factory=DetailLimits)
    histograms: dict[Path, Histogram] = field(default_factory=dict)
    """By the path of the field, without list indexes."""
    value_pairs: dict[Path, ValuePairs] = field(default_factory=dict)
    """Likewise."""
    errors: KeptErrors = field(default_factory=KeptErrors)
    comparisons: list[Ranked] = field(default_factory=list)
    """The documents with errors that have the lowest scores, the lowest first."""
    boxes: dict[str, list[PlacedBox]] = field(default_factory=dict)
    """Where the values of those documents stand, by id; only if that was asked for."""
    bound: Ranked | None = None
    """The first one left out: nothing from there on is kept."""
    knows_errors: bool = True
    """Whether single errors were kept; a run file has none."""
    knows_values: bool = True
    """Whether histograms and comparisons were kept; only the run itself keeps them."""

    def update(self, batch: Batch) -> None:
        """Add documents."""
        for path, similarity, matched in similarities(batch.visits):
            self.histograms.setdefault(path, Histogram()).add(similarity, matched)
        for path, pairs in value_pairs(batch.visits):
            self.value_pairs.setdefault(path, ValuePairs()).merge(pairs)
        for document, result in enumerate(batch.results):
            errors = batch.errors(document)
            if not errors or result.score is None:
                continue
            rank = result.score, result.id
            self.errors.add(rank, errors)
            may_stay = self.bound is None or rank <= self.bound[:2]
            if may_stay and (comparison := batch.comparison(document)):
                self._keep([(*rank, comparison_line(comparison))])
        self.errors.settle()

    def place(self, boxes: Iterable[tuple[str, list[PlacedBox]]]) -> None:
        """Keep where the values of documents stand that were added and are kept whole."""
        kept = {name for _, name, _ in self.comparisons}
        self.boxes |= {name: found for name, found in boxes if found and name in kept}

    def merge(self, other: "Detail") -> None:
        """Add the documents that follow these."""
        for path, histogram in other.histograms.items():
            self.histograms.setdefault(path, Histogram()).merge(histogram)
        for path, pairs in other.value_pairs.items():
            self.value_pairs.setdefault(path, ValuePairs()).merge(pairs)
        self.errors.merge(other.errors)
        if other.bound is not None:
            self.bound = min(self.bound, other.bound) if self.bound else other.bound
        self._keep(other.comparisons)
        self.boxes |= other.boxes
        if self.boxes:
            kept = {name for _, name, _ in self.comparisons}
            self.boxes = {name: found for name, found in self.boxes.items() if name in kept}

    def _keep(self, more: Iterable[Ranked]) -> None:
        """Add documents, and leave out those that have no room, which are the best ones."""
        ranked = sorted([*self.comparisons, *more])
        size = 0
        self.comparisons = []
        for entry in ranked:
            size += len(entry[2])
            out_of_bounds = self.bound is not None and entry >= self.bound
            full = len(self.comparisons) >= self.limits.comparisons
            if out_of_bounds or full or size > self.limits.comparison_bytes:
                self.bound = min(self.bound, entry) if self.bound else entry
                return
            self.comparisons.append(entry)


def similarities(visits: Iterable[Visit]) -> Iterator[tuple[Path, Floats, Mask]]:
    """Yield the pairs that have a similarity: field, similarities, and which are matches.

    Pairs of list items belong to the field of the list; nothing inside an item below its
    threshold is there, as nothing in it is judged. A field may come up more than once.
    """
    for visit in singles(visits):
        is_list = isinstance(visit.account, ListAccount) and visit.units is None
        if visit.order is not None and not is_list:
            both = both_sides(visit.outcome)
            if visit.live is not None:
                both &= visit.live
            if both.any():
                yield visit.field.path, visit.similarity[both], visit.outcome[both] == TP
