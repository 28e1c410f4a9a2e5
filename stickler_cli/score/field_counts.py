"""Counts of each field in each document of a chunk, and its values that have a confidence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import field_names, field_path

CONFIDENCES: Final = "confidences"  # the key of them in what files have of a document


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Values with a confidence, each an entry of all arrays."""

    paths: Sequence[tuple[str, ...]]
    """Of fields."""
    document: Indexes
    """The position of its document."""
    field: Indexes
    """The position of the path of its field."""
    right: Mask
    confidence: Floats

    def __len__(self) -> int:
        return len(self.field)

    def among(self, some: Mask | Indexes) -> "Leaves":
        """Return some of the values."""
        document, field = self.document[some], self.field[some]
        return Leaves(self.paths, document, field, self.right[some], self.confidence[some])

    def between(self, start: int, end: int) -> "Leaves | None":
        """Return those of some documents, whose positions then count from the first of them."""
        some = self.among((start <= self.document) & (self.document < end))
        return some.placed(some.document - start) if len(some) else None

    def placed(self, document: Indexes) -> "Leaves":
        """Return them with other positions of their documents."""
        return replace(self, document=document)

    def in_order(self) -> "Leaves":
        """Return them by document, right ones first, then by field."""
        ranks = {path: rank for rank, path in enumerate(sorted(self.paths))}
        rank = np.array([ranks[path] for path in self.paths], np.intp)[self.field]
        return self.among(np.lexsort((rank, ~self.right, self.document)))

    def records(self, documents: int) -> list[dict[str, Any] | None]:
        """Return those of each document: `{"right": {path: [c]}, "wrong": {path: [c]}}`.

        None of a document without any.
        """
        found: list[dict[str, Any] | None] = [None] * documents
        names = [field_path(path) for path in self.paths]
        known = self.in_order()
        columns = (known.document, known.field, known.right, known.confidence)
        for at, name, right, confidence in zip(*(it.tolist() for it in columns), strict=True):
            record = found[at] = found[at] or {}
            by_field = record.setdefault("right" if right else "wrong", {})
            by_field.setdefault(names[name], []).append(confidence)
        return found


def leaves_read(records: Iterable[Mapping[str, Any] | None]) -> Leaves | None:
    """Return those that stand in files, of documents one after the other."""
    paths: dict[tuple[str, ...], int] = {}
    rows: list[tuple[int, int, bool, float]] = []
    for at_document, record in enumerate(records):
        for right, side in ((True, "right"), (False, "wrong")):
            for text, confidences in (record or {}).get(side, {}).items():
                path = field_names(text)
                at = paths.setdefault(path, len(paths))
                rows += ((at_document, at, right, it) for it in confidences)
    if not rows:
        return None
    columns = zip(*rows, strict=True)
    kinds = (np.intp, np.intp, np.bool_, np.float64)
    known: list[Any] = [np.array(it, kind) for it, kind in zip(columns, kinds, strict=True)]
    return Leaves([*paths], *known)


def joined(parts: Iterable[tuple[Leaves | None, int]]) -> Leaves | None:
    """Return several as one, each with the number of documents that are before its own."""
    known = [(leaves, before) for leaves, before in parts if leaves is not None and len(leaves)]
    if not known:
        return None
    paths: dict[tuple[str, ...], int] = {}
    fields = []
    for leaves, _ in known:
        to = [paths.setdefault(path, len(paths)) for path in leaves.paths]
        fields.append(np.array(to, np.intp)[leaves.field])
    return Leaves(
        [*paths],
        np.concatenate([leaves.document + before for leaves, before in known]),
        np.concatenate(fields),
        np.concatenate([leaves.right for leaves, _ in known]),
        np.concatenate([leaves.confidence for leaves, _ in known]),
    )


OUTCOMES: Final = 5
OVERALL, AGGREGATE, LEAVES = range(3)  # the counting modes, as positions
OF_MODES: Final = (LEAVES + 1) * OUTCOMES  # counts by mode and outcome come first in a cell
BESIDE: Final = ("not_evaluated", "whole", "items", "missed_items", "invented_items")
"""Counts after these in a cell: values that were not evaluated; items and objects that are right as
a whole, all items in the ground truth or invented, missed items, invented items."""
OF_ITEMS: Final = slice(OF_MODES + 1, OF_MODES + len(BESIDE))  # the counts of items in a cell
CELL: Final = OF_MODES + len(BESIDE)
SCORED, RAW, SCORE, WEIGHT = range(4)  # what is known of a field that has a score of its own


SumArray: TypeAlias = NDArray[np.int64]  # (3, rows, 5): units by counting mode, row and outcome
Cells: TypeAlias = NDArray[np.int64]  # (rows, CELL)
Key: TypeAlias = tuple[
    int, FieldNames
]  # document and path of a key that the schema does not declare


class FieldCounts(NamedTuple):
    """A row for each field and document in which it was met, be it absent there."""

    paths: list[FieldNames]
    """Of all fields, parents first, in the order in which they were met; the first is the root."""
    starts: Indexes
    """The first row of each field; its rows follow each other, by document."""
    documents: Indexes
    """The document of each row; the root has all of them."""
    cells: Cells
    scores: Floats
    """(4, rows): 1 where the field has a score of its own, being not below a list or an absent
    side; its similarity, its score after clipping, and what it is worth. Else 0."""
    undeclared: Sequence[Key] = ()
    """Those of the ground truth that have a value."""
    extras: Sequence[Key] = ()
    """Those that only the prediction has."""
    confident: Leaves | None = None
    """The values with a confidence that `leaves` counts; None without any."""
    unlabelled: Sequence[Key] = ()
    """Fields of ground truths that are not labelled, or of which some part or element is not; one
    for each place."""
    left_out: Sequence[tuple[Key, int]] = ()
    """Lists that need not have all elements, and how many of a prediction have no pair."""

    def among(self, some: Mask) -> "FieldCounts":
        """Return the rows of some documents, at least one, and the fields that have any.

        Keys and values with a confidence are left out.
        """
        chosen = some[self.documents]
        sizes = np.add.reduceat(chosen, self.starts, dtype=np.intp)
        left = np.flatnonzero(sizes)
        return FieldCounts(
            [self.paths[at] for at in left.tolist()],
            (np.cumsum(sizes) - sizes)[left],
            self.documents[chosen],
            self.cells[chosen],
            self.scores[:, chosen],
        )

    @property
    def sums(self) -> SumArray:
        """The units of the cells."""
        return units_in(self.cells)

    @property
    def known_scores(self) -> Floats:
        """The score of each row; NaN where it has none."""
        return np.where(self.scores[SCORED] > 0, self.scores[SCORE], np.nan)

    def fields(self) -> Iterator[tuple[FieldNames, slice]]:
        """Yield the path and the rows of each field."""
        ends = [*self.starts[1:].tolist(), len(self.documents)]
        for path, start, end in zip(self.paths, self.starts.tolist(), ends, strict=True):
            yield path, slice(start, end)


def units_in(cells: Cells) -> SumArray:
    """Return the units of cells, which change with them."""
    return cells[:, :OF_MODES].reshape(-1, LEAVES + 1, OUTCOMES).swapaxes(0, 1)


@lru_cache(8)
def parents_first(paths: tuple[FieldNames, ...]) -> Mapping[FieldNames, int]:
    """Rank paths of fields and of all around them: parents first, else in the order given."""
    below: dict[FieldNames, dict[FieldNames, None]] = {}
    for path in paths:
        for end in range(len(path), 0, -1):
            siblings = below.setdefault(path[: end - 1], {})
            if path[:end] in siblings:
                break
            siblings[path[:end]] = None
    found: list[FieldNames] = []
    todo: list[FieldNames] = [()]
    while todo:
        found.append(todo.pop())
        todo += reversed(below.get(found[-1], {}))
    return {path: rank for rank, path in enumerate(found)}
