"""Statistics of a run that are folds: each adds documents up, in any order, to a fixed size.

A new one is a class here, or in a module of its own, and a line in `FOLDS`. Its fields are its
state, which run files have; its figures are added where these are written, and passed over where
they are read.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import accumulate
from typing import Annotated, Any, Final, Protocol, Self

import numpy as np

from stickler_cli.compare.columns import Mask
from stickler_cli.compare.result import FA, FD, FN
from stickler_cli.core.rules import Count, Rule
from stickler_cli.core.values import dataclass
from .batch import Batch
from .field_counts import LEAVES
from .intervals import Interval, IntervalSettings, Spread, rate_intervals

MOST_LOST: Final = 10  # values that documents lost, up to which they are counted one by one


class Fold(Protocol):
    """A statistic of documents."""

    def add(self, batch: Batch, some: Mask | None) -> None:
        """Add the documents of a batch that were compared, or some of these."""

    def merge(self, other: Self) -> None:
        """Add the documents of another one."""

    def figures(self, settings: IntervalSettings | None) -> dict[str, Any]:
        """Return what run files say beside the state."""


def _is_lost(value: object) -> bool:
    counts = value if isinstance(value, list) else []
    return len(counts) == MOST_LOST + 1 and all(type(it) is int and it >= 0 for it in counts)


@dataclass(slots=True)
class WhollyRight:
    """Documents without a wrong, invented or missed value, and how many lost few."""

    documents: Count = 0
    """Documents that were compared."""
    lost: Annotated[
        list[int],
        Rule(
            f"{MOST_LOST + 1} whole numbers of at least 0",
            {"type": "array", "items": {"type": "integer", "minimum": 0}},
            fits=_is_lost,
        ),
    ] = field(default_factory=lambda: [0] * (MOST_LOST + 1))
    """How many of them lost none of their values, how many one, and so on up to ten."""

    def add(self, batch: Batch, some: Mask | None) -> None:
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
        right, wrong = float(self.right), float(self.documents - self.right)
        (found,) = rate_intervals([Spread(right, wrong, right, 0.0, wrong, 1.0)], settings.level)
        return found

    def figures(self, settings: IntervalSettings | None) -> dict[str, Any]:
        """Return number, share and interval, and how many lost at most so many values."""
        ends = self.interval(settings)
        shown: dict[str, Any] = {
            "right": self.right,
            "share": self.share,
            "lost_at_most": [*accumulate(self.lost)],
        }
        return shown if ends is None else {**shown, "interval": [*ends]}


FOLDS: Final[Mapping[str, type[WhollyRight]]] = {"wholly_right": WhollyRight}
"""The statistics of every run and of its groups, by their keys in run files."""
