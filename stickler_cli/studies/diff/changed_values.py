"""Compare runs value by value: which values are wrong, and which answer each run gives."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from stickler_cli.score.blocks import Blocks
from stickler_cli.score.errors.error_rows import Error, ValueText
from stickler_cli.score.record import Run
from .record import ChangedValue, FlowRecord, Move, WholeChange, WrongInside


class _Place(NamedTuple):
    """The place of a value: its document, and its path in the document.

    The path is the one in the ground truth. An invented value has its path in the prediction.
    """

    document: str
    path: str
    is_invented: bool


_MOVES: Final[dict[tuple[bool, ...], Move]] = {
    (False, True): Move.BROKEN,
    (True, True): Move.OTHERWISE,
    (True, False): Move.FIXED,
}
"""How a value changed between two runs. Keys are (is the first answer wrong, is the second answer
wrong)."""


class ErrorsOfRun:
    """The errors of one run. Only documents that all runs compared are included."""

    def __init__(self, errors: Iterable[Error], compared: set[str]) -> None:
        self.values: dict[_Place, Error] = {}
        self.wholes: dict[_Place, Error] = {}
        """The errors of items and objects that failed as a whole."""
        self.wrong_paths: dict[str, list[str]] = {}
        """Maps the id of each document to the paths of its wrong and missed values."""
        for error in errors:
            if error.document not in compared:
                continue
            errors_by_place = self.values if error.values is None else self.wholes
            errors_by_place[_place_of(error)] = error
            if error.values is None and error.outcome != "FA":
                self.wrong_paths.setdefault(error.document, []).append(error.path)

    def rows(self) -> Iterable[Error]:
        """Return all errors: first single values, then items and objects that failed as a whole."""
        return chain(self.values.values(), self.wholes.values())

    def find_cause(self, error: Error) -> str:
        """Return the cause of an error as joined keys (see `split_cause_keys`).

        If the error has no cause of its own, return the cause of the failed item or object that
        contains it. If several of them contain the error, the innermost one with a cause counts. If
        none of them has a cause, return an empty text.
        """
        container: Error | None = error
        while container is not None and not container.cause:
            container = self.find_failed_parent(container)
        return container.cause if container else ""

    def find_wrong_inside(self, item: Error) -> list[str] | None:
        """Return the paths of this run's wrong values inside an item that another run misses.

        The paths are relative to the item. Return None if this run misses the item, too.
        """
        if _place_of(item) in self.wholes and self.wholes[_place_of(item)].outcome == "FN":
            return None
        return [
            path.removeprefix(item.path).removeprefix(".")
            for path in self.wrong_paths.get(item.document, ())
            if path.startswith((f"{item.path}.", f"{item.path}["))
        ]

    def find_failed_parent(self, error: Error) -> Error | None:
        """Find the item or object that contains the wrong value and failed as a whole.

        Return the error of this item or object, or None if there is none.
        """
        if error.inside is None:
            return None
        is_invented = error.outcome == "FA"
        place = _Place(error.document, error.inside, is_invented)
        return self.wholes.get(place) or self.wholes.get(place._replace(is_invented=False))


def changed_values(*runs: Run) -> list[ChangedValue] | None:
    """List the values that are wrong in at least one run, with the answer of each run.

    Only documents that all runs compared count. If there are exactly two runs, values that only the
    second run has wrong come first, and values with the same wrong answer in both runs come last.
    If there are more than two runs, a value with the same answer in all runs is left out. Return
    None if a run does not keep all of its errors.
    """
    sides = read_errors(runs)
    return None if sides is None else list_changed_values(sides)


def read_errors(runs: Sequence[Run]) -> list[ErrorsOfRun] | None:
    """Return the errors of each run, in the documents that all runs compared.

    Return None if a run does not keep all of its errors.
    """
    kept = [run.detail.errors for run in runs if run.detail and run.detail.knows_errors]
    if len(kept) < len(runs) or not all(errors.is_complete for errors in kept):
        return None
    compared = set.intersection(*map(ids_compared, runs))
    return [ErrorsOfRun(errors.rows(), compared) for errors in kept]


def list_changed_values(sides: Sequence[ErrorsOfRun]) -> list[ChangedValue]:
    """List the values that are wrong in at least one run, given the errors of each run.

    Selection and order are described in `changed_values`.
    """
    places = dict.fromkeys(place for side in sides for place in side.values)
    values = [_changed_value(place, sides) for place in places]
    order = {None: 0} | {move: index for index, move in enumerate(Move)}
    listed = [value for value in values if value.move or not _is_same(value)]
    return sorted(listed, key=lambda value: (order[value.move], value.document))


def _is_same(value: ChangedValue) -> bool:
    return all(answer == value.said[0] for answer in value.said)


def _changed_value(place: _Place, sides: Sequence[ErrorsOfRun]) -> ChangedValue:
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
            wrong_inside=_find_wrong_inside(failed_parent, sides),
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
        causes_by_run=[
            side.find_cause(run_error) if run_error else ""
            for side, run_error in zip(sides, errors, strict=True)
        ],
        reasons=[
            _describe_reason(side, run_error) if run_error else ""
            for side, run_error in zip(sides, errors, strict=True)
        ],
    )


def _find_wrong_inside(item: Error, sides: Sequence[ErrorsOfRun]) -> list[list[str] | None]:
    """Return, for each run, the paths of the wrong values inside a missed item.

    A run that misses the item has None instead of paths. The result is empty if `item` is not
    missed.
    """
    return [side.find_wrong_inside(item) for side in sides] if item.outcome == "FN" else []


def _describe_reason(side: ErrorsOfRun, error: Error) -> str:
    """Return the reason of an error as text.

    If the error is in an item that failed as a whole, the result is the reason of the item.
    """
    failed_parent = side.find_failed_parent(error)
    subject = "" if failed_parent is None else f"{failed_parent.path}, "
    reason = failed_parent or error
    return f"{subject}{reason.error_class.replace('_', ' ')}: {reason.explanation}"


def _place_of(error: Error) -> _Place:
    return _Place(error.document, error.path, error.outcome == "FA")


def ids_compared(run: Run) -> set[str]:
    """Return the ids of the documents that a run compared."""
    blocks = run.evaluation.ledger.blocks or Blocks()
    return {document.id for document in blocks.documents() if document.score is not None}


def flow_of(values: Sequence[ChangedValue] | None) -> FlowRecord | None:
    """Count wrong values by how they changed between two runs. Return None if `values` is None."""
    if values is None:
        return None
    counts = {move: sum(value.move is move for value in values) for move in Move}
    stayed = counts[Move.OTHERWISE] + counts[Move.SAME]
    missed_before, missed_after = (sum(value.is_missed(run) for value in values) for run in (0, 1))
    invented_before, invented_after = (
        sum(value.is_invented(run) for value in values) for run in (0, 1)
    )
    return {
        "wrong_before": counts[Move.FIXED] + stayed,
        "missed_before": missed_before,
        "invented_before": invented_before,
        "fixed": counts[Move.FIXED],
        "wrong_otherwise": counts[Move.OTHERWISE],
        "wrong_same": counts[Move.SAME],
        "broken": counts[Move.BROKEN],
        "wrong_after": counts[Move.BROKEN] + stayed,
        "missed_after": missed_after,
        "invented_after": invented_after,
    }


def merged_by_whole(values: Sequence[ChangedValue]) -> list[ChangedValue]:
    """Merge the values of each missed or invented item or object into one row.

    Two values of an item are merged only if they have equal moves, and if each run gives both of
    them the same kind of answer: right, absent or wrong. For instance, if only one of them is right
    in the first run, they stay separate rows. Return all rows, including the rows of values that
    are not merged.
    """
    rows: list[ChangedValue] = []
    row_of_item: dict[tuple[object, ...], int] = {}
    for value in values:
        item = value.whole
        if item is None or not item.is_one_sided or not _is_missed_or_invented(value):
            rows.append(value)
            continue
        answers = _answers_of_item(value, item)
        is_right_or_absent = tuple(
            answer if answer is True or answer is None else "" for answer in answers
        )
        key = (value.document, item.path, item.error_class, value.move, is_right_or_absent)
        if key in row_of_item:
            index = row_of_item[key]
            rows[index] = replace(rows[index], n_values=rows[index].n_values + 1)
            continue
        row_of_item[key] = len(rows)
        rows.append(
            replace(
                value,
                path=item.path,
                field=item.field,
                error_class=item.error_class,
                gt=item.gt,
                said=answers,
            )
        )
    return rows


def _answers_of_item(
    value: ChangedValue, item: WholeChange
) -> list[ValueText | bool | WrongInside]:
    """Return each run's answer for the whole item or object that contains the value."""
    answers: list[ValueText | bool | WrongInside] = [
        item.pred if isinstance(answer, str | list) else answer for answer in value.said
    ]
    for run, paths in enumerate(item.wrong_inside):
        if paths is None:
            answers[run] = None
        elif paths:
            answers[run] = WrongInside(paths)
    return answers


def _is_missed_or_invented(value: ChangedValue) -> bool:
    """Return whether a value is invented, or whether every run with a wrong answer misses it."""
    wrong_answers = [answer for answer in value.said if answer is not True]
    is_invented = value.gt is None
    return is_invented or all(answer is None for answer in wrong_answers)
