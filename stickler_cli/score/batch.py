"""Some documents of a run and the account of those that were compared: the input of every fold."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from stickler_cli.compare.account import Account, Floats
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.comparison import Comparison, comparison_of
from stickler_cli.core.json_values import JsonValue
from .counting import count_documents, whole_items
from .document_result import DocumentResult, Status
from .errors.error_rows import Error, error_of
from .errors.units import PlainErrors, WrongUnit, classified, has_errors, plain_errors, plain_units
from .field_counts import SCORE, SCORED, FieldCounts
from .leaves import Leaves
from .visit import Visit
from .walk import Walked, walked


class Batch:
    """Documents that follow each other, and what was found in those that were compared."""

    def __init__(
        self,
        results: Sequence[DocumentResult],
        account: Account | None = None,
        at: Indexes | None = None,
    ) -> None:
        """Take documents, and the account of those that were compared, and maybe of others.

        `at` are the pairs of the account that are these documents, in their order.
        """
        self.results, self.account = results, account
        self.at = np.empty(0, np.intp) if at is None else at

    @cached_property
    def rows(self) -> list[int | None]:
        """The position of each document among those that were compared; None for others."""
        position = count()
        return [None if result.score is None else next(position) for result in self.results]

    @cached_property
    def _walked(self) -> Walked:
        return Walked() if self.account is None else walked(self.account, self.at)

    @property
    def visits(self) -> Sequence[Visit]:
        """All that was compared of the documents, place by place, leaves in blocks."""
        return self._walked.visits

    @cached_property
    def counts(self) -> FieldCounts | None:
        """Counts of each document that was compared."""
        if not self.visits:
            return None
        found = count_documents(self._walked)
        root = found.scores[:, : len(self.scores)]  # its rows come first
        root[SCORED], root[SCORE] = 1.0, self.scores
        return found

    @cached_property
    def counted(self) -> FieldCounts | None:
        """The same, and how many items are right as a whole."""
        counts = self.counts
        return counts and counts._replace(items=whole_items(self.visits, counts))

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
        found = self.counts and self.counts.confident
        return found and found.placed(self.compared[found.document])

    @property
    def _truths(self) -> list[JsonValue]:
        if self.account is None:
            return []
        truths = self.account.columns.gt
        return [truths[slot] for slot in self.account.gt[self.at].tolist()]

    @cached_property
    def _classified(self) -> list[list[WrongUnit]]:
        return classified(self.visits, self._truths)

    @cached_property
    def _all_errors(self) -> list[list[WrongUnit]]:
        rest = plain_units(self.visits, len(self._truths))
        return [
            sorted([*found, *more], key=lambda error: error.unit.order)
            for found, more in zip(self._classified, rest, strict=True)
        ]

    @property
    def outermost_errors(self) -> list[list[WrongUnit]]:
        """The errors of the documents that were compared that are inside of no other."""
        return classified(self.visits, self._truths, outermost=True)

    @cached_property
    def plain_errors(self) -> list[PlainErrors]:
        """The errors of documents that are plain."""
        return plain_errors(self.visits)

    @cached_property
    def wrong(self) -> Mask:
        """Which of the documents that were compared have errors."""
        found = np.array([bool(errors) for errors in self._classified], np.bool_)
        for errors in self.plain_errors:
            found[errors.visit.documents[errors.pairs]] = True
        return found

    @property
    def some_wrong(self) -> bool:
        """Whether there is an error at all."""
        return any(map(has_errors, self.visits))

    def classified(self, some: Mask | None = None) -> Iterator[WrongUnit]:
        """Yield the errors that are not plain, of all documents that were compared or of some."""
        for row, errors in enumerate(self._classified):
            if some is None or some[row]:
                yield from errors

    def wrong_units(self, document: int) -> list[WrongUnit]:
        """Return the errors of a document, by its position; none of one that was not compared."""
        row = self.rows[document]
        return [] if row is None else self._all_errors[row]

    def errors(self, document: int) -> list[Error]:
        """Return the errors of a document with all that is said of them."""
        row = self.rows[document]
        return [] if row is None else self._error_rows[row]

    @cached_property
    def _error_rows(self) -> list[list[Error]]:
        found = zip(self.compared_ids, self._all_errors, strict=True)
        return [[error_of(name, error) for error in errors] for name, errors in found]

    @property
    def scores(self) -> Floats:
        """The overall scores of the documents that were compared."""
        return np.empty(0) if self.account is None else self.account.reported[self.at]

    def comparison(self, document: int) -> Comparison | None:
        """Return the comparison of a document, by its position."""
        row = self.rows[document]
        if self.account is None or row is None:
            return None
        return comparison_of(self.account, int(self.at[row]))


def batch_of(comparison: Comparison) -> Batch:
    """Return the batch of one document that was evaluated; it has no id."""
    result = DocumentResult("", Status.EVALUATED, comparison.reported)
    return Batch([result], comparison.account, np.array([comparison.pair]))
