"""A batch: consecutive documents of a run, the results of comparing them, and figures from these.

All statistics of a run are computed from batches.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from stickler_cli.compare.columns import Floats, Indexes, Mask
from stickler_cli.compare.tree import UnitTree, tree_of
from stickler_cli.compare.units import UnitTable
from .counts import count_units
from .document_result import DocumentResult, Status
from .errors.early_ends import EarlyEnds, find_early_ends
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
    """Consecutive documents of a run, with one table of all units that were compared in them."""

    def __init__(self, results: Sequence[DocumentResult], table: UnitTable | None = None) -> None:
        """Make a batch of document results and a table of units.

        `table` contains only documents that were compared, in the order of `results`.
        """
        self.results = results
        self.table = UnitTable(0) if table is None else table

    @cached_property
    def compared_positions(self) -> list[int | None]:
        """For each document, its position when only compared documents are numbered.

        None for a document that was not compared.
        """
        position = count()
        return [None if result.score is None else next(position) for result in self.results]

    @cached_property
    def counts(self) -> FieldCounts | None:
        """Counts for each compared document and field; None if no document was compared."""
        if not self.table.size:
            return None
        counts, scores = count_units(self.table), self.scores
        root = counts.scores[:, : len(scores)]  # the rows of the root come first
        root[IS_SCORED], root[SCORE] = 1.0, scores
        return counts

    @cached_property
    def compared_documents(self) -> Indexes:
        """The positions of the compared documents in the batch."""
        is_compared = [result.score is not None for result in self.results]
        return np.flatnonzero(np.array(is_compared, np.bool_))

    @cached_property
    def compared_ids(self) -> list[str]:
        """The ids of the compared documents."""
        return [result.id for result in self.results if result.score is not None]

    @cached_property
    def confident_values(self) -> ConfidentValues | None:
        """The predicted values that have a confidence, or None if there are none."""
        confident = self.counts and self.counts.confident
        return confident and confident.with_documents(self.compared_documents[confident.document])

    @cached_property
    def _classified(self) -> list[list[ClassifiedError]]:
        return classified_errors(self.table, self.table.truths, self.early_ends)

    @cached_property
    def early_ends(self) -> EarlyEnds:
        """Documents that end early. Maps the number of such a document to where and how it ends."""
        statuses = [result.status for result in self.results if result.score is not None]
        return find_early_ends(self.table, statuses)

    @cached_property
    def _all_errors(self) -> list[list[ClassifiedError]]:
        return [
            sorted([*errors, *simple_errors], key=lambda error: error.unit.sort_key)
            for errors, simple_errors in zip(
                self._classified,
                located_simple_errors(self.table, self.early_ends),
                strict=True,
            )
        ]

    @property
    def outermost_errors(self) -> list[list[ClassifiedError]]:
        """The errors of each compared document.

        An error that lies inside another error is left out.
        """
        return outermost_errors(self.table, self.table.truths)

    @cached_property
    def simple_errors(self) -> list[SimpleErrors]:
        """The simple errors, grouped by field.

        An error is simple if a value is missed or invented.
        """
        return simple_errors(self.table, self.early_ends)

    @cached_property
    def is_wrong(self) -> Mask:
        """Whether each compared document has an error. The mask has the shape (n_compared,)."""
        is_wrong = np.array([bool(errors) for errors in self._classified], np.bool_)
        for errors in self.simple_errors:
            is_wrong[errors.documents] = True
        return is_wrong

    @property
    def has_any_error(self) -> bool:
        """Whether any document has an error."""
        return has_errors(self.table)

    def classified(self, selected: Mask | None = None) -> Iterator[ClassifiedError]:
        """Yield the errors that are not simple, from all compared documents or the selected ones.

        Simple errors, which are values that are missed or invented, are in `simple_errors`.
        """
        for row, errors in enumerate(self._classified):
            if selected is None or selected[row]:
                yield from errors

    def classified_errors(self, document: int) -> list[ClassifiedError]:
        """Return all errors of one document with their classes; `document` is its position.

        Empty if the document was not compared.
        """
        row = self.compared_positions[document]
        return [] if row is None else self._all_errors[row]

    def errors(self, document: int) -> list[Error]:
        """Return the errors of one document in the form in which files and pages show them.

        `document` is its position in the batch. Empty if the document was not compared.
        """
        row = self.compared_positions[document]
        return [] if row is None else self._error_rows[row]

    @cached_property
    def _error_rows(self) -> list[list[Error]]:
        by_document = zip(self.compared_ids, self._all_errors, strict=True)
        return [[error_of(name, error) for error in errors] for name, errors in by_document]

    @property
    def scores(self) -> Floats:
        """The overall scores of the compared documents. The array has the shape (n_compared,)."""
        return self.table.document_scores

    def field_scores(self, document: int) -> dict[str, float]:
        """Return the score of each field of a document, or no scores if it was not compared."""
        row = self.compared_positions[document]
        return {} if row is None else self.table.field_scores(row)

    def tree(self, document: int) -> UnitTree | None:
        """Return a compared document as a tree of units, or None if it was not compared."""
        row = self.compared_positions[document]
        return None if row is None else tree_of(self.table, row)


def batch_of_unit(unit: UnitTree) -> Batch:
    """Return a batch that holds one compared document. The document has an empty id."""
    result = DocumentResult("", Status.EVALUATED, unit.score)
    return Batch([result], unit.table.select(np.array([unit.row])))
