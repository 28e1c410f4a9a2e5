"""The counts of fields over documents: totals that add in any order with the same result."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import add
from typing import Final

import numpy as np

from stickler_cli.compare.columns import Indexes
from stickler_cli.compare.outcomes import Floats
from stickler_cli.compare.result import FA, FD, TP
from stickler_cli.core.locations import Path
from .counts import Counts
from .field_counts import RAW, SCORE, SCORED, WEIGHT, FieldCounts
from .moments import Moments, moments_of, no_moments

COUNTING_MODES: Final = ("overall", "aggregate", "leaves")
SCORE_UNIT: Final = 1 << 60
"""Scores are summed as whole numbers of 2**-60, so that sums do not depend on their order."""


def _zeros() -> list[int]:
    return [0, 0, 0, 0, 0]


@dataclass(slots=True)
class Tally:
    """The counts of one field, and of the fields below it; they add over documents."""

    overall: list[int] = field(default_factory=_zeros)
    aggregate: list[int] = field(default_factory=_zeros)
    leaves: list[int] = field(default_factory=_zeros)
    moments: Moments = field(default_factory=no_moments)
    """What intervals take beside the counts."""
    fields: "dict[str, Tally]" = field(default_factory=dict)
    scored: int = 0
    """Documents in which the field has a score of its own: not below a list or an absent side."""
    raw_units: int = 0
    """The sum of its raw similarities, in `SCORE_UNIT`s."""
    score_units: int = 0
    """The sum of its scores after clipping, in `SCORE_UNIT`s."""
    score_squares: int = 0
    """The sum of their squares, likewise."""
    weight: float | None = None
    """What the field is worth; the most where documents differ."""
    not_evaluated: int = 0
    """Values that were not evaluated."""
    whole: int = 0
    """Of a list or an object, items that are right as a whole: paired, and without an error."""
    items: int = 0
    """All items that are in the ground truth or invented."""
    undeclared: Counter[str] = field(default_factory=Counter)
    """Undeclared keys of the ground truth that had a value, and how often."""
    extras: Counter[str] = field(default_factory=Counter)
    """Undeclared keys that only the prediction had, and how often: false alarms without a field."""

    def below(self, name: str) -> "Tally":
        """Return the tally of a field, an empty one if it is new."""
        if name not in self.fields:
            self.fields[name] = Tally()
        return self.fields[name]

    def at(self, path: Iterable[str]) -> "Tally":
        """Return the tally of a field however deep, an empty one if it is new."""
        node = self
        for name in path:
            node = node.below(name)
        return node

    def find(self, path: Path) -> "Tally | None":
        """Return the tally of a field; None where there is none."""
        node: Tally | None = self
        for name in path:
            node = node and node.fields.get(str(name))
        return node

    def merge(self, other: "Tally") -> None:
        """Add the counts of other documents; the order of merging makes no difference."""
        self.gain(other)
        for name, child in other.fields.items():
            self.below(name).merge(child)

    def gain(self, other: "Tally") -> None:
        """Add what was counted of a field in other documents, without the fields below it."""
        self.count(other.overall, other.aggregate, other.leaves)
        self.spread(other.moments)
        self.scored += other.scored
        self.raw_units += other.raw_units
        self.score_units += other.score_units
        self.score_squares += other.score_squares
        if other.weight is not None:
            self.weight = max(other.weight, self.weight or 0.0)
        self.not_evaluated += other.not_evaluated
        self.whole += other.whole
        self.items += other.items
        if other.undeclared or other.extras:
            self.undeclared.update(other.undeclared)
            self.extras.update(other.extras)

    def add(self, counts: FieldCounts) -> None:
        """Add documents of a chunk."""
        totals = np.add.reduceat(counts.sums, counts.starts, axis=1).swapaxes(0, 1).tolist()
        scored = np.add.reduceat(counts.scores[SCORED], counts.starts).tolist()
        weights = np.maximum.reduceat(counts.scores[WEIGHT], counts.starts).tolist()
        raw, score, squares = (
            sums_of_units(scores, counts.starts)
            for scores in (counts.scores[RAW], counts.scores[SCORE], counts.scores[SCORE] ** 2)
        )
        moments = moments_of(counts)
        whole = items = [0] * len(counts.paths)
        if counts.items is not None:
            whole, items = np.add.reduceat(counts.items, counts.starts, axis=1).tolist()
        nodes: dict[Path, Tally] = {}
        for at, path in enumerate(counts.paths):
            node = nodes[path] = nodes[path[:-1]].below(path[-1]) if path else self
            node.count(*totals[at])
            node.spread(moments[at])
            node.whole += whole[at]
            node.items += items[at]
            if scored[at]:
                node.scored += int(scored[at])
                node.raw_units += raw[at]
                node.score_units += score[at]
                node.score_squares += squares[at]
                node.weight = max(weights[at], node.weight or 0.0)
        for _, path in counts.undeclared:
            nodes[path[:-1]].undeclared[path[-1]] += 1
        for _, path in counts.extras:
            nodes[path[:-1]].extras[path[-1]] += 1

    def count(self, *by_mode: list[int]) -> None:
        """Add what was counted here, by counting mode and outcome."""
        for counts, more in zip((self.overall, self.aggregate, self.leaves), by_mode, strict=True):
            counts[:] = map(add, counts, more)

    def spread(self, moments: Moments) -> None:
        """Add the moments of documents."""
        for mine, more in zip(self.moments, moments, strict=True):
            mine[:] = map(add, mine, more)

    def counts(self, which: str) -> Counts:
        """Return the counts of one mode: `overall`, `aggregate` or `leaves`."""
        by_outcome: list[int] = getattr(self, which)
        return Counts(*by_outcome)

    @property
    def mean_raw(self) -> float | None:
        """The mean raw similarity over the documents that scored it; None without any."""
        return self.raw_units / (self.scored * SCORE_UNIT) if self.scored else None

    @property
    def mean_score(self) -> float | None:
        """The mean score over the documents that scored it; None without any."""
        return self.score_units / (self.scored * SCORE_UNIT) if self.scored else None

    def walk(self, path: Path = ()) -> "Iterator[tuple[Path, Tally]]":
        """Go through this node and all below it, parents first."""
        yield path, self
        for name, child in self.fields.items():
            yield from child.walk((*path, name))


def predicted(tally: Tally, path: Path) -> int:
    """Return how many leaves predictions have of a field; 0 of a key that is none."""
    node = tally.find(path)
    return 0 if node is None else node.leaves[TP] + node.leaves[FD] + node.leaves[FA]


def units_of(score: float) -> int:
    """Return a score in [0, 1] as a whole number of `SCORE_UNIT`s; exact above 2**-7."""
    return int(score * SCORE_UNIT)


def sums_of_units(scores: Floats, starts: Indexes) -> list[int]:
    """Return the sums of spans of scores in [0, 1] in `SCORE_UNIT`s; each is exact above 2**-7."""
    units = (scores * SCORE_UNIT).astype(np.int64)
    # Halves of 30 bits, so that the sums of 2**33 scores stay within 64 bits.
    halves = np.add.reduceat([units >> 30, units & ((1 << 30) - 1)], starts, axis=1).tolist()
    return [(high << 30) + low for high, low in zip(*halves, strict=True)]
