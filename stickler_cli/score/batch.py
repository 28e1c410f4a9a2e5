"""Some documents of a run and the account of those that were compared: the input of every fold.

What is counted of them, field by field and document by document, is worked out here.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stickler_cli.compare.account import (
    Account,
    Floats,
    ListAccount,
    MismatchAccount,
    ObjectAccount,
    Outcomes,
    SplitAccount,
    both_sides,
    local_positions,
)
from stickler_cli.compare.columns import Indexes, Mask
from stickler_cli.compare.comparison import Comparison, comparison_of
from stickler_cli.compare.result import FA, FN, TN, TP
from stickler_cli.core.json_values import JsonValue, least
from .document_result import DocumentResult, Status
from .errors.error_rows import Error, error_of
from .errors.units import PlainErrors, WrongUnit, classified, has_errors, plain_errors, plain_units
from .field_counts import (
    LEAVES,
    OF_ITEMS,
    RAW,
    SCORE,
    SCORED,
    WEIGHT,
    Collected,
    FieldCounts,
    Leaves,
    Modes,
)
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
        found, scores = count_documents(self._walked), self.scores
        root = found.scores[:, : len(scores)]  # its rows come first
        root[SCORED], root[SCORE] = 1.0, scores
        return found

    @cached_property
    def counted(self) -> FieldCounts | None:
        """The same, and how many items are right as a whole."""
        counts = self.counts
        if counts is None:
            return None
        cells = counts.cells.copy()
        cells[:, OF_ITEMS] = count_items(self.visits, counts)
        return counts._replace(cells=cells)

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
        return np.empty(0) if self.account is None else self.account.score[self.at]

    def comparison(self, document: int) -> Comparison | None:
        """Return the comparison of a document, by its position."""
        row = self.rows[document]
        if self.account is None or row is None:
            return None
        return comparison_of(self.account, int(self.at[row]))


def batch_of(comparison: Comparison) -> Batch:
    """Return the batch of one document that was evaluated; it has no id."""
    result = DocumentResult("", Status.EVALUATED, comparison.score)
    return Batch([result], comparison.account, np.array([comparison.pair]))


def count_items(visits: Sequence[Visit], counts: FieldCounts) -> NDArray[np.int64]:
    """Count the items of each row: right as a whole, all, missed and invented; shape (rows, 4).

    Items are the elements of a list, and an object where a side has it. In a list of lists they are
    its elements, the inner lists.
    """
    found = np.zeros((len(counts.documents), 4), np.int64)
    if not any(_items(visit).any() for visit in visits):
        return found
    spans = dict(counts.fields())
    below: dict[int, Mask] = {}
    for visit in reversed(visits):  # what is inside comes first
        wrong = _wrong(visit)
        if (inside := below.pop(id(visit), None)) is not None:
            wrong |= inside
        items = _items(visit)
        if items.any():
            outcome, span = visit.outcome, spans[visit.field.path]
            rows = np.searchsorted(counts.documents[span], visit.documents) + span.start
            there = items & (outcome != TN)
            np.add.at(found[:, 0], rows[there & both_sides(outcome) & ~wrong], 1)
            np.add.at(found[:, 1], rows[there], 1)
            np.add.at(found[:, 2], rows[there & (outcome == FN)], 1)
            np.add.at(found[:, 3], rows[there & (outcome == FA)], 1)
        if visit.around is not None:
            around = below.setdefault(id(visit.around), np.zeros(len(visit.around.at), np.bool_))
            around[wrong if visit.of is None else visit.of[wrong]] = True
    return found


def _items(visit: Visit) -> Mask:
    """Return which pairs of a visit are items or objects, or may have been."""
    if visit.order is None or visit.is_side:
        return np.zeros(len(visit.at), np.bool_)
    if visit.units is not None:
        around = visit.around and visit.around.around
        return np.full(len(visit.at), around is None or around.units is None)
    account = visit.account
    if isinstance(account, MismatchAccount):
        return _objects(account.missed, visit.at) | _objects(account.invented, visit.at)
    return np.full(len(visit.at), isinstance(account, ObjectAccount))


def _objects(account: Account, at: Indexes) -> Mask:
    """Return which pairs are compared as objects."""
    found = np.full(len(at), isinstance(account, ObjectAccount))
    if isinstance(account, SplitAccount):
        for part, which, inner in account.parts_at(at):
            found[which] = _objects(part.account, inner)
    return found


def _wrong(visit: Visit) -> Mask:
    """Return which pairs are wrong by themselves, whatever is inside them."""
    account = visit.account
    if visit.order is None:  # with keys that the schema does not declare
        return np.isin(visit.at, [*account.extras])
    if isinstance(account, MismatchAccount | SplitAccount):
        return np.full(len(visit.at), isinstance(account, MismatchAccount))
    outcome = visit.outcome
    if isinstance(account, ObjectAccount | ListAccount):
        one_sided: Mask = ~(both_sides(outcome) | (outcome == TN))
        return one_sided
    own = account.outcome[visit.at]  # of an element, as a value
    wrong: Mask = (own != TP) & (own != TN)
    return wrong


_ALL: Final = (0, 3)
_OVERALL: Final = (0, 1)
_OPEN: Final = (0, 2)  # where nothing counts that is behind a shut gate
_AGGREGATE: Final = (1, 2)
_BELOW: Final = (1, 3)  # what objects and lists take over from what is in them
_LEAVES: Final = (2, 3)


def count_documents(walked: Walked) -> FieldCounts:
    """Count documents, at least one, and the places in them that are passed over.

    At every node `overall` counts its direct units, `aggregate` the leaves as far as gates are
    open, and `leaves` all leaves.

    Source: docs/semantics.md, "overall, aggregate and leaves".
    """
    found = Collected(walked.fields)
    for visit in walked.unlabelled:
        # A declared field is met in an object that one side lacks, be it labelled there or not.
        is_declared = isinstance(visit.order, int) and visit.alone is not None
        if is_declared:
            found.there.append(visit.rows[visit.alone])
        found.passed.append(visit.rows)
        found.unlabelled += ((document, visit.field.path) for document in visit.documents.tolist())
    for visit in walked.visits:
        if visit.is_document or visit.order is not None:
            _count_open(found, visit)
        if visit.order is None:
            _count_keys(found, visit)
        elif visit.units is None:
            _count_fields(found, visit)
        else:
            _count_elements(found, visit)
    return found.counts()


def _count(
    found: Collected, modes: Modes, visit: Visit, outcome: Outcomes, which: Mask | None
) -> None:
    rows = visit.rows
    if which is not None:
        rows, outcome = rows[which], outcome[which]
    if len(rows):
        found.units[modes].append((rows, outcome))
        if visit.account.columns.confidences is not None and modes[1] > LEAVES:
            _note_confidences(
                found, visit, np.ones(len(visit.at), np.bool_) if which is None else which
            )


def _note_confidences(found: Collected, visit: Visit, which: Mask) -> None:
    """Note the leaves that the prediction has, if it has a confidence for them."""
    known = visit.account.columns.confidences or []
    for one, some in zip(visit.each(), which.reshape(visit.width, -1), strict=True):
        rows, outcome, slots = one.rows[some], one.outcome[some], one.account.pred[one.at[some]]
        each = [least(known[it]) if it >= 0 else None for it in slots.tolist()]
        confidence = np.array(each, np.float64)
        (there,) = (~np.isnan(confidence)).nonzero()
        if len(there):
            found.confident.append((rows[there], outcome[there] == TP, confidence[there]))


def _count_fields(found: Collected, visit: Visit) -> None:
    account, outcome, live = visit.account, visit.outcome, visit.live
    found.there.append(visit.rows)
    if not visit.listed:
        _note_scores(found, visit, account.similarity, account.score)
    if isinstance(account, MismatchAccount):
        _count(found, _OPEN, visit, outcome, live)
    elif isinstance(account, ObjectAccount | ListAccount):
        absent = outcome == TN
        _count_leaves(found, visit, outcome, absent)
        if isinstance(account, ObjectAccount):
            one_sided = ~(absent | both_sides(outcome))
            _count(found, _OVERALL, visit, outcome, _both(live, ~absent))
            _count(found, _AGGREGATE, visit, outcome, _both(live, one_sided))
    else:
        _count_leaves(found, visit, outcome, None)


def _count_leaves(found: Collected, visit: Visit, outcome: Outcomes, which: Mask | None) -> None:
    """Count leaves: always in `leaves`, where gates are open in all three modes.

    What neither side has is nothing to count in an object that only one side has.
    """
    if visit.live is None or visit.around is None:
        _count(found, _ALL, visit, outcome, which)
        return
    around = visit.around.outcome if visit.of is None else visit.around.outcome[visit.of]
    kept = _both(which, both_sides(around) | (outcome != TN))
    _count(found, _LEAVES, visit, outcome, kept)
    _count(found, _OPEN, visit, outcome, kept & visit.live)


def _count_elements(found: Collected, visit: Visit) -> None:
    """Count elements of lists: as units of the field, where it is the list that they are in."""
    account, outcome, live = visit.account, visit.outcome, visit.live
    if visit.around and (visit.around.around is None or visit.around.around.units is None):
        _count(found, _OVERALL, visit, outcome, live)
    passed = outcome == TP
    _count(found, _AGGREGATE, visit, outcome, _both(live, ~passed))
    if not isinstance(account, ObjectAccount | ListAccount):
        own = account.outcome[visit.at]
        _count(found, _AGGREGATE, visit, own, _both(live, passed))
        if not isinstance(account, MismatchAccount):
            _count(found, _LEAVES, visit, own, None)


def _count_keys(found: Collected, visit: Visit) -> None:
    account, is_root = visit.account, visit.is_document
    if is_root:
        found.there.append(visit.rows)
        if visit.around is not None:
            _note_scores(found, visit, visit.account.score, visit.account.score)
        if isinstance(account, ListAccount):
            _count(found, _ALL, visit, visit.outcome, visit.outcome == TN)
    if not (account.extras or account.undeclared):
        return
    path, position = visit.field.path, local_positions(visit.at, len(account))
    for where in {**account.extras, **account.undeclared}:
        at = int(position[where])
        if at < 0:
            continue
        row = int(visit.rows[at])
        document = int(visit.field.documents[row - visit.field.start])
        extras, undeclared = account.extras.get(where, ()), account.undeclared.get(where, ())
        found.extras += ((document, (*path, name)) for name in extras)
        found.undeclared += ((document, (*path, name)) for name in undeclared)
        shut = visit.live is not None and not visit.live[at]
        modes = _LEAVES if shut else _ALL if is_root else _BELOW
        if extras and account.columns.confidences is not None:
            known: Any = account.columns.confidences[int(account.pred[where])]
            for name in extras if known else ():
                if (confidence := least(known.get(name))) is not None:
                    found.surplus.append(((document, (*path, name)), confidence))
        outcome = np.full(len(extras), FA, np.int8)
        found.units[modes].append((np.full(len(extras), row), outcome))


def _count_open(found: Collected, visit: Visit) -> None:
    """Note parts of ground truths that nobody labelled, and elements that are left out."""
    account = visit.account
    if not (account.dropped or account.left_out):
        return
    documents, path = visit.documents.tolist(), visit.field.path
    for at, document in zip(visit.at.tolist(), documents, strict=True):
        if at in account.dropped:
            found.unlabelled.append((document, path))
        if at in account.left_out:
            found.left_out.append(((document, path), account.left_out[at]))


def _note_scores(found: Collected, visit: Visit, raw: Floats, score: Floats) -> None:
    which: Any = slice(None) if visit.live is None else visit.live
    rows, at, weight = visit.rows[which], visit.at[which], visit.weight
    if len(rows):
        scores = np.empty((4, len(rows)))
        scores[SCORED], scores[RAW], scores[SCORE] = 1.0, raw[at], score[at]
        scores[WEIGHT] = weight[which] if isinstance(weight, np.ndarray) else weight
        found.scores.append((rows, scores))


def _both(mask: Mask | None, other: Mask) -> Mask:
    return other if mask is None else mask & other
