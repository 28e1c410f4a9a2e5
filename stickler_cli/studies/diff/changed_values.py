"""Compare runs value by value: which values are wrong, and how each run answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from stickler_cli.score.blocks import Blocks
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.record import Run
from .record import ChangedValue, FlowRecord, Move, WholeChange


class _Place(NamedTuple):
    """The path of a value in a document; for an invented value, its path in the prediction."""

    document: str
    path: str
    is_invented: bool


_MOVES: Final[dict[tuple[bool, ...], Move]] = {
    (False, True): Move.BROKEN,
    (True, True): Move.OTHERWISE,
    (True, False): Move.FIXED,
}
"""The move of a value with different answers in two runs, by whether it is wrong in each run."""


class _ErrorsOfRun:
    """The errors of one run, limited to the documents that all runs compared."""

    def __init__(self, errors: Sequence[Error], compared: set[str]) -> None:
        self.values: dict[_Place, Error] = {}
        self.wholes: dict[_Place, Error] = {}
        """The items and objects that failed as a whole."""
        for error in errors:
            if error.document in compared:
                errors_by_place = self.values if error.values is None else self.wholes
                errors_by_place[_place_of(error)] = error

    def find_failed_parent(self, error: Error) -> Error | None:
        """Return the item or object that contains a wrong value and failed as a whole, or None."""
        if error.inside is None:
            return None
        is_invented = error.outcome == "FA"
        place = _Place(error.document, error.inside, is_invented)
        return self.wholes.get(place) or self.wholes.get(place._replace(is_invented=False))


def changed_values(*runs: Run) -> list[ChangedValue] | None:
    """List the values that are wrong in a run, with the answer of each run.

    Only documents that all runs compared are listed. For two runs, broken values come first, and
    values that are wrong in the same way in both come last; for more runs, values with the same
    answer in all of them are left out. Returns None if a run does not keep all of its errors.
    """
    kept = [run.detail.errors for run in runs if run.detail and run.detail.knows_errors]
    if len(kept) < len(runs) or not all(errors.is_complete for errors in kept):
        return None
    compared = set.intersection(*map(_ids_compared, runs))
    sides = [_ErrorsOfRun([*errors.rows()], compared) for errors in kept]
    places = dict.fromkeys(place for side in sides for place in side.values)
    values = [_changed_value(place, sides) for place in places]
    order = {None: 0} | {move: index for index, move in enumerate(Move)}
    listed = [value for value in values if value.move or not _is_same(value)]
    return sorted(listed, key=lambda value: (order[value.move], value.document))


def _is_same(value: ChangedValue) -> bool:
    return all(answer == value.said[0] for answer in value.said)


def _changed_value(place: _Place, sides: Sequence[_ErrorsOfRun]) -> ChangedValue:
    errors = [side.values.get(place) for side in sides]
    answers = [error.pred if error else None if place.is_invented else True for error in errors]
    move = None
    if len(sides) == 2:
        is_same = answers[0] == answers[1]
        move = Move.SAME if is_same else _MOVES[errors[0] is not None, errors[1] is not None]

    # Class and cause of the error are those of the last run in which the value is wrong.
    run, error = next(
        (run_index, run_error)
        for run_index, run_error in reversed([*enumerate(errors)])
        if run_error is not None
    )
    failed_parent = sides[run].find_failed_parent(error)
    whole_change = None
    if failed_parent is not None:
        whole_change = WholeChange(
            path=failed_parent.path,
            field=failed_parent.field,
            error_class=str(failed_parent.error_class),
            gt=failed_parent.gt,
            pred=failed_parent.pred,
            is_one_sided=failed_parent.outcome != "FD",
        )
    return ChangedValue(
        document=place.document,
        path=place.path,
        field=error.field,
        error_class=str(error.error_class),
        move=move,
        gt=error.gt,
        said=answers,
        whole=whole_change,
        run=run,
        cause=error.cause or (failed_parent.cause if failed_parent else ""),
    )


def _place_of(error: Error) -> _Place:
    return _Place(error.document, error.path, error.outcome == "FA")


def _ids_compared(run: Run) -> set[str]:
    blocks = run.evaluation.ledger.blocks or Blocks()
    return {document.id for document in blocks.documents() if document.score is not None}


def flow_of(values: Sequence[ChangedValue] | None) -> FlowRecord | None:
    """Count the wrong values of two runs by their move; None if the values are unknown."""
    if values is None:
        return None
    counts = {move: sum(value.move is move for value in values) for move in Move}
    stayed = counts[Move.OTHERWISE] + counts[Move.SAME]
    return {
        "wrong_before": counts[Move.FIXED] + stayed,
        "fixed": counts[Move.FIXED],
        "wrong_otherwise": counts[Move.OTHERWISE],
        "wrong_same": counts[Move.SAME],
        "broken": counts[Move.BROKEN],
        "wrong_after": counts[Move.BROKEN] + stayed,
    }


def merged_by_whole(values: Sequence[ChangedValue]) -> list[ChangedValue]:
    """Merge the values of a missed or invented item or object into one row, as lists of errors do.

    Two values share a row only if each run treats both in the same way: right, absent, or invented
    with the item.
    """
    rows: list[ChangedValue] = []
    row_of_whole: dict[tuple[object, ...], int] = {}
    for value in values:
        failed_parent = value.whole
        if (
            failed_parent is None
            or not failed_parent.is_one_sided
            or not _is_missed_or_invented(value)
        ):
            rows.append(value)
            continue
        answers = [
            failed_parent.pred if isinstance(answer, str | list) else answer
            for answer in value.said
        ]
        is_right_or_absent = tuple(answer if answer in (True, None) else "" for answer in answers)
        key = (
            value.document,
            failed_parent.path,
            failed_parent.error_class,
            value.move,
            is_right_or_absent,
        )
        if key in row_of_whole:
            row = rows[row_of_whole[key]]
            rows[row_of_whole[key]] = replace(row, n_values=row.n_values + 1)
            continue
        row_of_whole[key] = len(rows)
        rows.append(
            replace(
                value,
                path=failed_parent.path,
                field=failed_parent.field,
                error_class=failed_parent.error_class,
                gt=failed_parent.gt,
                said=answers,
            )
        )
    return rows


def _is_missed_or_invented(value: ChangedValue) -> bool:
    """Return whether a value is invented, or absent in all runs in which it is wrong."""
    wrong_answers = [answer for answer in value.said if answer is not True]
    is_invented = value.gt is None
    return is_invented or all(answer is None for answer in wrong_answers)
