"""Compare the causes of errors of two runs: which causes are new, grew, shrank or are fixed."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from stickler_cli.core.locations import field_path
from stickler_cli.score.errors.causes import (
    Cause,
    CauseIdentity,
    Causes,
    CauseSize,
    Group,
    split_cause_keys,
)
from stickler_cli.score.errors.error_rows import Error
from stickler_cli.score.record import Run
from .changed_values import ErrorsOfRun, ids_compared
from .record import CauseChange, CauseSizeRecord, CauseTrend, ChangedValue

JoinedCauses: TypeAlias = tuple[Cause, ...]  # causes that are listed as one


def causes_in_both(runs: Sequence[Run], sides: Sequence[ErrorsOfRun] | None) -> list[Causes] | None:
    """Return the causes of errors of each run, counted in the documents that all runs compared.

    `sides` are the errors of each run; None if they are unknown. Without errors, causes cannot be
    counted in some of the documents only. The result is then None if the runs compared different
    documents.
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
    """Count the causes of the errors in `side`; `run_causes` has all causes of the run.

    Origins (other fields that hold the wrong value) are not counted.
    """
    causes_by_key = {cause.key: cause for cause in run_causes}
    errors_by_cause: dict[str, list[Error]] = {}
    for error in side.rows():
        if error.cause:
            errors_by_cause.setdefault(error.cause, []).append(error)
    counted = Causes()
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
    """Return how each cause of errors changed between two runs; the most grown cause is first.

    `values` are the changed values, for the numbers of fixed and broken values; None if unknown.

    Similar causes are joined into one, in the same way as in a report on a single run.
    """
    union = Causes()
    for run_causes in causes_of_runs:
        union.merge(run_causes)
    entries = union.numbered()
    entry_by_key = {cause.key: index for index, entry in enumerate(entries) for cause in entry}
    causes_by_entry = [_group_by_entry(run_causes, entries) for run_causes in causes_of_runs]
    n_fixed, n_broken = _count_moves(values or (), entry_by_key)
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
            fixed=None if values is None else n_fixed[index],
            broken=None if values is None else n_broken[index],
            causes=(base_causes, new_causes),
        )
        changes.append(change)
    return sorted(changes, key=_rank)


def _rank(change: CauseChange) -> tuple[int, int, str]:
    """Return a key that sorts causes by how much they grew, then by their size."""
    before, after = change.before["values"], change.after["values"]
    return before - after, -after, change.key


def _group_by_entry(run_causes: Causes, entries: Sequence[JoinedCauses]) -> dict[int, list[Cause]]:
    """Group the causes of a run by the entry of `entries` that lists them.

    The keys are positions in `entries`; causes in no entry are under `_UNLISTED`. Large causes come
    first.
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


def _count_moves(
    values: Sequence[ChangedValue], entry_by_key: Mapping[str, int]
) -> tuple[Counter[int], Counter[int]]:
    """Count the fixed values and the broken values of each entry, by the position of the entry."""
    n_fixed, n_broken = Counter[int](), Counter[int]()
    for value in values:
        before, after = value.causes_by_run
        if bool(before) == bool(after):
            continue
        group_key, own_key = split_cause_keys(before or after)
        index = entry_by_key.get(own_key, entry_by_key.get(group_key, _UNLISTED))
        (n_fixed if before else n_broken)[index] += 1
    return n_fixed, n_broken


def _size_of(run_causes: Causes, causes: Sequence[Cause]) -> CauseSizeRecord:
    """Return the joint size of some causes of a run: errors, values and documents."""
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
