"""Wrong values of runs, what each run says of them, and what became of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from stickler_cli.score.blocks import Blocks
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.record import Run
from .record import ChangedValue, FlowRecord, Move, WholeChange


class _Place(NamedTuple):
    """Where a value is; an invented one at its place in the prediction."""

    document: str
    path: str
    is_invented: bool


_MOVES: Final[dict[tuple[bool, ...], Move]] = {
    (False, True): Move.BROKEN,
    (True, True): Move.OTHERWISE,
    (True, False): Move.FIXED,
}
"""By whether a value is wrong, of two runs that do not say the same of it."""


class _ErrorsOfRun:
    """The errors of one run, in documents that all runs compared."""

    def __init__(self, errors: Sequence[Error], compared: set[str]) -> None:
        self.values: dict[_Place, Error] = {}
        self.wholes: dict[_Place, Error] = {}
        """Items and objects that failed as a whole."""
        for error in errors:
            if error.document in compared:
                errors_by_place = self.values if error.values is None else self.wholes
                errors_by_place[_place_of(error)] = error

    def whole_around(self, error: Error) -> Error | None:
        """Return the item or object that failed as a whole and contains a wrong value."""
        if error.inside is None:
            return None
        is_invented = error.outcome == "FA"
        place = _Place(error.document, error.inside, is_invented)
        return self.wholes.get(place) or self.wholes.get(place._replace(is_invented=False))


def changed_values(*runs: Run) -> list[ChangedValue] | None:
    """Return the wrong values of runs with what each said, in documents that all compared.

    Of two runs those that both say the same of are listed too, last; broken ones come first. None
    where one of the runs does not know all of its errors.
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
    return all(said == value.said[0] for said in value.said)


def _changed_value(place: _Place, sides: Sequence[_ErrorsOfRun]) -> ChangedValue:
    errors = [side.values.get(place) for side in sides]
    said = [error.pred if error else None if place.is_invented else True for error in errors]
    move = None
    if len(sides) == 2:
        is_same = said[0] == said[1]
        move = Move.SAME if is_same else _MOVES[errors[0] is not None, errors[1] is not None]

    # The last run that has it wrong tells how.
    run, error = next((at, it) for at, it in reversed([*enumerate(errors)]) if it is not None)
    around = sides[run].whole_around(error)
    whole = None
    if around is not None:
        whole = WholeChange(
            path=around.path,
            field=around.field,
            error_class=str(around.error_class),
            gt=around.gt,
            pred=around.pred,
            is_one_sided=around.outcome != "FD",
        )
    return ChangedValue(
        document=place.document,
        path=place.path,
        field=error.field,
        error_class=str(error.error_class),
        move=move,
        gt=error.gt,
        said=said,
        whole=whole,
        run=run,
        cause=error.cause or (around.cause if around else ""),
    )


def _place_of(error: Error) -> _Place:
    return _Place(error.document, error.path, error.outcome == "FA")


def _ids_compared(run: Run) -> set[str]:
    blocks = run.evaluation.ledger.blocks or Blocks()
    return {it.id for it in blocks.documents() if it.score is not None}


def flow_of(values: Sequence[ChangedValue] | None) -> FlowRecord | None:
    """Count the wrong values of two runs by what became of them; None where they are not known."""
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
    """Return values with one row for a missed or invented item or object, as reports list errors.

    Values are merged only if each run says of all of them that they are right, or absent, or the
    invented ones of the item.
    """
    rows: list[ChangedValue] = []
    row_of_whole: dict[tuple[object, ...], int] = {}
    for value in values:
        whole = value.whole
        if whole is None or not whole.is_one_sided or not _says_one_thing(value):
            rows.append(value)
            continue
        said = [whole.pred if isinstance(it, str | list) else it for it in value.said]
        is_right_or_absent = tuple(it if it in (True, None) else "" for it in said)
        key = value.document, whole.path, whole.error_class, value.move, is_right_or_absent
        if key in row_of_whole:
            row = rows[row_of_whole[key]]
            rows[row_of_whole[key]] = replace(row, n_values=row.n_values + 1)
            continue
        row_of_whole[key] = len(rows)
        rows.append(
            replace(
                value,
                path=whole.path,
                field=whole.field,
                error_class=whole.error_class,
                gt=whole.gt,
                said=said,
            )
        )
    return rows


def _says_one_thing(value: ChangedValue) -> bool:
    """Return whether runs that find a value wrong all lack it, or all invent the same."""
    wrong = [it for it in value.said if it is not True]
    is_invented = value.gt is None
    return is_invented or all(it is None for it in wrong)
