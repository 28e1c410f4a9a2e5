"""Some documents of a run, their units and cached counts: the input of every fold."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.compare.tree import UnitTree, tree_of
from stickler_cli.compare.units import UnitTable
from .counts import count_units
from .document_result import DocumentResult, Status
from .errors.error_rows import Error, error_of
from .errors.wrong_units import (
    ClassifiedError,
    SimpleErrors,
    classified_errors,
    has_errors,
    located_simple_errors,
    outermost_errors,
    simple_errors,
)
from .field_counts import SCORE, SCORED, FieldCounts, Leaves


class Batch:
    """Documents that follow each other, and what was found in those that were compared."""

    def __init__(self, results: Sequence[DocumentResult], table: UnitTable | None = None) -> None:
        """Take documents, and the units of those that were compared, in their order."""
        self.results = results
        self.table = UnitTable(0) if table is None else table

    @cached_property
    def rows(self) -> list[int | None]:
        """The position of each document among those that were compared; None for others."""
        position = count()
        return [None if result.score is None else next(position) for result in self.results]

    @cached_property
    def counts(self) -> FieldCounts | None:
        """Counts of each document that was compared; None if none was."""
        if not self.table.size:
            return None
        counts, scores = count_units(self.table), self.scores
        root = counts.scores[:, : len(scores)]  # its rows come first
        root[SCORED], root[SCORE] = 1.0, scores
        return counts

    @cached_property
    def compared(self) -> Indexes:
        """The positions of the documents that were compared."""
        places = (place for place, row in enumerate(self.rows) if row is not None)
        return np.fromiter(places, np.intp)

    @cached_property
    def compared_ids(self) -> list[str]:
        """The ids of the documents that were compared."""
        return [result.id for result in self.results if result.score is not None]

    @cached_property
    def leaves(self) -> Leaves | None:
        """The values of predictions that have a confidence; None without any."""
        confident = self.counts and self.counts.confident
        return confident and confident.placed(self.compared[confident.document])

    @cached_property
    def _classified(self) -> list[list[ClassifiedError]]:
        return classified_errors(self.table, self.table.truths)

    @cached_property
    def _all_errors(self) -> list[list[ClassifiedError]]:
        return [
            sorted([*errors, *more], key=lambda error: error.unit.sort_key)
            for errors, more in zip(
                self._classified, located_simple_errors(self.table), strict=True
            )
        ]

    @property
    def outermost_errors(self) -> list[list[ClassifiedError]]:
        """The errors of the documents that were compared that are inside of no other."""
        return outermost_errors(self.table, self.table.truths)

    @cached_property
    def simple_errors(self) -> list[SimpleErrors]:
        """The values of documents that are simply missed or invented, by field."""
        return simple_errors(self.table)

    @cached_property
    def wrong(self) -> Mask:
        """Which of the documents that were compared have errors."""
        is_wrong = np.array([bool(errors) for errors in self._classified], np.bool_)
        for errors in self.simple_errors:
            is_wrong[errors.documents] = True
        return is_wrong

    @property
    def some_wrong(self) -> bool:
        """Whether there is an error at all."""
        return has_errors(self.table)

    def classified(self, selected: Mask | None = None) -> Iterator[ClassifiedError]:
        """Yield the errors that are not simple, of all compared documents or of selected ones."""
        for row, errors in enumerate(self._classified):
            if selected is None or selected[row]:
                yield from errors

    def classified_errors(self, document: int) -> list[ClassifiedError]:
        """Return the errors of a document, by its position; none if it was not compared."""
        row = self.rows[document]
        return [] if row is None else self._all_errors[row]

    def errors(self, document: int) -> list[Error]:
        """Return the errors of a document as rows of files and pages."""
        row = self.rows[document]
        return [] if row is None else self._error_rows[row]

    @cached_property
    def _error_rows(self) -> list[list[Error]]:
        by_document = zip(self.compared_ids, self._all_errors, strict=True)
        return [[error_of(name, error) for error in errors] for name, errors in by_document]

    @property
    def scores(self) -> Floats:
        """The overall scores of the documents that were compared."""
        return self.table.document_scores

    def field_scores(self, document: int) -> dict[str, float]:
        """Return the scores of the fields of a document; none if it was not compared."""
        row = self.rows[document]
        return {} if row is None else self.table.field_scores(row)

    def tree(self, document: int) -> UnitTree | None:
        """Return the units of a document as a tree, by its position; None if not compared."""
        row = self.rows[document]
        return None if row is None else tree_of(self.table, row)


def batch_of(unit: UnitTree) -> Batch:
    """Return the batch of one unit that was compared, as a document without an id."""
    result = DocumentResult("", Status.EVALUATED, unit.score)
    return Batch([result], unit.table.select(np.array([unit.row])))
