"""Counts for each field in each document, and the predicted values that have a confidence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.compare.units import FieldNames
from stickler_cli.core.locations import field_names, field_path

CONFIDENCES: Final = "confidences"  # key of `ConfidentValues` in a document's record


@dataclass(frozen=True, slots=True, eq=False)
class ConfidentValues:
    """Predicted values that have a confidence. Entry i of each array belongs to value i."""

    paths: Sequence[tuple[str, ...]]
    """The paths of the fields that `field` refers to."""
    document: Indexes
    """The position of each value's document, as an array of shape (n,)."""
    field: Indexes
    """The field of each value, as a position in `paths`. This is an array of shape (n,)."""
    is_right: Mask
    confidence: Floats

    def __len__(self) -> int:
        return len(self.field)

    def select(self, selected: Mask | Indexes) -> "ConfidentValues":
        """Return some of the values. `selected` is a mask or an array of positions."""
        return ConfidentValues(
            paths=self.paths,
            document=self.document[selected],
            field=self.field[selected],
            is_right=self.is_right[selected],
            confidence=self.confidence[selected],
        )

    def select_documents(self, start: int, end: int) -> "ConfidentValues | None":
        """Return the values of the documents from `start` up to, but not including, `end`.

        In the result, the document at `start` has position 0. Return None if none of these
        documents has a value with a confidence.
        """
        selected = self.select((start <= self.document) & (self.document < end))
        return selected.with_documents(selected.document - start) if len(selected) else None

    def with_documents(self, document: Indexes) -> "ConfidentValues":
        """Return the same values with new positions of their documents.

        `document` is an array of shape (n,).
        """
        return replace(self, document=document)

    def sort(self) -> "ConfidentValues":
        """Return the values sorted by document.

        Within a document, right values come before wrong values. The right values of a document are
        sorted by field path, and so are the wrong values.
        """
        rank_by_path = {path: rank for rank, path in enumerate(sorted(self.paths))}
        rank_by_field = np.array([rank_by_path[path] for path in self.paths], np.intp)
        return self.select(np.lexsort((rank_by_field[self.field], ~self.is_right, self.document)))

    def records(self, n_documents: int) -> list[dict[str, Any] | None]:
        """Return a record for each document: `{"right": {path: [c]}, "wrong": {path: [c]}}`.

        Here, `c` are confidences. A document without a confidence has None as its record.
        """
        records: list[dict[str, Any] | None] = [None] * n_documents
        names = [field_path(path) for path in self.paths]
        values = self.sort()
        columns = (values.document, values.field, values.is_right, values.confidence)
        for document, field, is_right, confidence in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            record = records[document] = records[document] or {}
            by_field = record.setdefault("right" if is_right else "wrong", {})
            by_field.setdefault(names[field], []).append(confidence)
        return records


def read_confident_values(
    records: Iterable[Mapping[str, Any] | None],
) -> ConfidentValues | None:
    """Read the values from the records of consecutive documents; None if there is no value."""
    positions: dict[tuple[str, ...], int] = {}
    values: list[tuple[int, int, bool, float]] = []
    for document, record in enumerate(records):
        for is_right, side in ((True, "right"), (False, "wrong")):
            for text, confidences in (record or {}).get(side, {}).items():
                field = positions.setdefault(field_names(text), len(positions))
                values += ((document, field, is_right, confidence) for confidence in confidences)
    if not values:
        return None
    documents, fields, is_right_column, confidence_column = zip(*values, strict=True)
    return ConfidentValues(
        paths=[*positions],
        document=np.array(documents, np.intp),
        field=np.array(fields, np.intp),
        is_right=np.array(is_right_column, np.bool_),
        confidence=np.array(confidence_column, np.float64),
    )


def join_confident_values(
    values_before: Iterable[tuple[ConfidentValues | None, int]],
) -> ConfidentValues | None:
    """Join the values of several spans of documents; return None if there are no values.

    Each item holds the values of one span, and the number of documents that precede the span.
    """
    present = [
        (values, n_before)
        for values, n_before in values_before
        if values is not None and len(values)
    ]
    if not present:
        return None
    positions: dict[tuple[str, ...], int] = {}
    fields = []
    for values, _ in present:
        new_positions = [positions.setdefault(path, len(positions)) for path in values.paths]
        fields.append(np.array(new_positions, np.intp)[values.field])
    return ConfidentValues(
        paths=[*positions],
        document=np.concatenate([values.document + n_before for values, n_before in present]),
        field=np.concatenate(fields),
        is_right=np.concatenate([values.is_right for values, _ in present]),
        confidence=np.concatenate([values.confidence for values, _ in present]),
    )


N_OUTCOMES: Final = 5
OVERALL, AGGREGATE, LEAVES = range(3)  # positions of the counting modes
N_UNIT_COUNTS: Final = (LEAVES + 1) * N_OUTCOMES  # number of counts of units, which begin a cell
FURTHER_COUNTS: Final = ("not_evaluated", "whole", "items", "missed_items", "invented_items")
"""Names of the last counts in a cell, which follow the counts of units. `not_evaluated` is 1 if the
field is not evaluated in the document, else 0. The other names count list items and objects:
`whole` counts those without an error inside, `items` counts all of them, `missed_items` those that
only the ground truth has, and `invented_items` those that only the prediction has."""
ITEM_COUNTS: Final = slice(N_UNIT_COUNTS + 1, N_UNIT_COUNTS + len(FURTHER_COUNTS))
"""Where the counts of list items and objects are in a cell: the last four of `FURTHER_COUNTS`."""
CELL_SIZE: Final = N_UNIT_COUNTS + len(FURTHER_COUNTS)
IS_SCORED, SIMILARITY, SCORE, WEIGHT = range(4)  # rows of `FieldCounts.scores`


ModeCounts: TypeAlias = NDArray[np.int64]  # units: (3 counting modes, n_rows, 5 outcomes)
Cells: TypeAlias = NDArray[np.int64]  # (n_rows, CELL_SIZE)
DocumentPlace: TypeAlias = tuple[
    int, FieldNames
]  # a document and the path of one of its fields or keys


class FieldCounts(NamedTuple):
    """Counts and scores of some documents: a row for each document and field that was compared.

    A field that is absent on both sides has a row, too, unless the object around it is absent.
    """

    paths: list[FieldNames]
    """The paths of all fields. The first one is the root, and parents come before their
    children."""
    starts: Indexes
    """The first row of each field, as an array of shape (n_fields,). The rows of a field are
    consecutive, and are sorted by document."""
    documents: Indexes
    """The document of each row. The root has a row for every document."""
    cells: Cells
    """The counts of each row, as an array of shape (n_rows, CELL_SIZE)."""
    scores: Floats
    """Four figures of each row: whether the row has its own score (1 or 0), similarity, score after
    clipping, and weight. The shape is (4, n_rows). A field inside a list or a one-sided object has
    no score, and all four figures are 0."""
    undeclared: Sequence[DocumentPlace] = ()
    """Keys in ground truths that the schema does not declare: (document, path) for each key that
    has a value."""
    extras: Sequence[DocumentPlace] = ()
    """Keys that the schema does not declare, and for which only the prediction has a value. There
    is one pair (document, path of the key) for each such key."""
    confident: ConfidentValues | None = None
    """The predicted values that have a confidence; None if no value has one."""
    unlabelled: Sequence[DocumentPlace] = ()
    """Values without a label in the ground truth, and lists with items that have no label. There is
    one pair (document, path of the field) for each such value or list."""
    left_out: Sequence[tuple[DocumentPlace, int]] = ()
    """The place of each open list, and the number of its predicted items that have no partner. An
    open list is a list that the ground truth labels only in part. Therefore, these items are not
    judged."""

    def select_documents(self, selected: Mask) -> "FieldCounts":
        """Return the counts of selected documents.

        `selected` is a mask of the documents, of shape (n_documents,). It must select at least one
        document. A field is left out if no selected document has it. In the result, all attributes
        after `scores` are empty.
        """
        is_selected = selected[self.documents]
        n_rows = np.add.reduceat(is_selected, self.starts, dtype=np.intp)
        fields = np.flatnonzero(n_rows)
        return FieldCounts(
            paths=[self.paths[field] for field in fields.tolist()],
            starts=(np.cumsum(n_rows) - n_rows)[fields],
            documents=self.documents[is_selected],
            cells=self.cells[is_selected],
            scores=self.scores[:, is_selected],
        )

    @property
    def units(self) -> ModeCounts:
        """The counts of units. The shape is (3 counting modes, n_rows, 5 outcomes)."""
        return units_of_cells(self.cells)

    @property
    def row_scores(self) -> Floats:
        """The score of each row; NaN for a row without a score."""
        return np.where(self.scores[IS_SCORED] > 0, self.scores[SCORE], np.nan)

    def fields(self) -> Iterator[tuple[FieldNames, slice]]:
        """Yield the path and the span of rows of each field."""
        ends = [*self.starts[1:].tolist(), len(self.documents)]
        for path, start, end in zip(self.paths, self.starts.tolist(), ends, strict=True):
            yield path, slice(start, end)


def units_of_cells(cells: Cells) -> ModeCounts:
    """Return the counts of units in cells.

    The shape is (3 counting modes, n_cells, 5 outcomes). The result is a view: writing to it
    changes the cells.
    """
    return cells[:, :N_UNIT_COUNTS].reshape(-1, LEAVES + 1, N_OUTCOMES).swapaxes(0, 1)


@lru_cache(8)
def rank_parents_first(paths: tuple[FieldNames, ...]) -> Mapping[FieldNames, int]:
    """Number all paths and their parents; return a dict from each path to its number.

    Numbers begin at 0. Parents come before their children, and siblings stay in the order of
    `paths`.
    """
    children: dict[FieldNames, dict[FieldNames, None]] = {}
    for path in paths:
        for end in range(len(path), 0, -1):
            siblings = children.setdefault(path[: end - 1], {})
            if path[:end] in siblings:
                break
            siblings[path[:end]] = None
    ranked: list[FieldNames] = []
    stack: list[FieldNames] = [()]
    while stack:
        ranked.append(stack.pop())
        stack += reversed(children.get(ranked[-1], {}))
    return {path: rank for rank, path in enumerate(ranked)}
