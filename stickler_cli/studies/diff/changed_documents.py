"""Documents in which runs counted different things, and the values that changed in them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stickler_cli.core.locations import field_path
from stickler_cli.score.blocks import Blocks
from stickler_cli.score.detail import Detail
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.record import Run
from stickler_cli.settings.deciding import Counting, CountingOptions
from .joined_runs import LOST, JoinedRuns, RunRows
from .record import DIFFERENT, HARD, ChangedValue, DocumentChange, Move

Numbers: TypeAlias = NDArray[np.int64]


def document_changes(
    runs: JoinedRuns, fields: Sequence[str] = (), counting: Counting = CountingOptions.counting
) -> list[DocumentChange]:
    """Return documents that changed, greatest losses first, then most new errors, then by id.

    What broke or was fixed is named in the order of the fields, others last.
    """
    order = {path: at for at, path in enumerate(fields)}
    names = [field_path(path) for path in runs.paths]
    changed = defaultdict[int, tuple[list[str], list[str]]](lambda: ([], []))
    places = [(order.get(name, len(order)), runs.paths[at]) for at, name in enumerate(names)]
    for at in sorted(range(1, len(names)), key=places.__getitem__):  # the first is no field
        for which, documents in enumerate(runs.broken_and_fixed([at], counting)):
            for document in np.flatnonzero(documents).tolist():
                changed[document][which].append(names[at])
    errors = runs.of_runs((), counting)[:, LOST].sum(axis=1)
    scores = np.zeros(errors.shape)
    for run, into in enumerate(scores):
        root = runs.of_field(run, 0)
        into[root.document] = root.score
    found = [
        _change(runs, document, scores[:, document], errors[:, document], changed[document])
        for document in np.flatnonzero(_differing(runs)).tolist()
    ]
    return sorted(found, key=lambda it: (it.change, it.errors_before - it.errors_after, it.id))


def _change(
    runs: JoinedRuns,
    document: int,
    scores: NDArray[np.float64],
    errors: Numbers,
    changed: tuple[list[str], list[str]],
) -> DocumentChange:
    first, lost = runs.sides[0], bool(runs.lost[document])
    sides = slice(first), slice(first, None)
    before, after = (sum(scores[side].tolist()) / len(scores[side]) for side in sides)
    errors_before, errors_after = (
        of_one(sum(errors[side].tolist()), len(errors[side])) for side in sides
    )
    change = after - before
    return DocumentChange(
        id=runs.ids[document],
        status_before=runs.status_before(document),
        status_after=runs.status_after(document),
        lost=lost,
        score_before=before,
        score_after=after,
        errors_before=errors_before,
        errors_after=errors_after,
        broken=changed[0],
        fixed=changed[1],
        change=change,
        hard=lost or change <= -HARD + DIFFERENT,
    )


def of_one(total: int, times: int) -> float:
    """Return a total divided by the number of runs: a whole number if it is one."""
    return total // times if total % times == 0 else total / times


def _keys(runs: JoinedRuns, rows: RunRows) -> Numbers:
    keys: Numbers = rows.field * len(runs.ids) + rows.document
    return keys


def _differing(runs: JoinedRuns) -> NDArray[np.bool_]:
    """Return in which documents runs counted different things, or one was not compared."""
    found = runs.lost.copy()
    first = runs.rows[0]
    keys = _keys(runs, first)
    for rows in runs.rows[1:]:
        _, mine, its = np.intersect1d(keys, _keys(runs, rows), True, return_indices=True)
        alike = first.cell[mine] == rows.cell[its]
        bits = (it.view(np.int64) for it in (first.score[mine], rows.score[its]))
        alike &= np.equal(*bits)
        for one, same in ((first, mine), (rows, its)):
            left = np.ones(len(one.field), np.bool_)
            left[same[alike]] = False
            found[one.document[left]] = True
    return found


class _Place(NamedTuple):
    """Where a value is; an invented one at its place in the prediction."""

    document: str
    path: str
    invented: bool


_Wrong: TypeAlias = dict[_Place, Error]


def changed_values(*runs: Run) -> list[ChangedValue] | None:
    """Return the values of which runs say different things, in documents that all compared.

    Broken ones come first; None where one of the runs does not know all of its errors.
    """
    if not all(_knows(run.detail) for run in runs):
        return None
    compared = set.intersection(*map(_ids_compared, runs))
    wrong = [_errors_by_place(run, compared) for run in runs]
    one_sided = _one_sided(runs)
    found = []
    for place in dict.fromkeys(chain.from_iterable(wrong)):
        rows = [each.get(place) for each in wrong]
        said = [row.pred if row else None if place.invented else True for row in rows]
        if any(each != said[0] for each in said):
            first = next(row for row in rows if row)
            move = _move(rows) if len(runs) == 2 else None
            where = place.document, place.path, first.field, str(first.error_class)
            inside = first.inside and _Place(place.document, first.inside, place.invented)
            found.append(ChangedValue(*where, move, first.gt, said, one_sided.get(inside or place)))
    order = {None: 0} | {move: at for at, move in enumerate(Move)}
    return sorted(found, key=lambda it: (order[it.move], it.document))


def _move(rows: Sequence[Error | None]) -> Move:
    before, after = rows
    return Move.FIXED if after is None else Move.BROKEN if before is None else Move.OTHERWISE


def _knows(detail: Detail | None) -> bool:
    return detail is not None and detail.knows_errors and detail.errors.complete


def _ids_compared(run: Run) -> set[str]:
    blocks = run.evaluation.ledger.blocks or Blocks()
    return {it.id for it in blocks.documents() if it.score is not None}


def _one_sided(runs: Sequence[Run]) -> dict[_Place, tuple[str, str, str]]:
    """Return path, field and class of the items and objects that one side alone has."""
    return {
        _Place(row.document, row.path, row.outcome == "FA"): (row.path, row.field, row.error_class)
        for run in runs
        for row in (run.detail.errors.rows() if run.detail else ())
        if row.values is not None and row.outcome != "FD"
    }


def _errors_by_place(run: Run, documents: Collection[str]) -> _Wrong:
    return {
        _Place(row.document, row.path, row.outcome == "FA"): row
        for row in (run.detail.errors.rows() if run.detail else ())
        if row.values is None and row.document in documents
    }
