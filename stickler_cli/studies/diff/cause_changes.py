"""Compare the causes of errors of two runs: which causes are new, grew, shrank or are fixed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from stickler_cli.core.locations import field_path
from stickler_cli.score.errors.causes import (
    Cause,
    CauseIdentity,
    Causes,
    CauseSize,
    Group,
    cause_key,
    split_cause_keys,
)
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.record import Run
from .changed_values import ErrorsOfRun, ids_compared
from .record import CauseChange, CauseSizeRecord, CauseTrend, ChangedValue, Move

JoinedCauses: TypeAlias = tuple[Cause, ...]  # causes that are listed as one


def causes_in_both(runs: Sequence[Run], sides: Sequence[ErrorsOfRun] | None) -> list[Causes] | None:
    """Count the causes of errors of each run, in the documents that all runs compared.

    `sides` are the errors of each run, or None if the errors are unknown. If a run compared
    documents that another run did not compare, the causes of the run are counted again from its
    errors. Return None if these errors are unknown.
    """
    ids_by_run = [*map(ids_compared, runs)]
    compared = set.intersection(*ids_by_run)
    causes_of_runs = [run.evaluation.fold(Causes) for run in runs]
    for index, ids in enumerate(ids_by_run):
        if ids != compared:
            if sides is None:
                return None
            causes_of_runs[index] = _count_causes(causes_of_runs[index], sides[index])
    return causes_of_runs


def _count_causes(run_causes: Causes, side: ErrorsOfRun) -> Causes:
    """Count how many errors, values and documents each cause has in `side`.

    `side` has the errors to count. `run_causes` has all causes of the run, and is used to look up
    the cause of each error. Origins (other fields that hold the wrong value) are not counted.
    """
    causes_by_key = {cause.key: cause for cause in run_causes}
    errors_by_cause: dict[str, list[Error]] = {}
    for error in side.rows():
        if error.cause:
            errors_by_cause.setdefault(error.cause, []).append(error)
    counted = Causes(last_items=run_causes.last_items)
    for keys, errors in errors_by_cause.items():
        group_key, own_key = split_cause_keys(keys)
        cause = causes_by_key.get(own_key) or causes_by_key[group_key]
        documents = {error.document for error in errors}
        n_values = sum(1 if error.values is None else error.values for error in errors)
        counted.add_errors(cause, CauseSize(len(errors), n_values, len(documents)), documents)
    return counted


def compare_causes(
    causes_of_runs: Sequence[Causes], values: Sequence[ChangedValue] | None
) -> list[CauseChange]:
    """Return how each cause of errors changed between two runs. The cause that grew most is first.

    Fixed and broken values are counted from the changed values, `values`. If `values` is None,
    these counts are unknown.

    Similar causes are joined into one, as in a report on a single run.
    """
    union = Causes()
    for run_causes in causes_of_runs:
        union.merge(run_causes)
    entries = union.numbered()
    entry_by_key = {cause.key: index for index, entry in enumerate(entries) for cause in entry}
    causes_by_entry = [_group_by_entry(run_causes, entries) for run_causes in causes_of_runs]
    moved_causes = _group_moved_causes(values or (), causes_of_runs, entry_by_key)
    changes = []
    for index, entry in enumerate(entries):
        base_causes, new_causes = (causes.get(index, []) for causes in causes_by_entry)
        before, after = (
            _size_of(run_causes, causes)
            for run_causes, causes in zip(causes_of_runs, (base_causes, new_causes), strict=True)
        )
        trait = entry[0].trait
        gt = pred = None
        if trait and trait.gt and len(entry) == 1:  # one confusion of two values
            gt, pred = json.loads(trait.gt), json.loads(trait.pred)
        moved = moved_causes.get(index, {})
        n_fixed, n_broken = (
            sum(cause.size.values for cause in moved.get(move, ()))
            for move in (Move.FIXED, Move.BROKEN)
        )
        change = CauseChange(
            key=entry[0].key,
            field=field_path(trait.path if trait else entry[0].pattern),
            error_class=entry[0].error_class.value,
            differing_fields=[*trait.differing] if trait else [],
            ground_truth_value=gt,
            prediction_value=pred,
            trend=_trend_of(before["values"], after["values"]),
            before=before,
            after=after,
            fixed=None if values is None else n_fixed,
            broken=None if values is None else n_broken,
            causes=(base_causes, new_causes),
            moved_causes=moved,
        )
        changes.append(change)
    return sorted(changes, key=_rank)


def _rank(change: CauseChange) -> tuple[int, int, str]:
    """Return a sort key: the causes that grew most come first.

    If several causes grew equally, those that lost most values in the new run come first.
    """
    before, after = change.before["values"], change.after["values"]
    return before - after, -after, change.key


def _group_by_entry(run_causes: Causes, entries: Sequence[JoinedCauses]) -> dict[int, list[Cause]]:
    """Sort the causes of a run into `entries`; return a dict from entry to causes of the run.

    An entry is a cause, or several joined causes, and is given by its position in `entries`. Causes
    that are in no entry have the key `_UNLISTED`. Large causes come first.
    """
    entry_by_cause: dict[CauseIdentity | Group, int] = {}
    for index, entry in enumerate(entries):
        for cause in entry:
            # Where there were too many traits, one cause stands for all of its group.
            entry_by_cause[cause.identity if cause.trait else cause.identity[0]] = index
    causes_by_entry: dict[int, list[Cause]] = {}
    for cause in run_causes.ranked():
        group, _ = cause.identity
        index = entry_by_cause.get(group, entry_by_cause.get(cause.identity, _UNLISTED))
        causes_by_entry.setdefault(index, []).append(cause)
    return causes_by_entry


_UNLISTED = -1  # the position of causes that lost no value


@dataclass(slots=True)
class _MovedValues:
    """The values that were lost to one cause and that changed in the same way between two runs."""

    n_values: int = 0
    errors: set[tuple[str, str]] = field(default_factory=set)
    """(document, path) of each error. All values of a failed item are one error, with the item's
    path."""

    @property
    def size(self) -> CauseSize:
        """The numbers of errors, of lost values and of documents."""
        n_documents = len({document for document, _ in self.errors})
        return CauseSize(errors=len(self.errors), values=self.n_values, documents=n_documents)


def _group_moved_causes(
    values: Sequence[ChangedValue],
    causes_of_runs: Sequence[Causes],
    entry_by_key: Mapping[str, int],
) -> dict[int, dict[Move, list[Cause]]]:
    """Return the causes of the changed values, as `causes[entry][move]`.

    An entry is a position in the list of causes. A move says how a value changed, such as
    `Move.FIXED`. The size of each cause counts only the values with this move. Large causes come
    first. Values without a cause are left out.
    """
    causes_by_key = [{cause.key: cause for cause in run_causes} for run_causes in causes_of_runs]
    moved_values: dict[tuple[int, str, Move], _MovedValues] = {}
    for value in values:
        group_key, own_key = split_cause_keys(value.cause)
        key = own_key if own_key in causes_by_key[value.run] else group_key
        if value.move is not None and key in causes_by_key[value.run]:
            moved = moved_values.setdefault((value.run, key, value.move), _MovedValues())
            moved.n_values += 1
            moved.errors.add((value.document, value.whole.path if value.whole else value.path))

    causes_by_entry: dict[int, dict[Move, list[Cause]]] = {}
    for (run, key, move), moved in moved_values.items():
        cause = causes_by_key[run][key]._replace(size=moved.size)
        group_key = cause_key(cause.pattern, cause.error_class, None)
        index = entry_by_key.get(key, entry_by_key.get(group_key, _UNLISTED))
        causes_by_entry.setdefault(index, {}).setdefault(move, []).append(cause)
    for causes_by_move in causes_by_entry.values():
        for causes in causes_by_move.values():
            causes.sort(key=lambda cause: (-cause.size.values, -cause.size.errors, cause.key))
    return causes_by_entry


def _size_of(run_causes: Causes, causes: Sequence[Cause]) -> CauseSizeRecord:
    """Add up the errors, values and documents of some causes of a run."""
    return {
        "errors": sum(cause.size.errors for cause in causes),
        "values": sum(cause.size.values for cause in causes),
        "documents": len(run_causes.documents_of(causes) or ()),
    }


def _trend_of(before: int, after: int) -> CauseTrend:
    if before == after:
        return CauseTrend.SAME
    if not before or not after:
        return CauseTrend.FIXED if before else CauseTrend.NEW
    return CauseTrend.GROWN if after > before else CauseTrend.SHRUNK
