"""Statistics of a run that are folds: each adds documents up, in any order, to a fixed size.

A new one is a class here, or in a module of its own, and an entry of `FOLDS` or `OF_RUNS`. Its
state is in run files; its figures are added where these are written, and passed over where they
are read.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import field, fields
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import numpy as np

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import FA, FD, FN
from stickler_cli.core.locations import Path, field_path
from stickler_cli.core.values import dataclass
from .errors.causes import Causes, ErrorCounts
from .field_counts import LEAVES, Names
from .intervals import Interval, IntervalSettings, Spread, rate_intervals
from .sums import Sums
from .validity import Validities

if TYPE_CHECKING:
    from .batch import Batch

MOST_LOST: Final = 10  # values that documents lost, up to which they are counted one by one


class Fold(Protocol):
    """A statistic of documents."""

    def add(self, batch: "Batch", some: Mask | None) -> None:
        """Add the documents of a batch, or some of those that were compared."""

    def merge(self, other: Self) -> None:
        """Add the documents of another one."""

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return its state and figures by their keys in run files."""

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record, whose types were checked."""


@dataclass(slots=True)
class WhollyRight:
    """Documents without a wrong, invented or missed value, and how many lost few."""

    documents: int = 0
    """Documents that were compared."""
    lost: list[int] = field(default_factory=lambda: [0] * (MOST_LOST + 1))
    """How many of them lost none of their values, how many one, and so on up to ten."""

    def add(self, batch: "Batch", some: Mask | None) -> None:
        """Add the documents of a batch that were compared, or some of these."""
        if batch.counts is None:
            return
        root = batch.counts.sums[LEAVES, : len(batch.scores)]  # its rows come first
        lost = (root if some is None else root[some])[:, [FD, FA, FN]].sum(axis=1)
        self.documents += len(lost)
        few = np.bincount(lost[lost <= MOST_LOST], minlength=MOST_LOST + 1)
        self.lost = (few + self.lost).tolist()

    def merge(self, other: Self) -> None:
        """Add the documents of another one."""
        self.documents += other.documents
        self.lost = [mine + its for mine, its in zip(self.lost, other.lost, strict=True)]

    @property
    def right(self) -> int:
        """How many are right as a whole."""
        return self.lost[0]

    @property
    def share(self) -> float | None:
        """Their share; None of no documents."""
        return self.right / self.documents if self.documents else None

    def interval(self, settings: IntervalSettings | None) -> Interval | None:
        """Return the confidence interval of the share; None without settings or documents."""
        if settings is None:
            return None
        (found,) = rate_intervals([self.spread], settings.level)
        return found

    @property
    def spread(self) -> Spread:
        """What their interval is made of: each document is wholly right or wrong."""
        right, wrong = float(self.right), float(self.documents - self.right)
        return Spread(right, wrong, right, 0.0, wrong, 1.0)

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return number, share and interval, and how many lost at most so many values."""
        ends = self.interval(settings)
        shown = {
            "documents": self.documents,
            "lost": self.lost,
            "right": self.right,
            "share": self.share,
            "lost_at_most": [*accumulate(self.lost)],
        }
        return {"wholly_right": shown | ({} if ends is None else {"interval": [*ends]})}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record."""
        if found := record.get("wholly_right"):
            self.documents, self.lost = found["documents"], found["lost"]


@dataclass(slots=True)
class PathCounts:
    """Keys that the schema does not declare, and what ground truths leave open, by path."""

    undeclared_keys: Counter[Names] = field(default_factory=Counter)
    """Values of such keys in ground truths: they are not evaluated."""
    extra_keys: Counter[Names] = field(default_factory=Counter)
    """Values of those that only predictions have: false alarms without a field."""
    not_labelled: Counter[Names] = field(default_factory=Counter)
    """Documents in which a field, or some of it, is not labelled."""
    left_out: Counter[Names] = field(default_factory=Counter)
    """Predicted elements without a pair, of lists that need not have all."""

    def add(self, batch: "Batch", some: Mask | None) -> None:
        """Add the documents of a batch; nobody asks for some of them."""
        if batch.counts is not None:
            self.undeclared_keys.update(path for _, path in batch.counts.undeclared)
            self.extra_keys.update(path for _, path in batch.counts.extras)
            self.not_labelled.update(path for _, path in {*batch.counts.unlabelled})
            for (_, path), number in batch.counts.left_out:
                self.left_out[path] += number

    def merge(self, other: Self) -> None:
        """Add the documents of another one."""
        for name, counts in self._by_name().items():
            counts.update(getattr(other, name))

    def share_labelled(self, sums: Sums, path: Path = ()) -> float | None:
        """Return in which share of documents a field is labelled, as is all around it.

        Of the whole it is the mean of all fields; None where no document was compared.
        """
        missing, documents = self.not_labelled, sums.at(()).scored
        fields = [tuple(map(str, path))] if path else filter(None, {*sums, *missing})
        shares = [
            1 - min(sum(missing[it[:end]] for end in range(1, len(it) + 1)), documents) / documents
            for it in fields
            if documents
        ]
        return math.fsum(shares) / len(shares) if shares else None

    def shares_labelled(self, sums: Sums) -> dict[str, dict[str, float | None]]:
        """Return these of the whole and of fields that some documents do not label, if any."""
        named = [(), *sorted(self.not_labelled)]
        shares = {field_path(path): self.share_labelled(sums, path) for path in named}
        return {"labelled": shares} if self.not_labelled else {}

    def view(self, settings: IntervalSettings | None) -> Mapping[str, Any]:
        """Return the counts by path, in order; what ground truths leave open, if there is any."""
        return {
            name: [{"field": field_path(path), "count": counts[path]} for path in sorted(counts)]
            for name, counts in self._by_name().items()
            if counts or name in ("undeclared_keys", "extra_keys")
        }

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take over the state that stands in a record."""
        for name, counts in self._by_name().items():
            found = record.get(name, ())
            counts.update({tuple(map(str, it["field"])): it["count"] for it in found})

    def _by_name(self) -> dict[str, Counter[Names]]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


FOLDS: Final = (ErrorCounts, WhollyRight)
"""The statistics of every run and of its groups, in the order of run files."""
OF_RUNS: Final = (Validities, Causes, PathCounts)
"""Those of runs alone."""
