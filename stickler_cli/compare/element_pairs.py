"""Pairs of lists, and which of their elements go together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stickler_cli.compare.account import Floats
from stickler_cli.compare.columns import Indexes, spread


class Lists(NamedTuple):
    """Pairs of lists, and the elements of all of them, list by list."""

    n: Indexes
    """How many elements each ground truth has."""
    m: Indexes
    """How many elements each prediction has."""
    rows: Indexes
    """The slots of the elements of the ground truths."""
    columns: Indexes
    """The slots of the elements of the predictions."""

    def some(self, chosen: Indexes) -> "Lists":
        """Return some of the pairs of lists."""
        rows, _ = spread((np.cumsum(self.n) - self.n)[chosen], self.n[chosen])
        columns, _ = spread((np.cumsum(self.m) - self.m)[chosen], self.m[chosen])
        return Lists(self.n[chosen], self.m[chosen], self.rows[rows], self.columns[columns])


@dataclass(slots=True)
class Pairs:
    """Pairs of elements, by list and by ground truth."""

    owner: Indexes
    """The list of each pair."""
    row: Indexes
    """Position of the ground truth among the elements of its list."""
    column: Indexes
    """Position of the prediction among the elements of its list."""
    similarity: Floats
    """In [0, 1]."""

    @staticmethod
    def together(lists: "Sequence[Pairs]") -> "Pairs":
        """Return the pairs of several lists, each given by itself."""
        owner = np.repeat(np.arange(len(lists)), [len(each.owner) for each in lists])
        none = np.empty(0, np.intp)
        nothing = Pairs(none, none, none, np.empty(0))
        every = [nothing, *lists]
        return Pairs(
            owner,
            np.concatenate([each.row for each in every]),
            np.concatenate([each.column for each in every]),
            np.concatenate([each.similarity for each in every]),
        )

    def by_list(self, size: int) -> "list[Pairs]":
        """Return the pairs of each of `size` lists by itself."""
        edges = np.searchsorted(self.owner, np.arange(size + 1))
        return [
            Pairs(
                self.owner[first:last],
                self.row[first:last],
                self.column[first:last],
                self.similarity[first:last],
            )
            for first, last in pairwise(edges.tolist())
        ]

    def positions(self, lists: Lists) -> tuple[Indexes, Indexes]:
        """Return where the elements of each pair are among all elements of the lists."""
        row = (np.cumsum(lists.n) - lists.n)[self.owner] + self.row
        return row, (np.cumsum(lists.m) - lists.m)[self.owner] + self.column

    def slots(self, lists: Lists) -> tuple[Indexes, Indexes]:
        """Return the slots of the elements of each pair."""
        row, column = self.positions(lists)
        return lists.rows[row], lists.columns[column]

    def ordered(self) -> "Pairs":
        """Return the same pairs in their order."""
        order = np.lexsort((self.row, self.owner))
        return Pairs(self.owner[order], self.row[order], self.column[order], self.similarity[order])
