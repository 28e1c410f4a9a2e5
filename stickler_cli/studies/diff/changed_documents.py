"""Documents in which runs counted different things, and the values that changed in them."""

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
from stickler_cli.score.sums import COUNTING_MODES, NAMES
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
    differing, first = _differing(runs), COUNTING_MODES.index(counting) * len(NAMES)
    counts = runs.cells[:, first : first + len(NAMES)]
    order = {path: at for at, path in enumerate(fields)}
    names = [field_path(path) for path in runs.paths]
    places = [(order.get(name, len(order)), runs.paths[at]) for at, name in enumerate(names)]
    changed: dict[int, tuple[list[int], list[int]]] = {}
    for which, cells in enumerate(_broken_and_fixed(runs, counts, differing)):
        for document, at in cells:
            changed.setdefault(document, ([], []))[which].append(at)
    scores, errors = _of_root(runs, counts)
    found = []
    for document in np.flatnonzero(differing).tolist():
        broken, fixed = (
            [names[at] for at in sorted(those, key=places.__getitem__)]
            for those in changed.get(document, ([], []))
        )
        found.append(
            _change(runs, document, scores[:, document], errors[:, document], (broken, fixed))
        )
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


def _broken_and_fixed(
    runs: JoinedRuns, counts: Numbers, differing: NDArray[np.bool_]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return document and field where a field was right and is wrong, and the reverse.

    Of several runs, it is what it was in more than half of them.
    """
    wrong = counts[:, LOST].any(axis=1)
    states = np.stack([counts.any(axis=1) & ~wrong, wrong], axis=1)
    some = [differing[rows.document] & (rows.field > 0) for rows in runs.rows]
    keys = [_keys(runs, rows)[which] for rows, which in zip(runs.rows, some, strict=True)]
    every = np.unique(np.concatenate(keys))
    times = np.zeros((2, len(every), 2), np.int64)
    for run, (rows, which, mine) in enumerate(zip(runs.rows, some, keys, strict=True)):
        at = np.searchsorted(every, mine)
        times[int(run >= runs.sides[0]), at] += states[rows.cell[which]]
    mostly = 2 * times > np.array(runs.sides)[:, np.newaxis, np.newaxis]
    (right_before, wrong_before), (right_after, wrong_after) = mostly.transpose(0, 2, 1)
    field, document = np.divmod(every, len(runs.ids))
    broken, fixed = (
        [*zip(document[it].tolist(), field[it].tolist(), strict=True)]
        for it in (right_before & wrong_after, wrong_before & right_after)
    )
    return broken, fixed


def _of_root(runs: JoinedRuns, counts: Numbers) -> tuple[NDArray[np.float64], Numbers]:
    """Return score and errors of each document in each run, (runs, documents) both."""
    scores = np.zeros((len(runs.rows), len(runs.ids)))
    errors = np.zeros(scores.shape, np.int64)
    for run in range(len(runs.rows)):
        root = runs.of_field(run, 0)
        scores[run, root.document] = root.score
        errors[run, root.document] = counts[root.cell][:, LOST].sum(axis=1)
    return scores, errors


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
