"""What was counted of each field in each document of a chunk, before it is added up."""

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.account import Account
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.outcomes import Floats
from stickler_cli.core.values import dataclass

OUTCOMES: Final = 5
OVERALL, AGGREGATE, LEAVES = range(3)
"""The three ways of counting, as positions."""

Sums: TypeAlias = NDArray[np.int64]
"""(3, documents, 5): how many units, by way of counting, document and outcome."""


@dataclass(slots=True, eq=False)
class FieldCounts:
    """What was counted of one field, and of the fields below it, in each document of a chunk."""

    sums: Sums
    """A row for each document, or for each of `documents`."""
    seen: Mask
    """The rows of documents in which the field was met, be it absent there."""
    documents: Indexes | None = None
    """The document of each row; None where there is a row for every document. One may be there
    twice."""
    scored: Mask | None = None
    """The rows in which the field has a score of its own: not below a list or an absent side."""
    raw: Floats | None = None
    """Its similarity in these rows."""
    score: Floats | None = None
    """Its score after clipping in these rows."""
    weight: Floats | None = None
    """What the field is worth in these rows."""
    fields: "dict[str, FieldCounts]" = field(default_factory=dict)
    undeclared: list[tuple[int, str]] = field(default_factory=list)
    """Document and name of each undeclared key of the ground truth that has a value."""
    extras: list[tuple[int, str]] = field(default_factory=list)
    """Document and name of each undeclared key that only the prediction has."""

    @classmethod
    def of_nothing(cls, rows: int, *, seen: bool = True) -> "FieldCounts":
        """Return counts of so many documents in which nothing was counted."""
        return cls(np.zeros((3, rows, OUTCOMES), np.int64), np.full(rows, seen))

    def below(self, name: str) -> "FieldCounts":
        """Return the counts of a field, with the same rows; empty ones if it is new."""
        found = self.fields.get(name)
        rows = self.sums.shape[1]
        if found is None:
            found = self.fields[name] = FieldCounts.of_nothing(rows, seen=False)
        elif found.documents is not None:
            found = self.fields[name] = found.spread(rows)
        return found

    def note_scores(self, rows: Indexes, account: Account, at: Indexes) -> None:
        """Keep the scores of pairs, one a row at most."""
        weights = account.worth
        worth = weights if isinstance(weights, float | int) else weights[at]
        self._score(rows, account.similarity[at], account.score[at], worth)

    def _score(self, rows: Indexes, raw: Floats, score: Floats, weight: "float | Floats") -> None:
        if self.scored is None or self.raw is None or self.score is None or self.weight is None:
            size = self.sums.shape[1]
            self.scored = np.zeros(size, np.bool_)
            self.raw, self.score, self.weight = np.zeros((3, size))
        self.scored[rows] = True
        self.raw[rows], self.score[rows], self.weight[rows] = raw, score, weight

    def spread(self, rows: int) -> "FieldCounts":
        """Return the same counts with a row for every document."""
        whole = FieldCounts.of_nothing(rows, seen=False)
        whole.add(self)
        return whole

    def add(self, other: "FieldCounts") -> None:
        """Add rows of some documents to these, which have one for every document."""
        rows = other.documents
        if rows is None:
            rows = np.arange(other.sums.shape[1])
        for mine, its in zip(self.sums, other.sums, strict=True):
            np.add.at(mine, rows, its)
        self.seen[rows[other.seen]] = True
        scores = other.scores_in(slice(None))
        if scores is not None:
            self._score(rows[other.scored], *scores)
        self.undeclared += other.undeclared
        self.extras += other.extras
        for name, child in other.fields.items():
            self.below(name).add(replace(child, documents=child.rows_in(rows)))

    def scores_in(self, rows: "Indexes | slice") -> tuple[Floats, Floats, Floats] | None:
        """Return similarities, scores and weights in some rows, of those that have them."""
        if self.scored is None or self.raw is None or self.score is None or self.weight is None:
            return None
        some = self.scored[rows]
        return self.raw[rows][some], self.score[rows][some], self.weight[rows][some]

    def rows_in(self, rows: Indexes) -> Indexes:
        """Return the documents of the rows of a field, given those of the field above it."""
        return rows if self.documents is None else self.documents

    def which(self, some: Mask | None) -> "Indexes | slice":
        """Return the rows of some documents of the chunk; of all, for None."""
        if some is None:
            return slice(None)
        return np.flatnonzero(some if self.documents is None else some[self.documents])

    def occurs(self, some: Mask) -> bool:
        """Return whether the field has rows of some documents of the chunk."""
        return bool(self.seen[self.which(some)].any())

    def walk(self, path: tuple[str, ...] = ()) -> "Iterator[tuple[tuple[str, ...], FieldCounts]]":
        """Go through this field and all below it, parents first."""
        yield path, self
        for name, child in self.fields.items():
            yield from child.walk((*path, name))
