"""Consecutive documents of a run, their units and cached counts: the input of every statistic."""

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
from .field_counts import IS_SCORED, SCORE, ConfidentValues, FieldCounts


class Batch:
    """Consecutive documents of a run, and the units of those that were compared."""

    def __init__(self, results: Sequence[DocumentResult], table: UnitTable | None = None) -> None:
        """Take results of documents, and the units of the compared documents in the same order."""
        self.results = results
        self.table = UnitTable(0) if table is None else table

    @cached_property
    def compared_positions(self) -> list[int | None]:
        """The position of each document among the compared ones; None if it was not compared."""
        position = count()
        return [None if result.score is None else next(position) for result in self.results]

    @cached_property
    def counts(self) -> FieldCounts | None:
        """Counts of each document that was compared; None if none was."""
        if not self.table.size:
            return None
        counts, scores = count_units(self.table), self.scores
        root = counts.scores[:, : len(scores)]  # its rows come first
        root[IS_SCORED], root[SCORE] = 1.0, scores
        return counts

    @cached_property
    def compared_documents(self) -> Indexes:
        """The positions of the documents that were compared."""
        is_compared = [result.score is not None for result in self.results]
        return np.flatnonzero(np.array(is_compared, np.bool_))

    @cached_property
    def compared_ids(self) -> list[str]:
        """The ids of the documents that were compared."""
        return [result.id for result in self.results if result.score is not None]

    @cached_property
    def confident_values(self) -> ConfidentValues | None:
        """Predicted values that have a confidence; None without any."""
        confident = self.counts and self.counts.confident
        return confident and confident.with_documents(self.compared_documents[confident.document])

    @cached_property
    def _classified(self) -> list[list[ClassifiedError]]:
        return classified_errors(self.table, self.table.truths)

    @cached_property
    def _all_errors(self) -> list[list[ClassifiedError]]:
        return [
            sorted([*errors, *simple_errors], key=lambda error: error.unit.sort_key)
            for errors, simple_errors in zip(
                self._classified, located_simple_errors(self.table), strict=True
            )
        ]

    @property
    def outermost_errors(self) -> list[list[ClassifiedError]]:
        """The errors of each compared document that are not inside another error."""
        return outermost_errors(self.table, self.table.truths)

    @cached_property
    def simple_errors(self) -> list[SimpleErrors]:
        """Values that are simply missed or invented, by field."""
        return simple_errors(self.table)

    @cached_property
    def is_wrong(self) -> Mask:
        """Whether each compared document has errors, (n_compared,)."""
        is_wrong = np.array([bool(errors) for errors in self._classified], np.bool_)
        for errors in self.simple_errors:
            is_wrong[errors.documents] = True
        return is_wrong

    @property
    def has_any_error(self) -> bool:
        """Whether any document has an error."""
        return has_errors(self.table)

    def classified(self, selected: Mask | None = None) -> Iterator[ClassifiedError]:
        """Yield the errors that are not simple, of all compared documents or of selected ones."""
        for row, errors in enumerate(self._classified):
            if selected is None or selected[row]:
                yield from errors

    def classified_errors(self, document: int) -> list[ClassifiedError]:
        """Return the errors of a document, by its position; none if it was not compared."""
        row = self.compared_positions[document]
        return [] if row is None else self._all_errors[row]

    def errors(self, document: int) -> list[Error]:
        """Return the errors of a document as rows of files and pages."""
        row = self.compared_positions[document]
        return [] if row is None else self._error_rows[row]

    @cached_property
    def _error_rows(self) -> list[list[Error]]:
        by_document = zip(self.compared_ids, self._all_errors, strict=True)
        return [[error_of(name, error) for error in errors] for name, errors in by_document]

    @property
    def scores(self) -> Floats:
        """The overall scores of the compared documents, (n_compared,)."""
        return self.table.document_scores

    def field_scores(self, document: int) -> dict[str, float]:
        """Return the scores of the fields of a document; none if it was not compared."""
        row = self.compared_positions[document]
        return {} if row is None else self.table.field_scores(row)

    def tree(self, document: int) -> UnitTree | None:
        """Return the units of a document as a tree, by its position; None if not compared."""
        row = self.compared_positions[document]
        return None if row is None else tree_of(self.table, row)


def batch_of_unit(unit: UnitTree) -> Batch:
    """Return a batch whose only document is a compared unit; it has no id."""
    result = DocumentResult("", Status.EVALUATED, unit.score)
    return Batch([result], unit.table.select(np.array([unit.row])))
